"""Matcha around its icons: new spaces for dice, the own tile, the pond at the end of a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.constants import ACTIVATE, DOMAIN_SPACE, EFFECT
from himeji.rules.castle.icons import perform
from himeji.rules.castle.matcha.constants import GEISHA_PLACES, ON_OVERLOOK, OUTSKIRTS_UPPER, POND
from himeji.rules.castle.matcha.curtains import EACH, LOWER, UPPER, offer_curtains
from himeji.rules.castle.matcha.geishas import BLUE, Overlook
from himeji.rules.castle.rounds import ActivateGardens, GardensOfSeat, gardens_in_step
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.turn import AREAS, Area, Domain
from himeji.rules.constants import DONE, GREEN, PERFORM, SEAL, count
from himeji.rules.effect_order import grant
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: the price cannot be paid


# --- spaces (M-5) -------------------------------------------------------------------------------


class TeaFields(Area):
    """Tea Fields: any colour, GEISHA (M-5.1)."""

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """What is printed there."""
        grant(game, seat, game.tables.spaces[number].offers, "M-5.1")


class Outskirts(Area):
    """Outskirts: any colour, the curtains in line with the die (M-5.3)."""

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Both upper or both lower curtains of the visible cards."""
        line = UPPER if number == OUTSKIRTS_UPPER else LOWER
        offer_curtains(game, seat, line, EACH, "M-5.3")


class TeaDomain(Domain):
    """A domain with a green row, beside which the own ceremony tile lies (M-5.6)."""

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Visible rewards, then the action card or, in the green row, the ceremony tile."""
        if number != DOMAIN_SPACE + GREEN:
            super().enter(game, seat, number, die)
            return
        game.stack.append(OwnCeremony(seat))
        grant(game, seat, game.visible(seat, GREEN), "M-5.6")


class OwnCeremony(Step):
    """The own ceremony tile for a seal, or not (M-5.6, M-8.3)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-5.6")

    def fault(self, game: CastleGame) -> str:
        return "" if game.domain_tiles[self.seat] else "the seat has no ceremony tile (M-3.8)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Perform it or not."""
        return (DONE, PERFORM)

    def blocked(self, game: CastleGame, action: int) -> int:
        """It costs seals."""
        price = game.tables.domain_tile_seals
        return PRICE if action == PERFORM and game.has(self.seat, SEAL) < price else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Too few seals."""
        price, held = count(game.tables.domain_tile_seals, SEAL), game.has(self.seat, SEAL)
        return f"it costs {price}, seat {self.seat} has {held}", "M-8.3"

    def question(self, game: CastleGame) -> str:
        """Ask whether it is wanted."""
        return f"use {game.tables.names[game.domain_tiles[self.seat]]} of the own domain, or not"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Pay and perform it, if wanted."""
        if action == PERFORM:
            tile = game.domain_tiles[self.seat]
            game.note(EFFECT, self.seat, tile, BLUE, "M-5.6")
            game.pay(self.seat, SEAL, game.tables.domain_tile_seals, "M-8.3")
            perform(game, self.seat, game.tables.of(tile).rows[BLUE], "M-8.2")


TEA_AREAS: Final[dict[str, Area]] = {
    **AREAS,
    "domain": TeaDomain(),
    "tea-fields": TeaFields(),
    "outskirts": Outskirts(),
}


# --- the end of a round (M-10.2) ----------------------------------------------------------------


def gardens_and_pond(game: CastleGame) -> None:
    """In the new turn order, each seat's gardens and its overlook (M-10.2)."""
    game.stack.extend(GardensAndPondOfSeat(seat) for seat in reversed(game.order))


def pond_in_step(game: CastleGame, seat: int) -> bool:
    """Whether a green die is left and a geisha of the seat stands on the overlook."""
    here = game.geishas[seat * GEISHA_PLACES + ON_OVERLOOK]
    return here > 0 and bool(game.left[GREEN] or game.right[GREEN])


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
        if self.pond and not game.geishas[self.seat * GEISHA_PLACES + ON_OVERLOOK]:
            return "no geisha of the seat stands on the overlook (M-10.2)"
        return super().fault(game) if self.gardens or not self.pond else ""

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """What is left."""
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
