"""A connection to one Redis, spoken to in batches.

redis-py opens it, with all that belongs to that: addresses, passwords, TLS. Reading and writing are
done here, because redis-py takes longer over each answer than Redis over the command.
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

from himeji_server.store.sending import Argument

pack: Final = cast("Callable[[tuple[Argument, ...]], bytes]", pack_command)

_MORE: Final = object()
_BYTES_AT_ONCE: Final = 1 << 16


class RawConnection:
    """A connection of a pool; who has it has it alone."""

    def __init__(self, pool: ConnectionPool, connection: AbstractConnection) -> None:
        self._pool = pool
        self._connection = connection
        # What it reads and writes with is told by nothing else.
        self._input = cast("asyncio.StreamReader", connection._reader)  # noqa: SLF001
        self._output = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001
        self._answers = Reader(
            protocolError=RedisConnectionError,
            replyError=BaseParser.parse_error,
            notEnoughData=_MORE,
        )

    @classmethod
    async def open(cls, pool: ConnectionPool) -> Self:
        """Take a connection of a pool; raises RedisError, OSError."""
        return cls(pool, await pool.get_connection())  # type: ignore[no-untyped-call]

    @property
    def ended(self) -> bool:
        """Whether it is known to be closed, by whomever."""
        lost = self._input.exception() is not None
        return lost or self._input.at_eof() or self._output.is_closing()

    def send(self, commands: Iterable[tuple[Argument, ...]]) -> None:
        """Send commands, all at once; raises RedisError if it is closed."""
        if self.ended:
            raise RedisConnectionError("it was closed")
        self._output.write(b"".join(map(pack, commands)))

    async def answers(self, count: int) -> list[Any]:
        """The answers to so many commands; an error that Redis answers with is one.

        Raises RedisError or OSError if they do not come.
        """
        found: list[Any] = []
        while len(found) < count:
            answer = self._answers.gets()
            if answer is _MORE:
                self._answers.feed(await self._more())
            elif isinstance(answer, RedisConnectionError):
                raise answer
            else:
                found.append(answer)
        return found

    async def _more(self) -> bytes:
        data = await self._input.read(_BYTES_AT_ONCE)
        if not data:
            raise RedisConnectionError("it was closed")
        return data

    async def close(self) -> None:
        """Close it: answers that are still to come would be taken for others."""
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)
