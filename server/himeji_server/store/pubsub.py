"""Subscriptions to channels, sharded ones at the nodes of their slots.

redis-py's own subscriptions are not used for two reasons: a lost node must not silence the others,
and its parser costs as much for each message as the commit that the message is about.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from typing import Final

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from himeji_server.store.commands import Command
from himeji_server.store.raw_connection import pack

Pools = Callable[[Sequence[str]], list[tuple[ConnectionPool, Sequence[str]]]]
"""Where to subscribe to sharded channels now; for none of them, to all others."""

Message = tuple[str, str]
"""A channel, and the text published on it."""

_PING_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.5


class PubSub:
    """The messages of some channels, from however many nodes, in one queue."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        self._messages: asyncio.Queue[Message | BaseException | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def messages(
        self, channels: Sequence[str], sharded: Sequence[str]
    ) -> AsyncGenerator[Message | None, None]:
        """Each message as it comes; None when some may have been missed."""
        self._start(self._subscribe(channels))
        if sharded:
            self._start(self._follow_slots(sharded))
        try:
            while True:
                message = await self._messages.get()
                if isinstance(message, BaseException):
                    raise message
                yield message
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._messages.put_nowait(error)

    async def _subscribe(self, channels: Sequence[str]) -> None:
        while True:
            [(pool, _)] = self._pools(())
            await self._receive(pool, [("SUBSCRIBE", *channels)])

    async def _follow_slots(self, channels: Sequence[str]) -> None:
        """Subscribe where the slots are; channels whose slots part later get their own task."""
        while True:
            (pool, here), *elsewhere = self._pools(channels)
            for _, others in elsewhere:
                self._start(self._follow_slots(others))
            channels = here
            await self._receive(pool, [("SSUBSCRIBE", each) for each in here])

    async def _receive(self, pool: ConnectionPool, commands: Sequence[Command]) -> None:
        """Receive messages from one Redis until it is lost, or a slot has moved, and then pause."""
        connection = pool.make_connection()  # type: ignore[no-untyped-call]
        try:
            # RuntimeError: uvloop's word for a transport that was closed while redis-py set it up.
            with contextlib.suppress(RedisError, OSError, RuntimeError):
                await connection.connect()
                end_if_cancelled()
                await connection.send_packed_command(b"".join(map(pack, commands)))
                async for message in _pushed(connection):
                    self._messages.put_nowait(message)
        finally:
            await connection.disconnect(nowait=True)
        end_if_cancelled()
        self._messages.put_nowait(None)
        await asyncio.sleep(_RETRY_SECONDS)


async def _pushed(connection: AbstractConnection) -> AsyncIterator[Message]:
    """The messages of a connection that subscribed; a silent one is checked with a PING."""
    pinged = False
    while True:
        end_if_cancelled()
        reply = await connection.read_response(timeout=_PING_SECONDS)
        if reply is None:
            if pinged:
                return
            await connection.send_command("PING")
        elif reply[0] in (b"message", b"smessage"):
            yield reply[1].decode(), reply[2].decode()
        elif reply[0] == b"sunsubscribe":
            return
        pinged = reply is None


def end_if_cancelled() -> None:
    """Raise the cancellation that redis-py swallows when it comes while it connects or writes."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
