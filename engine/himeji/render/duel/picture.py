"""A position of Duel as SVG: panels in bands and columns, on one sheet."""

from __future__ import annotations

from typing import Final

from himeji.render import panels
from himeji.render.canvas import Canvas, Number, wrapped
from himeji.render.duel import facts
from himeji.render.duel.picture_board import castle, grounds, left_path, market, right_path
from himeji.render.duel.picture_seats import left_seat, right_seat
from himeji.render.icons import badge
from himeji.render.layout import Band, Column, band, sheet_of
from himeji.render.palette import CLANS, DICE, EDGE, MUTED
from himeji.render.panels import PAD, Pen, panel, small_id
from himeji.render.phrases import amount, phrase
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES
from himeji.rules.duel.components import Component
from himeji.rules.duel.state import DuelGame

CHIP: Final = 150
START: Final = 110
LEGEND: Final = {
    "food": "food",
    "iron": "iron",
    "pearl": "pearl",
    "any": "any of these three",
    "coin": "coin",
    "seal": "Daimyo Seal",
    "coin/seal": "coin or seal",
    "vp": "VP, a point",
    "swap": "swap tile",
    "lantern any": "activate a zone",
    "lantern-card": "lantern card",
    "lantern-card activate": "lantern card, then its zone",
    "buy": "buy a card",
    "free-card": "a card, free",
    "improve": "improve",
    "well": "Well",
    "garden": "garden",
    "training": "training",
    "courtier": "courtier",
    "trade": "trade",
    "flag": "flag",
    "katana": "katana",
    "kabuto": "kabuto",
    "white crane": "white crane",
    "blue crane": "blue crane",
}
"""What the picture explains, by the word of the vocabulary or the name of the icon."""


def title_line(game: DuelGame, width: Number) -> list[Canvas]:
    """What is played, where in it we are, and the scores."""
    canvas = Canvas(width, 58)
    canvas.text(4, 28, game.rules.title, size=24, bold=True)
    about = f"ruleset {game.rules.name}, layout {game.options['layout']}"
    canvas.text(4, 49, about, size=13, fill=MUTED)
    canvas.text(420, 28, facts.occasion(game).capitalize(), size=16, bold=True)
    canvas.text(420, 49, f"starting player: seat {game.starter}", size=13, fill=MUTED)
    scores = game.scores()
    for seat in range(game.clans):
        at = width - (CHIP + 6) * (game.clans - seat) + 6
        canvas.rect(at, 6, CHIP, 44, rx=8, fill=CLANS[seat].tint, stroke=CLANS[seat].fill)
        badge(canvas, seat, at + 22, 28, 12)
        canvas.text(at + 42, 24, f"seat {seat}", size=12, fill=MUTED)
        canvas.text(at + 42, 42, amount(scores[seat], "point"), size=14, bold=True)
    return [canvas]


def banner(game: DuelGame, width: Number) -> list[Canvas]:
    """The question with its answers."""
    return [panels.banner(game, width)]


def draft(game: DuelGame, width: Number) -> list[Canvas]:
    """The start cards that can still be picked."""
    found = [(place, game.tables.of(card)) for place, card in enumerate(game.offers) if card]
    if not found:
        return []
    remark = "gains are taken at once; the back joins the Lantern zone of its colour"
    canvas = panel(width, "Start cards", remark)
    each = (width - PAD) / len(game.offers) - PAD
    for place, card in found:
        mark = f"start card {place + 1}"
        canvas.place(_start_card(card, place, each), PAD + (each + PAD) * place, 36, mark=mark)
    canvas.height = 36 + START + PAD
    return [canvas]


def _start_card(card: Component, place: int, width: Number) -> Canvas:
    canvas = Canvas(width, START)
    canvas.rect(0, 0, width, START, rx=7, fill="#ffffff", stroke=EDGE)
    canvas.text(10, 20, f"Start card {place + 1}", size=13, bold=True)
    gains = wrapped([phrase(effect) for effect in card.gives], 12, width - 20, ", ")
    for number, line in enumerate(gains):
        canvas.text(10, 42 + 17 * number, line)
    pen = Pen(canvas, 10, 82)
    pen.icon(f"lantern {COLOUR_NAMES[card.colour]}")
    pen.icon(GOOD_NAMES[card.good])
    pen.word(facts.shines(card))
    small_id(canvas, card, 10, START - 8, width - 20)
    return canvas


def legend(game: DuelGame, width: Number) -> list[Canvas]:
    """What icons and marks mean."""
    colours = ", ".join(f"{DICE[word].letter} {word}" for word in COLOUR_NAMES[:3])
    notes = (f"on tokens: {colours}", f"Well: {facts.WELL}", f"trade: {facts.trades(game)}")
    return [panels.legend(game, panels.Key(LEGEND, (), notes), width)]


BANDS: Final = (
    band(title_line, bare=True),
    band(banner, bare=True),
    band(draft),
    Band(
        (Column(228, (left_path,)), Column(760, (castle,)), Column(228, (right_path,))), level=True
    ),
    band(grounds),
    band(market),
    Band((Column(614, (left_seat,)), Column(614, (right_seat,)))),
    band(legend),
)
"""The sheet, top to bottom."""


def svg(game: DuelGame) -> str:
    """The whole position as one document."""
    return sheet_of(game, BANDS, game.rules.title, facts.occasion(game))
