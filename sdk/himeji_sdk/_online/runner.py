"""Plays a bot online: one stream, many games, and no lost connection that costs a choice.

Invariant: the caller's thread owns everything here and runs the jobs of one job loop. The thread
that reads the stream and the threads that ask the bot only add jobs to it, so nothing is locked.
A connection may break anywhere: what the arena has not confirmed stays in the game sessions and is
sent again after the next Welcome.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from himeji.rules.errors import HimejiError, VersionMismatch
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Accepted, Decision, GameOver
from himeji.v1.play_service_pb2 import (
    ClientMessage,
    EnteredQueue,
    Hello,
    LeftQueue,
    ReadyNoted,
    Rejected,
    Seated,
    SeatingFailed,
    SeatLost,
    ServerMessage,
    Welcome,
)
from himeji.v1.stream_pb2 import StreamEnd

from himeji_sdk._bot import BotFactory, End
from himeji_sdk._bot_fault import HUNG, BotFault
from himeji_sdk._client.remote_mirror import MissingEventsError
from himeji_sdk._online.bot_threads import BotThreads
from himeji_sdk._online.game_session import GameSession
from himeji_sdk._online.job_loop import Job, JobLoop, stop_on_signals
from himeji_sdk._online.ladder_queues import (
    LadderQueues,
    decline_request,
    ready_request,
    rejection_error,
)
from himeji_sdk._online.reconnecting_stream import ReconnectingStream
from himeji_sdk._online.run_options import RunOptions
from himeji_sdk.connection import with_advice

TRANSIENT: Final = frozenset(
    {
        ErrorReason.ERROR_REASON_UNAVAILABLE,
        ErrorReason.ERROR_REASON_STORE_UNAVAILABLE,
        ErrorReason.ERROR_REASON_DRAINING,
        ErrorReason.ERROR_REASON_DEADLINE_EXCEEDED,
        ErrorReason.ERROR_REASON_RATE_LIMITED,
        ErrorReason.ERROR_REASON_INTERNAL_FAULT,
    }
)
"""Rejections after which the same request is sent again."""

NOT_LEGAL: Final = frozenset(
    {ErrorReason.ERROR_REASON_ILLEGAL_ACTION, ErrorReason.ERROR_REASON_UNKNOWN_ACTION}
)
NO_GAME_OF_OURS: Final = frozenset(
    {ErrorReason.ERROR_REASON_UNKNOWN_GAME, ErrorReason.ERROR_REASON_NOT_YOUR_DECISION}
)
"""Rejections of a game as a whole: the arena lost it, or somebody gave the bot's seat up."""

STOP_GRACE_SECONDS: Final = 5.0
RETRY_DELAY_SECONDS: Final = 1.0

_log = logging.getLogger("himeji_sdk")


class Runner:
    """One bot at one arena."""

    def __init__(self, factory: BotFactory, target: str, token: str, options: RunOptions) -> None:
        self.on_capacity: Job = lambda: None
        """Called when the stream is open for the first time, and when a game is over or lost."""
        self.finished: list[End] = []
        self.lost_games = 0
        """Games that began for the bot and will not end: the arena has them, or it, no more."""
        self.queues = LadderQueues()
        """The ladders that the bot plays on."""
        self._factory = factory
        self._target = target
        self._options = options
        self._loop = JobLoop()
        self._bot = BotThreads(factory, self._loop, self, options.limit)
        self._sessions: dict[str, GameSession] = {}
        self._stream = ReconnectingStream(target, token, self._loop, options.patience, self)
        self._stopping = self._finishing = self._done = False
        self._error: Exception | None = None

    # --- the life of a runner -------------------------------------------------------------------

    def run(self) -> list[End]:
        """Play until stopped; raises errors that a retry does not mend."""
        with stop_on_signals(self.stop):
            self._stream.connect()
            try:
                while not self._done:
                    self._loop.next_job()()
            finally:
                self._stream.drop()
                self._bot.shutdown()
        if self._error is not None:
            raise self._error
        return self.finished

    def stop(self) -> None:
        """Stop after the current decisions; safe in any thread."""
        self._loop.call_soon(partial(self._stop, "stopping after the current decision"))

    def fail(self, error: Exception) -> None:
        """Stop at once, with an error; safe in any thread."""
        self._loop.call_soon(partial(self._fail, error))

    def _stop(self, why: str) -> None:
        if not self._stopping:
            self._stopping = self._bot.stopping = True
            _log.info("%s", why)
            self._send_all(self.queues.leave())
            self._loop.call_later(STOP_GRACE_SECONDS, self._stop_anyway)
        self._finish_if_idle()

    def _stop_anyway(self) -> None:
        """Stop although an answer cannot be delivered; a bot that is choosing gets more time."""
        if self._bot.busy:
            self._loop.call_later(STOP_GRACE_SECONDS, self._stop_anyway)
        else:
            self._done = True

    def _finish_if_idle(self) -> None:
        busy = self._bot.ends_pending > 0 or any(each.busy for each in self._sessions.values())
        if not self._stopping or busy or self._finishing:
            return
        if self._stream.open:
            self._finishing = True
            self._stream.finish()
        else:
            self._done = True

    def _fail(self, error: Exception) -> None:
        if isinstance(error, HimejiError):
            error = with_advice(error, self._target)
        self._error = self._error or error
        self._done = True

    # --- what the stream calls ------------------------------------------------------------------

    def hello(self) -> Hello:
        return self._options.hello(self._factory.name, self._sessions.values())

    def on_stream_lost(self) -> None:
        self._finish_if_idle()

    def on_stream_closed(self, error: HimejiError | None) -> None:
        if error is None:
            self._done = True
        else:
            self._fail(error)

    def on_message(self, message: ServerMessage) -> None:
        """Dispatch a message of the arena; kinds that this version does not know are ignored."""
        kind = message.WhichOneof("body")
        if kind in self._HANDLERS:
            self._HANDLERS[kind](self, getattr(message, kind))

    def _on_welcome(self, welcome: Welcome) -> None:
        first = self._stream.welcomed()
        _log.info("playing %sas %s at %s", "" if first else "again ", welcome.bot, self._target)
        for session in self._sessions.values():
            self._stream.send(session.pending_request())
        self._enter_queues()
        if first:
            self.on_capacity()
        self._finish_if_idle()

    def _enter_queues(self) -> None:
        if not self._has_enough_games():
            self._send_all(self.queues.enter())

    def _send_all(self, requests: Iterable[ClientMessage]) -> None:
        for request in requests:
            self._stream.send(request)

    def _has_enough_games(self) -> bool:
        """Whether as many games as were asked for are over or begun."""
        wanted = self._options.games
        return wanted is not None and len(self.finished) + len(self._sessions) >= wanted

    def _on_seated(self, seated: Seated) -> None:
        game, must_answer = seated.game, seated.HasField("ready_deadline")
        known = self._sessions.get(game.game_id)
        if known is not None:
            known.update(game)
        elif must_answer and (self._stopping or self._has_enough_games()):
            self._stream.send(decline_request(game.game_id))
            return
        elif not self._start_session(seated):
            return
        if must_answer:
            self._stream.send(ready_request(game.game_id, self._options.name))

    def _start_session(self, seated: Seated) -> bool:
        """Begin to play a game; False if this engine cannot play it."""
        game = seated.game
        try:
            session = GameSession(game, self._factory, self._options.name)
        except HimejiError as error:
            _log.error("game %s cannot be played here: %s", game.game_id, error.message)
            resign = ClientMessage()
            resign.resign.game_id = game.game_id
            unanswered = seated.HasField("ready_deadline")
            self._stream.send(decline_request(game.game_id) if unanswered else resign)
            return False
        _log.info("game %s: seats of %s", game.game_id, session.seat_names)
        self._sessions[game.game_id] = session
        if self._has_enough_games():
            self._send_all(self.queues.pause())
        return True

    def _on_decision(self, decision: Decision) -> None:
        session = self._sessions.get(decision.game_id)
        if session is None:
            return
        try:
            question = session.take_decision(decision)
        except MissingEventsError as error:
            _log.warning("game %s: %s; asking for all of them again", session.game_id, error)
            session.reset_mirror()
            self._stream.drop()
            return
        except HimejiError as error:
            self._fail(error)
            return
        if question is None or session.resigning:
            self._stream.send(session.pending_request())
        elif self._stopping:
            session.asking = 0
        else:
            self._bot.ask(session, question, decision.decision_id)

    def _on_accepted(self, accepted: Accepted) -> None:
        session = self._sessions.get(accepted.game_id)
        if session is not None:
            session.settle(accepted.decision_id)
            if accepted.HasField("next_decision"):
                self._on_decision(accepted.next_decision)
            self._finish_if_idle()

    def _on_rejected(self, rejected: Rejected) -> None:
        session = self._sessions.get(rejected.game_id)
        if rejected.ladder and rejected.reason in TRANSIENT:
            self._loop.call_later(RETRY_DELAY_SECONDS, self._enter_queues)
        elif rejected.ladder:
            self._fail(rejection_error(rejected))
        elif session is None or not rejected.decision_id:
            _log.info("%s", rejected.message)
            if session is not None and rejected.reason in NO_GAME_OF_OURS:
                self.lost_games += 1
                self._drop_session(session.game_id)
                self.on_capacity()
        elif rejected.reason in TRANSIENT:
            wait = rejected.retry_delay.ToMilliseconds() / 1000 or RETRY_DELAY_SECONDS
            self._loop.call_later(wait, lambda: self._stream.send(session.pending_request()))
        elif rejected.reason in NOT_LEGAL:
            self._fail(VersionMismatch(f"it refused what is legal here: {rejected.message}"))
        else:
            _log.info("game %s: %s", session.game_id, rejected.message)
            session.settle(rejected.decision_id)
            if rejected.HasField("current"):
                self._on_decision(rejected.current)
        self._finish_if_idle()

    def _on_game_over(self, over: GameOver) -> None:
        session = self._sessions.pop(over.game_id, None)
        if session is None:
            return
        session.over = over
        unfair = session.unfair()
        if unfair:
            _log.error("game %s was not fair: %s", session.game_id, unfair)
        self._bot.end(session)

    def _on_news(self, news: ReadyNoted | SeatLost) -> None:
        _log.info("%s", news.message)

    def _on_entered_queue(self, entered: EnteredQueue) -> None:
        _log.info("%s", entered.message)
        self.queues.on_entered(entered)

    def _on_left_queue(self, left: LeftQueue) -> None:
        _log.info("%s", left.message)
        self.queues.on_left(left)
        self._stop_if_left_all()

    def _on_seating_failed(self, failed: SeatingFailed) -> None:
        _log.info("%s", failed.message)
        self._drop_session(failed.game_id)

    def _drop_session(self, game_id: str) -> None:
        """Forget a game that never comes to an end for this bot, and go on without it."""
        self._sessions.pop(game_id, None)
        self._loop.call_later(RETRY_DELAY_SECONDS, self._enter_queues)
        self._stop_if_left_all()

    def _stop_if_left_all(self) -> None:
        if self.queues.left_all and not self._sessions:
            self._stop("out of all queues")

    def _on_stream_end(self, end: StreamEnd) -> None:
        """The status that follows decides what to do."""
        _log.debug("%s", end.message)

    _HANDLERS: Final[dict[str, Callable[[Runner, Any], None]]] = {
        "welcome": _on_welcome,
        "entered_queue": _on_entered_queue,
        "left_queue": _on_left_queue,
        "seated": _on_seated,
        "ready_noted": _on_news,
        "seating_failed": _on_seating_failed,
        "decision": _on_decision,
        "accepted": _on_accepted,
        "rejected": _on_rejected,
        "seat_lost": _on_news,
        "game_over": _on_game_over,
        "stream_end": _on_stream_end,
    }

    # --- what the bot's threads call ------------------------------------------------------------

    def on_choice(self, session: GameSession, decision: int, action: int) -> None:
        if session.take_choice(decision, action):
            self._stream.send(session.pending_request())
        self._finish_if_idle()

    def on_skipped(self, session: GameSession, decision: int) -> None:
        """Leave the decision open for the next run."""
        if session.asking == decision:
            session.asking = 0
        self._finish_if_idle()

    def on_fault(self, session: GameSession, fault: BotFault) -> None:
        """Resign the game, or stop and leave the decision open."""
        session.asking = 0
        stuck = fault.kind == HUNG and self._factory.shared  # it cannot be asked for other games
        if self._options.resign_on_fault and not stuck:
            _log.error("%s\nThe game is given up.", fault)
            session.resigning = True
            self._stream.send(session.pending_request())
        else:
            self._error = self._error or fault
            self._stop("stopping: the bot made a mistake")

    def on_game_end(self, session: GameSession) -> None:
        """Count a game that is over, and go on or stop."""
        for end in session.ends():
            self.finished.append(end)
            _log.info("game %s: %s", session.game_id, _sentence(end))
        if self._options.games is not None and len(self.finished) >= self._options.games:
            self._stop("all games are over")
        elif self.queues.left_all and not self._sessions:
            self._stop("out of all queues")
        else:
            self.on_capacity()
        self._finish_if_idle()


def _sentence(end: End) -> str:
    if end.rank is None:
        return f"over ({end.reason}), without ranks"
    scores = " : ".join(map(str, end.scores))
    return f"over ({end.reason}), {scores}, seat {end.seat} is number {end.rank}"
