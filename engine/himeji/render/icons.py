"""Small drawings for the words of the games: each fits a square of 16 and needs no legend twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from himeji.render.canvas import Canvas, Number
from himeji.render.duel.glyphs import GLYPHS
from himeji.render.palette import (
    BLUE_FACE,
    CLANS,
    DARK_ROW,
    DICE,
    EDGE,
    GOLD,
    INK,
    LIGHT_ROW,
    SEAL_RED,
    YELLOW_FACE,
)

SIZE: Final = 16
Draw = Callable[[Canvas], None]


def _food(c: Canvas) -> None:
    c.path("M1.5 8h13a6.5 6 0 0 1-13 0z", fill="#5d8a3a")
    c.path("M3 7.2a5 4.4 0 0 1 10 0z", fill="#fbf6e6", stroke="#8a8266", stroke_width=0.8)


def _iron(c: Canvas) -> None:
    c.path("M4.5 4h7l3 8h-13z", fill="#7d8794", stroke="#4d5661", stroke_width=0.9)
    c.path("M5.3 5.6h5.4", stroke="#c9d0d8", stroke_width=1.2)


def _pearl(c: Canvas) -> None:
    c.circle(8, 8, 5.8, fill="#f3e9f0", stroke="#96788d", stroke_width=1.1)
    c.circle(6, 6, 1.5, fill="#ffffff")


def _any(c: Canvas) -> None:
    c.circle(8, 4.6, 3.2, fill="#5d8a3a")
    c.circle(4.4, 11, 3.2, fill="#7d8794")
    c.circle(11.6, 11, 3.2, fill="#f3e9f0", stroke="#96788d", stroke_width=0.9)


def _coin(c: Canvas) -> None:
    c.circle(8, 8, 6.2, fill="#eec24a", stroke=GOLD, stroke_width=1.1)
    c.rect(5.9, 5.9, 4.2, 4.2, fill="#fffdf8", stroke=GOLD, stroke_width=0.9)


def _seal(c: Canvas) -> None:
    c.rect(2.5, 2.5, 11, 11, rx=2, fill=SEAL_RED)
    c.path("M5 5.2h6M5 8h6M8 5.2v6", stroke="#fff3ea", stroke_width=1.2, fill="none")


def _vp(c: Canvas) -> None:
    c.path("M8 14 1.2 6.4A9.6 9.6 0 0 1 14.8 6.4z", fill="#a6436f")
    c.path("M8 14 5 4M8 14l3-10M8 14V3.6", stroke="#f7dfe9", stroke_width=0.8)


def _influence(c: Canvas) -> None:
    c.path("M1.5 6h7V2.5L15 8l-6.5 5.5V10h-7z", fill="#3d7ea6")


def _lantern(c: Canvas) -> None:
    c.path("M8 .8v2M8 13.4v2", stroke=INK, stroke_width=1.2)
    c.rect(3, 3.4, 10, 9.4, rx=4, fill="#f08a24", stroke="#a3500c", stroke_width=0.9)
    c.path("M5 2.7h6M5 13.3h6", stroke=INK, stroke_width=1.4)
    c.path("M6.3 4v8.2M9.7 4v8.2", stroke="#ffd9a3", stroke_width=0.9)


def _well(c: Canvas) -> None:
    c.path(
        "M5.5 1.5v13M10.5 1.5v13M1.5 5.5h13M1.5 10.5h13",
        stroke="#2f7f8c",
        stroke_width=2,
    )


def _courtier(c: Canvas) -> None:
    c.circle(8, 4.4, 2.9, fill="#7b5a33")
    c.path("M8 6.5 14 15H2z", fill="#7b5a33")


def _gardener(c: Canvas) -> None:
    c.path("M2 14C2 5 7 2 14.5 1.8 14.5 9 10.5 13.5 4 12.6", fill="#4c8a4b")
    c.path("M1.5 15C4 11 7.5 8 11 5.5", stroke="#24532a", stroke_width=1.1, fill="none")


def _warrior(c: Canvas) -> None:
    c.path(
        "M13.8 1.2 5.4 9.6M2.8 9.2l4 4M4.6 11.4l-3 3",
        stroke="#5a6270",
        stroke_width=2.2,
    )


def _chasen(c: Canvas) -> None:
    c.rect(6, 1, 4, 6, rx=1, fill="#b98b4a", stroke="#7c5a2a", stroke_width=0.8)
    c.path("M5.5 7 3.6 14.5h8.8L10.5 7z", fill="#e3cf9c", stroke="#7c5a2a", stroke_width=0.8)
    c.path("M6.6 8 5.6 14M8 8v6M9.4 8l1 6", stroke="#9c7a43", stroke_width=0.8)


def _geisha(c: Canvas) -> None:
    c.path("M8 13.5 1.5 6.6A9.5 9.5 0 0 1 14.5 6.6z", fill="#3f7f4a", stroke="#285c33")
    c.path("M8 13.5 4.6 4.6M8 13.5l3.4-8.9M8 13.5V3.6", stroke="#dff0d8", stroke_width=0.8)
    c.circle(8, 13.6, 1.4, fill="#285c33")


def _lily(c: Canvas) -> None:
    c.path("M1.5 10.5a6.5 3.6 0 0 0 13 0l-6.5 .5z", fill="#4c8a4b")
    c.path(
        "M8 11C3.5 9.5 3.6 5.5 5 3.8 6.2 5 7.2 5.6 8 2.2 8.8 5.6 9.8 5 11 3.8c1.4 1.7 1.5 5.7-3 7z",
        fill="#e9a6c0",
    )


def _curtain(fill: str) -> Draw:
    def draw(c: Canvas) -> None:
        c.path("M1 2h14v1.8H1z", fill="#7c5a2a")
        c.path(
            "M2 3.8h12v9.6c-2 1-2-1-4 0s-2-1-4 0-2-1-4 0z",
            fill=fill,
            stroke="#56616f",
            stroke_width=0.8,
        )
        c.path("M6 4v8.4M10 4v8.4", stroke="#56616f", stroke_width=0.6)

    return draw


def _castle_row(stripe: str, edge: str) -> Draw:
    def draw(c: Canvas) -> None:
        c.path("M.5 5.5 8 .8l7.5 4.7z", fill="#56616f")
        c.rect(2.2, 6.2, 11.6, 9, fill="#ffffff", stroke="#56616f", stroke_width=0.9)
        c.rect(3.6, 8.6, 8.8, 4.2, fill=stripe, stroke=edge, stroke_width=0.8)

    return draw


def _domain_row(c: Canvas) -> None:
    c.rect(1, 3, 14, 10, rx=1.5, fill="#ffffff", stroke=INK, stroke_width=1)
    c.path("M1.5 8h13M5.7 3.5v9M10.3 3.5v9", stroke=INK, stroke_width=0.9)


def _coin_or_seal(c: Canvas) -> None:
    c.circle(5, 6, 4.2, fill="#eec24a", stroke=GOLD, stroke_width=1)
    c.rect(7.5, 7, 7.5, 7.5, rx=1.6, fill=SEAL_RED)


_DISCOUNTED: Final[dict[str, Draw]] = {
    "garden": _gardener,
    "training": _warrior,
    "courtier": _courtier,
    "trade": GLYPHS["trade"],
}
ICONS: Final[dict[str, Draw]] = {
    "food": _food,
    "iron": _iron,
    "pearl": _pearl,
    "any": _any,
    "coin": _coin,
    "seal": _seal,
    "vp": _vp,
    "influence": _influence,
    "lantern": _lantern,
    "well": _well,
    "courtier": _courtier,
    "gardener": _gardener,
    "warrior": _warrior,
    "chasen": _chasen,
    "geisha": _geisha,
    "geisha-step": _geisha,
    "lilies": _lily,
    "curtain yellow": _curtain(YELLOW_FACE),
    "curtains yellow": _curtain(YELLOW_FACE),
    "curtain blue free": _curtain(BLUE_FACE),
    "curtains of a card": _curtain(BLUE_FACE),
    "castle-row light": _castle_row(LIGHT_ROW, GOLD),
    "castle-rows light": _castle_row(LIGHT_ROW, GOLD),
    "castle-row dark": _castle_row(DARK_ROW, LIGHT_ROW),
    "castle-row any": _castle_row(DARK_ROW, LIGHT_ROW),
    **{f"castle-row {colour}": _castle_row(look.fill, look.edge) for colour, look in DICE.items()},
    "domain-row": _domain_row,
    **GLYPHS,
    "coin/seal": _coin_or_seal,
    "garden": _gardener,
    "training": _warrior,
    **{f"{action} -1": draw for action, draw in _DISCOUNTED.items()},
}
"""By the word of the vocabulary, without its amount; a word without a drawing is only written."""


def icon(canvas: Canvas, word: str, x: Number, y: Number, size: Number = SIZE) -> bool:
    """Draw the icon of a word with its upper left corner at a point; False if it has none."""
    if word not in ICONS:
        return False
    drawn = Canvas()
    ICONS[word](drawn)
    scale = "" if size == SIZE else f" scale({size / SIZE:.3g})"
    canvas.parts.append(
        f'<g transform="translate({x:g} {y:g}){scale}">' + "".join(drawn.parts) + "</g>"
    )
    return True


_SHAPES: Final[dict[str, Callable[[Canvas, Number, str], None]]] = {
    "circle": lambda c, r, fill: c.circle(0, 0, r, fill=fill),
    "square": lambda c, r, fill: c.rect(-r * 0.9, -r * 0.9, r * 1.8, r * 1.8, rx=2, fill=fill),
    "triangle": lambda c, r, fill: c.path(
        f"M0 {-r * 1.2:g} {r * 1.2:g} {r * 0.95:g}H{-r * 1.2:g}z", fill=fill
    ),
    "diamond": lambda c, r, fill: c.path(
        f"M0 {-r * 1.2:g} {r * 1.2:g} 0 0 {r * 1.2:g} {-r * 1.2:g} 0z", fill=fill
    ),
}


def badge(canvas: Canvas, seat: int, x: Number, y: Number, radius: Number = 9) -> None:
    """The mark of a clan, centred on a point: its shape with its number inside."""
    clan, drawn = CLANS[seat], Canvas()
    _SHAPES[clan.shape](drawn, radius, clan.fill)
    size = radius * 1.25
    low = 0.55 if clan.shape == "triangle" else 0.36
    drawn.text(
        0, size * low, str(seat), size=round(size, 1), fill="#ffffff", bold=True, anchor="middle"
    )
    canvas.place(drawn, x, y, title=f"seat {seat}")


class Die(NamedTuple):
    """A die by the name of its colour and its value."""

    colour: str
    value: int


def draw_die(canvas: Canvas, die: Die, x: Number, y: Number, size: Number = 28) -> None:
    """A die with its upper left corner at a point; a small letter repeats its colour."""
    look, drawn = DICE[die.colour], Canvas()
    drawn.rect(0, 0, size, size, rx=size * 0.2, fill=look.fill, stroke=look.edge, stroke_width=1.2)
    drawn.text(
        size * 0.44,
        size * 0.68,
        str(die.value),
        size=round(size * 0.6, 1),
        fill=look.ink,
        bold=True,
        anchor="middle",
    )
    drawn.text(
        size * 0.82,
        size * 0.9,
        look.letter,
        size=round(size * 0.28, 1),
        fill=look.ink,
        anchor="middle",
    )
    canvas.place(drawn, x, y, title=f"{die.colour} {die.value}")


def die_slot(canvas: Canvas, value: int, x: Number, y: Number, size: Number = 28) -> None:
    """An empty space for a die with the value printed on it."""
    canvas.rect(
        x,
        y,
        size,
        size,
        rx=size * 0.2,
        fill="#ffffff",
        stroke=EDGE,
        stroke_width=1.2,
        stroke_dasharray="3 2",
    )
    canvas.text(
        x + size / 2,
        y + size * 0.68,
        str(value),
        size=round(size * 0.52, 1),
        fill="#9a917f",
        anchor="middle",
    )


def die_tile(canvas: Canvas, colour: str, x: Number, y: Number, size: Number = 24) -> None:
    """A die tile, colour side up."""
    look = DICE[colour]
    canvas.rect(x, y, size, size, fill=look.fill, stroke=look.edge, stroke_width=1.2)
    canvas.rect(
        x + 3, y + 3, size - 6, size - 6, fill="none", stroke=look.ink, stroke_width=0.7, rx=2
    )
    canvas.text(
        x + size / 2,
        y + size * 0.67,
        look.letter,
        size=round(size * 0.48, 1),
        fill=look.ink,
        bold=True,
        anchor="middle",
    )
