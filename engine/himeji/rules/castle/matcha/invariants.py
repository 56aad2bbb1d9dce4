"""What must hold for a whole box with Matcha, checked whenever a data file is read."""

from __future__ import annotations

from himeji.rules.castle.components import Tables
from himeji.rules.castle.invariants import COMMON_BOX

MATCHA_COUNTS = {
    "steward": 18,
    "diplomat": 15,
    "daimyo": 12,
    "start-action": 8,
    "start-resource": 12,
    "decree": 3,
    "garden": 16,
    "yard-tile": 12,
    "die-tile": 15,
    "flower": 8,
    "calligraphy": 8,
    "lily": 8,
    "ceremony": 10,
}


def _matcha_numbers(tables: Tables) -> bool:
    board = len(tables.spaces), len(tables.cells), len(tables.yard_iron)
    return board == (16, 4, 3) and all(
        len(tables.kinds[kind]) == count for kind, count in MATCHA_COUNTS.items()
    )


def _matcha_gardens(tables: Tables) -> bool:
    kinds = [card.plant for card in tables.all_of("garden")]
    return kinds.count(True) == kinds.count(False)


def _curtains(tables: Tables) -> bool:
    cards = [*tables.all_of("flower"), *tables.all_of("calligraphy")]
    return all(
        sorted((row.dark, row.cost) for row in card.rows) == [(False, 0), (True, 1)]
        for card in cards
    )


MATCHA_BOX = {
    **COMMON_BOX,
    "18 stewards, 15 diplomats, 12 daimyo, 8 starting action and 12 starting resource cards, "
    "16 gardens, 12 yard tiles, 8 flower and 8 calligraphy cards, 8 water lilies, "
    "10 ceremony tiles, 16 spaces for dice, 4 domain rows": _matcha_numbers,
    "as many plant as stone gardens": _matcha_gardens,
    "every outskirts card has a blue curtain for 1 seal and a free yellow one": _curtains,
}
