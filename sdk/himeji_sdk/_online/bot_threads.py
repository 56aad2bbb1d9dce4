"""The threads in which a bot is asked online, and the watchdog over its time.

Invariant: everything belongs to the thread of the job loop, except `_ask` and `_notify_end`, which
run in a worker thread and report through `call_soon`. A worker that is stuck in a bot cannot be
stopped; the watchdog reports it with the position and the line of the bot's code, and its late
answer is dropped because its `OpenQuestion` is no longer the one in `_open`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from himeji_sdk._bot import BotFactory, Question
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._online.game_session import GameSession
from himeji_sdk._online.job_loop import JobLoop
from himeji_sdk._worker_threads import WorkerThreads

MAX_THREADS: Final = 32
WATCHDOG_INTERVAL_SECONDS: Final = 0.25

_log = logging.getLogger("himeji_sdk")


class BotListener(Protocol):
    """Gets what came of the questions, in the thread of the job loop."""

    def on_choice(self, session: GameSession, decision: int, action: int) -> None: ...

    def on_skipped(self, session: GameSession, decision: int) -> None:
        """The bot was not asked: it is being stopped, or the game is over."""
        ...

    def on_fault(self, session: GameSession, fault: BotFault) -> None: ...

    def on_game_end(self, session: GameSession) -> None:
        """The bot's `on_end` was called, or will be when the bot returns from a late answer."""
        ...


@dataclass(eq=False)
class OpenQuestion:
    """A question that was handed to the bot's threads and is not answered."""

    session: GameSession
    question: Question
    decision: int
    begun: float = field(default_factory=time.monotonic)
    thread: int = 0
    """The thread that asks the bot; 0 while the question waits for one."""

    reported: bool = False

    def overdue(self, limit: float | None) -> bool:
        """Whether the bot has used up the limit, or without one its clock."""
        allowed = self.question.time_left if limit is None else limit
        if allowed is None or not self.thread or self.reported:
            return False
        return time.monotonic() - self.begun > allowed

    def report(self) -> BotFault:
        """The fault of a bot that does not answer."""
        self.reported = True
        return self.session.hung_fault(self.question, time.monotonic() - self.begun, self.thread)


class BotThreads:
    """Asks one bot about all its games: a shared object in one thread, else a thread per game."""

    def __init__(
        self, factory: BotFactory, loop: JobLoop, listener: BotListener, limit: float | None
    ) -> None:
        self.stopping = False
        """Set it, and questions that wait for a thread are skipped."""
        self.ends_pending = 0
        """Games whose `on_end` call is queued or running."""
        self._loop = loop
        self._listener = listener
        self._limit = limit
        self._threads = WorkerThreads(1 if factory.shared else MAX_THREADS)
        self._open: dict[str, OpenQuestion] = {}
        self._stuck: set[str] = set()  # games whose bot is beyond the limit and has not returned
        self._watchdog_runs = False

    @property
    def busy(self) -> bool:
        """Whether an answer may still come in time."""
        return any(not each.reported for each in self._open.values())

    def ask(self, session: GameSession, question: Question, decision: int) -> None:
        """Queue a question for the bot."""
        asked = OpenQuestion(session, question, decision)
        self._open[session.game_id] = asked
        self._threads.submit(partial(self._ask, asked))
        if not self._watchdog_runs:
            self._watchdog_runs = True
            self._loop.call_later(WATCHDOG_INTERVAL_SECONDS, self._watchdog)

    def end(self, session: GameSession) -> None:
        """Have the bot's `on_end` called; a bot that is stuck in the game is not waited for."""
        late = self._open.pop(session.game_id, None)
        if late is not None and late.thread and not late.reported:
            _log.error("the game ended while its bot was thinking: %s", late.report())
        prompt = late is None and session.game_id not in self._stuck
        self.ends_pending += 1
        self._threads.submit(partial(self._notify_end, session, then_count=prompt))
        if not prompt:
            self._count_end(session)

    def shutdown(self) -> None:
        """Let the threads end as soon as the bot returns."""
        self._threads.shutdown()

    # --- in a worker thread ---------------------------------------------------------------------

    def _ask(self, asked: OpenQuestion) -> None:
        session, decision = asked.session, asked.decision
        over = self._open.get(session.game_id) is not asked  # it ended while it waited
        if self.stopping or over:
            self._report(asked, partial(self._listener.on_skipped, session, decision))
            return
        asked.begun, asked.thread = time.monotonic(), threading.get_ident()
        try:
            action = session.ask_bot(asked.question)
        except BotFault as fault:
            self._report(asked, partial(self._listener.on_fault, session, fault))
        else:
            self._report(asked, partial(self._listener.on_choice, session, decision, action))

    def _report(self, asked: OpenQuestion, deliver: Callable[[], None]) -> None:
        self._loop.call_soon(partial(self._answered, asked, deliver))

    def _notify_end(self, session: GameSession, *, then_count: bool) -> None:
        try:
            session.notify_end()
        except BotFault as fault:
            self._loop.call_soon(partial(self._listener.on_fault, session, fault))
        finally:
            if then_count:
                self._loop.call_soon(partial(self._count_end, session))

    # --- in the thread of the job loop ----------------------------------------------------------

    def _answered(self, asked: OpenQuestion, deliver: Callable[[], None]) -> None:
        """Deliver the outcome of a question, unless it was given up."""
        game_id = asked.session.game_id
        self._stuck.discard(game_id)
        if self._open.get(game_id) is asked:
            del self._open[game_id]
            deliver()

    def _count_end(self, session: GameSession) -> None:
        self.ends_pending -= 1
        self._listener.on_game_end(session)

    def _watchdog(self) -> None:
        """Report what takes too long: beyond the limit as a fault, beyond the clock in the log."""
        for asked in [each for each in self._open.values() if each.overdue(self._limit)]:
            fault = asked.report()
            if self._limit is None:
                _log.error("the clock has run out: %s", fault)
            else:
                del self._open[asked.session.game_id]
                self._stuck.add(asked.session.game_id)
                self._listener.on_fault(asked.session, fault)
        self._watchdog_runs = bool(self._open)
        if self._watchdog_runs:
            self._loop.call_later(WATCHDOG_INTERVAL_SECONDS, self._watchdog)
