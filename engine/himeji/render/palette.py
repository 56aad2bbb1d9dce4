"""How clans and dice look: a colour and a mark for each, so that colour alone tells nothing."""

from __future__ import annotations

from typing import Final, NamedTuple

PAPER: Final = "#f1eadb"
PANEL: Final = "#fffdf8"
EDGE: Final = "#d6cab2"
INK: Final = "#2a2722"
MUTED: Final = "#6d665a"
FAINT: Final = "#e9e1d0"
DARK_ROW: Final = "#3d4658"
LIGHT_ROW: Final = "#f6e7bd"
ON_DARK: Final = "#ffffff"
ROOF: Final = "#56616f"
SEAL_RED: Final = "#b3392f"
GOLD: Final = "#b9860f"
BLUE_FACE: Final = "#d5e3f3"
YELLOW_FACE: Final = "#f8e6a6"


class Clan(NamedTuple):
    """The look of a seat: its number stands inside its shape, everywhere."""

    shape: str
    mark: str
    fill: str
    tint: str
    ansi: str


CLANS: Final = (
    Clan("circle", "●", "#2b66b1", "#e3edf9", "38;5;75"),
    Clan("square", "■", "#8a3f97", "#f3e6f5", "38;5;176"),
    Clan("triangle", "▲", "#a8650a", "#faeedb", "38;5;214"),
    Clan("diamond", "◆", "#17796f", "#dff2ef", "38;5;79"),
)


class DieLook(NamedTuple):
    """The look of a die or a die tile of one colour; the letter stands on it."""

    letter: str
    fill: str
    ink: str
    edge: str
    ansi: str


DICE: Final = {
    "coral": DieLook("C", "#e2674f", "#ffffff", "#b5452f", "30;48;5;209"),
    "black": DieLook("B", "#2b2b2f", "#ffffff", "#000000", "97;48;5;238"),
    "white": DieLook("W", "#ffffff", "#2a2722", "#8d8574", "30;48;5;255"),
    "green": DieLook("G", "#3f7f4a", "#ffffff", "#285c33", "30;48;5;113"),
}
"""By the name of the colour, which is what the rules call it."""

STYLES: Final = {
    "title": "1",
    "dim": "2",
    "dark": "38;5;61",
    "light": "38;5;223",
    "lantern": "38;5;208",
    **{f"clan-{seat}": clan.ansi for seat, clan in enumerate(CLANS)},
    **{f"die-{colour}": look.ansi for colour, look in DICE.items()},
}
"""ANSI codes by the name of a style, for terminals."""
