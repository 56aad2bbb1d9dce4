"""Blocks addresses of clients at listening sockets, in the Linux kernel and without root.

A classic BPF program on a listening socket (SO_ATTACH_FILTER) drops the packets of blocked
addresses, among them those that would open a connection, so that these cost the process nothing.
Connections that were accepted before are not affected: whoever blocks an address closes them.

Invariants: 127.0.0.1 and ::1 are never blocked, because proxies on this machine and house bots have
them. At most 256 addresses are blocked at once. A socket is used by a duplicate of its descriptor,
so that a number that was closed and is used again is never touched; the duplicate is let go soon
after the socket has stopped listening. What cannot be filtered is open to everybody.
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

_SO_ATTACH_FILTER: Final = 26
_SO_DETACH_FILTER: Final = 27

# Operation codes of classic BPF: linux/filter.h and linux/bpf_common.h.
_LOAD_WORD: Final = 0x20
_LOAD_BYTE: Final = 0x30
_LOAD_MEMORY: Final = 0x60
_STORE_MEMORY: Final = 0x02
_SHIFT_RIGHT: Final = 0x74
_JUMP: Final = 0x05
_JUMP_IF_EQUAL: Final = 0x15
_RETURN: Final = 0x06

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


_DROP: Final = Instruction(_RETURN, 0)
_ACCEPT: Final = Instruction(_RETURN, 0xFFFF_FFFF)


class AddressFilter:
    """Blocks addresses, each for a while, at all sockets that were attached."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._blocked_until: dict[str, float] = {}
        self._listeners: dict[int, socket.socket] = {}
        """Duplicates, by the inodes of the sockets."""

        self._is_supported = True

    def __len__(self) -> int:
        """How many addresses are blocked."""
        return len(self._blocked_until)

    def attach(self, descriptor: int) -> None:
        """Filter a listening socket, too; no effect if it is known, or no listening socket."""
        if not self._is_supported:
            return
        try:
            listener = socket.fromfd(descriptor, socket.AF_INET6, socket.SOCK_STREAM)
        except OSError:
            return
        inode = os.fstat(listener.fileno()).st_ino
        if inode in self._listeners or not _is_listening(listener):
            listener.close()
            return
        self._listeners[inode] = listener
        self._write()

    def block(self, address: str, seconds: float) -> bool:
        """Block an address, as addresses.of_host() writes it, from now on; False if impossible.

        If too many are blocked, the one whose block ends first gives way.
        """
        if not self._listeners or not can_block(address):
            return False
        is_new = address not in self._blocked_until
        if is_new and len(self) >= MOST_BLOCKED:
            del self._blocked_until[min(self._blocked_until, key=self._blocked_until.__getitem__)]
        self._blocked_until[address] = self._clock() + seconds
        if is_new:
            self._write()
        return self.is_blocked(address)

    def is_blocked(self, address: str) -> bool:
        """Whether an address is blocked."""
        return address in self._blocked_until

    def expire(self) -> None:
        """Unblock the addresses whose time is over, and let go of sockets that were closed."""
        for inode, listener in list(self._listeners.items()):
            if not _is_listening(listener):
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
            _detach_program(listener)
            listener.close()
        self._listeners.clear()

    def _write(self) -> None:
        """Give all sockets the program for the addresses that are blocked, if there are any.

        Without any it is attached for a moment, which shows whether the system has such filters.
        """
        instructions = program(self._blocked_until)
        try:
            for listener in self._listeners.values():
                _set_program(listener, instructions)
                if not self._blocked_until:
                    _detach_program(listener)
        except OSError as error:
            _log.warning("addresses cannot be blocked on this system", error=str(error))
            self._is_supported = False
            self.close()


def can_block(address: str) -> bool:
    """Whether an address is one that may be blocked."""
    network = addresses.network(address)
    return network is not None and not any(each in network for each in _NEVER_BLOCKED)


def program(blocked: Iterable[str]) -> list[Instruction]:
    """The program that drops the packets of these addresses.

    A socket of IPv6 gets packets of both versions. A conditional jump reaches no further than 255
    instructions, so each comparison is followed by a return of its own.
    """
    ipv4 = [_IPV4_START]
    ipv6 = list(_IPV6_START)
    for address in blocked:
        network = addresses.network(address)
        if isinstance(network, IPv4Network):
            ipv4 += _drop_ipv4(int(network.network_address))
        elif network is not None:
            ipv6 += _drop_ipv6(network.network_address)
    return [
        Instruction(_LOAD_BYTE, _IP_HEADER),
        Instruction(_SHIFT_RIGHT, 4),
        Instruction(_JUMP_IF_EQUAL, _IPV6_VERSION, 0, 1),
        Instruction(_JUMP, len(ipv4) + 1),
        *(*ipv4, _ACCEPT),
        *(*ipv6, _ACCEPT),
    ]


_IPV4_START: Final = Instruction(_LOAD_WORD, _IP_HEADER + _IPV4_SOURCE)
_IPV6_START: Final = (
    Instruction(_LOAD_WORD, _IP_HEADER + _IPV6_SOURCE),
    Instruction(_STORE_MEMORY, 0),
    Instruction(_LOAD_WORD, _IP_HEADER + _IPV6_SOURCE + 4),
    Instruction(_STORE_MEMORY, 1),
)
"""Loads the 64 bits of a network into two words of memory: there is one register to compare."""


def _drop_ipv4(address: int) -> list[Instruction]:
    return [Instruction(_JUMP_IF_EQUAL, address, 0, 1), _DROP]


def _drop_ipv6(address: IPv6Address) -> list[Instruction]:
    first, second = struct.unpack(">II", address.packed[:8])
    return [
        Instruction(_LOAD_MEMORY, 0),
        Instruction(_JUMP_IF_EQUAL, first, 0, 3),
        Instruction(_LOAD_MEMORY, 1),
        Instruction(_JUMP_IF_EQUAL, second, 0, 1),
        _DROP,
    ]


def _is_listening(listener: socket.socket) -> bool:
    try:
        return listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    except OSError:
        return False


def _set_program(listener: socket.socket, instructions: list[Instruction]) -> None:
    """Replace the program of a socket; raises OSError where that is impossible.

    The old one is detached first, although the socket is open to everybody until the new one is
    attached: before Linux 6.8 a socket may have 20 kB of programs, and the largest one has 12 kB.
    """
    if sys.platform != "linux":
        raise OSError("only Linux has SO_ATTACH_FILTER")
    _detach_program(listener)
    code = ctypes.create_string_buffer(b"".join(each.packed() for each in instructions))
    pointer = struct.pack("HL", len(instructions), ctypes.addressof(code))
    listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, pointer)


def _detach_program(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has none
        listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
