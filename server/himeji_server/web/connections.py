"""Connections of the page: how many there may be, and how long a client may take for anything.

Uvicorn waits for ever for the rest of a request, and for a client that does not read. Here each
wait has a deadline. When there are too many connections, one that is idle makes room; a client that
holds all it may, without requests, so never keeps others out, nor its neighbours at its address.
An address that goes on opening connections beyond its limit is blocked: each costs 0.1 ms.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

import h11
from himeji.rules.errors import RateLimited
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from himeji_server import addresses
from himeji_server.limits import Limits
from himeji_server.rate_limits import RateLimiter

_HEADERS: Final = (
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"connection", b"close"),
)
_PIECE_BYTES: Final = 4 << 10
_RETRY: Final = ((b"retry-after", b"10"),)


class Blocker(Protocol):
    """Keeps addresses from opening further connections for a while."""

    def is_blocked(self, address: str) -> bool:
        """Whether a connection of an address is to be closed at once."""

    def block(self, address: str) -> None:
        """Block an address from now on."""


class ConnectionTable:
    """The open connections of one process, by address; those without a request may be closed."""

    def __init__(self, limits: Limits, blocker: Blocker) -> None:
        self._in_all = limits.page_connections
        self._per_address = limits.page_connections_per_address
        self._excess = RateLimiter(
            "page_excess_per_second", limits.page_excess_per_second, limits.page_excess_at_once
        )
        self._blocker = blocker
        self._addresses: dict[PageConnection, str] = {}
        self._counts: Counter[str] = Counter()
        self._idle: OrderedDict[PageConnection, None] = OrderedDict()
        self._idle_by_address: dict[str, OrderedDict[PageConnection, None]] = {}

    def __len__(self) -> int:
        return len(self._addresses)

    def is_blocked(self, address: str) -> bool:
        """Whether a connection of an address, just accepted, is to be closed without an answer."""
        return self._blocker.is_blocked(address)

    def admit(self, connection: PageConnection, address: str) -> bool:
        """Add a new connection, if need be in place of the one that has been idle longest."""
        if self._counts[address] >= self._per_address:
            self._count_excess(address)
            is_room = self._close_first(self._idle_by_address.get(address))
        elif len(self) >= self._in_all:
            is_room = self._close_first(self._idle)
        else:
            is_room = True
        if is_room:
            self._addresses[connection] = address
            self._counts[address] += 1
            self.set_idle(connection)
        return is_room

    def set_idle(self, connection: PageConnection) -> None:
        """The connection waits for a request from now on."""
        address = self._addresses.get(connection)
        if address is not None and connection not in self._idle:
            self._idle[connection] = None
            self._idle_by_address.setdefault(address, OrderedDict())[connection] = None

    def set_busy(self, connection: PageConnection) -> None:
        """The connection has a request that is being answered."""
        if connection not in self._idle:
            return
        del self._idle[connection]
        address = self._addresses[connection]
        del self._idle_by_address[address][connection]
        if not self._idle_by_address[address]:
            del self._idle_by_address[address]

    def remove(self, connection: PageConnection) -> None:
        """Forget a connection; doing it twice is harmless."""
        if connection not in self._addresses:
            return
        self.set_busy(connection)
        address = self._addresses.pop(connection)
        self._counts[address] -= 1
        if not self._counts[address]:
            del self._counts[address]

    def _count_excess(self, address: str) -> None:
        try:
            self._excess.acquire(address)
        except RateLimited:
            self._blocker.block(address)

    def _close_first(self, idle: OrderedDict[PageConnection, None] | None) -> bool:
        if not idle:
            return False
        oldest = next(iter(idle))
        self.remove(oldest)
        oldest.transport.abort()
        return True


class PageConnection(H11Protocol):
    """One connection, with a deadline for every wait."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]
    """None before the first request."""

    def __init__(self, table: ConnectionTable, limits: Limits, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._table, self._limits = table, limits
        self._reading = _Deadline(self.loop)
        self._writing = _Deadline(self.loop)
        self._read_state: tuple[object, ...] = ()
        self._unread = bytearray()
        self._body_bytes = 0
        self._is_refused = False

    # --- called by the transport ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit or refuse a client."""
        super().connection_made(transport)
        # Writing counts as paused while anything waits for the client, however little.
        transport.set_write_buffer_limits(high=0)
        address = addresses.of_host(self.client[0] if self.client is not None else "")
        if self._table.is_blocked(address):
            transport.abort()
        elif self._table.admit(self, address):
            self._reading.start(self._limits.page_header_seconds, self._give_up_reading)
        else:
            self._send_refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections", _RETRY)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._reading.stop()
        self._writing.stop()
        self._table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; what follows a refusal is thrown away."""
        if self._is_refused:
            self._count_body(len(data))
            return
        self._unread += data
        self._read()

    def pause_writing(self) -> None:
        """The client has not read all that was written."""
        super().pause_writing()
        self._writing.start(self._limits.page_write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read everything."""
        super().resume_writing()
        self._writing.stop()

    # --- called by uvicorn ----------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """Wait for the next request, or go on with one that came meanwhile."""
        super().on_response_complete()
        self._follow_state()
        self._read()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or has a header that is too long."""
        if len(self.conn.trailing_data[0]) > self._limits.page_header_bytes:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the header is too large")
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "this is no HTTP request")

    # --- reading --------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read what was received, up to the end of a request that is being answered.

        In small pieces, because h11 checks the size of a header only between them, and takes
        174 ms for one of 250 kB.
        """
        while self._unread and self._may_read():
            piece = bytes(self._unread[:_PIECE_BYTES])
            del self._unread[:_PIECE_BYTES]
            if self.conn.their_state is h11.SEND_BODY:
                self._count_body(len(piece))
            elif not self._reading.is_running:
                self._reading.start(self._limits.page_header_seconds, self._give_up_reading)
            super().data_received(piece)
            self._follow_state()
        if self._unread:
            self.flow.pause_reading()

    def _may_read(self) -> bool:
        is_open = not (self._is_refused or self.transport.is_closing())
        return is_open and self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _count_body(self, size: int) -> None:
        self._body_bytes += size
        if self._body_bytes > self._limits.page_body_bytes + self._limits.page_discarded_bytes:
            self.transport.abort()

    # --- deadlines and refusals -----------------------------------------------------------------

    def _follow_state(self) -> None:
        """Set the deadline of what is read now, and say whether a request is being answered."""
        if self._is_refused:
            return
        if self.cycle is None or self.cycle.response_complete:
            self._table.set_idle(self)
        else:
            self._table.set_busy(self)
        state = (self.cycle, self.conn.their_state)
        if state == self._read_state or self.cycle is None:
            return
        self._read_state = state
        self._reading.stop()
        if self.conn.their_state is h11.SEND_BODY:
            self._body_bytes = 0
            self._reading.start(self._limits.page_body_seconds, self._give_up_reading)

    def _give_up_reading(self) -> None:
        """The client took too long; one that has sent nothing at all is not answered."""
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.abort()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the request took too long")

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Answer in place of the site, and close when the client has read it.

        A connection that is closed while bytes of the client are unread is reset, and the client
        may lose the answer; so these are thrown away for a while.
        """
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        self._is_refused = True
        self._unread.clear()
        self._send_refusal(status, text)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._table.set_idle(self)
        self.flow.resume_reading()
        self.transport.write_eof()
        self._reading.start(self._limits.page_body_seconds, self.transport.abort)

    def _send_refusal(
        self, status: HTTPStatus, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        head = h11.Response(
            status_code=status.value, headers=[*_HEADERS, *headers], reason=status.phrase.encode()
        )
        for event in (head, h11.Data(data=f"{text}\n".encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class _Deadline:
    """A timer that calls back once, unless it is stopped or started anew before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, seconds: float, callback: Callable[[], None]) -> None:
        self.stop()
        self._handle = self._loop.call_later(seconds, callback)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
