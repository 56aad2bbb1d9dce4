"""A bot that is examined, with its time measured on a clock like that of an arena."""

from __future__ import annotations

import random
import time
from typing import Any

from himeji.rules import Game
from himeji.wire.clock import Clock

from himeji_sdk._bot import AnyBot, Bot, End, Start, bot_factory


class ClockExpiredError(Exception):
    """The bot has used up its clock."""


class TimedBot:
    """Passes everything on to the bot, and measures how long each choice takes."""

    def __init__(self, bot: AnyBot, clock: tuple[float, float] | None = None) -> None:
        factory = bot_factory(bot)
        self.name = factory.name
        self.times: list[float] = []
        self._bot: Any = factory.make()
        self._choose = getattr(self._bot, "choose", self._bot)
        self._clock = None if clock is None else Clock(*(round(each * 1000) for each in clock))
        self._left_ms = 0 if self._clock is None else self._clock.bank_ms

    @property
    def time_left(self) -> float | None:
        """What its clock shows, None without one."""
        return None if self._clock is None else self._left_ms / 1000

    def choose(self, game: Game, legal: list[int]) -> int:
        if isinstance(self._bot, Bot):
            self._bot.time_left = self.time_left
        begun = time.monotonic()
        action: int = self._choose(game, legal)
        self.times.append(time.monotonic() - begun)
        if self._clock is not None:
            elapsed_ms = round(self.times[-1] * 1000)
            self._left_ms = self._clock.after_answer(self._left_ms, elapsed_ms)
        return action

    def on_start(self, start: Start) -> None:
        if hasattr(self._bot, "on_start"):
            self._bot.on_start(start)

    def on_end(self, end: End) -> None:
        if hasattr(self._bot, "on_end"):
            self._bot.on_end(end)

    def check_clock(self) -> None:
        """Raise ClockExpiredError if the clock has run out."""
        if self._left_ms < 0:
            raise ClockExpiredError


def lineup(bot: object, seats: int, number: int) -> list[Any]:
    """The bot among others that play at random, repeatably; its seat depends on the number."""
    others: list[Any] = [_RandomOpponent(number * seats + seat) for seat in range(seats - 1)]
    others.insert(number % seats, bot)
    return others


class _RandomOpponent:
    """Plays any legal action."""

    name = "other"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret

    def choose(self, _game: Game, legal: list[int]) -> int:
        return self._random.choice(legal)
