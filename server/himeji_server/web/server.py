"""Serves the page over HTTP on 127.0.0.1, in the event loop of the server process."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, cast

import structlog
import uvicorn
from starlette.types import ASGIApp

from himeji_server import metrics
from himeji_server.address_filter import AddressFilter
from himeji_server.limits import Limits
from himeji_server.settings import DEFAULT_HTTP_PORT, DRAIN_SECONDS, HOST, USUAL_HTTP_PORT
from himeji_server.startup_errors import port_unavailable
from himeji_server.web.connections import ConnectionTable, PageConnection

_OPTION: Final = "--http-port"

_log = structlog.get_logger(__name__)


class _Uvicorn(uvicorn.Server):
    """Uvicorn without its signal handlers, because the arena has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind_socket(port: int, *, shared: bool = False) -> socket.socket:
    """Bind a socket to a port of this machine: the one given, a free one (0), or USUAL_HTTP_PORT.

    A shared port is one on which other processes of the same arena listen as well. Raises
    StartRefusedError.
    """
    try:
        return _bind(DEFAULT_HTTP_PORT if port == USUAL_HTTP_PORT else port, shared=shared)
    except OSError as error:
        if port == USUAL_HTTP_PORT and error.errno == errno.EADDRINUSE:
            return _bind(0, shared=shared)
        raise port_unavailable(port, error, _OPTION) from error


def _bind(port: int, *, shared: bool) -> socket.socket:
    made = socket.socket()
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind((HOST, port))
    except OSError:
        made.close()
        raise
    return made


class _Blocker:
    """Blocks addresses that open too many connections to the page."""

    def __init__(self, listener: socket.socket, seconds: float) -> None:
        self._listener, self._seconds = listener, seconds
        self._filter = AddressFilter()

    def is_blocked(self, address: str) -> bool:
        """Whether a connection of an address is to be closed at once."""
        return self._filter.is_blocked(address)

    def block(self, address: str) -> None:
        """Let an address open no further connections for a while."""
        self._filter.attach(self._listener.fileno())
        if self._filter.block(address, self._seconds):
            metrics.ADDRESSES_BLOCKED.inc()
            _log.warning("address blocked", address=address, why="connections to the page")
            # A timer of uvloop may be early by a millisecond.
            asyncio.get_running_loop().call_later(self._seconds + 0.1, self._filter.expire)

    def close(self) -> None:
        """Block nobody any more."""
        self._filter.close()


@asynccontextmanager
async def serving(site: ASGIApp, listener: socket.socket, limits: Limits) -> AsyncIterator[None]:
    """Answer requests on a bound socket until the block ends."""
    blocker = _Blocker(listener, limits.block_seconds)
    connection = partial(PageConnection, ConnectionTable(limits, blocker), limits)
    config = uvicorn.Config(
        site,
        log_config=None,
        log_level="error",  # a warning for every request that is no HTTP would fill the log
        access_log=False,
        lifespan="off",
        ws="none",
        http=cast("Any", connection),
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.page_idle_seconds,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
        h11_max_incomplete_event_size=limits.page_header_bytes,
    )
    server = _Uvicorn(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        blocker.close()
        server.should_exit = True
        await task
        listener.close()
