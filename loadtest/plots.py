"""Small line plots as SVG, drawn on the canvas that boards are drawn on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji.render.canvas import Canvas, document

WIDTH: Final = 640
HEIGHT: Final = 320
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 50
COLOURS: Final = ("#1f5f8b", "#b5452c", "#4f7f3a", "#7a4f8f")
MAX_DOTS: Final = 40
"""A series with more points is drawn as a line alone."""

_GRID: Final = "#dddddd"
_STEPS: Final = 4
_TITLE_SIZE: Final = 15
_LABEL_SIZE: Final = 11

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Points that are joined by a line, with a name for the legend."""

    name: str
    points: Sequence[Point]


def plot(title: str, x_label: str, y_label: str, series: Sequence[Series]) -> str:
    """A plot whose axes start at 0; their labels have the units."""
    every = [point for each in series for point in each.points]
    max_x = _ceiling(max((x for x, _ in every), default=1.0))
    max_y = _ceiling(max((y for _, y in every), default=1.0))

    def place(point: Point) -> Point:
        x = LEFT + point[0] / max_x * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - point[1] / max_y * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    canvas = Canvas(WIDTH, HEIGHT)
    canvas.rect(0, 0, WIDTH, HEIGHT, fill="#ffffff")
    canvas.text(LEFT, 20, title, size=_TITLE_SIZE)
    for step in range(_STEPS + 1):
        x_value, y_value = step / _STEPS * max_x, step / _STEPS * max_y
        x, y = place((x_value, y_value))
        canvas.add("line", x1=LEFT, y1=y, x2=WIDTH - RIGHT, y2=y, stroke=_GRID)
        canvas.text(LEFT - 6, y + 4, _number(y_value), size=_LABEL_SIZE, anchor="end")
        canvas.text(x, HEIGHT - BOTTOM + 16, _number(x_value), size=_LABEL_SIZE, anchor="middle")
    canvas.text((WIDTH + LEFT) / 2, HEIGHT - 12, x_label, size=_LABEL_SIZE, anchor="middle")
    canvas.text(LEFT, 35, y_label, size=_LABEL_SIZE)
    for number, each in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        _draw(canvas, [place(point) for point in each.points], colour)
        canvas.text(
            WIDTH - RIGHT, 20 + 14 * number, each.name, size=_LABEL_SIZE, anchor="end", fill=colour
        )
    return document(canvas, title, f"{y_label} against {x_label}")


def _draw(canvas: Canvas, places: Sequence[Point], colour: str) -> None:
    points = " ".join(f"{x},{y}" for x, y in places)
    canvas.add("polyline", points=points, fill="none", stroke=colour, stroke_width=2)
    for x, y in places if len(places) <= MAX_DOTS else ():
        canvas.circle(x, y, 3, fill=colour)


def _ceiling(value: float) -> float:
    """The next round number."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(value))
    return float(next(each * scale for each in (1, 2, 2.5, 4, 5, 8, 10) if value <= each * scale))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
