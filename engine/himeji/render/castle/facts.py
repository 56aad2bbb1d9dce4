"""What stands where in a castle position: read here once, drawn as text and as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from himeji.render.castle.facts_matcha import offered_tiles
from himeji.render.icons import Die
from himeji.render.page_blocks import Group
from himeji.rules.castle.components import Component, Row
from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    DIE_PLACE_NAMES,
    DIPLOMAT_PILE,
    ON_DAIMYO_FLOOR,
    PILE_NAMES,
    STEWARD_PILE,
    TILE_SLOTS,
    YARD_OF_TILE,
    YARDS,
)
from himeji.rules.castle.solo.components import SolitaireCard
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.solo.rival import solitaire
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES, GOODS, INFLUENCE, LEFT, SIDE_NAMES

GARDENS_PER_BRIDGE: Final = 2
FACE_OF_SLOT: Final = (0, 1, 0, 1)  # of the yard tiles: blue, yellow (B-1.5)
GAME_TITLE: Final = "The White Castle"
CASTLE_DECKS: Final = (STEWARD_PILE, DIPLOMAT_PILE)


def die_of(code: int) -> Die:
    """The die that the state keeps as a number."""
    return Die(COLOUR_NAMES[code >> 3], code & 7)


def dice_on(game: CastleGame, space: int) -> list[Die]:
    """The dice on a space of the main board, the lowest first."""
    return [die_of(code) for code in game.spaces[space]]


def tile_beside(game: CastleGame, room: int, row: int) -> Component | None:
    """The die tile beside a row of a room."""
    for slot in range(TILE_SLOTS):
        if game.tables.slot_room[slot] == room and game.tables.slot_row[slot] == row:
            return game.tables.of(game.tiles[slot])
    return None


def well_tiles(game: CastleGame) -> list[Component]:
    """The tiles of the Well, reward side up."""
    slots = range(TILE_SLOTS)
    return [game.tables.of(game.tiles[s]) for s in slots if game.tables.slot_room[s] < 0]


def gardens_of(game: CastleGame, colour: int) -> list[int]:
    """The gardens under a bridge, by their place in `game.gardens`."""
    first = GARDENS_PER_BRIDGE * colour
    return [n for n in range(first, first + GARDENS_PER_BRIDGE) if n < len(game.gardens)]


def tiles_of_yard(game: CastleGame, yard: int) -> list[tuple[Component, int]]:
    """The tiles of a yard, each with the face that lies up (0 blue, 1 yellow)."""
    slots = [slot for slot, its_yard in enumerate(YARD_OF_TILE) if its_yard == yard]
    return [(game.tables.of(game.yard_tiles[slot]), FACE_OF_SLOT[slot]) for slot in slots]


def courtiers_at(game: CastleGame, place: int) -> list[Group]:
    """The courtiers in a place of the castle."""
    counts = [(seat, game.courtiers[seat * COURTIER_PLACES + place]) for seat in range(game.clans)]
    return [group for group in counts if group[1]]


def courtiers_without_slot(game: CastleGame) -> list[Group]:
    """The courtiers who came to the daimyo floor when no slot was free (B-4.5)."""
    found = courtiers_at(game, ON_DAIMYO_FLOOR)
    late = [(seat, count - game.slots.count(seat + 1)) for seat, count in found]
    return [group for group in late if group[1]]


def gardeners_at(game: CastleGame, garden: int) -> list[Group]:
    """The gardeners in a garden."""
    return [(seat, 1) for seat in range(game.clans) if game.gardeners[seat] >> garden & 1]


def warriors_at(game: CastleGame, yard: int) -> list[Group]:
    """The warriors in a yard."""
    counts = [(seat, game.warriors[seat * YARDS + yard]) for seat in range(game.clans)]
    return [group for group in counts if group[1]]


def markers_at(game: CastleGame, position: int) -> list[int]:
    """The influence markers on a position, the lowest first (B-6.2)."""
    return [seat for seat in game.markers if game.goods[seat * GOODS + INFLUENCE] == position]


def spaces_of(game: CastleGame, *areas: str) -> list[int]:
    """The spaces of some areas."""
    return [number for number, space in enumerate(game.tables.spaces) if space.area in areas]


def at_home(game: CastleGame, seat: int, row: int) -> int:
    """Members that still cover a row of the domain."""
    return len(game.tables.cells[row]) - 1 - game.members_out(seat, row)


def worker_of(game: CastleGame, row: int) -> str:
    """The members who live in a row of the domain."""
    return game.tables.members[row]


def card_rows(card: Component) -> Iterator[tuple[int, Row]]:
    """The rows of a card, each with the first line of the domain that it serves (B-3.6)."""
    line = 0
    for row in card.rows:
        yield line, row
        line += row.lines


def decks(game: CastleGame) -> list[tuple[str, int]]:
    """Names of the castle decks and the cards left in them."""
    return [(PILE_NAMES[pile], len(game.unseen[pile])) for pile in CASTLE_DECKS]


class Offered(NamedTuple):
    """A starting pair by its number, as actions say it; None is taken, or not part of the game."""

    number: int
    resource: Component | None
    action: Component | None
    tile: Component | None


def pairs(game: CastleGame) -> list[Offered]:
    """What is still to be had in the draft."""
    found = []
    for pair, tile in enumerate(offered_tiles(game) or (0,) * (len(game.pairs) // 2)):
        numbers = (*game.pairs[2 * pair : 2 * pair + 2], tile)
        cards = [game.tables.of(number) if number else None for number in numbers]
        if any(numbers):
            found.append(Offered(pair + 1, *cards))
    return found


def decree_of(game: CastleGame, resource: Component) -> Component | None:
    """The decree that comes with a starting resource card."""
    return game.tables.of(resource.decree) if resource.decree else None


def occasion(game: CastleGame) -> str:
    """Where in the game we are."""
    if game.over:
        return "the game is over"
    if game.drafting:
        return f"round {game.round} of {game.rules.rounds}, set-up"
    turns = game.rules.turns * game.clans
    return f"round {game.round} of {game.rules.rounds}, turn {game.turn} of {turns}"


def in_hand(game: CastleGame) -> tuple[Die, str] | None:
    """The die taken and not yet placed, and where it came from."""
    if not game.hand:
        return None
    lantern = ", the Lantern end" if game.hand_side == LEFT else ""
    return die_of(game.hand), f"from the {SIDE_NAMES[game.hand_side]} end{lantern}"


def solitaire_top(game: CastleGame) -> SolitaireCard | None:
    """The solitaire card that lies visible on its deck; none after a deck read in vain (S-3)."""
    top = game.tops[SOLITAIRE_PILE]
    return solitaire(game, top) if top else None


def solitaires_under(game: CastleGame) -> list[SolitaireCard]:
    """The solitaire cards put under the deck, the one that comes up first in front."""
    return [solitaire(game, card) for card in game.under]


def solitaires_unseen(game: CastleGame) -> int:
    """How many solitaire cards nobody has seen since the last shuffle."""
    return len(game.unseen[SOLITAIRE_PILE])


def bridge_side(game: CastleGame, card: SolitaireCard) -> str:
    """Which die a solitaire card shows, and where it goes (S-3)."""
    names = [game.tables.spaces[target].name.replace("-", " ") for target in card.targets]
    first, *others = names
    spaces = " or ".join([first, *[other.rpartition(" ")[2] for other in others]])
    return f"{COLOUR_NAMES[card.colour]} {DIE_PLACE_NAMES[card.side]} → {spaces}"
