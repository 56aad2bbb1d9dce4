"""Invitations: a bot is seated where others name it, as far as it wants, and nobody is used up."""

import asyncio
from dataclasses import replace

import grpc
import pytest
from google.rpc import error_details_pb2
from himeji.v1.game_pb2 import GameState, SeatPlan, SeatPolicy
from himeji_server.accounts.accounts import Accounts
from himeji_server.limits import Limits
from himeji_server.play import session
from himeji_server.store import Store, keys, quotas
from himeji_server.store.game_records import Creator
from himeji_server.store.game_sets import AddStatus
from himeji_server.store.quotas import QuotaStore

from tests.server.arena_client import Stream, connected_client, detail, kind, reason_of
from tests.server.ladder_arena import ladder_arena
from tests.server.redis_client import raw_client

LIMIT = 3
LIMITS = replace(Limits(), inviting_games_per_pair=LIMIT, games_per_owner=8)


@pytest.fixture
def redis_server(start_redis):
    return start_redis("--appendonly", "yes")


@pytest.fixture
async def arena(redis_server, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)  # streams look for lost news often
    async with ladder_arena(redis_server.url, tmp_path, limits=LIMITS) as opened:
        yield opened


@pytest.fixture
def raw(redis_server):
    with raw_client(redis_server.url) as client:
        yield client


def seat_for(bot):
    return SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=bot)


async def invite(client, bot, **fields):
    """Create a game for a bot and for whoever joins; its id."""
    return (await client.create(plans=[seat_for(bot), SeatPlan()], **fields)).game_id


async def refused(call):
    """The limit that a call exceeds, and its value."""
    with pytest.raises(grpc.RpcError) as raised:
        await call
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason_of(raised.value) == "LIMIT_EXCEEDED"
    info = detail(raised.value, error_details_pb2.ErrorInfo())
    return info.metadata["limit"], info.metadata["allowed"]


REFUSAL = ("inviting_games_per_pair", str(LIMIT))


async def seated_in(stream, count):
    """The games of the next so many seats."""
    return {(await stream.until("seated")).seated.game.game_id for _ in range(count)}


async def bots_in(client, game_id):
    game = (await client.game("GetGame", game_id=game_id)).game
    return [seat.bot for seat in game.seats]


async def settle():
    """Let the streams look for invitations several times."""
    await asyncio.sleep(0.5)


# --- how many ---------------------------------------------------------------------------------


async def test_invitations_of_one_owner_do_not_use_up_the_games_of_another(arena):
    eve, ada = await arena.owner("eve"), await arena.owner("ada")
    victim = await arena.owner("vic", "bot", "own")
    stream = await victim.stream("bot", accept_invitations=True)
    for _ in range(LIMIT):
        await eve.join(await invite(eve, "vic/bot"), "eve/bot")
    assert len(await seated_in(stream, LIMIT)) == LIMIT
    for _ in range(3):
        assert await refused(invite(eve, "vic/bot")) == REFUSAL
    assert await refused(invite(eve, "vic/own")) == REFUSAL  # the pair of owners counts
    assert await refused(eve.create(plans=[seat_for("vic/own")] * 2)) == REFUSAL

    own = await victim.create(2)
    await victim.join(own.game_id, "vic/own")
    wanted = await invite(ada, "vic/bot")
    assert await seated_in(stream, 1) == {wanted}


async def test_requests_at_the_same_moment_do_not_slip_through(arena):
    eve = await arena.owner("eve")
    await arena.owner("vic")
    for _ in range(3):
        tries = [invite(eve, "vic/bot") for _ in range(10 * LIMIT)]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        created = [each for each in outcomes if isinstance(each, str)]
        assert len(created) == LIMIT
        for game_id in created:
            await eve.game("CancelGame", game_id=game_id)
    found = (await eve.game("ListGames", state=GameState.GAME_STATE_WAITING)).games
    assert list(found) == []


async def test_a_game_that_is_about_to_be_created_is_counted_but_not_for_ever(redis_server, raw):
    store = await Store.connect(redis_server.url)
    quota = quotas.inviting(Creator("eve"), "vic")
    assert await QuotaStore(store).add(quota, "one", 1) is AddStatus.ADDED
    assert await QuotaStore(store).add(quota, "one", 1) is AddStatus.PRESENT
    assert await QuotaStore(store).add(quota, "two", 1) is AddStatus.FULL
    raw.zadd(quota.key, {"one": 1})  # long ago, and the request that added it has failed
    assert await QuotaStore(store).add(quota, "two", 1) is AddStatus.ADDED
    assert raw.zrange(quota.key, 0, -1) == [b"two"]
    await store.close()


async def test_a_game_that_is_over_makes_room_for_another(arena, raw):
    eve, victim = await arena.owner("eve"), await arena.owner("vic")
    games = [await invite(eve, "vic/bot") for _ in range(LIMIT)]
    await eve.game("CancelGame", game_id=games[0])
    games[0] = await invite(eve, "vic/bot")
    assert await refused(invite(eve, "vic/bot")) == REFUSAL
    await victim.join(games[1], "vic/bot")
    await eve.join(games[1], "eve/bot")
    assert await refused(invite(eve, "vic/bot")) == REFUSAL  # it is being played
    await victim.game("Resign", game_id=games[1])
    games[1] = await invite(eve, "vic/bot")
    for game_id in games:
        await eve.game("CancelGame", game_id=game_id)
    assert [*raw.scan_iter("*:inviting-games:*"), *raw.scan_iter("himeji:invitations:*")] == []


async def test_what_is_refused_is_not_counted_and_a_retry_is_not_refused(arena, raw):
    eve = await arena.owner("eve")
    for _ in range(LIMIT):
        wrong = {"ruleset": "base", "seats": [seat_for("vic/bot")] * 9}
        with pytest.raises(grpc.RpcError) as raised:
            await eve.game("CreateGame", **wrong)
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    games = [await invite(eve, "vic/bot", request_id=f"{n}") for n in range(LIMIT)]
    assert await refused(invite(eve, "vic/bot", request_id="more")) == REFUSAL
    assert raw.zcard(keys.waiting_games("eve")) == LIMIT
    assert [await invite(eve, "vic/bot", request_id=f"{n}") for n in range(LIMIT)] == games
    await eve.game("CancelGame", game_id=games[0])
    await invite(eve, "vic/bot")
    assert await invite(eve, "vic/bot", request_id="0") == games[0]  # though it counts no more
    # Two owners are invited, and the refusal for one of them leaves the other as it was.
    assert await refused(eve.create(plans=[seat_for("ada/bot"), seat_for("vic/bot")])) == REFUSAL
    assert not raw.exists(keys.inviting_games("eve", "ada"))


async def test_own_bots_and_those_of_the_house_may_be_invited_more_often(arena):
    eve = await arena.owner("eve")
    for bot in ("eve/bot", "house/greedy"):
        for _ in range(LIMIT + 1):
            await invite(eve, bot)


# --- which ------------------------------------------------------------------------------------


async def test_an_untimed_game_of_another_owner_is_not_forced_on_a_bot(arena):
    eve, victim = await arena.owner("eve"), await arena.owner("vic", "bot", "own")
    stream = await victim.stream("bot", accept_invitations=True)
    foreign = await invite(eve, "vic/bot", untimed=True)
    own = await invite(victim, "vic/bot", untimed=True)
    assert await seated_in(stream, 1) == {own}
    await settle()
    assert await bots_in(eve, foreign) == ["", ""]
    await victim.join(foreign, "vic/bot")  # nobody else decides it
    assert await seated_in(stream, 1) == {foreign}


async def test_a_bot_of_the_house_takes_untimed_games_too(arena, redis_server):
    eve = await arena.owner("eve")
    store = await Store.connect(redis_server.url)
    issued = await Accounts(store).issue_house_token("greedy")
    await store.close()
    async with connected_client(arena.addresses[0], issued.secret) as house:
        stream = Stream(house, "house/greedy", accept_invitations=True)
        await stream.open()
        untimed = await invite(eve, "house/greedy", untimed=True)
        assert await seated_in(stream, 1) == {untimed}
        await stream.cut()


async def test_a_bot_can_say_from_whom_it_takes_invitations(arena):
    eve, ada = await arena.owner("eve"), await arena.owner("ada")
    victim = await arena.owner("vic")
    stream = await victim.stream("bot", accept_invitations=True, invitations_from=["ada"])
    unwanted = await invite(eve, "vic/bot")
    wanted = {await invite(ada, "vic/bot"), await invite(victim, "vic/bot")}
    assert await seated_in(stream, 2) == wanted
    await settle()
    assert await bots_in(eve, unwanted) == ["", ""]
    await stream.goodbye()
    stream = await victim.stream("bot", accept_invitations=True)
    assert unwanted in await seated_in(stream, 3)  # it still stands


@pytest.mark.parametrize(
    ("owners", "end"),
    [(["not an owner"], "PROTOCOL_ERROR"), (["ada"] * 101, "LIMIT_EXCEEDED")],
)
async def test_owners_that_cannot_be_are_refused(arena, owners, end):
    victim = await arena.owner("vic")
    stream = Stream(victim, "vic/bot", accept_invitations=True, invitations_from=owners)
    await stream.send("hello", hello=stream._hello)
    assert (await stream.ended())[0].kind == kind(end)


# --- invitations that wait --------------------------------------------------------------------


async def test_invitations_of_one_owner_do_not_crowd_out_those_of_another(arena):
    eve, ada = await arena.owner("eve"), await arena.owner("ada")
    victim = await arena.owner("vic")
    crowd = {await invite(eve, "vic/bot") for _ in range(LIMIT)}
    assert await refused(invite(eve, "vic/bot")) == REFUSAL
    wanted = await invite(ada, "vic/bot")
    stream = await victim.stream("bot", accept_invitations=True)
    assert await seated_in(stream, LIMIT + 1) == crowd | {wanted}


async def test_so_many_invitations_are_kept_for_a_bot_that_is_away(redis_server, tmp_path, raw):
    limits = replace(Limits(), invitations_per_bot=2)
    async with ladder_arena(redis_server.url, tmp_path, limits=limits) as arena:
        eve, victim = await arena.owner("eve"), await arena.owner("vic")
        games = [await invite(eve, "vic/bot") for _ in range(3)]
        assert raw.zcard(keys.invitations("vic/bot")) == 2
        stream = await victim.stream("bot", accept_invitations=True)
        assert await seated_in(stream, 2) == set(games[:2])
        now = await invite(eve, "vic/bot")
        assert await seated_in(stream, 1) == {now}


async def test_who_gave_a_seat_up_is_not_seated_again_after_a_reconnect(arena):
    eve, victim = await arena.owner("eve"), await arena.owner("vic")
    stream = await victim.stream("bot", accept_invitations=True)
    game_id = await invite(eve, "vic/bot")
    assert await seated_in(stream, 1) == {game_id}
    await victim.game("Resign", game_id=game_id)
    await stream.goodbye()
    await victim.stream("bot", accept_invitations=True)
    await settle()
    assert await bots_in(eve, game_id) == ["", ""]


async def test_an_invitation_to_a_game_that_is_gone_is_forgotten(arena, raw, wait_until):
    eve, victim = await arena.owner("eve"), await arena.owner("vic")
    over = await invite(eve, "vic/bot")
    await eve.game("CancelGame", game_id=over)
    # As a process leaves it that dies before it tidies up.
    raw.zadd(keys.invitations("vic/bot"), {over: 1, "nowhere": 2})
    await victim.stream("bot", accept_invitations=True)
    await asyncio.to_thread(
        wait_until, lambda: not raw.exists(keys.invitations("vic/bot")), "forgotten"
    )
