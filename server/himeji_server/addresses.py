"""Addresses of clients, as limits count them: one IPv4 address, or one IPv6 network of 64 bits.

A household or a server gets at least a /64 of IPv6, so its single addresses say nothing.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias
from urllib.parse import unquote

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

LOCAL_SOCKET: Final = "unix"
"""The address of every client of a Unix socket."""

UNKNOWN: Final = "unknown"
"""The address of clients whose address cannot be read; they share one."""

_IPV4_PREFIX: Final = 32
_IPV6_PREFIX: Final = 64


def of_peer(peer: str) -> str:
    """The address in what gRPC says of a peer: ipv4:HOST:PORT, ipv6:[HOST]:PORT or unix:PATH."""
    kind, _, rest = unquote(peer).partition(":")
    if kind == "unix":
        return LOCAL_SOCKET
    return of_host(rest.rpartition(":")[0].strip("[]"))


def endpoint_of_peer(peer: str) -> tuple[str, int]:
    """The host and port of a peer of gRPC, as endpoint() writes them; a Unix socket has none."""
    host, _, port = unquote(peer).partition(":")[2].rpartition(":")
    return endpoint(host, int(port)) if port.isdecimal() else ("", 0)


def endpoint(host: str, port: int) -> tuple[str, int]:
    """A host and port in the one spelling by which connections can be compared."""
    return (_spelling(host), port)


@lru_cache(maxsize=10_000)
def _spelling(host: str) -> str:
    address = _parse(host)
    return str(address) if address is not None else host


@lru_cache(maxsize=10_000)
def of_host(host: str) -> str:
    """The address that a host counts as; an IPv4 address that is written as IPv6 is the former."""
    address = _parse(host)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address) if address is not None else UNKNOWN


@lru_cache(maxsize=10_000)
def network(address: str) -> Network | None:
    """What an address of of_host() stands for; None if it is not of a client of IP."""
    try:
        found = ipaddress.ip_network(address)
    except ValueError:
        return None
    prefix = _IPV4_PREFIX if isinstance(found, ipaddress.IPv4Network) else _IPV6_PREFIX
    return found if found.prefixlen == prefix else None


def of_forwarded(
    peer_host: str, forwarded: Sequence[str], trusted_proxies: Iterable[Network]
) -> str:
    """The address of a client behind proxies: the right-most one that is not a trusted proxy.

    Entries further left were written by whoever is at that address, and prove nothing.
    """
    trusted = tuple(trusted_proxies)
    host = peer_host
    for entry in (*reversed(forwarded), None):
        if entry is None or not _is_in(host, trusted):
            break
        host = entry
    return of_host(host)


def _is_in(host: str, networks: Sequence[Network]) -> bool:
    address = _parse(host)
    return address is not None and any(address in network for network in networks)


def _parse(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address, with or without the brackets and the zone of IPv6; None if it is none."""
    try:
        address = ipaddress.ip_address(host.strip().strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
