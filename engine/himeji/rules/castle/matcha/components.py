"""The components and the extension board of Matcha, read from a data file."""

from __future__ import annotations

from himeji.rules.castle.components import (
    FACES,
    Component,
    Row,
    Tables,
    read_row,
)
from himeji.rules.castle.matcha.constants import GEISHA_PLACE_NAMES, GEISHA_PLACES
from himeji.rules.components import Readers, ReadPart, effects
from himeji.rules.constants import COIN
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.effects import Parse

CURTAINS = ("upper", "lower")


def read_outskirts_card(card: Component, entry: Entry, parse: Parse) -> None:
    """Two curtains, one above the other; the blue one is marked as dark rows are."""
    rows = []
    for curtain in CURTAINS:
        part = entry.entry(curtain)
        rows.append(read_row(part, parse))
        part.finish()
    card.rows = tuple(rows)
    card.row_names = CURTAINS
    card.lantern = effects(entry, "lantern", [entry.text("lantern")], parse)


def read_ceremony(tile: Component, entry: Entry, parse: Parse) -> None:
    """Two faces; what using one costs depends on where the tile lies (M-8.3)."""
    rows = []
    for face in FACES:
        gives = effects(entry, face, entry.texts(face), parse)
        if not gives:
            raise entry.fault(face, "expected at least one effect")
        rows.append(Row(gives, cost=(COIN, 0), dark=False, lines=1))
    tile.rows = tuple(rows)
    tile.row_names = FACES


def read_lily(tile: Component, entry: Entry, parse: Parse) -> None:
    """One reward."""
    tile.faces = effects(entry, "reward", [entry.text("reward")], parse)


def read_tea_garden(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """Prices, limits and points of the tea garden."""
    prices = data.table("tea-prices")
    tables.entrance_coins = prices.number("entrance-coins")
    one, two = prices.number("walk-one-step-chasen"), prices.number("walk-two-steps-chasen")
    tables.walk_chasen = [0, one, two]
    tables.overlook_coins = prices.number("overlook-tile-coins")
    tables.domain_tile_seals = prices.number("domain-tile-seals")
    prices.source()
    prices.finish()
    tables.geisha_limit, tables.geisha_points = [0], [0]
    for number, entry in enumerate(data.entries("tea-place"), start=1):
        entry.one_of("id", GEISHA_PLACE_NAMES[number : number + 1])
        tables.geisha_limit.append(entry.number("limit"))
        tables.geisha_points.append(entry.number("points"))
        entry.source()
        entry.finish()
    if len(tables.geisha_points) != GEISHA_PLACES:
        raise entry.fault("id", f"expected the places {', '.join(GEISHA_PLACE_NAMES[1:])}")


TEA_KINDS: Readers = {
    "flower": read_outskirts_card,
    "calligraphy": read_outskirts_card,
    "lily": read_lily,
    "ceremony": read_ceremony,
}
TEA_BOARD: tuple[ReadPart, ...] = (read_tea_garden,)
