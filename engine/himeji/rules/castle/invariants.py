"""What must hold for a whole box of the castle family, checked whenever a data file is read."""

from __future__ import annotations

from himeji.rules.castle.components import Component, Tables
from himeji.rules.constants import COLOUR_NAMES, SEAL

WORKERS = ("courtier", "gardener", "warrior")
RESOURCE_BACKS = ("1 food", "1 iron", "1 pearl")


def _dark(card: Component) -> str:
    return next((row.gives[0].text for row in card.rows if row.dark), "none")


def _dark_rows(tables: Tables, kind: str, each: int, each_without_diamonds: int) -> bool:
    dark = [_dark(card) for card in tables.all_of(kind)]
    plain = [_dark(card) for card in tables.all_of(kind) if not card.diamond]
    return sorted(dark) == sorted(WORKERS * each) and sorted(plain) == sorted(
        WORKERS * each_without_diamonds
    )


def _prices(tables: Tables, kind: str, rows: int, seals: int) -> bool:
    return all(
        len(card.rows) == rows
        and [(row.cost, row.cost_good == SEAL or row.cost == 0) for row in card.rows if row.dark]
        == [(seals, True)]
        for card in tables.all_of(kind)
    )


def _backs(tables: Tables) -> bool:
    cards = tables.all_of("start-resource")
    backs = [card.lantern[0].text for card in cards]
    decreed = [card.lantern[0].text for card in cards if card.decree]
    return sorted(backs) == sorted(RESOURCE_BACKS * 3) and sorted(decreed) == sorted(RESOURCE_BACKS)


def _slots_per_room(tables: Tables) -> bool:
    rooms = [tables.slot_room.count(room) for room in (0, 1, 2, 3, 4, -1)]
    return rooms == [3, 3, 3, 2, 2, 2]


def _numbers(tables: Tables) -> bool:
    kinds = {kind: len(numbers) for kind, numbers in tables.kinds.items()}
    cards = kinds["start-action"], kinds["start-resource"], kinds["decree"], kinds["yard-tile"]
    board = len(tables.spaces), len(tables.cells), len(tables.yard_iron)
    return cards == (6, 9, 3, 8) and board == (11, 3, 3)


def _gardens(tables: Tables) -> bool:
    kinds = [card.plant for card in tables.all_of("garden")]
    return kinds.count(True) == kinds.count(False) == 5


def _tile_colours(tables: Tables) -> bool:
    colours = [COLOUR_NAMES[tile.colour] for tile in tables.all_of("die-tile")]
    return all(colours.count(colour) == 5 for colour in COLOUR_NAMES[:3])


def _tile_rewards(tables: Tables) -> bool:
    rewards = [tile.faces[0].text for tile in tables.all_of("die-tile")]
    return all(rewards.count(reward) == 3 for reward in rewards)


def _steward_actions(tables: Tables) -> bool:
    return _dark_rows(tables, "steward", 5, 3)


def _diplomat_actions(tables: Tables) -> bool:
    return _dark_rows(tables, "diplomat", 4, 3)


def _steward_prices(tables: Tables) -> bool:
    return _prices(tables, "steward", 3, 1)


def _diplomat_prices(tables: Tables) -> bool:
    return _prices(tables, "diplomat", 2, 0)


def _daimyo_slots(tables: Tables) -> bool:
    first = [card.slots[0].text for card in tables.all_of("daimyo")]
    return sorted(first) == sorted(["lantern", "well", "castle-row light"] * 3)


COMMON_BOX = {
    "a steward room has 3 die tiles, a diplomat room and the Well 2": _slots_per_room,
    "the die tiles are 5 of each colour": _tile_colours,
    "the die tiles pay each reward three times": _tile_rewards,
    "a steward has 3 rows, one of them dark for 1 seal": _steward_prices,
    "a diplomat has 2 rows, one of them dark and free": _diplomat_prices,
}
BASE_BOX = {
    **COMMON_BOX,
    "6 starting action and 9 starting resource cards, 3 decrees, 8 yard tiles, 11 spaces for dice, "
    "3 domain rows, 3 yards": _numbers,
    "steward dark rows: 5 of each worker action, 3 of each without diamonds": _steward_actions,
    "diplomat dark rows: 4 of each worker action, 3 of each without diamonds": _diplomat_actions,
    "starting resource backs: 3 food, 3 iron, 3 pearl, one of each with a decree": _backs,
    "5 plant and 5 stone gardens": _gardens,
    "the first daimyo slot is lantern, Well or light row, 3 cards each": _daimyo_slots,
}
