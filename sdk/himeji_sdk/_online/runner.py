"""Plays a bot online: one stream, many games, and no lost connection that costs a choice.

One thread, the caller's, owns everything here and does one thing after the other from its inbox;
the thread that reads the stream and those in which bots think only put things into it.
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
    Hello,
    Notice,
    PlayRequest,
    PlayResponse,
    Rejected,
    Seated,
    Welcome,
)

from himeji_sdk._bot import End, Maker
from himeji_sdk._bot_fault import HUNG, BotFault
from himeji_sdk._client.remote_mirror import MissingEventsError
from himeji_sdk._online.bot_threads import Thinking
from himeji_sdk._online.game_session import Seat
from himeji_sdk._online.job_loop import Inbox, Job, on_signals
from himeji_sdk._online.ladder_queues import Queueing, declined, failed, ready, refusal
from himeji_sdk._online.reconnecting_stream import Line
from himeji_sdk._online.run_options import Options
from himeji_sdk.connection import advised

PASSING: Final = frozenset(
    {
        ErrorReason.ERROR_REASON_UNAVAILABLE,
        ErrorReason.ERROR_REASON_STORE_UNAVAILABLE,
        ErrorReason.ERROR_REASON_DRAINING,
        ErrorReason.ERROR_REASON_DEADLINE_EXCEEDED,
        ErrorReason.ERROR_REASON_RATE_LIMITED,
        ErrorReason.ERROR_REASON_INTERNAL_FAULT,
    }
)
"""Refusals of an answer after which the same answer is sent again."""

NOT_ALLOWED: Final = frozenset(
    {ErrorReason.ERROR_REASON_ILLEGAL_ACTION, ErrorReason.ERROR_REASON_UNKNOWN_ACTION}
)
GOODBYE_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 1.0

_log = logging.getLogger("himeji_sdk")


class Runner:
    """One bot at one arena."""

    def __init__(self, maker: Maker, target: str, token: str, options: Options) -> None:
        self.ready: Job = lambda: None
        """Called when the stream is open for the first time, and after each game."""
        self.finished: list[End] = []
        self.queueing = Queueing()
        """The ladders that the bot plays on."""
        self._maker = maker
        self._target = target
        self._options = options
        self._inbox = Inbox()
        self._thinking = Thinking(maker, self._inbox, self, options.limit)
        self._seats: dict[str, Seat] = {}
        self._line = Line(target, token, self._inbox, options.patience)
        self._stopping = self._finishing = self._done = False
        self._error: Exception | None = None

    # --- the life of a runner -------------------------------------------------------------------

    def run(self) -> list[End]:
        """Play until told to stop; raises what cannot be mended by trying again."""
        with on_signals(self.stop):
            self._line.connect(self._hello, self._told, self._line_ended, self._finish_if_idle)
            try:
                while not self._done:
                    self._inbox.next()()
            finally:
                self._line.cut()
                self._thinking.dismiss()
        if self._error is not None:
            raise self._error
        return self.finished

    def stop(self) -> None:
        """Stop after the current decisions; any thread may say so."""
        self._inbox.put(partial(self._stop, "stopping after the current decision"))

    def fail(self, error: Exception) -> None:
        """Stop at once, with an error; any thread may say so."""
        self._inbox.put(partial(self._fail, error))

    def _stop(self, why: str) -> None:
        if not self._stopping:
            self._stopping = self._thinking.stopping = True
            _log.info("%s", why)
            self._send(self.queueing.leave())
            self._inbox.later(GOODBYE_SECONDS, self._hurry)
        self._finish_if_idle()

    def _hurry(self) -> None:
        """An answer that cannot be delivered does not keep the bot from stopping."""
        if self._thinking.busy:
            self._inbox.later(GOODBYE_SECONDS, self._hurry)
        else:
            self._done = True

    def _finish_if_idle(self) -> None:
        busy = self._thinking.telling > 0 or any(seat.busy for seat in self._seats.values())
        if not self._stopping or busy or self._finishing:
            return
        if self._line.open:
            self._finishing = True
            self._line.finish()
        else:
            self._done = True

    def _fail(self, error: Exception) -> None:
        if isinstance(error, HimejiError):
            error = advised(error, self._target)
        self._error = self._error or error
        self._done = True

    def _hello(self) -> Hello:
        return self._options.hello(self._maker.name, self._seats.values())

    def _line_ended(self, error: HimejiError | None) -> None:
        if error is None:
            self._done = True
        else:
            self._fail(error)

    # --- what the arena says --------------------------------------------------------------------

    def _told(self, message: PlayResponse) -> None:
        kind = message.WhichOneof("body")
        if kind in self._MESSAGES:
            self._MESSAGES[kind](self, getattr(message, kind))

    def _welcome(self, welcome: Welcome) -> None:
        first = self._line.welcomed()
        _log.info("playing %sas %s at %s", "" if first else "again ", welcome.bot, self._target)
        for seat in self._seats.values():
            self._line.send(seat.act())
        self.queueing.new_stream()
        self._enter()
        if first:
            self.ready()
        self._finish_if_idle()

    def _enter(self) -> None:
        """Be in the queues, unless there are games enough."""
        if not self._enough():
            self._send(self.queueing.enter())

    def _send(self, requests: Iterable[PlayRequest]) -> None:
        for request in requests:
            self._line.send(request)

    def _enough(self) -> bool:
        """Whether there are as many games as were asked for, over or begun."""
        most = self._options.games
        return most is not None and len(self.finished) + len(self._seats) >= most

    def _seated(self, seated: Seated) -> None:
        game, answer = seated.game, seated.HasField("ready_deadline")
        known = self._seats.get(game.game_id)
        if known is not None:
            known.seated(game)
        elif answer and (self._stopping or self._enough()):
            self._line.send(declined(game.game_id))
            return
        elif not self._sit(seated):
            return
        if answer:
            self._line.send(ready(game.game_id))

    def _sit(self, seated: Seated) -> bool:
        """Take a seat in a game; False if it cannot be played here."""
        game = seated.game
        try:
            seat = Seat(game, self._maker, self._options.name)
        except HimejiError as error:
            _log.error("game %s cannot be played here: %s", game.game_id, error.message)
            request = PlayRequest()
            request.resign.game_id = game.game_id
            unanswered = seated.HasField("ready_deadline")
            self._line.send(declined(game.game_id) if unanswered else request)
            return False
        _log.info("game %s: seats of %s", game.game_id, seat.others)
        self._seats[game.game_id] = seat
        if self._enough():
            self._send(self.queueing.pause())
        return True

    def _decision(self, decision: Decision) -> None:
        seat = self._seats.get(decision.game_id)
        if seat is None:
            return
        try:
            question = seat.asked(decision)
        except MissingEventsError as error:
            _log.warning("game %s: %s; it is told again", seat.game_id, error)
            seat.start_over()
            self._line.cut()
            return
        except HimejiError as error:
            self._fail(error)
            return
        if question is None or seat.resigning:
            self._line.send(seat.act())
        elif self._stopping:
            seat.thinking = 0
        else:
            self._thinking.ask(seat, question, decision.decision_id)

    def _accepted(self, accepted: Accepted) -> None:
        seat = self._seats.get(accepted.game_id)
        if seat is not None:
            seat.stands(accepted.decision_id)
            if accepted.HasField("next_decision"):
                self._decision(accepted.next_decision)
            self._finish_if_idle()

    def _rejected(self, rejected: Rejected) -> None:
        seat = self._seats.get(rejected.game_id)
        if rejected.ladder and rejected.reason in PASSING:
            self._inbox.later(RETRY_SECONDS, self._enter)
        elif rejected.ladder:
            self._fail(refusal(rejected))
        elif seat is None or not rejected.decision_id:
            _log.info("%s", rejected.message)
            if rejected.reason == ErrorReason.ERROR_REASON_UNKNOWN_GAME:
                self._seats.pop(rejected.game_id, None)
        elif rejected.reason in PASSING:
            wait = rejected.retry_delay.ToMilliseconds() / 1000
            self._inbox.later(wait or RETRY_SECONDS, lambda: self._line.send(seat.act()))
        elif rejected.reason in NOT_ALLOWED:
            self._fail(VersionMismatch(f"it refused what is legal here: {rejected.message}"))
        else:
            _log.info("game %s: %s", seat.game_id, rejected.message)
            seat.stands(rejected.decision_id)
            if rejected.HasField("current"):
                self._decision(rejected.current)
        self._finish_if_idle()

    def _over(self, over: GameOver) -> None:
        seat = self._seats.pop(over.game_id, None)
        if seat is None:
            return
        seat.over = over
        unfair = seat.unfair()
        if unfair:
            _log.error("game %s was not fair: %s", seat.game_id, unfair)
        self._thinking.end(seat)

    def _notice(self, notice: Notice) -> None:
        level = logging.DEBUG if notice.closing else logging.INFO
        _log.log(level, "%s", notice.message)
        self.queueing.told(notice)
        if failed(notice):
            self._seats.pop(notice.game_id, None)
            self._inbox.later(RETRY_SECONDS, self._enter)
        if self.queueing.over and not self._seats:
            self._stop("out of all queues")

    _MESSAGES: Final[dict[str, Callable[[Runner, Any], None]]] = {
        "welcome": _welcome,
        "seated": _seated,
        "decision": _decision,
        "accepted": _accepted,
        "rejected": _rejected,
        "game_over": _over,
        "notice": _notice,
    }

    # --- what the bot says ----------------------------------------------------------------------

    def chosen(self, seat: Seat, decision: int, action: int) -> None:
        """Send what the bot chose."""
        if seat.chosen(decision, action):
            self._line.send(seat.act())
        self._finish_if_idle()

    def unasked(self, seat: Seat, decision: int) -> None:
        """Leave the question open for the next run."""
        if seat.thinking == decision:
            seat.thinking = 0
        self._finish_if_idle()

    def faulty(self, seat: Seat, fault: BotFault) -> None:
        """Report it; then give the game up, or stop and leave the question open."""
        seat.thinking = 0
        stuck = fault.kind == HUNG and self._maker.shared  # it cannot be asked for any other game
        if self._options.resign_on_fault and not stuck:
            _log.error("%s\nThe game is given up.", fault)
            seat.resigning = True
            self._line.send(seat.act())
        else:
            self._error = self._error or fault
            self._stop("stopping: the bot made a mistake")

    def ended(self, seat: Seat) -> None:
        """Count a game that is over, and go on or stop."""
        for end in seat.ends():
            self.finished.append(end)
            _log.info("game %s: %s", seat.game_id, _sentence(end))
        if self._options.games is not None and len(self.finished) >= self._options.games:
            self._stop("all games are over")
        elif self.queueing.over and not self._seats:
            self._stop("out of all queues")
        else:
            self.ready()
        self._finish_if_idle()


def _sentence(end: End) -> str:
    if end.rank is None:
        return f"over ({end.reason}), without ranks"
    scores = " : ".join(map(str, end.scores))
    return f"over ({end.reason}), {scores}, seat {end.seat} is number {end.rank}"
