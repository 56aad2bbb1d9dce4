"""Matchmaking: from the bots that wait to tables, by a function that knows no clock and no store.

The bot with the fewest games chooses first. It takes those whom a game tells it most about: near
in rating, well known themselves, and not met all the time. A stated share of games is paired
without regard to rating, so that no group of bots drifts apart, and a stated share has a house
bot at the table, so that all of them hang on the same anchors.
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

RECENT: Final = 20
"""So many of its last games say whom a bot has met lately."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What can be set about matchmaking; the standard values are those of docs/ladder.md."""

    wide_share: float = 0.15
    """The share of games that are paired without regard to rating."""

    anchor_share: float = 0.1
    """The share of tables that get a house bot, while others could fill them too."""

    pair_cap: int = 50
    """How many rated games two bots may play in a day; house bots are not counted."""

    least_worth: float = 0.5
    """What a pairing has to be worth for a bot that has not waited; falls to 0 with patience."""

    patience: float = 6.0
    """Seconds after which a bot takes anybody it may meet."""

    house_after: float = 1.5
    """Seconds after which house bots fill a table that lacks others; for a first game: none."""


@dataclass(frozen=True)
class Waiting:
    """A bot that could be seated now."""

    bot: str
    rating: Rating
    games: int = 0
    waited: float = 0.0
    free: int = 1
    """How many more games it allows."""

    seats: tuple[int, ...] = ()
    """How often it had each seat."""

    luck: str = ""
    """Decides about wide pairings and anchors; the same until the bot was seated."""

    @property
    def owner(self) -> str:
        """Whose bot it is."""
        return names.owner_of(self.bot)

    @property
    def house(self) -> bool:
        """Whether it is one of the arena's own."""
        return self.owner == HOUSE


Pair = tuple[str, str]


def pair(one: str, other: str) -> Pair:
    """Two bots, in the order in which they are counted."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True)
class Meetings:
    """Who has met whom."""

    today: Mapping[Pair, int] = field(default_factory=dict)
    """Games of two bots today, those that are being played included."""

    recent: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """The opponents of a bot in its last games."""

    known: int = 2
    """How many bots there are on the ladder, waiting or playing."""

    def share(self, one: str, other: str) -> float:
        """In which part of their last games these two met; the larger of both views."""
        return max(self._part(one, other), self._part(other, one))

    def _part(self, bot: str, opponent: str) -> float:
        games = self.recent.get(bot, ())
        return sum(opponent in each for each in games) / len(games) if games else 0.0


def worth(one: Waiting, other: Waiting) -> float:
    """How much a game tells about `one`, from 0 to 1: near and well-known opponents tell most."""
    own = 2 * BETA**2 + one.rating.uncertainty**2
    spread = own + other.rating.uncertainty**2
    chance = _below((one.rating.mean - other.rating.mean) / math.sqrt(spread))
    return 4 * chance * (1 - chance) * own / spread


def _below(deviation: float) -> float:
    """The share of a normal distribution that lies below so many deviations."""
    return 0.5 * (1 + math.erf(deviation / math.sqrt(2)))


def tables(
    waiting: Iterable[Waiting],
    seats: int,
    meetings: Meetings,
    policy: Policy,
    *,
    house_only: bool = False,
) -> list[tuple[str, ...]]:
    """The tables that can be made now: bots in the order of their seats.

    With `house_only` one table of house bots alone may be made, if nobody else waits.
    """
    return _Round(waiting, seats, meetings, policy).play(house_only=house_only)


class _Round:
    """One round of pairing; counts down how many games each bot still allows."""

    def __init__(
        self, waiting: Iterable[Waiting], seats: int, meetings: Meetings, policy: Policy
    ) -> None:
        self._waiting = [each for each in waiting if each.free > 0]
        self._free = {each.bot: each.free for each in self._waiting}
        self._seats = seats
        self._meetings = meetings
        self._policy = policy
        self._today = dict(meetings.today)

    def play(self, *, house_only: bool) -> list[tuple[str, ...]]:
        made: list[tuple[str, ...]] = []
        guests = [each for each in self._waiting if not each.house]
        hosts = guests or (self._waiting if house_only else [])
        for host in sorted(hosts, key=_first_choice):
            while self._free[host.bot] > 0 and (table := self._table(host)):
                made.append(in_seats(table, host.luck))
                self._count(table)
                if not guests:
                    return made
        return made

    def _table(self, host: Waiting) -> list[Waiting]:
        """The host and who sits with it; empty if it has to wait."""
        chance = _chance(f"{host.luck} {self._free[host.bot]}")
        wide = chance.random() < self._policy.wide_share
        anchor = chance.random() < self._policy.anchor_share
        chosen = [host]
        fits = self._acceptable(host, wide=wide)
        if anchor and self._seats > 1:
            self._fill(chosen, [each for each in fits if each.house], 1, wide, chance)
        self._fill(chosen, [each for each in fits if not each.house], self._seats, wide, chance)
        if len(chosen) < self._seats and self._house_fills(host):
            self._fill(chosen, [each for each in fits if each.house], self._seats, wide, chance)
        return chosen if len(chosen) == self._seats else []

    def _house_fills(self, host: Waiting) -> bool:
        return host.house or host.games == 0 or host.waited >= self._policy.house_after

    def _acceptable(self, host: Waiting, *, wide: bool) -> list[Waiting]:
        """Those whom the host may meet and, unless the pairing is wide, wants to meet by now."""
        found = []
        for other in self._waiting:
            if other.bot == host.bot or self._free[other.bot] <= 0:
                continue
            if wide or other.house or self._worth(host, other) >= self._least(host, other):
                found.append(other)
        return found

    def _fill(
        self,
        chosen: list[Waiting],
        candidates: list[Waiting],
        most: int,
        wide: bool,  # noqa: FBT001 - said by its name at every call
        chance: random.Random,
    ) -> None:
        """Add candidates to the table until it has its seats, or `most` of them came."""
        host, left = chosen[0], list(candidates)
        order: Callable[[Waiting], float] = lambda other: self._worth(host, other)  # noqa: E731
        if wide:
            order = lambda _other: chance.random()  # noqa: E731
        left.sort(key=order, reverse=True)
        for other in left[:]:
            if most == 0 or len(chosen) == self._seats:
                return
            if other not in chosen and all(self._may_meet(each, other) for each in chosen):
                chosen.append(other)
                most -= 1

    def _may_meet(self, one: Waiting, other: Waiting) -> bool:
        """Never two bots of one owner, and no pair too often; the house may sit with itself."""
        if one.house or other.house:
            return one.bot != other.bot
        met = self._today.get(pair(one.bot, other.bot), 0)
        return one.owner != other.owner and met < self._policy.pair_cap

    def _worth(self, host: Waiting, other: Waiting) -> float:
        """What a game would tell the host, less if the two have met more than their share."""
        fair = min(1.0, (self._seats - 1) / max(1, self._meetings.known - 1))
        share = self._meetings.share(host.bot, other.bot)
        fresh = fair / share if share > fair else 1.0
        return worth(host, other) * fresh

    def _least(self, host: Waiting, other: Waiting) -> float:
        waited = max(host.waited, other.waited)
        return self._policy.least_worth * max(0.0, 1.0 - waited / self._policy.patience)

    def _count(self, table: Sequence[Waiting]) -> None:
        for each in table:
            self._free[each.bot] -= 1
        for one, other in itertools.combinations(table, 2):
            met = pair(one.bot, other.bot)
            self._today[met] = self._today.get(met, 0) + 1


def _chance(luck: str) -> random.Random:
    """Chance that comes out the same when it is asked again."""
    return random.Random(luck)  # noqa: S311 - nothing secret hangs on a pairing


def _first_choice(waiting: Waiting) -> tuple[int, float, str]:
    return (waiting.games, -waiting.waited, waiting.luck)


def in_seats(table: Sequence[Waiting], luck: str) -> tuple[str, ...]:
    """The bots in the order of seats in which they have sat least; chance among equals."""
    chance, seats = _chance(f"seats {luck}"), len(table)

    def excess(order: Sequence[Waiting]) -> tuple[int, float]:
        used = sum(_times(each, seat) - _rarest(each, seats) for seat, each in enumerate(order))
        return used, chance.random()

    return tuple(each.bot for each in min(itertools.permutations(table), key=excess))


def _times(waiting: Waiting, seat: int) -> int:
    return waiting.seats[seat] if seat < len(waiting.seats) else 0


def _rarest(waiting: Waiting, seats: int) -> int:
    return min(_times(waiting, seat) for seat in range(seats))
