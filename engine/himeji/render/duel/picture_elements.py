"""What the panels of a Duel picture show: tokens, prices, icons, influence cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.render.canvas import Canvas, Number, width_of, wrapped
from himeji.render.duel import facts
from himeji.render.icons import icon
from himeji.render.palette import DICE, EDGE, MUTED
from himeji.render.panels import Pen, small_id
from himeji.render.phrases import parted, phrase
from himeji.rules.constants import GOOD_NAMES
from himeji.rules.duel.components import ANY_PIECE, ANY_RESOURCE, Component, Price
from himeji.rules.duel.constants import ICON_NAMES

CARD: Final = (152, 132)
SUIT_FILLS: Final = ("#dbe8f6", "#dfeeda", "#f8dfd6")  # flags blue, weapons green, origami coral


def token(canvas: Canvas, colour: str, x: Number, y: Number, radius: Number = 13) -> None:
    """A Lantern token, centred on a point; its letter repeats its colour."""
    look, drawn = DICE[colour], Canvas()
    drawn.circle(0, 0, radius, fill=look.fill, stroke=look.edge, stroke_width=1.6)
    drawn.text(0, radius * 0.4, look.letter, size=radius, fill=look.ink, bold=True, anchor="middle")
    canvas.place(drawn, x, y, title=f"{colour} token")


def currency(price: Price) -> str:
    """The word of what a price is paid in."""
    if price.good == ANY_PIECE:
        return "coin/seal"
    return "any" if price.good == ANY_RESOURCE else GOOD_NAMES[price.good]


def write_icons(pen: Pen, found: Sequence[int]) -> None:
    """Icons that score, each as often as it counts."""
    for number, count in enumerate(found):
        for _ in range(count):
            pen.icon(ICON_NAMES[number])


def influence_card(card: Component, remark: str) -> Canvas:
    """The front of an influence card: price, scroll, preview of its icons."""
    width, height = CARD
    canvas = Canvas(width, height)
    canvas.rect(0, 0, width, height, rx=8, fill=SUIT_FILLS[card.suit], stroke=EDGE)
    pen = Pen(canvas, 8, 20)
    pen.word(str(card.price.amount), bold=True)
    pen.icon(currency(card.price))
    icons = Pen(canvas, width - 6 - 19 * sum(card.icons), 20)
    write_icons(icons, card.icons)
    canvas.rect(6, 30, width - 12, 70, rx=5, fill="#fffdf4", stroke=EDGE)
    y = 47
    if card.cost.amount:
        pen = Pen(canvas, 12, y)
        pen.icon(currency(card.cost))
        pen.word(f"{facts.price(card.cost)} →")
        y += 20
    for number, effect in enumerate(card.gives):
        icon(canvas, parted(effect)[1], 12, y - 12, 15)
        lines = wrapped(phrase(effect).split(" "), 11, width - 50)
        for line in lines:
            canvas.text(32, y, line if line != lines[0] or not number else f"+ {line}", size=11)
            y += 15
        y += 4
    small_id(canvas, card, 8, height - 20, width - 12)
    canvas.text(8, height - 7, remark, size=10, fill=MUTED)
    return canvas


def tile(canvas: Canvas, x: Number, y: Number, size: tuple[Number, Number], fill: str) -> None:
    """The ground of a tile."""
    canvas.rect(x, y, size[0], size[1], rx=7, fill=fill, stroke=EDGE)


def centred(canvas: Canvas, text: str, x: Number, y: Number, width: Number) -> None:
    """A small text in the middle of a width, on several lines if it must."""
    for number, line in enumerate(wrapped(text.split(" "), 11, width)):
        canvas.text(x + width / 2, y + 13 * number, line, size=11, anchor="middle")


def chip_width(text: str) -> Number:
    """How wide a chip with an icon and a text is."""
    return width_of(text, 12) + 34
