"""The line to an arena: a stream that is opened again whenever it breaks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final

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
from himeji.v1.play_service_pb2 import Hello, PlayRequest, PlayResponse

from himeji_sdk._online.job_loop import Inbox, Job
from himeji_sdk._online.stream import Stream
from himeji_sdk.connection import Backoff

FINAL: Final = (InvalidRequest, NotFound, Refused, Unauthenticated, Forbidden, Unsupported)
"""Errors that another try does not mend. Everything else is tried again."""

WELCOME_SECONDS: Final = 30.0  # an arena that has not answered a Hello by then never will

_log = logging.getLogger("himeji_sdk")


class Line:
    """Streams to one arena, one at a time; used by the inbox's own thread alone."""

    def __init__(self, target: str, token: str, inbox: Inbox, patience: float) -> None:
        """Before the first Welcome the arena is given `patience` seconds to be there."""
        self.open = False
        """Whether the arena has said Welcome on the present stream."""
        self._target, self._token = target, token
        self._inbox = inbox
        self._patience = patience
        self._begun = time.monotonic()
        self._backoff = Backoff()
        self._stream: Stream | None = None
        self._welcomed = self._finishing = False

    def connect(
        self,
        hello: Callable[[], Hello],
        told: Callable[[PlayResponse], None],
        ended: Callable[[HimejiError | None], None],
        broken: Job,
    ) -> None:
        """Open a stream, and another one whenever it breaks.

        `told` gets each message, `broken` is called when a stream broke, and `ended` when the line
        ends: without an error after a goodbye, else with one that another try does not mend.
        """
        again = partial(self.connect, hello, told, ended, broken)

        def pass_on(stream: Stream, message: PlayResponse) -> None:
            if stream is self._stream:
                told(message)

        def end(stream: Stream, error: HimejiError | None) -> None:
            if stream is self._stream:
                self._ended(error, again, ended, broken)

        stream = Stream(
            self._target,
            self._token,
            lambda stream, message: self._inbox.put(partial(pass_on, stream, message)),
            lambda stream, error: self._inbox.put(partial(end, stream, error)),
        )
        self._stream, self.open = stream, False
        stream.open(PlayRequest(hello=hello()))
        self._inbox.later(WELCOME_SECONDS, partial(self._too_late, stream))

    def welcomed(self) -> bool:
        """The arena has said Welcome; whether it was the first time."""
        first, self._welcomed, self.open = not self._welcomed, True, True
        self._backoff.reset()
        return first

    def send(self, request: PlayRequest | None) -> None:
        """Send a request, if there is one and somebody to hear it."""
        if self._stream is not None and self.open and request is not None:
            self._stream.send(request)

    def finish(self) -> None:
        """Say that nothing more comes, and wait for the goodbye."""
        if self._stream is not None:
            self._finishing = True
            self._stream.finish()

    def cut(self) -> None:
        """Drop the present stream; unless nobody cares any more, another one follows."""
        if self._stream is not None:
            self._stream.cut()

    def _too_late(self, stream: Stream) -> None:
        if stream is self._stream and not self.open:
            stream.cut()

    def _ended(
        self,
        error: HimejiError | None,
        again: Job,
        ended: Callable[[HimejiError | None], None],
        broken: Job,
    ) -> None:
        """Come back, unless that is of no use."""
        self._stream, self.open = None, False
        error = error or Unavailable("the stream ended without a word")
        late = time.monotonic() - self._begun > self._patience
        if self._finishing:
            ended(None)
        elif isinstance(error, FINAL) or (late and not self._welcomed):
            ended(error)
        else:
            wait = self._backoff.next(error)
            why = error.message
            _log.warning("no connection to %s (%s): again in %.1f s", self._target, why, wait)
            self._inbox.later(wait, again)
            broken()
