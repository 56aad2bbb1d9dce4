"""Tournaments without a store: who meets whom in a round, and the table that follows."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.v1.ladder_service_pb2 import TournamentEntrant

from himeji_server.ladder.pairing import Pair, Waiting, in_seats, pair
from himeji_server.ladder.rating import BEGINNER

MOST_REPEATS: Final = 5
MOST_STEPS: Final = 20_000
"""How long a round without meetings again is looked for."""


@dataclass(frozen=True)
class RoundPairings:
    """A round: its tables, bots in the order of their seats, and who sits out."""

    tables: tuple[tuple[str, ...], ...]
    byes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Played:
    """A game that is over, with the bots in the order of their seats."""

    bots: tuple[str, ...]
    result: GameResult


@dataclass
class Tally:
    """What a bot has reached."""

    points: float = 0.0
    games: int = 0
    score: int = 0
    byes: int = 0
    ranks: Counter[int] = field(default_factory=Counter)
    reasons: Counter[int] = field(default_factory=Counter)
    seats: Counter[int] = field(default_factory=Counter)


def round_robin(bots: Sequence[str], seats: int) -> RoundPairings:
    """Every combination of bots, in every rotation of the seats."""
    return RoundPairings(
        tuple(
            (*group[shift:], *group[:shift])
            for shift in range(seats)
            for group in itertools.combinations(bots, seats)
        )
    )


def swiss(
    bots: Sequence[str], seats: int, played: Sequence[Played], byes: Sequence[str], luck: str
) -> RoundPairings:
    """Bots of like standing, who have not met before as far as that can be had.

    Where the bots do not fill the last table, those with the fewest byes sit out, from below.
    """
    tallies = counted(bots, seats, played, byes)
    order = sorted(bots, key=lambda bot: (-tallies[bot].points, bots.index(bot)))
    below = order[::-1]
    out = sorted(below, key=lambda bot: tallies[bot].byes)[: len(bots) % seats]
    left = [bot for bot in order if bot not in out]
    met = Counter(
        pair(one, other) for game in played for one, other in itertools.combinations(game.bots, 2)
    )
    groups = _groups(left, seats, met)
    tables = [_seated(each, tallies, f"{luck} {number}") for number, each in enumerate(groups)]
    return RoundPairings(tuple(tables), tuple(sorted(out)))


def _groups(order: list[str], seats: int, met: Mapping[Pair, int]) -> list[list[str]]:
    """Groups of near standing with as few meetings again as can be found."""
    for allowed in range(MOST_REPEATS):
        found = _fitting(order, seats, met, [allowed, MOST_STEPS])
        if found is not None:
            return found
    return [order[first : first + seats] for first in range(0, len(order), seats)]


def _fitting(
    order: list[str], seats: int, met: Mapping[Pair, int], left: list[int]
) -> list[list[str]] | None:
    """Groups that meet again at most so often; the nearest are tried first, and not for ever."""
    if not order:
        return []
    for others in itertools.combinations(order[1:], seats - 1):
        left[1] -= 1
        if left[1] < 0:
            return None
        group = [order[0], *others]
        again = sum(met.get(pair(*two), 0) for two in itertools.combinations(group, 2))
        if again <= left[0]:
            left[0] -= again
            rest = _fitting([bot for bot in order if bot not in group], seats, met, left)
            if rest is not None:
                return [group, *rest]
            left[0] += again
    return None


def _seated(table: Sequence[str], tallies: Mapping[str, Tally], luck: str) -> tuple[str, ...]:
    seats = len(table)
    waiting = [
        Waiting(bot, BEGINNER, seats=tuple(tallies[bot].seats[seat] for seat in range(seats)))
        for bot in table
    ]
    return in_seats(waiting, luck)


def planned_games(bots: int, seats: int, rounds: int, *, swiss: bool) -> int:
    """How many games a tournament has in all."""
    if swiss:
        return rounds * (bots // seats)
    combinations = 1
    for number in range(seats):
        combinations = combinations * (bots - number) // (number + 1)
    return rounds * combinations * seats


def counted(
    bots: Iterable[str], seats: int, played: Iterable[Played], byes: Iterable[str] = ()
) -> dict[str, Tally]:
    """What each bot has reached; a round that it sat out counts half of a table's points."""
    tallies = {bot: Tally() for bot in bots}
    for bot in byes:
        tallies[bot].byes += 1
        tallies[bot].points += (seats - 1) / 2
    for game in played:
        ranks = [seat.rank for seat in game.result.seats[: len(game.bots)]]
        for seat, bot in enumerate(game.bots):
            ended, tally = game.result.seats[seat], tallies[bot]
            tally.games += 1
            tally.seats[seat] += 1
            tally.score += ended.score
            tally.ranks[ended.rank] += 1
            tally.reasons[int(ended.end_reason)] += 1
            if ended.end_reason != EndReason.END_REASON_UNSEATED:
                tally.points += sum(rank > ended.rank for rank in ranks)
                tally.points += 0.5 * (sum(rank == ended.rank for rank in ranks) - 1)
    return tallies


def without(absent: Iterable[str], bots: Sequence[str]) -> GameResult:
    """The result of a game that could not begin: those who were there rank before the others."""
    missing = set(absent)
    here = sum(bot not in missing for bot in bots)
    out = GameResult(end_reason=EndReason.END_REASON_UNSEATED)
    for seat, bot in enumerate(bots):
        gone = bot in missing
        reason = EndReason.END_REASON_UNSEATED if gone else EndReason.END_REASON_OUTLASTED
        out.seats.add(seat=seat, rank=here + 1 if gone else 1, end_reason=reason)
    return out


def table(
    versions: Mapping[str, int], seats: int, tallies: Mapping[str, Tally]
) -> list[TournamentEntrant]:
    """The table, best first; equal points share a place."""
    order = sorted(versions, key=lambda bot: (-tallies[bot].points, bot))
    points = [tallies[bot].points for bot in order]
    return [
        _entrant(bot, versions[bot], 1 + points.index(tallies[bot].points), seats, tallies[bot])
        for bot in order
    ]


def _entrant(bot: str, version: int, place: int, seats: int, tally: Tally) -> TournamentEntrant:
    out = TournamentEntrant(
        bot=bot,
        bot_version=version,
        place=place,
        points=tally.points,
        games=tally.games,
        rank_counts=[tally.ranks[rank] for rank in range(1, seats + 1)],
        mean_score=tally.score / tally.games if tally.games else 0.0,
    )
    for reason in sorted(tally.reasons):
        end_reason = EndReason.ValueType(reason)
        out.end_reasons.add(end_reason=end_reason, count=tally.reasons[reason])
    return out
