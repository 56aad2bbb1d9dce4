"""What one client can take of a server: each limit is tried twice, as it is and raised."""

import asyncio
import gc
import resource
import socket
import time
import tracemalloc
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from functools import partial
from types import SimpleNamespace

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from himeji.rules import errors
from himeji.v1 import (
    account_service_pb2 as accounts_pb2,
    account_service_pb2_grpc,
    ladder_service_pb2 as ladders_pb2,
    rules_service_pb2 as rules_pb2,
)
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_MANAGE, SCOPE_PLAY, SCOPE_READ
from himeji.wire.errors import RETRY_AFTER, from_rpc_error
from himeji_server import address_filter, metrics
from himeji_server.accounts.authorisation import Authoriser
from himeji_server.accounts.caller import Caller, current_caller, set_caller
from himeji_server.accounts.token_cache import CACHE_SECONDS
from himeji_server.ladder.recomputation import Progress
from himeji_server.launch import open_files
from himeji_server.limits import Limits
from himeji_server.names import HOUSE
from himeji_server.rate_limits import ConcurrencyLimit, TokenBucket
from himeji_server.rpc import grpc_server
from himeji_server.rpc.call_log import INTERVAL_SECONDS, CallLog
from himeji_server.rpc.calls_in_flight import CANCELLED, FLOOD, CallsInFlight
from himeji_server.rpc.connection_watch import ConnectionWatch
from himeji_server.rpc.ladder_service import LadderService
from himeji_server.rpc.readiness import Readiness
from himeji_server.rpc.rules_service import RulesService
from himeji_server.rpc.rules_workers import RulesWorkers

from tests.server.arena_client import PATIENCE
from tests.server.raw_http2 import RawConnection

ADMIN_OF_ADA = "admin-of-ada"
STRANGER, OTHER = "127.0.0.2", "127.0.0.3"
RULESET = "/himeji.v1.RulesService/GetRuleset"
WATCH_RESULTS = "/himeji.v1.LadderService/WatchResults"
WHO_AM_I = "/himeji.v1.AccountService/WhoAmI"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
BASE = rules_pb2.GetRulesetRequest(ruleset="base").SerializeToString()
MATCHA = rules_pb2.GetRulesetRequest(ruleset="matcha").SerializeToString()
FOR_EVER = 1_000_000


class Rules(RulesService):
    """Counts the answers that were given; `answer` gives them, if it is set."""

    answers = 0
    answer = None

    async def GetRuleset(self, request, context):  # noqa: N802 - the contract's name
        self.answers += 1
        return await (self.answer or super().GetRuleset)(request, context)


class Account:
    """Says who calls."""

    async def WhoAmI(self, _request, _context):  # noqa: N802 - the contract's name
        return accounts_pb2.WhoAmIResponse(owner=accounts_pb2.Owner(name=current_caller().owner))


class Results:
    """Tells of results, each of which takes the processor a while."""

    MESSAGES = 12
    MS = 5

    async def WatchResults(self, _request, _context):  # noqa: N802 - the contract's name
        for _ in range(self.MESSAGES):
            until = time.thread_time() + self.MS / 1000
            while time.thread_time() < until:
                pass
            yield ladders_pb2.WatchResultsResponse()


class Tokens:
    """Knows three tokens of two owners, and counts how often it was asked."""

    def __init__(self):
        self.store = self
        self.lookups = 0

    def on_change(self, _callback):
        pass

    async def verify(self, secret):
        self.lookups += 1
        await asyncio.sleep(0.05)
        if secret not in ("ada", ADMIN_OF_ADA, HOUSE):
            raise errors.InvalidToken("unknown")
        owner = HOUSE if secret == HOUSE else "ada"
        scopes = {SCOPE_READ, SCOPE_PLAY, SCOPE_MANAGE}
        scopes |= {SCOPE_ADMIN} if secret == ADMIN_OF_ADA else set()
        return Caller(owner, f"{secret}.0", frozenset(scopes))


class Server:
    """A server without a store, and what it counts."""

    def __init__(self, limits):
        self.tokens = Tokens()
        self.rules = Rules(RulesWorkers(limits), lambda _calls: None, limits)
        self.calls = CallsInFlight(limits)
        self.grpc = grpc_server.build(
            Readiness([]),
            implementations={
                "himeji.v1.RulesService": self.rules,
                "himeji.v1.AccountService": Account(),
                "himeji.v1.LadderService": Results(),
            },
            authorise=Authoriser(self.tokens, limits=limits),
            dev=True,
            limits=limits,
            calls=self.calls,
        )
        self.port = grpc_server.bind(self.grpc, 0)
        self.address = f"127.0.0.1:{self.port}"
        self.opened = []

    def connect(self, source=STRANGER, window=None):
        connection = RawConnection(self.address, source, window)
        self.opened.append(connection)
        return connection

    def in_flight(self):
        return sum(each.calls for each in self.calls.connections.values())

    def open_connections(self, connections):
        return [each for each in connections if not each.is_closed()]


@asynccontextmanager
async def serving(**changed):
    server = Server(Limits(**changed))
    await server.grpc.start()
    watch = asyncio.create_task(ConnectionWatch(server.calls, server.port).run())
    options = [("grpc.use_local_subchannel_pool", 1)]
    try:
        async with grpc.aio.insecure_channel(server.address, options=options) as server.channel:
            yield server
        assert not watch.done()
    finally:
        for connection in server.opened:
            connection.close()
        watch.cancel()
        await server.grpc.stop(None)


async def eventually(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "in vain"
        await asyncio.sleep(0.02)


async def never(condition, seconds=2.0):
    """Check that something that would happen soon does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert not condition()
        await asyncio.sleep(0.05)


async def check_health(server):
    request = health_pb2.HealthCheckRequest(service="himeji.alive")
    with pytest.raises(grpc.RpcError) as found:  # nobody has set its health: that is an answer
        await health_pb2_grpc.HealthStub(server.channel).Check(request, timeout=PATIENCE)
    assert found.value.code() is grpc.StatusCode.NOT_FOUND


async def who_am_i(server, token=None):
    stub = account_service_pb2_grpc.AccountServiceStub(server.channel)
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    request = accounts_pb2.WhoAmIRequest()
    try:
        return await stub.WhoAmI(request, metadata=metadata, timeout=PATIENCE)
    except grpc.RpcError as error:
        return from_rpc_error(error)


# Refused messages


@contextmanager
def memory_held():
    """Says how many bytes of Python's objects the block leaves behind without the collector."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()


LARGE = 400_000
LONG_NAME = rules_pb2.GetRulesetRequest(ruleset="x" * LARGE).SerializeToString()


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        (RULESET, b"x" * (LARGE + 101), errors.MessageTooLarge),
        (RULESET, b"\xff" * LARGE, errors.MalformedMessage),
        (RULESET, LONG_NAME, errors.LimitExceeded),
        (REFLECTION, b"\xff" * LARGE, errors.MalformedMessage),
        ("/himeji.v1.RulesService/Unknown", LONG_NAME, errors.UnknownMethod),
    ],
)
async def test_a_refused_message_is_freed_without_the_garbage_collector(path, body, error):
    calls = 20
    async with serving(message_bytes=LARGE + 100) as server:
        with memory_held() as held:
            for _ in range(calls):
                with pytest.raises(grpc.RpcError) as refused:
                    await server.channel.unary_unary(path)(body, timeout=PATIENCE)
                assert isinstance(from_rpc_error(refused.value), error)
            await eventually(lambda: server.in_flight() == 0)
            assert held() < calls * LARGE / 4


async def test_what_a_handler_has_when_it_aborts_is_freed_without_the_garbage_collector():
    calls = 20

    async def abort(_request, context):
        large = b"x" * LARGE
        await context.abort(grpc.StatusCode.ABORTED, f"{len(large)} bytes")

    async with serving() as server:
        server.rules.answer = abort
        with memory_held() as held:
            for _ in range(calls):
                with pytest.raises(grpc.RpcError) as refused:
                    await server.channel.unary_unary(RULESET)(BASE, timeout=PATIENCE)
                assert refused.value.details() == f"{LARGE} bytes"
            await eventually(lambda: server.in_flight() == 0)
            assert held() < calls * LARGE / 4


# Processor time

POOR = {"processor_ms_per_second": 1, "processor_ms_at_once": 1, "processor_wait_seconds": 0}


async def get_ruleset(server):
    try:
        return await server.channel.unary_unary(RULESET)(BASE, timeout=PATIENCE)
    except grpc.RpcError as error:
        return from_rpc_error(error)


async def test_who_has_used_up_its_processor_time_is_refused_and_no_flood():
    async with serving(**POOR, failures_at_once=1, failure_delay_seconds=0.01) as server:
        found = [await get_ruleset(server) for _ in range(10)]
        refused = [each for each in found if isinstance(each, errors.RateLimited)]
        assert len(refused) >= 8
        assert refused[0].details["limit"] == "processor_ms_per_second"
        assert not server.calls.to_close
        assert server.calls.count_failure(next(iter(server.calls.connections.values())))


async def test_a_health_check_does_not_wait_for_processor_time():
    async with serving(**POOR) as server:
        while not isinstance(await get_ruleset(server), errors.RateLimited):
            pass
        for _ in range(10):
            await check_health(server)


async def test_a_stream_that_is_watched_goes_on_as_fast_as_its_owner_has_processor_time():
    little = {"processor_ms_per_second": 100, "processor_ms_at_once": 10}
    async with serving(**little) as server:
        before = time.monotonic()
        call = server.channel.unary_stream(WATCH_RESULTS)(
            b"", timeout=PATIENCE, metadata=(("authorization", "Bearer ada"),)
        )
        assert len([message async for message in call]) == Results.MESSAGES
        # What it may have at once, and the last message is paid for afterwards.
        charged = (Results.MESSAGES - 1) * Results.MS - 10
        assert time.monotonic() - before >= charged / 100


# Unread answers


async def test_a_client_that_does_not_take_its_answer_is_cut_off():
    async with serving(slow_seconds=0.2) as server:
        deaf = server.connect(window=0)
        deaf.call(RULESET, BASE)
        await eventually(deaf.is_closed)
        await eventually(lambda: not server.calls.unread)
        assert server.in_flight() == 0
        await check_health(server)
    async with serving(slow_seconds=FOR_EVER) as server:
        deaf = server.connect(window=0)
        deaf.call(RULESET, BASE)
        await never(deaf.is_closed)
        assert server.in_flight() == 1


async def answers_given(calls, **changed):
    """How many answers a server gives to a client that takes none of them."""
    async with serving(**changed) as server:
        connections = [server.connect(window=0) for _ in range(4)]
        for number in range(calls):
            connections[number % 4].call(RULESET, BASE)
        await eventually(lambda: server.rules.answers)
        await settled(server)
        await check_health(server)
        return server.rules.answers


async def settled(server):
    """Wait until the number of answers does not change any more."""
    before, same = -1, 0
    while same < 5:
        same = same + 1 if server.rules.answers == before else 0
        before = server.rules.answers
        await asyncio.sleep(0.1)


async def test_calls_in_flight_of_an_address_are_limited():
    limit = {"calls_in_flight_per_address": 20}
    assert await answers_given(36, **limit) == 20
    assert await answers_given(36) == 36


async def test_bytes_of_unread_answers_are_limited():
    assert await answers_given(36, unread_bytes_per_address=200_000) < 10
    assert await answers_given(36) == 36


async def test_unread_answers_of_an_owner_do_not_count_for_the_address():
    calls = CallsInFlight(Limits(unread_bytes_per_address=100, unread_bytes_per_owner=300))
    ada = Caller("ada", "ada.0", frozenset({SCOPE_READ}))
    for _ in range(4):
        call = calls.begin(f"ipv4:{STRANGER}:1")
        call.charge_to(ada, stream=False)
        call.answer(100)
    with pytest.raises(errors.LimitExceeded, match="300 bytes of answers wait for you"):
        calls.begin(f"ipv4:{STRANGER}:1").charge_to(ada, stream=False)
    calls.begin(f"ipv4:{STRANGER}:1").check()


async def test_who_has_twice_the_calls_that_are_allowed_is_cut_off_and_others_are_not():
    held = {"failures_per_second": 1, "failures_at_once": 1, "failure_delay_seconds": FOR_EVER}
    async with serving(calls_in_flight_per_address=10, **held) as server:
        other, deaf = server.connect(OTHER), server.connect(window=0)
        for _ in range(40):
            deaf.call(RULESET, BASE)
        await eventually(deaf.is_closed)
        assert not other.is_closed()
        await check_health(server)


async def test_calls_of_an_owner_are_limited_and_those_of_house_bots_and_administrators_are_not():
    async with serving(calls_in_flight_per_owner=5) as server:
        tokens = (ADMIN_OF_ADA, "ada", HOUSE)
        for token in tokens:
            connection = server.connect(window=0)
            for _ in range(9):
                connection.call(WHO_AM_I, token=token)
        await eventually(lambda: server.in_flight() == 9 + 5 + 9)
        assert type(await who_am_i(server, "ada")) is errors.LimitExceeded
        assert (await who_am_i(server, ADMIN_OF_ADA)).owner.name == "ada"
        assert (await who_am_i(server, HOUSE)).owner.name == HOUSE


def leave_unread(calls, caller, size, times=1):
    for _ in range(times):
        call = calls.begin(f"ipv4:{STRANGER}:1")
        call.charge_to(caller, stream=False)
        call.answer(size)


def caller_of(token):
    owner = HOUSE if token == HOUSE else "ada"
    scope = SCOPE_ADMIN if token == ADMIN_OF_ADA else SCOPE_READ
    return Caller(owner, f"{token}.0", frozenset({scope}))


@pytest.mark.parametrize("token", [ADMIN_OF_ADA, HOUSE])
async def test_unread_answers_of_administrators_and_house_bots_have_no_limit_but_the_process_has(
    token,
):
    large = 100_000
    calls = CallsInFlight(Limits(unread_bytes_per_owner=large, unread_bytes=10 * large))
    leave_unread(calls, caller_of(token), large, times=10)
    leave_unread(calls, caller_of("ada"), large)
    with pytest.raises(errors.LimitExceeded) as refused:
        leave_unread(calls, caller_of("ada"), large)
    assert refused.value.details["limit"] == "unread_bytes_per_owner"
    with pytest.raises(errors.LimitExceeded) as full:
        leave_unread(calls, caller_of(token), large)
    assert full.value.details["limit"] == "unread_bytes"


async def test_a_call_whose_message_does_not_come_ends():
    async with serving(request_seconds=0.2) as server:
        server.connect().open(RULESET)
        await eventually(lambda: server.calls.connections)
        await eventually(lambda: server.in_flight() == 0)
    async with serving(request_seconds=FOR_EVER) as server:
        server.connect().open(RULESET)
        await eventually(lambda: server.in_flight() == 1)
        await never(lambda: server.in_flight() == 0)


# Connections


async def test_the_oldest_connections_of_an_address_that_has_too_many_are_closed():
    async with serving(connections_per_address=5) as server:
        other = server.connect(OTHER)
        many = [server.connect() for _ in range(20)]
        await eventually(lambda: len(server.open_connections(many)) <= 5)
        late = server.connect()
        await eventually(many[-5].is_closed)
        assert server.open_connections(many) == many[-4:]
        assert not late.is_closed()
        assert not other.is_closed()
    async with serving() as server:
        many = [server.connect() for _ in range(20)]
        await never(lambda: any(each.is_closed() for each in many))


def has_connections_of_ada(server, least):
    return [each.owner for each in server.calls.connections.values()].count("ada") >= least


async def test_a_connection_with_a_token_counts_for_its_owner():
    async with serving(connections_per_address=5, connections_per_owner=10) as server:
        known = []
        for number in range(12):  # one by one: until its token is verified, each is a stranger's
            known.append(server.connect())
            known[-1].call(WHO_AM_I, token="ada")
            await eventually(partial(has_connections_of_ada, server, min(number + 1, 10)))
        await eventually(lambda: len(server.open_connections(known)) == 10)
        strangers = [server.connect() for _ in range(12)]
        await eventually(lambda: len(server.open_connections(strangers)) == 5)
        assert len(server.open_connections(known)) == 10
        await eventually(lambda: len(server.calls.connections) <= 11)  # closed ones are forgotten


@pytest.mark.parametrize("token", [ADMIN_OF_ADA, HOUSE])
async def test_connections_of_administrators_and_house_bots_are_not_too_many(token):
    async with serving(connections_per_owner=3) as server:
        free = [server.connect() for _ in range(6)]
        for connection in free:
            connection.call(WHO_AM_I, token=token)
        known = [server.connect() for _ in range(6)]
        for connection in known:
            connection.call(WHO_AM_I, token="ada")
        await eventually(lambda: len(server.open_connections(known)) == 3)
        assert len(server.open_connections(free)) == 6


async def test_connections_without_calls_and_without_http2_are_closed():
    async with serving(idle_seconds=1, handshake_seconds=1) as server:
        idle, silent = server.connect(), RawConnection(server.address, preface=False)
        server.opened.append(silent)
        await eventually(idle.is_closed)
        await eventually(silent.is_closed)


# Calls that come to nothing


async def test_a_connection_that_cancels_too_many_calls_is_closed():
    few = {"cancellations_per_second": 1, "cancellations_at_once": 20}
    async with serving(**few) as server:
        other, resetting = server.connect(OTHER), server.connect()
        resetting.open_and_reset(RULESET, 200)
        await eventually(resetting.is_closed)
        assert not other.is_closed()
        await check_health(server)
    async with serving(cancellations_at_once=FOR_EVER) as server:
        resetting = server.connect()
        resetting.open_and_reset(RULESET, 200)
        await never(resetting.is_closed)


async def test_refusals_are_delayed_when_there_are_too_many():
    few = {"failures_per_second": 1, "failures_at_once": 3}
    async with serving(**few, failure_delay_seconds=FOR_EVER) as server:
        answered = [asyncio.create_task(who_am_i(server)) for _ in range(20)]
        await asyncio.wait(answered, timeout=2)
        assert 3 <= sum(each.done() for each in answered) < 20
        assert (await who_am_i(server, "ada")).owner.name == "ada"
        for each in answered:
            each.cancel()
    async with serving(failures_at_once=FOR_EVER, failure_delay_seconds=FOR_EVER) as server:
        await asyncio.gather(*(who_am_i(server) for _ in range(20)))


# Floods

FEW_FAILURES = {
    "failures_per_second": 1,
    "failures_at_once": 20,
    "cancellations_per_second": 1,
    "cancellations_at_once": 20,
    "block_seconds": 1.5,
}


async def gets_in(server, source=STRANGER):
    """Whether new connections get in: of a blocked address one waits, and the next is dropped."""

    def connect():
        address = ("127.0.0.1", server.port)
        try:
            with (
                socket.create_connection(address, 0.2, (source, 0)),
                socket.create_connection(address, 0.2, (source, 0)),
                socket.create_connection(address, 0.2, (source, 0)),
            ):
                return True
        except TimeoutError:
            return False

    return await asyncio.to_thread(connect)


async def eventually_gets_in(server, *, expected):
    deadline = time.monotonic() + PATIENCE
    while await gets_in(server) is not expected:
        assert time.monotonic() < deadline, "in vain"


async def closed_by_the_watch(connection):
    """Wait until it is closed; gRPC would close it because it is idle after 30 seconds."""
    async with asyncio.timeout(10):
        await eventually(connection.is_closed)


def known_to(server):
    return list(server.calls.connections.values())


async def reset_until_closed(server, token=""):
    """Cancel half as many calls again as are allowed, on a new connection."""
    connection = server.connect()
    if token:
        connection.call(WHO_AM_I, token=token)
        await eventually(lambda: any(each.owner == token for each in known_to(server)))
    connection.open_and_reset(RULESET, 30)
    await eventually(connection.is_closed)


async def reset_for_ever(server):
    while await gets_in(server):
        await reset_until_closed(server)


async def test_a_client_that_goes_on_cancelling_calls_is_blocked_for_a_while():
    before = metrics.REGISTRY.get_sample_value("himeji_addresses_blocked_total")
    async with serving(**FEW_FAILURES) as server:
        other, near = server.connect(OTHER), server.connect(STRANGER)
        await reset_until_closed(server)
        assert await gets_in(server)
        assert not near.is_closed()
        await reset_until_closed(server)
        await eventually_gets_in(server, expected=False)
        await closed_by_the_watch(near)
        assert await gets_in(server, OTHER)
        assert not other.is_closed()
        await check_health(server)
        await eventually_gets_in(server, expected=True)
        again = server.connect()
        again.call(RULESET, BASE)
        await eventually(lambda: server.rules.answers == 1)
    after = metrics.REGISTRY.get_sample_value("himeji_addresses_blocked_total")
    assert after == before + 1


async def test_where_the_kernel_does_not_help_a_blocked_client_is_closed_after_its_first_call(
    monkeypatch,
):
    monkeypatch.setattr(address_filter, "_is_linux", lambda: False)
    async with serving(**FEW_FAILURES) as server:
        for _ in range(2):
            await reset_until_closed(server)
        await eventually(lambda: server.calls.blocks.is_blocked(STRANGER))
        blocked, other = server.connect(), server.connect(OTHER)
        for each in (blocked, other):
            each.call(RULESET, BASE)
        await closed_by_the_watch(blocked)
        assert not other.is_closed()
        await eventually(lambda: not server.calls.blocks.is_blocked(STRANGER))
        again = server.connect()
        again.call(RULESET, BASE)
        await never(again.is_closed, 0.3)


async def test_connections_of_strangers_at_the_address_of_a_flood_are_closed():
    async with serving(**FEW_FAILURES) as server:
        near = server.connect()
        await reset_until_closed(server, token="ada")
        assert not near.is_closed()
        await reset_until_closed(server, token="ada")
        await closed_by_the_watch(near)


async def test_a_client_that_goes_on_although_it_is_refused_is_blocked():
    async with serving(**FEW_FAILURES) as server:
        guessing = server.connect()
        for _ in range(40):
            guessing.call(WHO_AM_I)
        await never(guessing.is_closed, 0.3)
        for _ in range(10):
            guessing.call(WHO_AM_I)
        await eventually(guessing.is_closed)
        await eventually_gets_in(server, expected=False)


@pytest.mark.parametrize("request_bytes", [BASE, MATCHA])
async def test_a_client_that_asks_for_more_and_more_answers_and_reads_none_is_blocked(
    request_bytes,
):
    """The answer for Matcha is one of those that are refused when they are ready."""
    async with serving(unread_bytes_per_address=200_000, **FEW_FAILURES) as server:
        deaf = server.connect(window=0)
        for _ in range(20):
            deaf.call(RULESET, request_bytes)
        await eventually(deaf.is_closed)
        await eventually_gets_in(server, expected=False)


async def test_an_address_from_which_another_owner_is_connected_is_not_blocked():
    async with serving(**FEW_FAILURES) as server:
        known, near = server.connect(), server.connect()
        known.call(WHO_AM_I, token="ada")
        await eventually(lambda: [each.owner for each in known_to(server)] == ["ada"])
        for _ in range(3):
            await reset_until_closed(server)
        await closed_by_the_watch(near)  # it counts for the same client
        assert not server.calls.blocks.is_blocked(STRANGER)
        assert await gets_in(server)
        assert not known.is_closed()


async def test_a_flood_that_goes_on_beside_another_owner_is_blocked_and_the_owner_stays():
    async with serving(**FEW_FAILURES) as server:
        known = server.connect()
        known.call(WHO_AM_I, token="ada")
        await eventually(lambda: [each.owner for each in known_to(server)] == ["ada"])
        flood = asyncio.create_task(reset_for_ever(server))
        await eventually(lambda: server.calls.blocks.is_blocked(STRANGER))
        await eventually_gets_in(server, expected=False)
        flood.cancel()
        assert not known.is_closed()


async def test_a_client_that_dies_with_many_calls_in_flight_is_not_blocked():
    async with serving(**FEW_FAILURES) as server:
        dying = server.connect()
        for _ in range(100):
            dying.call(HEALTH_WATCH)
        await eventually(lambda: server.in_flight() == 100)
        dying.close()
        await eventually(lambda: not server.calls.connections)
        assert await gets_in(server)


@pytest.mark.parametrize(
    ("peer", "owner", "scope", "reason"),
    [
        ("ipv4:192.0.2.7:4000", None, None, FLOOD),
        ("ipv4:192.0.2.7:4000", "ada", SCOPE_PLAY, FLOOD),
        ("ipv4:192.0.2.7:4000", "ada", SCOPE_ADMIN, None),
        ("ipv4:192.0.2.7:4000", HOUSE, SCOPE_PLAY, None),
        ("ipv4:127.0.0.1:4000", None, None, CANCELLED),
        ("ipv6:[2001:db8::1]:4000", None, None, FLOOD),
        ("ipv6:[::1]:4000", None, None, CANCELLED),
        ("unix:", None, None, CANCELLED),
    ],
)
async def test_the_house_and_administrators_and_this_machine_are_no_floods(
    peer, owner, scope, reason
):
    calls = CallsInFlight(Limits(**FEW_FAILURES))
    call = calls.begin(peer)
    if owner is not None:
        call.charge_to(Caller(owner, f"{owner}.0", frozenset({scope})), stream=False)
    for _ in range(50):
        call.cancel()
    assert calls.to_close.get(call.connection) == reason


async def test_calls_that_end_because_the_arena_closed_their_connection_are_no_flood():
    calls = CallsInFlight(Limits(**FEW_FAILURES))
    call = calls.begin("ipv4:192.0.2.7:4000")
    calls.closed = {call.connection}
    for _ in range(50):
        call.cancel()
    assert calls.to_close == {call.connection: CANCELLED}


def test_a_bucket_counts_refusals_until_it_is_full_again():
    now = [0.0]
    bucket = TokenBucket("failures", per_second=1, at_once=2, clock=lambda: now[0])
    for _ in range(5):
        with suppress(errors.RateLimited):
            bucket.acquire()
    assert bucket.refused == 3
    now[0] = 1.5
    bucket.acquire()
    assert bucket.refused == 3
    now[0] = 4.0
    bucket.acquire()
    assert bucket.refused == 0


# Rates of calls without a token


@pytest.mark.parametrize("method", [WHO_AM_I, "/nobody/Knows"])
async def test_calls_without_a_token_and_of_unknown_methods_are_limited_by_address(method):
    async with serving(calls_per_second=1, calls_at_once=3) as server:
        call = server.channel.unary_unary(method)
        found = await asyncio.gather(*(call(b"") for _ in range(20)), return_exceptions=True)
        limited = [each for each in found if "RATE_LIMITED" in type_of(each)]
        assert len(limited) in range(10, 18)
        assert (await who_am_i(server, "ada")).owner.name == "ada"


def type_of(error):
    found = from_rpc_error(error)
    return "RATE_LIMITED" if isinstance(found, errors.RateLimited) else type(found).__name__


async def guess(server, count):
    return [await who_am_i(server, f"guess-{number}") for number in range(count)]


async def test_guesses_are_limited_by_address_before_they_are_looked_up():
    few = {"guesses_per_second": 1, "guesses_at_once": 3, "guess_wait_seconds": 0}
    async with serving(**few) as server:
        assert (await who_am_i(server, "ada")).owner.name == "ada"
        found = await guess(server, 20)
        refused = [each for each in found if isinstance(each, errors.RateLimited)]
        assert len(refused) in range(10, 18)
        assert refused[0].details["limit"] == "guesses_per_second"
        assert int(refused[0].details[RETRY_AFTER]) > 0
        assert server.tokens.lookups == 1 + 20 - len(refused)
        # What others guess does not hold up whoever has a token that was valid lately, also when it
        # has to be looked up again.
        await asyncio.sleep(CACHE_SECONDS)
        await guess(server, 5)
        before = server.tokens.lookups
        assert (await who_am_i(server, "ada")).owner.name == "ada"
        assert server.tokens.lookups == before + 1
        assert isinstance(await who_am_i(server, "another guess"), errors.RateLimited)
    async with serving(guesses_at_once=FOR_EVER) as server:
        assert all(type(each) is errors.InvalidToken for each in await guess(server, 20))
        assert server.tokens.lookups == 20


async def test_a_valid_token_does_not_count_as_a_guess():
    few = {"guesses_per_second": 1, "guesses_at_once": 1, "guess_wait_seconds": 0}
    async with serving(**few) as server:
        for owner in ("ada", HOUSE):
            assert (await who_am_i(server, owner)).owner.name == owner


async def test_calls_with_the_same_new_token_at_the_same_time_are_one_guess():
    few = {"guesses_per_second": 1, "guesses_at_once": 1, "guess_wait_seconds": 0}
    async with serving(**few) as server:
        found = await asyncio.gather(*(who_am_i(server, "ada") for _ in range(50)))
        assert {each.owner.name for each in found} == {"ada"}
        assert server.tokens.lookups == 1


def test_a_reserved_turn_comes_later_each_time_until_it_is_refused():
    now = [0.0]
    bucket = TokenBucket("guesses", per_second=10, at_once=2, clock=lambda: now[0])
    waits = [bucket.reserve(0.25) for _ in range(4)]
    assert waits == pytest.approx([0, 0, 0.1, 0.2])
    with pytest.raises(errors.RateLimited) as refused:
        bucket.reserve(0.25)
    assert int(refused.value.details[RETRY_AFTER]) in (50, 51)
    bucket.give_back()
    assert bucket.reserve(0.25) == pytest.approx(0.2)


async def test_health_checks_have_a_limit_of_their_own():
    async with serving(calls_per_second=1, calls_at_once=1, health_checks_per_second=2) as server:
        stub = health_pb2_grpc.HealthStub(server.channel)
        check = health_pb2.HealthCheckRequest(service="nobody")
        found = await asyncio.gather(
            *(stub.Check(check, timeout=PATIENCE) for _ in range(20)), return_exceptions=True
        )
        codes = [each.code() for each in found]
        assert codes.count(grpc.StatusCode.NOT_FOUND) >= 4
        assert codes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) >= 10


def test_of_calls_that_come_to_nothing_a_few_are_logged_and_the_others_counted():
    now = [0.0]
    log = CallLog(failures_logged=2, clock=lambda: now[0])
    with structlog.testing.capture_logs() as lines:
        for number in range(7):
            log.write("10.0.0.1", failed=True, number=number)
        log.write("10.0.0.2", failed=True, number=7)
        log.write("10.0.0.1", failed=False, number=8)
        now[0] = INTERVAL_SECONDS
        log.write("10.0.0.1", failed=True, number=9)
    assert [each.get("number") for each in lines] == [0, 1, 7, 8, None, 9]
    summary = lines[4]
    assert (summary["total"], summary["busiest"]) == (5, {"10.0.0.1": 5})


# Streams other than Play


async def test_streams_other_than_play_are_limited_by_address():
    async with serving(watchers_per_address=1) as server:
        stub = health_pb2_grpc.HealthStub(server.channel)
        first = stub.Watch(health_pb2.HealthCheckRequest())
        assert await first.read()
        second = stub.Watch(health_pb2.HealthCheckRequest())
        with pytest.raises(grpc.RpcError) as refused:
            await second.read()
        assert from_rpc_error(refused.value).details["limit"] == "watchers_per_address"
        first.cancel()


def reflect(server):
    stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    return stub.ServerReflectionInfo()


LIST = reflection_pb2.ServerReflectionRequest(list_services="")


async def test_a_reflection_stream_on_which_nothing_comes_ends():
    async with serving(idle_seconds=0.5) as server:
        call = reflect(server)
        await call.write(LIST)
        assert await call.read()
        with pytest.raises(grpc.RpcError) as ended:
            await call.read()
        assert from_rpc_error(ended.value).details["limit"] == "idle_seconds"


async def test_requests_of_a_reflection_stream_count_as_calls():
    async with serving(calls_per_second=1, calls_at_once=3) as server:
        call = reflect(server)
        with pytest.raises(grpc.RpcError) as refused:
            await ask_often(call)
        assert isinstance(from_rpc_error(refused.value), errors.RateLimited)


async def ask_often(call):
    for _ in range(20):
        await call.write(LIST)
        await call.read()


async def test_a_client_that_does_not_read_a_stream_is_cut_off():
    request = LIST.SerializeToString()
    async with serving(slow_seconds=0.3) as server:
        deaf = server.connect(window=0)
        deaf.call(REFLECTION, request)
        await eventually(deaf.is_closed)
        await eventually(lambda: server.in_flight() == 0)
    async with serving(slow_seconds=FOR_EVER) as server:
        deaf = server.connect(window=0)
        deaf.call(REFLECTION, request)
        await never(deaf.is_closed)


async def test_a_recomputation_ends_when_its_token_ends():
    ended = asyncio.Event()

    async def recompute(*_arguments, **_more):
        yield Progress(1, 3)
        ended.set()
        yield Progress(2, 3)
        raise AssertionError("it went on")

    parts = SimpleNamespace(
        administration=SimpleNamespace(recompute=recompute),
        queries=None,
        queue_commands=None,
        tournaments=None,
    )
    streams = SimpleNamespace(register=lambda _caller: nullcontext(ended))
    service = LadderService(parts, streams, ConcurrencyLimit("watchers", 1))
    set_caller(Caller("ada", "ada.0", frozenset()))
    seen = []

    async def read():
        request = ladders_pb2.RecomputeStandingsRequest()
        async for message in service.RecomputeStandings(request, None):
            seen.append(message.WhichOneof("body"))  # noqa: PERF401 - also before an error

    with pytest.raises(errors.InvalidToken):
        await read()
    assert seen == ["progress", "stream_end"]


# Open files


class FakeResource:
    """The limit of open files of some other system."""

    RLIMIT_NOFILE, RLIM_INFINITY = resource.RLIMIT_NOFILE, resource.RLIM_INFINITY

    def __init__(self, soft, hard):
        self.limits = (soft, hard)

    def getrlimit(self, _kind):
        return self.limits

    def setrlimit(self, _kind, limits):
        self.limits = limits


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "allowed"),
    [
        (1_024, 20_000, 11_280, 10_000),
        (1_024, resource.RLIM_INFINITY, 11_280, 10_000),
        (50_000, 50_000, 50_000, 10_000),
        (1_024, 4_096, 4_096, 2_816),
        (1_024, 1_024, 1_024, 512),
    ],
)
def test_the_limit_of_open_files_is_raised_or_said_to_be_too_low(
    monkeypatch, soft, hard, raised, allowed
):
    fake = FakeResource(soft, hard)
    monkeypatch.setattr(open_files, "resource", fake)
    with structlog.testing.capture_logs() as lines:
        assert open_files.allow(10_000) == allowed
    assert fake.limits == (raised, hard)
    found = [(each["open_files"], each["needed"]) for each in lines]
    assert found == ([] if allowed == 10_000 else [(raised, 11_280)])
