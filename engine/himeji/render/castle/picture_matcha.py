"""The extension board of Matcha in the picture: tea garden, outskirts, tea fields."""

from __future__ import annotations

from typing import Final

from himeji.render.canvas import Canvas, Number
from himeji.render.castle import facts, facts_matcha
from himeji.render.castle.picture_elements import chips, dice_space
from himeji.render.palette import BLUE_FACE, EDGE, MUTED, YELLOW_FACE
from himeji.render.panels import PAD, Pen, members, panel, small_id
from himeji.render.phrases import amount, dagger, name, spoken
from himeji.rules.castle.components import Component
from himeji.rules.castle.matcha.constants import (
    AT_ENTRANCE,
    GEISHA_PLACE_NAMES,
    ON_OVERLOOK,
    ON_STEP_1,
    ON_STEP_2,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame

PLACE: Final = 86
GAP: Final = 12
FILLS: Final = (BLUE_FACE, YELLOW_FACE)
NOTES: Final = {
    AT_ENTRANCE: ("the way begins here",),
    ON_STEP_1: ("yellow curtain of an outskirts card,", "which then shines"),
    ON_STEP_2: ("blue curtain of an outskirts card",),
}


def tea_garden(game: CastleGame, width: Number) -> list[Canvas]:
    """The path from the entrance to the tea house, and the overlook beside it."""
    if not isinstance(game, MatchaGame):
        return []
    lilies = facts_matcha.lilies(game)
    canvas = panel(width, "Tea Garden")
    pen = Pen(canvas, 130, 23)
    pen.icon("lilies")
    pen.word("Pond:", bold=True)
    for lily in lilies:
        drawn = Canvas()
        drawn.rect(0, 0, 96, 23, rx=11, fill="#dcecef", stroke="#7aa9b2")
        Pen(drawn, 8, 16, size=11).effects(lily.faces, limit=96)
        canvas.place(drawn, pen.x, 7, title=name(lily))
        pen.x += 102
        small_id(canvas, lily, pen.x, 23, 92)
        pen.x += 96
    each = (width - 2 * PAD - 3 * 22) / 4
    columns = ((AT_ENTRANCE, ON_OVERLOOK), (ON_STEP_1,), (ON_STEP_2,), TEA_ROOMS)
    deepest = max(map(len, columns))
    for column, places in enumerate(columns):
        x = PAD + (each + 22) * column
        for number, place in enumerate(places):
            y = 42 + (PLACE + GAP) * number
            canvas.place(_place(game, place, each), x, y, mark=GEISHA_PLACE_NAMES[place])
            if column:
                _arrow(canvas, x - 18, y + PLACE / 2)
    canvas.text(PAD + 12, 42 + PLACE + 9, "↓ or along the path →", size=10, fill=MUTED)
    canvas.height = 42 + (PLACE + GAP) * deepest + 4
    return [canvas]


def _arrow(canvas: Canvas, x: Number, y: Number) -> None:
    canvas.path(f"M{x:g} {y:g}h12l-5 -5m5 5l-5 5", fill="none", stroke=MUTED, stroke_width=1.5)


def _place(game: MatchaGame, place: int, width: Number) -> Canvas:
    canvas = Canvas(width, PLACE)
    found = facts_matcha.ceremony_at(game, place)
    fill = FILLS[found[1]] if found is not None else "#ffffff"
    canvas.rect(0, 0, width, PLACE, rx=7, fill=fill, stroke=EDGE)
    canvas.text(9, 19, spoken(GEISHA_PLACE_NAMES[place]), size=12, bold=True)
    canvas.text(width - 9, 19, _worth(game, place), size=11, fill=MUTED, anchor="end")
    for number, note in enumerate(NOTES.get(place, ())):
        canvas.text(9, 37 + 14 * number, note, size=11)
    if found is not None:
        tile, face = found
        pen = Pen(canvas, 9, 38, size=11)
        if place == ON_OVERLOOK:
            pen.word(f"water lilies, or {amount(game.tea_garden.overlook_coins, 'coin')} →")
            pen.x, pen.y = 9, 56
        pen.effects(tile.rows[face].gives, limit=width - 4)
        small_id(canvas, tile, width - 88, PLACE - 8, 84)
    members(canvas, facts_matcha.geishas_at(game, place), 6, PLACE - 15)
    return canvas


def _worth(game: MatchaGame, place: int) -> str:
    points = f"{game.tea_garden.geisha_points[place]} VP"
    kind = GEISHA_PLACE_NAMES[place].partition("s-")[0]
    return f"{points} a {kind}" if place in TEA_ROOMS else points


def outskirts(game: CastleGame, width: Number) -> list[Canvas]:
    """The two visible cards in line with their spaces, and the tea fields."""
    cards = facts_matcha.outskirts(game)
    if not cards:
        return []
    canvas = panel(
        width, "Outskirts and Tea Fields", "a die reads both upper or both lower curtains"
    )
    spaces = facts.spaces_of(game, "outskirts")
    for line, number in enumerate(spaces):
        _space(game, canvas, number, PAD, 38 + 62 * line)
    for column, (card, left) in enumerate(cards):
        mark = ",".join(f"{card.kind} {part}" for part in ("card", "upper", "lower"))
        canvas.place(_card(card, left, 400), PAD + 150 + 412 * column, 36, mark=mark)
    for line, number in enumerate(facts.spaces_of(game, "tea-fields")):
        _space(game, canvas, number, PAD + 986, 38 + 62 * line)
    canvas.height = 36 + 154 + PAD
    return [canvas]


def _space(game: CastleGame, canvas: Canvas, number: int, x: Number, y: Number) -> None:
    space, drawn = game.tables.spaces[number], Canvas()
    marked = dagger(reconstructed=space.reconstructed)
    drawn.text(0, 18, spoken(space.name) + marked, size=12, bold=True)
    if space.offers:
        Pen(drawn, 0, 40, size=11).effects(space.offers)
    dice_space(drawn, space.printed, facts.dice_on(game, number), 140, 24)
    canvas.place(drawn, x, y, mark=space.name)


def _card(card: Component, left: int, width: Number) -> Canvas:
    canvas = Canvas(width, 154)
    canvas.rect(0, 0, width, 154, rx=7, fill="#ffffff", stroke=EDGE)
    for line, row in enumerate(card.rows):
        y = 6 + 54 * line
        canvas.rect(6, y, width - 12, 48, rx=5, fill=FILLS[0 if row.dark else 1], stroke=EDGE)
        canvas.text(14, y + 17, card.row_names[line], size=10, fill=MUTED)
        pen = Pen(canvas, 14, y + 37)
        if row.cost:
            pen.icon("seal")
            pen.word(f"{row.cost} →")
        pen.effects(row.gives, limit=width - 8)
    canvas.text(10, 136, "back", size=11, fill=MUTED)
    chips(canvas, [card], 42, 120, width / 2)
    small_id(canvas, card, width / 2, 134, 90)
    canvas.text(width - 10, 134, f"{left} cards below", size=11, fill=MUTED, anchor="end")
    return canvas
