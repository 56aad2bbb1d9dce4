"""Gains that every family has: goods that are simply taken, and resources of one's choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.clans import ClanGame
from himeji.rules.constants import CHOOSE, COIN, FOOD, GOOD_NAMES, IRON, PEARL, VP
from himeji.rules.effects import FREE_SCOPE, GOODS_SCOPE, Effect
from himeji.rules.game import Step

MOST_AMOUNT: Final = 16  # more than any icon gives


def amount_fault(amount: int) -> str:
    """Why a pending gain cannot be so large, empty if it can."""
    return "" if 0 < amount < MOST_AMOUNT else "no icon gives so much"


class Gain(Effect):
    """A good that is simply taken."""

    def __init__(self, good: int, amount: int, code: int, order: int) -> None:
        scope = FREE_SCOPE if good in (COIN, VP) else GOODS_SCOPE
        super().__init__(f"{amount} {GOOD_NAMES[good]}", code, order, plain=True, scope=scope)
        self.good = good
        self.amount = amount

    def start(self, game: ClanGame, seat: int, rule: str) -> None:
        game.gain(seat, self.good, self.amount, rule)


class GainAny(Effect):
    """Resources of the owner's choice, unit by unit."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} any", code, order, scope=GOODS_SCOPE)
        self.amount = amount

    def start(self, game: ClanGame, seat: int, rule: str) -> None:
        """Ask for the first unit."""
        game.stack.append(ChooseResource(seat, self.amount, rule))


class ChooseResource(Step):
    """One unit of *any* after the other."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: ClanGame) -> str:
        return amount_fault(self.amount)

    def candidates(self, game: ClanGame) -> Sequence[int]:
        """Food, iron or pearl."""
        return (CHOOSE + FOOD, CHOOSE + IRON, CHOOSE + PEARL)

    def question(self, game: ClanGame) -> str:
        """Ask for one unit."""
        return f"choose a resource ({self.amount} to come)"

    def resolve(self, game: ClanGame, action: int) -> None:
        """Gain the unit, then ask for the next."""
        if self.amount > 1:
            game.stack.append(ChooseResource(self.seat, self.amount - 1, self.rule))
        game.gain(self.seat, action - CHOOSE, 1, self.rule)
