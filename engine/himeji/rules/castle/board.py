"""The printed board of a castle ruleset, read from its data file: spaces, rows, slots, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from himeji.rules.castle.components import FACES, Space, Tables
from himeji.rules.castle.constants import ROOMS, SPACE_NAMES, WORKER_NAMES
from himeji.rules.components import effects, read_money
from himeji.rules.constants import COLOUR_NAMES, INFLUENCE, SEAL
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.effects import Effect, Parse

CELLS = 6  # of a domain row: one that is always visible, and one under each member
BASE_AREAS = (*("castle",) * ROOMS, *("outside", "outside", "well"), *("domain",) * 3)
BASE_OFFERS = {"outside": 2}
YARD_FACES = (FACES, FACES[:1], FACES[1:])


class ReadSpaces:
    """Reads the spaces for dice, in the order of their numbers.

    A ruleset says their names, the area of each, which areas offer how many actions, and of whom.
    """

    def __init__(
        self,
        names: Sequence[str],
        areas: Sequence[str],
        offers: Mapping[str, int],
        workers: Sequence[str],
    ) -> None:
        self.names = names
        self.areas = areas
        self.offers = offers
        self.workers = workers

    def __call__(self, tables: Tables, data: DataFile, parse: Parse) -> None:
        for number, entry in enumerate(data.entries("space")):
            known = number < len(self.names)
            name = entry.one_of("id", (self.names[number] if known else "no further space",))
            space = Space(
                name, entry.one_of("area", (self.areas[number],)), entry.number("printed")
            )
            if space.area in self.offers:
                space.offers = self._actions(entry, parse, self.offers[space.area])
            if space.area == "well":
                space.gives = effects(entry, "gives", entry.texts("gives"), parse)
                if not space.gives:
                    raise entry.fault("gives", "expected at least one effect")
            space.reconstructed = entry.reconstructed()
            tables.spaces.append(space)
            entry.finish()

    def _actions(self, entry: Entry, parse: Parse, amount: int) -> tuple[Effect, ...]:
        offers = effects(entry, "offers", entry.texts("offers"), parse)
        workers = [offer for offer in offers if offer.text in self.workers]
        if len(workers) != len(offers) or len(offers) != amount:
            raise entry.fault("offers", f"expected worker actions, {amount} of them")
        return offers


class ReadDomainRows:
    """Reads the rows of a domain, in the order of the colours, each with its kind of member."""

    def __init__(self, members: tuple[str, ...]) -> None:
        self.members = members

    def __call__(self, tables: Tables, data: DataFile, parse: Parse) -> None:
        for number, entry in enumerate(data.entries("domain-row")):
            entry.one_of("colour", COLOUR_NAMES[number : number + 1])
            tables.members.append(entry.one_of("member", self.members[number : number + 1]))
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
    tables.caps[SEAL] = caps.number("seal")
    tables.caps[INFLUENCE] = last
    floors = score.entry("courtier")
    tables.courtier_points = [floors.number(f) for f in ("gate", "steward", "diplomat", "daimyo")]
    floors.finish()
    for entry in (track, prices, caps, score):
        entry.source()
        entry.finish()


COMMON_BOARD = (read_yards, read_slots, read_numbers)
BASE_BOARD = (
    ReadSpaces(SPACE_NAMES, BASE_AREAS, BASE_OFFERS, WORKER_NAMES),
    ReadDomainRows(WORKER_NAMES),
    *COMMON_BOARD,
)
