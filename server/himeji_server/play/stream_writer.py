"""The line to one client: what it is told, what runs for it, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import ParamSpec

from himeji.rules.errors import HimejiError
from himeji.v1.play_service_pb2 import PlayResponse

from himeji_server.games.client_errors import as_error
from himeji_server.limits import Limits
from himeji_server.play.outbox import Outbox
from himeji_server.play.stream_end import StreamEnd

_P = ParamSpec("_P")


class StreamWriter:
    """Messages to a client, and the tasks of its stream; made in the task that writes them."""

    def __init__(self, limits: Limits, *, more_at_once: bool) -> None:
        self.limits = limits
        self.outbox = Outbox(limits.messages_waiting, more_at_once=more_at_once)
        self._tasks: set[asyncio.Task[None]] = set()
        self._end: StreamEnd | None = None
        self._writer = asyncio.current_task()

    @property
    def error(self) -> HimejiError | None:
        """The error with which the stream ends, if any."""
        return self._end.error if self._end is not None else None

    def tell(self, message: PlayResponse) -> None:
        """Send a message; a client that does not read is let go."""
        if not self.outbox.put(message) and self._end is None:
            self.close(StreamEnd.slow_reader(self.limits.messages_waiting))
            self.start(self._cut)

    def close(self, closing: StreamEnd) -> None:
        """End the stream with a last message that says why."""
        if self._end is None:
            self._end = closing
            self.outbox.close(PlayResponse(notice=closing.notice()))

    def start(
        self, part: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> asyncio.Task[None]:
        """Let a part of the stream run beside the others; a part that fails ends the stream."""
        task = asyncio.create_task(self._guarded(part, *args, **kwargs))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(
        self, part: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        try:
            await part(*args, **kwargs)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client hears why
            self.close(StreamEnd.by(as_error(raised, "Play")))

    def cancel(self) -> None:
        """End every part; a commit that is under way is not waited for."""
        for task in self._tasks:
            task.cancel()

    async def _cut(self) -> None:
        """End the stream by force when its client does not even read why it ends."""
        await asyncio.sleep(self.limits.slow_seconds)
        if self._writer is not None and self._end is not None:
            self._writer.cancel(self._end.error)
