"""A castle ruleset is a value: tables, vocabulary and steps. Another ruleset is another value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from himeji.rules.castle.board_description import describe_board
from himeji.rules.castle.components import Tables
from himeji.rules.castle.constants import PLACE, TAKE
from himeji.rules.castle.description import describe_components, describe_steps
from himeji.rules.castle.events import describe_events, tell
from himeji.rules.castle.position import describe
from himeji.rules.castle.reader import parse
from himeji.rules.castle.section import Section
from himeji.rules.castle.state import CastleGame, castle_state
from himeji.rules.castle.step_fields import Die, RowIcon
from himeji.rules.castle.turn import Area
from himeji.rules.chance import Chance
from himeji.rules.description import BoardPart, Component, DescribedStep, EventKind, Face
from himeji.rules.effects import Effect, Vocabulary
from himeji.rules.events import EventWords, event_names
from himeji.rules.game import Record
from himeji.rules.packing import ListField
from himeji.rules.ruleset import Ruleset
from himeji.rules.step_fields import Card, Cards, Icons, Name
from himeji.rules.steps import StepCodec, StepKind

Phases = tuple[Callable[[Any], None], ...]
DescribeBoard = Callable[[Any], Iterator[BoardPart]]
DescribeFaces = Callable[[Any, Any], Iterator[Face]]


@dataclass(eq=False)
class CastleRuleset(Ruleset):
    """Everything that distinguishes one castle ruleset from another. No code asks for its name."""

    tables: Tables
    words: Vocabulary
    kinds_of_area: Mapping[str, Area]
    step_kinds: tuple[StepKind, ...]
    colours: tuple[int, ...]  # of dice and bridges
    game: type[CastleGame]  # the class of its games
    own_state: tuple[ListField, ...]  # fields of that class beyond those of CastleGame
    pile_names: Mapping[int, str]
    decks: tuple[int, ...]  # piles that are drawn from during play
    kept: tuple[str, ...]  # kinds of cards that never leave the game
    lantern_kinds: tuple[str, ...]  # of cards that shine without having been an action card
    tile_kinds: tuple[str, ...]  # kinds of tiles whose name does not say so
    sections: tuple[Section, ...]  # what positions hold beyond those of the base game
    events: Mapping[int, EventWords]
    step_texts: Mapping[str, str]  # what each kind of step is
    field_texts: Mapping[str, str]  # what each field of a step is
    own_board: tuple[DescribeBoard, ...]  # printed parts beyond those of the base game
    own_faces: Mapping[str, DescribeFaces]  # of components, by their kind
    dice_per_colour: Mapping[int, int]  # by clans at the table (B-1.1)
    stacking: Mapping[int, int]  # dice per main-board space, by clans (B-2.6)
    rivals: int  # clans that nobody plays
    rounds: int
    turns: int  # per clan and round
    begin_turn: Callable[[CastleGame, int], None]
    next_step: Callable[[CastleGame], None]
    round_end: Phases
    game_end: Phases
    takes: tuple[int, ...] = field(init=False)
    places: tuple[int, ...] = field(init=False)
    areas: list[Area] = field(init=False)
    lantern: Effect = field(init=False)

    def __post_init__(self) -> None:
        """What follows from the fields."""
        super().__post_init__()
        self.state = castle_state(self.decks, self.own_state)
        self.event_kinds = event_names(self.events)
        types = {
            "card": Card(self.tables),
            "cards": Cards(self.tables),
            "effects": Icons(self.words),
            "icon": RowIcon(self.words),
            "die": Die(self.colours),
            "space": Name([space.name for space in self.tables.spaces]),
        }
        self.codec = StepCodec(self.step_kinds, types)
        self.takes = tuple(TAKE + 2 * colour + side for colour in self.colours for side in (0, 1))
        self.places = tuple(PLACE + number for number in range(len(self.tables.spaces)))
        self.areas = [self.kinds_of_area[space.area] for space in self.tables.spaces]
        self.lantern = self.words.parse("lantern")

    def empty(self, seats: int, chance: Chance, options: Mapping[str, str]) -> CastleGame:
        """A game before its set-up."""
        self.check_seats(seats)
        game = self.game(self, seats, seats + self.rivals, chance)
        game.options = self.check_options(options)
        game.stacking = self.stacking[game.clans]
        return game

    def parse(self, position: Mapping[str, Any], chance: Chance) -> CastleGame:
        """The game of a position in JSON form."""
        return parse(self, position, chance)

    @property
    def has_rival(self) -> bool:
        """Whether a clan takes part that no seat plays."""
        return self.rivals > 0

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

    def describe(self, game: CastleGame) -> dict[str, Any]:
        """The position with names instead of numbers."""
        return describe(game)
