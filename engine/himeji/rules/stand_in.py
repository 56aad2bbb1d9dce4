"""The stand-in: what plays for a seat that was lost, the same for everybody to foresee."""

from __future__ import annotations

from himeji.rules.game import Game


def stand_in(game: Game) -> int:
    """The lowest legal action that is no free answer; where something may be declined, it is."""
    free = game.free_answers(game.stack[-1])
    return next(action for action in game.answers if action not in free)
