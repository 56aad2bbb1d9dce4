"""One Play call: a thread reads it, requests wait in a queue, and its end is always told."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import grpc
from himeji.rules.errors import HimejiError, Unavailable
from himeji.v1.play_service_pb2 import PlayRequest, PlayResponse
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji.wire.errors import from_rpc_error

from himeji_sdk import connection

MOST_AT_ONCE: Final = 64
"""Requests that go in one message."""

Told = Callable[["Stream", PlayResponse], None]
Ended = Callable[["Stream", HimejiError | None], None]


class Stream:
    """A stream to an arena. `told` and `ended` are called by the thread that reads it."""

    def __init__(self, target: str, token: str, told: Told, ended: Ended) -> None:
        self._told = told
        self._ended = ended
        self._requests: queue.SimpleQueue[PlayRequest | None] = queue.SimpleQueue()
        self._channel = connection.channel(target)
        self._metadata = connection.credentials(token)
        self._stub = PlayServiceStub(self._channel)
        self._thread = threading.Thread(target=self._read, name="himeji-stream", daemon=True)

    def open(self, hello: PlayRequest) -> None:
        """Begin with a Hello."""
        self._requests.put(hello)
        self._thread.start()

    def send(self, request: PlayRequest) -> None:
        """Send a request."""
        self._requests.put(request)

    def finish(self) -> None:
        """Say that nothing more comes; the arena answers what it was asked and says goodbye."""
        self._requests.put(None)

    def cut(self) -> None:
        """Drop the stream without a word."""
        self._channel.close()

    def _read(self) -> None:
        error: HimejiError | None = None
        try:
            for message in self._stub.Play(self._waiting(), metadata=self._metadata):
                for each in (message, *message.more):
                    self._told(self, each)
        except grpc.RpcError as failure:
            error = from_rpc_error(failure)
        except ValueError:  # the channel was closed before the call began
            error = Unavailable("the stream was dropped")
        finally:
            self._requests.put(None)  # gRPC's own thread waits for requests until it gets this
            self._channel.close()
            self._ended(self, error)

    def _waiting(self) -> Iterator[PlayRequest]:
        """Hello, and then what comes; what waits while gRPC sends goes together."""
        hello = self._requests.get()
        if hello is None:
            return
        yield hello
        while batch := self._gathered():
            yield together(batch)

    def _gathered(self) -> list[PlayRequest]:
        """What waits to be sent, as soon as anything does; nothing at the end."""
        batch: list[PlayRequest] = []
        while len(batch) < MOST_AT_ONCE:
            request = self._requests.get()
            if request is None:
                self._requests.put(None)  # for the next time
                break
            batch.append(request)
            if self._requests.empty():
                break
        return batch


def together(batch: Sequence[PlayRequest]) -> PlayRequest:
    """Requests as one message."""
    first, *rest = batch
    if not rest:
        return first
    message = PlayRequest()
    message.CopyFrom(first)  # which may be sent again, alone
    message.more.extend(rest)
    return message
