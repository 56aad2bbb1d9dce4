"""Round robin and Swiss: pairings of a round and standings, by functions without a store."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.v1.ladder_service_pb2 import TournamentEntrant

from himeji_server.ladder.queue_pairing import Candidate, Pair, pair_key, seat_order
from himeji_server.ladder.rating import BEGINNER

MAX_REPEATS: Final = 5
"""A Swiss round allows 0, 1, ... repeated meetings, fewer than this; then any number."""

MAX_SEARCH_STEPS: Final = 20_000
"""How many groups the search for a Swiss round tries for each number of repeated meetings."""


@dataclass(frozen=True)
class RoundPairings:
    """A round: its games, each as bots in the order of their seats, and the bots that sit out."""

    games: tuple[tuple[str, ...], ...]
    byes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FinishedGame:
    """A game that is over, with its bots in the order of their seats."""

    bots: tuple[str, ...]
    result: GameResult


@dataclass
class Tally:
    """The sums of one bot in a tournament."""

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
    bots: Sequence[str],
    seats: int,
    finished: Sequence[FinishedGame],
    byes: Sequence[str],
    seed: str,
) -> RoundPairings:
    """Bots with about equal points that have not met before, as far as that is possible.

    If the number of bots is not divisible, those with the fewest byes sit out, the last first.
    """
    tallies = count_results(bots, seats, finished, byes)
    order = sorted(bots, key=lambda bot: (-tallies[bot].points, bots.index(bot)))
    last_first = order[::-1]
    out = sorted(last_first, key=lambda bot: tallies[bot].byes)[: len(bots) % seats]
    left = [bot for bot in order if bot not in out]
    met = Counter(
        pair_key(one, other)
        for game in finished
        for one, other in itertools.combinations(game.bots, 2)
    )
    groups = _groups(left, seats, met)
    games = [
        _in_seat_order(each, tallies, f"{seed} {number}") for number, each in enumerate(groups)
    ]
    return RoundPairings(tuple(games), tuple(sorted(out)))


@dataclass
class _SearchBudget:
    """What is left of the repeated meetings and steps that a search may use."""

    repeats: int
    steps: int


def _groups(order: list[str], seats: int, met: Mapping[Pair, int]) -> list[list[str]]:
    """Groups of near points with as few repeated meetings as the search finds."""
    for repeats in range(MAX_REPEATS):
        found = _search(order, seats, met, _SearchBudget(repeats, MAX_SEARCH_STEPS))
        if found is not None:
            return found
    return [order[first : first + seats] for first in range(0, len(order), seats)]


def _search(
    order: list[str], seats: int, met: Mapping[Pair, int], budget: _SearchBudget
) -> list[list[str]] | None:
    """Groups within the budget, trying near points first; None if there are none."""
    if not order:
        return []
    for others in itertools.combinations(order[1:], seats - 1):
        budget.steps -= 1
        if budget.steps < 0:
            return None
        group = [order[0], *others]
        repeats = sum(met.get(pair_key(*two), 0) for two in itertools.combinations(group, 2))
        if repeats <= budget.repeats:
            budget.repeats -= repeats
            rest = _search([bot for bot in order if bot not in group], seats, met, budget)
            if rest is not None:
                return [group, *rest]
            budget.repeats += repeats
    return None


def _in_seat_order(
    group: Sequence[str], tallies: Mapping[str, Tally], seed: str
) -> tuple[str, ...]:
    seats = len(group)
    candidates = [
        Candidate(bot, BEGINNER, seats=tuple(tallies[bot].seats[seat] for seat in range(seats)))
        for bot in group
    ]
    return seat_order(candidates, seed)


def planned_games(bots: int, seats: int, rounds: int, *, swiss: bool) -> int:
    """How many games a tournament has in all."""
    if swiss:
        return rounds * (bots // seats)
    combinations = 1
    for number in range(seats):
        combinations = combinations * (bots - number) // (number + 1)
    return rounds * combinations * seats


def count_results(
    bots: Iterable[str], seats: int, finished: Iterable[FinishedGame], byes: Iterable[str] = ()
) -> dict[str, Tally]:
    """The tally of each bot; a bye counts half of the points of a game."""
    tallies = {bot: Tally() for bot in bots}
    for bot in byes:
        tallies[bot].byes += 1
        tallies[bot].points += (seats - 1) / 2
    for game in finished:
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


def forfeit(absent: Iterable[str], bots: Sequence[str]) -> GameResult:
    """The result of a game that could not begin: the bots that were present rank first."""
    missing = set(absent)
    present = sum(bot not in missing for bot in bots)
    out = GameResult(end_reason=EndReason.END_REASON_UNSEATED)
    for seat, bot in enumerate(bots):
        gone = bot in missing
        reason = EndReason.END_REASON_UNSEATED if gone else EndReason.END_REASON_OUTLASTED
        out.seats.add(seat=seat, rank=present + 1 if gone else 1, end_reason=reason)
    return out


def standings(
    versions: Mapping[str, int], seats: int, tallies: Mapping[str, Tally]
) -> list[TournamentEntrant]:
    """The bots with their tallies, best first; equal points share a place."""
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
