"""Bots: the class to derive from, the arguments of its methods, and the player that calls it."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from himeji.rules import Game
from himeji.rules.errors import HimejiError, InvalidRequest

from himeji_sdk._bot_fault import CRASHED, HUNG, ILLEGAL, BotFault


@dataclass(frozen=True)
class Start:
    """A game that a bot is about to play."""

    ruleset: str
    seat: int
    """The bot's seat, counted from 0."""

    seats: tuple[str, ...]
    """Who sits where; the names of bots, as far as they are known."""

    options: Mapping[str, str] = field(default_factory=dict)
    game_id: str = ""
    """Empty in a game that is played in-process."""


@dataclass(frozen=True)
class End:
    """How a game ended for a bot."""

    seat: int
    reason: str
    """Why it ended: "finished", or as `EndReason` of the contract has it, such as "timeout"."""

    scores: tuple[int, ...]
    """Points per seat (and those of a rival, last); empty if the game has no ranks."""

    ranks: tuple[int, ...]
    """Rank per seat, 1 is best, equal ranks are shared; empty if the game has no ranks."""

    game_id: str = ""

    @property
    def rank(self) -> int | None:
        """The bot's own rank, None if the game has no ranks."""
        return self.ranks[self.seat] if self.ranks else None

    @property
    def score(self) -> int | None:
        """The bot's own points, None if the game has no ranks."""
        return self.scores[self.seat] if self.scores else None


class Bot:
    """Derive your bot from this class and write `choose`; the other methods may stay as they are.

    The same bot plays in-process (`play`), online (`run`) and in matches.
    """

    name: str = ""
    """The bot's own name; without one it is that of the class."""

    time_left: float | None = None
    """Seconds left on the bot's clock when it is asked; None in a game without clocks."""

    def choose(self, game: Game, legal: list[int]) -> int:
        """Answer with one of the legal actions.

        `game` is the bot's own copy of the position, with all verbs of the engine: play on it,
        clone it, `resample` it. What chance will bring is not in it.
        """
        raise NotImplementedError

    def on_start(self, start: Start) -> None:
        """A game begins, or is taken up again after the program was started anew."""

    def on_end(self, end: End) -> None:
        """A game is over."""


class Chooses(Protocol):
    """Any object with the one method that a bot needs."""

    def choose(self, game: Game, legal: list[int]) -> int:
        """Answer with one of the legal actions."""
        ...


@dataclass(frozen=True)
class Question:
    """A decision as a bot is asked it."""

    game: Game
    seat: int
    legal: list[int]
    game_id: str = ""
    time_left: float | None = None
    asked: float = field(default_factory=time.monotonic)


class Player:
    """Calls a bot of any kind in one game, and turns its mistakes into BotFault."""

    def __init__(self, bot: Any, name: str) -> None:
        self._bot = bot
        self.name = name
        self._choose: Callable[[Game, list[int]], Any] = getattr(bot, "choose", bot)

    def start(self, start: Start) -> None:
        """Call the bot's `on_start`, if it has one; raises BotFault."""
        self._notify("on_start", start, start.game_id, start.seat)

    def end(self, end: End) -> None:
        """Call the bot's `on_end`, if it has one; raises BotFault."""
        self._notify("on_end", end, end.game_id, end.seat)

    def answer(self, question: Question) -> int:
        """The bot's action; raises BotFault unless it is legal."""
        if isinstance(self._bot, Bot):
            left, passed = question.time_left, time.monotonic() - question.asked
            self._bot.time_left = None if left is None else max(0.0, left - passed)
        try:
            answer = self._choose(question.game.clone(), question.legal.copy())
        except (Exception, SystemExit) as error:
            raise _fault(f"{self.name} crashed", CRASHED, question).with_cause(error) from error
        try:
            action = operator.index(answer)
        except TypeError as error:
            what = f"{self.name} answered {answer!r}, which is no action id"
            raise _fault(what, ILLEGAL, question) from error
        if action not in question.legal:
            raise self._illegal(action, question)
        return action

    def _illegal(self, action: int, question: Question) -> BotFault:
        what = f"{self.name} answered {action}, which is not legal"
        try:
            question.game.clone().apply(action)
        except HimejiError as refusal:
            rule = refusal.details.get("rule", "")
            why = refusal.message.partition("; legal are ")[0]  # the report lists them
            return _fault(f"{what}: {why}", ILLEGAL, question, rule)
        return _fault(what, ILLEGAL, question)

    def _notify(self, method: str, event: Start | End, game_id: str, seat: int) -> None:
        callback = getattr(self._bot, method, None)
        if callback is None:
            return
        try:
            callback(event)
        except (Exception, SystemExit) as error:
            what = f"{self.name} crashed in {method}"
            fault = BotFault(what, CRASHED, seat=seat, game_id=game_id)
            raise fault.with_cause(error) from error


def hung_fault(name: str, question: Question, seconds: float, thread: int) -> BotFault:
    """The fault of a bot that is asked in a thread and does not answer."""
    what = f"{name} has not answered for {seconds:.1f} s"
    return _fault(what, HUNG, question).with_stack(thread)


def _fault(what: str, kind: str, question: Question, rule: str = "") -> BotFault:
    return BotFault(
        what,
        kind,
        seat=question.seat,
        game_id=question.game_id,
        game=question.game,
        rule=rule,
    )


@dataclass(frozen=True)
class BotFactory:
    """Makes the bot objects: one for all its games, or a fresh one for each."""

    name: str
    make: Callable[[], Any]
    shared: bool
    """Whether all games are played by one object, which is then asked one question at a time."""

    def new_player(self, name: str = "") -> Player:
        """A player for one more game."""
        return Player(self.make(), name or self.name)


AnyBot: TypeAlias = Chooses | type[Chooses] | Callable[[Game, list[int]], int] | BotFactory
"""An object that chooses, a class of such objects (one is made for each game), or a function.

A `BotFactory` is a class together with options for its constructor (see `load_bot`).
"""


def bot_factory(bot: AnyBot) -> BotFactory:
    """The factory of whatever was given as a bot; raises InvalidRequest if it cannot choose."""
    if isinstance(bot, BotFactory):
        return bot
    name = getattr(bot, "name", "") or getattr(bot, "__name__", type(bot).__name__)
    if isinstance(bot, type):
        if not callable(getattr(bot, "choose", None)):
            raise _not_a_bot(bot)
        return BotFactory(name, bot, shared=False)
    if not callable(getattr(bot, "choose", bot)):
        raise _not_a_bot(bot)
    return BotFactory(name, lambda: bot, shared=True)


def _not_a_bot(thing: object) -> InvalidRequest:
    return InvalidRequest(
        f"{thing!r} is no bot: a bot has a method choose(game, legal), or is such a function"
    )
