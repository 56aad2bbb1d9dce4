"""Every limit over real sockets: the refusal is typed, says what is allowed, is on the page."""

import asyncio
import re
import time
from collections import Counter
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import fields, replace
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from himeji.rules import errors
from himeji.v1 import (
    account_service_pb2 as accounts_pb2,
    game_pb2,
    game_service_pb2 as games_pb2,
    play_service_pb2 as play_pb2,
    rules_service_pb2,
    rules_service_pb2_grpc,
    stream_pb2,
)
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji.wire.errors import RETRY_AFTER, from_rpc_error
from himeji_server import limits as values, pagination
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.token_cache import CACHE_SECONDS, TokenCache
from himeji_server.accounts.tokens import OWNERS_SCOPES, TokenRequest
from himeji_server.games.use_cases import GameUseCases
from himeji_server.launch import serve
from himeji_server.limits import AccountLimits, Limits
from himeji_server.names import HOUSE
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import SendQueue, StreamWriter
from himeji_server.rate_limits import ConcurrencyLimit, RateLimiter, TokenBucket
from himeji_server.settings import Settings
from himeji_server.store import Store, keys

from tests.server.arena_client import PATIENCE, with_timeout
from tests.server.raw_http2 import RawConnection

PAGE = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
ROWS = {
    name: [cell.strip() for cell in rest.split("|")]
    for name, rest in re.findall(r"^\| `(\w+)` \|(.+)\|$", PAGE, re.MULTILINE)
}
DEAF = [("grpc.use_local_subchannel_pool", 1)]
SEATS = [game_pb2.SeatPlan()] * 2


# The page


def stated_limits():
    """Every limit of the code by the name that its error gives, with its value."""
    found = {each.name: each.default for kind in (Limits, AccountLimits) for each in fields(kind)}
    return found | {
        "metadata_bytes": values.MOST_METADATA_BYTES,
        "page_size": pagination.LARGEST_SIZE,
    }


def test_every_limit_has_a_row_and_every_row_a_limit():
    assert ROWS.keys() == stated_limits().keys()


@pytest.mark.parametrize("name", stated_limits())
def test_the_page_has_the_figure_of_the_code(name):
    assert float(ROWS[name][0].replace(",", "")) == stated_limits()[name]


def test_every_constant_of_the_module_is_on_the_page():
    constants = {name for name in vars(values) if name.startswith("MOST_")}
    assert constants == {"MOST_METADATA_BYTES", "MOST_METADATA_READ"}
    assert "above 32 kB" in PAGE
    assert "above 512 kB" in PAGE
    assert Limits().bytes_read == 512 << 10


def test_every_error_of_the_page_is_one_of_the_contract():
    named = {name for row in ROWS.values() for name in re.findall(r"`([A-Z_]+)`", row[2])}
    assert named == {
        *("MESSAGE_TOO_LARGE", "LIMIT_EXCEEDED", "RATE_LIMITED", "SLOW_READER"),
        "INVALID_REQUEST",
    }
    assert all(f"ERROR_REASON_{name}" in set(ErrorReason.keys()) for name in named)


def names_of_keys():
    """What store/keys.py has a name for and is stored: channels are not, nor are buckets."""
    defined = {
        name
        for name, value in vars(keys).items()
        if isinstance(value, str) or getattr(value, "__module__", "") == keys.__name__
        if not name.startswith("_")
    }
    return {name for name in defined if "channel" not in name.lower()} - {
        *("bucket_of", "of_game", "GameKeys"),
    }


def test_the_page_says_of_every_key_what_bounds_it():
    section = PAGE.partition("## What the store keeps of an owner")[2].partition("\n## ")[0]
    last_cells = re.findall(r"^\|.*\|([^|]+)\|$", section, re.MULTILINE)
    named = Counter(name for cell in last_cells for name in re.findall(r"`(\w+)`", cell))
    assert named.keys() == names_of_keys()
    assert set(named.values()) == {1}, "each in one row"


# Counting


def test_a_bucket_allows_a_burst_and_then_its_rate():
    now = [0.0]
    bucket = TokenBucket("calls", per_second=4, at_once=3, clock=lambda: now[0])
    for _ in range(3):
        bucket.acquire()
    with pytest.raises(errors.RateLimited) as refused:
        bucket.acquire()
    assert refused.value.details == {"limit": "calls", "allowed": "4", RETRY_AFTER: "251"}
    now[0] += 0.251
    bucket.acquire()
    with pytest.raises(errors.RateLimited):
        bucket.acquire()


def test_a_call_that_costs_several_takes_so_many_tokens_and_never_more_than_there_can_be():
    now = [0.0]
    bucket = TokenBucket("calls", per_second=4, at_once=3, clock=lambda: now[0])
    bucket.acquire(2)
    with pytest.raises(errors.RateLimited) as refused:
        bucket.acquire(2)
    assert refused.value.details[RETRY_AFTER] == "251"
    bucket.acquire(1)  # a refusal takes nothing
    now[0] += 0.75
    bucket.acquire()
    bucket.acquire(1_000)
    with pytest.raises(errors.RateLimited):
        bucket.acquire()


def test_rate_limits_are_counted_by_key_and_house_bots_not_at_all():
    rates = RateLimiter("calls", per_second=1, at_once=1)
    rates.acquire("ada")
    rates.acquire("grace")
    for _ in range(5):
        rates.acquire(HOUSE)
    with pytest.raises(errors.RateLimited):
        rates.acquire("ada")


def test_a_slot_is_free_again_when_it_is_released():
    places = ConcurrencyLimit("streams", per_key=1, in_all=2)
    with places.slot("ada"):
        with pytest.raises(errors.LimitExceeded) as refused, places.slot("ada"):
            pass
        assert refused.value.details == {"limit": "streams_per_owner", "allowed": "1"}
        with places.slot("grace"), pytest.raises(errors.LimitExceeded) as full, places.slot("eve"):
            pass
        assert full.value.details == {"limit": "streams", "allowed": "2", RETRY_AFTER: "10000"}
    with places.slot("ada"):
        pass


def test_a_call_can_cost_as_much_as_several():
    now = [0.0]
    bucket = TokenBucket("calls", per_second=4, at_once=10, clock=lambda: now[0])
    bucket.acquire(4)
    bucket.acquire(5)
    with pytest.raises(errors.RateLimited) as refused:
        bucket.acquire(3)
    assert refused.value.details[RETRY_AFTER] == "501"
    bucket.acquire(1)
    with pytest.raises(errors.RateLimited):
        bucket.acquire()


# A real arena


class Client:
    """Stubs that show a token of the local owner."""

    def __init__(self, address, token):
        self.address = address
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.channel = grpc.aio.insecure_channel(address, options=DEAF)
        self.accounts = AccountServiceStub(self.channel)
        self.games = GameServiceStub(self.channel)
        self.player = PlayServiceStub(self.channel)

    async def stop_being_an_administrator(self):
        """Go on with a token that limits are for."""
        self.as_administrator = self.metadata
        request = accounts_pb2.CreateTokenRequest(scopes=OWNERS_SCOPES)
        made = await self.accounts.CreateToken(request, metadata=self.metadata, timeout=120)
        self.metadata = (("authorization", f"Bearer {made.secret}"),)

    async def who_am_i(self):
        request = accounts_pb2.WhoAmIRequest()
        return await self.accounts.WhoAmI(request, metadata=self.metadata, timeout=120)

    async def apply_one_action(self):
        rules = rules_service_pb2_grpc.RulesServiceStub(self.channel)
        new = rules_service_pb2.NewPositionRequest(ruleset="base", seats=2)
        made = await rules.NewPosition(new, metadata=self.metadata, timeout=120)
        request = rules_service_pb2.ApplyActionsRequest(
            position=made.position, actions=made.legal_actions[:1]
        )
        await rules.ApplyActions(request, metadata=self.metadata, timeout=120)

    async def create(self):
        request = games_pb2.CreateGameRequest(ruleset="base", seats=SEATS)
        return (
            await self.games.CreateGame(request, metadata=self.metadata, timeout=120)
        ).game.game_id

    async def join(self, game_id, bot="local/one"):
        request = games_pb2.JoinGameRequest(game_id=game_id, bot=bot)
        await self.games.JoinGame(request, metadata=self.metadata, timeout=120)

    async def cancel(self, game_id):
        request = games_pb2.CancelGameRequest(game_id=game_id)
        await self.games.CancelGame(request, metadata=self.metadata, timeout=120)

    async def resign(self, game_id):
        request = games_pb2.ResignRequest(game_id=game_id)
        await self.games.Resign(request, metadata=self.metadata, timeout=120)

    async def stream(self, bot="local/one"):
        """A stream after its Welcome, or after the last message that refuses it."""
        hello = play_pb2.Hello(protocol_version=1, bot=bot)
        call = PlayCall(self.player.Play(metadata=self.metadata))
        await call.send("h", hello=hello)
        return call, await with_timeout(call.read())


class PlayCall:
    """A Play stream whose messages are written and read one by one."""

    def __init__(self, call):
        self._call = call
        self._batch = []
        self.done_writing = call.done_writing

    async def send(self, request_id, **body):
        message = play_pb2.ClientMessage(request_id=request_id, **body)
        await self._call.write(play_pb2.PlayRequest(messages=[message]))

    async def read(self):
        while not self._batch:
            batch = await self._call.read()
            if batch is grpc.aio.EOF:
                return batch
            self._batch.extend(batch.messages)
        return self._batch.pop(0)


@pytest.fixture
def arena(short_folder, cluster):
    """Opens an arena with limits of its own."""

    @asynccontextmanager
    async def opened_with(**changed):
        folder, url = short_folder / "d", None if cluster is None else cluster.url
        settings = Settings(port=0, data=folder, redis=url, limits=replace(Limits(), **changed))
        async with serve.open_arena(settings) as opened:
            client = Client(f"127.0.0.1:{opened.port}", (folder / "token").read_text().strip())
            await client.stop_being_an_administrator()
            try:
                yield client
            finally:
                await client.channel.close()

    return opened_with


async def refused(awaitable):
    """The error of the tree with which a call ends."""
    with pytest.raises(grpc.RpcError) as raised:
        await with_timeout(awaitable)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    return from_rpc_error(raised.value)


def told(error):
    return type(error), error.details.get("limit"), error.details.get("allowed")


async def test_streams_are_limited_by_owner_and_a_closed_one_makes_room(arena):
    async with arena(streams_per_owner=1) as client:
        first, welcome = await client.stream("local/one")
        assert welcome.HasField("welcome")
        second, last = await client.stream("local/two")
        assert last.stream_end.kind == stream_pb2.STREAM_END_KIND_LIMIT_EXCEEDED
        error = await refused(second.read())
        assert told(error) == (errors.LimitExceeded, "streams_per_owner", "1")
        await first.done_writing()
        assert (await first.read()).stream_end.kind == stream_pb2.STREAM_END_KIND_GOODBYE
        assert await first.read() is grpc.aio.EOF
        _, welcome = await client.stream("local/two")
        assert welcome.HasField("welcome")


async def test_streams_are_limited_in_a_process(arena):
    async with arena(streams=1) as client:
        await client.stream("local/one")
        second, _ = await client.stream("local/two")
        assert told(await refused(second.read())) == (errors.LimitExceeded, "streams", "1")


async def test_a_full_process_refuses_streams_before_any_lookup(arena):
    async with arena(streams=1) as client:
        await client.stream("local/one")
        client.metadata = (("authorization", "Bearer nobody-knows-this"),)
        second, last = await client.stream("local/two")
        assert last.request_id == "h"
        assert last.stream_end.kind == stream_pb2.STREAM_END_KIND_LIMIT_EXCEEDED
        assert last.stream_end.retry_delay.seconds == 10
        error = await refused(second.read())
        assert told(error) == (errors.LimitExceeded, "streams", "1")
        assert error.details[RETRY_AFTER] == "10000"


async def test_a_stream_without_hello_is_told_why_it_ends_and_makes_room(arena):
    async with arena(streams_per_owner=1, hello_seconds=0.5) as client:
        silent = PlayCall(client.player.Play(metadata=client.metadata))
        last = await with_timeout(silent.read())
        assert last.stream_end.kind == stream_pb2.STREAM_END_KIND_LIMIT_EXCEEDED
        assert "no Hello came within 0.5 seconds" in last.stream_end.message
        error = await refused(silent.read())
        assert told(error) == (errors.LimitExceeded, "hello_seconds", "0.5")
        assert int(error.details[RETRY_AFTER]) > 0
        call, welcome = await client.stream("local/one")
        assert welcome.HasField("welcome")
        await call.done_writing()


async def test_the_time_for_hello_does_not_end_a_stream_that_said_it(arena):
    async with arena(hello_seconds=0.5) as client:
        call, welcome = await client.stream("local/one")
        assert welcome.HasField("welcome")
        await asyncio.sleep(1.0)
        await call.done_writing()
        last = await with_timeout(call.read())
        assert last.stream_end.kind == stream_pb2.STREAM_END_KIND_GOODBYE


async def test_spectators_are_limited_and_get_the_reason_in_a_last_message(arena):
    async with arena(watchers_per_owner=1) as client:
        request = games_pb2.WatchGameRequest(game_id=await client.create())
        first = client.games.WatchGame(request, metadata=client.metadata)
        assert (await first.read()).HasField("update")
        second = client.games.WatchGame(request, metadata=client.metadata)
        assert (await second.read()).stream_end.kind == stream_pb2.STREAM_END_KIND_LIMIT_EXCEEDED
        error = await refused(second.read())
        assert told(error) == (errors.LimitExceeded, "watchers_per_owner", "1")


async def eventually(attempt):
    """Try again while it is refused: games, for one, are counted afresh only once a second."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return await attempt()
        except grpc.RpcError:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)


async def test_games_that_wait_are_limited_until_one_of_them_waits_no_more(arena):
    async with arena(waiting_games_per_owner=2) as client:
        games = [await client.create() for _ in range(2)]
        error = await refused(client.create())
        assert told(error) == (errors.LimitExceeded, "waiting_games_per_owner", "2")
        await client.cancel(games[0])
        await eventually(client.create)


async def with_games(client, count):
    """So many games in which the bot has a seat."""
    games = [await client.create() for _ in range(count)]
    for each in games:
        await client.join(each)
    return games


async def next_seated(call):
    message = await with_timeout(call.read())
    assert message.WhichOneof("body") == "seated"
    return message.seated.game.game_id


async def test_a_stream_takes_up_its_games_as_fast_as_its_owner_has_processor_time(arena):
    little = {"processor_ms_per_second": 10, "processor_ms_at_once": 2}
    async with arena(processor_wait_seconds=60, **little) as client:
        games = await with_games(client, 10)
        call, welcome = await client.stream("local/one")
        assert sorted(welcome.welcome.game_ids) == sorted(games)
        before = time.monotonic()
        seated = [await next_seated(call) for _ in games]
        assert sorted(seated) == sorted(games)
        # Each costs half a millisecond at least; the last one is paid for afterwards.
        assert time.monotonic() - before >= ((len(games) - 1) * 0.5 - 2) / 10
        await call.done_writing()


async def test_a_game_that_begins_meanwhile_does_not_wait_for_those_that_are_taken_up(arena):
    little = {"processor_ms_per_second": 2, "processor_ms_at_once": 2}
    async with arena(processor_wait_seconds=600, **little) as client:
        admin = Client(client.address, "")
        admin.metadata = client.as_administrator
        await with_games(admin, 30)
        call, _ = await client.stream("local/one")
        begun = await admin.create()
        await admin.join(begun)
        seated = []
        while begun not in seated:
            seated.append(await next_seated(call))
        assert len(seated) <= 15
        await admin.channel.close()
        await call.done_writing()


async def test_games_whose_store_is_away_keep_no_others_waiting(arena, monkeypatch):
    view, seen = GameUseCases.view, Counter()

    async def away_when_followed(self, game_id):
        seen[game_id] += game_id in away
        if seen[game_id] > 1:
            raise errors.StoreUnavailable("its node is away")
        return await view(self, game_id)

    async with arena() as client:
        away = await with_games(client, 20)
        monkeypatch.setattr(GameUseCases, "view", away_when_followed)
        call, welcome = await client.stream("local/one")
        assert sorted(welcome.welcome.game_ids) == sorted(away)
        (other,) = await with_games(client, 1)
        assert await next_seated(call) == other
        monkeypatch.undo()
        assert sorted([await next_seated(call) for _ in away]) == sorted(away)
        await call.done_writing()


async def test_a_game_that_begins_before_welcome_is_told_after_it(arena, monkeypatch):
    games_of = GameUseCases.games_of

    async def slowly(self, bot):
        found = await games_of(self, bot)
        monkeypatch.undo()
        begun.append((await with_games(client, 1))[0])
        await asyncio.sleep(0.3)  # the stream is notified meanwhile
        return found

    begun = []
    async with arena() as client:
        monkeypatch.setattr(GameUseCases, "games_of", slowly)
        call, welcome = await client.stream("local/one")
        assert welcome.HasField("welcome")
        assert [await next_seated(call)] == begun
        await call.done_writing()


async def test_games_that_are_created_within_a_day_are_limited(arena):
    async with arena(games_created_per_day=2) as client:
        for _ in range(3):
            too_many = games_pb2.CreateGameRequest(ruleset="base", seats=SEATS * 5)
            with pytest.raises(grpc.RpcError):  # what is refused was not created
                await client.games.CreateGame(too_many, metadata=client.metadata, timeout=120)
        for _ in range(2):
            await client.cancel(await client.create())
        error = await refused(client.create())
        assert told(error) == (errors.LimitExceeded, "games_created_per_day", "2")
        assert 0 < int(error.details[RETRY_AFTER]) <= 24 * 3_600_000


async def test_who_fills_games_as_fast_as_they_are_created_is_not_held_up(arena):
    async with arena(waiting_games_per_owner=2) as client:
        for _ in range(8):
            game = await client.create()
            await client.join(game)
            await client.join(game, "local/two")


async def test_a_game_that_waits_too_long_is_cancelled_and_whoever_watches_is_told(arena):
    async with arena(waiting_seconds=0.3) as client:
        request = games_pb2.WatchGameRequest(game_id=await client.create())
        watching = client.games.WatchGame(request, metadata=client.metadata, timeout=120)
        [over] = [each.game_over async for each in watching if each.HasField("game_over")]
        assert over.result.end_reason == game_pb2.EndReason.END_REASON_CANCELLED


async def test_games_that_are_played_are_limited_until_one_is_over(arena):
    async with arena(games_per_owner=1) as client:
        first, second = await client.create(), await client.create()
        await client.join(first)
        await client.join(first, "local/two")
        error = await refused(client.join(second))
        assert told(error) == (errors.LimitExceeded, "games_per_owner", "1")
        await client.resign(first)
        await eventually(lambda: client.join(second))


async def test_a_seat_that_could_not_be_taken_does_not_count(arena):
    async with arena(games_per_owner=1) as client:
        full = await client.create()
        await client.join(full)
        await client.join(full, "local/two")
        await client.resign(full)
        with pytest.raises(grpc.RpcError) as over:
            await client.join(full, "local/three")
        assert isinstance(from_rpc_error(over.value), errors.GameEnded)
        await client.join(await client.create())


async def at_once(call):
    """What becomes of far more calls than are allowed: how many are answered, and the refusals.

    They are made at the same time, so that a slow machine does not spread them over seconds.
    """
    found = await asyncio.gather(*(call() for _ in range(40)), return_exceptions=True)
    refusals = [from_rpc_error(each) for each in found if isinstance(each, grpc.RpcError)]
    assert refusals, "all of them were answered"
    return len(found) - len(refusals), refusals


async def test_calls_are_limited_by_owner_and_the_error_says_how_long_to_wait(arena):
    async with arena(calls_per_second=2, calls_at_once=3) as client:
        answered, refusals = await at_once(client.who_am_i)
        assert answered >= 3
        for error in refusals:
            assert told(error) == (errors.RateLimited, "calls_per_second", "2")
        waits = [int(error.details[RETRY_AFTER]) for error in refusals]
        assert 0 < min(waits) <= max(waits) <= 501
        await asyncio.sleep(max(waits) / 1000)
        await client.who_am_i()


async def test_administrators_are_refused_by_no_quota_and_no_rate(arena):
    few = {"calls_per_second": 1, "calls_at_once": 2, "streams_per_owner": 1}
    few |= {"watchers_per_owner": 1, "games_per_owner": 1, "waiting_games_per_owner": 1}
    few |= {"calls_in_flight_per_owner": 1, "connections_per_owner": 1, "watchers_per_address": 1}
    few |= {"unread_bytes_per_owner": 1, "rules_calls_per_owner": 1, "inline_actions": 0}
    async with arena(**few, requests_per_second=1, requests_at_once=1) as client:
        client.metadata = client.as_administrator
        await asyncio.gather(*(client.who_am_i() for _ in range(20)))
        await asyncio.gather(*(client.apply_one_action() for _ in range(3)))
        games = [await client.create() for _ in range(3)]
        watching = []  # all at once
        for game_id in games:
            await client.join(game_id)
            await client.join(game_id, "local/two")
            request = games_pb2.WatchGameRequest(game_id=game_id)
            watching.append(client.games.WatchGame(request, metadata=client.metadata))
            assert (await watching[-1].read()).HasField("update")
        for bot in ("local/one", "local/two"):
            stream, welcome = await client.stream(bot)
            assert welcome.HasField("welcome")
        unanswered = {f"r{number}" for number in range(5)}
        for request_id in sorted(unanswered):
            await stream.send(request_id, resign=play_pb2.Resign(game_id=games[0]))
        while unanswered:
            answer = await with_timeout(stream.read())
            assert answer.rejected.reason != ErrorReason.ERROR_REASON_RATE_LIMITED
            unanswered.discard(answer.request_id)


async def test_anonymous_calls_are_limited_by_address_and_health_checks_are_not(arena):
    async with arena(calls_per_second=1, calls_at_once=2) as client:
        stub = rules_service_pb2_grpc.RulesServiceStub(client.channel)
        request = rules_service_pb2.ListRulesetsRequest()
        answered, refusals = await at_once(lambda: stub.ListRulesets(request, timeout=120))
        assert answered >= 2
        assert all(isinstance(error, errors.RateLimited) for error in refusals)
        health = health_pb2_grpc.HealthStub(client.channel)
        for _ in range(5):
            await health.Check(health_pb2.HealthCheckRequest(), timeout=120)
        await client.who_am_i()


async def test_requests_of_a_stream_are_limited_and_the_stream_goes_on(arena):
    async with arena(requests_per_second=1, requests_at_once=1) as client:
        call, _ = await client.stream()
        for number in range(20):  # so many that a second is too short for them all
            act = play_pb2.Act(game_id="none", decision_id=1, actions=[1])
            await call.send(str(number), act=act)
        answers = {}
        for _ in range(20):
            message = await with_timeout(call.read())
            answers[message.request_id] = message.rejected
        assert answers["0"].reason == ErrorReason.ERROR_REASON_UNKNOWN_GAME
        limited = [
            answer
            for answer in answers.values()
            if answer.reason == ErrorReason.ERROR_REASON_RATE_LIMITED
        ]
        assert limited
        assert all(answer.retry_delay.ToMilliseconds() > 0 for answer in limited)
        await call.done_writing()
        assert (await call.read()).stream_end.kind == stream_pb2.STREAM_END_KIND_GOODBYE


async def rejections_within(client, seconds):
    """How many rejections two streams get that ask for nonsense only, and the seconds it took."""
    began, count = time.monotonic(), 0
    act = play_pb2.Act(game_id="none", decision_id=1, actions=[1])

    async def ask(bot):
        nonlocal count
        call, _ = await client.stream(bot)
        for number in range(NONSENSE):
            await call.send(str(number), act=act)
        for _ in range(NONSENSE):
            assert (await call.read()).HasField("rejected")
            count += 1

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(ask("local/one"), ask("local/two"))
    return count, time.monotonic() - began


NONSENSE = 30


async def test_the_streams_of_an_owner_are_read_slowly_after_many_rejections(arena):
    slots, at_once, rate = 6, 5, 4
    few = {"requests_at_work_per_owner": slots, "rejections_at_once": at_once}
    async with arena(rejections_per_second=rate, **few) as client:
        count, seconds = await rejections_within(client, 1.5)
        assert at_once <= count <= at_once + slots + rate * seconds
        assert await client.who_am_i()
    async with arena(requests_at_work_per_owner=slots) as client:
        count, _ = await rejections_within(client, PATIENCE)
        assert count == 2 * NONSENSE


async def test_actions_of_an_answer_are_limited_on_both_ways(arena):
    async with arena() as client:
        game_id = await client.create()
        await client.join(game_id)
        await client.join(game_id, "local/two")
        many = [1] * (Limits.actions + 1)
        request = games_pb2.SubmitActionsRequest(game_id=game_id, decision_id=1, actions=many)
        error = await refused(client.games.SubmitActions(request, metadata=client.metadata))
        assert told(error) == (errors.LimitExceeded, "actions", "1000")
        call, _ = await client.stream()
        act = play_pb2.Act(game_id=game_id, decision_id=1, actions=many)
        await call.send("a", act=act)
        while (message := await call.read()).request_id != "a":
            pass
        assert message.rejected.reason == ErrorReason.ERROR_REASON_LIMIT_EXCEEDED
        assert "1000" in message.rejected.message


async def test_a_long_rules_call_counts_as_several_calls(arena):
    async with arena(calls_per_second=1, calls_at_once=30, inline_actions=1_000) as client:
        stub = rules_service_pb2_grpc.RulesServiceStub(client.channel)

        async def apply(count):
            request = rules_service_pb2.ApplyActionsRequest(actions=[1] * count)
            with pytest.raises(grpc.RpcError) as raised:
                await stub.ApplyActions(request, metadata=client.metadata, timeout=PATIENCE)
            return from_rpc_error(raised.value)

        # What is not limited is told that it has no position.
        assert {type(await apply(100)) for _ in range(10)} == {errors.InvalidRequest}
        long_calls = [await apply(1_000) for _ in range(10)]
        assert type(long_calls[0]) is errors.InvalidRequest
        limited = [each for each in long_calls if isinstance(each, errors.RateLimited)]
        assert limited
        assert told(limited[0]) == (errors.RateLimited, "calls_per_second", "1")


async def test_metadata_are_limited_with_a_typed_answer_and_then_by_grpc(arena):
    async with arena() as client:
        request = accounts_pb2.WhoAmIRequest()

        async def with_bytes(count):
            more = (*client.metadata, ("x-more", "m" * count))
            return await client.accounts.WhoAmI(request, metadata=more, timeout=120)

        await with_bytes(values.MOST_METADATA_BYTES // 2)
        error = await refused(with_bytes(values.MOST_METADATA_BYTES))
        assert told(error) == (errors.MessageTooLarge, "metadata_bytes", "8192")
        error = await refused(with_bytes(2 * values.MOST_METADATA_READ))
        assert isinstance(error, errors.LimitExceeded)


async def test_a_wait_is_cut_to_the_longest(arena):
    async with arena(wait_seconds=0.2) as client:
        game_id = await client.create()
        await client.join(game_id)
        request = games_pb2.GetDecisionRequest(game_id=game_id)
        request.wait.FromSeconds(3_600)
        answer = await client.games.GetDecision(request, metadata=client.metadata, timeout=120)
        assert not answer.HasField("decision")


async def test_connections_are_limited(arena):
    async with arena(connections=2) as client:
        await client.who_am_i()
        async with (
            grpc.aio.insecure_channel(client.address, options=DEAF) as second,
            grpc.aio.insecure_channel(client.address, options=DEAF) as third,
        ):
            check = health_pb2.HealthCheckRequest()
            await health_pb2_grpc.HealthStub(second).Check(check, timeout=120)
            with pytest.raises(grpc.RpcError) as closed:
                await health_pb2_grpc.HealthStub(third).Check(check, timeout=5)
        assert closed.value.code() in {
            grpc.StatusCode.UNAVAILABLE,
            grpc.StatusCode.DEADLINE_EXCEEDED,
        }


# Clients that do not read


async def deafen(client):
    """Ask for far more than a connection holds, and read none of it.

    A client that is cut off while it still writes gets an error of grpc's own making, or waits
    for ever since nobody takes what it writes: once more.
    """
    act = play_pb2.Act(game_id="g" * 60_000, decision_id=1, actions=[1])
    for _ in range(5):
        call, first = await client.stream()
        try:
            async with asyncio.timeout(20):
                for number in range(200 if first.HasField("welcome") else 0):
                    await call.send(str(number), act=act)
        except (grpc.RpcError, TimeoutError):
            continue
        if first.HasField("welcome"):
            return call
        await asyncio.sleep(0.1)  # the place of the one before is not free yet
    raise AssertionError("no client could write all it wanted")


async def welcomed(client, bot):
    """A stream that was not refused."""
    call, first = await client.stream(bot)
    if not first.HasField("welcome"):
        await call.read()  # raises the status
    return call


async def the_rest(call):
    """What a client reads when it reads at last, and the error that ends it."""
    messages = []
    try:
        while (message := await with_timeout(call.read())) is not grpc.aio.EOF:
            messages.append(message)
    except grpc.RpcError as error:
        return messages, from_rpc_error(error)
    raise AssertionError("the stream ended as if all was well")


async def test_a_client_that_reads_too_late_is_told_in_a_last_message(arena):
    async with arena(messages_waiting=4, slow_seconds=60) as client:
        call = await deafen(client)
        messages, error = await the_rest(call)
        assert len(messages) < 200
        assert messages[-1].stream_end.kind == stream_pb2.STREAM_END_KIND_SLOW_READER
        assert told(error) == (errors.SlowReader, "messages_waiting", "4")


@pytest.mark.long
@pytest.mark.parametrize(("waiting", "limit"), [(4, "messages_waiting"), (512, "slow_seconds")])
async def test_a_client_that_never_reads_is_cut_off_and_makes_room(arena, waiting, limit):
    changed = {"messages_waiting": waiting, "slow_seconds": 8, "streams_per_owner": 1}
    async with arena(**changed) as client:
        deaf = await deafen(client)
        call = await eventually(lambda: welcomed(client, "local/two"))
        _, error = await the_rest(deaf)
        assert told(error) == (errors.SlowReader, limit, str(changed[limit]))
        await call.done_writing()


HELLO = play_pb2.ClientMessage(hello=play_pb2.Hello(protocol_version=1, bot="local/one"))


@pytest.mark.parametrize(
    ("first", "end"),
    [
        pytest.param(play_pb2.PlayRequest(messages=[HELLO]), False, id="open"),
        pytest.param(play_pb2.PlayRequest(messages=[HELLO]), True, id="closed by the client"),
        pytest.param(play_pb2.PlayRequest(), False, id="refused"),
    ],
)
async def test_a_stream_of_which_nothing_is_taken_ends_with_its_connection(arena, first, end):
    async with arena(slow_seconds=0.5, streams_per_owner=1) as client:
        secret = client.metadata[0][1].removeprefix("Bearer ")
        with closing(RawConnection(client.address, window=0)) as deaf:
            deaf.call("/himeji.v1.PlayService/Play", first.SerializeToString(), secret, end=end)
            deadline = time.monotonic() + PATIENCE
            while not deaf.is_closed():
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
        call = await eventually(lambda: welcomed(client, "local/two"))
        await call.done_writing()


async def test_a_client_that_takes_each_message_in_time_may_be_slow():
    writer = StreamWriter(Limits(slow_seconds=1.0))
    written = []

    async def write(batch):
        await asyncio.sleep(0.4)
        written.append(batch)
        if len(written) < 6:
            writer.send(play_pb2.ServerMessage())
        else:
            writer.close(StreamEnd.goodbye())

    writer.send(play_pb2.ServerMessage())
    await writer.write_all(write)
    assert [each.HasField("stream_end") for each in written[-1].messages] == [True]
    assert writer.error is None


def decision(number, first, count, game="g"):
    events = [game_pb2.Event(kind=1)] * count
    message = play_pb2.ServerMessage()
    message.decision.CopyFrom(
        game_pb2.Decision(game_id=game, decision_id=number, first_event=first, events=events)
    )
    return message


async def test_of_unread_decisions_the_newest_is_kept_with_all_that_happened():
    outbox = SendQueue(2)
    for number in range(10):
        assert outbox.put(decision(number, 3 * number, 3))
    assert outbox.put(decision(1, 0, 0, "other"))
    assert not outbox.put(play_pb2.ServerMessage(seat_lost=play_pb2.SeatLost(message="too much")))
    outbox.close(play_pb2.ServerMessage(stream_end=stream_pb2.StreamEnd()))
    [batch] = await outbox.batches()
    assert await outbox.batches() == []
    first, other, last = batch.messages
    assert (first.decision.decision_id, first.decision.first_event) == (9, 0)
    assert len(first.decision.events) == 30
    assert other.decision.game_id == "other"
    assert last.HasField("stream_end")


# Keepalive


async def ping_for(address, seconds):
    """Hold a stream open with a ping every 0.2 s; the status with which it was cut off, if so."""
    options = [
        *DEAF,
        ("grpc.keepalive_time_ms", 200),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.keepalive_permit_without_calls", 1),
    ]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        await watch.read()
        try:
            async with asyncio.timeout(seconds):
                await watch.read()
        except TimeoutError:
            return None
        except grpc.RpcError as error:
            return error.code()
        raise AssertionError("the arena's health changed")


@pytest.mark.long
async def test_a_client_that_pings_as_allowed_is_not_cut_off(arena):
    async with arena(seconds_between_pings=0.1) as client:
        assert await ping_for(client.address, 3) is None


@pytest.mark.long
async def test_a_client_that_pings_faster_than_allowed_is_cut_off(arena):
    async with arena() as client:
        assert await ping_for(client.address, 30) is grpc.StatusCode.UNAVAILABLE


def test_the_interval_that_the_page_recommends_is_allowed():
    (recommended,) = re.findall(r'"grpc.keepalive_time_ms", ([\d_]+)', PAGE)
    assert int(recommended) / 1000 >= 2 * Limits.seconds_between_pings


# Tokens that were good a moment ago


@pytest.fixture
async def store(start_redis):
    opened = await Store.connect(start_redis().url)
    yield opened
    await opened.close()


async def test_a_token_is_looked_up_once_while_it_is_cached(store):
    accounts, now = Accounts(store), [0.0]
    await accounts.prepare()
    issued = await accounts.tokens.issue_for_arena(TokenRequest(HOUSE, scopes=(1,)))
    looked = []
    accounts.tokens.verify = counted(accounts.tokens.verify, looked)
    verified = TokenCache(accounts.tokens, clock=lambda: now[0])
    for _ in range(5):
        assert (await verified.verify(issued.secret)).owner == HOUSE
    assert len(looked) == 1
    now[0] += CACHE_SECONDS
    await verified.verify(issued.secret)
    assert len(looked) == 2


def counted(function, calls):
    async def call(*arguments):
        calls.append(arguments)
        return await function(*arguments)

    return call


async def test_a_token_revoked_here_stops_at_once_and_elsewhere_when_its_cache_entry_expires(store):
    here, elsewhere, now = Accounts(store), Accounts(store), [0.0]
    await here.prepare()
    issued = await here.tokens.issue_for_arena(TokenRequest(HOUSE, scopes=(1,)))
    near, far = TokenCache(here.tokens), TokenCache(elsewhere.tokens, clock=lambda: now[0])
    for verified in (near, far):
        await verified.verify(issued.secret)
    await here.tokens.store.revoke(issued.token.token_id)
    with pytest.raises(errors.InvalidToken):
        await near.verify(issued.secret)
    now[0] += CACHE_SECONDS
    with pytest.raises(errors.InvalidToken):
        await far.verify(issued.secret)
    assert CACHE_SECONDS <= 1


async def test_an_answer_that_crosses_a_revocation_is_not_cached(store):
    accounts = Accounts(store)
    await accounts.prepare()
    issued = await accounts.tokens.issue_for_arena(TokenRequest(HOUSE, scopes=(1,)))
    verify = accounts.tokens.verify

    async def slow(secret):
        caller = await verify(secret)
        await accounts.tokens.store.revoke(issued.token.token_id)
        return caller

    accounts.tokens.verify = slow
    verified = TokenCache(accounts.tokens)
    await verified.verify(issued.secret)
    accounts.tokens.verify = verify
    with pytest.raises(errors.InvalidToken):
        await verified.verify(issued.secret)
