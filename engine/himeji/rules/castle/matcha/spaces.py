"""The spaces for dice that Matcha adds, and the ceremony tile of the own domain (M-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from himeji.rules.castle.constants import EFFECT
from himeji.rules.castle.icons import perform
from himeji.rules.castle.matcha.constants import GREEN_DOMAIN_SPACE, OUTSKIRTS_UPPER
from himeji.rules.castle.matcha.curtains import EACH, LOWER, UPPER, offer_curtains
from himeji.rules.castle.matcha.geishas import BLUE
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.turn import AREAS, Area, DomainArea
from himeji.rules.constants import DONE, GREEN, PERFORM, SEAL, count
from himeji.rules.effect_order import grant
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: the price cannot be paid


class TeaFieldsArea(Area):
    """Tea Fields: any colour, GEISHA (M-5.1)."""

    text: ClassVar[str] = "Tea Fields: any colour, GEISHA (M-5.1)."

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """What is printed there."""
        grant(game, seat, game.tables.spaces[number].offers, "M-5.1")


class OutskirtsArea(Area):
    """Outskirts: any colour, the curtains in line with the die (M-5.3)."""

    text: ClassVar[str] = "Outskirts: any colour, the curtains in line with the die (M-5.3)."

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Both upper or both lower curtains of the visible cards."""
        line = UPPER if number == OUTSKIRTS_UPPER else LOWER
        offer_curtains(game, seat, line, EACH, "M-5.3")


class MatchaDomainArea(DomainArea):
    """A domain with a green row, beside which the own ceremony tile lies (M-5.6)."""

    def enter(self, game: CastleGame, seat: int, number: int, die: int) -> None:
        """Visible rewards, then the action card or, in the green row, the ceremony tile."""
        if number != GREEN_DOMAIN_SPACE:
            super().enter(game, seat, number, die)
            return
        game.stack.append(OwnCeremony(seat))
        grant(game, seat, game.visible(seat, GREEN), "M-5.6")


class OwnCeremony(Step):
    """The own ceremony tile for a seal, or not (M-5.6, M-8.3)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-5.6")

    def fault(self, game: MatchaGame) -> str:
        return "" if game.domain_tiles[self.seat] else "the seat has no ceremony tile (M-3.8)"

    def candidates(self, game: MatchaGame) -> Sequence[int]:
        """Perform it or not."""
        return (DONE, PERFORM)

    def blocked(self, game: MatchaGame, action: int) -> int:
        price = game.tea_garden.domain_tile_seals
        return PRICE if action == PERFORM and game.has(self.seat, SEAL) < price else 0

    def explain(self, game: MatchaGame, action: int, block: int) -> tuple[str, str]:
        price, held = count(game.tea_garden.domain_tile_seals, SEAL), game.has(self.seat, SEAL)
        return f"it costs {price}, seat {self.seat} has {held}", "M-8.3"

    def question(self, game: MatchaGame) -> str:
        """Ask whether it is wanted."""
        return f"use {game.tables.names[game.domain_tiles[self.seat]]} of the own domain, or not"

    def resolve(self, game: MatchaGame, action: int) -> None:
        """Pay and perform it, if wanted."""
        if action == PERFORM:
            tile = game.domain_tiles[self.seat]
            game.note(EFFECT, self.seat, tile, BLUE, "M-5.6")
            game.pay(self.seat, SEAL, game.tea_garden.domain_tile_seals, "M-8.3")
            perform(game, self.seat, game.tables.of(tile).rows[BLUE], "M-8.2")


MATCHA_AREAS: Final[dict[str, Area]] = {
    **AREAS,
    "domain": MatchaDomainArea(),
    "tea-fields": TeaFieldsArea(),
    "outskirts": OutskirtsArea(),
}
