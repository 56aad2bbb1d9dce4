"""Listening to what is published, wherever that is: a lost node costs no bells of the others."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from typing import Final

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from himeji_server.store.raw_connection import pack
from himeji_server.store.sending import Argument

Places = Callable[[Sequence[str]], list[tuple[ConnectionPool, Sequence[str]]]]
"""Where channels that are in slots are heard now; for none of them, where all others are."""

Message = tuple[str, str]
"""A channel, and what is said on it."""

_SECONDS_OF_SILENCE: Final = 5.0
_SECONDS_BETWEEN_TRIES: Final = 0.5


class PubSub:
    """Some channels that are listened to, until it is cancelled."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._heard: asyncio.Queue[Message | BaseException | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def to(
        self, channels: Sequence[str], in_slots: Sequence[str]
    ) -> AsyncGenerator[Message | None, None]:
        """Each message as it comes; None when some may have been missed."""
        self._start(self._anywhere(channels))
        if in_slots:
            self._start(self._in_slots(in_slots))
        try:
            while True:
                message = await self._heard.get()
                if isinstance(message, BaseException):
                    raise message
                yield message
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def _start(self, part: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(part)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._heard.put_nowait(fault)

    async def _anywhere(self, channels: Sequence[str]) -> None:
        while True:
            [(pool, _)] = self._places(())
            await self._listen(pool, [("SUBSCRIBE", *channels)])

    async def _in_slots(self, channels: Sequence[str]) -> None:
        """Listen to channels where their slots are; those that part later are heard apart."""
        while True:
            (pool, here), *elsewhere = self._places(channels)
            for _, others in elsewhere:
                self._start(self._in_slots(others))
            channels = here
            await self._listen(pool, [("SSUBSCRIBE", each) for each in here])

    async def _listen(self, pool: ConnectionPool, commands: Sequence[tuple[Argument, ...]]) -> None:
        """Listen at one Redis until it is lost, or a slot has moved, and then pause."""
        connection = pool.make_connection()  # type: ignore[no-untyped-call]
        try:
            with contextlib.suppress(RedisError, OSError):
                await connection.connect()
                end_if_cancelled()
                await connection.send_packed_command(b"".join(map(pack, commands)))
                async for message in _pushed(connection):
                    self._heard.put_nowait(message)
        finally:
            await connection.disconnect(nowait=True)
        end_if_cancelled()
        self._heard.put_nowait(None)
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)


async def _pushed(connection: AbstractConnection) -> AsyncIterator[Message]:
    """What is published to a connection that subscribed; a silent one is asked if it lives.

    redis-py's own reader costs as much for each message as the commit that it tells of.
    """
    asked = False
    while True:
        end_if_cancelled()
        answer = await connection.read_response(timeout=_SECONDS_OF_SILENCE)
        if answer is None:
            if asked:
                return
            await connection.send_command("PING")
        elif answer[0] in (b"message", b"smessage"):
            yield answer[1].decode(), answer[2].decode()
        elif answer[0] == b"sunsubscribe":
            return
        asked = answer is None


def end_if_cancelled() -> None:
    """Raise the cancellation that redis-py swallows when it comes while it connects or writes."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
