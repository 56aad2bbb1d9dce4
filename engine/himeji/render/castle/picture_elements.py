"""What the panels of a castle picture show: rows of cards, dice, backs of cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.render.canvas import Canvas, Number, width_of
from himeji.render.castle.phrases import price
from himeji.render.icons import Die, die_slot, draw_die
from himeji.render.palette import DARK_ROW, INK, LIGHT_ROW, ON_DARK
from himeji.render.panels import ENDLESS, Pen
from himeji.render.phrases import name, phrase
from himeji.rules.castle.components import Component, Row
from himeji.rules.constants import GOOD_NAMES

SPACE: Final = 28
OVERLAP: Final = 0.72  # of a die, to the right, when it lies on another
SMALLER: Final = (11, 10, 9)  # sizes of words in a narrow row


def _write_row(pen: Pen, row: Row, paid: str, limit: Number = ENDLESS) -> Number:
    """A row with its price, if it has one; returns where it ends."""
    if row.cost:
        pen.icon(GOOD_NAMES[row.cost_good])
        pen.word(f"{paid} →")
    pen.effects(row.gives, limit=limit)
    return pen.x


def row_bar(canvas: Canvas, row: Row, x: Number, y: Number, area: tuple[Number, Number]) -> None:
    """A row of a card: dark rows are dark with light words and a bar at the edge."""
    width, height = area
    ground, ink = (DARK_ROW, ON_DARK) if row.dark else (LIGHT_ROW, INK)
    canvas.rect(x, y, width, height, rx=4, fill=ground, stroke="#d9c383" if not row.dark else None)
    # In a narrow row the icon alone says what the price is paid in.
    fits = _write_row(Pen(Canvas(), 8, 0, fill=ink), row, price(row)) <= width
    paid, start = (price(row), 8) if fits else (str(row.cost), 4)
    size = (
        12
        if fits
        else next(
            (
                s
                for s in SMALLER
                if _write_row(Pen(Canvas(), 4, 0, size=s, fill=ink), row, paid) <= width
            ),
            SMALLER[-1],
        )
    )
    pen = Pen(canvas, x + start, y + height / 2 + 4.5, size=size, fill=ink)
    _write_row(pen, row, paid, x + width)


def dice_space(canvas: Canvas, printed: int, dice: Sequence[Die], right: Number, y: Number) -> None:
    """A space for dice that ends at `right`: its printed value, or the dice, a later one on top."""
    x = right - SPACE * (1 + OVERLAP * max(len(dice) - 1, 0))
    if not dice:
        die_slot(canvas, printed, x, y, SPACE)
    for number, die in enumerate(dice):
        draw_die(canvas, die, x + number * SPACE * OVERLAP, y - number * 3, SPACE)


def chips(
    canvas: Canvas, cards: Sequence[Component], x: Number, y: Number, right: Number
) -> Number:
    """What the backs of cards shine with, each in a frame; returns the lower edge."""
    left, height = x, 24
    for card in cards:
        width = sum(width_of(phrase(e), 12) + 27 for e in card.lantern) + 8
        if x + width > right and x > left:
            x, y = left, y + height + 5
        chip = Canvas()
        chip.rect(0, 0, width, height, rx=12, fill="#fdebd2", stroke="#e2a45c")
        Pen(chip, 8, 16.5).effects(card.lantern, limit=width)
        canvas.place(chip, x, y, title=name(card))
        x += width + 6
    return y + height
