"""Small plots as SVG: lines over numbers, drawn without any library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 640
HEIGHT: Final = 320
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 50
COLOURS: Final = ("#1f5f8b", "#b5452c", "#4f7f3a", "#7a4f8f")
_INK: Final = "#333333"
_GRID: Final = "#dddddd"

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """One line of a plot."""

    name: str
    points: Sequence[Point]


def plot(title: str, across: str, up: str, lines: Sequence[Series]) -> str:
    """A plot with its axes from 0; the names of the axes have their units."""
    every = [point for line in lines for point in line.points]
    most_x = _ceiling(max((x for x, _ in every), default=1.0))
    most_y = _ceiling(max((y for _, y in every), default=1.0))

    def place(point: Point) -> tuple[float, float]:
        x = LEFT + point[0] / most_x * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - point[1] / most_y * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    parts = [_text(LEFT, 20, title, "start", size=15)]
    for step in range(5):
        share = step / 4
        x, _ = place((share * most_x, 0))
        _, y = place((0, share * most_y))
        parts.append(_rule((LEFT, y), (WIDTH - RIGHT, y)))
        parts.append(_text(LEFT - 6, y + 4, _number(share * most_y), "end"))
        parts.append(_text(x, HEIGHT - BOTTOM + 16, _number(share * most_x), "middle"))
    parts.append(_text((WIDTH + LEFT) / 2, HEIGHT - 12, across, "middle"))
    parts.append(_text(LEFT, 35, up, "start"))
    for number, line in enumerate(lines):
        parts += _drawn([place(each) for each in line.points], COLOURS[number % len(COLOURS)])
        parts.append(
            _text(WIDTH - RIGHT, 20 + 14 * number, line.name, "end", colour=COLOURS[number % 4])
        )
    return _sheet(title, parts)


def _sheet(title: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif">'
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>\n"])


def _drawn(places: Sequence[tuple[float, float]], colour: str) -> list[str]:
    path = " ".join(f"{x},{y}" for x, y in places)
    dots = [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places]
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    return [line, *(dots if len(dots) <= 40 else [])]


def _rule(start: tuple[float, float], end: tuple[float, float]) -> str:
    (a, b), (c, d) = start, end
    return f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}" stroke="{_GRID}"/>'


def _text(  # noqa: PLR0913 - all that a text needs
    x: float, y: float, words: str, anchor: str, *, size: int = 11, colour: str = _INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{escape(words)}</text>'
    )


def _ceiling(value: float) -> float:
    """The next round number."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(value))
    return float(next(each * scale for each in (1, 2, 2.5, 4, 5, 8, 10) if value <= each * scale))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
