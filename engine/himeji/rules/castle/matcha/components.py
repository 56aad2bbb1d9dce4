"""The components and the extension board of Matcha, read from a data file."""

from __future__ import annotations

from typing import Final

from himeji.rules.castle.components import FACES, Component, Row, Tables, read_row
from himeji.rules.castle.matcha.constants import GEISHA_PLACE_NAMES, GEISHA_PLACES
from himeji.rules.components import Readers, effects
from himeji.rules.constants import CHASEN, COIN, FOOD
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.effects import Parse

TEA_GARDEN: Final = "tea-garden"  # in `Tables.boards`
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
    tile.faces = effects(entry, "reward", [entry.text("reward")], parse)


class TeaGarden:
    """Prices, limits and points that are printed on the extension board."""

    def __init__(self) -> None:
        self.entrance_coins = 0
        self.walk_chasen: list[int] = []  # by steps walked
        self.geisha_limit: list[int] = [0]  # geishas of a clan by place, 0 is no limit
        self.geisha_points: list[int] = [0]  # by place; for each own member where it is a room
        self.overlook_coins = 0
        self.domain_tile_seals = 0


def tea_garden_of(tables: Tables) -> TeaGarden:
    """The extension board of a ruleset with Matcha."""
    garden: TeaGarden = tables.boards[TEA_GARDEN]
    return garden


def read_tea_garden(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """Prices, limits and points of the tea garden; chasen have the cap of other resources."""
    tables.caps[CHASEN] = tables.caps[FOOD]
    garden = tables.boards[TEA_GARDEN] = TeaGarden()
    prices = data.table("tea-prices")
    garden.entrance_coins = prices.number("entrance-coins")
    one, two = prices.number("walk-one-step-chasen"), prices.number("walk-two-steps-chasen")
    garden.walk_chasen = [0, one, two]
    garden.overlook_coins = prices.number("overlook-tile-coins")
    garden.domain_tile_seals = prices.number("domain-tile-seals")
    prices.source()
    prices.finish()
    for number, entry in enumerate(data.entries("tea-place"), start=1):
        entry.one_of("id", GEISHA_PLACE_NAMES[number : number + 1])
        garden.geisha_limit.append(entry.number("limit"))
        garden.geisha_points.append(entry.number("points"))
        entry.source()
        entry.finish()
    if len(garden.geisha_points) != GEISHA_PLACES:
        raise entry.fault("id", f"expected the places {', '.join(GEISHA_PLACE_NAMES[1:])}")


MATCHA_KINDS: Readers = {
    "flower": read_outskirts_card,
    "calligraphy": read_outskirts_card,
    "lily": read_lily,
    "ceremony": read_ceremony,
}
