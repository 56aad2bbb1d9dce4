"""The six actions by their numbers: as activation tiles beside a Location, and as icons."""

from __future__ import annotations

from typing import Final

from himeji.rules.duel.cards import Improve
from himeji.rules.duel.constants import ACTION_NAMES, SEATS
from himeji.rules.duel.courtier import Climb
from himeji.rules.duel.gardens_and_yards import Garden, Training
from himeji.rules.duel.lanterns import ChooseZone
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.trade import Trade
from himeji.rules.effects import Effect
from himeji.rules.game import Step

IMPROVED_BY_TILE: Final = 2  # cards (D-6.7)
PRICED: Final = (Garden, Training, Climb, Trade)  # actions whose price a discount lowers


def _beside(seat: int) -> tuple[Step, ...]:
    priced = [kind(seat, 0, optional=False) for kind in PRICED]
    return (*priced, ChooseZone(seat), Improve(seat, IMPROVED_BY_TILE, optional=False))


BESIDE: Final = tuple(_beside(seat) for seat in range(SEATS))
"""The decision of each action beside a Location, by seat: one who does it must do something."""


class ActionIcon(Effect):
    """An action as an icon, maybe with a discount; it may be left undone (D-6.9)."""

    def __init__(self, action: int, discount: int, code: int, order: int) -> None:
        name = ACTION_NAMES[action]
        super().__init__(f"{name} -{discount}" if discount else name, code, order)
        self.action = action
        self.discount = discount

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask what its owner does with it."""
        game.stack.append(PRICED[self.action](seat, self.discount, optional=True))
