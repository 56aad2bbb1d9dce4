"""The curtains of the outskirts cards: what a die, an icon or a step of the path may use (M-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import EFFECT
from himeji.rules.castle.icons import price_refusal
from himeji.rules.castle.matcha.constants import (
    CALLIGRAPHY_PILE,
    CURTAIN,
    CURTAIN_NAMES,
    FLOWER_PILE,
    OUTSKIRTS_PILES,
)
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import DONE
from himeji.rules.effect_order import grant
from himeji.rules.effects import Effect
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: the seal cannot be paid
NOT_OFFERED: Final = 2  # blocked: another curtain, or done already
GONE: Final = 3  # blocked: the card has left its deck

EACH: Final = 0  # each of the curtains once
ONE: Final = 1  # one of them
SAME_CARD: Final = 2  # both of one card
ONE_FREE: Final = 3  # one of them, without its seal
LIMIT_NAMES: Final = ("each", "one", "same card", "one free")

UPPER: Final = 0b0101  # curtains are bits: flower upper, flower lower, calligraphy upper, lower
LOWER: Final = 0b1010
ALL: Final = 0b1111


class Curtains(Step):
    """Perform curtains of the two visible cards, each optional, a blue one for its seal (M-5.3).

    The cards are remembered: one that leaves takes its curtain with it, and the card that comes
    gives nothing.
    """

    def __init__(
        self, seat: int, cards: tuple[int, ...], curtains: int, limit: int, rule: str
    ) -> None:
        super().__init__(seat, rule)
        self.cards = cards  # flower, calligraphy
        self.curtains = curtains  # bit mask
        self.limit = limit

    def fault(self, game: CastleGame) -> str:
        kinds = [game.tables.of(card).kind for card in self.cards]
        return "" if kinds == ["flower", "calligraphy"] else "not a flower and a calligraphy card"

    def row(self, game: CastleGame, action: int) -> Row:
        """The curtain that an answer names."""
        deck, place = divmod(action - CURTAIN, 2)
        return game.tables.of(self.cards[deck]).rows[place]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, CURTAIN, CURTAIN + 1, CURTAIN + 2, CURTAIN + 3)

    def blocked(self, game: CastleGame, action: int) -> int:
        """It must be on offer, and its seal be paid unless it is waived."""
        if action == DONE:
            return 0
        if not self.curtains >> (action - CURTAIN) & 1:
            return NOT_OFFERED
        deck = (action - CURTAIN) // 2
        if game.tops[OUTSKIRTS_PILES[deck]] != self.cards[deck]:
            return GONE
        row = self.row(game, action)
        if self.limit == ONE_FREE:
            return 0
        return PRICE if game.has(self.seat, row.cost_good) < row.cost else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        if block == NOT_OFFERED:
            left = [name for n, name in enumerate(CURTAIN_NAMES) if self.curtains >> n & 1]
            return f"on offer are {', '.join(left)}", self.rule
        if block == GONE:
            name = game.tables.names[self.cards[(action - CURTAIN) // 2]]
            return f"{name} has left its deck and took its curtain with it", "M-5.3"
        return price_refusal(game, self.seat, self.row(game, action)), "M-5.3"

    def question(self, game: CastleGame) -> str:
        """Ask for a curtain."""
        return "perform a curtain"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform one; what is left stays on offer."""
        if action == DONE:
            return
        chosen = action - CURTAIN
        rest = self._rest(chosen)
        if rest:
            game.stack.append(Curtains(self.seat, self.cards, rest, EACH, self.rule))
        row = self.row(game, action)
        game.note(EFFECT, self.seat, self.cards[chosen // 2], chosen % 2, self.rule)
        if self.limit != ONE_FREE:
            game.pay(self.seat, row.cost_good, row.cost, "M-5.3")
        grant(game, self.seat, row.gives, self.rule)

    def _rest(self, chosen: int) -> int:
        left = self.curtains & ~(1 << chosen)
        if self.limit == SAME_CARD:
            return left & 0b11 << chosen // 2 * 2
        return left if self.limit == EACH else 0


def visible_cards(game: CastleGame) -> tuple[int, ...]:
    """The cards that lie face up on the two decks."""
    return (game.tops[FLOWER_PILE], game.tops[CALLIGRAPHY_PILE])


def of_colour(game: CastleGame, *, blue: bool) -> int:
    """The blue or the yellow curtains of the visible cards."""
    mask = 0
    for deck, card in enumerate(visible_cards(game)):
        for place, row in enumerate(game.tables.of(card).rows):
            if row.dark == blue:
                mask |= 1 << 2 * deck + place
    return mask


def offer_curtains(game: CastleGame, seat: int, curtains: int, limit: int, rule: str) -> None:
    """Offer curtains of the cards that are visible now."""
    game.stack.append(Curtains(seat, visible_cards(game), curtains, limit, rule))


class CurtainIcon(Effect):
    """An icon that points at curtains of the visible cards."""

    def __init__(self, text: str, code: int, order: int) -> None:
        super().__init__(text, code, order)

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Offer what the word says."""
        if self.text == "curtains of a card":
            offer_curtains(game, seat, ALL, SAME_CARD, "M-5.3")
        elif self.text == "curtain blue free":
            offer_curtains(game, seat, of_colour(game, blue=True), ONE_FREE, "M-8.2")
        else:
            limit = ONE if self.text == "curtain yellow" else EACH
            offer_curtains(game, seat, of_colour(game, blue=False), limit, "M-5.3")
