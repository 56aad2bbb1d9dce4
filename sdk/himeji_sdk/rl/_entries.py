"""The parts of an observation: each knows which entries of the vector its part of a position fills.

They are made from the shape of the positions, one for each place in it, and write what stands
there: a number as it is, a word as a 1 in the entry of that word, a seat as a 1 in the entry of
that clan, counted from the seat that looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from himeji_sdk.rl._shape import Shape

UNKNOWN: Final = 0
"""The entry that counts what a position holds and the vector has no entry for."""

SEATS: Final = ("seat", "starter")
"""The keys of a position under which the number of a seat stands; lists of seats are found out."""


class Sheet:
    """The names of the entries, as they are handed out."""

    def __init__(self, seats: int, clans: int) -> None:
        self.seats = seats
        self.clans = clans
        self.names: list[str] = []
        self.scales: list[int] = []
        self.add("unknown")

    def add(self, name: str, largest: int = 1) -> int:
        """One more entry, with the largest number that was seen in it; its place."""
        self.names.append(name)
        self.scales.append(1 << (largest - 1).bit_length() if largest > 1 else 1)
        return len(self.names) - 1

    def add_words(self, path: str, shape: Shape) -> dict[str, int]:
        """An entry for each word."""
        return {word: self.add(f"{path}={word}", shape.copies) for word in sorted(shape.words)}

    def add_clans(self, path: str) -> list[int]:
        """An entry for each clan."""
        return [self.add(f"{path}=clan-{clan}") for clan in range(self.clans)]


class View:
    """A vector that is being filled for a seat."""

    def __init__(self, sheet: Sheet, seat: int) -> None:
        self.out: NDArray[np.float32] = np.zeros(len(sheet.names), np.float32)
        own = [(seat + clan) % sheet.seats for clan in range(sheet.seats)]
        self.clan_of = [own.index(clan) for clan in range(sheet.seats)]
        """Each clan by its number at the table, counted from the seat that looks."""
        self.clan_of += range(sheet.seats, sheet.clans)  # a rival stays the last


class Part:
    """What may stand at one place of a position; None is written by leaving all entries 0."""

    def write(self, value: Any, view: View) -> None:
        """Fill the entries of this place."""
        if value is not None:
            view.out[UNKNOWN] += 1


class Leaf(Part):
    """A number, or one word of several."""

    def __init__(self, sheet: Sheet, path: str, shape: Shape) -> None:
        largest = max([abs(number) for number in shape.numbers], default=0)
        self._number = sheet.add(path, largest) if shape.numbers else UNKNOWN
        self._words = sheet.add_words(path, shape)

    def write(self, value: Any, view: View) -> None:
        if isinstance(value, str):
            view.out[self._words.get(value, UNKNOWN)] += 1
        elif isinstance(value, int):
            view.out[self._number] += value
        else:
            super().write(value, view)


class Seat(Part):
    """The number of a seat."""

    def __init__(self, sheet: Sheet, path: str, _: Shape) -> None:
        self._clans = sheet.add_clans(path)

    def write(self, value: Any, view: View) -> None:
        if isinstance(value, int) and 0 <= value < len(self._clans):
            view.out[self._clans[view.clan_of[value]]] += 1
        else:
            super().write(value, view)


class NamedPlaces(Part):
    """Places with names."""

    def __init__(self, sheet: Sheet, path: str, shape: Shape) -> None:
        start = f"{path}/" if path else ""
        self._parts = {key: part(sheet, f"{start}{key}", each) for key, each in shape.table.items()}

    def write(self, value: Any, view: View) -> None:
        if not isinstance(value, dict):
            super().write(value, view)
            return
        for key, each in value.items():
            self._parts.get(key, NOTHING).write(each, view)


class Bag(Part):
    """Several words: how often each is there and, where the order tells something, the last."""

    def __init__(self, sheet: Sheet, path: str, shape: Shape) -> None:
        self._words = sheet.add_words(path, shape)
        self._last = sheet.add_words(f"{path}/last", shape) if shape.ordered else {}

    def write(self, value: Any, view: View) -> None:
        if not isinstance(value, list):
            super().write(value, view)
            return
        for word in value:
            view.out[self._words.get(word, UNKNOWN)] += 1
        if self._last and value and value[-1] in self._last:
            view.out[self._last[value[-1]]] = 1


class Row(Part):
    """Places with numbers."""

    def __init__(self, sheet: Sheet, path: str, shape: Shape) -> None:
        entry, length = shape.entry or Shape(), max(shape.lengths)
        make = Seat if _holds_seats(sheet, entry) else part
        self._parts = [make(sheet, f"{path}/{place}", entry) for place in range(length)]

    def place(self, number: int, view: View) -> int:
        """Where an entry of the list is written."""
        return number

    def write(self, value: Any, view: View) -> None:
        if not isinstance(value, list):
            super().write(value, view)
            return
        for number, each in enumerate(value):
            known = number < len(self._parts)
            (self._parts[self.place(number, view)] if known else NOTHING).write(each, view)


class Clans(Row):
    """One place for each clan, that of the seat that looks first."""

    def place(self, number: int, view: View) -> int:
        return view.clan_of[number]


def part(sheet: Sheet, path: str, shape: Shape) -> Part:
    """The part of a vector for what was seen at a place."""
    return _kind(sheet, path, shape)(sheet, path, shape)


def _kind(sheet: Sheet, path: str, shape: Shape) -> Callable[[Sheet, str, Shape], Part]:
    if shape.table:
        return NamedPlaces
    if shape.words and shape.lengths and not shape.gaps:
        return Bag
    if shape.lengths:
        by_clan = shape.lengths == {sheet.clans} and not _holds_seats(sheet, shape.entry or shape)
        return Clans if by_clan else Row
    return Seat if path.rpartition("/")[2] in SEATS else Leaf


def _holds_seats(sheet: Sheet, entry: Shape) -> bool:
    """Whether the numbers in a list are seats: never anything else was seen in it."""
    only_numbers = not entry.words and not entry.table and entry.entry is None
    return only_numbers and entry.numbers <= set(range(sheet.clans))


NOTHING: Final = Part()
