"""Addresses that the kernel keeps away from a listening socket."""

import socket
import struct
from contextlib import closing, contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
import structlog
from himeji_server import address_filter
from himeji_server.address_filter import MOST_BLOCKED, AddressFilter, can_block, program

BLOCKED, OTHER, LOOPBACK = "127.0.0.2", "127.0.0.3", "127.0.0.1"
PROXY_AT_IPV6 = "::/64"
NETWORK, NEIGHBOUR = "2001:db8:1:2::/64", "2001:db8:1:3::/64"
MANY = [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(MOST_BLOCKED + 1)]
SHORT = 0.15
"""Seconds in which a connection over the loopback would be there."""


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@contextmanager
def listening(family):
    host = "::ffff:127.0.0.1" if family == socket.AF_INET6 else LOOPBACK
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gRPC and the page do
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((host, 0))
        listener.listen()
        yield listener


@pytest.fixture(params=[socket.AF_INET, socket.AF_INET6], ids=["IPv4", "dual stack"])
def listener(request):
    with listening(request.param) as made:
        yield made


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def blocks(listener, clock):
    with closing(AddressFilter(clock)) as made:
        made.attach(listener.fileno())
        yield made


def connects(listener, source):
    """Whether a client comes to the listener; one that waits at the decoy does not."""
    listener.settimeout(SHORT)
    try:
        address = (LOOPBACK, listener.getsockname()[1])
        with socket.create_connection(address, SHORT, (source, 0)) as client:
            accepted, (_, port, *_) = listener.accept()
            accepted.close()
            return port == client.getsockname()[1]
    except TimeoutError:
        return False


def test_a_blocked_address_cannot_connect_and_others_can(listener, blocks):
    assert connects(listener, BLOCKED)
    assert blocks.block(BLOCKED, 10)
    assert blocks.is_blocked(BLOCKED)
    for _ in range(3):
        assert not connects(listener, BLOCKED)
        assert connects(listener, OTHER)
        assert connects(listener, LOOPBACK)


def test_clients_can_connect_at_every_moment(listener, blocks, clock):
    with socket.create_connection((LOOPBACK, listener.getsockname()[1])), listener.accept()[0]:
        for round_ in range(3):
            blocks.block(BLOCKED, 10)
            assert all(connects(listener, OTHER) for _ in range(20))
            clock.now += 10 + round_
            blocks.expire()
            assert all(connects(listener, each) for each in (OTHER, BLOCKED) * 10)


def test_a_block_leaves_the_connections_that_there_are_alone(listener, blocks):
    with socket.create_connection((LOOPBACK, listener.getsockname()[1]), 5, (BLOCKED, 0)) as client:
        accepted, _ = listener.accept()
        blocks.block(BLOCKED, 10)
        with accepted:
            accepted.sendall(b"still here")
            assert client.recv(100) == b"still here"


def test_who_waits_at_the_decoy_is_let_go_when_its_block_is_over_and_others_go_on(
    listener, blocks, clock
):
    blocks.block(BLOCKED, 10)
    address = (LOOPBACK, listener.getsockname()[1])
    with socket.create_connection(address, 5, (BLOCKED, 0)) as waiting:
        clock.now = 5
        blocks.block(OTHER, 10)
        clock.now = 10
        blocks.expire()
        waiting.settimeout(5)
        assert waiting.recv(1) == b""
    assert connects(listener, BLOCKED)
    assert not connects(listener, OTHER)


def test_a_program_that_asks_for_it_in_the_usual_way_never_gets_the_port(listener, blocks, clock):
    blocks.block(BLOCKED, 10)
    clock.now = 10
    blocks.expire()
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            stranger.bind((LOOPBACK, listener.getsockname()[1]))


def test_an_address_is_let_in_when_its_time_is_over(listener, blocks, clock):
    blocks.block(BLOCKED, 10)
    blocks.block(OTHER, 20)
    clock.now = 10
    blocks.expire()
    assert not blocks.is_blocked(BLOCKED)
    assert connects(listener, BLOCKED)
    assert not connects(listener, OTHER)
    clock.now = 20
    blocks.expire()
    assert len(blocks) == 0
    assert connects(listener, OTHER)


def test_an_address_that_is_blocked_again_stays_out_longer(listener, blocks, clock):
    blocks.block(BLOCKED, 10)
    clock.now = 5
    blocks.block(BLOCKED, 10)
    clock.now = 14
    blocks.expire()
    assert not connects(listener, BLOCKED)


def test_who_tries_to_connect_during_the_block_is_let_in_after_it(listener, blocks, clock):
    blocks.block(BLOCKED, 10)
    address = (LOOPBACK, listener.getsockname()[1])
    with socket.create_connection(address, 5, (BLOCKED, 0)) as first, socket.socket() as patient:
        patient.bind((BLOCKED, 0))
        patient.settimeout(0)
        assert patient.connect_ex(address) != 0
        clock.now = 10
        blocks.expire()
        with pytest.raises(ConnectionResetError):
            first.recv(1)
        listener.settimeout(5)
        accepted, (_, port, *_) = listener.accept()
        accepted.close()
        assert port == patient.getsockname()[1]


def test_the_block_that_ends_first_gives_way_when_there_are_too_many(listener, blocks):
    for number, address in enumerate(MANY[:MOST_BLOCKED]):
        blocks.block(address, 1_000 + (number - 7) ** 2)
    assert not connects(listener, MANY[7])
    assert not connects(listener, MANY[MOST_BLOCKED - 1])
    blocks.block(MANY[MOST_BLOCKED], 1)
    assert len(blocks) == MOST_BLOCKED
    assert connects(listener, MANY[7])
    assert not connects(listener, MANY[6])
    assert not connects(listener, MANY[MOST_BLOCKED])


def test_the_kernel_takes_the_largest_program_again_and_again(listener, blocks):
    # Words above 0x7fffffff take it more instructions.
    networks = [f"fd00:db8:ff00:{number:x}::/64" for number in range(MOST_BLOCKED + 10)]
    with structlog.testing.capture_logs() as lines:
        for each in networks:
            blocks.block(each, 10)
        blocks.block(BLOCKED, 10)
    assert lines == []
    assert not connects(listener, BLOCKED)


@pytest.mark.parametrize("address", [LOOPBACK, PROXY_AT_IPV6, "unix", "unknown", "", "10.0.0.0/8"])
def test_addresses_of_this_machine_and_what_is_no_address_are_never_blocked(blocks, address):
    assert not can_block(address)
    assert not blocks.block(address, 10)
    assert not blocks.is_blocked(address)


def test_a_socket_that_is_attached_later_is_filtered_as_well(blocks):
    blocks.block(BLOCKED, 10)
    with listening(socket.AF_INET6) as late:
        blocks.attach(late.fileno())
        for _ in range(2):
            assert not connects(late, BLOCKED)
            assert connects(late, OTHER)


def test_a_closed_filter_blocks_nobody(listener, blocks):
    blocks.block(BLOCKED, 10)
    blocks.close()
    assert connects(listener, BLOCKED)


def test_a_number_that_was_closed_and_is_used_again_is_not_touched(clock):
    with closing(AddressFilter(clock)) as blocks, listening(socket.AF_INET) as first:
        blocks.attach(first.fileno())
        number = first.detach()
        with listening(socket.AF_INET) as second:
            socket.close(number)
            with closing(second.dup()) as reused:
                assert reused.fileno() == number
                blocks.block(BLOCKED, 10)
                assert connects(second, BLOCKED)


def test_a_socket_that_listens_no_more_is_let_go(listener, blocks):
    before = open_files()
    listener.shutdown(socket.SHUT_RDWR)
    blocks.expire()
    assert open_files() == before - 1


def open_files():
    return len(list(Path("/dev/fd").iterdir()))


@pytest.mark.parametrize("descriptor", ["idle", 10_000])
def test_what_does_not_listen_is_not_attached(clock, descriptor):
    with closing(AddressFilter(clock)) as blocks, socket.socket() as idle:
        before = open_files()
        blocks.attach(idle.fileno() if descriptor == "idle" else descriptor)
        assert open_files() == before


def test_a_port_that_others_share_is_left_alone(clock):
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            each.bind((LOOPBACK, 0) if each is first else first.getsockname())
            each.listen()
        before = open_files()
        with closing(AddressFilter(clock)) as blocks:
            blocks.attach(first.fileno())
            assert blocks.block(BLOCKED, 10)
            assert blocks.is_blocked(BLOCKED)
            assert open_files() == before


def test_a_system_that_cannot_help_is_said_once_and_everybody_can_connect(listener, monkeypatch):
    monkeypatch.setattr(address_filter, "_is_linux", lambda: False)
    with structlog.testing.capture_logs() as lines, closing(AddressFilter()) as blocks:
        blocks.attach(listener.fileno())
        assert blocks.block(BLOCKED, 10)
        assert blocks.block(OTHER, 10)
        assert blocks.is_blocked(BLOCKED)
        assert connects(listener, BLOCKED)
    assert [each["event"] for each in lines] == ["the system does not keep blocked addresses away"]


def test_a_failure_that_passes_does_not_end_the_filter(listener, blocks, monkeypatch):
    monkeypatch.setattr(address_filter, "_is_linux", lambda: False)
    blocks.block(BLOCKED, 10)
    assert connects(listener, BLOCKED)
    monkeypatch.undo()
    blocks.block(OTHER, 10)
    assert not connects(listener, BLOCKED)
    assert not connects(listener, OTHER)


# The program itself, because no other address of IPv6 than ::1 is on every machine


def accepts(instructions, source):
    """Run a program on the IP header of a packet, as linux/filter.h defines its instructions."""
    packet, accumulator, memory, at = header(source), 0, {}, 0
    while True:
        code, operand, if_true, if_false = instructions[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from(">I", packet, operand - 0xFFF0_0000)
            case 0x30:
                accumulator = packet[operand - 0xFFF0_0000]
            case 0x60:
                accumulator = memory[operand]
            case 0x02:
                memory[operand] = accumulator
            case 0x74:
                accumulator >>= operand
            case 0x05:
                at += operand
            case 0x15:
                at += if_true if accumulator == operand else if_false
            case 0x06:
                return operand == 0
            case _:
                raise AssertionError(f"code {code:#x}")


def header(source):
    address = ip_address(source)
    if address.version == 4:
        return b"\x45" + bytes(11) + address.packed + ip_address(LOOPBACK).packed
    return b"\x60" + bytes(7) + address.packed + ip_address("::1").packed


@pytest.mark.parametrize(
    ("source", "accepted"),
    [
        ("2001:db8:1:2::1", False),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", False),
        ("2001:db8:1:3::1", True),
        ("2001:db8:2:2::1", True),
        ("2001:db9:1:2::1", True),
        ("::1", True),
        ("192.0.2.7", False),
        ("192.0.2.8", True),
        ("32.1.13.184", True),  # the first 32 bits of the network
    ],
)
def test_a_network_of_ipv6_is_told_by_its_first_64_bits(source, accepted):
    others = [*MANY[:200], *(f"2001:db8:5:{number:x}::/64" for number in range(200))]
    for blocked in ([NETWORK, "192.0.2.7"], [*others, NETWORK, "192.0.2.7", *others]):
        assert accepts(program(blocked), source) == accepted


def test_a_packet_of_ipv6_is_not_compared_with_addresses_of_ipv4():
    assert accepts(program(["1.2.0.3"]), "2001:db8:102:3::1")
    assert accepts(program([NEIGHBOUR]), "2001:db8:1:2::1")
    assert accepts(program([]), "2001:db8:1:2::1")
    assert accepts(program([]), "192.0.2.7")
