"""The planner: it searches its whole turn and answers with the first decision of the best one.

The search is a beam: all positions after one decision, of those the most promising, all positions
after one more decision of them, and so on, until the turn is over. Cards that a turn reveals are
drawn anew in every search, so a plan never rests on a card that nobody has seen.
"""

import random
from typing import NamedTuple

from himeji.rules import Game
from himeji_sdk import Bot

from himeji_bots.evaluation import estimate, lead


class Line(NamedTuple):
    """A way into the turn: its first decision, where it leads, and how good that looks."""

    promise: float
    first: int
    game: Game


class PlannerBot(Bot):
    """Looks to the end of its own turn, along the best `width` lines at a time."""

    name = "planner"

    def __init__(self, width: int = 20, seed: int | None = None) -> None:
        if width < 1:
            raise ValueError("the width is at least 1")
        self._width = width
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret

    def choose(self, game: Game, legal: list[int]) -> int:
        """Plan the rest of the turn."""
        seat = game.to_move
        assert seat is not None  # noqa: S101 - only a seat that moves is asked
        start = game.resample(self._random)
        beam = [self._step(start, action, action, seat) for action in legal]
        best: Line | None = None
        while beam:
            ended = [line for line in beam if not _goes_on(line.game, start)]
            best = max([best, *ended] if best else ended, key=_promise, default=None)
            going = [line for line in beam if _goes_on(line.game, start)]
            going.sort(key=_promise, reverse=True)
            beam = [
                self._step(line.game, action, line.first, seat)
                for line in going[: self._width]
                for action in line.game.legal()
            ]
        assert best is not None  # noqa: S101 - every turn ends
        return best.first

    def _step(self, game: Game, action: int, first: int, seat: int) -> Line:
        after = game.clone()
        after.apply(action)
        return Line(lead(estimate(after), seat), first, after)


def _goes_on(game: Game, start: Game) -> bool:
    """Whether it is still the same turn of the same seat."""
    return (game.to_move, game.round, game.turn) == (start.to_move, start.round, start.turn)


def _promise(line: Line) -> float:
    return line.promise
