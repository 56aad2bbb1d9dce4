"""The head of a castle picture (title, question, draft, track), and its legend."""

from __future__ import annotations

from typing import Final

from himeji.render import panels
from himeji.render.canvas import Canvas, Number, width_of
from himeji.render.castle import facts
from himeji.render.castle.facts_matcha import offered_tiles
from himeji.render.castle.phrases import LEGEND
from himeji.render.castle.picture_elements import chips, row_bar
from himeji.render.icons import badge, draw_die
from himeji.render.palette import (
    BLUE_FACE,
    CLANS,
    DARK_ROW,
    DICE,
    EDGE,
    FAINT,
    INK,
    LIGHT_ROW,
    MUTED,
    PANEL,
    SEAL_RED,
)
from himeji.render.panels import PAD, Pen, panel, small_id
from himeji.render.phrases import amount, phrases
from himeji.render.situation import people, who
from himeji.rules.castle.components import Component
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES

CHIP: Final = 134
MARKER: Final = 22
PAIR_HEIGHT: Final = 150
TILE_HEIGHT: Final = 40


def title_line(game: CastleGame, width: Number) -> list[Canvas]:
    """What is played, where in it we are, and the scores in turn order."""
    canvas = Canvas(width, 58)
    canvas.text(4, 28, facts.GAME_TITLE, size=24, bold=True)
    canvas.text(4, 49, f"ruleset {game.rules.name}, {people(game)}", size=13, fill=MUTED)
    for number in range(1, game.rules.rounds + 1):
        done = game.over or number < game.round
        fill = INK if number == game.round and not game.over else MUTED if done else PANEL
        canvas.circle(324 + 26 * number, 22, 10, fill=fill, stroke=MUTED)
        ink = MUTED if fill == PANEL else "#ffffff"
        canvas.text(
            324 + 26 * number, 26, str(number), size=11, fill=ink, bold=True, anchor="middle"
        )
    canvas.text(338, 49, facts.occasion(game).capitalize(), size=13, fill=MUTED)
    x = width - CHIP * game.clans - 6 * (game.clans - 1)
    canvas.text(x - 12, 33, "Turn order", size=12, fill=MUTED, anchor="end")
    scores = game.scores()
    for place, seat in enumerate(game.order):
        at = x + (CHIP + 6) * place
        canvas.rect(at, 6, CHIP, 44, rx=8, fill=CLANS[seat].tint, stroke=CLANS[seat].fill)
        badge(canvas, seat, at + 22, 28, 12)
        canvas.text(at + 42, 24, f"{place + 1}. {who(game, seat)}", size=12, fill=MUTED)
        canvas.text(at + 42, 42, f"{scores[seat]} points", size=14, bold=True)
    return [canvas]


def banner(game: CastleGame, width: Number) -> list[Canvas]:
    """The question with its answers, and the die in hand."""
    hand = facts.in_hand(game)
    if not hand:
        return [panels.banner(game, width)]
    canvas = panels.banner(game, width, 276)
    found, source = hand
    right, at = width - 296, canvas.height / 2
    draw_die(canvas, found, right + 16, at - 17, 34)
    canvas.text(right + 60, at - 3, "Die in hand", size=12, bold=True)
    canvas.text(right + 60, at + 13, source, size=11, fill=MUTED)
    return [canvas]


def draft(game: CastleGame, width: Number) -> list[Canvas]:
    """The starting pairs that can still be picked."""
    found = facts.pairs(game)
    if not found:
        return []
    remark = "gains are taken at once; backs shine in the Lantern Area"
    canvas = panel(width, "Starting pairs", remark)
    each = (width - PAD) / max(len(found), 3) - PAD
    for place, pair in enumerate(found):
        mark = f"pair {pair.number}"
        canvas.place(_pair(game, each, pair), PAD + (each + PAD) * place, 36, mark=mark)
    canvas.height = 36 + _pair_height(game) + PAD
    return [canvas]


def _pair_height(game: CastleGame) -> Number:
    return PAIR_HEIGHT + (TILE_HEIGHT if offered_tiles(game) else 0)


def _pair(game: CastleGame, width: Number, pair: facts.Offered) -> Canvas:
    canvas = Canvas(width, _pair_height(game))
    canvas.rect(0, 0, width, canvas.height, rx=7, fill="#ffffff", stroke=EDGE)
    canvas.text(10, 20, f"Pair {pair.number}", size=13, bold=True)
    if pair.resource is not None:
        _resource(game, canvas, pair.resource)
    if pair.action is not None:
        row_bar(canvas, pair.action.rows[0], 10, 74, (width - 20, 22))
        small_id(canvas, pair.action, width / 2, 142, width / 2 - 8)
    if pair.tile is not None:
        canvas.rect(10, 150, width - 20, 22, rx=4, fill=BLUE_FACE, stroke=EDGE)
        Pen(canvas, 16, 165, size=10).effects(pair.tile.rows[0].gives, limit=width - 10)
        small_id(canvas, pair.tile, 10, 184, width - 20)
    return canvas


def _resource(game: CastleGame, canvas: Canvas, resource: Component) -> None:
    """Gains of a starting resource card, and what it shines with."""
    width = canvas.width
    pen = Pen(canvas, 10, 42)
    for effect in resource.gives:
        if pen.x + width_of(phrases([effect]), 12) + 26 > width:
            pen.x, pen.y = 10, pen.y + 20
        pen.effect(effect)
        pen.x += 4
    decree = facts.decree_of(game, resource)
    cards = [resource, *([decree] if decree else [])]
    canvas.text(10, 118, "Lantern", size=11, fill=MUTED)
    chips(canvas, cards, 62, 102, width - 4)
    small_id(canvas, resource, 10, 142, width / 2 - 12)


def track(game: CastleGame, width: Number) -> list[Canvas]:
    """The Passage of Time with the markers in their stacks."""
    prices, points = game.tables.checkpoint, game.tables.track_points
    canvas = panel(width, "Passage of Time", "on one space the upper marker is ahead in turn order")
    step = (width - 2 * PAD) / len(prices)
    tall = MARKER * game.clans + 8
    top = 36
    for position, seals in enumerate(prices):
        x = PAD + step * position
        canvas.rect(x + 2, top, step - 4, tall + 20, rx=5, fill=FAINT)
        canvas.text(x + step / 2, top + tall + 14, str(position), bold=True, anchor="middle")
        canvas.text(
            x + step / 2,
            top + tall + 35,
            f"{points[position]} VP",
            size=10,
            fill=MUTED,
            anchor="middle",
        )
        for level, seat in enumerate(facts.markers_at(game, position)):
            badge(canvas, seat, x + step / 2, top + tall - MARKER / 2 - level * MARKER, 9.5)
        if seals:
            canvas.rect(x - 2, top - 6, 4, tall + 32, rx=2, fill=SEAL_RED)
            pen = Pen(canvas, x - 34, top - 12, size=11, fill=SEAL_RED)
            pen.icon("seal")
            pen.word(amount(seals, "seal"), bold=True)
    canvas.height = top + tall + 46
    return [canvas]


def legend_below(game: CastleGame, width: Number) -> list[Canvas]:
    """The legend below everything, where the domains fill their rows."""
    return [] if game.clans % 2 else [_legend(game, width)]


def legend_beside(game: CastleGame, width: Number) -> list[Canvas]:
    """The legend in the place that an odd number of domains leaves free."""
    return [_legend(game, width)] if game.clans % 2 else []


def _legend(game: CastleGame, width: Number) -> Canvas:
    colours = [COLOUR_NAMES[colour] for colour in game.rules.colours]
    letters = ", ".join(f"{DICE[colour].letter} {colour}" for colour in colours)
    grounds = ((LIGHT_ROW, "light row"), (DARK_ROW, "dark row"))
    covered = "a covered cell of a domain shows the member who still lives there"
    notes = (f"on dice and tiles: {letters}", covered)
    return panels.legend(game, panels.Key(LEGEND, grounds, notes), width)
