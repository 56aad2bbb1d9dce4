"""Closes the connections of clients that take more than their share, and blocks floods.

gRPC limits how many connections a process has, not how many one client has, and it waits for ever
for a client that does not take its answers. So this watches the process's own sockets, which the
operating system lists, and shuts down those that are too many or that calls_in_flight.py names;
gRPC then sees a client that went away, and frees whatever it kept for it.

Invariants: a connection counts for the owner whose token was shown on it last, else for its
address. Twice a second nobody has more than allowed: of those that are too many the oldest are
closed, so that a new client of the same address still gets in. House bots and administrators are
never too many.

The address of a flood is blocked, and connections from there without a token are closed with those
of the flood. If another owner is connected from there, the address is blocked only when the flood
continues after its connections were closed; the other owner's connections stay open. Where the
kernel does not filter, a new connection of a blocked address is closed after its first call.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NoReturn

import structlog
from himeji.rules.errors import RateLimited

from himeji_server import addresses, metrics
from himeji_server.rate_limits import UNLIMITED, RateLimiter
from himeji_server.rpc import open_sockets
from himeji_server.rpc.calls_in_flight import (
    FLOOD,
    NOT_READ,
    CallsInFlight,
    Client,
    Connection,
    Endpoint,
)
from himeji_server.tasks import wait_for

_PERIOD_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 0.05
"""Between two looks, however many calls ask for one."""

_LOG_SECONDS: Final = 10.0
_MOST_LOGGED: Final = 10
_FLOODS_AT_ONCE: Final = 3
_SECONDS_BETWEEN_FLOODS: Final = 20
"""How often an address may be that of a flood before it is blocked although others are there."""

_UNLIMITED: Final[frozenset[Client]] = frozenset(("owner", name) for name in UNLIMITED)

_log = structlog.get_logger(__name__)


class ConnectionWatch:
    """Watches the connections to one port of this process."""

    def __init__(self, calls: CallsInFlight, port: int) -> None:
        self._calls = calls
        self._limits = calls.limits
        self._port = port
        self._sockets: dict[Endpoint, int] = {}
        """The descriptors of all connections, oldest first."""

        self._closed: Counter[tuple[str, str]] = Counter()
        """How many were closed since the last log line, by client and reason."""

        self._blocked: Counter[str] = Counter()
        """How often addresses were blocked since then."""

        self._filter = calls.blocks
        self._tolerated = RateLimiter("", 1, _FLOODS_AT_ONCE * _SECONDS_BETWEEN_FLOODS)

    async def run(self) -> NoReturn:
        """Watch; returns only by being cancelled."""
        try:
            await self._run()
        finally:
            self._filter.close()

    async def _run(self) -> NoReturn:
        last_log = asyncio.get_running_loop().time()
        while True:
            await wait_for(self._calls.wake, _PERIOD_SECONDS)
            try:
                await self.check()
            except OSError as error:  # no descriptor was free, for example
                _log.warning("connections were not checked", error=str(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            now = asyncio.get_running_loop().time()
            if self._closed and now - last_log >= _LOG_SECONDS:
                last_log = now
                self._write_log()

    async def check(self) -> None:
        """Close what has to be closed now."""
        self._calls.wake.clear()
        before = list(self._calls.connections.items())
        found, listeners = await asyncio.to_thread(open_sockets.find, self._port)
        self._update_filter(listeners)
        self._note(found)
        by_client = self._by_client()
        self._calls.close_slow_readers()
        named = self._named({each for _, each in before})
        to_close = {each.endpoint for each in named} | self._excess(by_client)
        to_close |= self._cut_off([each for each, why in named.items() if why == FLOOD], by_client)
        self._forget(before, found)
        connections = self._calls.connections.values()
        self._calls.closed = {each for each in connections if each.endpoint in to_close}
        if to_close:
            sockets = [(self._sockets[each], each) for each in to_close]
            await asyncio.to_thread(open_sockets.shut_down, sockets, self._port)

    def _update_filter(self, listeners: Iterable[int]) -> None:
        """Let in whose block is over, and filter listening sockets that are new."""
        self._filter.expire()
        for descriptor in listeners:
            self._filter.attach(descriptor)

    def _note(self, found: dict[Endpoint, int]) -> None:
        """Keep the order in which connections were first seen."""
        kept = [each for each in self._sockets if each in found]
        self._sockets = {each: found[each] for each in kept} | found

    def _by_client(self) -> dict[Client, list[Endpoint]]:
        """All connections, oldest first, by the owner or address for which they count."""
        known = {each.endpoint: each.client for each in self._calls.connections.values()}
        found: defaultdict[Client, list[Endpoint]] = defaultdict(list)
        for endpoint in self._sockets:
            client = known.get(endpoint) or ("address", _address(endpoint))
            found[client].append(endpoint)
        return found

    def _named(self, known: set[Connection]) -> dict[Connection, str]:
        """The open connections that the calls in flight name, and why.

        Those that came during the look may not be among the sockets yet, and stay named.
        """
        named = self._calls.to_close
        self._calls.to_close = {
            each: why
            for each, why in named.items()
            if each not in known and each.endpoint not in self._sockets
        }
        open_ones = {each: why for each, why in named.items() if each.endpoint in self._sockets}
        for connection, why in open_ones.items():
            self._count(connection.client, why, 1)
        return open_ones

    def _excess(self, by_client: dict[Client, list[Endpoint]]) -> set[Endpoint]:
        """The oldest connections of every client that has more than allowed."""
        limits = self._limits
        allowed = {"address": limits.connections_per_address, "owner": limits.connections_per_owner}
        excess: set[Endpoint] = set()
        for client, endpoints in by_client.items():
            too_many = len(endpoints) - allowed[client[0]]
            if too_many > 0 and client not in _UNLIMITED:
                self._count(client, "connections", too_many)
                excess.update(endpoints[:too_many])
        return excess

    def _cut_off(
        self, floods: Collection[Connection], by_client: dict[Client, list[Endpoint]]
    ) -> set[Endpoint]:
        """Block floods; returns their connections, and those of strangers at blocked addresses."""
        found: set[Endpoint] = set()
        clients: defaultdict[str, set[Client]] = defaultdict(set)
        for each in floods:
            clients[each.address].add(each.client)
        for address, flooding in clients.items():
            for client in flooding:
                own = by_client.get(client, ())
                found.update(each for each in own if _address(each) == address)
            if not (self._has_others(address, flooding) and self._is_tolerated(address)):
                self._block(address)
        if len(self._filter):
            for (kind, name), endpoints in by_client.items():
                if kind == "address" and self._filter.is_blocked(name):
                    found.update(endpoints)
        for endpoint in found - {each.endpoint for each in floods}:
            self._count(("address", _address(endpoint)), FLOOD, 1)
        return found

    def _is_tolerated(self, address: str) -> bool:
        """Whether the floods of an address are so few that closing their connections is enough."""
        try:
            self._tolerated.acquire(address, _SECONDS_BETWEEN_FLOODS)
        except RateLimited:
            return False
        return True

    def _has_others(self, address: str, clients: Collection[Client]) -> bool:
        """Whether another owner or an administrator has an open connection from an address."""
        return any(
            each.is_unlimited or (each.owner and each.client not in clients)
            for each in self._calls.connections.values()
            if each.address == address and each.endpoint in self._sockets
        )

    def _block(self, address: str) -> None:
        is_new = not self._filter.is_blocked(address)
        if self._filter.block(address, self._limits.block_seconds) and is_new:
            metrics.ADDRESSES_BLOCKED.inc()
            self._blocked[address] += 1
            self._calls.wake.set()  # connections that gRPC had not accepted yet

    def _forget(self, before: Iterable[tuple[str, Connection]], found: dict[Endpoint, int]) -> None:
        """Forget closed connections; those that came during the look are not known to be closed."""
        for peer, connection in before:
            if connection.endpoint not in found and not connection.calls:
                self._calls.connections.pop(peer, None)

    def _count(self, client: Client, why: str, count: int) -> None:
        metrics.CONNECTIONS_CLOSED.labels(why).inc(count)
        self._closed[client[1], why] += count
        if why != NOT_READ:
            self._calls.note_closed(client)

    def _write_log(self) -> None:
        closed = [
            {"client": name, "why": why, "count": count}
            for (name, why), count in self._closed.most_common(_MOST_LOGGED)
        ]
        blocked = dict(self._blocked.most_common(_MOST_LOGGED))
        _log.warning("connections closed", total=self._closed.total(), most=closed, blocked=blocked)
        self._closed.clear()
        self._blocked.clear()


def _address(endpoint: Endpoint) -> str:
    return addresses.of_host(endpoint[0])
