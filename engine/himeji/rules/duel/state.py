"""The state of a game of Duel, and the few operations that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from himeji.rules.chance import Chance
from himeji.rules.clans import ClanGame
from himeji.rules.constants import COIN, GOODS, SEAL
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLOURS,
    COLUMNS,
    COMPONENT_GAINED,
    DECKS,
    DISPLAY,
    INFLUENCE_PILE,
    LANTERN_PILE,
    LOCATIONS,
    MERCHANDISE_PILE,
    PILE_NAMES,
    SEATS,
    STACKS,
    TILE_SPACES,
    TOKENS,
    TOP_SPACE,
    YARDS,
)
from himeji.rules.duel.payments import PayPieces
from himeji.rules.effects import Effect
from himeji.rules.game import DRAW, Step
from himeji.rules.packing import (
    FlagField,
    GroupsField,
    ListField,
    StateField,
    StateTable,
    TupleField,
)

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset

IN_AREA, IN_ZONE, IN_STORE = 0, 1, 2  # where a component came to, as events say it

LISTS = (
    *("goods", "tokens", "slots", "tops", "below", "display", "yard_seals", "garden_seals"),
    *("paths", "courtiers", "wares", "cards", "improved"),
)
TUPLES = ("locations", "unseen", "lanterns", "yards", "gardens", "social", "offers")
DUEL_STATE = StateTable(
    (
        *[StateField(name) for name in ("round", "turn", "starter")],
        *[FlagField(name) for name in ("drafting", "over")],
    ),
    (*[ListField(name) for name in LISTS], *[TupleField(name) for name in TUPLES]),
    [GroupsField(name) for name in ("stacks", "zones", "hidden_wares", "bought")],
)


@final
class DuelGame(ClanGame):
    """A game of Duel. Comments say what each list holds, constants.py what the numbers mean.

    Lists change in place; tuples are replaced, so that clones can share them.
    """

    def __init__(self, rules: DuelRuleset, clans: int, chance: Chance) -> None:
        super().__init__(rules, SEATS, clans, chance, rules.tables.caps)
        self.rules = rules
        self.tables = rules.tables
        self.starter = 0  # who has the Starting Player marker
        self.tokens: list[int] = [TOKENS] * (clans * COLOURS)  # on own lanterns: seat, colour
        self.stacks: list[tuple[int, ...]] = [()] * LOCATIONS  # colours of tokens, bottom first
        self.slots: list[int] = [0] * ACTIVATION_SLOTS  # activation tiles
        self.locations: tuple[int, ...] = ()  # location tiles
        self.tops: list[int] = [0] * DECKS  # top cards, 0 where a deck is empty
        self.below: list[int] = [0] * DECKS  # how many cards lie below the top
        self.unseen: tuple[int, ...] = ()  # influence cards below the tops, of all decks together
        self.display: list[int] = [0] * DISPLAY  # lantern cards face up, 0 where none is left
        self.lanterns: tuple[int, ...] = ()  # lantern cards in the deck
        self.zones: list[tuple[int, ...]] = [()] * (clans * COLOURS)  # cards: seat, colour
        self.yards: tuple[int, ...] = ()  # yard tiles: basic, elite
        self.yard_seals: list[int] = [0] * (clans * YARDS)  # clan seals: seat, yard
        self.gardens: tuple[int, ...] = ()  # garden tiles by column
        self.garden_seals: list[int] = [0] * (clans * COLUMNS)  # clan seals: seat, column
        self.social: tuple[int, ...] = ()  # social tiles: left light, left grey, right light, grey
        self.paths: list[int] = [0] * clans  # side + 1 of the own path, 0 before it is chosen
        self.courtiers: list[int] = [0] * clans  # space on the own path, 0 is the gate
        self.wares: list[int] = [0] * STACKS  # top tiles of merchandise, 0 where sold out
        self.hidden_wares: list[tuple[int, ...]] = [()] * STACKS  # tiles below them
        self.bought: list[tuple[int, ...]] = [()] * clans  # merchandise of a seat
        self.cards: list[int] = [0] * clans  # mask of influence cards, price side up
        self.improved: list[int] = [0] * clans  # mask of influence cards, icon side up
        self.offers: tuple[int, ...] = ()  # start cards to pick from; 0 is picked

    # --- seals and paths ----------------------------------------------------------------------

    def seals_placed(self, seat: int) -> int:
        """Clan seals on the board."""
        yard, column = seat * YARDS, seat * COLUMNS
        gardens = sum(self.garden_seals[column : column + COLUMNS])
        return self.yard_seals[yard] + self.yard_seals[yard + 1] + gardens

    def level(self, seat: int) -> int:
        """The level of the courtier: gate, light tile, grey tile, top space (D-3.5)."""
        return (self.courtiers[seat] + TILE_SPACES - 1) // TILE_SPACES

    def reward_of_space(self, side: int, space: int) -> tuple[Effect, ...]:
        """What a space of a path pays; some are blank (D-6.4)."""
        if space == TOP_SPACE:
            return self.tables.top_reward
        frame, place = divmod(space - 1, TILE_SPACES)
        tile = self.tables.of(self.social[side * 2 + frame])
        return tile.spaces[frame * TILE_SPACES + place]

    # --- drawing ------------------------------------------------------------------------------

    def draw(self, pile: int, cards: list[int], offset: int, rule: str) -> int:
        """The card at a place of the shuffled pile, of the cards that it may still hold."""
        slot = f"duel/{PILE_NAMES[pile]}"
        card = self.chance.draw(slot, cards, self.tables.names, offset)
        self.note(DRAW, -1, pile, card, rule)
        return card

    def reveal_top(self, deck: int, rule: str) -> None:
        """Turn up the next card of a deck. All decks are cut from one shuffle (D-4.2)."""
        if self.below[deck] == 0:
            self.tops[deck] = 0
            return
        unseen = list(self.unseen)
        card = self.draw(INFLUENCE_PILE, unseen, sum(self.below[:deck]), rule)
        unseen.remove(card)
        self.unseen = tuple(unseen)
        self.below[deck] -= 1
        self.tops[deck] = card

    def refill_display(self, place: int, rule: str) -> None:
        """Reveal a lantern card in a place of the display, if one is left (D-8.3)."""
        self.display[place] = 0
        if self.lanterns:
            unseen = list(self.lanterns)
            card = self.draw(LANTERN_PILE, unseen, 0, rule)
            unseen.remove(card)
            self.lanterns = tuple(unseen)
            self.display[place] = card

    def reveal_ware(self, stack: int, rule: str) -> None:
        """Show the next tile of a stack of merchandise, if one is left (D-4.8)."""
        self.wares[stack] = 0
        if self.hidden_wares[stack]:
            unseen = list(self.hidden_wares[stack])
            tile = self.draw(MERCHANDISE_PILE + stack, unseen, 0, rule)
            unseen.remove(tile)
            self.hidden_wares[stack] = tuple(unseen)
            self.wares[stack] = tile

    def shine(self, seat: int, card: int, rule: str) -> None:
        """Put a card into the Lantern zone of its colour."""
        at = seat * COLOURS + self.tables.of(card).colour
        self.zones[at] = (*self.zones[at], card)
        self.note(COMPONENT_GAINED, seat, card, IN_ZONE, rule)

    # --- what the verbs ask of a family -------------------------------------------------------

    def spare_seals(self, step: Step) -> int:
        """All seals, but for those that a payment in coins and seals needs (D-6.1)."""
        at = step.seat * GOODS
        seals = self.goods[at + SEAL]
        if isinstance(step, PayPieces):
            return min(seals, self.goods[at + COIN] + seals - step.amount)
        return seals

    def next_step(self) -> None:
        """Begin the next turn, or end the round."""
        self.rules.next_step(self)

    def clone(self) -> DuelGame:
        """An independent copy, chance included, without the log of events.

        Spelled out because it is hot: direct attributes are several times faster than a loop over
        DUEL_STATE. A test compares the two.
        """
        twin = DuelGame(self.rules, 0, self.chance.clone())
        twin.clans = self.clans
        twin.log = None
        twin.options = self.options
        twin.stack = self.stack.copy()
        twin.over = self.over
        twin.answers = self.answers
        twin.drafting = self.drafting
        twin.goods = self.goods.copy()
        twin.round = self.round
        twin.turn = self.turn
        twin.starter = self.starter
        twin.tokens = self.tokens.copy()
        twin.stacks = self.stacks.copy()
        twin.slots = self.slots.copy()
        twin.locations = self.locations
        twin.tops = self.tops.copy()
        twin.below = self.below.copy()
        twin.unseen = self.unseen
        twin.display = self.display.copy()
        twin.lanterns = self.lanterns
        twin.zones = self.zones.copy()
        twin.yards = self.yards
        twin.yard_seals = self.yard_seals.copy()
        twin.gardens = self.gardens
        twin.garden_seals = self.garden_seals.copy()
        twin.social = self.social
        twin.paths = self.paths.copy()
        twin.courtiers = self.courtiers.copy()
        twin.wares = self.wares.copy()
        twin.hidden_wares = self.hidden_wares.copy()
        twin.bought = self.bought.copy()
        twin.cards = self.cards.copy()
        twin.improved = self.improved.copy()
        twin.offers = self.offers
        return twin

    def tie_break(self, clan: int) -> tuple[int, ...]:
        """More clan seals placed, then the higher courtier (D-9.1)."""
        return (self.seals_placed(clan), self.courtiers[clan])
