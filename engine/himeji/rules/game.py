"""The verbs that every game has, and the stack of steps that drives them all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from himeji.rules.chance import Chance, Fast
from himeji.rules.errors import GameEnded, IllegalAction

if TYPE_CHECKING:
    from himeji.rules.ruleset import Ruleset

# Kinds of events that every family has; a family's own kinds follow from FIRST_OWN_EVENT on.
ACTION: Final = 1  # a = action id
ROLL: Final = 2  # a = which die, b = face
DRAW: Final = 3  # a = pile, b = card
GAIN: Final = 4  # a = good, b = amount
LOST: Final = 5  # a = good, b = amount that the cap refused
PAY: Final = 6  # a = good, b = amount
SCORE: Final = 7  # a = scoring line, b = points
OVER: Final = 8  # a = rank
FIRST_OWN_EVENT: Final = 16
EVENT_KINDS: Final = {
    ACTION: "action",
    ROLL: "roll",
    DRAW: "draw",
    GAIN: "gain",
    LOST: "lost",
    PAY: "pay",
    SCORE: "score",
    OVER: "over",
}

Record = tuple[int, int, int, int, str]
"""An event as the log keeps it: kind, seat (-1: nobody), a, b, rule id."""


class Event(NamedTuple):
    """One thing that happened, with the rule that made it happen.

    What `a` and `b` mean depends on `kind` and is listed by the ruleset (`Ruleset.event_kinds`).
    """

    kind: str
    seat: int
    a: int
    b: int
    rule: str


class RandomBits(Protocol):
    """What the verbs ask of a generator: `random.Random` has it."""

    def getrandbits(self, k: int, /) -> int:
        """Return `k` random bits as a number."""
        ...


class Step:
    """One thing still to be done. Steps never change, so that clones can share them.

    A step that asks nobody has no options and is run. A step that asks (a decision) says which
    answers are legal and what an answer does, side by side: `blocked` is the only place that
    knows why an answer is not allowed, and both `options` and the refusal come from it.
    """

    seat: int
    rule: str

    def __init__(self, seat: int, rule: str) -> None:
        self.seat = seat
        self.rule = rule

    def run(self, game: Any) -> None:
        """Do it; only steps that ask nobody are run."""
        raise NotImplementedError

    def candidates(self, game: Any) -> Sequence[int]:
        """The answers that this kind of decision knows, ascending."""
        return ()

    def blocked(self, game: Any, action: int) -> int:
        """0 if the answer is legal now, else a number that `explain` can put into words."""
        return 0

    def explain(self, game: Any, action: int, block: int) -> tuple[str, str]:
        """The sentence and the rule id for a blocked answer."""
        raise NotImplementedError

    def options(self, game: Any) -> list[int]:
        """The legal answers, ascending."""
        return [action for action in self.candidates(game) if self.blocked(game, action) == 0]

    def resolve(self, game: Any, action: int) -> None:
        """Do what a legal answer says."""
        raise NotImplementedError

    def fault(self, game: Any) -> str:
        """Why the step cannot be pending in this position, empty if it can: for hand-made ones."""
        return ""

    def question(self, game: Any) -> str:
        """What is being asked, for refusals and drawings."""
        raise NotImplementedError


class Game:
    """A game in progress: three verbs (`legal`, `apply`, `clone`) and what follows from them."""

    def __init__(self, ruleset: Ruleset, seats: int, chance: Chance) -> None:
        self.ruleset = ruleset
        self.seats = seats
        self.options: dict[str, str] = {}
        self.chance = chance
        self.round = 1
        self.turn = 0  # turns begun in this round
        self.stack: list[Step] = []
        self.over = False
        self.answers: list[int] = []
        self.log: list[Record] | None = []

    # --- what a family adds -------------------------------------------------------------------

    def free_answers(self, step: Step) -> list[int]:
        """Answers that may be given at any decision, lower than every other id."""
        raise NotImplementedError

    def free_answer(self, seat: int, action: int) -> bool:
        """Do a free answer; False if the action is none."""
        raise NotImplementedError

    def free_answer_rule(self, action: int) -> str:
        """The rule of a free answer, empty if the action is none."""
        raise NotImplementedError

    def explain_free_answer(self, step: Step, action: int) -> tuple[str, str] | None:
        """Why a free answer is not allowed, None if the action is none."""
        raise NotImplementedError

    def next_step(self) -> None:
        """Push what comes next when nothing is pending, or end the game."""
        raise NotImplementedError

    def clone(self) -> Game:
        """An independent copy, chance included, without the log of events."""
        raise NotImplementedError

    def scores(self) -> list[int]:
        """Points per clan; a rival that nobody plays is the last."""
        raise NotImplementedError

    def ranking(self) -> list[int]:
        """Rank per clan, 1 is best, equal ranks are shared."""
        raise NotImplementedError

    def breakdown(self) -> list[dict[str, int]]:
        """Points per clan by scoring line."""
        raise NotImplementedError

    # --- the verbs ----------------------------------------------------------------------------

    @property
    def to_move(self) -> int | None:
        """The seat that is asked, None when the game is over."""
        return None if self.over else self.stack[-1].seat

    def legal(self) -> list[int]:
        """The action ids that may be applied now, ascending; empty only when the game is over."""
        return self.answers.copy()

    def apply(self, action: int) -> None:
        """Play one action. Raises IllegalAction with the reason, and then nothing has changed."""
        if action not in self.answers:
            raise self._refusal(action)
        self.play(action)

    def play(self, action: int) -> None:
        """Play an action that is known to be legal."""
        stack = self.stack
        seat = stack[-1].seat
        if self.log is not None:
            rule = self.free_answer_rule(action) or stack[-1].rule
            self.log.append((ACTION, seat, action, 0, rule))
        if not self.free_answer(seat, action):
            stack.pop().resolve(self, action)
        self.advance()

    def advance(self) -> None:
        """Run steps until somebody has a real choice, or the game is over."""
        stack = self.stack
        while True:
            if not stack:
                if self.over:
                    self.answers = []
                    return
                self.next_step()
                continue
            step = stack[-1]
            options = step.options(self)
            if not options:
                stack.pop()
                step.run(self)
                continue
            free = self.free_answers(step)
            if free:
                self.answers = free + options
                return
            if len(options) > 1:
                self.answers = options
                return
            stack.pop()
            step.resolve(self, options[0])

    def resample(self, rng: RandomBits) -> Game:
        """The same public position with a fresh, independent future."""
        twin = self.clone()
        twin.chance = Fast(rng.getrandbits(96))
        return twin

    def playout(self, rng: RandomBits) -> list[int]:
        """Play uniformly random legal actions to the end in a copy; the scores of that game."""
        dice = Fast(rng.getrandbits(96))
        twin = self.clone()
        twin.chance = dice
        while not twin.over:
            answers = twin.answers
            twin.play(answers[dice.below(len(answers))])
        return twin.scores()

    def dumps(self) -> bytes:
        """The position as compact bytes, without chance and events; `loads` reads them."""
        return self.ruleset.write(self)

    def to_json(self) -> str:
        """The position as readable JSON, without chance and events; `from_json` reads it."""
        return json.dumps(self.ruleset.describe(self), indent=1, ensure_ascii=False)

    # --- events -------------------------------------------------------------------------------

    def note(self, kind: int, seat: int, a: int, b: int, rule: str) -> None:
        """Remember that something happened; clones remember nothing."""
        if self.log is not None:
            self.log.append((kind, seat, a, b, rule))

    def events_since(self, number: int) -> list[Event]:
        """What happened after the first `number` events of this game object."""
        if self.log is None:
            return []
        kinds = self.ruleset.event_kinds
        return [Event(kinds[k], seat, a, b, rule) for k, seat, a, b, rule in self.log[number:]]

    # --- refusing -----------------------------------------------------------------------------

    def _refusal(self, action: int) -> Exception:
        if self.over:
            return GameEnded("the game is over, no action is legal")
        texts = self.ruleset.actions
        tried = texts.text(action)
        step = self.stack[-1]
        free = self.explain_free_answer(step, action)
        if free is not None:
            sentence, rule = free
        elif action in step.candidates(self):
            sentence, rule = step.explain(self, action, step.blocked(self, action))
        else:
            sentence, rule = "that is no answer to this question", step.rule
        legal = ", ".join(f"“{texts.text(answer)}”" for answer in self.answers)
        return IllegalAction(
            f"seat {step.seat} is asked to {step.question(self)} and tried “{tried}”: {sentence}; "
            f"legal are {legal}",
            action=action,
            rule=rule,
            legal=self.answers,
        )


def stand_in(game: Game) -> int:
    """The action that is played for a seat that was lost, so that everybody can foresee it.

    It is the lowest legal action that is no free answer; where something may be declined, it is.
    """
    free = game.free_answers(game.stack[-1])
    return next(action for action in game.answers if action not in free)
