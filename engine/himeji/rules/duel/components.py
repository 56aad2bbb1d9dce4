"""The components of Duel: every card and tile by number, read from a data file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from himeji.rules.components import (
    AnyComponent,
    Box,
    BoxContents,
    Invariants,
    Readers,
    ReadPart,
    effects,
    fill,
)
from himeji.rules.constants import COIN, COLOUR_NAMES, GOOD_NAMES, SEAL
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.duel.constants import (
    ACTION_NAMES,
    COLOURS,
    FRAME_NAMES,
    ICON_NAMES,
    ICONS,
    INFLUENCE_NAMES,
    KIND_NAMES,
    MOST_PAID,
    TILE_SPACES,
)
from himeji.rules.effects import Effect, Parse

ANY_RESOURCE = -1  # a price in any mix of resources
ANY_PIECE = -2  # a price in any mix of coins and seals
CURRENCIES = {"coin": COIN, "seal": SEAL, "coin/seal": ANY_PIECE, "any": ANY_RESOURCE}
CURRENCY_OF_KIND = ("coin", "coin/seal", "seal")  # of influence cards (D-6.1)
NO_ICONS = (0,) * ICONS


class Price(NamedTuple):
    """So much of a good, or of any mix."""

    amount: int
    good: int


FREE = Price(0, COIN)


class Component(AnyComponent):
    """One copy of a card or tile of Duel; unused facts are empty."""

    def __init__(self, number: int, kind: str, entry: Entry) -> None:
        super().__init__(number, kind, entry)
        self.suit = 0  # flag, weapon or origami
        self.price = FREE  # of an influence card
        self.cost = FREE  # of a scroll
        self.gives: tuple[Effect, ...] = ()  # a scroll; the front of a start card
        self.icons: tuple[int, ...] = NO_ICONS  # by icon
        self.colour = 0  # of a lantern: of a card, or of a location tile
        self.good = 0  # what a card gives in a Lantern zone
        self.amount = 0
        self.action = 0  # of an activation tile
        self.faces: tuple[Effect, ...] = ()  # stone, plant of a garden tile; rewards of a yard tile
        self.spaces: tuple[tuple[Effect, ...], ...] = ()  # of a social tile: light, then grey


class Tables(Box[Component]):
    """Everything printed on the components and the boards of Duel."""

    def __init__(self) -> None:
        super().__init__()
        self.slots_of_location: list[tuple[int, ...]] = []  # ascending
        self.zone_good: list[int] = []  # printed on the Lantern zones, by colour
        self.zone_amount: list[int] = []
        self.column_food: list[int] = []
        self.column_icons: list[tuple[int, ...]] = []
        self.column_spaces = 0
        self.yard_iron: list[int] = []
        self.yard_spaces: list[int] = []
        self.climb_pearl: list[int] = []  # by spaces climbed
        self.top_reward: tuple[Effect, ...] = ()  # printed on the top space of both paths
        self.top_reconstructed = False
        self.trade_card = 0  # resources for buying a card by Trade
        self.trade_tile: list[int] = []  # by stack
        self.storage = 0
        self.clan_seals = 0
        self.level_points: list[int] = []  # points of a flag, by level of the courtier
        self.katana_points: list[int] = []  # points of a katana for each clan seal, by yard
        self.kabuto_points: list[int] = []
        self.first_game: dict[str, tuple[int, ...]] = {}  # the fixed layout, by what is laid out


def load(
    file: str, text: str, parse: Parse, board: Sequence[ReadPart], invariants: Invariants
) -> Tables:
    """Read a data file of Duel and check it completely."""
    tables = Tables()
    fill(tables, DataFile(file, text), parse, BoxContents(Component, READERS, board, invariants))
    return tables


def read_price(entry: Entry, key: str) -> Price:
    """An amount of coin, seal, coin/seal or any."""
    head, _, word = entry.text(key).partition(" ")
    if not head.isdecimal() or not 1 <= int(head) <= MOST_PAID or word not in CURRENCIES:
        known = ", ".join(CURRENCIES)
        raise entry.fault(key, f"expected 1 to {MOST_PAID} of {known}, found {head} {word}")
    return Price(int(head), CURRENCIES[word])


def read_icons(entry: Entry) -> tuple[int, ...]:
    """How many of each icon."""
    table = entry.entry("icons")
    icons = [table.number(name) if table.has(name) else 0 for name in ICON_NAMES]
    table.finish()
    if not any(icons):
        raise entry.fault("icons", "expected at least one icon")
    return tuple(icons)


def read_gain(entry: Entry, key: str) -> tuple[int, int]:
    """A good and how much of it: what a Lantern zone can give."""
    head, _, word = entry.text(key).partition(" ")
    if not head.isdecimal() or int(head) == 0 or word not in GOOD_NAMES:
        raise entry.fault(key, f"expected a number of a good, found {head} {word}")
    return GOOD_NAMES.index(word), int(head)


def read_colour(entry: Entry) -> int:
    """The colour of a lantern."""
    return COLOUR_NAMES.index(entry.one_of("colour", COLOUR_NAMES[:COLOURS]))


def one(entry: Entry, key: str, parse: Parse) -> Effect:
    """The effect that stands under a key."""
    return effects(entry, key, [entry.text(key)], parse)[0]


def _read_influence(card: Component, entry: Entry, parse: Parse) -> None:
    if entry.name not in INFLUENCE_NAMES[card.number - 1 : card.number]:
        raise entry.fault("id", f"expected the id {INFLUENCE_NAMES[card.number - 1]}")
    card.suit = KIND_NAMES.index(entry.name.partition("-")[0])
    card.price = read_price(entry, "price")
    currency = CURRENCY_OF_KIND[card.suit]
    if card.price.good != CURRENCIES[currency]:
        raise entry.fault("price", f"a {KIND_NAMES[card.suit]} card is paid in {currency}")
    if entry.has("cost"):
        card.cost = read_price(entry, "cost")
    card.gives = effects(entry, "scroll", entry.texts("scroll"), parse)
    if not card.gives:
        raise entry.fault("scroll", "expected at least one effect")
    card.icons = read_icons(entry)


def _read_lantern(card: Component, entry: Entry, _parse: Parse) -> None:
    card.colour = read_colour(entry)
    card.good, card.amount = read_gain(entry, "reward")


def _read_start(card: Component, entry: Entry, parse: Parse) -> None:
    card.gives = effects(entry, "gives", entry.texts("gives"), parse)
    _read_lantern(card, entry, parse)


def _read_activation(tile: Component, entry: Entry, _parse: Parse) -> None:
    tile.action = ACTION_NAMES.index(entry.one_of("action", ACTION_NAMES))


def _read_location(tile: Component, entry: Entry, _parse: Parse) -> None:
    tile.colour = read_colour(entry)


def _read_garden(tile: Component, entry: Entry, parse: Parse) -> None:
    tile.faces = (one(entry, "stone", parse), one(entry, "plant", parse))


def _read_yard(tile: Component, entry: Entry, parse: Parse) -> None:
    tile.faces = (one(entry, "first", parse), one(entry, "second", parse))


def _read_social(tile: Component, entry: Entry, parse: Parse) -> None:
    spaces: list[tuple[Effect, ...]] = []
    for frame in FRAME_NAMES:
        texts = entry.texts(frame)
        if len(texts) != TILE_SPACES:
            raise entry.fault(frame, f"expected {TILE_SPACES} spaces, found {len(texts)}")
        spaces += [effects(entry, frame, [text], parse) if text else () for text in texts]
    tile.spaces = tuple(spaces)


def _read_merchandise(tile: Component, entry: Entry, _parse: Parse) -> None:
    tile.icons = read_icons(entry)


READERS: Readers = {
    "influence-card": _read_influence,
    "lantern-card": _read_lantern,
    "start-card": _read_start,
    "activation-tile": _read_activation,
    "location-tile": _read_location,
    "garden-tile": _read_garden,
    "basic-yard": _read_yard,
    "elite-yard": _read_yard,
    "social-tile": _read_social,
    "common-merchandise": _read_merchandise,
    "luxury-merchandise": _read_merchandise,
}
