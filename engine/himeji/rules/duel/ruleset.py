"""The ruleset of Duel as a value: tables, vocabulary, steps, set-up, scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from himeji.rules.chance import Chance
from himeji.rules.description import BoardPart, Component, DescribedStep, EventKind
from himeji.rules.duel.board_description import describe_board
from himeji.rules.duel.components import Tables
from himeji.rules.duel.constants import DECLINE, DO, SLOT_NAMES
from himeji.rules.duel.description import describe_components, describe_steps
from himeji.rules.duel.events import EVENT_NAMES, describe_events, tell
from himeji.rules.duel.position import describe
from himeji.rules.duel.reader import parse
from himeji.rules.duel.state import DUEL_STATE, DuelGame
from himeji.rules.effects import Vocabulary
from himeji.rules.game import Record
from himeji.rules.ruleset import Ruleset
from himeji.rules.step_fields import Card, Icons
from himeji.rules.steps import StepCodec, StepKind


@dataclass(eq=False)
class DuelRuleset(Ruleset):
    """Everything that Duel is made of."""

    tables: Tables
    words: Vocabulary
    step_kinds: tuple[StepKind, ...]
    next_step: Callable[[DuelGame], None]
    adjacent: tuple[int, ...] = field(init=False)  # mask of slots, by location
    adjacent_answers: list[tuple[int, ...]] = field(init=False)  # by mask of slots

    def __post_init__(self) -> None:
        """What follows from the fields."""
        super().__post_init__()
        types = {"card": Card(self.tables), "effects": Icons(self.words)}
        self.state = DUEL_STATE
        self.event_kinds = EVENT_NAMES
        self.codec = StepCodec(self.step_kinds, types)
        self.adjacent = tuple(
            sum(1 << slot for slot in slots) for slots in self.tables.slots_of_location
        )
        self.adjacent_answers = [_answers(mask) for mask in range(1 << len(SLOT_NAMES))]

    def empty(self, seats: int, chance: Chance, options: Mapping[str, str]) -> DuelGame:
        """A game before its set-up."""
        self.check_seats(seats)
        game = DuelGame(self, seats, chance)
        game.options = self.check_options(options)
        return game

    def parse(self, position: Mapping[str, Any], chance: Chance) -> DuelGame:
        """The game of a position in JSON form."""
        return parse(self, position, chance)

    def describe(self, game: DuelGame) -> dict[str, Any]:
        """The position with names instead of numbers."""
        return describe(game)

    def describe_components(self) -> list[Component]:
        """Every card copy and tile."""
        return describe_components(self)

    def describe_board(self) -> list[BoardPart]:
        """Every printed part of the boards."""
        return describe_board(self)

    def describe_steps(self) -> list[DescribedStep]:
        """Every kind of step."""
        return describe_steps(self)

    def describe_events(self) -> list[EventKind]:
        """Every kind of event."""
        return describe_events(self)

    def tell(self, record: Record, seats: int) -> str:
        """An event in words."""
        return tell(self, record, seats)


def _answers(slots: int) -> tuple[int, ...]:
    """Decline or do each slot of a mask, ascending."""
    left = [slot for slot in range(len(SLOT_NAMES)) if slots >> slot & 1]
    return (*[DECLINE + slot for slot in left], *[DO + slot for slot in left])
