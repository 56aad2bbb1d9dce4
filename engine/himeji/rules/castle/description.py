"""The castle family in words and numbers: its components and its kinds of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from himeji.rules import description
from himeji.rules.castle.components import FACES, Component, Row
from himeji.rules.castle.constants import ROW_NAMES
from himeji.rules.components import describe_component
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, count
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset


def describe_components(rules: CastleRuleset) -> list[description.Component]:
    """Every card copy and tile, ascending by number."""
    return [
        describe_component(each, _kind(rules, each.kind), _faces(rules, each), _facts(each))
        for each in rules.tables.components
    ]


def _kind(rules: CastleRuleset, name: str) -> str:
    """What a component is, with the word card or tile."""
    if name.endswith("-tile"):
        return name
    return f"{name}-tile" if name in rules.tile_kinds else f"{name}-card"


def _faces(rules: CastleRuleset, card: Component) -> Iterator[description.Face]:
    """From top to bottom, front before back."""
    if card.kind in rules.own_faces:
        yield from rules.own_faces[card.kind](rules, card)
        return
    names = ROW_NAMES if len(card.rows) == len(ROW_NAMES) else card.row_names or ("first", "second")
    for name, row in zip(names if len(card.rows) > 1 else ("front",), card.rows, strict=False):
        yield _row(name, row)
    if card.gives:
        yield describe_face("front", card.gives)
    for number, slot in enumerate(card.slots, start=1):
        yield describe_face(f"slot-{number}", (slot,))
    for name, face in zip(FACES if len(card.faces) > 1 else ("reward",), card.faces, strict=False):
        yield describe_face(name, (face,))
    if card.lantern:
        # A decree has nothing else to show; every other card shines with its back.
        yield describe_face("back" if card.rows or card.gives else "front", card.lantern)


def _row(name: str, row: Row) -> description.Face:
    face = describe_face(name, row.gives)._replace(dark=row.dark)
    if not row.cost:
        return face
    price = description.DescribedEffect("", GOOD_NAMES[row.cost_good], row.cost)
    bought = description.DescribedEffect("pay", costs=(price,), parts=face.effects)
    text = f"for {count(row.cost, row.cost_good)}: {face.text}"
    return face._replace(text=text, effects=(bought,))


def _facts(card: Component) -> Iterator[tuple[str, int]]:
    """The numbers on a component, and which of its rows serves which line of a domain (B-3.6)."""
    if card.diamond:
        yield "diamond", 1
    for line, row in enumerate(card.row_of_line):
        yield f"row_of_{COLOUR_NAMES[line]}_line", row
    if card.food:
        yield "plant" if card.plant else "stone", 1
        yield from (("food_cost", card.food), ("points", card.points))
    if card.kind == "die-tile":
        yield COLOUR_NAMES[card.colour], 1
    if card.decree:
        yield "decree", card.decree


def describe_steps(rules: CastleRuleset) -> list[description.DescribedStep]:
    """Every kind of step, ascending, with the meaning of the numbers that describe one."""
    return rules.codec.describe(rules.step_texts, rules.field_texts)
