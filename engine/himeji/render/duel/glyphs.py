"""Small drawings for the words that only Duel has: each fits a square of 16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from himeji.render.canvas import Canvas
from himeji.render.palette import DICE, GOLD, INK


def _swap(c: Canvas) -> None:
    c.path("M2 5.5h9V2.5l4 4-4 4v-3H2z", fill="#7a5ea8")
    c.path("M14 10.5H5v-3l-4 4 4 4v-3h9z", fill="#b59bd8")


def _trade(c: Canvas) -> None:
    c.path("M2 6h12l-1.5 8.5h-9z", fill="#9a6a36", stroke="#5d3c17", stroke_width=0.9)
    c.path("M5 6a3 4 0 0 1 6 0", fill="none", stroke="#5d3c17", stroke_width=1.4)


def _card(fill: str) -> Callable[[Canvas], None]:
    def draw(c: Canvas) -> None:
        c.rect(3, 1.5, 10, 13, rx=1.6, fill=fill, stroke=INK, stroke_width=0.9)
        c.path("M5 5h6M5 8h6M5 11h3.5", stroke=INK, stroke_width=1)

    return draw


def _improve(c: Canvas) -> None:
    c.rect(1.5, 3, 8, 11, rx=1.4, fill="#ffffff", stroke=INK, stroke_width=0.9)
    c.path("M11.5 14V6.5H9L12.5 2 16 6.5h-2.5V14z", fill=GOLD)


def _lantern(fill: str, edge: str) -> Callable[[Canvas], None]:
    def draw(c: Canvas) -> None:
        c.path("M8 .8v2M8 13.4v2", stroke=INK, stroke_width=1.2)
        c.rect(3, 3.4, 10, 9.4, rx=4, fill=fill, stroke=edge, stroke_width=1.2)
        c.path("M5 2.7h6M5 13.3h6", stroke=INK, stroke_width=1.4)

    return draw


def _flag(c: Canvas) -> None:
    c.path("M3.5 1v14.5", stroke=INK, stroke_width=1.4)
    c.path("M4 1.8h9.5l-2.6 3.4 2.6 3.4H4z", fill="#2f6fb0")


def _katana(c: Canvas) -> None:
    c.path("M14.5 1.5C10 4 6.5 7 4 10.5", stroke="#6b7480", stroke_width=2, fill="none")
    c.path("M2.6 8.6l4 4M4.2 11l-3 3.4", stroke="#4a3620", stroke_width=2)


def _kabuto(c: Canvas) -> None:
    c.path("M2 12a6 7.5 0 0 1 12 0l1.5 1.5h-15z", fill="#4b5a45")
    c.path("M8 5 4 .8M8 5l4-4.2", stroke=GOLD, stroke_width=1.7)


def _crane(fill: str) -> Callable[[Canvas], None]:
    def draw(c: Canvas) -> None:
        wings = "M1 6.5 7 9l2-7 1.5 7L15 5.5 10 13.5H5z"
        c.path(wings, fill=fill, stroke=INK, stroke_width=0.8)

    return draw


LANTERNS: Final = {
    f"lantern {colour}": _lantern(look.fill, look.edge) for colour, look in DICE.items()
}
GLYPHS: Final[dict[str, Callable[[Canvas], None]]] = {
    "swap": _swap,
    "trade": _trade,
    "improve": _improve,
    "buy": _card("#f3ecd9"),
    "free-card": _card("#d9ecd9"),
    "lantern any": _lantern("#f08a24", "#a3500c"),
    **LANTERNS,
    "lantern-card": _card("#fbd9ae"),
    "lantern-card activate": _card("#f7b566"),
    "flag": _flag,
    "katana": _katana,
    "kabuto": _kabuto,
    "white crane": _crane("#ffffff"),
    "blue crane": _crane("#7fa9d8"),
}
"""By the word of the vocabulary or the name of the icon."""
