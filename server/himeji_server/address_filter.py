"""Blocks addresses of clients, and has the Linux kernel keep them away from listening sockets.

While an address is blocked, a second socket, the decoy, listens on the same address and port; the
process never accepts its connections. A classic BPF program (SO_ATTACH_REUSEPORT_CBPF, which needs
no privileges) sends new connections of blocked addresses to the decoy and all others to the real
socket. The decoy's queue has room for one connection; the kernel drops further attempts, at no cost
to the process.

Invariants: 127.0.0.1 and ::1 are never blocked, because proxies on this machine and house bots have
them. At most 256 addresses are blocked at once. A socket is used by a duplicate of its descriptor,
so that a number that was closed and is used again is never touched; the duplicate is let go soon
after the socket has stopped listening.

This works on Linux only, and not on a port that several processes share, because the program
selects a socket by its index and the indexes of other processes' sockets are unknown. Callers must
therefore also close connections that a blocked address still opens. After the first block, another
program of the same user can bind the port if it sets SO_REUSEPORT.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Address, ip_address
from typing import Final, NamedTuple

import structlog

from himeji_server import addresses

MOST_BLOCKED: Final = 256
"""Addresses at once; a packet of somebody else is compared with each of them."""

_NEVER_BLOCKED: Final = (ip_address("127.0.0.1"), ip_address("::1"))

_SO_ATTACH_REUSEPORT_CBPF: Final = 51
_SO_DOMAIN: Final = 39

_LISTENER: Final = 0
_DECOY: Final = 1
"""The numbers of the sockets: the kernel counts them as they begin to listen."""

# Operation codes of classic BPF: linux/filter.h and linux/bpf_common.h.
_LOAD_WORD: Final = 0x20
_LOAD_BYTE: Final = 0x30
_LOAD_MEMORY: Final = 0x60
_STORE_MEMORY: Final = 0x02
_SHIFT_RIGHT: Final = 0x74
_JUMP: Final = 0x05
_JUMP_IF_EQUAL: Final = 0x15
_RETURN: Final = 0x06

_MOST_WAITING: Final = 4
"""A few more than the decoy has room for."""

_IP_HEADER: Final = 0x1_0000_0000 - 0x10_0000
"""SKF_NET_OFF: offsets from here count from the IP header."""

_IPV4_SOURCE: Final = 12
_IPV6_SOURCE: Final = 8
_IPV6_VERSION: Final = 6

_log = structlog.get_logger(__name__)


class Instruction(NamedTuple):
    """An instruction of classic BPF; jumps count from the instruction after it."""

    code: int
    operand: int = 0
    jump_if_true: int = 0
    jump_if_false: int = 0

    def packed(self) -> bytes:
        """As struct sock_filter."""
        return struct.pack("HBBI", self.code, self.jump_if_true, self.jump_if_false, self.operand)


_TO_DECOY: Final = Instruction(_RETURN, _DECOY)
_TO_LISTENER: Final = Instruction(_RETURN, _LISTENER)


class AddressFilter:
    """Blocks addresses, each for a while, and keeps them away from the sockets it is given."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._blocked_until: dict[str, float] = {}
        self._listeners: dict[int, _Listener] = {}
        """By the inodes of their sockets."""

        self._has_failed = False

    def __len__(self) -> int:
        """How many addresses are blocked."""
        return len(self._blocked_until)

    def attach(self, descriptor: int) -> None:
        """Keep the addresses away from a listening socket, too.

        No effect if it is known, shares its port with others, or does not listen.
        """
        try:
            listener = socket.fromfd(descriptor, socket.AF_INET6, socket.SOCK_STREAM)
        except OSError:
            return
        inode = os.fstat(listener.fileno()).st_ino
        if inode in self._listeners or not _is_listening(listener) or _is_shared(listener):
            listener.close()
            return
        self._listeners[inode] = _Listener(listener)
        self._write()

    def block(self, address: str, seconds: float) -> bool:
        """Block an address, as addresses.of_host() writes it, from now on; False if it may not be.

        If too many are blocked, the one whose block ends first gives way.
        """
        if not can_block(address):
            return False
        is_new = address not in self._blocked_until
        if is_new and len(self) >= MOST_BLOCKED:
            del self._blocked_until[min(self._blocked_until, key=self._blocked_until.__getitem__)]
        self._blocked_until[address] = self._clock() + seconds
        if is_new:
            self._write()
        return True

    def is_blocked(self, address: str) -> bool:
        """Whether an address is blocked."""
        return address in self._blocked_until

    def expire(self) -> None:
        """Unblock the addresses whose time is over, and let go of sockets that were closed."""
        for inode, listener in list(self._listeners.items()):
            if not listener.is_open():
                self._listeners.pop(inode).close()
        now = self._clock()
        kept = {each: until for each, until in self._blocked_until.items() if until > now}
        if len(kept) < len(self):
            self._blocked_until = kept
            self._write()

    def close(self) -> None:
        """Unblock all addresses and let go of all sockets."""
        self._blocked_until.clear()
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()

    def _write(self) -> None:
        """Tell the kernel who is blocked; if it refuses, the next change tries again."""
        instructions = program(self._blocked_until)
        for listener in self._listeners.values():
            try:
                if self._blocked_until:
                    listener.divert(instructions)
                else:
                    listener.open_to_all()
            except OSError as error:
                listener.open_to_all()
                if not self._has_failed:
                    self._has_failed = True
                    _log.warning(
                        "the system does not keep blocked addresses away", error=str(error)
                    )


class _Listener:
    """A listening socket, by a duplicate of its descriptor, and its decoy while it has one."""

    def __init__(self, listener: socket.socket) -> None:
        self._socket = listener
        self._decoy: socket.socket | None = None

    def is_open(self) -> bool:
        """Whether it still listens."""
        return _is_listening(self._socket)

    def divert(self, instructions: list[Instruction]) -> None:
        """Have a program say who comes to the decoy; raises OSError where that is impossible."""
        if not _is_linux():
            raise OSError("only Linux has SO_ATTACH_REUSEPORT_CBPF")
        code = ctypes.create_string_buffer(b"".join(each.packed() for each in instructions))
        pointer = struct.pack("HL", len(instructions), ctypes.addressof(code))
        if self._decoy is None:
            self._decoy = self._open_decoy()
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_REUSEPORT_CBPF, pointer)
        _refuse_waiting(self._decoy)

    def open_to_all(self) -> None:
        """Close the decoy; the program has no effect without SO_REUSEPORT."""
        if self._decoy is not None:
            self._decoy.close()
            self._decoy = None
        with contextlib.suppress(OSError):  # it was shut down
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 0)

    def close(self) -> None:
        """Let go of the socket."""
        self.open_to_all()
        self._socket.close()

    def _open_decoy(self) -> socket.socket:
        listener = self._socket
        decoy = socket.socket(listener.getsockopt(socket.SOL_SOCKET, _SO_DOMAIN))
        try:
            decoy.settimeout(0)
            decoy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            for each in (listener, decoy):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if decoy.family == socket.AF_INET6:
                only = listener.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
                decoy.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
            decoy.bind(listener.getsockname())
            decoy.listen(0)
        except OSError:
            decoy.close()
            raise
        return decoy


def can_block(address: str) -> bool:
    """Whether an address is one that may be blocked."""
    network = addresses.network(address)
    return network is not None and not any(each in network for each in _NEVER_BLOCKED)


def program(blocked: Iterable[str]) -> list[Instruction]:
    """The program that sends these addresses to the decoy.

    A socket of IPv6 gets packets of both versions. A conditional jump reaches no further than 255
    instructions, so each comparison is followed by a return of its own.
    """
    ipv4 = [_IPV4_START]
    ipv6 = list(_IPV6_START)
    for address in blocked:
        network = addresses.network(address)
        if isinstance(network, IPv4Network):
            ipv4 += _divert_ipv4(int(network.network_address))
        elif network is not None:
            ipv6 += _divert_ipv6(network.network_address)
    return [
        Instruction(_LOAD_BYTE, _IP_HEADER),
        Instruction(_SHIFT_RIGHT, 4),
        Instruction(_JUMP_IF_EQUAL, _IPV6_VERSION, 0, 1),
        Instruction(_JUMP, len(ipv4) + 1),
        *(*ipv4, _TO_LISTENER),
        *(*ipv6, _TO_LISTENER),
    ]


_IPV4_START: Final = Instruction(_LOAD_WORD, _IP_HEADER + _IPV4_SOURCE)
_IPV6_START: Final = (
    Instruction(_LOAD_WORD, _IP_HEADER + _IPV6_SOURCE),
    Instruction(_STORE_MEMORY, 0),
    Instruction(_LOAD_WORD, _IP_HEADER + _IPV6_SOURCE + 4),
    Instruction(_STORE_MEMORY, 1),
)
"""Loads the 64 bits of a network into two words of memory: there is one register to compare."""


def _divert_ipv4(address: int) -> list[Instruction]:
    return [Instruction(_JUMP_IF_EQUAL, address, 0, 1), _TO_DECOY]


def _divert_ipv6(address: IPv6Address) -> list[Instruction]:
    first, second = struct.unpack(">II", address.packed[:8])
    return [
        Instruction(_LOAD_MEMORY, 0),
        Instruction(_JUMP_IF_EQUAL, first, 0, 3),
        Instruction(_LOAD_MEMORY, 1),
        Instruction(_JUMP_IF_EQUAL, second, 0, 1),
        _TO_DECOY,
    ]


def _is_linux() -> bool:
    return sys.platform == "linux"


def _is_listening(listener: socket.socket) -> bool:
    try:
        return listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    except OSError:
        return False


def _is_shared(listener: socket.socket) -> bool:
    return listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT) == 1


def _refuse_waiting(decoy: socket.socket) -> None:
    """Close what waits: it came just before the program did, or its client's block is over."""
    with contextlib.suppress(OSError):  # nothing waits any more
        for _ in range(_MOST_WAITING):
            decoy.accept()[0].close()
