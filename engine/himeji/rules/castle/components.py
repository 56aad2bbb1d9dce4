"""The components of a castle ruleset: every card and tile by number, read from a data file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from himeji.rules.castle.constants import DOMAIN_SPACE
from himeji.rules.components import AnyComponent, Box, BoxContents, Readers, effects, fill
from himeji.rules.constants import COIN, COLOUR_NAMES, GOOD_NAMES
from himeji.rules.datafile import DataFile, DataFiles, Entry
from himeji.rules.effects import Effect, Parse

LINES = 3  # the lines of a domain that a card's rows cover, top to bottom


class Row:
    """A row of a card, or the face of a garden: a price, then what it gives."""

    def __init__(
        self, gives: tuple[Effect, ...], *, cost: tuple[int, int], dark: bool, lines: int
    ) -> None:
        self.gives = gives
        self.cost_good = cost[0]
        self.cost = cost[1]
        self.dark = dark
        self.lines = lines


class Component(AnyComponent):
    """One copy of a card or tile of the castle family; unused facts are empty."""

    def __init__(self, number: int, kind: str, entry: Entry) -> None:
        super().__init__(number, kind, entry)
        self.diamond = entry.flag("diamond")  # out of the deck with two seats (B-1.2)
        self.rows: tuple[Row, ...] = ()
        self.row_names: tuple[str, ...] = ()  # where rows are not counted from top to bottom
        self.row_of_line: tuple[int, ...] = ()  # which row serves each line of a domain (B-3.6)
        self.lantern: tuple[Effect, ...] = ()  # what its back shows in a Lantern Area
        self.gives: tuple[Effect, ...] = ()  # gains of a starting resource card
        self.decree = 0  # the decree that comes with a starting resource card
        self.slots: tuple[Effect, ...] = ()  # benefits of a daimyo card
        self.colour = 0  # of a die tile
        self.faces: tuple[Effect, ...] = ()  # blue, yellow of a yard tile; reward of a die tile
        self.plant = False
        self.food = 0
        self.points = 0


class Space:
    """A space for dice: what is printed on it and which area's rules it follows."""

    def __init__(self, name: str, area: str, printed: int) -> None:
        self.name = name
        self.reconstructed = False
        self.area = area
        self.printed = printed
        self.offers: tuple[Effect, ...] = ()  # worker actions to choose from
        self.gives: tuple[Effect, ...] = ()  # what everybody gets there


class Tables(Box[Component]):
    """Everything printed on the components and the board of a castle ruleset."""

    def __init__(self) -> None:
        super().__init__()
        self.spaces: list[Space] = []  # by space number
        self.members: list[str] = []  # kinds of members by colour of their domain row
        self.cells: list[tuple[Effect, ...]] = []  # domain rows by colour: first cell, reveals
        self.cells_reconstructed: list[bool] = []  # by colour: whether some of them are made up
        self.yard_iron: list[int] = []
        self.yard_value: list[int] = []
        self.slot_names: list[str] = []
        self.slot_room: list[int] = []  # room of a die tile slot, -1 is the Well
        self.slot_row: list[int] = []
        self.last_position = 0
        self.checkpoint: list[int] = []  # seals for entering a position
        self.track_points: list[int] = []
        self.audience_coins = 0
        self.climb_pearl: list[int] = []  # by floors climbed
        self.courtier_points: list[int] = []  # by floor
        self.boards: dict[str, Any] = {}  # what an expansion prints on boards of its own, by name

    def row_reconstructed(self, colour: int) -> bool:
        """Whether something in a domain row was made up: its printed value or its cells."""
        return self.spaces[DOMAIN_SPACE + colour].reconstructed or self.cells_reconstructed[colour]


def load(files: Mapping[str, str], parse: Parse, contents: BoxContents) -> Tables:
    """Read the data files of a castle ruleset and check them completely."""
    tables = Tables()
    board = (_link_decrees, *contents.board)
    fill(tables, DataFiles(files), parse, contents._replace(board=board))
    return tables


def read_row(entry: Entry, parse: Parse) -> Row:
    """A price, what it gives, and how it looks."""
    cost = (COIN, 0)
    if entry.has("cost"):
        amount, _, word = entry.text("cost").partition(" ")
        if not amount.isdecimal() or int(amount) == 0 or word not in ("coin", "seal"):
            raise entry.fault("cost", f"expected a number of coin or seal, found {amount} {word}")
        cost = (GOOD_NAMES.index(word), int(amount))
    gives = effects(entry, "gives", entry.texts("gives"), parse)
    if not gives:
        raise entry.fault("gives", "expected at least one effect")
    lines = entry.number("lines") if entry.has("lines") else 1
    return Row(gives, cost=cost, dark=entry.flag("dark"), lines=lines)


def _read_castle_card(card: Component, entry: Entry, parse: Parse) -> None:
    rows = []
    for part in entry.entries("rows"):
        rows.append(read_row(part, parse))
        part.finish()
    card.rows = tuple(rows)
    card.row_of_line = tuple(n for n, row in enumerate(rows) for _ in range(row.lines))
    if len(card.row_of_line) != LINES:
        raise entry.fault("rows", f"cover {len(card.row_of_line)} lines instead of {LINES}")
    _read_lantern(card, entry, parse)


def _read_lantern(card: Component, entry: Entry, parse: Parse) -> None:
    card.lantern = effects(entry, "lantern", [entry.text("lantern")], parse)


def _read_start_resource(card: Component, entry: Entry, parse: Parse) -> None:
    card.gives = effects(entry, "gives", entry.texts("gives"), parse)
    if entry.has("decree"):
        entry.text("decree")
    _read_lantern(card, entry, parse)


def _read_daimyo(card: Component, entry: Entry, parse: Parse) -> None:
    card.slots = effects(entry, "slots", entry.texts("slots"), parse)
    if len(card.slots) != 3:
        raise entry.fault("slots", f"expected 3, found {len(card.slots)}")


def _read_garden(card: Component, entry: Entry, parse: Parse) -> None:
    card.plant = entry.one_of("kind", ("plant", "stone")) == "plant"
    card.food = entry.number("food")
    card.points = entry.number("points")
    card.rows = (read_row(entry, parse),)
    if card.points != 2 * card.food - 1:
        raise entry.fault("points", f"expected 2 x food - 1, found {card.points}")


def _read_yard_tile(tile: Component, entry: Entry, parse: Parse) -> None:
    tile.faces = tuple(effects(entry, face, [entry.text(face)], parse)[0] for face in FACES)


def _read_die_tile(tile: Component, entry: Entry, parse: Parse) -> None:
    tile.colour = COLOUR_NAMES.index(entry.one_of("colour", COLOUR_NAMES[:3]))
    tile.faces = effects(entry, "reward", [entry.text("reward")], parse)


FACES = ("blue", "yellow")
BASE_KINDS: Readers = {
    "steward": _read_castle_card,
    "diplomat": _read_castle_card,
    "daimyo": _read_daimyo,
    "start-action": _read_castle_card,
    "start-resource": _read_start_resource,
    "decree": _read_lantern,
    "garden": _read_garden,
    "yard-tile": _read_yard_tile,
    "die-tile": _read_die_tile,
}
"""Every kind of component of the base box with its reader, in the order of their numbers."""


def _link_decrees(tables: Tables, data: DataFile, _parse: Parse) -> None:
    named = set()
    for entry in data.entries("start-resource"):
        if entry.has("decree"):
            decree = entry.text("decree")
            number = tables.numbers.get(decree, 0)
            if number == 0 or tables.of(number).kind != "decree":
                raise entry.fault("decree", f"there is no decree {decree!r}")
            if decree in named:
                raise entry.fault("decree", f"{decree} is named by another card already")
            named.add(decree)
            tables.of(tables.numbers[entry.name]).decree = number
