"""A Redis Cluster: which primary has the slot of a key, and what to do when that changes.

A command that a node does not take was not carried out, so it is sent on to the one that is named.
A node that does not answer may have carried it out: that is reported like a lost Redis, and the
nodes are asked who has which slots now. They are asked now and then in any case: which replicas a
primary has decides what it waits for before it answers.
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
from redis.exceptions import AskError, MovedError, RedisError, TryAgainError

from himeji_server.store.sending import Argument, CopyingSender, Then, answer_of

REDIRECTIONS: Final = (AskError, MovedError, TryAgainError)
"""What a node answers that has not done what it was told."""

_KEYLESS: Final = frozenset({"INFO", "PUBLISH", "TIME"})
_SCRIPTS: Final = frozenset({"EVAL", "EVALSHA"})
_MOST_REDIRECTIONS: Final = 16
_SECONDS_UNTIL_TRIED_AGAIN: Final = 0.05
_SECONDS_BETWEEN_LOOKS: Final = 2.0
_SECONDS_UNTIL_A_LOOK: Final = 0.2
"""How soon after a doubt the nodes are asked: it comes from many commands at once."""

_log = structlog.get_logger(__name__)

Address = tuple[str, int]


class Cluster:
    """The primaries of a cluster, found through one of its nodes."""

    def __init__(
        self, seed: ConnectionPool, make: Callable[[ConnectionPool], CopyingSender]
    ) -> None:
        self._seed = seed
        self._make = make
        self._pools: dict[Address, ConnectionPool] = {}
        self._senders: dict[Address, CopyingSender] = {}
        self._slots: list[Address] = []
        self._turns = itertools.count(secrets.randbelow(REDIS_CLUSTER_HASH_SLOTS))
        self._rows: list[Any] = []  # who has which slots, as a node told it last
        self._moves: dict[int, int] = {}  # slots that changed hands, and by which change they did
        self._doubt = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Find out who has which slots, and keep up with it; raises StoreUnavailable."""
        await self._look()
        self._looking = asyncio.create_task(self._keep_looking())

    async def _look(self) -> None:
        """Ask the nodes, one after the other, who has which slots; raises StoreUnavailable."""
        for address in dict.fromkeys([*self._senders, _address(self._seed)]):
            with contextlib.suppress(StoreUnavailable):
                rows = await answer_of(self._sender(address), "CLUSTER", "SLOTS")
                self._take(rows, address[0])
                return
        raise StoreUnavailable("the store does not answer")

    def send(self, command: tuple[Argument, ...], then: Then) -> None:
        """Send a command to the primary that has its key, wherever that is by now."""
        address = self._place(command)

        def answered(answer: Any) -> None:
            if isinstance(answer, REDIRECTIONS):
                task = asyncio.create_task(self._redirected(command, address, answer, then))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self._passed_on(answer, then)

        self._sender(address).send(command, answered)

    async def _redirected(
        self, command: tuple[Argument, ...], address: Address, answer: Any, then: Then
    ) -> None:
        """Follow a command that the node of an address has not done to where it is done."""
        for _ in range(_MOST_REDIRECTIONS):
            asking = False
            if isinstance(answer, MovedError):
                address = (answer.host, answer.port)
                self._note({answer.slot_id: address})
                self._doubt.set()
            elif isinstance(answer, AskError):
                address, asking = (answer.host, answer.port), True
            else:  # the keys of a script are on their way to another node
                await asyncio.sleep(_SECONDS_UNTIL_TRIED_AGAIN)
            answer = await self._sent(address, command, asking=asking)
            if not isinstance(answer, REDIRECTIONS):
                break
        else:
            answer = StoreUnavailable("the store is being rearranged")
        self._passed_on(answer, then)

    def _passed_on(self, answer: Any, then: Then) -> None:
        if isinstance(answer, StoreUnavailable):
            self._doubt.set()
        then(answer)

    async def ping(self) -> None:
        """Return when a node says that all slots are served; raises StoreUnavailable."""
        for address in [*self._senders]:
            with contextlib.suppress(StoreUnavailable):
                facts = bytes(await answer_of(self._sender(address), "CLUSTER", "INFO"))
                if b"cluster_state:ok" in facts:
                    return
        self._doubt.set()
        raise StoreUnavailable("the store does not answer")

    async def of_each_primary(self, *command: Any) -> list[Any]:
        """Send a command to every primary; the answers."""
        primaries = sorted(set(self._slots))
        return await asyncio.gather(
            *(answer_of(self._sender(each), *command) for each in primaries)
        )

    def moved(self, since: int) -> tuple[int, frozenset[int]]:
        """The slots that changed hands since a point, and the point that is now."""
        slots = frozenset(slot for slot, move in self._moves.items() if move > since)
        return max(self._moves.values(), default=0), slots

    def listening(self, in_slots: Sequence[str]) -> list[tuple[ConnectionPool, Sequence[str]]]:
        """Where to listen for what is published in the slots of these channels, or in none.

        What is published in no slot is heard at all nodes, so any will do. The next time it is
        another, for this one may be lost.
        """
        if not in_slots:
            pools = [*self._pools.values()]
            return [(pools[next(self._turns) % len(pools)], ())]
        channels: dict[ConnectionPool, list[str]] = {}
        for channel in in_slots:
            address = self._slots[slot_of(channel)]
            self._sender(address)  # which makes its pool
            channels.setdefault(self._pools[address], []).append(channel)
        return [*channels.items()]

    async def close(self) -> None:
        """Send nothing more, wait for what is under way, and close every connection."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        for sender in self._senders.values():
            await sender.close()

    def _place(self, command: Sequence[Any]) -> Address:
        name = command[0]
        if name in _KEYLESS:
            return self._slots[0]
        return self._slots[slot_of(str(command[3] if name in _SCRIPTS else command[1]))]

    async def _sent(self, address: Address, command: tuple[Argument, ...], *, asking: bool) -> Any:
        """The answer of a node, or the exception that came instead."""
        sender = self._sender(address)
        if asking:  # what is sent one after the other goes over the same connection
            sender.send(("ASKING",), lambda _answer: None)
        try:
            return await answer_of(sender, *command)
        except (StoreUnavailable, RedisError) as error:
            return error

    def _sender(self, address: Address) -> CopyingSender:
        sender = self._senders.get(address)
        if sender is None:
            wanted = {**self._seed.connection_kwargs, "host": address[0], "port": address[1]}
            pool = ConnectionPool(connection_class=self._seed.connection_class, **wanted)
            sender = self._senders[address] = self._make(pool)
            self._pools[address] = pool
        return sender

    def _take(self, rows: list[Any], asked: str) -> None:
        """Take in who has which slots; a node that does not know its own address is the asked."""
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
            self._sender(address).copies = replicas.get(address, 0)
        self._rows = rows

    def _note(self, slots: Mapping[int, Address]) -> None:
        """Note who has slots now, and which of them changed hands."""
        moved = {slot: each for slot, each in slots.items() if self._slots[slot] != each}
        move = max(self._moves.values(), default=0) + 1
        for slot, address in moved.items():
            self._slots[slot] = address
            self._moves[slot] = move

    async def _keep_looking(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS_BETWEEN_LOOKS):
                    await self._doubt.wait()
            self._doubt.clear()
            await asyncio.sleep(_SECONDS_UNTIL_A_LOOK)
            try:
                await self._look()
            except StoreUnavailable as error:
                _log.warning("cluster cannot be looked at", why=error.message)


@lru_cache(maxsize=1 << 14)
def slot_of(key: str) -> int:
    """The slot of a key."""
    return int(key_slot(key.encode()))


def _address(pool: ConnectionPool) -> Address:
    wanted = pool.connection_kwargs
    return str(wanted.get("host", "localhost")), int(wanted.get("port", 6379))
