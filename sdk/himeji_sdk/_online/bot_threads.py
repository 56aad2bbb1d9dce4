"""What a bot is thinking about online: the threads it thinks in, and a watch over the time.

A bot that never comes back cannot be stopped from outside; but it is noticed, and reported with the
position and the line of its code that it is at.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from himeji_sdk._bot import Maker, Question
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._online.game_session import Seat
from himeji_sdk._online.job_loop import Inbox
from himeji_sdk._worker_threads import Workers

MOST_THREADS: Final = 32
WATCH_SECONDS: Final = 0.25

_log = logging.getLogger("himeji_sdk")


class Heard(Protocol):
    """Whoever wants to know what a bot chose; called by the inbox's own thread."""

    def chosen(self, seat: Seat, decision: int, action: int) -> None:
        """The bot chose."""
        ...

    def unasked(self, seat: Seat, decision: int) -> None:
        """The bot was not asked, because it is being stopped."""
        ...

    def faulty(self, seat: Seat, fault: BotFault) -> None:
        """The bot made a mistake."""
        ...

    def ended(self, seat: Seat) -> None:
        """The bot knows of the end of a game, or is too busy to hear of it."""
        ...


@dataclass(eq=False)
class Thought:
    """A question that a bot has been given, and where it is being answered."""

    seat: Seat
    question: Question
    decision: int
    begun: float = field(default_factory=time.monotonic)
    thread: int = 0
    """The thread that is at it; 0 while it waits for one."""

    reported: bool = False

    def overdue(self, limit: float | None) -> bool:
        """Whether the bot has had all the time that there is."""
        allowed = self.question.time_left if limit is None else limit
        if allowed is None or not self.thread or self.reported:
            return False
        return time.monotonic() - self.begun > allowed

    def report(self) -> BotFault:
        """The fault of a bot that does not answer."""
        self.reported = True
        return self.seat.hung(self.question, time.monotonic() - self.begun, self.thread)


class Thinking:
    """All questions that one bot has; but for `_think` and `_tell`, the inbox's own thread's."""

    def __init__(self, maker: Maker, inbox: Inbox, heard: Heard, limit: float | None) -> None:
        self.stopping = False
        """Set it, and the bot is not asked any more."""
        self.telling = 0
        """How many games' ends the bot is being told of."""
        self._inbox = inbox
        self._heard = heard
        self._limit = limit
        self._workers = Workers(1 if maker.shared else MOST_THREADS)
        self._open: dict[str, Thought] = {}
        self._stuck: set[str] = set()  # games whose bot was given up and is not back
        self._watching = False

    @property
    def busy(self) -> bool:
        """Whether an answer can still be waited for."""
        return any(not thought.reported for thought in self._open.values())

    def ask(self, seat: Seat, question: Question, decision: int) -> None:
        """Have the bot think."""
        thought = Thought(seat, question, decision)
        self._open[seat.game_id] = thought
        self._workers.do(partial(self._think, thought))
        if not self._watching:
            self._watching = True
            self._inbox.later(WATCH_SECONDS, self._watch)

    def end(self, seat: Seat) -> None:
        """Tell the bot that a game is over; if it still thinks about it, as soon as it is back."""
        late = self._open.pop(seat.game_id, None)
        if late is not None and late.thread and not late.reported:
            _log.error("the game ended while its bot was thinking: %s", late.report())
        waits = late is None and seat.game_id not in self._stuck
        self.telling += 1
        self._workers.do(partial(self._tell, seat, counts=waits))
        if not waits:
            self._count(seat)

    def dismiss(self) -> None:
        """Let the threads end once the bot is back."""
        self._workers.dismiss()

    # --- in a thread of the bot's own -----------------------------------------------------------

    def _think(self, thought: Thought) -> None:
        seat, decision = thought.seat, thought.decision
        over = self._open.get(seat.game_id) is not thought  # it ended while it waited for its turn
        if self.stopping or over:
            self._inbox.put(partial(self._answered, thought, self._heard.unasked, seat, decision))
            return
        thought.begun, thought.thread = time.monotonic(), threading.get_ident()
        try:
            action = seat.choose(thought.question)
        except BotFault as fault:
            self._inbox.put(partial(self._answered, thought, self._heard.faulty, seat, fault))
        else:
            chosen = partial(self._heard.chosen, seat, decision)
            self._inbox.put(partial(self._answered, thought, chosen, action))

    def _tell(self, seat: Seat, *, counts: bool) -> None:
        try:
            seat.tell_ends()
        except BotFault as fault:
            self._inbox.put(partial(self._heard.faulty, seat, fault))
        finally:
            if counts:
                self._inbox.put(partial(self._count, seat))

    # --- in the inbox's own thread --------------------------------------------------------------

    def _answered(self, thought: Thought, hear: Callable[..., None], *said: object) -> None:
        """Pass on what came of a thought, unless it was given up."""
        self._stuck.discard(thought.seat.game_id)
        if self._open.get(thought.seat.game_id) is thought:
            del self._open[thought.seat.game_id]
            hear(*said)

    def _count(self, seat: Seat) -> None:
        self.telling -= 1
        self._heard.ended(seat)

    def _watch(self) -> None:
        """Report what takes too long: by the limit as a fault, by the clock as a warning."""
        for thought in [each for each in self._open.values() if each.overdue(self._limit)]:
            fault = thought.report()
            if self._limit is None:
                _log.error("the clock has run out: %s", fault)
            else:
                del self._open[thought.seat.game_id]
                self._stuck.add(thought.seat.game_id)
                self._heard.faulty(thought.seat, fault)
        self._watching = bool(self._open)
        if self._watching:
            self._inbox.later(WATCH_SECONDS, self._watch)
