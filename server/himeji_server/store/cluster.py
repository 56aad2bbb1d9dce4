"""A Redis Cluster: sends each command to the primary that has the slot of its key.

redis-py has a client for clusters; this one exists because of three differences. A command that was
lost on the way is never sent again silently, since only its sender knows whether it may be. A reply
waits until the replicas acknowledged the write (`WAIT`), in one round trip with its batch. And a
lost node stops neither commands nor subscriptions of the others.

A command that a node redirects was not executed, so it is sent on to the node that is named. A node
that does not reply may have executed the command: that is reported like a lost Redis, and the slot
map is read again. It is also read now and then, because the replicas of a primary may change.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import structlog
from himeji.rules.errors import StoreUnavailable
from redis.asyncio import ConnectionPool
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import AskError, MovedError

from himeji_server.store.commands import Command, IgnoredReply, Receiver, ReplicatedSender, ask
from himeji_server.store.errors import REDIRECTIONS

_KEYLESS: Final = frozenset({"INFO", "PUBLISH", "TIME"})
_SCRIPTS: Final = frozenset({"EVAL", "EVALSHA"})
_MOST_REDIRECTIONS: Final = 16
_RETRY_SECONDS: Final = 0.05
_REFRESH_SECONDS: Final = 2.0
_REFRESH_DELAY_SECONDS: Final = 0.2
"""How soon after a doubt the slot map is read: doubts come from many commands at once."""

_log = structlog.get_logger(__name__)

Address = tuple[str, int]


class _RoutedCommand:
    """A command on its way to the node that has its slot; follows redirections."""

    __slots__ = ("_address", "_cluster", "_command", "_receiver")

    def __init__(
        self, cluster: Cluster, command: Command, address: Address, receiver: Receiver
    ) -> None:
        self._cluster = cluster
        self._command = command
        self._address = address
        self._receiver = receiver

    def receive(self, reply: Any) -> None:
        if isinstance(reply, REDIRECTIONS):
            self._cluster.start_task(self._follow(reply))
        else:
            self._finish(reply)

    async def _follow(self, reply: Any) -> None:
        """Send the command on until a node executes it."""
        for _ in range(_MOST_REDIRECTIONS):
            asking = False
            if isinstance(reply, MovedError):
                self._address = (reply.host, reply.port)
                self._cluster.slot_moved(reply.slot_id, self._address)
            elif isinstance(reply, AskError):
                self._address, asking = (reply.host, reply.port), True
            else:  # TRYAGAIN: the keys of a script are being moved to another node
                await asyncio.sleep(_RETRY_SECONDS)
            reply = await self._send_again(asking=asking)
            if not isinstance(reply, REDIRECTIONS):
                break
        else:
            reply = StoreUnavailable("the store is being rearranged")
        self._finish(reply)

    async def _send_again(self, *, asking: bool) -> Any:
        """The reply of the node, or the error instead of it."""
        sender = self._cluster.sender(self._address)
        if asking:  # commands that are sent in a row use the same connection
            sender.send(("ASKING",), IgnoredReply())
        try:
            return await ask(sender, *self._command)
        except Exception as error:  # noqa: BLE001 - whatever it is, the receiver gets it
            return error

    def _finish(self, reply: Any) -> None:
        if isinstance(reply, StoreUnavailable):
            self._cluster.request_refresh()
        self._receiver.receive(reply)


class Cluster:
    """The primaries of a cluster, found through one of its nodes."""

    def __init__(
        self, seed: ConnectionPool, make_sender: Callable[[ConnectionPool], ReplicatedSender]
    ) -> None:
        self._seed = seed
        self._make_sender = make_sender
        self._pools: dict[Address, ConnectionPool] = {}
        self._senders: dict[Address, ReplicatedSender] = {}
        self._slots: list[Address] = []
        self._round_robin = itertools.count(secrets.randbelow(REDIS_CLUSTER_HASH_SLOTS))
        self._rows: list[Any] = []  # the last reply to CLUSTER SLOTS
        self._moves: dict[int, int] = {}  # slots that moved, each with the number of its last move
        self._refresh_requested = asyncio.Event()
        self._refresher: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Read the slot map, and keep it up to date; raises StoreUnavailable."""
        await self._refresh()
        self._refresher = asyncio.create_task(self._keep_refreshing())

    async def _refresh(self) -> None:
        """Read the slot map from the first node that replies; raises StoreUnavailable."""
        for address in dict.fromkeys([*self._senders, _address(self._seed)]):
            with contextlib.suppress(StoreUnavailable):
                rows = await ask(self.sender(address), "CLUSTER", "SLOTS")
                self._take(rows, address[0])
                return
        raise StoreUnavailable("the store does not answer")

    def send(self, command: Command, receiver: Receiver) -> None:
        """Send a command to the primary that has its key, wherever that is by now."""
        address = self._place(command)
        self.sender(address).send(command, _RoutedCommand(self, command, address, receiver))

    async def ping(self) -> None:
        """Return when a node says that all slots are served; raises StoreUnavailable."""
        for address in [*self._senders]:
            with contextlib.suppress(StoreUnavailable):
                facts = bytes(await ask(self.sender(address), "CLUSTER", "INFO"))
                if b"cluster_state:ok" in facts:
                    return
        self.request_refresh()
        raise StoreUnavailable("the store does not answer")

    async def ask_each_primary(self, *command: Any) -> list[Any]:
        """Send a command to every primary; the replies."""
        primaries = sorted(set(self._slots))
        return await asyncio.gather(*(ask(self.sender(each), *command) for each in primaries))

    def moved_slots(self, since: int) -> tuple[int, frozenset[int]]:
        """The slots that moved to another node since a point, and the point that is now."""
        slots = frozenset(slot for slot, move in self._moves.items() if move > since)
        return max(self._moves.values(), default=0), slots

    def subscription_pools(
        self, sharded: Sequence[str]
    ) -> list[tuple[ConnectionPool, Sequence[str]]]:
        """Where to subscribe to these sharded channels; for none of them, to all others.

        A message on a channel without a slot reaches all nodes, so any will do. The next call
        gives another one, because the last one may be lost.
        """
        if not sharded:
            pools = [*self._pools.values()]
            return [(pools[next(self._round_robin) % len(pools)], ())]
        channels: dict[ConnectionPool, list[str]] = {}
        for channel in sharded:
            address = self._slots[slot_of(channel)]
            self.sender(address)  # which makes its pool
            channels.setdefault(self._pools[address], []).append(channel)
        return [*channels.items()]

    async def close(self) -> None:
        """Send nothing more, wait for outstanding replies, and close every connection."""
        if self._refresher is not None:
            self._refresher.cancel()
            await asyncio.wait({self._refresher})
        for sender in self._senders.values():
            await sender.close()

    # --- for commands under way -----------------------------------------------------------------

    def start_task(self, work: Any) -> None:
        """Run a coroutine; the reference keeps its task from being collected."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def slot_moved(self, slot: int, address: Address) -> None:
        """A node redirected a command: its slot is at another node now."""
        self._note({slot: address})
        self.request_refresh()

    def request_refresh(self) -> None:
        """Have the slot map read again soon."""
        self._refresh_requested.set()

    def sender(self, address: Address) -> ReplicatedSender:
        """The sender for one node, which is made when it is first needed."""
        sender = self._senders.get(address)
        if sender is None:
            options = {**self._seed.connection_kwargs, "host": address[0], "port": address[1]}
            pool = ConnectionPool(connection_class=self._seed.connection_class, **options)
            sender = self._senders[address] = self._make_sender(pool)
            self._pools[address] = pool
        return sender

    # --- the slot map ---------------------------------------------------------------------------

    def _place(self, command: Sequence[Any]) -> Address:
        name = command[0]
        if name in _KEYLESS:
            return self._slots[0]
        return self._slots[slot_of(str(command[3] if name in _SCRIPTS else command[1]))]

    def _take(self, rows: list[Any], asked: str) -> None:
        """Take over a slot map; a node that does not know its own host is the asked one."""
        if rows == self._rows:
            return
        slots: dict[int, Address] = {}
        replicas: dict[Address, int] = {}
        for first, last, primary, *others in rows:
            address = (bytes(primary[0] or b"").decode() or asked, int(primary[1]))
            replicas[address] = len(others)
            slots |= dict.fromkeys(range(first, last + 1), address)
        if len(slots) < REDIS_CLUSTER_HASH_SLOTS:
            raise StoreUnavailable("the store does not serve all slots")
        if self._slots:
            self._note(slots)
        else:
            self._slots = [slots[slot] for slot in range(REDIS_CLUSTER_HASH_SLOTS)]
        for address in {*self._senders, *replicas}:
            self.sender(address).replicas = replicas.get(address, 0)
        self._rows = rows

    def _note(self, slots: Mapping[int, Address]) -> None:
        """Note where slots are now, and which of them moved."""
        moved = {slot: each for slot, each in slots.items() if self._slots[slot] != each}
        move = max(self._moves.values(), default=0) + 1
        for slot, address in moved.items():
            self._slots[slot] = address
            self._moves[slot] = move

    async def _keep_refreshing(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_REFRESH_SECONDS):
                    await self._refresh_requested.wait()
            self._refresh_requested.clear()
            await asyncio.sleep(_REFRESH_DELAY_SECONDS)
            try:
                await self._refresh()
            except StoreUnavailable as error:
                _log.warning("cannot read the slot map of the cluster", why=error.message)


@lru_cache(maxsize=1 << 14)
def slot_of(key: str) -> int:
    """The slot of a key."""
    return int(key_slot(key.encode()))


def _address(pool: ConnectionPool) -> Address:
    options = pool.connection_kwargs
    return str(options.get("host", "localhost")), int(options.get("port", 6379))
