"""Games in the terminal: each drawing replaces the one before; plain text without a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

import click
from himeji import render
from himeji.rules import Game
from rich.console import Console

MAX_LINES: Final = 8
"""Of what happened, the newest lines only; a whole set-up would push the board off the screen."""


class Screen:
    """The terminal, with a delay in seconds between two drawings."""

    def __init__(self, delay: float = 0.0) -> None:
        console = Console()
        self.is_terminal = console.is_terminal and not console.is_dumb_terminal
        self.lines = console.height
        self._colour = self.is_terminal and not console.no_color
        self._delay = delay
        self._drawn = 0

    def draw(self, game: Game, below: Iterable[str] = ()) -> None:
        """Draw a position, and lines of text below it."""
        if self._drawn and self._delay:
            time.sleep(self._delay)
        self._drawn += 1
        page = render.text(game, colour=self._colour).rstrip("\n").split("\n")
        newest = list(below)[-MAX_LINES:]
        if self.is_terminal:
            click.clear()
        click.echo("\n".join([*page, *newest]))

    def size_warning(self, game: Game) -> str:
        """A warning if the terminal is too small for the drawing, else empty."""
        needed = render.text(game).count("\n") + MAX_LINES + 1
        if not self.is_terminal or self.lines >= needed:
            return ""
        return f"(your terminal has {self.lines} lines, the whole board needs {needed})"


class LiveView:
    """Draws a game as it goes on: pass it as `watch` to `play`."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._log_count = 0

    def __call__(self, game: Game) -> None:
        """Draw the position, with what happened since the last drawing."""
        fresh = (game.log or [])[self._log_count :]
        self._log_count += len(fresh)
        happened = [game.ruleset.tell(record, game.seats) for record in fresh]
        self._screen.draw(game, [*happened, self._screen.size_warning(game)])
