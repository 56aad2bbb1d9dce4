"""Positions as compact bytes: numbers, of which small ones take one byte (LEB128).

What a position consists of is said once, in a family's table of state fields; packing and
unpacking both go through that table by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from himeji.rules.chance import Chance
from himeji.rules.errors import InvalidRequest
from himeji.rules.game import Game

if TYPE_CHECKING:
    from himeji.rules.ruleset import Ruleset


class Packer:
    """Gathers whole numbers that are not negative."""

    def __init__(self, numbers: list[int] | None = None) -> None:
        self.numbers: list[int] = numbers or []

    def put(self, number: int) -> None:
        self.numbers.append(number)

    def put_all(self, numbers: Sequence[int]) -> None:
        """Append a list with its length."""
        self.numbers.append(len(numbers))
        self.numbers.extend(numbers)

    def put_groups(self, groups: Sequence[Sequence[int]]) -> None:
        """Append a list of lists."""
        self.numbers.append(len(groups))
        for numbers in groups:
            self.numbers.append(len(numbers))
            self.numbers.extend(numbers)

    def put_text(self, text: str) -> None:
        self.put_all(text.encode())

    def bytes(self) -> bytes:
        numbers = self.numbers
        large = [place for place, number in enumerate(numbers) if number > 127]
        if not large:
            return bytes(numbers)
        packed, start = bytearray(), 0
        for place in large:
            packed += bytes(numbers[start:place])
            rest = numbers[place]
            while rest > 127:
                packed.append(rest & 127 | 128)
                rest >>= 7
            packed.append(rest)
            start = place + 1
        packed += bytes(numbers[start:])
        return bytes(packed)


class Unpacker:
    """Reads what a Packer wrote, in the same order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def get(self) -> int:
        number, shift = 0, 0
        while True:
            if self._at >= len(self._data) or shift > 63:
                raise InvalidRequest("these bytes are not a packed position")
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7

    def get_all(self) -> list[int]:
        return [self.get() for _ in range(self.get())]

    def get_groups(self) -> list[tuple[int, ...]]:
        """The next list of lists."""
        return [tuple(self.get_all()) for _ in range(self.get())]

    def get_text(self) -> str:
        try:
            return bytes(self.get_all()).decode()
        except ValueError:
            raise InvalidRequest("these bytes are not a packed position") from None

    def rest(self) -> bytes:
        """What has not been read."""
        return self._data[self._at :]

    def finish(self) -> None:
        """Refuse bytes that nobody asked for."""
        if self._at != len(self._data):
            raise InvalidRequest("these bytes are longer than a packed position")


class StateField:
    """A whole number in the state of a game; other kinds of fields derive from it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def take(self, feed: Unpacker) -> Any:
        return feed.get()

    def fill(self, game: Any, feed: Unpacker) -> None:
        """Read a value into a game."""
        setattr(game, self.name, self.take(feed))


class FlagField(StateField):
    """Yes or no."""

    def take(self, feed: Unpacker) -> Any:
        return bool(feed.get())


class ListField(StateField):
    """A list of numbers that changes in place; clones copy it."""

    def take(self, feed: Unpacker) -> Any:
        return feed.get_all()


class TupleField(ListField):
    """A tuple of numbers that is replaced as a whole; clones share it."""

    def take(self, feed: Unpacker) -> Any:
        return tuple(feed.get_all())


class GroupsField(StateField):
    """A list of tuples of numbers that changes in place; clones copy it."""

    def put(self, value: Any, out: Packer) -> None:
        out.put_groups(value)

    def take(self, feed: Unpacker) -> Any:
        return feed.get_groups()


def values_of(fields: Sequence[StateField]) -> Callable[[Game], Sequence[Any]]:
    """What fetches the values of fields from a game, in their order."""
    names = [field.name for field in fields]
    if len(names) < 2:  # attrgetter would give a single value, not a tuple
        return lambda game: [getattr(game, name) for name in names]
    return attrgetter(*names)


class StateTable:
    """The fields of a game's state that a packed position holds, in the order of its bytes.

    Numbers and flags come first, then lists, then groups. Values are fetched kind by kind with one
    `attrgetter` each: a call for every field would make packing a third slower.
    """

    def __init__(
        self,
        numbers: Sequence[StateField],
        lists: Sequence[ListField],
        groups: Sequence[GroupsField],
        spare_lists: int = 0,
    ) -> None:
        self.fields: tuple[StateField, ...] = (*numbers, *lists, *groups)
        self.numbers = tuple(numbers)
        self.lists = tuple(lists)
        self.groups = tuple(groups)
        self.spare_lists = spare_lists  # always empty; they follow the lists
        self._numbers = values_of(numbers)
        self._lists = values_of(lists)
        self._groups = values_of(groups)

    def put(self, game: Game, out: Packer) -> None:
        """Append the state of a game."""
        numbers = out.numbers
        numbers.extend(self._numbers(game))
        for values in self._lists(game):
            numbers.append(len(values))
            numbers.extend(values)
        for _ in range(self.spare_lists):
            numbers.append(0)
        groups = self._groups(game)
        for place, field in enumerate(self.groups):
            field.put(groups[place], out)

    def fill(self, game: Game, feed: Unpacker) -> None:
        """Read the state into a game."""
        for field in self.numbers:
            field.fill(game, feed)
        for list_field in self.lists:
            list_field.fill(game, feed)
        for _ in range(self.spare_lists):
            if feed.get():
                raise ValueError("this ruleset has no such list")
        for group in self.groups:
            group.fill(game, feed)


def frame(name: str, revision: str) -> list[int]:
    """What every packed position of a ruleset begins with."""
    out = Packer()
    out.put_text(name)
    out.put_text(revision)
    return out.numbers


def pack(game: Game) -> bytes:
    """The position of a game, without chance and events: frame, state, pending steps."""
    ruleset = game.ruleset
    out = Packer(ruleset.frame.copy())
    out.put(game.seats)
    for key, values in ruleset.choices.items():
        out.put(values.index(game.options[key]))
    ruleset.state.put(game, out)
    out.put(len(game.stack))
    for step in game.stack:
        out.put_all(ruleset.codec.numbers(step))
    return out.bytes()


def unpack(ruleset: Ruleset, data: bytes, chance: Chance) -> Game:
    """The game of a packed position without its frame, standing where it stood."""
    feed = Unpacker(data)
    game = ruleset.empty(feed.get(), chance, _unpack_options(ruleset, feed))
    try:
        ruleset.state.fill(game, feed)
        codec = ruleset.codec
        game.stack = [codec.from_numbers(feed.get_all()) for _ in range(feed.get())]
        feed.finish()
        if not game.over:
            game.advance()
    except (ValueError, LookupError, NotImplementedError):
        raise InvalidRequest("these bytes are not a packed position") from None
    return game


def _unpack_options(ruleset: Ruleset, feed: Unpacker) -> dict[str, str]:
    """The options of a packed position."""
    options = {}
    for key, values in ruleset.choices.items():
        choice = feed.get()
        if choice >= len(values):
            raise InvalidRequest(f"these bytes name no value of the option {key}")
        options[key] = values[choice]
    return options
