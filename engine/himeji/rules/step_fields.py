"""How the fields of a step are written: each type knows its JSON and its numbers, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from himeji.rules.components import Box
from himeji.rules.description import numbered
from himeji.rules.effects import CODES_PER_WORD, Vocabulary

RULE_BOOKS = "BSMD"


class FieldType:
    """A whole number that is not negative, written as it is; other types derive from it.

    `read` and `take` raise ValueError, TypeError, LookupError or StopIteration if what they are
    given is not of the type.
    """

    name = "a whole number"
    many = False  # whether the numbers are a count and as many others

    def meaning(self) -> str:
        """What the numbers stand for; empty if they simply count."""
        return ""

    def write(self, value: Any) -> Any:
        """The value in JSON."""
        return value

    def read(self, written: Any) -> Any:
        """The value of what JSON says."""
        if isinstance(written, bool) or not isinstance(written, int) or written < 0:
            raise TypeError
        return written

    def numbers(self, value: Any) -> list[int]:
        """The value as numbers."""
        return [int(value)]

    def take(self, feed: Iterator[int]) -> Any:
        """The value of the next numbers."""
        return next(feed)


class Flag(FieldType):
    """Yes or no."""

    name = "true or false"

    def meaning(self) -> str:
        return "1 yes, 0 no"

    def read(self, written: Any) -> Any:
        if not isinstance(written, bool):
            raise TypeError
        return written

    def take(self, feed: Iterator[int]) -> Any:
        return bool(next(feed))


class Name(FieldType):
    """A number that stands for one of a few names."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.name = f"one of {', '.join(self.names)}"

    def meaning(self) -> str:
        return numbered(self.names)

    def write(self, value: Any) -> Any:
        return self.names[value]

    def read(self, written: Any) -> Any:
        return self.names.index(written)

    def take(self, feed: Iterator[int]) -> Any:
        return range(len(self.names))[next(feed)]


class Mask(FieldType):
    """A bit mask, written as the list of the names that are in it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.name = f"a list of some of {', '.join(self.names)}"

    def meaning(self) -> str:
        return "a bit mask, " + ", ".join(f"{1 << n} {name}" for n, name in enumerate(self.names))

    def write(self, value: Any) -> Any:
        return [name for number, name in enumerate(self.names) if value >> number & 1]

    def read(self, written: Any) -> Any:
        if not isinstance(written, list) or len(set(written)) != len(written):
            raise TypeError
        return sum([1 << self.names.index(name) for name in written])

    def take(self, feed: Iterator[int]) -> Any:
        return range(1 << len(self.names))[next(feed)]


class Names(FieldType):
    """Several numbers that stand for names."""

    many = True

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.name = f"a list of some of {', '.join(self.names)}"

    def meaning(self) -> str:
        return numbered(self.names)

    def write(self, value: Any) -> Any:
        return [self.names[number] for number in value]

    def read(self, written: Any) -> Any:
        if not isinstance(written, list):
            raise TypeError
        return tuple([self.names.index(name) for name in written])

    def numbers(self, value: Any) -> list[int]:
        return [len(value), *value]

    def take(self, feed: Iterator[int]) -> Any:
        known = range(len(self.names))
        return tuple([known[next(feed)] for _ in range(next(feed))])


class RuleId(FieldType):
    """A rule id."""

    name = "a rule id"

    def meaning(self) -> str:
        number = "(book * 100 + section) * 100 + paragraph (0 for none)"
        return f"{number}; books are {numbered(RULE_BOOKS)}"

    def read(self, written: Any) -> Any:
        self.numbers(written)
        return written

    def numbers(self, value: Any) -> list[int]:
        section, _, paragraph = value[2:].partition(".")
        book = RULE_BOOKS.index(value[0])
        return [(book * 100 + int(section)) * 100 + int(paragraph or 0)]

    def take(self, feed: Iterator[int]) -> Any:
        book, rest = divmod(next(feed), 10_000)
        section, paragraph = divmod(rest, 100)
        return f"{RULE_BOOKS[book]}-{section}" + (f".{paragraph}" if paragraph else "")


class Card(FieldType):
    """A component."""

    name = "a component"

    def __init__(self, tables: Box[Any]) -> None:
        self.tables = tables

    def meaning(self) -> str:
        return "the number of a component"

    def write(self, value: Any) -> Any:
        return self.tables.names[value]

    def read(self, written: Any) -> Any:
        return self.tables.numbers[written]

    def take(self, feed: Iterator[int]) -> Any:
        return self.tables.of(next(feed)).number


class Cards(FieldType):
    """Several components."""

    name = "a list of components"
    many = True

    def __init__(self, tables: Box[Any]) -> None:
        self.tables = tables

    def meaning(self) -> str:
        return "the number of a component"

    def write(self, value: Any) -> Any:
        return [self.tables.names[card] for card in value]

    def read(self, written: Any) -> Any:
        if not isinstance(written, list):
            raise TypeError
        return tuple([self.tables.numbers[card] for card in written])

    def numbers(self, value: Any) -> list[int]:
        return [len(value), *value]

    def take(self, feed: Iterator[int]) -> Any:
        return tuple([self.tables.of(next(feed)).number for _ in range(next(feed))])


class Icons(FieldType):
    """Several effects."""

    name = "a list of effects"
    many = True

    def __init__(self, words: Vocabulary) -> None:
        self.words = words

    def meaning(self) -> str:
        return effect_codes(self.words)

    def write(self, value: Any) -> Any:
        return [effect.text for effect in value]

    def read(self, written: Any) -> Any:
        if not isinstance(written, list):
            raise TypeError
        return tuple([self.words.parse(text) for text in written])

    def numbers(self, value: Any) -> list[int]:
        return [len(value), *[effect.code for effect in value]]

    def take(self, feed: Iterator[int]) -> Any:
        return tuple([self.words.effect(next(feed)) for _ in range(next(feed))])


def effect_codes(vocabulary: Vocabulary) -> str:
    """What the number of an effect stands for."""
    words = {
        code // CODES_PER_WORD: text.lstrip("0123456789 ")
        for text, code in vocabulary.describe().items()
    }
    listed = ", ".join(f"{number} {word}" for number, word in sorted(words.items()))
    return f"word * {CODES_PER_WORD} + amount (0 where none is counted); the words are {listed}"
