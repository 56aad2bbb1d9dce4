"""The state of a castle game, and the few operations that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from himeji.rules.castle.constants import (
    CARD_MOVED,
    COURTIER_PLACES,
    FIRST_ROW,
    IN_DOMAIN,
    INFLUENCE_MOVED,
    MEMBERS,
    PILES,
    ROOMS,
    TILE_SLOTS,
    TO_LANTERN,
    WELL_SPACE,
    YARDS,
)
from himeji.rules.chance import Chance
from himeji.rules.clans import ClanGame
from himeji.rules.constants import GOODS, INFLUENCE
from himeji.rules.effects import Effect
from himeji.rules.game import DRAW
from himeji.rules.packing import (
    FlagField,
    GroupsField,
    ListField,
    Packer,
    StateField,
    StateTable,
    TupleField,
    Unpacker,
)

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

NO_TILES = (0,) * TILE_SLOTS
NO_CARDS = (0,) * PILES
EXPANSION_LISTS = 5  # that every position has, so that an expansion does not move what follows


class DieTiles(TupleField):
    """The die tiles, from which follows what lies beside which row."""

    def fill(self, game: Any, feed: Unpacker) -> None:
        game.set_tiles(self.take(feed))


class Decks(GroupsField):
    """Of all piles the unseen cards of those that are drawn from during play."""

    def __init__(self, name: str, decks: tuple[int, ...]) -> None:
        super().__init__(name)
        self.decks = decks

    def put(self, value: Any, out: Packer) -> None:
        out.put_groups([value[pile] for pile in self.decks])

    def fill(self, game: Any, feed: Unpacker) -> None:
        for pile, cards in zip(self.decks, self.take(feed), strict=True):
            game.unseen[pile] = cards


def castle_state(decks: tuple[int, ...], own: tuple[ListField, ...]) -> StateTable:
    """The table of state fields of a ruleset with these decks and lists of its own."""
    numbers = ("round", "turn", "deal", "daimyo", "hand", "hand_side")
    lists = (
        *("goods", "courtiers", "gardeners", "warriors", "action_card", "domain_dice"),
        *("left", "right", "rooms", "slots"),
    )
    return StateTable(
        (*[StateField(name) for name in numbers], FlagField("drafting"), FlagField("over")),
        (
            *[ListField(name) for name in lists],
            *[TupleField(name) for name in ("order", "markers")],
            DieTiles("tiles"),
            *[TupleField(name) for name in ("gardens", "yard_tiles", "pairs", "tops", "under")],
            *own,
        ),
        (
            *[GroupsField(name) for name in ("lanterns", "centre", "spaces")],
            Decks("unseen", decks),
        ),
        spare_lists=EXPANSION_LISTS - len(own),
    )


class CastleGame(ClanGame):
    """A game of the castle family. Comments say what lists hold, constants.py what numbers mean.

    Lists change in place; tuples are replaced, so that clones can share them.
    """

    def __init__(self, rules: CastleRuleset, seats: int, clans: int, chance: Chance) -> None:
        super().__init__(rules, seats, clans, chance, rules.tables.caps)
        self.rules = rules
        self.tables = rules.tables
        there = 1 if clans else 0  # without clans: a clone, which gets its lists from the original
        self.stacking = 1  # dice that fit on a main-board space (B-2.6)
        self.deal = 1  # which deal of the castle cards stands (B-1.2); names chance slots
        self.courtiers: list[int] = [0] * (clans * COURTIER_PLACES)  # seat * places + place
        for seat in range(clans):
            self.courtiers[seat * COURTIER_PLACES + IN_DOMAIN] = MEMBERS
        self.gardeners: list[int] = [0] * clans  # bit mask of gardens
        self.warriors: list[int] = [0] * (clans * YARDS)  # seat * YARDS + yard
        self.action_card: list[int] = [0] * clans
        self.lanterns: list[tuple[int, ...]] = [()] * clans  # cards of the Lantern Area
        self.domain_dice: list[int] = [0] * (clans * 4)  # seat * 4 + colour of the row: value
        self.order: tuple[int, ...] = ()  # turn order
        self.markers: tuple[int, ...] = ()  # influence markers, later lies higher (B-6.2)
        self.left: list[int] = [0] * (4 * there)  # value of the die at a bridge's end, 0 is none
        self.right: list[int] = [0] * (4 * there)
        self.centre: list[tuple[int, ...]] = [()] * (4 * there)
        self.hand = 0  # the die taken and not yet placed
        self.hand_side = 0
        spaces = len(self.tables.spaces) * there
        self.spaces: list[tuple[int, ...]] = [()] * spaces  # dice, bottom first
        self.tiles: tuple[int, ...] = NO_TILES  # die tiles by slot
        self.beside: tuple[int, ...] = ()  # room * 4 + colour: mask of rows beside such a tile
        self.well: tuple[Effect, ...] = ()  # the seal and both tile rewards (B-3.5)
        self.rooms: list[int] = [0] * (ROOMS * there)  # castle cards; 0 while the next one waits
        self.unseen: list[tuple[int, ...]] = [()] * (PILES * there)  # of each pile, ascending
        self.tops: tuple[int, ...] = NO_CARDS  # the card that lies visible on each pile, 0 is none
        self.under: tuple[int, ...] = ()  # cards put under their deck, next one first
        self.daimyo = 0
        self.slots: list[int] = [0, 0, 0]  # seat + 1 of the courtier on a daimyo slot
        self.gardens: tuple[int, ...] = ()
        self.yard_tiles: tuple[int, ...] = ()
        self.pairs: tuple[int, ...] = ()  # resource card, action card, ...; 0 is picked

    # --- members ------------------------------------------------------------------------------

    def members_out(self, seat: int, row: int) -> int:
        """How many members have left a row of the domain; they leave from the left (B-3.6)."""
        if row == 0:
            return MEMBERS - self.courtiers[seat * COURTIER_PLACES + IN_DOMAIN]
        if row == 1:
            return self.gardeners[seat].bit_count()
        at = seat * YARDS
        return self.warriors[at] + self.warriors[at + 1] + self.warriors[at + 2]

    def visible(self, seat: int, row: int) -> tuple[Effect, ...]:
        """The visible rewards of a domain row: the first cell and one for each member gone."""
        return self.tables.cells[row][: self.members_out(seat, row) + 1]

    # --- cards --------------------------------------------------------------------------------

    def draw(self, pile: int, slot: str, cards: list[int], rule: str) -> int:
        """Draw a card from the cards that the pile may still hold."""
        card = self.chance.draw(slot, cards, self.tables.names, 0)
        self.note(DRAW, -1, pile, card, rule)
        return card

    def draw_unseen(self, pile: int, slot: str, rule: str) -> int:
        """The next card of a pile that keeps its unseen cards."""
        unseen = list(self.unseen[pile])
        card = self.draw(pile, slot, unseen, rule)
        unseen.remove(card)
        self.unseen[pile] = tuple(unseen)
        return card

    def lay_on_top(self, pile: int, card: int) -> None:
        """Let a card lie visible on its pile; 0: none does."""
        self.tops = (*self.tops[:pile], card, *self.tops[pile + 1 :])

    def shine(self, seat: int, card: int, rule: str) -> None:
        """Add a card to the seat's Lantern Area."""
        self.lanterns[seat] = (*self.lanterns[seat], card)
        self.note(CARD_MOVED, seat, card, TO_LANTERN, rule)

    def end_draft(self) -> None:
        """The left-over pair leaves the game; from now on seals may be exchanged (B-1.7, B-6.3)."""
        self.pairs = ()
        self.drafting = False

    def set_tiles(self, tiles: tuple[int, ...]) -> None:
        """Lay the die tiles out, and remember which rows stand beside which colour."""
        self.tiles = tiles
        beside = [0] * (ROOMS * 4)
        for slot, tile in enumerate(tiles):
            room = self.tables.slot_room[slot]
            if room >= 0:
                beside[room * 4 + self.tables.of(tile).colour] |= 1 << self.tables.slot_row[slot]
        self.beside = tuple(beside)
        rewards = [
            self.tables.of(tile).faces[0]
            for slot, tile in enumerate(tiles)
            if self.tables.slot_room[slot] < 0
        ]
        self.well = (*self.tables.spaces[WELL_SPACE].gives, *rewards)

    def row_shines(self, row_number: int, colour: int) -> bool:
        """Whether a castle row stands beside a tile of that colour."""
        for room in range(ROOMS - 1, -1, -1):
            if row_number >= FIRST_ROW[room]:
                return bool(self.beside[room * 4 + colour] >> (row_number - FIRST_ROW[room]) & 1)
        return False

    # --- influence ----------------------------------------------------------------------------

    def step_on(self, seat: int) -> None:
        """Move the influence marker one position; it goes on top of those it meets (B-6.2)."""
        at = seat * GOODS + INFLUENCE
        self.goods[at] += 1
        self.markers = (*[marker for marker in self.markers if marker != seat], seat)
        self.note(INFLUENCE_MOVED, seat, self.goods[at], 0, "B-6.2")

    # --- what the verbs ask of a family -------------------------------------------------------

    def next_step(self) -> None:
        """Begin the next turn, or end the round."""
        self.rules.next_step(self)

    def clone(self) -> CastleGame:
        """An independent copy, chance included, without the log of events."""
        twin = CastleGame(self.rules, self.seats, 0, self.chance.clone())
        self.copy_to(twin)
        return twin

    def copy_to(self, twin: CastleGame) -> None:
        """Copy the state to a game that has none.

        Spelled out because it is hot: direct attributes are several times faster than a loop over
        the table of state fields. A test compares the two.
        """
        twin.clans = self.clans
        twin.log = None
        twin.options = self.options
        twin.stacking = self.stacking
        twin.stack = self.stack.copy()
        twin.over = self.over
        twin.answers = self.answers
        twin.round = self.round
        twin.turn = self.turn
        twin.deal = self.deal
        twin.drafting = self.drafting
        twin.goods = self.goods.copy()
        twin.courtiers = self.courtiers.copy()
        twin.gardeners = self.gardeners.copy()
        twin.warriors = self.warriors.copy()
        twin.action_card = self.action_card.copy()
        twin.lanterns = self.lanterns.copy()
        twin.domain_dice = self.domain_dice.copy()
        twin.order = self.order
        twin.markers = self.markers
        twin.left = self.left.copy()
        twin.right = self.right.copy()
        twin.centre = self.centre.copy()
        twin.hand = self.hand
        twin.hand_side = self.hand_side
        twin.spaces = self.spaces.copy()
        twin.tiles = self.tiles
        twin.beside = self.beside
        twin.well = self.well
        twin.rooms = self.rooms.copy()
        twin.unseen = self.unseen.copy()
        twin.tops = self.tops
        twin.under = self.under
        twin.daimyo = self.daimyo
        twin.slots = self.slots.copy()
        twin.gardens = self.gardens
        twin.yard_tiles = self.yard_tiles
        twin.pairs = self.pairs

    def tie_break(self, clan: int) -> tuple[int, ...]:
        """The higher place in the turn order (B-7.5)."""
        return (-self.order.index(clan),)
