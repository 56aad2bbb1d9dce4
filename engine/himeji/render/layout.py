"""How a picture is laid out: panels in bands and columns, on one sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from himeji.render.canvas import Canvas, Number, document
from himeji.render.palette import EDGE, PAPER
from himeji.render.panels import framed
from himeji.render.situation import asked, points, who
from himeji.rules.clans import ClanGame

MARGIN: Final = 20
GAP: Final = 12
FULL: Final = 1240

Maker = Callable[[Any, Number], list[Canvas]]
"""Draws the panels of one thing, none if the position does not have it."""


class Column(NamedTuple):
    """Panels one below the other."""

    width: Number
    makers: tuple[Maker, ...]


class Band(NamedTuple):
    """Columns side by side. `level` stretches panels so that all columns end on one line."""

    columns: tuple[Column, ...]
    bare: bool = False
    level: bool = False


def band(*makers: Maker, bare: bool = False) -> Band:
    """A band of one column."""
    return Band((Column(FULL, makers),), bare=bare)


def _height(panels: list[Canvas]) -> Number:
    return sum(panel.height for panel in panels) + GAP * max(len(panels) - 1, 0)


def _draw_band(sheet: Canvas, layout: Band, game: ClanGame, y: Number) -> Number:
    columns = [
        [panel for maker in column.makers for panel in maker(game, column.width)]
        for column in layout.columns
    ]
    tallest = max(_height(panels) for panels in columns)
    x: Number = MARGIN
    for column, panels in zip(layout.columns, columns, strict=True):
        spare = (tallest - _height(panels)) / max(len(panels), 1) if layout.level else 0
        at = y
        for panel in panels:
            height = panel.height + spare
            sheet.place(panel if layout.bare else framed(panel, height), x, at)
            at += height + GAP
        x += column.width + GAP
    return y + tallest + GAP if tallest else y


def sheet_of(game: ClanGame, bands: Sequence[Band], name: str, occasion: str) -> str:
    """The whole position as one document."""
    sheet, drawn = Canvas(FULL + 2 * MARGIN), Canvas()
    y: Number = MARGIN - 6
    for layout in bands:
        y = _draw_band(drawn, layout, game, y)
    sheet.height = y + MARGIN - GAP
    sheet.rect(0.5, 0.5, sheet.width - 1, sheet.height - 1, rx=14, fill=PAPER, stroke=EDGE)
    sheet.parts += drawn.parts
    title = f"{name}, {game.ruleset.name}: {occasion}"
    clans = "; ".join(f"{who(game, clan)}: {points(game, clan)}" for clan in range(game.clans))
    return document(sheet, title, f"{asked(game)}. {clans}.")
