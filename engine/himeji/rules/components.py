"""The components of a ruleset: every card and tile by number, read from a data file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from himeji.rules import description
from himeji.rules.constants import GOODS, RESOURCES, UNLIMITED
from himeji.rules.datafile import SOURCES, DataFile, Entry, parse_each
from himeji.rules.effects import Effect, Parse
from himeji.rules.errors import BadComponents


class AnyComponent:
    """One copy of a card or tile. `number` is its name in play."""

    def __init__(self, number: int, kind: str, entry: Entry) -> None:
        self.number = number
        self.kind = kind
        self.id = entry.text("id")
        self.source = entry.source()
        self.reconstructed = entry.reconstructed()
        self.note = entry.remarks()


def describe_component(
    component: AnyComponent,
    kind: str,
    faces: Iterable[description.Face],
    facts: Iterable[tuple[str, int]],
) -> description.Component:
    """A component in words and numbers, with where its facts come from."""
    return description.Component(
        number=component.number,
        id=component.id,
        kind=kind,
        faces=tuple(faces),
        facts=tuple(facts),
        reconstructed=component.reconstructed,
        source=SOURCES[component.source],
        note=component.note,
    )


ComponentT = TypeVar("ComponentT", bound=AnyComponent)


class Box(Generic[ComponentT]):
    """Everything printed on the components of a ruleset, by number, and the numbers it shares."""

    def __init__(self) -> None:
        self.components: list[ComponentT] = []  # the component with number n stands at n - 1
        self.names: list[str] = [""]  # ids by number
        self.numbers: dict[str, int] = {}
        self.kinds: dict[str, list[int]] = {}
        self.caps: list[int] = [UNLIMITED] * GOODS
        self.coins_per_point = 0
        self.resource_points: list[int] = []  # by units held

    def of(self, number: int) -> ComponentT:
        """The component with that number."""
        return self.components[number - 1]

    def all_of(self, kind: str) -> list[ComponentT]:
        """The components of a kind."""
        return [self.of(number) for number in self.kinds[kind]]

    def add(self, component: ComponentT, entry: Entry) -> None:
        """Remember a component by its names."""
        if component.id in self.numbers:
            raise entry.fault("id", "two entries have this id")
        self.components.append(component)
        self.names.append(component.id)
        self.numbers[component.id] = component.number
        self.kinds.setdefault(component.kind, []).append(component.number)


ReadPart = Callable[[Any, DataFile, Parse], None]
Readers = Mapping[str, Callable[[Any, Entry, Parse], None]]
"""How the components of each kind are read."""
Invariants = Mapping[str, Callable[[Any], bool]]
"""Sentences about the whole box that no single entry can show, each with its check."""


class BoxContents(NamedTuple):
    """What a data file holds: cards, then board, then what must hold for the whole box."""

    make: Callable[[int, str, Entry], AnyComponent]  # a component of number and kind
    readers: Readers
    board: Sequence[ReadPart]
    invariants: Invariants


def fill(box: Box[Any], data: DataFile, parse: Parse, contents: BoxContents) -> None:
    """Read a data file into a box and check it completely."""
    for kind, read in contents.readers.items():
        for entry in data.entries(kind):
            component = contents.make(len(box.names), kind, entry)
            box.add(component, entry)
            read(component, entry, parse)
            entry.finish()
    for read_part in contents.board:
        read_part(box, data, parse)
    data.finish()
    for sentence, holds in contents.invariants.items():
        if not holds(box):
            raise BadComponents(f"{data.name}: the box: {sentence}: it does not hold")


def effects(entry: Entry, key: str, texts: list[str], parse: Parse) -> tuple[Effect, ...]:
    """The effects of texts that stand under a key."""
    return tuple(parse_each(entry, key, texts, parse))


def read_money(box: Box[Any], data: DataFile) -> tuple[Entry, Entry]:
    """The caps of resources, and what coins, seals and resources score; both tables stay open."""
    caps, score = data.table("caps"), data.table("score")
    most = caps.number("resource")
    for good in RESOURCES:
        box.caps[good] = most
    box.coins_per_point = score.number("coins-and-seals-per-point")
    if box.coins_per_point == 0:
        raise score.fault("coins-and-seals-per-point", "expected at least 1")
    box.resource_points = score.numbers("resource")
    if len(box.resource_points) != most + 1:
        raise score.fault("resource", f"expected one for each of 0 to {most} units")
    return caps, score
