"""The end of a round with Matcha: gardens and the pond (M-10.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from himeji.rules.castle.constants import ACTIVATE, EFFECT
from himeji.rules.castle.icons import perform
from himeji.rules.castle.matcha.constants import GEISHA_PLACES, ON_OVERLOOK, POND
from himeji.rules.castle.matcha.geishas import Overlook
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.rounds import ActivateGardens, GardensOfSeat, gardens_in_step
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import DONE, GREEN


def gardens_and_pond(game: CastleGame) -> None:
    """In the new turn order, each seat's gardens and its overlook (M-10.2)."""
    game.stack.extend(GardensAndPondOfSeat(seat) for seat in reversed(game.order))


def on_overlook(game: CastleGame, seat: int) -> bool:
    """Whether a geisha of the seat stands on the overlook."""
    return cast("MatchaGame", game).geishas[seat * GEISHA_PLACES + ON_OVERLOOK] > 0


def pond_in_step(game: CastleGame, seat: int) -> bool:
    """Whether a green die is left and a geisha of the seat stands on the overlook."""
    return on_overlook(game, seat) and bool(game.left[GREEN] or game.right[GREEN])


class GardensAndPondOfSeat(GardensOfSeat):
    """A seat's part of the step begins: its gardens and its place at the pond are fixed now."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat)
        self.rule = "M-10.2"

    def run(self, game: CastleGame) -> None:
        """Offer what there is."""
        mask, pond = gardens_in_step(game, self.seat), pond_in_step(game, self.seat)
        if mask or pond:
            game.stack.append(ActivateGardensAndPond(self.seat, mask, pond=pond))


class ActivateGardensAndPond(ActivateGardens):
    """Gardens and the pond: each once, in the owner's order, each optional (M-10.2)."""

    def __init__(self, seat: int, gardens: int, *, pond: bool) -> None:
        super().__init__(seat, gardens)
        self.rule = "M-10.2"
        self.pond = pond

    def fault(self, game: CastleGame) -> str:
        if self.pond and not on_overlook(game, self.seat):
            return "no geisha of the seat stands on the overlook (M-10.2)"
        return super().fault(game) if self.gardens or not self.pond else ""

    def candidates(self, game: CastleGame) -> Sequence[int]:
        gardens = super().candidates(game)
        return [*gardens, POND] if self.pond else gardens

    def blocked(self, game: CastleGame, action: int) -> int:
        """The pond is free to use; gardens cost what they say."""
        return 0 if action == POND else super().blocked(game, action)

    def question(self, game: CastleGame) -> str:
        """Ask for one of them."""
        return "activate a garden or the pond" if self.pond else "activate a garden"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform one; the others stay on offer."""
        if action == DONE:
            return
        pond = self.pond and action != POND
        rest = self.gardens if action == POND else self.gardens & ~(1 << action - ACTIVATE)
        if rest or pond:
            game.stack.append(ActivateGardensAndPond(self.seat, rest, pond=pond))
        if action == POND:
            game.stack.append(Overlook(self.seat))
        else:
            game.note(EFFECT, self.seat, game.gardens[action - ACTIVATE], 0, "B-7.2")
            perform(game, self.seat, self.row(game, action), "B-7.2")
