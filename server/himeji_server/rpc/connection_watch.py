"""Closes the connections of clients that take more than their share.

gRPC limits how many connections a process has, not how many one client has, and it waits for ever
for a client that does not take its answers. So this watches the process's own sockets, which the
operating system lists, and shuts down those that are too many or that calls_in_flight.py names;
gRPC then sees a client that went away, and frees whatever it kept for it.

Invariants: a connection counts for the owner whose token was shown on it last, else for its
address. Twice a second nobody has more than allowed: of those that are too many the oldest are
closed, so that a new client of the same address still gets in. House bots are never too many.
Only sockets of the gRPC port are touched, and each is compared once more before it is shut down,
on a duplicate of its descriptor: meanwhile its number may have become another connection's.

Looking through 10,000 descriptors takes 40 ms, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final, NoReturn

import structlog

from himeji_server import addresses, metrics
from himeji_server.names import HOUSE
from himeji_server.rpc.calls_in_flight import CallsInFlight, Client, Connection, Endpoint
from himeji_server.tasks import wait_for

_PERIOD_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 0.05
"""Between two looks, however many calls ask for one."""

_LOG_SECONDS: Final = 10.0
_MOST_LOGGED: Final = 10
_HOUSE: Final[Client] = ("owner", HOUSE)
_DESCRIPTORS: Final = "/dev/fd"

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

    async def run(self) -> NoReturn:
        """Watch; returns only by being cancelled."""
        last_log = asyncio.get_running_loop().time()
        while True:
            await wait_for(self._calls.wake, _PERIOD_SECONDS)
            await self.check()
            await asyncio.sleep(_PAUSE_SECONDS)
            now = asyncio.get_running_loop().time()
            if self._closed and now - last_log >= _LOG_SECONDS:
                last_log = now
                self._write_log()

    async def check(self) -> None:
        """Close what has to be closed now."""
        self._calls.wake.clear()
        before = list(self._calls.connections.items())
        found = await asyncio.to_thread(_open_sockets, self._port)
        self._note(found)
        by_client = self._by_client()
        self._calls.close_slow_readers()
        to_close = self._named({each for _, each in before}) | self._excess(by_client)
        self._forget(before, found)
        if to_close:
            sockets = [(self._sockets[each], each) for each in to_close]
            await asyncio.to_thread(_shut_down, sockets, self._port)

    def _note(self, found: dict[Endpoint, int]) -> None:
        """Keep the order in which connections were first seen."""
        kept = [each for each in self._sockets if each in found]
        self._sockets = {each: found[each] for each in kept} | found

    def _by_client(self) -> dict[Client, list[Endpoint]]:
        """All connections, oldest first, by the owner or address for which they count."""
        known = {each.endpoint: each.client for each in self._calls.connections.values()}
        hosts: dict[str, Client] = {}  # thousands of connections may have one host
        found: defaultdict[Client, list[Endpoint]] = defaultdict(list)
        for endpoint in self._sockets:
            client, host = known.get(endpoint), endpoint[0]
            if client is None:
                client = hosts.get(host) or hosts.setdefault(
                    host, ("address", addresses.of_host(host))
                )
            found[client].append(endpoint)
        return found

    def _named(self, known: set[Connection]) -> set[Endpoint]:
        """The connections that the calls in flight name.

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
        return {each.endpoint for each in open_ones}

    def _excess(self, by_client: dict[Client, list[Endpoint]]) -> set[Endpoint]:
        """The oldest connections of every client that has more than allowed."""
        limits = self._limits
        allowed = {"address": limits.connections_per_address, "owner": limits.connections_per_owner}
        excess: set[Endpoint] = set()
        for client, endpoints in by_client.items():
            too_many = len(endpoints) - allowed[client[0]]
            if too_many > 0 and client != _HOUSE:
                self._count(client, "connections", too_many)
                excess.update(endpoints[:too_many])
        return excess

    def _forget(self, before: Iterable[tuple[str, Connection]], found: dict[Endpoint, int]) -> None:
        """Forget closed connections; those that came during the look are not known to be closed."""
        for peer, connection in before:
            if connection.endpoint not in found and not connection.calls:
                self._calls.connections.pop(peer, None)

    def _count(self, client: Client, why: str, count: int) -> None:
        metrics.CONNECTIONS_CLOSED.labels(why).inc(count)
        self._closed[client[1], why] += count

    def _write_log(self) -> None:
        closed = [
            {"client": name, "why": why, "count": count}
            for (name, why), count in self._closed.most_common(_MOST_LOGGED)
        ]
        _log.warning("connections closed", total=self._closed.total(), most=closed)
        self._closed.clear()


def _open_sockets(port: int) -> dict[Endpoint, int]:
    """The clients that are connected to a port of this process, with the descriptors."""
    found = {}
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - a path for each would cost more
        descriptor = int(name)
        client = _client(descriptor, port)
        if client is not None:
            found[client] = descriptor
    return found


def _client(descriptor: int, port: int) -> Endpoint | None:
    """Who is connected at a descriptor; None if it is no connection to the port."""
    # gRPC's sockets are of IPv6, also for clients of IPv4; the names of other families are shorter.
    try:
        this = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=descriptor)
    except OSError:
        return None
    try:
        own = this.getsockname()
        if not isinstance(own, tuple) or own[1] != port:
            return None
        host, client_port, *_ = this.getpeername()
    except (OSError, ValueError):
        return None
    finally:
        this.detach()  # the descriptor is gRPC's
    return addresses.endpoint(host, client_port)


def _shut_down(sockets: Iterable[tuple[int, Endpoint]], port: int) -> None:
    for descriptor, client in sockets:
        with contextlib.suppress(OSError), contextlib.closing(_duplicate(descriptor)) as copy:
            if _client(copy.fileno(), port) == client:
                copy.shutdown(socket.SHUT_RDWR)


def _duplicate(descriptor: int) -> socket.socket:
    return socket.fromfd(descriptor, socket.AF_INET6, socket.SOCK_STREAM)
