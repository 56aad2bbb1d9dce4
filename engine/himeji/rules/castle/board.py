"""The printed board of a castle ruleset, read from its data file: spaces, rows, slots, numbers."""

from __future__ import annotations

from himeji.rules.castle.components import FACES, Space, Tables
from himeji.rules.castle.constants import ROOMS, SPACE_NAMES, WORKER_NAMES
from himeji.rules.components import effects, read_money
from himeji.rules.constants import CHASEN, COLOUR_NAMES, FOOD, INFLUENCE, SEAL
from himeji.rules.datafile import DataFile
from himeji.rules.effects import Parse

CELLS = 6  # of a domain row: one that is always visible, and one under each member
AREA_OF_SPACE = (
    *("castle",) * ROOMS,
    *("outside", "outside", "well"),
    *("domain",) * 4,
    *("tea-fields", "tea-fields", "outskirts", "outskirts"),
)
OFFERS = {"outside": 2, "tea-fields": 1}  # worker actions that spaces offer
YARD_FACES = (FACES, FACES[:1], FACES[1:])


def read_spaces(tables: Tables, data: DataFile, parse: Parse) -> None:
    """The spaces for dice, in the order of their numbers."""
    for number, entry in enumerate(data.entries("space")):
        name = SPACE_NAMES[number] if number < len(SPACE_NAMES) else "no further space"
        entry.one_of("id", (name,))
        area = entry.one_of("area", (AREA_OF_SPACE[number],))
        offers = effects(entry, "offers", entry.texts("offers"), parse) if area in OFFERS else ()
        workers = [offer for offer in offers if offer.text in WORKER_NAMES]
        if len(workers) != len(offers) or len(offers) != OFFERS.get(area, 0):
            raise entry.fault("offers", f"expected worker actions, {OFFERS[area]} of them")
        space = Space(name, area, entry.number("printed"), offers)
        space.reconstructed = entry.reconstructed()
        tables.spaces.append(space)
        entry.finish()


def read_domain_rows(tables: Tables, data: DataFile, parse: Parse) -> None:
    """The rows of a domain, in the order of the colours."""
    for number, entry in enumerate(data.entries("domain-row")):
        entry.one_of("colour", COLOUR_NAMES[number : number + 1])
        entry.one_of("member", WORKER_NAMES[number : number + 1])
        cells = effects(entry, "cells", entry.texts("cells"), parse)
        if len(cells) != CELLS:
            raise entry.fault("cells", f"expected {CELLS}, found {len(cells)}")
        tables.cells.append(cells)
        tables.cells_reconstructed.append(entry.reconstructed())
        entry.finish()


def read_yards(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The training yards, in the order of their numbers."""
    for number, entry in enumerate(data.entries("yard")):
        entry.one_of("id", (f"yard-{number + 1}",))
        tables.yard_iron.append(entry.number("iron"))
        tables.yard_value.append(entry.number("value"))
        if (tuple(entry.texts("tiles")),) != YARD_FACES[number : number + 1]:
            raise entry.fault("tiles", "expected blue and yellow, then blue, then yellow")
        entry.source()
        entry.finish()


def read_slots(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The slots of the die tiles: three with a diamond, then by number."""
    beside = set()
    for entry in data.entries("die-tile-slot"):
        room = entry.one_of("room", (*SPACE_NAMES[:ROOMS], "well"))
        in_well = room == "well"
        rows = ("upper", "lower") if in_well else ("top", "middle", "bottom")
        row = rows.index(entry.one_of("row", rows))
        if entry.text("id") in tables.slot_names:
            raise entry.fault("id", "two entries have this id")
        if (room, row) in beside:
            raise entry.fault("row", "two slots lie beside this row")
        beside.add((room, row))
        tables.slot_names.append(entry.text("id"))
        tables.slot_room.append(-1 if in_well else SPACE_NAMES.index(room))
        # A diplomat room has two tiles: upper beside the first row, lower beside the second.
        tables.slot_row.append(min(row, 1) if room.startswith("diplomat") else row)
        entry.source()
        entry.finish()


def read_numbers(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """The track, prices, caps and what scores how much."""
    track, prices = data.table("track"), data.table("prices")
    caps, score = read_money(tables, data)
    last = tables.last_position = track.number("last")
    tables.track_points = track.numbers("points")
    if len(tables.track_points) != last + 1:
        raise track.fault("points", f"expected one for each position 0 to {last}")
    tables.checkpoint = [0] * (last + 1)
    for part in track.entries("checkpoints"):
        if not 1 <= part.number("entering") <= last:
            raise part.fault("entering", f"expected a position from 1 to {last}")
        tables.checkpoint[part.number("entering")] = part.number("seals")
        part.finish()
    tables.audience_coins = prices.number("audience-coins")
    one, two = prices.number("climb-one-floor-pearl"), prices.number("climb-two-floors-pearl")
    tables.climb_pearl = [0, one, two]
    tables.caps[CHASEN] = tables.caps[FOOD]
    tables.caps[SEAL] = caps.number("seal")
    tables.caps[INFLUENCE] = last
    floors = score.entry("courtier")
    tables.courtier_points = [floors.number(f) for f in ("gate", "steward", "diplomat", "daimyo")]
    floors.finish()
    for entry in (track, prices, caps, score):
        entry.source()
        entry.finish()


BASE_BOARD = (read_spaces, read_domain_rows, read_yards, read_slots, read_numbers)
