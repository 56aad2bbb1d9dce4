"""The printed boards of Duel, part by part, for those who have no engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from himeji.rules.board_description import goods_parts, made_up
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES
from himeji.rules.description import BoardPart, DescribedEffect, Face
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLUMN_NAMES,
    FRAME_NAMES,
    ICON_NAMES,
    LOCATION_NAMES,
    SLOT_NAMES,
    STACK_NAMES,
    STONE_COLUMNS,
    TURNS,
    YARD_NAMES,
)
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset

_BENEFITS: Final = ("any", "coin/seal", "swap", "vp")
WELL: Final = BoardPart(
    "well",
    "well",
    None,
    "The Well: one of these (D-6.8).",
    tuple(Face(word, f"1 {word}", (DescribedEffect("gain", word, 1),)) for word in _BENEFITS),
    (),
)
LEVELS: Final = ("gate", *[f"{frame}-tile" for frame in FRAME_NAMES], "top-space")


def describe_board(rules: DuelRuleset) -> list[BoardPart]:
    """Every printed part, kind by kind, and the numbers that hold for the whole game."""
    parts = (_slots, _locations, _zones, _columns, _yards, _levels, _prices)
    board = [each for part in parts for each in part(rules)]
    return [*board, WELL, *goods_parts(rules, rules.tables), *_game(rules)]


def _slots(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "An action slot: a deck or not, and how many Locations it serves (D-3.1, D-3.2)."
    for number, name in enumerate(SLOT_NAMES):
        served = sum(number in slots for slots in rules.tables.slots_of_location)
        facts = (("deck", int(number >= ACTIVATION_SLOTS)), ("locations", served))
        yield BoardPart(name, "slot", number, words, (), facts)


def _locations(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "A Location for tokens, and the numbers of the two slots beside it (D-3.1)."
    for number, (one, other) in enumerate(rules.tables.slots_of_location):
        facts = (("slot_1", one), ("slot_2", other))
        yield BoardPart(LOCATION_NAMES[number], "location", number, words, (), facts)


def _zones(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "A Lantern zone of a domain, with its printed reward (D-3.7)."
    for colour, good in enumerate(rules.tables.zone_good):
        amount = rules.tables.zone_amount[colour]
        gain = DescribedEffect("gain", GOOD_NAMES[good], amount)
        face = Face("front", f"{amount} {GOOD_NAMES[good]}", (gain,))
        yield BoardPart(f"zone-{COLOUR_NAMES[colour]}", "zone", colour, words, (face,), ())


def _columns(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "A garden column: its food, its spaces for Clan Seals, the icons of each seal (D-3.3)."
    for column, food in enumerate(rules.tables.column_food):
        icons = rules.tables.column_icons[column]
        shown = [(ICON_NAMES[n].replace(" ", "_"), count) for n, count in enumerate(icons) if count]
        kind = "stone" if column < STONE_COLUMNS else "plant"
        spaces = ("spaces", rules.tables.column_spaces)
        facts = ((kind, 1), ("food", food), spaces, *shown)
        yield BoardPart(COLUMN_NAMES[column], "garden-column", column, words, (), facts)


def _yards(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = (
        "A training yard: its iron, its spaces, what a seal there counts for icons (D-3.4, D-9.1)."
    )
    for yard, name in enumerate(YARD_NAMES):
        tables = rules.tables
        facts = (
            ("iron", tables.yard_iron[yard]),
            ("spaces", tables.yard_spaces[yard]),
            ("katana", tables.katana_points[yard]),
            ("kabuto", tables.kabuto_points[yard]),
        )
        yield BoardPart(f"{name}-yard", "yard", yard, words, (), facts)


def _levels(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "A level of a path: the points of each flag of a courtier there (D-3.5)."
    top = tuple(describe_face("front", (effect,)) for effect in rules.tables.top_reward)
    for level, points in enumerate(rules.tables.level_points):
        on_top = level == len(LEVELS) - 1
        mark = made_up(reconstructed=on_top and rules.tables.top_reconstructed)
        facts = (("points", points), *mark)
        faces = top if on_top else ()
        yield BoardPart(LEVELS[level], "level", level, words, faces, facts)


def _prices(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "What a climb of so many spaces costs (D-6.4)."
    for spaces, pearl in enumerate(rules.tables.climb_pearl[1:], start=1):
        yield BoardPart(f"climb-{spaces}", "price", spaces, words, (), (("pearl", pearl),))
    words = "What Trade costs, in any resources (D-6.5)."
    trades = (
        ("card", rules.tables.trade_card),
        *zip(STACK_NAMES, rules.tables.trade_tile, strict=True),
    )
    for number, (name, units) in enumerate(trades):
        yield BoardPart(f"trade-{name}", "trade-price", number, words, (), (("any", units),))


def _game(rules: DuelRuleset) -> Iterator[BoardPart]:
    words = "How long the game is, in turns of both seats per round (D-5.1)."
    yield BoardPart("length", "game", None, words, (), (("rounds", 2), ("turns", TURNS)))
    words = "Coins and seals that fit into a storage together, and Clan Seals of a seat (D-7.1)."
    held = (("storage", rules.tables.storage), ("clan_seals", rules.tables.clan_seals))
    yield BoardPart("domain", "limits", None, words, (), held)
