"""What every ruleset offers to the registry: its name, its table of actions, its ways to begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from himeji.rules.actions import ActionTable
from himeji.rules.chance import Chance
from himeji.rules.datafile import packaged
from himeji.rules.description import BoardPart, Component, DescribedStep, EventKind, Option, Rule
from himeji.rules.errors import InvalidRequest, VersionMismatch
from himeji.rules.game import Game, Record, Step
from himeji.rules.packing import StateTable, frame, pack, unpack
from himeji.rules.rulebook import paragraphs
from himeji.rules.scoring import ScoreLine
from himeji.rules.steps import StepCodec


@dataclass(eq=False)
class Ruleset:
    """A set of rules that games are played by. Families derive their own from this."""

    name: str
    title: str
    family: str
    revision: str
    seat_counts: tuple[int, ...]
    choices: Mapping[str, tuple[str, ...]]  # options; the first value is the default
    option_words: Mapping[str, str]  # what each option does
    actions: ActionTable
    pages: tuple[str, ...]  # the packaged pages with the text of the rules, in reading order
    goods: tuple[int, ...]  # that clans hold
    cap_rule: str  # says what happens to a gain beyond the cap
    exchange_rule: str  # says when seals may be exchanged
    least_exchange: int  # 1: one seal buys a coin, 2: only two seals buy something
    exchanges: tuple[int, ...]  # goods that 2 seals buy
    setup: tuple[Callable[[Any], None], ...]  # what happens before the first decision, in order
    scoring: tuple[ScoreLine, ...]
    event_kinds: Mapping[int, str] = field(init=False)
    codec: StepCodec = field(init=False)  # writes and reads pending steps
    state: StateTable = field(init=False)  # the fields that packed positions hold
    frame: list[int] = field(init=False)  # what packed positions begin with
    _rule_ids: frozenset[str] = field(init=False)  # read when they are asked for

    def __post_init__(self) -> None:
        """What follows from the fields."""
        self.frame = frame(self.name, self.revision)
        self._rule_ids = frozenset()

    def empty(self, seats: int, chance: Chance, options: Mapping[str, str]) -> Game:
        """A game before its set-up."""
        raise NotImplementedError

    def begin(self, seats: int, chance: Chance, options: Mapping[str, str]) -> Game:
        """Set a game up; it stands at its first decision."""
        game = self.empty(seats, chance, options)
        for phase in self.setup:
            phase(game)
        game.advance()
        return game

    def read(self, data: bytes, chance: Chance) -> Game:
        """The game that `Game.dumps` wrote, without the frame that names the ruleset."""
        return unpack(self, data, chance)

    def parse(self, position: Mapping[str, Any], chance: Chance) -> Game:
        """The game of a position in JSON form; refuses an impossible one with every reason."""
        raise NotImplementedError

    def write(self, game: Any) -> bytes:
        """The position of a game as compact bytes, with the frame that names the ruleset."""
        return pack(game)

    def describe(self, game: Any) -> dict[str, Any]:
        """The position of a game with names instead of numbers."""
        raise NotImplementedError

    def step_parts(self, step: Step) -> tuple[int, list[int]]:
        """The kind of a pending step and the numbers that describe it, its seat left out."""
        return self.codec.parts(step)

    def scoring_rule(self, line: str) -> str:
        """The rule that a line of `Game.breakdown` follows."""
        return next(each.rule for each in self.scoring if each.name == line)

    # --- what it tells about itself -----------------------------------------------------------

    @property
    def has_rival(self) -> bool:
        """Whether a clan takes part that no seat plays; it is the last in lists per clan."""
        return False

    def describe_options(self) -> list[Option]:
        """Every option, ascending by name."""
        return [
            Option(name, values, values[0], self.option_words[name])
            for name, values in sorted(self.choices.items())
        ]

    def describe_rules(self) -> list[Rule]:
        """The text of every rule, in the order of the pages."""
        return [rule for page in self.pages for rule in paragraphs(packaged(page))]

    def rule_ids(self) -> frozenset[str]:
        """The ids of all rules."""
        if not self._rule_ids:
            self._rule_ids = frozenset([rule.id for rule in self.describe_rules()])
        return self._rule_ids

    def describe_components(self) -> list[Component]:
        """Every card copy and tile, ascending by number."""
        raise NotImplementedError

    def describe_board(self) -> list[BoardPart]:
        """Every printed part of the boards, kind by kind; none where all is on components."""
        return []

    def reconstructed(self) -> bool:
        """Whether a component or a printed part, or something on it, was made up here."""
        components = any(each.reconstructed for each in self.describe_components())
        return components or any(each.reconstructed for each in self.describe_board())

    def describe_steps(self) -> list[DescribedStep]:
        """Every kind of step, ascending, as `step_parts` numbers them."""
        raise NotImplementedError

    def describe_events(self) -> list[EventKind]:
        """Every kind of event, ascending."""
        raise NotImplementedError

    def tell(self, record: Record, seats: int) -> str:
        """An event of a game with so many seats, in words for people."""
        raise NotImplementedError

    # --- what it refuses ----------------------------------------------------------------------

    def check_revision(self, revision: str, what: str = "position") -> None:
        """Refuse a position, game or replay of other rules or components."""
        if revision != self.revision:
            raise VersionMismatch(
                f"the {what} is of revision {revision} of {self.name}, this engine plays revision "
                f"{self.revision}",
                {
                    "what": "ruleset",
                    "client": revision,
                    "server": self.revision,
                    "ruleset": self.name,
                },
            )

    def check_seats(self, seats: int) -> None:
        """Refuse a number of seats that the ruleset is not played with."""
        if seats not in self.seat_counts:
            counts = ", ".join(map(str, self.seat_counts))
            raise InvalidRequest(
                f"{self.name} is played by {counts} seats, not {seats}", {"field": "seats"}
            )

    def check_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """All options with their values; the first choice is the default."""
        for key, value in options.items():
            if key not in self.choices:
                known = ", ".join(self.choices) or "none"
                raise InvalidRequest(
                    f"{self.name} has no option {key!r} (it has: {known})", {"field": "options"}
                )
            if value not in self.choices[key]:
                allowed = ", ".join(self.choices[key])
                raise InvalidRequest(
                    f"option {key} of {self.name} is one of {allowed}, not {value!r}",
                    {"field": "options"},
                )
        return {key: options.get(key, values[0]) for key, values in self.choices.items()}
