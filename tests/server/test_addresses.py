"""What limits count as one client's address."""

from ipaddress import ip_network

import pytest
from himeji_server import addresses

PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:192.0.2.7:40000", "192.0.2.7"),
        ("ipv6:%5B2001:db8:1:2:3::4%5D:40000", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2:ffff::1]:40000", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:40000", "192.0.2.7"),
        ("ipv6:%5Bfe80::1%25eth0%5D:40000", "fe80::/64"),
        ("unix:", addresses.LOCAL_SOCKET),
        ("unix:/run/himeji.sock", addresses.LOCAL_SOCKET),
        ("ipv4:nonsense:1", addresses.UNKNOWN),
        ("", addresses.UNKNOWN),
    ],
)
def test_the_address_of_a_peer(peer, address):
    assert addresses.of_peer(peer) == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([], "10.0.0.1"),
        (["192.0.2.7"], "192.0.2.7"),
        (["198.51.100.9", "192.0.2.7"], "192.0.2.7"),
        (["198.51.100.9", "192.0.2.7", "10.3.2.1"], "192.0.2.7"),
        (["10.9.9.9", "192.0.2.7", "10.3.2.1"], "192.0.2.7"),
        (["2001:db8::5", "fd00::1"], "2001:db8::/64"),
        (["192.0.2.7", "nonsense"], addresses.UNKNOWN),
        (["10.4.4.4"], "10.4.4.4"),
    ],
)
def test_of_a_forwarded_list_the_right_most_entry_that_is_no_trusted_proxy_counts(
    forwarded, address
):
    assert addresses.of_forwarded("10.0.0.1", forwarded, PROXIES) == address


def test_a_peer_that_is_no_trusted_proxy_cannot_name_another_address():
    assert addresses.of_forwarded("192.0.2.7", ["198.51.100.9"], PROXIES) == "192.0.2.7"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", ip_network("192.0.2.7/32")),
        ("2001:db8:1:2::/64", ip_network("2001:db8:1:2::/64")),
        ("192.0.2.0/24", None),
        ("2001:db8::1", None),
        (addresses.LOCAL_SOCKET, None),
        (addresses.UNKNOWN, None),
    ],
)
def test_the_network_of_an_address(address, network):
    assert addresses.network(address) == network
