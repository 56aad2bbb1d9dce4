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


Counted = Counter[str]
"""What results add to the counters of a tournament, see Tally."""


@dataclass
class Tally:
    """The sums of one bot in a tournament.

    The store keeps them as counters: "ada/first games" or, with a number, "ada/first rank 2".
    """

    half_points: int = 0
    games: int = 0
    score: int = 0
    byes: int = 0
    rank: Counter[int] = field(default_factory=Counter)
    reason: Counter[int] = field(default_factory=Counter)
    seat: Counter[int] = field(default_factory=Counter)

    @property
    def points(self) -> float:
        """One for every seat behind, half of one for a shared rank, half of a game's for a bye."""
        return self.half_points / 2

    def add(self, counter: str, count: int) -> None:
        """Add to the sum that a counter without its bot names."""
        name, _, number = counter.partition(" ")
        if number:
            getattr(self, name)[int(number)] += count
        else:
            setattr(self, name, getattr(self, name) + count)


def round_robin(bots: Sequence[str], seats: int) -> RoundPairings:
    """Every combination of bots, in every rotation of the seats.

    The order must not change: the store knows a game by its number.
    """
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
    tallies: Mapping[str, Tally],
    earlier_games: Iterable[Sequence[str]],
    seed: str,
) -> RoundPairings:
    """Bots with about equal points that have not met before, as far as that is possible.

    If the number of bots is not divisible, those with the fewest byes sit out, the last first.
    """
    order = sorted(bots, key=lambda bot: (-tallies[bot].points, bots.index(bot)))
    last_first = order[::-1]
    out = sorted(last_first, key=lambda bot: tallies[bot].byes)[: len(bots) % seats]
    left = [bot for bot in order if bot not in out]
    met = Counter(
        pair_key(one, other)
        for game in earlier_games
        for one, other in itertools.combinations(game, 2)
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
        Candidate(bot, BEGINNER, seats=tuple(tallies[bot].seat[seat] for seat in range(seats)))
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


def count_game(game: FinishedGame) -> Counted:
    """What a game adds to the counters of a tournament."""
    counted: Counted = Counter()
    ranks = [seat.rank for seat in game.result.seats[: len(game.bots)]]
    for seat, (bot, ended) in enumerate(zip(game.bots, game.result.seats, strict=False)):
        counted[f"{bot} games"] += 1
        counted[f"{bot} seat {seat}"] += 1
        counted[f"{bot} score"] += ended.score
        counted[f"{bot} rank {ended.rank}"] += 1
        counted[f"{bot} reason {int(ended.end_reason)}"] += 1
        if ended.end_reason != EndReason.END_REASON_UNSEATED:
            behind = sum(rank > ended.rank for rank in ranks)
            beside = sum(rank == ended.rank for rank in ranks) - 1
            counted[f"{bot} half_points"] += 2 * behind + beside
    return counted


def count_byes(byes: Iterable[str], seats: int) -> Counted:
    """What the byes of a round add to the counters: each counts half of the points of a game."""
    counted: Counted = Counter()
    for bot in byes:
        counted[f"{bot} byes"] += 1
        counted[f"{bot} half_points"] += seats - 1
    return counted


def tallies_of(bots: Iterable[str], counters: Mapping[str, int]) -> dict[str, Tally]:
    """The tally of each bot of a tournament, from its counters."""
    tallies = {bot: Tally() for bot in bots}
    for name, count in counters.items():
        bot, _, counter = name.partition(" ")
        if bot in tallies:
            tallies[bot].add(counter, count)
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
        rank_counts=[tally.rank[rank] for rank in range(1, seats + 1)],
        mean_score=tally.score / tally.games if tally.games else 0.0,
    )
    for reason in sorted(tally.reason):
        end_reason = EndReason.ValueType(reason)
        out.end_reasons.add(end_reason=end_reason, count=tally.reason[reason])
    return out
