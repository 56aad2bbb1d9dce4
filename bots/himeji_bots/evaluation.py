"""What a position is worth: an estimate of every clan's final points, by the family of the rules.

A family with an estimate of its own has a row in the table below. Every other one is judged by the
points that its clans have now, so that a bot can play a new ruleset on the day it appears.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from himeji.rules import Game

from himeji_bots import castle, duel

ESTIMATES: Final[Mapping[str, Callable[[Any], list[float]]]] = {
    "castle": castle.estimate,
    "duel": duel.estimate,
}
"""The estimate of a family: a position to the points that each clan may end with."""


def has_estimate(game: Game) -> bool:
    """Whether there is more to say about a position than its points, or nothing more to say."""
    return game.over or game.ruleset.family in ESTIMATES


def estimate(game: Game) -> list[float]:
    """The points that each clan may end with; a rival that nobody plays is the last."""
    known = ESTIMATES.get(game.ruleset.family)
    if known is None or game.over:
        return [float(points) for points in game.scores()]
    return known(game)


def lead(points: Sequence[float], seat: int) -> float:
    """How far a clan is ahead of the best other one; alone, just its points."""
    others = [each for clan, each in enumerate(points) if clan != seat]
    return points[seat] - max(others, default=0.0)
