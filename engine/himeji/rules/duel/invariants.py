"""What must hold for a whole box of Duel, checked whenever a data file is read."""

from __future__ import annotations

from collections import Counter

from himeji.rules.duel.components import Tables
from himeji.rules.duel.constants import (
    BLUE_CRANE,
    CARDS_PER_KIND,
    COLOURS,
    FLAG,
    KABUTO,
    KATANA,
    LOCATIONS,
    SLOT_NAMES,
    TILE_SPACES,
)

COUNTS = {
    "influence-card": 36,
    "lantern-card": 15,
    "start-card": 6,
    "activation-tile": 6,
    "location-tile": 6,
    "garden-tile": 8,
    "basic-yard": 4,
    "elite-yard": 4,
    "social-tile": 6,
    "common-merchandise": 3,
    "luxury-merchandise": 3,
}
ICONS_OF_SUIT = ({FLAG}, {KATANA, KABUTO}, {BLUE_CRANE})


def _numbers(tables: Tables) -> bool:
    found = {kind: len(numbers) for kind, numbers in tables.kinds.items()}
    board = len(tables.slots_of_location), len(tables.zone_good), len(tables.column_food)
    return found == COUNTS and board == (LOCATIONS, COLOURS, 6)


def _suits(tables: Tables) -> bool:
    suits = Counter(card.suit for card in tables.all_of("influence-card"))
    return all(suits[suit] == CARDS_PER_KIND for suit in range(3))


def _icons(tables: Tables) -> bool:
    return all(
        {icon for icon, number in enumerate(card.icons) if number} <= ICONS_OF_SUIT[card.suit]
        for card in tables.all_of("influence-card")
    )


def _lanterns(tables: Tables) -> bool:
    rewards = {(card.colour, card.good) for card in tables.all_of("lantern-card")}
    colours = Counter(card.colour for card in tables.all_of("lantern-card"))
    return len(rewards) == 15 and all(colours[colour] == 5 for colour in range(COLOURS))


def _colours(tables: Tables, kind: str) -> bool:
    colours = Counter(tile.colour for tile in tables.all_of(kind))
    return all(colours[colour] == 2 for colour in range(COLOURS))


def _locations(tables: Tables) -> bool:
    return _colours(tables, "location-tile")


def _start_cards(tables: Tables) -> bool:
    return _colours(tables, "start-card")


def _activation(tables: Tables) -> bool:
    return len({tile.action for tile in tables.all_of("activation-tile")}) == 6


def _adjacent(tables: Tables) -> bool:
    served = Counter(slot for slots in tables.slots_of_location for slot in slots)
    twice = {SLOT_NAMES[slot] for slot in served if served[slot] == 2}
    return len(served) == len(SLOT_NAMES) and twice == {"D_MID", "A5", "A6"}


def _blanks(tables: Tables) -> bool:
    return all(
        [bool(space) for space in tile.spaces[start : start + TILE_SPACES]].count(False) == 1
        for tile in tables.all_of("social-tile")
        for start in (0, TILE_SPACES)
    )


DUEL_BOX = {
    "36 influence, 15 lantern and 6 start cards, 6 activation, 6 location, 8 garden, 6 social, "
    "4 + 4 yard and 3 + 3 merchandise tiles; 6 locations, 3 zones, 6 garden columns": _numbers,
    "the influence cards are 12 of each kind": _suits,
    "flags carry flags, weapons katanas and kabutos, origami blue cranes": _icons,
    "the lantern cards are 5 of each colour, all different": _lanterns,
    "the location tiles are 2 of each colour": _locations,
    "the start cards are 2 of each colour": _start_cards,
    "the activation tiles show six different actions": _activation,
    "every slot serves a location; D_MID, A5 and A6 serve two, all others one": _adjacent,
    "a face of a social tile has exactly one blank space": _blanks,
}
