"""Influence cards: buying them, their scrolls, and improving them (D-6.1, D-6.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import DONE, PERFORM
from himeji.rules.duel.constants import (
    BUY,
    CARD_IMPROVED,
    COMPONENT_GAINED,
    DECK_NAMES,
    DECK_WELL,
    IMPROVE,
    INFLUENCE_CARDS,
)
from himeji.rules.duel.payments import affordable, lack, pay_price
from himeji.rules.duel.state import IN_AREA, DuelGame
from himeji.rules.duel.well import Well
from himeji.rules.effect_order import grant
from himeji.rules.effects import Effect
from himeji.rules.gains import amount_fault
from himeji.rules.game import Step

EMPTY: Final = 1  # blocked: the deck is empty
PRICE: Final = 2  # blocked: the price cannot be paid
NONE_EMPTY: Final = 3  # blocked: every deck has a card

NO_EMPTY_DECK: Final = "no deck is empty"

_DECK_CHOICES: Final = (DONE, BUY, BUY + 1, BUY + 2, DECK_WELL)


# --- buying -----------------------------------------------------------------------------------


def buy(game: DuelGame, seat: int, deck: int, rule: str) -> None:
    """Pay the price of the top card of a deck, then take it (D-6.1)."""
    game.stack.append(TakeTop(seat, deck))
    pay_price(game, seat, game.tables.of(game.tops[deck]).price, rule)


def blocked_deck(game: DuelGame, seat: int, deck: int) -> int:
    """Why the top card of a deck cannot be bought, 0 if it can."""
    card = game.tops[deck]
    if card == 0:
        return EMPTY
    return 0 if affordable(game, seat, game.tables.of(card).price) else PRICE


def explain_deck(game: DuelGame, seat: int, deck: int) -> str:
    """The same in words."""
    card = game.tops[deck]
    if card == 0:
        return f"the deck {DECK_NAMES[deck]} is empty"
    return f"{game.tables.names[card]}: {lack(game, seat, game.tables.of(card).price)}"


def empty_deck(game: DuelGame) -> bool:
    """Whether a deck is empty, so that its space gives a benefit of the Well (D-6.1)."""
    return 0 in game.tops


class BuyIcon(Effect):
    """The top card of any deck: for its price, or free."""

    def __init__(self, text: str, code: int, order: int, *, free: bool) -> None:
        super().__init__(text, code, order)
        self.free = free

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask for the deck."""
        game.stack.append(ChooseCard(seat, rule, free=self.free))


class ChooseCard(Step):
    """The top card of a deck, for its price or free, or the Well of an empty one, or nothing."""

    def __init__(self, seat: int, rule: str, *, free: bool) -> None:
        super().__init__(seat, rule)
        self.free = free

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return _DECK_CHOICES

    def blocked(self, game: DuelGame, action: int) -> int:
        """There must be a card, and its price must be paid unless it is free."""
        if action == DONE:
            return 0
        if action == DECK_WELL:
            return 0 if empty_deck(game) else NONE_EMPTY
        if self.free:
            return 0 if game.tops[action - BUY] else EMPTY
        return blocked_deck(game, self.seat, action - BUY)

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        """No card, no empty deck, or too little to pay with."""
        if block == NONE_EMPTY:
            return NO_EMPTY_DECK, "D-6.1"
        return explain_deck(game, self.seat, action - BUY), "D-6.1"

    def question(self, game: DuelGame) -> str:
        """Ask for the deck."""
        return f"{'take' if self.free else 'buy'} the top card of a deck"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Buy it, or take it; an empty deck gives a benefit of the Well instead."""
        if action == DONE:
            return
        if action == DECK_WELL:
            game.stack.append(Well(self.seat, 1, "D-6.1"))
        elif self.free:
            game.stack.append(TakeTop(self.seat, action - BUY))
        else:
            buy(game, self.seat, action - BUY, self.rule)


class TakeTop(Step):
    """The card is paid: it goes to the own area, the next one shows, its scroll is offered."""

    def __init__(self, seat: int, deck: int) -> None:
        super().__init__(seat, "D-6.1")
        self.deck = deck

    def fault(self, game: DuelGame) -> str:
        return "" if game.tops[self.deck] else f"the deck {DECK_NAMES[self.deck]} is empty (D-6.1)"

    def run(self, game: DuelGame) -> None:
        """Take it, price side up."""
        card = game.tops[self.deck]
        game.cards[self.seat] |= 1 << (card - 1)
        game.note(COMPONENT_GAINED, self.seat, card, IN_AREA, "D-6.1")
        game.reveal_top(self.deck, "D-4.2")
        game.stack.append(Scroll(self.seat, card))


# --- scrolls ----------------------------------------------------------------------------------


class Scroll(Step):
    """Do the scroll of the card just bought, or skip it (D-6.1)."""

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat, "D-6.1")
        self.card = card

    def fault(self, game: DuelGame) -> str:
        return scroll_fault(game, self.seat, self.card)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """Do it or not."""
        return (DONE, PERFORM)

    def blocked(self, game: DuelGame, action: int) -> int:
        """Its cost must be paid."""
        cost = game.tables.of(self.card).cost
        return PRICE if action == PERFORM and not affordable(game, self.seat, cost) else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        """Too little to pay with."""
        return lack(game, self.seat, game.tables.of(self.card).cost), "D-6.1"

    def question(self, game: DuelGame) -> str:
        """Ask whether it is wanted."""
        gives = ", ".join(effect.text for effect in game.tables.of(self.card).gives)
        return f"do the scroll “{gives}” of {game.tables.names[self.card]}, or not"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Pay its cost, then its effects."""
        if action == PERFORM:
            game.stack.append(ScrollEffects(self.seat, self.card))
            pay_price(game, self.seat, game.tables.of(self.card).cost, "D-6.1")


def scroll_fault(game: DuelGame, seat: int, card: int) -> str:
    """Why a scroll cannot be pending: the seat has not bought the card."""
    if not 1 <= card <= INFLUENCE_CARDS or not game.cards[seat] >> (card - 1) & 1:
        name = game.tables.names[card]
        return f"seat {seat} has no {name} with its price side up (D-6.1)"
    return ""


class ScrollEffects(Step):
    """The scroll is paid: its effects follow, in their owner's order."""

    def __init__(self, seat: int, card: int) -> None:
        super().__init__(seat, "D-6.1")
        self.card = card

    def fault(self, game: DuelGame) -> str:
        return scroll_fault(game, self.seat, self.card)

    def run(self, game: DuelGame) -> None:
        grant(game, self.seat, game.tables.of(self.card).gives, "D-6.1")


# --- improving --------------------------------------------------------------------------------


class ImproveIcon(Effect):
    """Turn up to so many own cards to their icon side."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} improve", code, order)
        self.amount = amount

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask for the first."""
        game.stack.append(Improve(seat, self.amount, optional=True))


class Improve(Step):
    """Improve an own influence card (D-6.7)."""

    def __init__(self, seat: int, amount: int, *, optional: bool) -> None:
        super().__init__(seat, "D-6.7")
        self.amount = amount
        self.optional = optional

    def fault(self, game: DuelGame) -> str:
        return amount_fault(self.amount)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """The cards that are not improved yet; without one there is nothing to ask."""
        cards = game.cards[self.seat]
        if cards == 0:
            return ()
        found = [DONE] if self.optional else []
        while cards:
            low = cards & -cards
            found.append(IMPROVE + low.bit_length() - 1)
            cards ^= low
        return found

    def question(self, game: DuelGame) -> str:
        """Ask for the card."""
        return f"improve an influence card (up to {self.amount})"

    def run(self, game: DuelGame) -> None:
        """No card to improve."""

    def resolve(self, game: DuelGame, action: int) -> None:
        """Turn it over; another may follow."""
        if action == DONE:
            return
        bit = 1 << (action - IMPROVE)
        game.cards[self.seat] ^= bit
        game.improved[self.seat] |= bit
        game.note(CARD_IMPROVED, self.seat, action - IMPROVE + 1, 0, "D-6.7")
        if self.amount > 1:
            game.stack.append(Improve(self.seat, self.amount - 1, optional=True))
