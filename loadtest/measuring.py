"""What goes over the wire of this process, as Locust's events: every RPC and every decision.

The SDK's channels carry these interceptors, so real bots are measured and nothing is called for
the measurement's sake. The time of a decision is from the moment in which an answer is sent to the
moment in which the next question of the same game arrives at any seat of this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import grpc
from himeji.rules.errors import GameEnded, HimejiError
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import PlayRequest, PlayResponse, Rejected
from himeji.wire.errors import from_rpc_error

RPC: Final = "rpc"
STREAM: Final = "stream"
DECISION: Final = "decision"
GAME: Final = "game"

Fire = Callable[..., None]
"""Locust's `events.request.fire`."""


class Failed(Exception):
    """A failure, by the name of its reason alone: Locust counts those of one name together."""

    def __repr__(self) -> str:
        return str(self)


class Measure:
    """Takes the time of what happens, and tells Locust."""

    def __init__(self, fire: Fire) -> None:
        self._fire = fire
        self._answered: dict[str, tuple[int, float]] = {}

    def done(self, kind: str, name: str, since: float, size: int = 0) -> None:
        """Something came to its end that began at a time."""
        self._event(kind, name, since, size, None)

    def failed(self, kind: str, name: str, since: float, reason: str) -> None:
        """The same, but it failed."""
        self._event(kind, name, since, 0, Failed(reason))

    def answering(self, game_id: str, decision: int) -> None:
        """An answer is being sent."""
        self._answered[game_id] = (decision, time.perf_counter())

    def asked(self, decision: Decision, way: str) -> None:
        """A question has arrived; the first after an answer ends that answer's time."""
        answered, since = self._answered.get(decision.game_id, (decision.decision_id, 0.0))
        if decision.decision_id > answered:
            del self._answered[decision.game_id]
            # A seat in another process has answered in between: its time is not ours to take.
            if decision.decision_id == answered + 1:
                self.done(DECISION, way, since, decision.ByteSize())

    def over(self, game_id: str) -> None:
        """A game is over: no question follows."""
        self._answered.pop(game_id, None)

    def _event(self, kind: str, name: str, since: float, size: int, error: Failed | None) -> None:
        self._fire(
            request_type=kind,
            name=name,
            response_time=(time.perf_counter() - since) * 1000,
            response_length=size,
            exception=error,
            context={},
        )


class Calls(grpc.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]
    """Measures calls with one request and one response."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        if name == "GameService/SubmitActions":
            self._measure.answering(request.game_id, request.decision_id)
        call = continuation(details, request)
        error = call.exception()
        if error is not None:
            self._measure.failed(RPC, name, since, reason_of(error))
            return call
        answer = call.result()
        self._measure.done(RPC, name, since, answer.ByteSize())
        if name in ("GameService/SubmitActions", "GameService/GetDecision"):
            self._told(answer, request.game_id)
        return call

    def _told(self, answer: Any, game_id: str) -> None:
        if answer.HasField("decision"):
            self._measure.asked(answer.decision, "unary")
        elif answer.HasField("game_over"):
            self._measure.over(game_id)


class Watching(grpc.UnaryStreamClientInterceptor):  # type: ignore[type-arg]
    """Measures how long a spectator waits for the first message, and how streams end."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        return self._read(name, since, continuation(details, request))

    def _read(self, name: str, since: float, call: Any) -> Iterator[Any]:
        first = True
        for message in read(self._measure, name, since, call):
            if first:
                self._measure.done(STREAM, f"{name} first message", since, message.ByteSize())
                first = False
            yield message


class Playing(grpc.StreamStreamClientInterceptor):  # type: ignore[type-arg]
    """Measures Play: the Welcome, each answer until it is durable, and each decision."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure

    def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        sent: dict[str, float] = {}
        call = continuation(details, self._write(requests, sent))
        return self._read(name, since, call, sent)

    def _write(
        self, requests: Iterable[PlayRequest], sent: dict[str, float]
    ) -> Iterator[PlayRequest]:
        for message in requests:
            for request in (message, *message.more):
                if request.WhichOneof("body") == "act":
                    sent[request.act.game_id] = time.perf_counter()
                    self._measure.answering(request.act.game_id, request.act.decision_id)
            yield message

    def _read(
        self, name: str, since: float, call: Any, sent: dict[str, float]
    ) -> Iterator[PlayResponse]:
        for whole in read(self._measure, name, since, call):
            for message in (whole, *whole.more):
                self._told(name, since, message, sent)
            yield whole

    def _told(self, name: str, since: float, message: PlayResponse, sent: dict[str, float]) -> None:
        kind = message.WhichOneof("body")
        if kind == "welcome":
            self._measure.done(STREAM, f"{name} welcome", since, message.ByteSize())
        elif kind == "decision":
            self._measure.asked(message.decision, "stream")
        elif kind == "accepted":
            self._accepted(name, message, sent)
        elif kind == "rejected":
            self._rejected(name, message.rejected, sent)
        elif kind == "game_over":
            self._measure.over(message.game_over.game_id)

    def _accepted(self, name: str, message: PlayResponse, sent: dict[str, float]) -> None:
        accepted = message.accepted
        begun = sent.pop(accepted.game_id, None)
        if begun is not None:
            self._measure.done(STREAM, f"{name} act", begun, message.ByteSize())
        if accepted.HasField("next_decision"):
            self._measure.asked(accepted.next_decision, "stream")

    def _rejected(self, name: str, rejected: Rejected, sent: dict[str, float]) -> None:
        reason = without_prefix(ErrorReason.Name(rejected.reason))
        begun = sent.pop(rejected.game_id, time.perf_counter())
        if rejected.decision_id:
            self._measure.failed(STREAM, f"{name} act", begun, reason)
        elif reason == GameEnded.reason:  # another seat left while Ready was on its way
            self._measure.done(STREAM, f"{name} seating called off", begun)
        else:
            self._measure.failed(STREAM, name, begun, reason)


def read(measure: Measure, name: str, since: float, call: Any) -> Iterator[Any]:
    """The messages of a stream; one that breaks is a failure, unless it was cut from here."""
    try:
        yield from call
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.CANCELLED:
            measure.failed(STREAM, name, since, reason_of(error))
        raise


def method_name(details: Any) -> str:
    """A method as people name it: "GameService/CreateGame"."""
    method = details.method
    text = method.decode() if isinstance(method, bytes) else str(method)
    return text.rpartition(".")[2]


def reason_of(error: BaseException) -> str:
    """The typed reason of a failure: a value of the contract's `ErrorReason`, without prefix."""
    if isinstance(error, grpc.RpcError):
        error = from_rpc_error(error)
    return error.reason if isinstance(error, HimejiError) else type(error).__name__


def without_prefix(reason: str) -> str:
    """The name of an `ErrorReason` as errors have it."""
    return reason.removeprefix("ERROR_REASON_")
