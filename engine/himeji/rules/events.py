"""Events in words: for each kind its name, what its numbers mean, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from himeji.rules.constants import GOOD_NAMES, count
from himeji.rules.description import EventKind, numbered
from himeji.rules.game import ACTION, EVENT_KINDS, GAIN, LOST, OVER, PAY, SCORE, Record

if TYPE_CHECKING:
    from himeji.rules.ruleset import Ruleset


class Scene(NamedTuple):
    """What the words of an event depend on."""

    rules: Any  # the ruleset of the family
    seats: int

    def who(self, clan: int) -> str:
        """A clan: a seat, or the rival that nobody plays."""
        return f"seat {clan}" if clan < self.seats else "the rival"

    def line(self, number: int) -> str:
        """A line of the scoring."""
        name: str = self.rules.scoring[number].name
        return name

    def card(self, number: int) -> str:
        """The id of a component."""
        name: str = self.rules.tables.names[number]
        return name


class EventWords(NamedTuple):
    """A kind of event. Names in braces are lists of the ruleset that its family gives."""

    name: str
    text: str
    a: str
    b: str
    say: Callable[[Scene, str, int, int], str]  # who, a, b


UNUSED: Final = "always 0"
COMMON_EVENTS: Final[Mapping[int, EventWords]] = {
    ACTION: EventWords(
        EVENT_KINDS[ACTION],
        "A seat answered its decision.",
        "the id of the action",
        UNUSED,
        lambda scene, who, action, _: f"{who}: {scene.rules.actions.text(action)}",
    ),
    GAIN: EventWords(
        EVENT_KINDS[GAIN],
        "A clan gained something; what its cap refused is not counted.",
        "the good: {goods}",
        "how many, may be 0",
        lambda _, who, good, amount: f"{who} gains {count(amount, good)}",
    ),
    LOST: EventWords(
        EVENT_KINDS[LOST],
        "A cap refused a part of the gain before.",
        "the good: {goods}",
        "how many were lost",
        lambda _, who, good, amount: f"{who} has no room for {count(amount, good)}",
    ),
    PAY: EventWords(
        EVENT_KINDS[PAY],
        "A clan paid something.",
        "the good: {goods}",
        "how many",
        lambda _, who, good, amount: f"{who} pays {count(amount, good)}",
    ),
    SCORE: EventWords(
        EVENT_KINDS[SCORE],
        "A line of the final scoring.",
        "the line: {lines}",
        "the points",
        lambda scene, who, line, points: f"{who} scores {points} for {scene.line(line)}",
    ),
    OVER: EventWords(
        EVENT_KINDS[OVER],
        "The game is over for a clan.",
        "its rank, 1 is best",
        "its score",
        lambda _, who, rank, score: f"{who} ends as number {rank} with {score} points",
    ),
}


def event_names(events: Mapping[int, EventWords]) -> dict[int, str]:
    """The name of each kind of event."""
    return {kind: words.name for kind, words in sorted(events.items())}


def describe_events(
    rules: Ruleset, events: Mapping[int, EventWords], lists: Mapping[str, str]
) -> list[EventKind]:
    """Every kind of event, ascending, with the meaning of its numbers."""
    lists = {
        "goods": numbered(GOOD_NAMES, rules.goods),
        "lines": numbered([line.name for line in rules.scoring]),
        **lists,
    }
    return [
        EventKind(kind, each.name, each.text, (each.a.format_map(lists), each.b.format_map(lists)))
        for kind, each in sorted(events.items())
    ]


def tell(rules: Ruleset, events: Mapping[int, EventWords], record: Record, seats: int) -> str:
    """An event of a game with so many seats, in words."""
    kind, clan, a, b, _ = record
    scene = Scene(rules, seats)
    return events[kind].say(scene, scene.who(clan), a, b)
