"""Around the castle: bridges with their gardens, training yards, Outside the Walls."""

from __future__ import annotations

from typing import Final

from himeji.render.canvas import Canvas, Number, wrapped
from himeji.render.castle import facts
from himeji.render.castle.phrases import price
from himeji.render.castle.picture_elements import dice_space
from himeji.render.icons import Die, draw_die, icon
from himeji.render.palette import BLUE_FACE, DICE, EDGE, MUTED, YELLOW_FACE
from himeji.render.panels import PAD, Pen, members, panel, small_id
from himeji.render.phrases import parted, phrase
from himeji.rules.castle.components import FACES, Component
from himeji.rules.castle.constants import GARDEN_NAMES, YARDS
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES

DIE: Final = 30
DECK: Final = 110
GARDEN: Final = 110
YARD: Final = 150
FACE_FILLS: Final = (BLUE_FACE, YELLOW_FACE)


def bridges(game: CastleGame, width: Number) -> list[Canvas]:
    """A panel for every bridge, with the gardens under it."""
    return [_bridge(game, colour, width) for colour in game.rules.colours]


def _bridge(game: CastleGame, colour: int, width: Number) -> Canvas:
    word = COLOUR_NAMES[colour]
    canvas = panel(width, f"{word.capitalize()} bridge")
    _deck(canvas, word, width)
    dice = [
        (game.left[colour], 52, f"{word} left"),
        *[(value, 0, "") for value in game.centre[colour]],
        (game.right[colour], width - 52 - DIE, f"{word} right"),
    ]
    middle = width / 2 - (DIE + 6) * len(game.centre[colour]) / 2 + 3
    for number, (value, x, mark) in enumerate(dice):
        at = x or middle + (number - 1) * (DIE + 6)
        if value:
            drawn = Canvas()
            draw_die(drawn, Die(word, value), 0, 0, DIE)
            canvas.place(drawn, at, 44, mark=mark)
        else:
            canvas.rect(at, 44, DIE, DIE, rx=6, fill="none", stroke=EDGE, stroke_dasharray="3 2")
    canvas.height = DECK
    gardens = facts.gardens_of(game, colour)
    each = (width - 2 * PAD - 10) / 2
    for place, number in enumerate(gardens):
        x = PAD + (each + 10) * place
        canvas.place(_garden(game, number, each), x, DECK, mark=GARDEN_NAMES[number])
    canvas.height += GARDEN + PAD if gardens else 0
    return canvas


def _deck(canvas: Canvas, word: str, width: Number) -> None:
    """The bridge itself, with the lantern on its left end."""
    look = DICE[word]
    canvas.path(
        f"M{PAD} 97Q{width / 2:g} 62 {width - PAD:g} 97",
        fill="none",
        stroke=look.edge,
        stroke_width=9,
        stroke_linecap="round",
    )
    canvas.path(
        f"M{PAD} 97Q{width / 2:g} 62 {width - PAD:g} 97",
        fill="none",
        stroke=look.fill,
        stroke_width=6,
        stroke_linecap="round",
    )
    icon(canvas, "lantern", 18, 52, 24)
    canvas.text(67, 39, "left", size=10, fill=MUTED, anchor="middle")
    canvas.text(width - 67, 39, "right", size=10, fill=MUTED, anchor="middle")


def _garden(game: CastleGame, number: int, width: Number) -> Canvas:
    card = game.tables.of(game.gardens[number])
    canvas = Canvas(width, GARDEN)
    ground = "#e6f0da" if card.plant else "#e7e8ea"
    canvas.rect(0, 0, width, GARDEN, rx=7, fill=ground, stroke=EDGE)
    pen = Pen(canvas, 9, 20)
    pen.icon("food")
    pen.word(f"{card.food} →", bold=True)
    pen.icon("vp")
    pen.word(f"{card.points} VP", bold=True)
    row = card.rows[0]
    pen = Pen(canvas, 9, 43)
    if row.cost:
        pen.word("pay")
        pen.icon(GOOD_NAMES[row.cost_good])
        pen.word(f"{price(row)} →")
        pen = Pen(canvas, 9, 63)
    pen.effects(row.gives, limit=width - 4)
    members(canvas, facts.gardeners_at(game, number), 6, 82)
    small_id(canvas, card, 9, GARDEN - 6, width - 14)
    return canvas


def yards(game: CastleGame, width: Number) -> list[Canvas]:
    """The training yards with their tiles and warriors."""
    canvas = panel(width, "Training yards")
    for yard in range(YARDS):
        canvas.place(
            _yard(game, yard, width - 2 * PAD),
            PAD,
            36 + (YARD + 10) * yard,
            mark=f"yard-{yard + 1}",
        )
    canvas.height = 36 + (YARD + 10) * YARDS + PAD - 10
    return [canvas]


def _yard(game: CastleGame, yard: int, width: Number) -> Canvas:
    canvas = Canvas(width, YARD)
    canvas.rect(0, 0, width, YARD, rx=7, fill="#ffffff", stroke=EDGE)
    pen = Pen(canvas, 9, 21)
    pen.word(f"Yard {yard + 1}", bold=True)
    pen.x += 6
    pen.icon("iron")
    pen.word(f"{game.tables.yard_iron[yard]} iron")
    value = f"value {game.tables.yard_value[yard]}"
    canvas.text(width - 9, 21, value, size=12, fill=MUTED, anchor="end")
    tiles = facts.tiles_of_yard(game, yard)
    each = (width - 12 - 6 * len(tiles)) / len(tiles)
    for place, (tile, face) in enumerate(tiles):
        mark = f"yard-{yard + 1} {FACES[face]}"
        canvas.place(_yard_tile(tile, face, each), 9 + (each + 6) * place, 32, mark=mark)
    members(canvas, facts.warriors_at(game, yard), 6, YARD - 19)
    return canvas


def _yard_tile(tile: Component, face: int, width: Number) -> Canvas:
    canvas = Canvas(width, 72)
    canvas.rect(0, 0, width, 72, rx=5, fill=FACE_FILLS[face], stroke=EDGE)
    effect = tile.faces[face]
    icon(canvas, parted(effect)[1], 7, 6, 18)
    for number, line in enumerate(wrapped(phrase(effect).split(" "), 11, width - 34)):
        canvas.text(31, 19 + 14 * number, line, size=11)
    canvas.text(7, 51, f"{FACES[face]} face", size=10, fill=MUTED)
    small_id(canvas, tile, 7, 65, width - 10)
    return canvas


def outside(game: CastleGame, width: Number) -> list[Canvas]:
    """Outside the Walls: two spaces, each with a choice of two worker actions."""
    found = [n for n, space in enumerate(game.tables.spaces) if space.area == "outside"]
    canvas = panel(width, "Outside the Walls")
    each = (width - 2 * PAD - 8) / 2
    for place, number in enumerate(found):
        space = game.tables.spaces[number]
        drawn = _outside_space(game, number, each)
        canvas.place(drawn, PAD + (each + 8) * place, 36, mark=space.name)
    canvas.height = 36 + 122 + PAD
    return [canvas]


def _outside_space(game: CastleGame, number: int, width: Number) -> Canvas:
    canvas, space = Canvas(width, 122), game.tables.spaces[number]
    canvas.rect(0, 0, width, 122, rx=7, fill="#ffffff", stroke=EDGE)
    canvas.text(9, 20, space.name.rpartition("-")[2], size=11, fill=MUTED)
    dice_space(canvas, space.printed, facts.dice_on(game, number), width - 8, 10)
    pen = Pen(canvas, 8, 64, size=11)
    for at, offer in enumerate(space.offers):
        pen.x, pen.y = 8, 64 + 36 * at
        pen.effect(offer)
        if at:
            canvas.text(8, pen.y - 18, "or", size=11, fill=MUTED)
    return canvas
