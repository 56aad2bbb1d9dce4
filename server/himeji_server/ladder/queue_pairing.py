"""Pairing: which of the waiting bots play together. Pure: no clock, no store, no global chance.

The bot with the fewest games chooses first. It takes the opponents that a game tells it most about:
near in rating, well known themselves, and not met all the time. A stated share of games is paired
without regard to rating, so that no group of bots drifts apart, and a stated share includes a
house bot, so that all ratings hang on the same anchors.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from himeji_server import names
from himeji_server.ladder.rating import BETA, Rating
from himeji_server.names import HOUSE

RECENT_GAMES: Final = 20
"""How many of its last games count as a bot's recent ones."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The parameters of pairing; the defaults are those of docs/ladder.md."""

    wide_share: float = 0.15
    """The share of games that are paired without regard to rating."""

    anchor_share: float = 0.1
    """The share of games that get a house bot although other bots could fill them."""

    pair_cap: int = 50
    """How many rated games two bots may play in a day; house bots are not counted."""

    least_worth: float = 0.5
    """What a pairing has to be worth for a bot that has not waited; falls to 0 with patience."""

    patience: float = 6.0
    """Seconds after which a bot takes any opponent that it may meet."""

    house_after: float = 1.5
    """Seconds after which house bots fill open seats; at once for a bot's first game."""


@dataclass(frozen=True)
class Candidate:
    """A bot that could be seated now."""

    bot: str
    rating: Rating
    games: int = 0
    waited: float = 0.0
    """Seconds since its last game, or since it entered."""

    free: int = 1
    """How many more games it allows."""

    seats: tuple[int, ...] = ()
    """How often it had each seat."""

    seed: str = ""
    """Decides about wide pairings and anchors. It changes when the bot is seated and not before,
    so that asking again in the next round gives no new chance."""

    @property
    def owner(self) -> str:
        return names.owner_of(self.bot)

    @property
    def is_house(self) -> bool:
        return self.owner == HOUSE


Pair = tuple[str, str]


def pair_key(one: str, other: str) -> Pair:
    """Two bots in the order in which their meetings are counted."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True)
class Meetings:
    """Which bots have met which."""

    today: Mapping[Pair, int] = field(default_factory=dict)
    """Games of two bots today, including those that are being played."""

    recent: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """The opponents of a bot in each of its last games."""

    bot_count: int = 2
    """How many bots there are on the ladder, waiting or playing."""

    def share(self, one: str, other: str) -> float:
        """In which part of their last games these two met; the larger of both views."""
        return max(self._share_of(one, other), self._share_of(other, one))

    def _share_of(self, bot: str, opponent: str) -> float:
        games = self.recent.get(bot, ())
        return sum(opponent in each for each in games) / len(games) if games else 0.0


def worth(one: Candidate, other: Candidate) -> float:
    """How much a game tells about `one`, from 0 to 1: near and well-known opponents tell most."""
    own = 2 * BETA**2 + one.rating.uncertainty**2
    spread = own + other.rating.uncertainty**2
    chance = _normal_cdf((one.rating.mean - other.rating.mean) / math.sqrt(spread))
    return 4 * chance * (1 - chance) * own / spread


def _normal_cdf(deviation: float) -> float:
    return 0.5 * (1 + math.erf(deviation / math.sqrt(2)))


def pairings(
    candidates: Iterable[Candidate],
    seats: int,
    meetings: Meetings,
    policy: Policy,
    *,
    house_only: bool = False,
) -> list[tuple[str, ...]]:
    """The games that can be made now, each as its bots in the order of their seats.

    With `house_only` one game of house bots alone may be made, if no other bot waits.
    """
    return _PairingRound(candidates, seats, meetings, policy).run(house_only=house_only)


class _PairingRound:
    """One round of pairing; counts down how many games each bot still allows."""

    def __init__(
        self, candidates: Iterable[Candidate], seats: int, meetings: Meetings, policy: Policy
    ) -> None:
        self._candidates = [each for each in candidates if each.free > 0]
        self._free = {each.bot: each.free for each in self._candidates}
        self._seats = seats
        self._meetings = meetings
        self._policy = policy
        self._today = dict(meetings.today)

    def run(self, *, house_only: bool) -> list[tuple[str, ...]]:
        made: list[tuple[str, ...]] = []
        others = [each for each in self._candidates if not each.is_house]
        choosers = others or (self._candidates if house_only else [])
        for chooser in sorted(choosers, key=_priority):
            while self._free[chooser.bot] > 0 and (group := self._group(chooser)):
                made.append(seat_order(group, chooser.seed))
                self._count(group)
                if not others:
                    return made
        return made

    def _group(self, chooser: Candidate) -> list[Candidate]:
        """The chooser and its opponents; empty if it has to wait."""
        chance = _seeded(f"{chooser.seed} {self._free[chooser.bot]}")
        wide = chance.random() < self._policy.wide_share
        anchor = chance.random() < self._policy.anchor_share
        group = [chooser]
        fits = self._acceptable(chooser, wide=wide)
        house = [each for each in fits if each.is_house]
        if anchor and self._seats > 1:
            self._fill(group, house, 1, wide, chance)
        self._fill(group, [each for each in fits if not each.is_house], self._seats, wide, chance)
        if len(group) < self._seats and self._house_may_fill(chooser):
            self._fill(group, house, self._seats, wide, chance)
        return group if len(group) == self._seats else []

    def _house_may_fill(self, chooser: Candidate) -> bool:
        waited = chooser.waited >= self._policy.house_after
        return chooser.is_house or chooser.games == 0 or waited

    def _acceptable(self, chooser: Candidate, *, wide: bool) -> list[Candidate]:
        """Opponents that are worth enough to the chooser by now; any in a wide pairing."""
        found = []
        for other in self._candidates:
            if other.bot == chooser.bot or self._free[other.bot] <= 0:
                continue
            if wide or other.is_house or self._worth(chooser, other) >= self._least(chooser, other):
                found.append(other)
        return found

    def _fill(
        self,
        group: list[Candidate],
        candidates: list[Candidate],
        most: int,
        wide: bool,  # noqa: FBT001 - said by its name at every call
        chance: random.Random,
    ) -> None:
        """Add up to `most` of the candidates to the group, until all seats are taken."""
        chooser, left = group[0], list(candidates)
        order: Callable[[Candidate], float] = lambda other: self._worth(chooser, other)  # noqa: E731
        if wide:
            order = lambda _other: chance.random()  # noqa: E731
        left.sort(key=order, reverse=True)
        for other in left[:]:
            if most == 0 or len(group) == self._seats:
                return
            if other not in group and all(self._may_meet(each, other) for each in group):
                group.append(other)
                most -= 1

    def _may_meet(self, one: Candidate, other: Candidate) -> bool:
        """No two bots of one owner, and no pair too often; house bots may meet each other."""
        if one.is_house or other.is_house:
            return one.bot != other.bot
        met = self._today.get(pair_key(one.bot, other.bot), 0)
        return one.owner != other.owner and met < self._policy.pair_cap

    def _worth(self, chooser: Candidate, other: Candidate) -> float:
        """What a game would tell the chooser, less if the two have met more than their share."""
        fair = min(1.0, (self._seats - 1) / max(1, self._meetings.bot_count - 1))
        share = self._meetings.share(chooser.bot, other.bot)
        fresh = fair / share if share > fair else 1.0
        return worth(chooser, other) * fresh

    def _least(self, chooser: Candidate, other: Candidate) -> float:
        waited = max(chooser.waited, other.waited)
        return self._policy.least_worth * max(0.0, 1.0 - waited / self._policy.patience)

    def _count(self, group: Sequence[Candidate]) -> None:
        for each in group:
            self._free[each.bot] -= 1
        for one, other in itertools.combinations(group, 2):
            pair = pair_key(one.bot, other.bot)
            self._today[pair] = self._today.get(pair, 0) + 1


def _seeded(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - nothing secret hangs on a pairing


def _priority(candidate: Candidate) -> tuple[int, float, str]:
    """Who chooses first: the fewest games, then the longest wait."""
    return (candidate.games, -candidate.waited, candidate.seed)


def seat_order(group: Sequence[Candidate], seed: str) -> tuple[str, ...]:
    """The bots in the order of seats that they have had least; chance decides among equals."""
    chance, seats = _seeded(f"seats {seed}"), len(group)

    def excess(order: Sequence[Candidate]) -> tuple[int, float]:
        used = sum(
            _times(each, seat) - _least_times(each, seats) for seat, each in enumerate(order)
        )
        return used, chance.random()

    return tuple(each.bot for each in min(itertools.permutations(group), key=excess))


def _times(candidate: Candidate, seat: int) -> int:
    return candidate.seats[seat] if seat < len(candidate.seats) else 0


def _least_times(candidate: Candidate, seats: int) -> int:
    return min(_times(candidate, seat) for seat in range(seats))
