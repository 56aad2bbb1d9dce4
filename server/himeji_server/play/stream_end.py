"""How a stream ends: the last message that says why, and the status that follows it."""

from __future__ import annotations

from dataclasses import dataclass

from himeji.rules.errors import (
    Draining,
    HimejiError,
    InternalFault,
    InvalidRequest,
    InvalidToken,
    LimitExceeded,
    SlowReader,
    TakenOver,
    Unavailable,
    VersionMismatch,
)
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.stream_pb2 import StreamEnd as StreamEndMessage, StreamEndKind
from himeji.wire.errors import retry_delay


@dataclass(frozen=True)
class StreamEnd:
    """The end of a stream; without an error its status is OK."""

    kind: StreamEndKind.ValueType
    message: str
    error: HimejiError | None = None

    def to_message(self) -> StreamEndMessage:
        """The last message of the stream."""
        out = StreamEndMessage(kind=self.kind, message=self.message)
        if self.error is not None:
            out.reason = ErrorReason.Value(f"ERROR_REASON_{self.error.reason}")
            out.incident = self.error.details.get("incident", "")
            delay = retry_delay(self.error)
            if delay is not None:
                out.retry_delay.FromMilliseconds(delay)
        return out

    @classmethod
    def of(cls, kind: StreamEndKind.ValueType, error: HimejiError) -> StreamEnd:
        """An end by an error."""
        return cls(kind, error.message, error)

    @classmethod
    def goodbye(cls) -> StreamEnd:
        """The client closed its side."""
        return cls(StreamEndKind.STREAM_END_KIND_GOODBYE, "all your requests are answered")

    @classmethod
    def complete(cls, sentence: str) -> StreamEnd:
        """What the stream was opened for has come to its end."""
        return cls(StreamEndKind.STREAM_END_KIND_COMPLETE, sentence)

    @classmethod
    def taken_over(cls) -> StreamEnd:
        """A newer stream of the same bot is open."""
        error = TakenOver("a newer stream of this bot has taken over; do not reconnect")
        return cls.of(StreamEndKind.STREAM_END_KIND_TAKEN_OVER, error)

    @classmethod
    def draining(cls) -> StreamEnd:
        """This process is stopping."""
        error = Draining("this server process is stopping; reconnect and resume")
        return cls.of(StreamEndKind.STREAM_END_KIND_DRAINING, error)

    @classmethod
    def slow_reader(cls, error: SlowReader) -> StreamEnd:
        """The client does not read."""
        return cls.of(StreamEndKind.STREAM_END_KIND_SLOW_READER, error)

    @classmethod
    def protocol_error(cls, sentence: str) -> StreamEnd:
        """The client broke the order of the protocol."""
        return cls.of(StreamEndKind.STREAM_END_KIND_PROTOCOL_ERROR, InvalidRequest(sentence))

    @classmethod
    def by(cls, error: HimejiError) -> StreamEnd:
        """The stream was refused, or cannot go on."""
        for kind, errors in _KINDS.items():
            if isinstance(error, errors):
                return cls.of(kind, error)
        return cls.of(StreamEndKind.STREAM_END_KIND_REFUSED, error)


_KINDS = {
    StreamEndKind.STREAM_END_KIND_DRAINING: Draining,  # before Unavailable, of which it is one
    StreamEndKind.STREAM_END_KIND_VERSION_MISMATCH: VersionMismatch,
    StreamEndKind.STREAM_END_KIND_TOKEN_REVOKED: InvalidToken,
    StreamEndKind.STREAM_END_KIND_PROTOCOL_ERROR: InvalidRequest,
    StreamEndKind.STREAM_END_KIND_UNAVAILABLE: Unavailable,
    StreamEndKind.STREAM_END_KIND_LIMIT_EXCEEDED: LimitExceeded,
    StreamEndKind.STREAM_END_KIND_INTERNAL_FAULT: InternalFault,
}
