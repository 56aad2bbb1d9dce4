"""What is written to one client, the tasks of its stream, and how the stream ends.

The queue is bounded: a client that does not read loses its stream, not the arena its memory. So
does one that does not take a batch in time: it may ask so slowly that its queue never fills. A
newer decision replaces an older one that was not written yet, together with the events of both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final, ParamSpec

from himeji.rules.errors import HimejiError
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import PlayResponse, ServerMessage

from himeji_server.games.client_errors import as_error
from himeji_server.limits import Limits
from himeji_server.play.stream_end import StreamEnd
from himeji_server.rate_limits import slow_reader, too_slow
from himeji_server.tasks import TaskSet, Watchdog

BATCH_SIZE: Final = 64
"""Messages in one PlayResponse, at most; play_service.proto promises it."""


_P = ParamSpec("_P")


class SendQueue:
    """The messages that wait to be written to one client."""

    def __init__(self, most: int) -> None:
        """`most` messages may wait."""
        self._most = most
        self._waiting: list[ServerMessage] = []
        self._decisions: dict[str, int] = {}  # game: place of its decision among those waiting
        self._reader: asyncio.Future[None] | None = None  # the task that waits for a message
        self._closed = False

    def put(self, message: ServerMessage) -> bool:
        """Add a message; False if too many wait already."""
        if self._closed:
            return True
        decision = message.decision if message.WhichOneof("body") == "decision" else None
        if decision is not None and self._replaces(decision):
            return True
        if len(self._waiting) >= self._most:
            return False
        if decision is not None:
            self._decisions[decision.game_id] = len(self._waiting)
        self._waiting.append(message)
        self._wake()
        return True

    def _replaces(self, newer: Decision) -> bool:
        """Put a decision in the place of an older one of its game, with the events of both."""
        place = self._decisions.get(newer.game_id)
        if place is None:
            return False
        older = self._waiting[place].decision
        if older.first_event + len(older.events) != newer.first_event:
            return False  # some events between the two are in another message
        whole = ServerMessage(decision=newer)
        del whole.decision.events[:]
        whole.decision.first_event = older.first_event
        whole.decision.events.extend([*older.events, *newer.events])
        self._waiting[place] = whole
        return True

    def close(self, last: ServerMessage) -> None:
        """Nothing comes after this message."""
        if not self._closed:
            self._closed = True
            self._waiting.append(last)
            self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def batches(self) -> list[PlayResponse]:
        """What is to be written, as soon as there is something; nothing at the end."""
        if not self._waiting and not self._closed:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        waiting, self._waiting, self._decisions = self._waiting, [], {}
        # Each message is copied once, here: it may be replaced until now, so that it cannot be
        # built inside its batch.
        return [
            PlayResponse(messages=waiting[begin : begin + BATCH_SIZE])
            for begin in range(0, len(waiting), BATCH_SIZE)
        ]


class StreamWriter:
    """Messages to a client, and the tasks of its stream; made in the task that writes them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._queue = SendQueue(limits.messages_waiting)
        self._tasks = TaskSet()
        self._end: StreamEnd | None = None
        self._writing_task = asyncio.current_task()
        self._watchdog = Watchdog(limits.slow_seconds, self._abort)

    @property
    def error(self) -> HimejiError | None:
        """The error with which the stream ends, if any."""
        return self._end.error if self._end is not None else None

    def send(self, message: ServerMessage) -> None:
        """Queue a message; the stream of a client that does not read is closed."""
        if not self._queue.put(message) and self._end is None:
            self.close(StreamEnd.slow_reader(slow_reader(self.limits.messages_waiting)))

    def close(self, end: StreamEnd) -> None:
        """End the stream with a last message that says why."""
        if self._end is None:
            self._end = end
            self._queue.close(ServerMessage(stream_end=end.to_message()))

    def start(
        self, work: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> asyncio.Task[None]:
        """Run a coroutine as a part of the stream; one that fails ends the stream."""
        return self._tasks.start(self._run(work, *args, **kwargs))

    async def _run(
        self, work: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        try:
            await work(*args, **kwargs)
        except Exception as raised:  # noqa: BLE001 - the client gets the reason
            self.close(StreamEnd.by(as_error(raised, "Play")))

    async def write_all(self, write: Callable[[PlayResponse], Awaitable[None]]) -> None:
        """Write what is queued, until the stream is closed and its last message is written."""
        try:
            while batches := await self._queue.batches():
                for batch in batches:
                    self._watchdog.start()
                    await write(batch)
                    self._watchdog.stop()
        finally:
            self._watchdog.close()

    def cancel(self) -> None:
        """Cancel every task of the stream."""
        self._tasks.cancel()

    def _abort(self) -> None:
        """End the stream by force: its client does not take a batch, nor what would follow it."""
        slow = too_slow(self.limits.slow_seconds)
        self.close(StreamEnd.slow_reader(slow))
        if self._writing_task is not None:
            self._writing_task.cancel(self.error or slow)
