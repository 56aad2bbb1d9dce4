"""Lantern zones: what they give, choosing one, and the cards that join them (D-5.4, D-8.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import COIN, GOODS, SEAL
from himeji.rules.duel.constants import COLOURS, DISPLAY, LANTERN_CARD, ZONE, ZONE_ACTIVATED
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.storage import stow
from himeji.rules.effects import Effect
from himeji.rules.game import Step

ANY_ZONE: Final = -1
NO_CARD: Final = 1  # blocked: no card lies there


def activate(game: DuelGame, seat: int, colour: int, rule: str) -> None:
    """Gain the printed reward and every card of a zone (D-5.4).

    Coins and seals come last and together: only for them can an order matter (D-7.1).
    """
    game.note(ZONE_ACTIVATED, seat, colour, 0, rule)
    amounts = [0] * GOODS
    amounts[game.tables.zone_good[colour]] += game.tables.zone_amount[colour]
    for number in game.zones[seat * COLOURS + colour]:
        card = game.tables.of(number)
        amounts[card.good] += card.amount
    for good in range(GOODS):
        if amounts[good] and good not in (COIN, SEAL):
            game.gain(seat, good, amounts[good], rule)
    if amounts[COIN] or amounts[SEAL]:
        stow(game, seat, amounts[COIN], amounts[SEAL], rule)


class LanternIcon(Effect):
    """Activate a zone: of a printed colour, or of the owner's choice."""

    def __init__(self, zone: int, text: str, code: int, order: int) -> None:
        super().__init__(text, code, order)
        self.zone = zone

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Activate it, or ask which."""
        if self.zone == ANY_ZONE:
            game.stack.append(ChooseZone(seat))
        else:
            activate(game, seat, self.zone, rule)


class ChooseZone(Step):
    """Activate one own zone (D-6.6)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "D-6.6")

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return (ZONE, ZONE + 1, ZONE + 2)

    def question(self, game: DuelGame) -> str:
        """Ask for the zone."""
        return "activate a Lantern zone"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Gain what it gives."""
        activate(game, self.seat, action - ZONE, "D-6.6")


class LanternCardIcon(Effect):
    """A lantern card of the display, and for some icons its zone at once."""

    def __init__(self, text: str, code: int, order: int, *, shines: bool) -> None:
        super().__init__(text, code, order)
        self.shines = shines

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask for the card."""
        game.stack.append(TakeLanternCard(seat, shines=self.shines))


class TakeLanternCard(Step):
    """Take a lantern card; the display refills at once (D-8.3)."""

    def __init__(self, seat: int, *, shines: bool) -> None:
        super().__init__(seat, "D-8.3")
        self.shines = shines

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """The places of the display, unless no card is left."""
        return range(LANTERN_CARD, LANTERN_CARD + DISPLAY) if any(game.display) else ()

    def blocked(self, game: DuelGame, action: int) -> int:
        """A card must lie there."""
        return 0 if game.display[action - LANTERN_CARD] else NO_CARD

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        """The deck ran out."""
        return "no lantern card lies there", "D-8.3"

    def question(self, game: DuelGame) -> str:
        """Ask for the card."""
        return "take a lantern card"

    def run(self, game: DuelGame) -> None:
        """No card is left: no effect (D-8.3)."""

    def resolve(self, game: DuelGame, action: int) -> None:
        """It joins its zone, which some icons activate, the new card included."""
        place = action - LANTERN_CARD
        card = game.display[place]
        game.shine(self.seat, card, "D-8.3")
        game.refill_display(place, "D-8.3")
        if self.shines:
            activate(game, self.seat, game.tables.of(card).colour, "D-8.3")
