"""Fair play: notices what chance does not explain, and raises a flag. It never changes a result."""

import datetime as dt
import hashlib
import math
from collections import Counter
from typing import Final

from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import Flag, FlagKind, RatedResult

from himeji_server.ladder.pairing import RECENT
from himeji_server.ladder.standings import Row
from himeji_server.names import HOUSE
from himeji_server.store.flags import FlagRecord
from himeji_server.store.ladder import LadderStore

QUICK_ENTRIES: Final = 10
"""A game that was given up with fewer entries in its log was given up very soon."""

QUICK_TIMES: Final = 3
"""So many of them in a day raise a flag."""

NEARNESS: Final = 3.0
"""Near bots may meet so many times more often than pairing blindly would let them."""

RARITY: Final = 1e-6
"""Meetings that chance would bring about less often than this raise a flag."""


def tail(trials: int, times: int, chance: float) -> float:
    """How likely it is that something with this chance happens so many times or more."""
    return math.fsum(
        math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each)
        for each in range(times, trials + 1)
    )


def too_often(row: Row, bots: int) -> list[str]:
    """The opponents that a bot has met lately more often than chance explains.

    `bots` is how many the table has. House bots are for everybody, and are not looked at.
    """
    if len(row.recent) < RECENT or bots < 3:
        return []
    met = Counter(other for game in row.recent for other in game)
    seats = len(row.recent[-1])
    chance = min(1.0, NEARNESS * seats / (bots - 1))
    return [
        other
        for other, times in sorted(met.items())
        if not other.startswith(f"{HOUSE}/") and tail(len(row.recent), times, chance) < RARITY
    ]


class FairPlay:
    """Looks at every rated game once it is rated."""

    def __init__(self, store: LadderStore) -> None:
        self._store = store

    async def look(self, rated: RatedResult, rows: list[Row], entries: int) -> None:
        """Raise the flags that a game gives rise to; doing it again raises no more."""
        now = rated.end_time.ToMilliseconds()
        day = dt.datetime.fromtimestamp(now / 1000, dt.UTC).date().isoformat()
        await self._quick(rated, entries, day, now)
        bots = await self._store.standings.row_count(rated.ladder, rated.season)
        for row in rows:
            for other in too_often(row, bots):
                times = sum(other in game for game in row.recent)
                words = f"met in {times} of the last {len(row.recent)} games of {row.bot}"
                await self._raise(
                    FlagKind.FLAG_KIND_REPEAT_GAMES,
                    rated.ladder,
                    sorted([row.bot, other]),
                    await self._meetings(rated.ladder, row.bot, other),
                    f"{words}, of {bots} bots on the table",
                    (day, now),
                )

    async def _quick(self, rated: RatedResult, entries: int, day: str, now: int) -> None:
        if entries >= QUICK_ENTRIES:
            return
        for number, seat in enumerate(rated.seats):
            reason = rated.result.seats[number].end_reason
            if reason != EndReason.END_REASON_RESIGNED:
                continue
            games = await self._store.flags.add_quick_resignation(
                rated.ladder, seat.bot, day, rated.game_id
            )
            if len(games) >= QUICK_TIMES:
                await self._raise(
                    FlagKind.FLAG_KIND_QUICK_RESIGN,
                    rated.ladder,
                    [seat.bot],
                    games,
                    f"gave up {len(games)} games of one day with fewer than "
                    f"{QUICK_ENTRIES} entries in their logs",
                    (day, now),
                )

    async def _meetings(self, ladder: str, one: str, other: str) -> list[str]:
        """The last games of a bot in which it met another."""
        sequences = await self._store.standings.history(ladder, one, -RECENT, -1)
        found = await self._store.standings.entries(ladder, sequences)
        results = [RatedResult.FromString(each.data) for each in found]
        return [each.game_id for each in results if other in [seat.bot for seat in each.seats]]

    async def _raise(  # noqa: PLR0913, PLR0917 - the parts of a flag, each once
        self,
        kind: FlagKind.ValueType,
        ladder: str,
        bots: list[str],
        games: list[str],
        words: str,
        when: tuple[str, int],
    ) -> None:
        day, now = when
        name = f"{int(kind)} {ladder} {' '.join(bots)} {day}"
        flag_id = hashlib.sha256(name.encode()).hexdigest()[:16]
        await self._store.flags.raise_once(
            FlagRecord(flag_id, int(kind), ladder, bots, games, words, now)
        )


def flag_message(flag: FlagRecord) -> Flag:
    """A flag as a message."""
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
