"""From a game to its drawing: the table of families, and what notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from himeji.render.castle import page, picture
from himeji.render.duel import page as duel_page, picture as duel_picture
from himeji.render.situation import unconfirmed_turn
from himeji.rules import Game
from himeji.rules.errors import Unsupported


class DrawText(Protocol):
    """Draws a game of one family as text."""

    def __call__(self, game: Any, /, *, colour: bool = False) -> str:
        """At most 100 columns; ANSI codes only with colour."""
        ...


class Family(NamedTuple):
    """How the games of one family are drawn."""

    text: DrawText
    svg: Callable[[Any], str]


FAMILIES: Final[dict[str, Family]] = {
    "castle": Family(page.text, picture.svg),
    "duel": Family(duel_page.text, duel_picture.svg),
}
"""By `Ruleset.family`. A new family adds its line here."""


def _family(game: Game) -> Family:
    rules = game.ruleset
    if rules.family not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise Unsupported(
            f"{rules.name} is of the family {rules.family!r}, which has no drawing (drawn: {known})"
        )
    return FAMILIES[rules.family]


def text(game: Game, *, colour: bool = False) -> str:
    """The position for a terminal: at most 100 columns, ANSI codes only with colour."""
    return _family(game).text(game, colour=colour)


def svg(game: Game, *, unconfirmed: int | None = None) -> str:
    """The position as a complete SVG document.

    `unconfirmed` is the seat that has planned the turn which led to it, and may still take it back.
    """
    with unconfirmed_turn(unconfirmed):
        return _family(game).svg(game)


class Drawing:
    """A game as notebooks and terminals show it, always as it stands at the moment."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __str__(self) -> str:
        return text(self.game)

    def _repr_svg_(self) -> str:
        return svg(self.game)


def load_ipython_extension(shell: Any) -> None:
    """Let a notebook draw every game that a cell ends with, after `%load_ext himeji.render`."""
    shell.display_formatter.formatters["image/svg+xml"].for_type(Game, svg)
