"""The sockets of one port of this process, which the operating system lists: gRPC hands out none.

Invariant: only sockets of the port are touched. Each is compared once more before it is shut down,
on a duplicate of its descriptor: meanwhile its number may have become another connection's.

Looking through 10,000 descriptors takes 40 ms: call `find` in a thread.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable
from typing import Final, NamedTuple

from himeji_server import addresses
from himeji_server.rpc.calls_in_flight import Endpoint

_DESCRIPTORS: Final = "/dev/fd"
_LISTENING: Final[Endpoint] = ("", 0)
"""In place of the client of a listening socket."""


class OpenSockets(NamedTuple):
    """The descriptors of the sockets of a port."""

    clients: dict[Endpoint, int]
    """Those of the connections."""

    listeners: list[int]


def find(port: int) -> OpenSockets:
    """The connections to a port of this process, and its listening sockets."""
    found = OpenSockets({}, [])
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - a path for each would cost more
        descriptor = int(name)
        client = _client(descriptor, port)
        if client == _LISTENING:
            found.listeners.append(descriptor)
        elif client is not None:
            found.clients[client] = descriptor
    return found


def shut_down(sockets: Iterable[tuple[int, Endpoint]], port: int) -> None:
    """Shut down connections, unless they are closed already."""
    for descriptor, client in sockets:
        with contextlib.suppress(OSError), contextlib.closing(_duplicate(descriptor)) as copy:
            if _client(copy.fileno(), port) == client:
                copy.shutdown(socket.SHUT_RDWR)


def _client(descriptor: int, port: int) -> Endpoint | None:
    """Who is connected at a descriptor; None if it is no socket of the port."""
    # gRPC's sockets are of IPv6, also for clients of IPv4; the names of other families are shorter.
    try:
        this = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=descriptor)
    except OSError:
        return None
    try:
        own = this.getsockname()
        if not isinstance(own, tuple) or own[1] != port:
            return None
        if this.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return _LISTENING
        host, client_port, *_ = this.getpeername()
    except (OSError, ValueError):
        return None
    finally:
        this.detach()  # the descriptor is gRPC's
    return addresses.endpoint(host, client_port)


def _duplicate(descriptor: int) -> socket.socket:
    return socket.fromfd(descriptor, socket.AF_INET6, socket.SOCK_STREAM)
