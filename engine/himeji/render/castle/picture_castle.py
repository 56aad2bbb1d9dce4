"""The castle in the picture: daimyo, diplomats, stewards, gate, each floor under its roof."""

from __future__ import annotations

from typing import Final

from himeji.render.canvas import Canvas, Number
from himeji.render.castle import facts
from himeji.render.castle.picture_elements import dice_space, row_bar
from himeji.render.icons import badge, die_tile, draw_die
from himeji.render.palette import EDGE, MUTED, ROOF
from himeji.render.panels import PAD, Pen, members, panel, small_id
from himeji.render.phrases import name, spoken
from himeji.rules.castle.constants import (
    AT_GATE,
    DIPLOMAT_FLOOR,
    DIPLOMAT_ROOMS,
    IN_ROOM,
    ROW_NAMES,
    STEWARD_FLOOR,
    STEWARD_ROOMS,
    WELL_SPACE,
)
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES

ROW: Final = 31
GAP: Final = 13
BESIDE: Final = 8
GROUND: Final = 112
TILE: Final = 27


def castle(game: CastleGame, width: Number) -> list[Canvas]:
    """All floors, then the gate with the Well to its left."""
    left = ", ".join(f"{count} {deck}s" for deck, count in facts.decks(game))
    canvas = panel(width, "Castle", f"left in the decks: {left}")
    inner = width - 2 * PAD
    points = game.tables.courtier_points
    y: Number = 34
    y = _roof(canvas, width, inner * 0.72, y, f"Daimyo floor · {points[-1]} VP a courtier")
    floor = _daimyo(game, inner * 0.72)
    canvas.place(floor, (width - floor.width) / 2, y, mark="daimyo")
    y += floor.height + GAP
    for rooms, level, share in (
        (DIPLOMAT_ROOMS, DIPLOMAT_FLOOR, 0.86),
        (STEWARD_ROOMS, STEWARD_FLOOR, 1.0),
    ):
        title = f"{spoken(game.tables.spaces[rooms[0]].name)[:-2]}s · {points[level]} VP a courtier"
        y = _roof(canvas, width, inner * share, y, title)
        each = (inner * share - BESIDE * (len(rooms) - 1)) / len(rooms)
        drawn = [_room(game, room, each) for room in rooms]
        for number, room in enumerate(drawn):
            x = (width - inner * share) / 2 + (each + BESIDE) * number
            canvas.place(room, x, y, mark=game.tables.spaces[rooms[number]].name)
        y += max(room.height for room in drawn) + GAP
    half = (inner - GAP) / 2
    canvas.place(_well(game, half), PAD, y + 4, mark=game.tables.spaces[WELL_SPACE].name)
    canvas.place(_gate(game, half), PAD + half + GAP, y + 4, mark="audience")
    canvas.height = y + 4 + GROUND + PAD
    return [canvas]


def _roof(canvas: Canvas, width: Number, floor: Number, y: Number, title: str) -> Number:
    """A roof with turned-up eaves over a floor; returns where the floor begins."""
    a, b = (width - floor) / 2 - 8, (width + floor) / 2 + 8
    canvas.path(
        f"M{a:g} {y + 22:g}Q{a + 22:g} {y + 20:g} {a + 34:g} {y:g}H{b - 34:g}"
        f"Q{b - 22:g} {y + 20:g} {b:g} {y + 22:g}z",
        fill=ROOF,
    )
    canvas.text(width / 2, y + 16, title, size=12, fill="#ffffff", bold=True, anchor="middle")
    return y + 28


def _card(width: Number, height: Number) -> Canvas:
    canvas = Canvas(width, height)
    canvas.rect(0, 0, width, height, rx=7, fill="#ffffff", stroke=EDGE)
    return canvas


def _daimyo(game: CastleGame, width: Number) -> Canvas:
    canvas = _card(width, 82)
    component = game.tables.of(game.daimyo)
    each = (width - 16) / len(component.slots)
    for number, (effect, holder) in enumerate(zip(component.slots, game.slots, strict=True)):
        drawn = Canvas()
        drawn.rect(3, 8, each - 6, 48, rx=5, fill="#f7f1e3", stroke=EDGE)
        Pen(drawn, 10, 25, size=11).effect(effect, limit=each - 3)
        if holder:
            badge(drawn, holder - 1, each / 2, 43)
        else:
            drawn.text(each / 2, 44, f"slot {number + 1}", size=11, fill=MUTED, anchor="middle")
        canvas.place(drawn, 8 + each * number, 0, mark=f"daimyo slot {number + 1}")
    late = facts.courtiers_without_slot(game)
    if late:
        canvas.text(10, 72, "without a slot", size=10, fill=MUTED)
        members(canvas, late, 92, 68)
    small_id(canvas, component, width - 120, 72, 112)
    return canvas


def _room(game: CastleGame, room: int, width: Number) -> Canvas:
    space, number = game.tables.spaces[room], game.rooms[room]
    canvas = _card(width, 46 + ROW * game.tables.slot_room.count(room) + 46)
    canvas.text(10, 20, spoken(space.name), size=12, bold=True)
    dice_space(canvas, space.printed, facts.dice_on(game, room), width - 9, 10)
    if number:
        card = game.tables.of(number)
        small_id(canvas, card, 10, 35, width - 84)
        for place in range(len(card.rows)):
            _row(game, canvas, room, place)
    else:
        canvas.text(10, 35, "no card", size=10, fill=MUTED)
    for place in range(game.tables.slot_room.count(room)):
        _tile(game, canvas, room, place)
    members(canvas, facts.courtiers_at(game, IN_ROOM + room), 8, canvas.height - 20)
    return canvas


def _row(game: CastleGame, canvas: Canvas, room: int, place: int) -> None:
    card = game.tables.of(game.rooms[room])
    y = 46 + ROW * place
    bar = Canvas()
    row_bar(bar, card.rows[place], 7 + TILE + 4, y, (canvas.width - TILE - 18, TILE))
    names = ROW_NAMES if len(card.rows) == len(ROW_NAMES) else ("first", "second")
    canvas.place(bar, 0, 0, mark=f"{game.tables.spaces[room].name} {names[place]}")


def _tile(game: CastleGame, canvas: Canvas, room: int, place: int) -> None:
    """The die tile beside a row; it lies there while the room waits for its next card, too."""
    tile = facts.tile_beside(game, room, place)
    if tile is not None:
        drawn = Canvas()
        die_tile(drawn, COLOUR_NAMES[tile.colour], 0, 0, TILE)
        canvas.place(drawn, 7, 46 + ROW * place, title=name(tile))


def _well(game: CastleGame, width: Number) -> Canvas:
    canvas = _card(width, GROUND)
    space = game.tables.spaces[WELL_SPACE]
    pen = Pen(canvas, 10, 21)
    pen.icon("well")
    pen.word("Well", bold=True)
    canvas.text(
        width - 10, 21, f"printed {space.printed}, any colour", size=11, fill=MUTED, anchor="end"
    )
    Pen(canvas, 10, 44).effects(game.well[:1])
    pen = Pen(canvas, 82, 44)
    for tile in facts.well_tiles(game):
        drawn = Canvas()
        drawn.rect(0, 0, 74, 23, rx=4, fill="#dcecef", stroke="#7aa9b2")
        Pen(drawn, 6, 16, size=11).effect(tile.faces[0], limit=74)
        canvas.place(drawn, pen.x, 28, title=name(tile))
        pen.x += 80
    found = facts.dice_on(game, WELL_SPACE)
    if not found:
        canvas.text(10, 82, "no die yet", size=11, fill=MUTED)
    for number, each in enumerate(found):
        draw_die(canvas, each, 10 + number * min(30, (width - 44) / len(found)), 64)
    return canvas


def _gate(game: CastleGame, width: Number) -> Canvas:
    canvas = _card(width, GROUND)
    canvas.text(10, 21, "Gate", size=12, bold=True)
    points = game.tables.courtier_points[0]
    canvas.text(width - 10, 21, f"{points} VP a courtier", size=11, fill=MUTED, anchor="end")
    found = facts.courtiers_at(game, AT_GATE)
    if not found:
        canvas.text(10, 60, "nobody waits here", size=11, fill=MUTED)
    members(canvas, found, 8, 56)
    return canvas
