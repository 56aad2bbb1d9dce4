"""Numbers as bytes: small ones take one byte (LEB128), for compact positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from himeji.rules.errors import InvalidRequest
from himeji.rules.game import Game
from himeji.rules.ruleset import Ruleset


class Packer:
    """Gathers whole numbers that are not negative."""

    def __init__(self) -> None:
        self._numbers: list[int] = []

    def put(self, number: int) -> None:
        """Append one number."""
        self._numbers.append(number)

    def put_all(self, numbers: Sequence[int]) -> None:
        """Append a list with its length."""
        self._numbers.append(len(numbers))
        self._numbers.extend(numbers)

    def put_text(self, text: str) -> None:
        """Append a text."""
        self.put_all(text.encode())

    def bytes(self) -> bytes:
        """Everything so far."""
        numbers, packed, start = self._numbers, bytearray(), 0
        for place in [place for place, number in enumerate(numbers) if number > 127]:
            packed += bytes(numbers[start:place])
            rest = numbers[place]
            while rest > 127:
                packed.append(rest & 127 | 128)
                rest >>= 7
            packed.append(rest)
            start = place + 1
        return bytes(packed) + bytes(numbers[start:])


class Unpacker:
    """Reads what a Packer wrote, in the same order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def get(self) -> int:
        """The next number."""
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
        """The next list."""
        return [self.get() for _ in range(self.get())]

    def get_groups(self) -> list[tuple[int, ...]]:
        """The next list of lists."""
        return [tuple(self.get_all()) for _ in range(self.get())]

    def get_text(self) -> str:
        """The next text."""
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


def pack_game(
    game: Game,
    numbers: Sequence[int],
    lists: Sequence[Sequence[int]],
    groups: Sequence[Sequence[Sequence[int]]],
) -> bytes:
    """A position of any family: its frame, then its numbers, its lists, and the pending steps."""
    out, ruleset = Packer(), game.ruleset
    out.put_text(ruleset.name)
    out.put_text(ruleset.revision)
    out.put(game.seats)
    for key, values in ruleset.choices.items():
        out.put(values.index(game.options[key]))
    for number in numbers:
        out.put(number)
    for each in lists:
        out.put_all(each)
    for group in groups:
        out.put(len(group))
        for each in group:
            out.put_all(each)
    out.put(len(game.stack))
    for step in game.stack:
        out.put_all(ruleset.codec.numbers(step))
    return out.bytes()


def unpack_options(ruleset: Ruleset, feed: Unpacker) -> dict[str, str]:
    """The options of a packed position."""
    options = {}
    for key, values in ruleset.choices.items():
        choice = feed.get()
        if choice >= len(values):
            raise InvalidRequest(f"these bytes name no value of the option {key}")
        options[key] = values[choice]
    return options


def finish_unpacking(game: Game, feed: Unpacker, fill: Callable[[Any, Unpacker], None]) -> None:
    """Fill an empty game with the family's lists and the pending steps; let it stand."""
    try:
        fill(game, feed)
        codec = game.ruleset.codec
        game.stack = [codec.from_numbers(feed.get_all()) for _ in range(feed.get())]
        feed.finish()
        if not game.over:
            game.advance()
    except (ValueError, LookupError, NotImplementedError):
        raise InvalidRequest("these bytes are not a packed position") from None
