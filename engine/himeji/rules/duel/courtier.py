"""The courtier: climbing the own path (D-6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import DONE, PEARL, SIDE_NAMES, count
from himeji.rules.duel.constants import CLIMB, COURTIER_MOVED, TOP_SPACE
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.well import Priced
from himeji.rules.effect_order import grant

OTHER_PATH: Final = 1  # blocked: that is the opponent's path
TOO_HIGH: Final = 2  # blocked: fewer spaces are left
PRICE: Final = 3  # blocked: too few pearls

_CLIMBS: Final = (CLIMB, CLIMB + 1, CLIMB + 2, CLIMB + 3)


class Climb(Priced):
    """Move the courtier one or two spaces up its path (D-6.4)."""

    def __init__(self, seat: int, discount: int, *, optional: bool) -> None:
        super().__init__(seat, "D-6.4", discount, optional=optional)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """One or two spaces, left or right."""
        return (DONE, *_CLIMBS) if self.optional else _CLIMBS

    def price(self, game: DuelGame, spaces: int) -> int:
        """Pearls, less the discount (D-6.9)."""
        return self.lowered(game.tables.climb_pearl[spaces])

    def blocked(self, game: DuelGame, action: int) -> int:
        """The own path, with so many spaces left, and the pearls."""
        if action == DONE:
            return 0
        side, spaces = divmod(action - CLIMB, 2)
        if game.paths[self.seat] not in (0, side + 1):
            return OTHER_PATH
        if game.courtiers[self.seat] + spaces + 1 > TOP_SPACE:
            return TOO_HIGH
        return PRICE if game.has(self.seat, PEARL) < self.price(game, spaces + 1) else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        side, spaces = divmod(action - CLIMB, 2)
        if block == OTHER_PATH:
            own = SIDE_NAMES[1 - side]
            return f"the path of seat {self.seat} is the {own} one", "D-6.4"
        if block == TOO_HIGH:
            left = TOP_SPACE - game.courtiers[self.seat]
            return f"only {left} of {TOP_SPACE} spaces lie above the courtier", "D-6.4"
        price, held = self.price(game, spaces + 1), game.has(self.seat, PEARL)
        return f"it costs {count(price, PEARL)}, seat {self.seat} has {held}", "D-6.4"

    def question(self, game: DuelGame) -> str:
        return "climb with the courtier"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Pay, move, and gain what the last space pays."""
        if action == DONE:
            return
        side, spaces = divmod(action - CLIMB, 2)
        game.pay(self.seat, PEARL, self.price(game, spaces + 1), "D-6.4")
        # The first move of the game settles both paths for good.
        game.paths[self.seat], game.paths[1 - self.seat] = side + 1, 2 - side
        game.courtiers[self.seat] += spaces + 1
        space = game.courtiers[self.seat]
        game.note(COURTIER_MOVED, self.seat, space, side, "D-6.4")
        grant(game, self.seat, game.reward_of_space(side, space), "D-6.4")
