"""The printed boards of Duel, read from its data file: geometry, prices, limits, scoring."""

from __future__ import annotations

from himeji.rules.components import read_money
from himeji.rules.constants import COIN, COLOUR_NAMES, SEAL, SIDE_NAMES, SWAP
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.duel.components import Tables, one, read_colour, read_gain, read_icons
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLUMN_NAMES,
    FRAME_NAMES,
    LEVELS,
    LOCATION_NAMES,
    SLOT_NAMES,
    STACK_NAMES,
    STONE_COLUMNS,
    YARD_NAMES,
)
from himeji.rules.effects import Parse


def read_locations(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """Every Location lies between exactly two action slots (D-3.1)."""
    for number, entry in enumerate(data.entries("location")):
        entry.one_of("id", LOCATION_NAMES[number : number + 1])
        names = entry.texts("slots")
        if len(set(names)) != 2 or any(name not in SLOT_NAMES for name in names):
            raise entry.fault("slots", "expected two action slots")
        tables.slots_of_location.append(tuple(sorted([SLOT_NAMES.index(name) for name in names])))
        _end(entry)


def read_zones(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The rewards printed on the Lantern zones, in the order of the colours (D-3.7)."""
    for number, entry in enumerate(data.entries("zone")):
        if read_colour(entry) != number:
            raise entry.fault("colour", f"expected {COLOUR_NAMES[number]}")
        good, amount = read_gain(entry, "reward")
        tables.zone_good.append(good)
        tables.zone_amount.append(amount)
        _end(entry)


def read_columns(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The garden columns: stone, then plant (D-3.3)."""
    for number, entry in enumerate(data.entries("garden-column")):
        entry.one_of("id", COLUMN_NAMES[number : number + 1])
        entry.one_of("garden", ("stone" if number < STONE_COLUMNS else "plant",))
        tables.column_food.append(entry.number("food"))
        tables.column_icons.append(read_icons(entry))
        _end(entry)


def read_prices(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """What training, climbing and trading cost, and how much room there is (D-3.4, D-3.5)."""
    gardens, training = data.table("gardens"), data.table("training")
    courtier, trade = data.table("courtier"), data.table("trade")
    tables.column_spaces = gardens.number("spaces")
    for name in YARD_NAMES:
        tables.yard_iron.append(training.number(f"{name}-iron"))
        tables.yard_spaces.append(training.number(f"{name}-spaces"))
    spaces = courtier.number("one-space-pearl"), courtier.number("two-spaces-pearl")
    tables.climb_pearl = [0, *spaces]
    tables.trade_card = trade.number("card")
    tables.trade_tile = [trade.number(name) for name in STACK_NAMES]
    for entry in (gardens, training, courtier, trade):
        _end(entry)


def read_top_space(tables: Tables, data: DataFile, parse: Parse) -> None:
    """What is printed on the top space of both paths (D-3.5)."""
    entry = data.table("top-space")
    tables.top_reward = (one(entry, "reward", parse),)
    tables.top_reconstructed = entry.reconstructed()
    _end(entry)


def read_limits(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """Limits and what scores how much (D-7.1, D-9.1)."""
    caps, score = read_money(tables, data)
    tables.storage = caps.number("coins-and-seals")
    tables.caps[COIN] = tables.caps[SEAL] = tables.storage
    tables.caps[SWAP] = caps.number("swap")
    tables.clan_seals = caps.number("clan-seals")
    tables.level_points = score.numbers("flag-by-level")
    if len(tables.level_points) != LEVELS:
        raise score.fault("flag-by-level", f"expected one for each of {LEVELS} levels")
    tables.katana_points = _by_yard(score, "katana-by-yard")
    tables.kabuto_points = _by_yard(score, "kabuto-by-yard")
    for entry in (caps, score):
        _end(entry)


def _by_yard(score: Entry, key: str) -> list[int]:
    points = score.numbers(key)
    if len(points) != len(YARD_NAMES):
        raise score.fault(key, "expected one for each yard")
    return points


def read_first_game(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The fixed layout of a first game."""
    layout = data.table("first-game")
    slots, columns = SLOT_NAMES[:ACTIVATION_SLOTS], COLUMN_NAMES
    social = tuple(f"{side}-{frame}" for side in SIDE_NAMES for frame in FRAME_NAMES)
    parts = (
        ("activation-tile", slots),
        ("location-tile", LOCATION_NAMES),
        ("garden-tile", columns),
        ("social-tile", social),
        ("basic-yard", ("basic",)),
        ("elite-yard", ("elite",)),
    )
    for kind, places in parts:
        laid = layout.entry(kind)
        tables.first_game[kind] = tuple(_component(tables, laid, place, kind) for place in places)
        if len(set(tables.first_game[kind])) != len(places):
            raise layout.fault(kind, "a tile lies in two places")
        laid.finish()
    _end(layout)


def _component(tables: Tables, entry: Entry, key: str, kind: str) -> int:
    number = tables.numbers.get(entry.text(key), 0)
    if number not in tables.kinds[kind]:
        raise entry.fault(key, f"{entry.text(key)!r} is no {kind}")
    return number


def _end(entry: Entry) -> None:
    entry.source()
    entry.finish()


DUEL_BOARD = (
    read_locations,
    read_zones,
    read_columns,
    read_prices,
    read_top_space,
    read_limits,
    read_first_game,
)
