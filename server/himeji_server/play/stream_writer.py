"""What is written to one client, the tasks of its stream, and how the stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import ParamSpec

from himeji.rules.errors import HimejiError
from himeji.v1.play_service_pb2 import ServerMessage

from himeji_server.games.client_errors import as_error
from himeji_server.limits import Limits
from himeji_server.play.outbox import Outbox
from himeji_server.play.stream_end import StreamEnd
from himeji_server.tasks import TaskSet

_P = ParamSpec("_P")


class StreamWriter:
    """Messages to a client, and the tasks of its stream; made in the task that writes them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.outbox = Outbox(limits.messages_waiting)
        self._tasks = TaskSet()
        self._end: StreamEnd | None = None
        self._writing_task = asyncio.current_task()

    @property
    def error(self) -> HimejiError | None:
        """The error with which the stream ends, if any."""
        return self._end.error if self._end is not None else None

    def send(self, message: ServerMessage) -> None:
        """Queue a message; the stream of a client that does not read is closed."""
        if not self.outbox.put(message) and self._end is None:
            self.close(StreamEnd.slow_reader(self.limits.messages_waiting))
            self.start(self._abort)

    def close(self, end: StreamEnd) -> None:
        """End the stream with a last message that says why."""
        if self._end is None:
            self._end = end
            self.outbox.close(ServerMessage(stream_end=end.to_message()))

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
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client is told why
            self.close(StreamEnd.by(as_error(raised, "Play")))

    def cancel(self) -> None:
        """Cancel every task of the stream."""
        self._tasks.cancel()

    async def _abort(self) -> None:
        """End the stream by force if its client does not even read why it ends."""
        await asyncio.sleep(self.limits.slow_seconds)
        if self._writing_task is not None and self._end is not None:
            self._writing_task.cancel(self._end.error)
