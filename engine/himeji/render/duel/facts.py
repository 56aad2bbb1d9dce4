"""What stands where in a position of Duel: read here once, drawn as text and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.render.page_blocks import Group
from himeji.render.phrases import amount, dagger, name, phrases
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, SIDE_NAMES
from himeji.rules.duel.components import ANY_PIECE, ANY_RESOURCE, Component, Price
from himeji.rules.duel.constants import (
    ACTION_NAMES,
    COLOURS,
    COLUMNS,
    ICON_NAMES,
    ROUND_NAMES,
    STONE_COLUMNS,
    TILE_SPACES,
    TOP_SPACE,
    TURNS,
    YARDS,
)
from himeji.rules.duel.position import masked
from himeji.rules.duel.state import DuelGame
from himeji.rules.effects import Effect

FLOORS: Final = (
    ("A1", "L1", "A2"),
    ("A3", "L2", "D_MID", "L3", "A4"),
    ("D_LEFT", "L4", "A5", "L5", "A6", "L6", "D_RIGHT"),
)
"""The castle from the top, each floor from the left (D-3.1)."""
WELL: Final = "1 any, 1 coin or seal, 1 swap tile, or 1 VP"
BLANK: Final = "\N{EN DASH}"


def occasion(game: DuelGame) -> str:
    """Where in the game we are."""
    if game.over:
        return "the game is over"
    if game.drafting:
        return "set-up"
    return f"{ROUND_NAMES[game.round]} round, turn {game.turn} of {TURNS}"


def action_in(game: DuelGame, slot: int) -> str:
    """The action of the activation tile in a slot."""
    return ACTION_NAMES[game.tables.of(game.slots[slot]).action]


def tile_colour(game: DuelGame, location: int) -> str:
    """The colour of a location tile."""
    return COLOUR_NAMES[game.tables.of(game.locations[location]).colour]


def tokens_on(game: DuelGame, location: int) -> list[str]:
    """The colours of the tokens of a stack, the lowest first."""
    return [COLOUR_NAMES[colour] for colour in game.stacks[location]]


def price(cost: Price) -> str:
    """A price in words."""
    if cost.good == ANY_PIECE:
        return f"{cost.amount} coin/seal"
    if cost.good == ANY_RESOURCE:
        return f"{cost.amount} any"
    return amount(cost.amount, GOOD_NAMES[cost.good])


def scroll(card: Component) -> str:
    """What a card does when it is bought."""
    gives = phrases(card.gives)
    return f"{price(card.cost)} → {gives}" if card.cost.amount else gives


def icons(found: Sequence[int]) -> str:
    """Icons in words, such as 2 flags."""
    shown = [(number, ICON_NAMES[icon]) for icon, number in enumerate(found) if number]
    return " + ".join(f"{number} {word}{'s' if number > 1 else ''}" for number, word in shown)


def garden_face(game: DuelGame, column: int) -> Effect:
    """The reward that lies over a garden column."""
    tile = game.tables.of(game.gardens[column])
    return tile.faces[int(column >= STONE_COLUMNS)]


def seals_in_garden(game: DuelGame, column: int) -> list[Group]:
    """Clan Seals in a garden column."""
    return _groups([game.garden_seals[seat * COLUMNS + column] for seat in range(game.clans)])


def seals_in_yard(game: DuelGame, yard: int) -> list[Group]:
    """Clan Seals in a training yard."""
    return _groups([game.yard_seals[seat * YARDS + yard] for seat in range(game.clans)])


def _groups(counts: Sequence[int]) -> list[Group]:
    return [(seat, count) for seat, count in enumerate(counts) if count]


def seats_on(game: DuelGame, side: int, space: int) -> list[int]:
    """The seats whose courtier stands on a space of a path; 0 is the gate."""
    return [
        seat
        for seat in range(game.clans)
        if game.courtiers[seat] == space and game.paths[seat] in (0, side + 1)
    ]


def path_name(game: DuelGame, seat: int) -> str:
    """The path of a seat in words."""
    path = game.paths[seat]
    return f"{SIDE_NAMES[path - 1]} path" if path else "no path yet"


def reward_on(game: DuelGame, side: int, space: int) -> str:
    """What a space of a path pays, in words."""
    return phrases(game.reward_of_space(side, space)) + printed_mark(game, space) or BLANK


def printed_mark(game: DuelGame, space: int) -> str:
    """The mark of a space of a path that is printed on the board and was reconstructed."""
    return dagger(reconstructed=space == TOP_SPACE and game.tables.top_reconstructed)


def level_of(space: int) -> int:
    """The level of a space: what a flag counts there."""
    return (space + TILE_SPACES - 1) // TILE_SPACES


def spaces() -> range:
    """The spaces of a path, from the bottom."""
    return range(1, TOP_SPACE + 1)


def zone(game: DuelGame, seat: int, colour: int) -> list[Component]:
    """The cards in a Lantern zone."""
    return [game.tables.of(card) for card in game.zones[seat * COLOURS + colour]]


def shines(card: Component) -> str:
    """What a card gives in its zone."""
    return amount(card.amount, GOOD_NAMES[card.good])


def printed(game: DuelGame, colour: int) -> str:
    """What is printed on a Lantern zone."""
    return amount(game.tables.zone_amount[colour], GOOD_NAMES[game.tables.zone_good[colour]])


def cards_of(game: DuelGame, mask: int) -> list[Component]:
    """The influence cards of a mask."""
    return [game.tables.of(card) for card in masked(mask)]


def wares_of(game: DuelGame, seat: int) -> list[Component]:
    """The merchandise of a seat."""
    return [game.tables.of(tile) for tile in game.bought[seat]]


def start_card(card: Component) -> str:
    """A start card in words: gains, and what its back shines with."""
    back = f"{COLOUR_NAMES[card.colour]} zone {shines(card)}"
    return f"{name(card)}: {phrases(card.gives)}; back {back}"


def trades(game: DuelGame) -> str:
    common, luxury = game.tables.trade_tile
    card = f"{game.tables.trade_card} any and its price → a card"
    return f"{card}, {common} any → a common tile, {luxury} any → a luxury tile"
