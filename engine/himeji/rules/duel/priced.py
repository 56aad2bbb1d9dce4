"""What the four actions with a price in resources have in common: discounts, and being optional."""

from __future__ import annotations

from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.well import Well
from himeji.rules.game import Step


class Priced(Step):
    """An action whose price a discount lowers (D-6.9); as an icon it may be left undone."""

    def __init__(self, seat: int, rule: str, discount: int, *, optional: bool) -> None:
        super().__init__(seat, rule)
        self.discount = discount
        self.optional = optional

    def lowered(self, price: int) -> int:
        """A price after the discount."""
        return max(price - self.discount, 0)

    def run(self, game: DuelGame) -> None:
        """Nothing of it can be done, for its means were exchanged: it counts as declined."""
        game.stack.append(Well(self.seat, 1, "D-5.5"))
