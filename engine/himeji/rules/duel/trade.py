"""Trade: resources for a card, a Common tile or a Luxury tile (D-6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import DONE
from himeji.rules.duel.cards import (
    NO_EMPTY_DECK,
    TakeTop,
    blocked_deck,
    empty_deck,
    explain_deck,
)
from himeji.rules.duel.components import ANY_RESOURCE, Price
from himeji.rules.duel.constants import (
    COMPONENT_GAINED,
    DECK_WELL,
    DECKS,
    STACK_NAMES,
    STACKS,
    TRADE,
)
from himeji.rules.duel.payments import lack, pay_price, resources_held
from himeji.rules.duel.state import IN_STORE, DuelGame
from himeji.rules.duel.well import Priced, Well
from himeji.rules.game import Step

NO_CARD: Final = 1  # blocked: the card cannot be bought
SOLD_OUT: Final = 2  # blocked: the stack is empty
PRICE: Final = 3  # blocked: too few resources
NONE_EMPTY: Final = 4  # blocked: every deck has a card

_WARES: Final = (*range(TRADE, TRADE + DECKS + STACKS), DECK_WELL)


class Trade(Priced):
    """Trade resources of any kinds for one of three things (D-6.5)."""

    def __init__(self, seat: int, discount: int, *, optional: bool) -> None:
        super().__init__(seat, "D-6.5", discount, optional=optional)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """The top card of a deck, a Common tile, a Luxury tile, the Well of an empty deck."""
        return (DONE, *_WARES) if self.optional else _WARES

    def price(self, game: DuelGame, action: int) -> int:
        """Resources, less the discount (D-6.9)."""
        stack = action - TRADE - DECKS
        if action == DECK_WELL or stack < 0:
            return self.lowered(game.tables.trade_card)
        return self.lowered(game.tables.trade_tile[stack])

    def blocked(self, game: DuelGame, action: int) -> int:
        """Something must be there, and be paid; a card costs its own price too."""
        if action == DONE:
            return 0
        ware = action - TRADE
        if action == DECK_WELL:
            if not empty_deck(game):
                return NONE_EMPTY
        elif ware < DECKS:
            if blocked_deck(game, self.seat, ware):
                return NO_CARD
        elif game.wares[ware - DECKS] == 0:
            return SOLD_OUT
        return PRICE if resources_held(game, self.seat) < self.price(game, action) else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        ware = action - TRADE
        if block == NO_CARD:
            return explain_deck(game, self.seat, ware), "D-6.5"
        if block == SOLD_OUT:
            return f"the {STACK_NAMES[ware - DECKS]} tiles are sold out", "D-6.5"
        if block == NONE_EMPTY:
            return NO_EMPTY_DECK, "D-6.1"
        return lack(game, self.seat, Price(self.price(game, action), ANY_RESOURCE)), "D-6.5"

    def question(self, game: DuelGame) -> str:
        return "trade resources"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Pay, then take it. A card's own price is paid first, so that seals kept for it stay."""
        if action == DONE:
            return
        ware = action - TRADE
        fee = Price(self.price(game, action), ANY_RESOURCE)
        if action == DECK_WELL:
            game.stack.append(Well(self.seat, 1, "D-6.1"))
        elif ware >= DECKS:
            game.stack.append(TakeWare(self.seat, ware - DECKS))
        else:
            game.stack.append(TakeTop(self.seat, ware))
        if fee.amount:
            pay_price(game, self.seat, fee, "D-6.5")
        if ware < DECKS:
            pay_price(game, self.seat, game.tables.of(game.tops[ware]).price, "D-6.1")


class TakeWare(Step):
    """The merchandise is paid: its tile comes to its owner, the next one shows."""

    def __init__(self, seat: int, stack: int) -> None:
        super().__init__(seat, "D-6.5")
        self.stack = stack

    def fault(self, game: DuelGame) -> str:
        sold_out = f"the {STACK_NAMES[self.stack]} tiles are sold out (D-6.5)"
        return "" if game.wares[self.stack] else sold_out

    def run(self, game: DuelGame) -> None:
        tile = game.wares[self.stack]
        game.bought[self.seat] = (*game.bought[self.seat], tile)
        game.note(COMPONENT_GAINED, self.seat, tile, IN_STORE, "D-6.5")
        game.reveal_ware(self.stack, "D-4.8")
