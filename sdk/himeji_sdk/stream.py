"""One Play call: a thread reads it, requests wait in a queue, and its end is always told."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import grpc
from himeji.rules.errors import HimejiError, Unavailable
from himeji.v1.play_service_pb2 import PlayRequest, PlayResponse
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji.wire.errors import from_rpc_error

from himeji_sdk import connection

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
                self._told(self, message)
        except grpc.RpcError as failure:
            error = from_rpc_error(failure)
        except ValueError:  # the channel was closed before the call began
            error = Unavailable("the stream was dropped")
        finally:
            self._requests.put(None)  # gRPC's own thread waits for requests until it gets this
            self._channel.close()
            self._ended(self, error)

    def _waiting(self) -> Iterator[PlayRequest]:
        while (request := self._requests.get()) is not None:
            yield request
