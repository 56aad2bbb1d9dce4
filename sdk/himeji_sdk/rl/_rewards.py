"""What a game was worth: by final rank or by the margin in points; 0 until the game is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from himeji.rules import Game
from himeji.rules.errors import InvalidRequest


class Reward(NamedTuple):
    """A way to reward."""

    of: Callable[[Game, int], float]
    """What a seat gets for a game that is over."""

    illegal: float
    """What a seat gets that answers against the rules; the game ends with it."""


def by_rank(game: Game, seat: int) -> float:
    """1 for the first rank, -1 for the last, evenly between; the sum over all clans is 0."""
    ranks = game.ranking()
    others = [rank for clan, rank in enumerate(ranks) if clan != seat]
    beaten = sum([(rank > ranks[seat]) - (rank < ranks[seat]) for rank in others])
    return beaten / len(others)


def by_margin(game: Game, seat: int) -> float:
    """The seat's points less those of the best other clan."""
    scores = game.scores()
    return float(scores[seat] - max(scores[:seat] + scores[seat + 1 :]))


REWARDS: Final = {"rank": Reward(by_rank, -1.0), "margin": Reward(by_margin, -100.0)}
"""Every way to reward, by name."""


def find_reward(name: str) -> Reward:
    """The reward of that name."""
    if name not in REWARDS:
        raise InvalidRequest(f"there is no reward {name!r} (there are: {', '.join(REWARDS)})")
    return REWARDS[name]
