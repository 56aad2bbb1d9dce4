"""Text in columns and boxes for a terminal, with styles that become ANSI codes only on request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from himeji.render.palette import STYLES

WIDTH: Final = 100
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def harmless(text: str) -> str:
    """The text without characters that could move a terminal's cursor or end a line."""
    return _CONTROL.sub("�", text)


class Line:
    """One line of styled text; lines never change."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self.spans: tuple[tuple[str, str], ...] = ((harmless(text), style),) if text else ()

    @property
    def width(self) -> int:
        return sum(len(text) for text, _ in self.spans)

    def __add__(self, other: Line | str) -> Line:
        joined = Line()
        joined.spans = self.spans + (Line(other) if isinstance(other, str) else other).spans
        return joined

    def fit(self, width: int) -> Line:
        """The line in exactly that many columns: filled with blanks or cut with an ellipsis."""
        if self.width <= width:
            return self + " " * (width - self.width)
        cut, left = Line(), width - 1
        for text, style in self.spans:
            cut.spans += ((text[:left], style),) if left else ()
            left -= len(text[:left])
        return cut + "…"

    def written(self, *, colour: bool) -> str:
        """The characters to print."""
        if not colour:
            return "".join(text for text, _ in self.spans).rstrip()
        return "".join(
            f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style else text for text, style in self.spans
        ).rstrip()


Block = list[Line]
"""Lines that stand below one another."""


def join(parts: Iterable[Line], separator: str = " ") -> Line:
    """The parts on one line."""
    joined = Line()
    for number, part in enumerate(parts):
        joined = joined + separator + part if number else part
    return joined


def wrap(parts: Sequence[Line], width: int, separator: str = " · ") -> Block:
    """The parts on as few lines as they need; no part is broken."""
    lines: Block = []
    for part in parts:
        if lines and lines[-1].width + len(separator) + part.width <= width:
            lines[-1] = lines[-1] + separator + part
        else:
            lines.append(part)
    return lines


def table(rows: Sequence[Sequence[Line]], gap: int = 2) -> Block:
    """Rows with aligned columns."""
    widths = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    return [
        join([cell.fit(width) for cell, width in zip(row, widths, strict=True)], " " * gap)
        for row in rows
    ]


def box(title: Line, lines: Block, width: int) -> Block:
    """The lines in a frame whose upper edge carries the title."""
    inner = width - 4
    name = title if title.width <= inner - 2 else title.fit(inner - 2)
    top = Line("╭─ ", "dim") + name + Line(" " + "─" * (inner - 1 - name.width) + "╮", "dim")
    body = [Line("│ ", "dim") + line.fit(inner) + Line(" │", "dim") for line in lines]
    return [top, *body, Line("╰" + "─" * (width - 2) + "╯", "dim")]


def stretched(boxed: Block, height: int) -> Block:
    """A box made as high as its neighbours."""
    blank = Line("│", "dim") + " " * (boxed[0].width - 2) + Line("│", "dim")
    return [*boxed[:-1], *[blank] * (height - len(boxed)), boxed[-1]]


def beside(*boxes: Block) -> Block:
    """Boxes side by side, equally high."""
    height = max(len(boxed) for boxed in boxes)
    columns = [stretched(boxed, height) for boxed in boxes]
    return [join(row) for row in zip_longest(*columns, fillvalue=Line())]


def printed(lines: Block, *, colour: bool) -> str:
    """The whole sheet; no line is wider than WIDTH."""
    cut = [line if line.width <= WIDTH else line.fit(WIDTH) for line in lines]
    return "\n".join(line.written(colour=colour) for line in cut) + "\n"
