"""A refused answer as a message: the same on the stream and among the details of a status."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from himeji.rules.errors import (
    AlreadyDecided,
    HimejiError,
    IllegalAction,
    StaleDecision,
    UnknownAction,
)
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import Rejected
from himeji.wire.errors import retry_delay

from himeji_server.games.answers import standing_receipt
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import write_accepted
from himeji_server.store.game_records import PLAYING


def rejection(error: HimejiError, game_id: str) -> Rejected:
    """A refusal with what the error alone says."""
    out = Rejected(message=error.message, game_id=game_id)
    out.reason = ErrorReason.Value(f"ERROR_REASON_{error.reason}")
    out.incident = error.details.get("incident", "")
    if isinstance(error, IllegalAction):
        out.rule, out.action = error.rule, error.action
        out.legal_actions.extend(error.legal)
    delay = retry_delay(error)
    if delay is not None:
        out.retry_delay.FromMilliseconds(delay)
    return out


def refused_answer(
    error: HimejiError,
    view: GameView,
    seats: Sequence[int],
    decision: int,
    current: Callable[[], Decision],
) -> Rejected:
    """A refused answer of somebody who has these seats, with what helps to go on."""
    out, stored = rejection(error, view.game_id), view.stored
    out.decision_id = decision
    if seats:
        answering = stored.seat if stored.seat in seats else seats[0]
        out.strikes = stored.seats[answering].strikes
        out.strike_limit = view.header.strike_limit
    asked = stored.state == PLAYING and stored.seat in seats and not stored.seats[stored.seat].lost
    if isinstance(error, UnknownAction):
        out.action = int(error.details["action"])
        if asked:
            out.legal_actions.extend(view.legal())
    standing = view.answer_to(decision)
    if isinstance(error, AlreadyDecided) and standing is not None:
        write_accepted(out.standing, view, standing_receipt(decision, standing))
    if isinstance(error, StaleDecision) and asked:
        out.current.CopyFrom(current())
    return out
