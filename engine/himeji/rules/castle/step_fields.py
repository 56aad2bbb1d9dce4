"""How the fields of steps are written that only the castle family has: dice and row icons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from himeji.rules.castle.icons import CastleRow
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.description import numbered
from himeji.rules.effects import Effect, Vocabulary
from himeji.rules.step_fields import FieldType, effect_codes


class Die(FieldType):
    """A die such as "coral 4"."""

    name = "a die such as “coral 4”"

    def __init__(self, colours: Sequence[int]) -> None:
        self.colours = colours

    def meaning(self) -> str:
        return f"colour * 8 + value; {numbered(COLOUR_NAMES, self.colours)}"

    def write(self, value: Any) -> Any:
        return f"{COLOUR_NAMES[value >> 3]} {value & 7}"

    def read(self, written: Any) -> Any:
        colour, value = written.split(" ")
        if value not in ("1", "2", "3", "4", "5", "6"):
            raise ValueError
        return self._die(COLOUR_NAMES.index(colour) * 8 + int(value))

    def take(self, feed: Iterator[int]) -> Any:
        return self._die(next(feed))

    def _die(self, die: int) -> int:
        if die >> 3 not in self.colours or not 1 <= die & 7 <= 6:
            raise ValueError
        return die


class RowIcon(FieldType):
    """An icon that points at a castle row."""

    name = "an icon for a castle row"

    def __init__(self, words: Vocabulary) -> None:
        self.words = words

    def meaning(self) -> str:
        return effect_codes(self.words)

    def write(self, value: Any) -> Any:
        return value.text

    def read(self, written: Any) -> Any:
        return self._icon(self.words.parse(written))

    def numbers(self, value: Any) -> list[int]:
        return [value.code]

    def take(self, feed: Iterator[int]) -> Any:
        return self._icon(self.words.effect(next(feed)))

    def _icon(self, effect: Effect) -> CastleRow:
        if not isinstance(effect, CastleRow):
            raise TypeError
        return effect
