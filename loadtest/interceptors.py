"""gRPC client interceptors that report every RPC and every decision to Locust.

They are installed in the SDK's channels, so real bots are measured and no call is made only to be
measured. The time of a decision runs from sending an answer until the next decision of the same
game arrives at any seat of this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import grpc
from himeji.rules.errors import GameEnded, HimejiError
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import PlayRequest, PlayResponse, Rejected, ServerMessage
from himeji.wire.errors import from_rpc_error

RPC: Final = "rpc"
STREAM: Final = "stream"
DECISION: Final = "decision"
GAME: Final = "game"

FireEvent = Callable[..., None]
"""Locust's `events.request.fire`."""


class FailureReason(Exception):
    """A failure named by its reason alone, because Locust groups failures by their text."""

    def __repr__(self) -> str:
        return str(self)


class RequestMetrics:
    """Measures times and fires Locust's request events."""

    def __init__(self, fire: FireEvent) -> None:
        self._fire = fire
        self._sent: dict[str, tuple[int, float]] = {}  # game id: decision, when it was answered

    def succeeded(self, kind: str, name: str, since: float, size: int = 0) -> None:
        """Report something that began at `since`, in seconds of time.perf_counter()."""
        self._event(kind, name, since, size, None)

    def failed(self, kind: str, name: str, since: float, reason: str) -> None:
        self._event(kind, name, since, 0, FailureReason(reason))

    def answer_sent(self, game_id: str, decision: int) -> None:
        self._sent[game_id] = (decision, time.perf_counter())

    def decision_received(self, decision: Decision, api: str) -> None:
        """Report the time since the answer before, for the first decision that follows it."""
        answered, since = self._sent.get(decision.game_id, (decision.decision_id, 0.0))
        if decision.decision_id > answered:
            del self._sent[decision.game_id]
            # If more than one decision lies between, a seat in another process has answered.
            if decision.decision_id == answered + 1:
                self.succeeded(DECISION, api, since, decision.ByteSize())

    def game_over(self, game_id: str) -> None:
        self._sent.pop(game_id, None)

    def _event(
        self, kind: str, name: str, since: float, size: int, error: FailureReason | None
    ) -> None:
        self._fire(
            request_type=kind,
            name=name,
            response_time=(time.perf_counter() - since) * 1000,
            response_length=size,
            exception=error,
            context={},
        )


class UnaryInterceptor(grpc.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]
    """Measures unary calls."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        if name == "GameService/SubmitActions":
            self._metrics.answer_sent(request.game_id, request.decision_id)
        call = continuation(details, request)
        error = call.exception()
        if error is not None:
            self._metrics.failed(RPC, name, since, reason_of(error))
            return call
        answer = call.result()
        self._metrics.succeeded(RPC, name, since, answer.ByteSize())
        if name in ("GameService/SubmitActions", "GameService/GetDecision"):
            self._on_response(answer, request.game_id)
        return call

    def _on_response(self, answer: Any, game_id: str) -> None:
        if answer.HasField("decision"):
            self._metrics.decision_received(answer.decision, "unary")
        elif answer.HasField("game_over"):
            self._metrics.game_over(game_id)


class WatchInterceptor(grpc.UnaryStreamClientInterceptor):  # type: ignore[type-arg]
    """Measures the time until a spectator's first message, and failures of the stream."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        return self._read(name, since, continuation(details, request))

    def _read(self, name: str, since: float, call: Any) -> Iterator[Any]:
        first = True
        for message in read_stream(self._metrics, name, since, call):
            if first:
                self._metrics.succeeded(STREAM, f"{name} first message", since, message.ByteSize())
                first = False
            yield message


class PlayInterceptor(grpc.StreamStreamClientInterceptor):  # type: ignore[type-arg]
    """Measures Play: the Welcome, each answer until it is Accepted, and each decision."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics

    def intercept_stream_stream(self, continuation: Any, details: Any, requests: Any) -> Any:
        name, since = method_name(details), time.perf_counter()
        sent: dict[str, float] = {}
        call = continuation(details, self._write(requests, sent))
        return self._read(name, since, call, sent)

    def _write(
        self, requests: Iterable[PlayRequest], sent: dict[str, float]
    ) -> Iterator[PlayRequest]:
        for batch in requests:
            for message in batch.messages:
                if message.WhichOneof("body") == "act":
                    sent[message.act.game_id] = time.perf_counter()
                    self._metrics.answer_sent(message.act.game_id, message.act.decision_id)
            yield batch

    def _read(
        self, name: str, since: float, call: Any, sent: dict[str, float]
    ) -> Iterator[PlayResponse]:
        for batch in read_stream(self._metrics, name, since, call):
            for message in batch.messages:
                self._on_response(name, since, message, sent)
            yield batch

    def _on_response(
        self, name: str, since: float, message: ServerMessage, sent: dict[str, float]
    ) -> None:
        kind = message.WhichOneof("body")
        if kind == "welcome":
            self._metrics.succeeded(STREAM, f"{name} welcome", since, message.ByteSize())
        elif kind == "decision":
            self._metrics.decision_received(message.decision, "stream")
        elif kind == "accepted":
            self._accepted(name, message, sent)
        elif kind == "rejected":
            self._rejected(name, message.rejected, sent)
        elif kind == "game_over":
            self._metrics.game_over(message.game_over.game_id)

    def _accepted(self, name: str, message: ServerMessage, sent: dict[str, float]) -> None:
        accepted = message.accepted
        begun = sent.pop(accepted.game_id, None)
        if begun is not None:
            self._metrics.succeeded(STREAM, f"{name} act", begun, message.ByteSize())
        if accepted.HasField("next_decision"):
            self._metrics.decision_received(accepted.next_decision, "stream")

    def _rejected(self, name: str, rejected: Rejected, sent: dict[str, float]) -> None:
        reason = without_prefix(ErrorReason.Name(rejected.reason))
        begun = sent.pop(rejected.game_id, time.perf_counter())
        if rejected.decision_id:
            self._metrics.failed(STREAM, f"{name} act", begun, reason)
        elif reason == GameEnded.reason:  # another seat left while Ready was on its way
            self._metrics.succeeded(STREAM, f"{name} seating cancelled", begun)
        else:
            self._metrics.failed(STREAM, name, begun, reason)


def read_stream(metrics: RequestMetrics, name: str, since: float, call: Any) -> Iterator[Any]:
    """The messages of a stream; a stream that breaks is a failure unless this side cancelled it."""
    try:
        yield from call
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.CANCELLED:
            metrics.failed(STREAM, name, since, reason_of(error))
        raise


def method_name(details: Any) -> str:
    """The short name of a method, like "GameService/CreateGame"."""
    method = details.method
    text = method.decode() if isinstance(method, bytes) else str(method)
    return text.rpartition(".")[2]


def reason_of(error: BaseException) -> str:
    """The `ErrorReason` of an error without prefix, or else the name of its class."""
    if isinstance(error, grpc.RpcError):
        error = from_rpc_error(error)
    return error.reason if isinstance(error, HimejiError) else type(error).__name__


def without_prefix(reason: str) -> str:
    """The name of an `ErrorReason` without "ERROR_REASON_"."""
    return reason.removeprefix("ERROR_REASON_")
