"""The Well: one benefit of four, as often as it is granted (D-6.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import CHOOSE, DONE, FOOD, IRON, PEARL, SWAP, VP
from himeji.rules.duel.constants import CHOOSE_COIN, CHOOSE_SEAL, CHOOSE_SWAP, CHOOSE_VP
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.storage import stow_chosen
from himeji.rules.effects import GOODS_SCOPE, Effect
from himeji.rules.gains import amount_fault
from himeji.rules.game import Step

MOST_DISCOUNT: Final = 1
FULL: Final = 1  # blocked: no room for another swap tile

_BENEFITS: Final = (
    DONE,
    CHOOSE + FOOD,
    CHOOSE + IRON,
    CHOOSE + PEARL,
    CHOOSE_COIN,
    CHOOSE_SEAL,
    CHOOSE_SWAP,
    CHOOSE_VP,
)


class WellIcon(Effect):
    """Benefits of the Well."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} well", code, order, scope=GOODS_SCOPE)
        self.amount = amount

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask for the first."""
        game.stack.append(Well(seat, self.amount, rule))


class Well(Step):
    """Choose a benefit of the Well, or be done (D-6.8)."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: DuelGame) -> str:
        return amount_fault(self.amount)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """A resource, a coin or seal, a swap tile, a point."""
        return _BENEFITS

    def blocked(self, game: DuelGame, action: int) -> int:
        """A swap tile needs a space."""
        full = action == CHOOSE_SWAP and game.has(self.seat, SWAP) >= game.caps[SWAP]
        return FULL if full else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        """Both spaces are taken."""
        return f"seat {self.seat} holds {game.caps[SWAP]} swap tiles already", "D-7.1"

    def question(self, game: DuelGame) -> str:
        """Ask for a benefit."""
        return f"choose a benefit of the Well ({self.amount} to come)"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Gain it; the others follow."""
        if action == DONE:
            return
        if self.amount > 1:
            game.stack.append(Well(self.seat, self.amount - 1, self.rule))
        if action == CHOOSE_SWAP:
            game.gain(self.seat, SWAP, 1, "D-6.8")
        elif action == CHOOSE_VP:
            game.gain(self.seat, VP, 1, "D-6.8")
        elif action in (CHOOSE_COIN, CHOOSE_SEAL):
            stow_chosen(game, self.seat, action, "D-6.8")
        else:
            game.gain(self.seat, action - CHOOSE, 1, "D-6.8")


class Priced(Step):
    """An action whose price a discount lowers (D-6.9); as an icon it may be left undone."""

    def __init__(self, seat: int, rule: str, discount: int, *, optional: bool) -> None:
        super().__init__(seat, rule)
        self.discount = discount
        self.optional = optional

    def fault(self, game: DuelGame) -> str:
        return "" if self.discount <= MOST_DISCOUNT else "no icon lowers a price so much (D-6.9)"

    def lowered(self, price: int) -> int:
        """A price after the discount."""
        return max(price - self.discount, 0)

    def run(self, game: DuelGame) -> None:
        """Nothing of it can be done, for its means were exchanged: it counts as declined."""
        game.stack.append(Well(self.seat, 1, "D-5.5"))
