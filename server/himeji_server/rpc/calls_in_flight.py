"""Counts the calls in flight of every connection, address and owner, and the answers they wait for.

A call counts from its first moment until gRPC has written all of its answer: a client decides by
its HTTP/2 window when that is, and until then the arena keeps the answer in memory. A call counts
for the address of its client, and for the owner as soon as its token was verified. The calls of all
administrators count together, apart from those of their owners' other tokens, and so do those of
the house: only what they leave unread is limited, by what the process can hold.

Invariants: nobody has more calls or more bytes of unread answers in flight than the limits allow,
except for calls that are just being refused. A connection is to be closed, by connection_watch.py,
when its client does not take an answer in time, has twice the calls that are allowed (refusals
that nobody reads cost memory too), or cancels too many calls.

A flood is a client that makes too many calls that come to nothing, and goes on although connections
of it were closed for that or as many calls again were refused. connection_watch.py blocks its
address.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final, TypeAlias

from himeji.rules.errors import LimitExceeded, RateLimited
from himeji.wire.errors import RETRY_AFTER

from himeji_server import addresses
from himeji_server.accounts.caller import Caller
from himeji_server.address_filter import AddressFilter, can_block
from himeji_server.limits import NO_LIMIT, Limits
from himeji_server.rate_limits import UNLIMITED, RateLimiter, exceeded

Endpoint: TypeAlias = tuple[str, int]
"""The host and port of a client: what a connection is known by, to gRPC and to the kernel."""

Client: TypeAlias = tuple[str, str]
"""The kind ("owner", "address", or "stream" for the streams of an owner) and the name."""

BLOCKED: Final = "address blocked"
CANCELLED: Final = "cancelled calls"
CALLS_IN_FLIGHT: Final = "calls in flight"
FLOOD: Final = "flood"
NOT_READ: Final = "answers not read"
_RETRY_MS: Final = 1_000
_UNREAD_REFUSAL: Final = 4
_SHORT_CALL_SECONDS: Final = 1.0
_LARGE_ANSWER: Final = 64 << 10
"""Only calls that change nothing have larger answers, so that these can be refused instead."""


@dataclass(eq=False, slots=True)
class Connection:
    """A connection of a client, as far as calls were made on it."""

    address: str
    endpoint: Endpoint
    owner: str = ""
    """Whose limits are for the token that was shown last: its owner's, or an administrator's."""

    calls: int = 0
    """Calls in flight."""

    @property
    def is_unlimited(self) -> bool:
        """Whether that token is one of the house or of an administrator."""
        return self.owner in UNLIMITED

    @property
    def client(self) -> Client:
        """For whom the connection counts: the owner, else the address."""
        return ("owner", self.owner) if self.owner else ("address", self.address)


@dataclass(eq=False, slots=True)
class _Use:
    """What one caller has in flight."""

    limit: str
    allowed: int
    unread_limit: str
    allowed_bytes: int
    calls: int = 0
    unread_bytes: int = 0

    def unread_error(self) -> LimitExceeded:
        """The error for a caller that has to read first."""
        most = self.allowed_bytes
        error = exceeded(
            self.unread_limit, most, "more than {} bytes of answers wait for you: read"
        )
        error.details[RETRY_AFTER] = str(_RETRY_MS)
        return error


class Call:
    """One call in flight."""

    __slots__ = ("_began", "_caller", "_calls", "_unread_bytes", "_use", "connection", "refused")

    def __init__(self, calls: CallsInFlight, connection: Connection) -> None:
        self.connection = connection
        self.refused = False
        """Whether its client has too much in flight."""

        self._calls = calls
        self._began = time.monotonic()
        self._unread_bytes = 0
        self._caller: Client = ("address", connection.address)
        self._use = calls.take(self._caller)
        connection.calls += 1

    def check(self) -> None:
        """Raise LimitExceeded if the caller has too much in flight."""
        use = self._use
        self.refused = True
        if use.calls > use.allowed:
            if use.calls > 2 * use.allowed:
                self._calls.close(self.connection, CALLS_IN_FLIGHT)
            error = exceeded(use.limit, use.allowed, "you may have {} calls in flight")
            error.details[RETRY_AFTER] = str(_RETRY_MS)
            raise error
        if use.unread_bytes > use.allowed_bytes:
            raise use.unread_error()
        self.refused = False

    def charge_to(self, caller: Caller, *, stream: bool) -> None:
        """Count the call for the caller's owner from now on; raises LimitExceeded.

        Streams have limits of their own, and are not counted among the owner's calls.
        """
        self._calls.give_back(self._caller)
        self.connection.owner = caller.limit_key
        self._caller = ("stream" if stream else "owner", caller.limit_key)
        self._use = self._calls.take(self._caller)
        self.check()

    def answer(self, size: int) -> None:
        """Note that an answer of so many bytes is handed to gRPC now; raises LimitExceeded."""
        use = self._use
        unread = use.unread_bytes + size
        if size > _LARGE_ANSWER and unread > use.allowed_bytes:
            self.refused = True
            raise use.unread_error()
        use.unread_bytes = unread
        self._unread_bytes += size
        self._calls.unread.setdefault(self, time.monotonic())

    def close_connection(self) -> None:
        """Have the connection closed: its client does not read."""
        self._calls.close(self.connection, NOT_READ)

    def cancel(self) -> None:
        """Note that the client has cancelled the call; if it does so too often, it is cut off.

        A call that went on for a while does not count: a client that ends cancels all its streams.
        """
        if time.monotonic() - self._began > _SHORT_CALL_SECONDS:
            return
        if not self._calls.count_cancellation(self.connection):
            self._calls.close(self.connection, CANCELLED)

    async def refuse(self) -> None:
        """Note that the call is refused without any work; delays that if there are too many.

        A connection has only so many calls in flight, and for what a client writes beyond them gRPC
        needs neither Python nor memory: the delay bounds what a flood costs. Closing the connection
        would not, because a new one begins with no calls in flight.
        """
        # Who has too much in flight does not even read the refusals.
        cost = _UNREAD_REFUSAL if self.refused else 1
        if not self._calls.count_failure(self.connection, cost):
            await self.delay_refusal()

    async def delay_refusal(self) -> None:
        """Keep the client waiting for a refusal, so that it cannot call again at once."""
        await asyncio.sleep(self._calls.limits.failure_delay_seconds)

    def end(self, _context: object = None) -> None:
        """Note that gRPC has finished the call."""
        self._use.unread_bytes -= self._unread_bytes
        self._calls.unread.pop(self, None)
        self._calls.give_back(self._caller)
        self.connection.calls -= 1


class CallsInFlight:
    """All calls in flight of this process, and the connections that are to be closed."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.connections: dict[str, Connection] = {}
        """By what gRPC calls the peer; forgotten when the watch sees that they are closed."""

        self.unread: dict[Call, float] = {}
        """Calls whose answer gRPC has not written yet, and since when, oldest first."""

        self.to_close: dict[Connection, str] = {}
        """Connections that the watch has to close, and why."""

        self.closed: set[Connection] = set()
        """Those that it closed at its last look: calls that end by that are no flood."""

        self.blocks = AddressFilter()
        """Whose addresses the watch has blocked."""

        self.wake = asyncio.Event()
        """Set when there is a connection to close."""

        self._uses: dict[Client, _Use] = {}
        self._failures = RateLimiter(
            "failures_per_second", self.limits.failures_per_second, self.limits.failures_at_once
        )
        self._cancellations = RateLimiter(
            "cancellations_per_second",
            self.limits.cancellations_per_second,
            self.limits.cancellations_at_once,
        )

    def begin(self, peer: str) -> Call:
        """Count a new call of a peer, as gRPC names it."""
        connection = self.connections.get(peer)
        if connection is None:
            connection = Connection(addresses.of_peer(peer), addresses.endpoint_of_peer(peer))
            self.connections[peer] = connection
            if self.blocks.is_blocked(connection.address):  # the kernel has let it in
                self.close(connection, BLOCKED)
        return Call(self, connection)

    def close(self, connection: Connection, why: str) -> None:
        """Have a connection closed."""
        self.to_close.setdefault(connection, why)
        self.wake.set()

    def close_slow_readers(self) -> None:
        """Have the connections closed whose client did not take an answer in time."""
        too_old = time.monotonic() - self.limits.slow_seconds
        for call, since in self.unread.items():
            if since > too_old:
                return
            self.close(call.connection, NOT_READ)

    def count_failure(self, connection: Connection, cost: int = 1) -> bool:
        """Count a call that was refused; False if its client makes too many of them."""
        return self._count(self._failures, connection, cost)

    def count_cancellation(self, connection: Connection) -> bool:
        """Count a call that was cancelled; False if its client makes too many of them."""
        return self._count(self._cancellations, connection, 1)

    def _count(self, limiter: RateLimiter, connection: Connection, cost: int) -> bool:
        try:
            limiter.acquire(connection.client[1], cost)
        except RateLimited:
            if self._is_flood(limiter, connection):
                self.to_close[connection] = FLOOD
                self.wake.set()
            return False
        return True

    def _is_flood(self, limiter: RateLimiter, connection: Connection) -> bool:
        """Whether a client that makes too many calls that come to nothing is to be blocked."""
        bucket = limiter.bucket(connection.client[1])
        return (
            bucket.refused > bucket.at_once
            and connection not in self.closed
            and not connection.is_unlimited
            and can_block(connection.address)
        )

    def note_closed(self, client: Client) -> None:
        """Note that the watch closes connections of a client, which should stop it.

        If it makes too many calls that come to nothing, its next one shows that it does not.
        """
        for limiter in (self._failures, self._cancellations):
            bucket = limiter.bucket(client[1])
            bucket.refused = max(bucket.refused, bucket.at_once)

    def is_closing(self, connection: Connection) -> bool:
        """Whether a connection is being closed, so that its calls need no answer."""
        return connection in self.to_close or connection in self.closed

    def take(self, caller: Client) -> _Use:
        """Count one more call of a caller."""
        use = self._uses.get(caller)
        if use is None:
            use = self._uses[caller] = self._new_use(*caller)
        use.calls += 1
        return use

    def give_back(self, caller: Client) -> None:
        """Count one call of a caller less."""
        use = self._uses[caller]
        use.calls -= 1
        if not use.calls:
            del self._uses[caller]

    def _new_use(self, kind: str, name: str) -> _Use:
        limits = self.limits
        if kind == "address":
            return _Use(
                "calls_in_flight_per_address",
                limits.calls_in_flight_per_address,
                "unread_bytes_per_address",
                limits.unread_bytes_per_address,
            )
        if name in UNLIMITED:  # but what they all leave unread the process has to hold
            return _Use("", NO_LIMIT, "unread_bytes", limits.unread_bytes)
        calls, most = "calls_in_flight_per_owner", limits.calls_in_flight_per_owner
        return _Use(
            calls,
            NO_LIMIT if kind == "stream" else most,
            "unread_bytes_per_owner",
            limits.unread_bytes_per_owner,
        )
