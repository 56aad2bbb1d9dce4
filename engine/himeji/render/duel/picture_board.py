"""The board of Duel in the picture: castle, gardens, yards, paths, lantern cards, merchandise."""

from __future__ import annotations

from typing import Final

from himeji.render.canvas import Canvas, Number
from himeji.render.duel import facts
from himeji.render.duel.picture_elements import (
    CARD,
    centred,
    influence_card,
    tile,
    token,
    write_icons,
)
from himeji.render.icons import badge, icon
from himeji.render.palette import DICE, EDGE, FAINT, MUTED, ROOF
from himeji.render.panels import PAD, Pen, members, panel, small_id
from himeji.render.phrases import parted, phrase
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, SIDE_NAMES
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLUMN_NAMES,
    COLUMNS,
    DECK_NAMES,
    LOCATION_NAMES,
    SLOT_NAMES,
    STACK_NAMES,
    STACKS,
    STONE_COLUMNS,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.state import DuelGame

ACTION: Final = 76
LOCATION: Final = 78
FLOOR: Final = 158
GARDEN_FILLS: Final = ("#e7e8ea", "#e6f0da")  # stone, plant
SPACE: Final = 44
GROUND: Final = (143, 126)


# --- the castle -------------------------------------------------------------------------------


def castle(game: DuelGame, width: Number) -> list[Canvas]:
    """Three floors under their roofs: action slots, Locations with tokens, decks."""
    canvas = panel(width, "Castle", "a token lies between two actions; the covered colour pays")
    y: Number = 44
    for places in facts.FLOORS:
        cells = [_place(game, place) for place in places]
        across = sum(cell.width for cell in cells) + 6 * (len(cells) - 1)
        x = (width - across) / 2
        canvas.path(f"M{x - 12:g} {y + 12:g}l14 -12h{across - 4:g}l14 12z", fill=ROOF, stroke=ROOF)
        for place, cell in zip(places, cells, strict=True):
            canvas.place(cell, x, y + 18, mark=place)
            x += cell.width + 6
        y += FLOOR
    canvas.height = y + 6
    return [canvas]


def _place(game: DuelGame, place: str) -> Canvas:
    if place in LOCATION_NAMES:
        return _location(game, LOCATION_NAMES.index(place))
    slot = SLOT_NAMES.index(place)
    return _action(game, slot) if slot < ACTIVATION_SLOTS else _deck(game, slot - ACTIVATION_SLOTS)


def _action(game: DuelGame, slot: int) -> Canvas:
    canvas, word = Canvas(ACTION, CARD[1]), facts.action_in(game, slot)
    canvas.text(ACTION / 2, 12, SLOT_NAMES[slot], size=11, fill=MUTED, anchor="middle")
    drawn = Canvas(ACTION, 84)
    tile(drawn, 0, 0, (ACTION, 84), "#fff6e0")
    icon(drawn, word, ACTION / 2 - 17, 10, 34)
    drawn.text(ACTION / 2, 66, word, size=12, bold=True, anchor="middle")
    canvas.place(drawn, 0, 24, title=game.tables.of(game.slots[slot]).id)
    return canvas


def _location(game: DuelGame, location: int) -> Canvas:
    canvas, colour = Canvas(LOCATION, CARD[1]), facts.tile_colour(game, location)
    look = DICE[colour]
    canvas.text(LOCATION / 2, 12, LOCATION_NAMES[location], size=11, fill=MUTED, anchor="middle")
    drawn = Canvas()
    drawn.rect(8, 18, LOCATION - 16, 90, rx=34, fill=FAINT, stroke=EDGE)
    drawn.rect(20, 80, LOCATION - 40, 22, rx=4, fill=look.fill, stroke=look.edge, stroke_width=1.4)
    drawn.text(LOCATION / 2, 95, colour, size=11, fill=look.ink, bold=True, anchor="middle")
    canvas.place(drawn, 0, 0, title=game.tables.of(game.locations[location]).id)
    for number, word in enumerate(facts.tokens_on(game, location)):
        token(canvas, word, LOCATION / 2, 68 - 17 * number, 12)
    return canvas


def _deck(game: DuelGame, deck: int) -> Canvas:
    top, canvas = game.tops[deck], Canvas(*CARD)
    if top:
        remark = f"{DECK_NAMES[deck]}, {game.below[deck]} below"
        return influence_card(game.tables.of(top), remark)
    tile(canvas, 0, 0, CARD, FAINT)
    icon(canvas, "well", CARD[0] / 2 - 17, 30, 34)
    canvas.text(CARD[0] / 2, 86, "empty: Well", size=12, bold=True, anchor="middle")
    canvas.text(8, CARD[1] - 7, DECK_NAMES[deck], size=10, fill=MUTED)
    return canvas


# --- paths ------------------------------------------------------------------------------------


def left_path(game: DuelGame, width: Number) -> list[Canvas]:
    """The left social path."""
    return [_path(game, 0, width)]


def right_path(game: DuelGame, width: Number) -> list[Canvas]:
    """The right social path."""
    return [_path(game, 1, width)]


def _path(game: DuelGame, side: int, width: Number) -> Canvas:
    canvas = panel(width, f"{SIDE_NAMES[side].capitalize()} path")
    y: Number = 38
    for space in reversed(facts.spaces()):
        fill = ("#ffffff", "#fbf7ec", "#e3e3e5", "#f6e7bd")[facts.level_of(space)]
        canvas.rect(PAD, y, width - 2 * PAD, SPACE - 6, rx=6, fill=fill, stroke=EDGE)
        canvas.text(PAD + 8, y + 16, str(space), size=11, bold=True)
        canvas.text(PAD + 8, y + 31, f"flag x{facts.level_of(space)}", size=10, fill=MUTED)
        _reward(game, canvas, side, space, y)
        for number, seat in enumerate(facts.seats_on(game, side, space)):
            badge(canvas, seat, width - PAD - 16 - 24 * number, y + SPACE / 2 - 3)
        y += SPACE
    canvas.text(PAD + 8, y + 18, "Castle Gate", size=11, fill=MUTED)
    for number, seat in enumerate(facts.seats_on(game, side, 0)):
        badge(canvas, seat, width - PAD - 16 - 24 * number, y + 14)
    for number in range(2):
        social = game.tables.of(game.social[2 * side + number])
        small_id(canvas, social, PAD + 8 + 96 * number, y + 40, 92)
    whole = Canvas(width, y + 52)
    whole.place(canvas, 0, 0, mark=",".join(f"{SIDE_NAMES[side]} {steps}" for steps in (1, 2)))
    return whole


def _reward(game: DuelGame, canvas: Canvas, side: int, space: int, y: Number) -> None:
    effects = game.reward_of_space(side, space)
    if not effects:
        canvas.text(PAD + 62, y + 23, facts.BLANK, size=12, fill=MUTED)
    for effect in effects:
        icon(canvas, parted(effect)[1], PAD + 60, y + 10, 18)
        words = phrase(effect) + facts.printed_mark(game, space)
        canvas.text(PAD + 84, y + 23, words, size=11)


# --- gardens and yards ------------------------------------------------------------------------


def grounds(game: DuelGame, width: Number) -> list[Canvas]:
    """The garden columns and the training yards, side by side."""
    canvas = panel(width, "Gardens and training yards", "Clan Seals lie where they were placed")
    step = (width - 2 * PAD + 8) / (COLUMNS + YARDS)
    for column in range(COLUMNS):
        canvas.place(_garden(game, column), PAD + step * column, 36, mark=COLUMN_NAMES[column])
    for yard in range(YARDS):
        x = PAD + step * (COLUMNS + yard)
        canvas.place(_yard(game, yard), x, 36, mark=YARD_NAMES[yard])
    canvas.height = 36 + GROUND[1] + PAD
    return [canvas]


def _garden(game: DuelGame, column: int) -> Canvas:
    canvas, effect = Canvas(*GROUND), facts.garden_face(game, column)
    tile(canvas, 0, 0, GROUND, GARDEN_FILLS[int(column >= STONE_COLUMNS)])
    pen = Pen(canvas, 8, 19)
    pen.word(COLUMN_NAMES[column], bold=True)
    pen.word(str(game.tables.column_food[column]))
    pen.icon("food")
    write_icons(Pen(canvas, GROUND[0] - 44, 19), game.tables.column_icons[column])
    icon(canvas, parted(effect)[1], 8, 32, 20)
    canvas.text(34, 47, phrase(effect), size=12)
    members(canvas, facts.seals_in_garden(game, column), 6, 76)
    small_id(canvas, game.tables.of(game.gardens[column]), 8, GROUND[1] - 8, GROUND[0] - 12)
    return canvas


def _yard(game: DuelGame, yard: int) -> Canvas:
    canvas, yard_tile = Canvas(*GROUND), game.tables.of(game.yards[yard])
    tile(canvas, 0, 0, GROUND, "#f2e4d4")
    pen = Pen(canvas, 8, 19)
    pen.word(YARD_NAMES[yard].capitalize(), bold=True)
    pen.word(str(game.tables.yard_iron[yard]))
    pen.icon("iron")
    pen.word(f"{game.tables.yard_spaces[yard]} spaces")
    for number, effect in enumerate(yard_tile.faces):
        icon(canvas, parted(effect)[1], 8, 29 + 22 * number, 17)
        text = phrase(effect)
        canvas.text(30, 42 + 22 * number, f"or {text}" if number else text, size=11)
    members(canvas, facts.seals_in_yard(game, yard), 6, 92)
    small_id(canvas, yard_tile, 8, GROUND[1] - 8, GROUND[0] - 12)
    return canvas


# --- what can be taken ------------------------------------------------------------------------


def market(game: DuelGame, width: Number) -> list[Canvas]:
    """The lantern cards on display and the merchandise."""
    remark = f"{len(game.lanterns)} lantern cards in the deck"
    canvas = panel(width, "Lantern cards and merchandise", remark)
    step = (width - 2 * PAD + 8) / (len(game.display) + STACKS)
    for place, number in enumerate(game.display):
        drawn = _lantern_card(game, number, step - 8)
        canvas.place(drawn, PAD + step * place, 36, mark=f"lantern card {place + 1}")
    for stack in range(STACKS):
        x = PAD + step * (len(game.display) + stack)
        canvas.place(_ware(game, stack, step - 8), x, 36, mark=STACK_NAMES[stack])
    canvas.height = 36 + 74 + PAD
    return [canvas]


def _lantern_card(game: DuelGame, number: int, width: Number) -> Canvas:
    canvas = Canvas(width, 74)
    tile(canvas, 0, 0, (width, 74), "#fdebd2" if number else FAINT)
    if not number:
        centred(canvas, "no card left", 0, 42, width)
        return canvas
    card = game.tables.of(number)
    icon(canvas, f"lantern {COLOUR_NAMES[card.colour]}", 10, 12, 26)
    pen = Pen(canvas, 46, 30, size=13)
    pen.icon(GOOD_NAMES[card.good])
    pen.word(facts.shines(card), bold=True)
    small_id(canvas, card, 10, 62, width - 14)
    return canvas


def _ware(game: DuelGame, stack: int, width: Number) -> Canvas:
    canvas, number = Canvas(width, 74), game.wares[stack]
    tile(canvas, 0, 0, (width, 74), "#efe6f5" if number else FAINT)
    price = f"{game.tables.trade_tile[stack]} any"
    canvas.text(10, 20, f"{STACK_NAMES[stack].capitalize()}, {price}", size=12, bold=True)
    if not number:
        canvas.text(10, 44, "sold out", size=12, fill=MUTED)
        return canvas
    ware = game.tables.of(number)
    write_icons(Pen(canvas, 10, 44, size=14), ware.icons)
    below = len(game.hidden_wares[stack])
    canvas.text(width - 10, 44, f"{below} below", size=10, fill=MUTED, anchor="end")
    small_id(canvas, ware, 10, 62, width - 14)
    return canvas
