"""Dice on a castle page."""

from __future__ import annotations

from collections.abc import Sequence

from himeji.render.icons import Die
from himeji.render.sheet import Line, join


def dice(found: Sequence[Die]) -> Line:
    """Dice by colour and value, the lowest of a stack first."""
    return join(
        [Line(f"{die.colour} {die.value}", f"die-{die.colour}") for die in found], " under "
    )


def faces(colour: str, values: Sequence[int]) -> Line:
    """Values of dice whose colour is known already; 0 is a place without a die."""
    shown = [
        Line(f"[{value}]", f"die-{colour}") if value else Line("[ ]", "dim") for value in values
    ]
    return join(shown)
