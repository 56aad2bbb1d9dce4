"""Set-up: one function for each paragraph of section 1, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from himeji.rules.castle.constants import (
    CARD_MOVED,
    DAIMYO_PILE,
    DIE_TILE_PILE,
    DIPLOMAT_PILE,
    DIPLOMAT_ROOMS,
    PICK,
    PILE_NAMES,
    PLANT_PILE,
    START_ACTION_PILE,
    START_RESOURCE_PILE,
    STEWARD_PILE,
    STEWARD_ROOMS,
    STONE_PILE,
    TILE_SLOTS,
    TO_DOMAIN,
    TURN_ORDER_PILE,
    YARD_OF_TILE,
    YARD_TILE_PILE,
)
from himeji.rules.castle.courtiers import draw_castle_card
from himeji.rules.castle.rounds import roll_dice
from himeji.rules.castle.state import CastleGame
from himeji.rules.game import DRAW, Step

PICKED: Final = 1
DIAMONDS: Final = 3  # slots with a diamond come first
LAST_OF_ROOM: Final = range(DIAMONDS + 5, DIAMONDS + 10)  # the spaces numbered 6 to 10


def castle_cards(game: CastleGame) -> None:
    """Deal the rooms; deal again while all dark rows grant the same worker action (B-1.2)."""
    with_diamonds = game.clans > 2
    game.deal = 0
    dealt = False
    while not dealt:
        game.deal += 1
        for pile in (STEWARD_PILE, DIPLOMAT_PILE):
            cards = game.tables.kinds[PILE_NAMES[pile]]
            game.unseen[pile] = tuple(
                card for card in cards if with_diamonds or not game.tables.of(card).diamond
            )
        for room in STEWARD_ROOMS:
            game.rooms[room] = draw_castle_card(game, STEWARD_PILE, "B-1.2")
        for room in DIPLOMAT_ROOMS:
            game.rooms[room] = draw_castle_card(game, DIPLOMAT_PILE, "B-1.2")
        dealt = len({_dark_action(game, card) for card in game.rooms}) > 1


def _dark_action(game: CastleGame, card: int) -> str:
    return next(row.gives[0].text for row in game.tables.of(card).rows if row.dark)


def daimyo_card(game: CastleGame) -> None:
    """One daimyo card, the rest out (B-1.3)."""
    cards = game.tables.kinds["daimyo"]
    game.daimyo = game.draw(DAIMYO_PILE, "castle/daimyo", cards, "B-1.3")


def die_tiles(game: CastleGame) -> None:
    """Lay out the die tiles; a deal that cannot be finished is dealt again (B-1.4)."""
    attempt = 1
    while True:
        tiles = _deal_tiles(game, f"castle/tiles-{attempt}")
        if tiles is not None:
            game.set_tiles(tiles)
            return
        attempt += 1


def _deal_tiles(game: CastleGame, slot: str) -> tuple[int, ...] | None:
    colour_of = [0] + [tile.colour for tile in game.tables.components]
    left = list(game.tables.kinds["die-tile"])
    laid = [0] * TILE_SLOTS
    for diamond in range(DIAMONDS):
        seen = [colour_of[tile] for tile in laid if tile]
        fitting = [tile for tile in left if colour_of[tile] not in seen]
        laid[diamond] = game.draw(DIE_TILE_PILE, f"{slot}/diamond", fitting, "B-1.4")
        left.remove(laid[diamond])
    for number in range(DIAMONDS, TILE_SLOTS):
        while laid[number] == 0:
            tile = game.draw(DIE_TILE_PILE, f"{slot}/number", left, "B-1.4")
            place = _first_taker(game, laid, number, colour_of, tile)
            if place < 0:
                return None
            laid[place] = tile
            left.remove(tile)
    return tuple(laid)


def _first_taker(
    game: CastleGame, laid: list[int], number: int, colour_of: list[int], tile: int
) -> int:
    """The first free number, from `number` on, that accepts the tile; -1 if none does."""
    for place in range(number, TILE_SLOTS):
        if laid[place]:
            continue
        if place not in LAST_OF_ROOM:
            return place
        room = game.tables.slot_room[place]
        beside = {
            colour_of[laid[slot]]
            for slot in range(TILE_SLOTS)
            if laid[slot] and game.tables.slot_room[slot] == room
        }
        if beside != {colour_of[tile]}:
            return place
    return -1


def gardens_and_yards(game: CastleGame) -> None:
    """A plant and a stone garden under each bridge, four yard tiles (B-1.5)."""
    of_kind = [
        [card for card in game.tables.kinds["garden"] if game.tables.of(card).plant is plant]
        for plant in (True, False)
    ]
    laid = []
    for _ in range(3):
        for kind, pile in enumerate((PLANT_PILE, STONE_PILE)):
            card = game.draw(pile, f"castle/{PILE_NAMES[pile]}", of_kind[kind], "B-1.5")
            of_kind[kind].remove(card)
            laid.append(card)
    game.gardens = tuple(laid)
    tiles = list(game.tables.kinds["yard-tile"])
    yards = []
    for _ in YARD_OF_TILE:
        yards.append(game.draw(YARD_TILE_PILE, "castle/yard-tile", tiles, "B-1.5"))
        tiles.remove(yards[-1])
    game.yard_tiles = tuple(yards)


def turn_order(game: CastleGame) -> None:
    """The influence markers are stacked at random; the top one is first (B-1.6)."""
    names = [f"seat-{seat}" for seat in range(game.clans)]
    left, order = list(range(game.clans)), []
    while left:
        seat = game.chance.draw("castle/turn-order", left, names, 0)
        game.note(DRAW, -1, TURN_ORDER_PILE, seat, "B-1.6")
        left.remove(seat)
        order.append(seat)
    game.order = tuple(order)
    game.markers = tuple(reversed(order))


def base_pairs(game: CastleGame) -> None:
    """The draft of the base game (B-1.7)."""
    starting_pairs(game, PickPair)


def starting_pairs(game: CastleGame, pick: Callable[[int], Step]) -> None:
    """One pair more than seats, picked in reverse turn order in sight of the dice (B-1.7)."""
    resources = list(game.tables.kinds["start-resource"])
    actions = list(game.tables.kinds["start-action"])
    pairs = []
    for _ in range(game.seats + 1):
        for pile, cards in ((START_RESOURCE_PILE, resources), (START_ACTION_PILE, actions)):
            pairs.append(game.draw(pile, f"castle/{PILE_NAMES[pile]}", cards, "B-1.7"))
            cards.remove(pairs[-1])
    game.pairs = tuple(pairs)
    game.stack.append(EndOfDraft())
    game.stack.extend(pick(seat) for seat in game.order)


def first_dice(game: CastleGame) -> None:
    """The dice of round 1 lie on the bridges before the first pick (B-1.7)."""
    roll_dice(game)


class Start(Step):
    """A step that gives its seat the starting cards: until then it does nothing else (B-1.7)."""


class PickPair(Start):
    """Pick a starting pair (B-1.7)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-1.7")

    def fault(self, game: CastleGame) -> str:
        return "" if any(game.pairs) else "no starting pair is on offer (B-1.7)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """All pairs that were laid out."""
        return range(PICK, PICK + len(game.pairs) // 2)

    def blocked(self, game: CastleGame, action: int) -> int:
        """A pair is picked once."""
        return 0 if game.pairs[2 * (action - PICK)] else PICKED

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        return "that pair is taken", "B-1.7"

    def question(self, game: CastleGame) -> str:
        """Ask for a pair."""
        return "pick a starting pair"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Take the action card, the gains, and the cards for the Lantern Area."""
        at = 2 * (action - PICK)
        resource, card = game.pairs[at], game.pairs[at + 1]
        game.pairs = (*game.pairs[:at], 0, 0, *game.pairs[at + 2 :])
        take_start_cards(game, self.seat, resource, card)


def take_start_cards(game: CastleGame, seat: int, resource: int, card: int) -> None:
    """The action card goes on the domain, the gains are taken at once, backs begin to shine."""
    game.action_card[seat] = card
    game.note(CARD_MOVED, seat, card, TO_DOMAIN, "B-1.7")
    game.shine(seat, resource, "B-1.7")
    component = game.tables.of(resource)
    if component.decree:
        game.shine(seat, component.decree, "B-1.7")
    for effect in component.gives:
        effect.start(game, seat, "B-1.7")


class EndOfDraft(Step):
    """The set-up is over: the left-over pair leaves the game (B-1.7)."""

    def __init__(self) -> None:
        super().__init__(-1, "B-1.7")

    def run(self, game: CastleGame) -> None:
        game.end_draft()


BASE_SETUP = (
    castle_cards,
    daimyo_card,
    die_tiles,
    gardens_and_yards,
    turn_order,
    first_dice,
    base_pairs,
)
