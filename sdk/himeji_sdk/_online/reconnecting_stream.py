"""A Play stream that is opened again, with backoff, whenever it breaks.

Everything here runs in the thread of the job loop. Messages and ends arrive from the reading
threads of the streams as jobs; those of a stream that has been replaced meanwhile are ignored.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Final, Protocol

from himeji.rules.errors import (
    Forbidden,
    HimejiError,
    InvalidRequest,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from himeji.v1.play_service_pb2 import ClientMessage, Hello, ServerMessage

from himeji_sdk._online.job_loop import JobLoop
from himeji_sdk._online.stream import Stream
from himeji_sdk.connection import Backoff

PERMANENT: Final = (InvalidRequest, NotFound, Refused, Unauthenticated, Forbidden, Unsupported)
"""Errors that a retry does not mend; every other one leads to a new stream."""

WELCOME_TIMEOUT_SECONDS: Final = 30.0  # an arena that has not answered a Hello by then never will

_log = logging.getLogger("himeji_sdk")


class StreamHandler(Protocol):
    """What a ReconnectingStream calls, always in the thread of the job loop."""

    def hello(self) -> Hello:
        """The message that opens the next stream."""
        ...

    def on_message(self, message: ServerMessage) -> None: ...

    def on_stream_lost(self) -> None:
        """The stream broke; another one follows."""
        ...

    def on_stream_closed(self, error: HimejiError | None) -> None:
        """No other stream follows: after `finish` (None), or because of an error."""
        ...


class ReconnectingStream:
    """Streams to one arena, one at a time."""

    def __init__(
        self, target: str, token: str, loop: JobLoop, patience: float, handler: StreamHandler
    ) -> None:
        """The arena has `patience` seconds for its first Welcome; later it is retried forever."""
        self.open = False
        """Whether the arena has said Welcome on the current stream."""
        self._target, self._token = target, token
        self._loop = loop
        self._patience = patience
        self._handler = handler
        self._begun = time.monotonic()
        self._backoff = Backoff()
        self._stream: Stream | None = None
        self._welcomed = self._finishing = False

    def connect(self) -> None:
        loop = self._loop
        stream = Stream(
            self._target,
            self._token,
            lambda stream, message: loop.call_soon(partial(self._received, stream, message)),
            lambda stream, error: loop.call_soon(partial(self._ended, stream, error)),
        )
        self._stream, self.open = stream, False
        stream.open(ClientMessage(hello=self._handler.hello()))
        loop.call_later(WELCOME_TIMEOUT_SECONDS, partial(self._expire, stream))

    def welcomed(self) -> bool:
        """Note that the arena said Welcome; returns whether it is the first time."""
        first, self._welcomed, self.open = not self._welcomed, True, True
        self._backoff.reset()
        return first

    def send(self, request: ClientMessage | None) -> None:
        """Send a request. None, and anything while no stream is open, is dropped.

        What must arrive is sent again after the next Welcome.
        """
        if self._stream is not None and self.open and request is not None:
            self._stream.send(request)

    def finish(self) -> None:
        """Half-close the current stream, and open no other."""
        if self._stream is not None:
            self._finishing = True
            self._stream.finish()

    def drop(self) -> None:
        """Close the current stream at once; a new one follows."""
        if self._stream is not None:
            self._stream.drop()

    def _received(self, stream: Stream, message: ServerMessage) -> None:
        if stream is self._stream:
            self._handler.on_message(message)

    def _expire(self, stream: Stream) -> None:
        if stream is self._stream and not self.open:
            stream.drop()

    def _ended(self, stream: Stream, error: HimejiError | None) -> None:
        if stream is not self._stream:
            return
        self._stream, self.open = None, False
        error = error or Unavailable("the stream ended unexpectedly")
        late = time.monotonic() - self._begun > self._patience
        if self._finishing:
            self._handler.on_stream_closed(None)
        elif isinstance(error, PERMANENT) or (late and not self._welcomed):
            self._handler.on_stream_closed(error)
        else:
            wait = self._backoff.next(error)
            _log.warning(
                "no connection to %s (%s): again in %.1f s", self._target, error.message, wait
            )
            self._loop.call_later(wait, self.connect)
            self._handler.on_stream_lost()
