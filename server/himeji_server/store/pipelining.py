"""Automatic pipelining over one connection: while one batch is in flight, the next one gathers.

A single command goes out at once; under load, many share a round trip and one write to Redis's
disk. The replies to one batch are delivered while Redis executes the next: in dense play, Redis and
this process work at the same time.

Invariants: one task at a time uses the connection; replies are delivered in the order in which
commands were sent, each to its receiver, exactly once; after any failure the connection is closed,
because replies still in flight would be taken for the replies to other commands.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from importlib import resources
from typing import Any, Final

import structlog
from himeji.rules.errors import StoreUnavailable
from redis.asyncio import ConnectionPool
from redis.exceptions import NoScriptError, RedisError

from himeji_server import metrics
from himeji_server.store.commands import Argument, Command, Receiver, Sender, ask
from himeji_server.store.errors import REDIRECTIONS, ImpairmentLog, translate
from himeji_server.store.raw_connection import RawConnection

BATCH_SIZE: Final = 96
"""Commands in one batch: with larger ones, everything in flight is one batch, and one of the two
sides waits idle for the other."""

REPLY_SECONDS: Final = 3.0
_REPLICATION_MILLISECONDS: Final = 2000

_log = structlog.get_logger(__name__)

_Sent = tuple[Command, Receiver]
_Reply = tuple[Receiver, Any]


class Script:
    """A Lua script, concatenated from files of the folder `scripts`."""

    def __init__(self, *names: str) -> None:
        folder = resources.files(__package__) / "scripts"
        self.text = "\n".join((folder / f"{name}.lua").read_text() for name in names)
        self.digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


class ScriptCall:
    """One run of a script: by its digest, and with its text where Redis does not know it yet."""

    __slots__ = ("_command", "_receiver", "_script", "_sender")

    def __init__(
        self,
        sender: Sender,
        script: Script,
        keys: Sequence[str],
        arguments: Sequence[Argument],
        receiver: Receiver,
    ) -> None:
        self._receiver = receiver
        self._sender = sender
        self._script = script
        self._command: Command = ("EVALSHA", script.digest, len(keys), *keys, *arguments)

    def send(self) -> None:
        """Send it. It cannot be taken back."""
        self._sender.send(self._command, self)

    def receive(self, reply: Any) -> None:
        """Pass the result on, or send the whole script."""
        if isinstance(reply, NoScriptError):
            self._sender.send(("EVAL", self._script.text, *self._command[2:]), self._receiver)
        else:
            self._receiver.receive(reply)


class Pipeline:
    """Sends commands to one Redis in batches.

    Where there are replicas, a batch is answered once they acknowledged its writes (WAIT): one of
    them may be the next primary. What was not replicated in time may have been executed or not,
    as with every command without a reply.
    """

    def __init__(self, pool: ConnectionPool, impairments: ImpairmentLog) -> None:
        self.replicas = 0
        self._impairments = impairments
        self._pool = pool
        self._connection: RawConnection | None = None
        self._queue: list[_Sent] = []
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def send(self, command: Command, receiver: Receiver) -> None:
        """Queue a command; the receiver gets the reply, or an error after `translate`.

        It cannot be taken back: what was sent is executed.
        """
        if self._closed:
            error = StoreUnavailable("the store is not used any more")
            asyncio.get_running_loop().call_soon(receiver.receive, error)
            return
        self._queue.append((command, receiver))
        if self._task is None:
            self._task = asyncio.create_task(self._send_all())

    async def ping(self) -> None:
        """Return when Redis replies; raises StoreUnavailable or StoreRefusedError."""
        await ask(self, "PING")

    async def ask_each_primary(self, *command: Any) -> list[Any]:
        """The replies of all primaries; here there is one."""
        return [await ask(self, *command)]

    def moved_slots(self, since: int) -> tuple[int, frozenset[int]]:
        """The slots that moved to another node: none, there is one node."""
        return since, frozenset()

    def subscription_pools(
        self, sharded: Sequence[str]
    ) -> list[tuple[ConnectionPool, Sequence[str]]]:
        """Where to subscribe to these sharded channels; for none of them, to all others."""
        return [(self._pool, sharded)]

    async def close(self) -> None:
        """Send nothing more, wait for outstanding replies, and close every connection."""
        self._closed = True
        if self._task is not None:
            await asyncio.wait({self._task})
        await self._disconnect()
        await self._pool.disconnect()

    async def _send_all(self) -> None:
        try:
            while self._queue:
                await self._send_batches()
        finally:
            self._task = None

    async def _send_batches(self) -> None:
        """Send batch after batch over one connection, until the queue is empty."""
        sent: list[_Sent] = []
        replies: list[_Reply] = []
        since = time.perf_counter()
        try:
            connection = await self._connect()
            while self._queue:
                sent, self._queue = self._queue[:BATCH_SIZE], self._queue[BATCH_SIZE:]
                since = time.perf_counter()
                commands = [command for command, _ in sent]
                async with asyncio.timeout(REPLY_SECONDS):
                    results = await self._exchange(connection, commands, replies)
                metrics.store_answered(len(sent), since, failed=False)
                replies = [
                    (receiver, result) for (_, receiver), result in zip(sent, results, strict=True)
                ]
                sent = []
                if not self._queue:
                    self._deliver(replies)
        except Exception as error:  # noqa: BLE001 - every receiver gets a reply
            if not isinstance(error, RedisError | OSError):
                _log.exception("unexpected error while talking to the store")
            await self._disconnect()
            # Commands queued behind a lost batch were never sent: their senders may retry.
            lost, self._queue = sent + self._queue, []
            metrics.store_answered(len(lost), since, failed=True)
            self._deliver(replies + [(receiver, error) for _, receiver in lost])
        except BaseException:
            await self._disconnect()
            raise

    async def _exchange(
        self, connection: RawConnection, commands: Sequence[Command], previous: list[_Reply]
    ) -> list[Any]:
        """One round trip, during which the replies to the previous batch are delivered."""
        replicas = self.replicas
        sent = [*commands, ("WAIT", replicas, _REPLICATION_MILLISECONDS)] if replicas else commands
        connection.send(sent)
        self._deliver(previous)
        replies = await connection.read(len(sent))
        if replicas:
            acknowledged = replies.pop()
            if not isinstance(acknowledged, int) or acknowledged < replicas:
                return [*map(_not_replicated, commands, replies)]
        return replies

    async def _connect(self) -> RawConnection:
        if self._connection is not None and self._connection.is_closed:
            await self._disconnect()
        if self._connection is None:
            self._connection = await RawConnection.open(self._pool)
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _deliver(self, replies: list[_Reply]) -> None:
        """Deliver each reply once; the list is empty afterwards."""
        delivered = replies[:]
        replies.clear()
        for receiver, reply in delivered:
            result = translate(reply)
            try:
                if result is not reply:
                    self._impairments.check(result)
                receiver.receive(result)
            except Exception:  # noqa: BLE001 - the receivers behind it must get their replies
                _log.exception("unexpected error in the receiver of a reply")


def _not_replicated(command: Command, reply: Any) -> Any:
    """The reply to a command of a batch whose writes the replicas did not acknowledge in time.

    What a read returned may be lost with them. A redirected command was not executed, and the
    slot map is needed to find out which replicas there are.
    """
    if command[0] == "CLUSTER" or isinstance(reply, REDIRECTIONS):
        return reply
    return StoreUnavailable("what was written is not copied yet")
