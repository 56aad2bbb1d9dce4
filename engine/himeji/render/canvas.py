"""SVG elements on a canvas: everything escaped, numbers short, nothing from outside."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final, TypedDict, Unpack

from himeji.render.palette import INK

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Widths of characters in em, rounded up: DejaVu Sans, the widest font that we fall back to.
_WIDTHS: Final = {
    char: width
    for width, chars in {
        0.3: "ijlIJ'",
        0.35: ",./:;\\| ·",
        0.4: "ft()-[]",
        0.45: "r!",
        0.55: 'csz?"*_`†',
        0.65: "kvxyFL0123456789abdeghnopquEPSTY${}",
        0.7: "ABCKRVXZ",
        0.8: "DGHNOQU&",
        0.85: "w#+<=>^~→\N{MULTIPLICATION SIGN}",
    }.items()
    for char in chars
}
FONTS: Final = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
_WIDEST: Final = 1.0
_BOLD: Final = 1.1
TEXT_SIZE: Final = 12
Number = int | float
Value = str | Number


def escaped(text: str) -> str:
    """The text as XML data: markup escaped, characters that XML forbids replaced."""
    return html.escape(_NOT_XML.sub("\ufffd", text), quote=True)


def number(value: Number) -> str:
    """A number without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(name: str, content: str | None = None, /, **attributes: Value | None) -> str:
    """One element; `content` is markup that is already escaped, None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="'
        f'{escaped(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}/>" if content is None else f"<{name}{written}>{content}</{name}>"


def width_of(text: str, size: Number, *, bold: bool = False) -> float:
    """About how wide a text is drawn."""
    return sum(_WIDTHS.get(char, _WIDEST) for char in text) * size * (_BOLD if bold else 1)


def wrapped(parts: Sequence[str], size: Number, width: Number, separator: str = " ") -> list[str]:
    """The parts on as few lines as they need; no part is broken."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{separator}{part}" if lines else part
        if lines and width_of(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def shortened(text: str, size: Number, width: Number, *, bold: bool = False) -> str:
    """The text, cut with an ellipsis if it would be wider."""
    if width_of(text, size, bold=bold) <= width:
        return text
    while text and width_of(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


class Font(TypedDict, total=False):
    """How a text is written; by default dark, of size 12, to the right of its point."""

    size: Number
    fill: str
    bold: bool
    anchor: str


class Canvas:
    """A list of elements in local coordinates, with the size that they take."""

    def __init__(self, width: Number = 0, height: Number = 0) -> None:
        self.width: Number = width
        self.height: Number = height
        self.parts: list[str] = []

    def add(self, name: str, **attributes: Value | None) -> None:
        """Any element without content."""
        self.parts.append(element(name, **attributes))

    def rect(
        self, x: Number, y: Number, width: Number, height: Number, **look: Value | None
    ) -> None:
        self.add("rect", x=x, y=y, width=width, height=height, **look)

    def circle(self, x: Number, y: Number, radius: Number, **look: Value | None) -> None:
        self.add("circle", cx=x, cy=y, r=radius, **look)

    def path(self, d: str, **look: Value | None) -> None:
        self.add("path", d=d, **look)

    def text(self, x: Number, y: Number, text: str, **font: Unpack[Font]) -> None:
        """A text on its base line. What the document sets already is left out."""
        size, fill = font.get("size", TEXT_SIZE), font.get("fill", INK)
        self.parts.append(
            element(
                "text",
                escaped(text),
                x=x,
                y=y,
                font_size=size if size != TEXT_SIZE else None,
                fill=fill if fill != INK else None,
                font_weight="bold" if font.get("bold") else None,
                text_anchor=font.get("anchor"),
            )
        )

    def place(
        self, other: Canvas, x: Number, y: Number, *, title: str = "", mark: str = ""
    ) -> None:
        """Another canvas at a point; the title is what a pointer or a screen reader finds there.

        The mark is what actions call the place (see `marks`), or several with commas.
        """
        label = element("title", escaped(title)) if title else ""
        content = label + "".join(other.parts)
        at = f"translate({number(x)} {number(y)})" if x or y else None
        self.parts.append(element("g", content, transform=at, data_marks=mark or None))


def document(canvas: Canvas, title: str, description: str) -> str:
    """A complete picture: valid on its own, readable by screen readers, nothing loaded."""
    width, height = number(canvas.width), number(canvas.height)
    head = element("title", escaped(title)) + element("desc", escaped(description))
    return (
        element(
            "svg",
            head + "".join(canvas.parts),
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            role="img",
            aria_label=title,
            font_family=FONTS,
            font_size=TEXT_SIZE,
            fill=INK,
        )
        + "\n"
    )
