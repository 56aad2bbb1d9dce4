"""A raw connection to one Redis, written and read in batches.

redis-py opens it, with everything that belongs to that: addresses, passwords, TLS. Commands are
packed and replies parsed here with hiredis, in batches, because redis-py takes its time over each
reply: with its `read_response` a decision costs 93 µs of the server's processor time instead of 86
(docs/load.md, "The quick path").

This uses two private attributes of redis-py's connections, `_reader` and `_writer`, as they are in
redis 8.1. Every test of the store fails with a version that does not have them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, Self, cast

from hiredis import Reader, pack_command
from redis._parsers import BaseParser
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError

from himeji_server.store.commands import Command

pack: Final = cast("Callable[[Command], bytes]", pack_command)

_MORE: Final = object()
_BYTES_AT_ONCE: Final = 1 << 16


class RawConnection:
    """A connection of a pool, used by one task at a time."""

    def __init__(self, pool: ConnectionPool, connection: AbstractConnection) -> None:
        self._pool = pool
        self._connection = connection
        # redis-py has no public name for the streams of a connection.
        self._input = cast("asyncio.StreamReader", connection._reader)  # noqa: SLF001
        self._output = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001
        self._parser = Reader(
            protocolError=RedisConnectionError,
            replyError=BaseParser.parse_error,
            notEnoughData=_MORE,
        )

    @classmethod
    async def open(cls, pool: ConnectionPool) -> Self:
        """Take a connection of a pool; raises RedisError, OSError."""
        return cls(pool, await pool.get_connection())  # type: ignore[no-untyped-call]

    @property
    def is_closed(self) -> bool:
        """Whether either side has closed it, as far as known."""
        lost = self._input.exception() is not None
        return lost or self._input.at_eof() or self._output.is_closing()

    def send(self, commands: Iterable[Command]) -> None:
        """Write commands in one piece; raises RedisError if it is closed."""
        if self.is_closed:
            raise RedisConnectionError("it was closed")
        self._output.write(b"".join(map(pack, commands)))

    async def read(self, count: int) -> list[Any]:
        """The replies to so many commands; an error that Redis replies with is one of them.

        Raises RedisError or OSError if they do not come.
        """
        replies: list[Any] = []
        while len(replies) < count:
            reply = self._parser.gets()
            if reply is _MORE:
                self._parser.feed(await self._more())
            elif isinstance(reply, RedisConnectionError):
                raise reply
            else:
                replies.append(reply)
        return replies

    async def _more(self) -> bytes:
        data = await self._input.read(_BYTES_AT_ONCE)
        if not data:
            raise RedisConnectionError("it was closed")
        return data

    async def close(self) -> None:
        """Close it; replies still in flight are lost with it."""
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)
