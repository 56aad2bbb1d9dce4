"""Influence: steps on the Passage of Time, and its checkpoints (B-6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.constants import PAY_CHECKPOINT, STOP
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import INFLUENCE, SEAL, count
from himeji.rules.effects import STEPS_SCOPE, Effect
from himeji.rules.gains import amount_fault
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: too few seals


class GainInfluence(Effect):
    """Steps on the Passage of Time."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} influence", code, order, scope=STEPS_SCOPE)
        self.amount = amount

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Walk as far as no checkpoint asks for seals."""
        walk(game, seat, self.amount)


def walk(game: CastleGame, seat: int, steps: int) -> None:
    """Move the marker step by step; a checkpoint asks its owner first (B-6.2)."""
    position = game.has(seat, INFLUENCE)
    while steps > 0 and position < game.tables.last_position:
        if game.tables.checkpoint[position + 1] > 0:
            game.stack.append(Checkpoint(seat, steps))
            return
        game.step_on(seat)
        position += 1
        steps -= 1


class Checkpoint(Step):
    """The marker stands before a checkpoint: pay its seals, or stop and lose the steps (B-6.2)."""

    def __init__(self, seat: int, steps: int) -> None:
        super().__init__(seat, "B-6.2")
        self.steps = steps

    def fault(self, game: CastleGame) -> str:
        stands = game.has(self.seat, INFLUENCE) < game.tables.last_position and self.price(game) > 0
        if not stands:
            return "the marker stands before no checkpoint (B-6.2)"
        if game.stack[-1] is not self:
            return "a checkpoint is paid or not before anything else is done (B-6.2)"
        return amount_fault(self.steps)

    def price(self, game: CastleGame) -> int:
        """The seals that the next position costs."""
        return game.tables.checkpoint[game.has(self.seat, INFLUENCE) + 1]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (PAY_CHECKPOINT, STOP)

    def blocked(self, game: CastleGame, action: int) -> int:
        """Stopping is always possible."""
        if action == PAY_CHECKPOINT and game.has(self.seat, SEAL) < self.price(game):
            return PRICE
        return 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        held = game.has(self.seat, SEAL)
        return f"it costs {count(self.price(game), SEAL)}, seat {self.seat} has {held}", "B-6.2"

    def question(self, game: CastleGame) -> str:
        """Ask for the price."""
        position = game.has(self.seat, INFLUENCE) + 1
        return f"pay {count(self.price(game), SEAL)} to enter position {position}, or stop"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Pay and walk on, or stay."""
        if action == PAY_CHECKPOINT:
            game.pay(self.seat, SEAL, self.price(game), "B-6.2")
            game.step_on(self.seat)
            walk(game, self.seat, self.steps - 1)
