"""Fair play: flags what chance does not explain, for administrators. It never changes a result."""

import datetime as dt
import hashlib
import math
from collections import Counter
from typing import Final

from himeji.v1.admin_service_pb2 import Flag, FlagKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import RatedResult

from himeji_server.ladder.queue_pairing import RECENT_GAMES
from himeji_server.ladder.standings import StandingsRow
from himeji_server.names import HOUSE
from himeji_server.store.flags import FlagRecord
from himeji_server.store.ladder import LadderStore

QUICK_ENTRIES: Final = 10
"""A resignation is quick if the game's log has fewer entries."""

QUICK_TIMES: Final = 3
"""How many quick resignations in a day raise a flag."""

NEARNESS: Final = 3.0
"""How many times more often than by blind pairing bots of near ratings may meet."""

RARITY: Final = 1e-6
"""Meetings that are less likely than this by chance raise a flag."""


def binomial_tail(trials: int, times: int, chance: float) -> float:
    """The probability of `times` or more successes in so many trials."""
    return math.fsum(
        math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each)
        for each in range(times, trials + 1)
    )


def frequent_opponents(row: StandingsRow, bots: int) -> list[str]:
    """The opponents that a bot has recently met more often than chance explains.

    `bots` is how many the standings have. House bots are left out: they play with all.
    """
    if len(row.recent) < RECENT_GAMES or bots < 3:
        return []
    met = Counter(other for game in row.recent for other in game)
    seats = len(row.recent[-1])
    chance = min(1.0, NEARNESS * seats / (bots - 1))
    return [
        other
        for other, times in sorted(met.items())
        if not other.startswith(f"{HOUSE}/")
        and binomial_tail(len(row.recent), times, chance) < RARITY
    ]


class FairPlay:
    """Checks every game once it is rated."""

    def __init__(self, store: LadderStore) -> None:
        self._flags = store.flags
        self._standings = store.standings

    async def check(self, rated: RatedResult, rows: list[StandingsRow], entries: int) -> None:
        """Raise the flags that a game gives rise to. Idempotent.

        `rows` are those of its bots, `entries` is the length of its log.
        """
        if entries < QUICK_ENTRIES:
            await self._check_quick_resignations(rated)
        bots = await self._standings.row_count(rated.ladder, rated.season)
        for row in rows:
            for other in frequent_opponents(row, bots):
                times = sum(other in game for game in row.recent)
                await self._flag(
                    rated,
                    FlagKind.FLAG_KIND_REPEAT_GAMES,
                    sorted([row.bot, other]),
                    await self._common_games(rated.ladder, row.bot, other),
                    f"met in {times} of the last {len(row.recent)} games of {row.bot}, "
                    f"of {bots} bots in the standings",
                )

    async def _check_quick_resignations(self, rated: RatedResult) -> None:
        for number, seat in enumerate(rated.seats):
            if rated.result.seats[number].end_reason != EndReason.END_REASON_RESIGNED:
                continue
            games = await self._flags.add_quick_resignation(
                rated.ladder, seat.bot, _day(rated), rated.game_id
            )
            if len(games) >= QUICK_TIMES:
                await self._flag(
                    rated,
                    FlagKind.FLAG_KIND_QUICK_RESIGN,
                    [seat.bot],
                    games,
                    f"gave up {len(games)} games of one day with fewer than "
                    f"{QUICK_ENTRIES} entries in their logs",
                )

    async def _common_games(self, ladder: str, bot: str, opponent: str) -> list[str]:
        """Those of the last games of a bot in which it met another."""
        sequences = await self._standings.history(ladder, bot, -RECENT_GAMES, -1)
        found = await self._standings.entries(ladder, sequences)
        results = [RatedResult.FromString(each.data) for each in found]
        return [each.game_id for each in results if opponent in [seat.bot for seat in each.seats]]

    async def _flag(
        self,
        rated: RatedResult,
        kind: FlagKind.ValueType,
        bots: list[str],
        games: list[str],
        message: str,
    ) -> None:
        """Raise a flag, once a day for each kind, ladder and bots."""
        name = f"{int(kind)} {rated.ladder} {' '.join(bots)} {_day(rated)}"
        flag_id = hashlib.sha256(name.encode()).hexdigest()[:16]
        now = rated.end_time.ToMilliseconds()
        await self._flags.raise_once(
            FlagRecord(flag_id, int(kind), rated.ladder, bots, games, message, now)
        )


def _day(rated: RatedResult) -> str:
    ended = rated.end_time.ToMilliseconds() / 1000
    return dt.datetime.fromtimestamp(ended, dt.UTC).date().isoformat()


def flag_message(flag: FlagRecord) -> Flag:
    out = Flag(
        flag_id=flag.id,
        kind=FlagKind.ValueType(flag.kind),
        ladder=flag.ladder,
        bots=flag.bots,
        game_ids=flag.game_ids,
        message=flag.message,
    )
    out.create_time.FromMilliseconds(flag.time)
    return out
