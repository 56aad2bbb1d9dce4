"""The tally of a match: each bot's score with its interval, first places, points and faults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from himeji_sdk.match._match import GameResult, Group, Match
from himeji_sdk.match._sprt import elo_of_score

_Z: Final = 1.959964  # of the 95 % interval


@dataclass(frozen=True)
class Standing:
    """How a bot stands in a match."""

    bot: str
    games: int
    """Seats that it played, over all games."""

    score: float
    """The share of its opponents that it came before; 0.5 is even."""

    interval: tuple[float, float]
    """95 % confidence, from the spread of the groups."""

    first: int
    """Seats that came first."""

    mean_points: float | None
    """Points at the end, over the games without a fault."""

    faults: int

    @property
    def elo(self) -> tuple[float, float, float]:
        """Score and interval as differences in Elo."""
        low, high = self.interval
        return elo_of_score(self.score), elo_of_score(low), elo_of_score(high)


class Tally:
    """Counts groups as they come."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._scores: list[list[float]] = [[] for _ in match.bots]
        self._games: list[GameResult] = []
        self.faults: list[tuple[Group, GameResult]] = []

    def add(self, group: Group) -> list[float]:
        """Count a group; each bot's score in it."""
        scores = self._match.group_scores(group)
        for bot, score in enumerate(scores):
            self._scores[bot].append(score)
        self._games += group.games
        self.faults += [(group, game) for game in group.games if game.fault]
        return scores

    @property
    def groups(self) -> int:
        return len(self._scores[0])

    @property
    def games(self) -> int:
        return len(self._games)

    @property
    def rival_points(self) -> float | None:
        """The mean points of a rival that no bot plays; None without one."""
        points = [score for game in self._games for score in game.scores[len(game.lineup) :]]
        return fmean(points) if points else None

    def standings(self) -> list[Standing]:
        """Every bot in the order of the match; at least one group was played."""
        return [self._standing(bot) for bot in range(len(self._match.bots))]

    def _standing(self, bot: int) -> Standing:
        played = [
            (game, seat)
            for game in self._games
            for seat, who in enumerate(game.lineup)
            if who == bot
        ]
        points = [game.scores[seat] for game, seat in played if game.fault is None]
        return Standing(
            bot=self._match.bots[bot],
            games=len(played),
            score=fmean(self._scores[bot]),
            interval=interval(self._scores[bot]),
            first=sum(game.fault is None and game.ranks[seat] == 1 for game, seat in played),
            mean_points=fmean(points) if points else None,
            faults=sum(game.fault is not None and game.fault.seat == seat for game, seat in played),
        )


def interval(scores: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of a mean of group scores, each of them between 0 and 1.

    It is Wilson's interval for as many coin tosses as would spread like these groups. The spread
    is estimated with one more group, of the widest spread there is, so that few groups that look
    alike prove little.
    """
    mean, groups = fmean(scores), len(scores)
    widest = mean * (1 - mean)
    spread = (sum((score - mean) ** 2 for score in scores) + widest) / groups
    tosses = groups * widest / spread if spread else float(groups)
    middle = (mean + _Z**2 / (2 * tosses)) / (1 + _Z**2 / tosses)
    reach = math.sqrt(widest / tosses + (_Z / (2 * tosses)) ** 2) * _Z / (1 + _Z**2 / tosses)
    return max(0.0, middle - reach), min(1.0, middle + reach)
