"""Gains of the castle family: seals at their cap."""

from __future__ import annotations

from collections.abc import Sequence

from himeji.rules.castle.constants import GO_ON
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import SEAL
from himeji.rules.effects import SEALS_SCOPE, Effect
from himeji.rules.gains import amount_fault
from himeji.rules.game import Step


class GainSeals(Effect):
    """Seals: their owner may make room for them first (B-6.3)."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} seal", code, order, scope=SEALS_SCOPE)
        self.amount = amount

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Take them, or ask first if some would be lost."""
        if game.drafting or game.has(seat, SEAL) + self.amount <= game.tables.caps[SEAL]:
            game.gain(seat, SEAL, self.amount, rule)
        else:
            game.stack.append(SealsAtCap(seat, self.amount, rule))


class SealsAtCap(Step):
    """A gain that would lose seals: exchange some first, or go on (B-6.3)."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: CastleGame) -> str:
        return amount_fault(self.amount)

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Go on, as long as seals would be lost."""
        if game.has(self.seat, SEAL) + self.amount <= game.tables.caps[SEAL]:
            return ()
        return (GO_ON,)

    def question(self, game: CastleGame) -> str:
        """Ask before seals are lost."""
        return f"exchange seals or go on, before {self.amount} seals are gained"

    def run(self, game: CastleGame) -> None:
        """Enough room was made."""
        game.gain(self.seat, SEAL, self.amount, self.rule)

    def resolve(self, game: CastleGame, action: int) -> None:
        """Go on: what is beyond the cap is lost."""
        game.gain(self.seat, SEAL, self.amount, self.rule)
