"""The state of a castle game, and the few operations that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from himeji.rules.castle.constants import (
    CARD_MOVED,
    COURTIER_PLACES,
    FIRST_ROW,
    IN_DOMAIN,
    INFLUENCE_MOVED,
    MEMBERS,
    PILE_NAMES,
    ROOMS,
    TILE_SLOTS,
    TO_LANTERN,
    YARDS,
)
from himeji.rules.castle.matcha.constants import GEISHA_PLACES
from himeji.rules.chance import Chance
from himeji.rules.clans import ClanGame
from himeji.rules.constants import GOODS, INFLUENCE
from himeji.rules.effects import Effect
from himeji.rules.game import DRAW

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

NO_TILES = (0,) * TILE_SLOTS
NO_CARDS = (0,) * len(PILE_NAMES)


@final
class CastleGame(ClanGame):
    """A game of the castle family. The comments say what each list holds; constants.py, the numbers.

    Lists change in place; tuples are replaced, so that clones can share them.
    """

    def __init__(self, rules: CastleRuleset, seats: int, clans: int, chance: Chance) -> None:
        super().__init__(rules, seats, clans, chance, rules.tables.caps)
        self.rules = rules
        self.tables = rules.tables
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
        self.left: list[int] = [0] * 4  # value of the die at the end of each bridge, 0 is none
        self.right: list[int] = [0] * 4
        self.centre: list[tuple[int, ...]] = [()] * 4
        self.hand = 0  # the die taken and not yet placed
        self.hand_side = 0
        self.spaces: list[tuple[int, ...]] = [()] * len(self.tables.spaces)  # dice, bottom first
        self.tiles: tuple[int, ...] = NO_TILES  # die tiles by slot
        self.beside: tuple[int, ...] = ()  # room * 4 + colour: mask of rows beside such a tile
        self.well: tuple[Effect, ...] = ()  # the seal and both tile rewards (B-3.5)
        self.rooms: list[int] = [0] * ROOMS  # castle cards; 0 while a card waits to be replaced
        self.unseen: list[tuple[int, ...]] = [()] * len(PILE_NAMES)  # of each pile, ascending
        self.tops: tuple[int, ...] = NO_CARDS  # the card that lies visible on each pile, 0 is none
        self.under: tuple[int, ...] = ()  # solitaire cards put under their deck, next one first
        self.daimyo = 0
        self.slots: list[int] = [0, 0, 0]  # seat + 1 of the courtier on a daimyo slot
        self.gardens: tuple[int, ...] = ()
        self.yard_tiles: tuple[int, ...] = ()
        self.pairs: tuple[int, ...] = ()  # resource card, action card, ...; 0 is picked
        self.pair_tiles: tuple[int, ...] = ()  # Matcha: the ceremony tile of each pair
        self.geishas: tuple[int, ...] = rules.geishas_at_home * clans  # seat * places + place
        self.lilies: tuple[int, ...] = ()  # water lilies in the pond
        self.ceremonies: tuple[int, ...] = ()  # tiles of the tea house rooms and the overlook
        self.domain_tiles: tuple[int, ...] = rules.no_tile * clans  # ceremony tile, 0 is none yet

    # --- members ------------------------------------------------------------------------------

    def members_out(self, seat: int, row: int) -> int:
        """How many members have left a row of the domain; they leave from the left (B-3.6)."""
        if row == 0:
            return MEMBERS - self.courtiers[seat * COURTIER_PLACES + IN_DOMAIN]
        if row == 1:
            return self.gardeners[seat].bit_count()
        if row == 2:
            at = seat * YARDS
            return self.warriors[at] + self.warriors[at + 1] + self.warriors[at + 2]
        return MEMBERS - self.geishas[seat * GEISHA_PLACES + IN_DOMAIN]

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
        self.well = (self.rules.well_seal, *rewards)

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
        twin.pair_tiles = self.pair_tiles
        twin.geishas = self.geishas
        twin.lilies = self.lilies
        twin.ceremonies = self.ceremonies
        twin.domain_tiles = self.domain_tiles
        return twin

    def tie_break(self, clan: int) -> tuple[int, ...]:
        """The higher place in the turn order (B-7.5)."""
        return (-self.order.index(clan),)
