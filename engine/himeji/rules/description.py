"""A ruleset in words and numbers: what it tells about itself to those who have no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from himeji.rules.game import ACTION, DRAW, ROLL

REPLAYED_ACTION: Final = "action"
REVEALED_CHANCE: Final = "chance"
CONSEQUENCE: Final = "consequence"
MADE_UP: Final = ("reconstructed", 1)
"""The fact of a part of the board that is not known but, in whole or in part, reconstructed."""


class Option(NamedTuple):
    """An option that a game can be created with."""

    name: str
    choices: tuple[str, ...]
    standard: str
    text: str


class DescribedEffect(NamedTuple):
    """What a face gives: an operation, what it works on and how many; a price and its parts."""

    op: str
    what: str = ""
    amount: int = 0
    costs: tuple[DescribedEffect, ...] = ()
    parts: tuple[DescribedEffect, ...] = ()


class Face(NamedTuple):
    """A side, row or slot of a component."""

    name: str
    text: str
    effects: tuple[DescribedEffect, ...]
    dark: bool = False


class Component(NamedTuple):
    """A card copy or a tile: what can be read on it, and where that is known from."""

    number: int
    id: str
    kind: str
    faces: tuple[Face, ...]
    facts: tuple[tuple[str, int], ...]
    reconstructed: bool
    source: str
    note: str


class BoardPart(NamedTuple):
    """A printed part of the boards, or numbers that hold for the whole game.

    `number` is what positions call it among the parts of its kind; None where they do not.
    """

    id: str
    kind: str
    number: int | None
    text: str
    faces: tuple[Face, ...]
    facts: tuple[tuple[str, int], ...]

    @property
    def reconstructed(self) -> bool:
        """Whether some of what is printed on it is not known but reconstructed."""
        return MADE_UP in self.facts


class DescribedStep(NamedTuple):
    """A kind of step, with the meaning of each number that `Ruleset.step_parts` gives."""

    kind: int
    name: str
    text: str
    arguments: tuple[str, ...]
    asks: bool


class EventKind(NamedTuple):
    """A kind of event, with the meaning of its two numbers."""

    kind: int
    name: str
    text: str
    numbers: tuple[str, str]

    @property
    def role(self) -> str:
        """What the kind is to an engine that replays a game from its events."""
        if self.kind == ACTION:
            return REPLAYED_ACTION
        return REVEALED_CHANCE if self.kind in (ROLL, DRAW) else CONSEQUENCE


class Rule(NamedTuple):
    """A paragraph of the rules, as its page words it."""

    id: str
    text: str


def numbered(names: Sequence[str] | Mapping[int, str], numbers: Sequence[int] | None = None) -> str:
    """Names with the numbers that stand for them: 0 coral, 1 black, 2 white."""
    return ", ".join(f"{n} {names[n]}" for n in numbers or range(len(names)))
