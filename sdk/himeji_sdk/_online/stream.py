"""One Play call: a thread reads it, requests wait in a queue, and its end is always reported.

`on_message` and `on_end` run in the reading thread; `on_end` is called exactly once, last.
Requests that queue up while gRPC is sending go out as one batch, which saves both ends most of the
cost of a message when a bot plays many games.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Final

import grpc
from himeji.rules.errors import HimejiError, Unavailable
from himeji.v1.play_service_pb2 import ClientMessage, PlayRequest, ServerMessage
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji.wire.errors import from_rpc_error

from himeji_sdk import connection

MAX_BATCH: Final = 64
"""Requests in one PlayRequest."""

OnMessage = Callable[["Stream", ServerMessage], None]
OnEnd = Callable[["Stream", HimejiError | None], None]


class Stream:
    """A Play stream on a channel of its own."""

    def __init__(self, target: str, token: str, on_message: OnMessage, on_end: OnEnd) -> None:
        self._on_message = on_message
        self._on_end = on_end
        self._requests: queue.SimpleQueue[ClientMessage | None] = queue.SimpleQueue()
        self._channel = connection.channel(target)
        self._metadata = connection.credentials(token)
        self._stub = PlayServiceStub(self._channel)
        self._thread = threading.Thread(target=self._read, name="himeji-stream", daemon=True)

    def open(self, hello: ClientMessage) -> None:
        """Start the call; Hello is its first message."""
        self._requests.put(hello)
        self._thread.start()

    def send(self, request: ClientMessage) -> None:
        self._requests.put(request)

    def finish(self) -> None:
        """Half-close: the arena answers what it was asked, and ends the stream."""
        self._requests.put(None)

    def drop(self) -> None:
        """Close the channel at once."""
        self._channel.close()

    def _read(self) -> None:
        error: HimejiError | None = None
        try:
            for batch in self._stub.Play(self._outgoing(), metadata=self._metadata):
                for message in batch.messages:
                    self._on_message(self, message)
        except grpc.RpcError as failure:
            error = from_rpc_error(failure)
        except ValueError:  # the channel was closed before the call began
            error = Unavailable("the stream was dropped")
        finally:
            self._requests.put(None)  # ends `_outgoing`, in which a thread of gRPC waits
            self._channel.close()
            self._on_end(self, error)

    def _outgoing(self) -> Iterator[PlayRequest]:
        """Hello alone, then batches of whatever is queued."""
        hello = self._requests.get()
        if hello is None:
            return
        yield PlayRequest(messages=[hello])
        while batch := self._next_batch():
            yield PlayRequest(messages=batch)

    def _next_batch(self) -> list[ClientMessage]:
        """Wait for a request and take what is queued behind it; empty at the end."""
        batch: list[ClientMessage] = []
        while len(batch) < MAX_BATCH:
            request = self._requests.get()
            if request is None:
                self._requests.put(None)  # so that the next call returns an empty batch
                break
            batch.append(request)
            if self._requests.empty():
                break
        return batch
