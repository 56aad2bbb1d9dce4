"""The replay viewer of the terminal, controlled by keys."""

from __future__ import annotations

import os
import re
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from himeji_sdk._replay.steps import Moment
from himeji_sdk._terminal_view import Screen

HELP: Final = "→ next  ← back  Home first  End last  q quit"
FORWARD: Final = ("\x1b[C", "\x1bOC", "n", " ", "\n")
BACK: Final = ("\x1b[D", "\x1bOD", "p", "b", "\x7f")
FIRST: Final = ("\x1b[H", "\x1bOH", "\x1b[1~", "g")
LAST: Final = ("\x1b[F", "\x1bOF", "\x1b[4~", "G")
QUIT: Final = ("q", "Q", "\x1b", "\x04")

_KEY: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|.", re.DOTALL)


def step_through(moments: Sequence[Moment], screen: Screen) -> None:
    """Show the moments, and move between them by keys, until the user quits."""
    place, last = 0, len(moments) - 1
    with _keys() as keys:
        _show(moments[place], last, screen)
        for key in keys:
            if key in QUIT:
                return
            place = _moved(key, place, last)
            _show(moments[place], last, screen)


def _show(moment: Moment, last: int, screen: Screen) -> None:
    where = click.style(f"step {moment.number} of {last}: {moment.title}", bold=True)
    screen.draw(moment.game, [*moment.happened, where, HELP])


def _moved(key: str, place: int, last: int) -> int:
    """The place that a key leads to; unknown keys lead nowhere."""
    if key in FORWARD:
        return min(place + 1, last)
    if key in BACK:
        return max(place - 1, 0)
    return {**dict.fromkeys(FIRST, 0), **dict.fromkeys(LAST, last)}.get(key, place)


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """The keys as they are pressed, without echo; restores the terminal afterwards."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        yield _pressed(terminal)
    except KeyboardInterrupt:
        pass
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def _pressed(terminal: int) -> Iterator[str]:
    while pressed := os.read(terminal, 64).decode(errors="replace"):
        yield from _KEY.findall(pressed)
