"""GameService over real sockets: calls, lists, replays, spectators, and refusals that help."""

import asyncio
import signal
import uuid
from dataclasses import asdict

import grpc
import pytest
import redis
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2
from himeji import rules
from himeji.v1 import (
    account_service_pb2 as accounts,
    game_service_pb2 as games,
    play_service_pb2 as play,
)
from himeji.v1.game_pb2 import (
    EndReason,
    GameState,
    SeatPlan,
    SeatPolicy,
    Want,
)
from himeji.v1.position_pb2 import OptionValue
from himeji.wire.verification import checks
from himeji_server import names, pagination
from himeji_server.accounts.accounts import Accounts
from himeji_server.games.seat_rules import may_take
from himeji_server.games.use_cases import GameFilter
from himeji_server.store import Store, game_index, keys
from structlog.testing import capture_logs

from tests.server.arena_client import (
    Follower,
    Stream,
    clock,
    connected_client,
    detail,
    in_process_arena,
    kind,
    play_by_calls,
    reason,
    reason_of,
    with_timeout,
)
from tests.server.redis_client import raw_client
from tests.server.replays import faults_of

A, B, C = "local/a", "local/b", "local/c"
OVER = GameState.GAME_STATE_OVER


@pytest.fixture
def redis_server(start_redis):
    return start_redis("--appendonly", "yes")


@pytest.fixture
async def arena(redis_server, tmp_path):
    async with in_process_arena(redis_server.url, tmp_path) as opened:
        yield opened


@pytest.fixture
def raw(redis_server):
    with raw_client(redis_server.url) as client:
        yield client


@pytest.fixture
async def bound(arena):
    """A client with a token that is bound to one bot."""
    create = accounts.CreateBotRequest(bot="local/bound")
    await arena.accounts.CreateBot(create, metadata=arena.metadata)
    scopes = [accounts.SCOPE_PLAY, accounts.SCOPE_READ]
    wish = accounts.CreateTokenRequest(owner="local", bot="local/bound", scopes=scopes)
    issued = await arena.accounts.CreateToken(wish, metadata=arena.metadata)
    async with connected_client(arena.address, issued.secret) as opened:
        yield opened


@pytest.fixture
async def house(arena, redis_server):
    """A client with the token of a bot of the house, and no manners."""
    store = await Store.connect(redis_server.url)
    issued = await Accounts(store).issue_house_token("greedy")
    await store.close()
    async with connected_client(arena.address, issued.secret) as opened:
        yield opened


async def refused(call):
    """The error of a call that must fail."""
    with pytest.raises(grpc.RpcError) as raised:
        await call
    return raised.value


async def decision_of(arena, game_id, **fields):
    return (await arena.game("GetDecision", game_id=game_id, **fields)).decision


async def submit(arena, decision, actions, **fields):
    return await arena.game(
        "SubmitActions",
        game_id=decision.game_id,
        decision_id=decision.decision_id,
        actions=actions,
        **fields,
    )


# --- whole games ------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
async def test_a_whole_game_by_calls_alone(arena, seats):
    bots = [A, B, C, "local/d"][:seats]
    game = await arena.new_game(*bots)
    ends = await asyncio.gather(
        *(
            play_by_calls(arena, game.game_id, seat, wants=[Want.WANT_POSITION] if seat else [])
            for seat in range(seats)
        )
    )
    replay = await arena.replay(game.game_id)
    assert faults_of(replay) == []
    for seat, (over, accepted) in enumerate(ends):
        assert over.result == replay.game.result
        assert over.seat == seat
        mine = {e.version for e in replay.log if e.cause == 1 and e.seat == seat}
        assert {each.version for each in accepted} == mine


@pytest.mark.parametrize("name", [name for name in rules.RULESETS if name != "base"])
async def test_every_other_ruleset_is_played_by_calls_alone(arena, name):
    seats = rules.ruleset(name).seat_counts[0]
    game = await arena.new_game(*[A, B, C, "local/d"][:seats], ruleset=name)
    ends = await asyncio.gather(
        *(
            play_by_calls(arena, game.game_id, seat, wants=[Want.WANT_POSITION])
            for seat in range(seats)
        )
    )
    replay = await arena.replay(game.game_id)
    assert faults_of(replay) == []
    clans = seats + rules.ruleset(name).has_rival
    for over, _ in ends:
        assert over.result.end_reason == EndReason.END_REASON_FINISHED
        assert [each.seat for each in over.result.seats] == list(range(clans))


@pytest.mark.parametrize("name", [n for n, each in rules.RULESETS.items() if each.has_rival])
async def test_who_resigns_against_the_rival_ends_the_game_and_ranks_behind_it(arena, name):
    game = await arena.new_game(A, ruleset=name)
    decision = await decision_of(arena, game.game_id)
    await submit(arena, decision, [decision.legal_actions[0]])
    await arena.game("Resign", game_id=game.game_id, seat=0)
    over = (await arena.game("GetGame", game_id=game.game_id)).game
    assert over.state == OVER
    assert over.result.seats[0].end_reason == EndReason.END_REASON_RESIGNED
    assert [each.rank for each in over.result.seats] == [2, 1]
    assert faults_of(await arena.replay(game.game_id)) == []


async def test_one_bot_may_have_all_seats_and_each_answer_brings_the_next_question(arena):
    game = await arena.new_game(A, A)
    follower = Follower(game)
    decision = await decision_of(arena, game.game_id, event_count=0)
    while True:
        follower.take(decision)
        follower.check(decision)
        answer = await submit(
            arena, decision, [decision.legal_actions[0]], event_count=follower.count
        )
        if answer.HasField("game_over"):
            break
        assert answer.HasField("decision")
        decision = answer.decision
    follower.take(answer.game_over)
    assert follower.mirror.game.over
    assert faults_of(await arena.replay(game.game_id)) == []


async def test_a_retired_bot_plays_no_more_by_calls_either(arena):
    game = await arena.new_game(A, A)
    decision = await decision_of(arena, game.game_id)
    request = accounts.RetireBotRequest(bot=A)
    await arena.accounts.RetireBot(request, metadata=arena.metadata)
    error = await refused(submit(arena, decision, [decision.legal_actions[0]]))
    assert reason_of(error) == "BOT_RETIRED"
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (await decision_of(arena, game.game_id)).decision_id == decision.decision_id


# --- creating and joining ---------------------------------------------------------------------


async def test_a_game_shows_its_commitment_its_options_and_its_plans(arena):
    anyone = SeatPlan(policy=SeatPolicy.SEAT_POLICY_ANYONE)
    plans = [anyone, SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="house/greedy")]
    game = await arena.create(plans=plans, clock=clock(5_000, 100), strike_limit=7)
    assert game.state == GameState.GAME_STATE_WAITING
    assert len(game.chance.commitment) == 32
    assert not game.chance.secret
    assert (game.strike_limit, game.clock) == (7, clock(5_000, 100))
    assert [seat.plan for seat in game.seats] == plans
    assert [option.name for option in game.options] == sorted(o.name for o in game.options)
    again = (await arena.game("GetGame", game_id=game.game_id)).game
    assert again == game


async def test_a_repeated_creation_gives_the_same_game_and_another_content_is_refused(arena):
    request_id = str(uuid.uuid4())
    first = await arena.create(2, request_id=request_id)
    assert (await arena.create(2, request_id=request_id)) == first
    error = await refused(arena.create(3, request_id=request_id))
    assert reason_of(error) == "REQUEST_ID_REUSED"
    assert (await arena.create(2)).game_id != (await arena.create(2)).game_id


async def test_a_creation_that_died_before_the_game_was_stored_is_made_good_by_its_repetition(
    arena, raw, redis_server, tmp_path
):
    request_id = str(uuid.uuid4())
    async with in_process_arena(redis_server.url, tmp_path) as dying:
        first = await dying.create(2, request_id=request_id)
    raw.delete(keys.game(first.game_id))  # as if the note of the request had been all there was
    raw.delete(keys.game_index(keys.bucket_of(first.game_id)))
    again = await arena.create(2, request_id=request_id)
    assert again.game_id == first.game_id
    assert again.chance.commitment != first.chance.commitment
    await arena.join(again.game_id, A, B)
    assert (await decision_of(arena, again.game_id)).legal_actions


async def test_a_repeated_joining_gets_the_same_seat_and_an_id_is_good_for_one_joining(arena):
    game = await arena.create(3)
    request = {"request_id": "one", "game_id": game.game_id, "bot": A}
    first = await arena.game("JoinGame", **request)
    again = await arena.game("JoinGame", **request)
    assert (first.seat, again.seat) == (0, 0)
    error = await refused(arena.game("JoinGame", **(request | {"bot": B})))
    assert reason_of(error) == "REQUEST_ID_REUSED"
    assert (await arena.game("JoinGame", game_id=game.game_id, bot=B)).seat == 1


async def test_two_owners_may_choose_the_same_request_id(arena, raw):
    game = await arena.create(2)
    raw.hset(keys.game(game.game_id), "request:one", 0)  # a mark of another owner's choice
    joined = await arena.game("JoinGame", request_id="one", game_id=game.game_id, bot=A, seat=1)
    assert joined.seat == 1
    assert joined.game.seats[1].bot == A


async def test_a_seat_is_for_whom_it_is_meant(arena):
    plans = [
        SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=B),
        SeatPlan(policy=SeatPolicy.SEAT_POLICY_OWNER, name="somebody"),
        SeatPlan(policy=SeatPolicy.SEAT_POLICY_OWNER, name="local"),
    ]
    game = await arena.create(plans=plans)
    assert (await arena.game("JoinGame", game_id=game.game_id, bot=A)).seat == 2
    error = await refused(arena.game("JoinGame", game_id=game.game_id, bot=A, seat=0))
    assert error.code() is grpc.StatusCode.PERMISSION_DENIED
    assert (await arena.game("JoinGame", game_id=game.game_id, bot=B)).seat == 0
    error = await refused(arena.game("JoinGame", game_id=game.game_id, bot=A, seat=2))
    assert reason_of(error) == "SEAT_TAKEN"
    error = await refused(arena.game("JoinGame", game_id=game.game_id, bot=A, seat=9))
    assert reason_of(error) == "INVALID_REQUEST"
    error = await refused(arena.game("JoinGame", game_id=game.game_id, bot=A, entropy=b"x" * 33))
    assert reason_of(error) == "INVALID_REQUEST"
    error = await refused(arena.game("JoinGame", game_id="nowhere", bot=A))
    assert reason_of(error) == "UNKNOWN_GAME"


@pytest.mark.parametrize(
    "wish",
    [
        {"ruleset": "chess"},
        {"seats": 1},
        {"seats": 5},
        {"options": [OptionValue(name="no-such", value="x")]},
        {"untimed": True, "clock": clock(1_000)},
        {"clock": clock(0)},
        {"clock": clock(-5)},
        {"clock": clock(10**12)},
        {"clock": clock(1_000, -1)},
        {"strike_limit": -1},
        {"strike_limit": 10**6},
        {"request_id": "x" * 101},
        {"plans": [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="a b c")] * 2},
        {"plans": [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="")] * 2},
        {"plans": [SeatPlan(policy=SeatPolicy.SEAT_POLICY_OWNER, name="a/b")] * 2},
        {"plans": [SeatPlan(policy=77)] * 2},
        {"plans": [SeatPlan(name="nobody")] * 2},
    ],
    ids="-".join,
)
async def test_a_game_that_cannot_be_is_refused_and_leaves_nothing(arena, wish):
    fields = {"ruleset": "base"} | {k: v for k, v in wish.items() if k not in ("seats", "plans")}
    fields["seats"] = wish.get("plans", [SeatPlan()] * wish.get("seats", 2))
    error = await refused(arena.game("CreateGame", **fields))
    assert error.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND)
    assert reason_of(error) in ("INVALID_REQUEST", "UNKNOWN_RULESET")
    assert list((await arena.game("ListGames")).games) == []


async def test_a_notification_that_no_arena_of_ours_publishes_does_no_harm(arena, raw):
    for channel in (keys.BOT_CHANNEL, *raw.pubsub_shardchannels()):
        publish = raw.publish if channel == keys.BOT_CHANNEL else raw.spublish
        for message in ("one two three four five", "one two three", "one two", "no-game 7", ""):
            publish(channel, message)
    game = await arena.new_game(A, B)
    assert (await decision_of(arena, game.game_id)).legal_actions


async def test_a_bot_of_the_house_adds_no_entropy_even_if_it_tries_to(arena, house):
    game = await arena.create(2)
    assert game.chance.house_adds_no_entropy
    await house.game("JoinGame", game_id=game.game_id, bot="house/greedy", entropy=b"chosen")
    await arena.game("JoinGame", game_id=game.game_id, bot=A, entropy=b"mine")
    await arena.game("Resign", game_id=game.game_id)
    replay = await arena.replay(game.game_id)
    assert list(replay.game.chance.seat_entropy) == [b"", b"mine"]
    assert faults_of(replay) == []
    assert list(checks(replay))


# --- resigning and cancelling -----------------------------------------------------------------


async def test_who_created_a_game_may_call_it_off_before_it_begins(arena):
    game = await arena.create(2)
    await arena.join(game.game_id, A)
    for request_id in ("one", "one", "two", ""):  # twice is the same as once
        request = {"request_id": request_id, "game_id": game.game_id}
        over = (await arena.game("CancelGame", **request)).game
        assert over.state == OVER
        assert over.result.end_reason == EndReason.END_REASON_CANCELLED
    error = await refused(arena.join(game.game_id, A))
    assert reason_of(error) == "GAME_ENDED"
    error = await refused(arena.game("CancelGame", request_id="one", game_id="another"))
    assert reason_of(error) == "UNKNOWN_GAME"
    another = await arena.create(2)
    error = await refused(arena.game("CancelGame", request_id="one", game_id=another.game_id))
    assert reason_of(error) == "REQUEST_ID_REUSED"


async def test_nobody_else_cancels_a_game_and_nobody_one_that_has_begun(arena, raw):
    game = await arena.create(2)
    raw.hset(keys.game(game.game_id), "creator", "somebody-else")
    error = await refused(arena.game("CancelGame", game_id=game.game_id))
    assert reason_of(error) == "FORBIDDEN"
    waiting = (await arena.game("GetGame", game_id=game.game_id)).game
    assert waiting.state == GameState.GAME_STATE_WAITING

    begun = await arena.new_game(A, B)
    error = await refused(arena.game("CancelGame", game_id=begun.game_id))
    assert (error.code(), reason_of(error)) == (grpc.StatusCode.FAILED_PRECONDITION, "REFUSED")
    await arena.game("Resign", game_id=begun.game_id)
    error = await refused(arena.game("CancelGame", game_id=begun.game_id))
    assert reason_of(error) == "GAME_ENDED"


async def test_who_has_no_such_seat_gives_none_up(arena):
    game = await arena.new_game(A, B)
    error = await refused(arena.game("Resign", game_id=game.game_id, seat=7))
    assert reason_of(error) == "NOT_YOUR_DECISION"


async def test_a_token_that_is_bound_to_a_bot_gives_up_its_seats_alone(arena, bound):
    game = await arena.new_game(A, "local/bound", B)
    after = (await bound.game("Resign", game_id=game.game_id)).game
    reasons = [seat.end_reason for seat in after.seats]
    assert reasons == [0, EndReason.END_REASON_RESIGNED, 0]
    foreign = await arena.new_game(A, B)
    error = await refused(bound.game("Resign", game_id=foreign.game_id))
    assert reason_of(error) == "NOT_YOUR_DECISION"


@pytest.mark.parametrize("creator", ["local", "somebody-else"])
async def test_who_leaves_a_game_before_it_begins_leaves_their_seat_open(
    arena, bound, raw, creator
):
    game = await arena.create(3)
    raw.hset(keys.game(game.game_id), "creator", creator)
    await arena.join(game.game_id, A, "local/bound")
    for _ in range(2):  # twice is the same as once
        after = (await bound.game("Resign", game_id=game.game_id)).game
        assert after.state == GameState.GAME_STATE_WAITING
        assert [seat.bot for seat in after.seats] == [A, "", ""]
    joined = await bound.game("JoinGame", game_id=game.game_id, bot="local/bound")
    assert joined.seat == 1


async def test_who_never_had_a_seat_of_a_game_that_waits_gives_none_up(arena, bound):
    game = await arena.create(3)
    await arena.join(game.game_id, A, B)
    await arena.game("Resign", game_id=game.game_id, seat=1)
    for seat in (None, 0, 1, 2):  # seat 1 was given up, but by another bot than the token's
        error = await refused(bound.game("Resign", game_id=game.game_id, seat=seat))
        assert reason_of(error) == "NOT_YOUR_DECISION"
    error = await refused(arena.game("Resign", game_id=game.game_id, seat=2))
    assert reason_of(error) == "NOT_YOUR_DECISION"
    after = (await arena.game("Resign", game_id=game.game_id, seat=1)).game  # a retry
    assert [seat.bot for seat in after.seats] == [A, "", ""]


async def test_a_token_that_is_bound_to_a_bot_cancels_only_what_that_bot_created(arena, bound):
    meant = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="local/bound")
    for plans in ([SeatPlan(), SeatPlan()], [meant, SeatPlan()]):
        game = await arena.create(plans=plans)
        error = await refused(bound.game("CancelGame", game_id=game.game_id))
        assert (error.code(), reason_of(error)) == (grpc.StatusCode.PERMISSION_DENIED, "FORBIDDEN")
        after = (await arena.game("GetGame", game_id=game.game_id)).game
        assert after.state == GameState.GAME_STATE_WAITING
    for canceller in (bound, arena):
        game = await bound.create(2)
        assert (await canceller.game("CancelGame", game_id=game.game_id)).game.state == OVER


def noted(raw):
    """The keys of what the store keeps for bots, and of what it counts for pairs of owners."""
    patterns = ("himeji:games:*", "himeji:invitations:*", "*:inviting-games:*")
    return {key for pattern in patterns for key in raw.scan_iter(pattern)}


@pytest.mark.parametrize("end", ["played", "resigned", "cancelled", "void"])
async def test_nothing_is_noted_of_a_game_that_is_over_for_bots_that_never_open_a_stream(
    arena, raw, end
):
    meant = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=C)
    game = await arena.create(plans=[SeatPlan(), SeatPlan(), meant])
    await arena.join(game.game_id, A, B, *([C] if end != "cancelled" else []))
    third = keys.invitations if end == "cancelled" else keys.games_of
    expected = {keys.games_of(A), keys.games_of(B), third(C)}
    assert noted(raw) == {key.encode() for key in expected}
    if end == "played":
        await asyncio.gather(*(play_by_calls(arena, game.game_id, seat) for seat in range(3)))
    elif end == "void":
        raw.hset(keys.game(game.game_id), "chain", b"broken")
    else:
        way = "CancelGame" if end == "cancelled" else "Resign"
        await arena.game(way, game_id=game.game_id)
    assert (await arena.game("GetGame", game_id=game.game_id)).game.state == OVER
    assert noted(raw) == set()


# --- deciding ---------------------------------------------------------------------------------


async def test_a_wait_ends_as_soon_as_one_is_asked(arena):
    game = await arena.new_game(A, B)
    decision = await decision_of(arena, game.game_id)
    other = 1 - decision.seat
    now = await arena.game("GetDecision", game_id=game.game_id, seat=other)
    assert now.WhichOneof("outcome") is None
    assert now.version == 1
    waiting = asyncio.create_task(
        arena.game("GetDecision", game_id=game.game_id, seat=other, wait=Duration(seconds=25))
    )
    while decision.seat != other:
        await submit(arena, decision, [decision.legal_actions[0]])
        decision = await decision_of(arena, game.game_id)
    assert (await with_timeout(waiting)).decision.seat == other


async def test_a_wait_is_answered_with_nothing_when_it_is_over(arena):
    game = await arena.new_game(A, B)
    asked = (await decision_of(arena, game.game_id)).seat
    found = await arena.game(
        "GetDecision", game_id=game.game_id, seat=1 - asked, wait=Duration(nanos=200_000_000)
    )
    assert found.WhichOneof("outcome") is None


async def test_a_refused_answer_carries_what_the_stream_would_say(arena):
    game = await arena.new_game(A, A)
    decision = await decision_of(arena, game.game_id)
    illegal = next(a for a in range(500) if a not in decision.legal_actions)

    error = await refused(submit(arena, decision, [illegal]))
    rejected = detail(error, play.Rejected())
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (reason_of(error), rejected.reason) == ("ILLEGAL_ACTION", reason("ILLEGAL_ACTION"))
    assert (rejected.strikes, rejected.strike_limit, rejected.action) == (1, 3, illegal)
    assert rejected.legal_actions == decision.legal_actions

    error = await refused(submit(arena, decision, [10**6]))
    rejected = detail(error, play.Rejected())
    assert (reason_of(error), rejected.action) == ("UNKNOWN_ACTION", 10**6)
    assert rejected.legal_actions == decision.legal_actions
    assert rejected.strikes == 2

    first, second = decision.legal_actions[:2]
    accepted = (await submit(arena, decision, [first])).accepted
    again = (await submit(arena, decision, [first])).accepted
    assert again.duplicate
    again.ClearField("duplicate")
    assert again == accepted

    error = await refused(submit(arena, decision, [second]))
    standing = detail(error, play.Rejected()).standing
    assert reason_of(error) == "ALREADY_DECIDED"
    assert (list(standing.played), standing.version) == ([first], accepted.version)
    info = detail(error, error_details_pb2.ErrorInfo())
    assert info.metadata["played"] == str(first)

    stale = games.SubmitActionsRequest(
        game_id=game.game_id, decision_id=99, actions=[1], event_count=10**6
    )
    error = await refused(arena.games.SubmitActions(stale, metadata=arena.metadata))
    rejected = detail(error, play.Rejected())
    current = rejected.current
    assert not rejected.HasField("action")
    assert error.code() is grpc.StatusCode.ABORTED
    assert current == await _same(arena, current)


async def test_a_current_decision_that_is_too_large_for_a_status_is_left_out(arena):
    game = await arena.new_game(A, A)
    answer = {"game_id": game.game_id, "decision_id": 99, "actions": [1]}
    large = [Want.WANT_POSITION, Want.WANT_ACTION_TEXTS, Want.WANT_EVENT_TEXTS]
    for wants, carried in (([], True), (large, False)):
        error = await refused(arena.game("SubmitActions", **answer, event_count=0, wants=wants))
        rejected = detail(error, play.Rejected())
        assert rejected.reason == reason("STALE_DECISION")
        assert rejected.HasField("current") == carried


async def _same(arena, current):
    """The open decision by the other call, at the clock of the first."""
    found = await decision_of(arena, current.game_id, event_count=0)
    found.clocks.CopyFrom(current.clocks)
    return found


async def test_a_seat_says_for_whom_it_is_also_where_the_request_did_not(arena):
    game = await arena.create(plans=[SeatPlan(), SeatPlan()])
    assert [seat.plan.policy for seat in game.seats] == [SeatPolicy.SEAT_POLICY_ANYONE] * 2


def test_a_seat_by_a_policy_that_the_server_does_not_know_is_open_to_nobody():
    assert may_take(SeatPlan(policy=SeatPolicy.SEAT_POLICY_ANYONE), A)
    assert not may_take(SeatPlan(policy=99), A)


async def test_a_wish_that_the_server_does_not_know_is_ignored(arena):
    game = await arena.new_game(A, A)
    wished = await decision_of(arena, game.game_id, wants=[99, Want.WANT_ACTION_TEXTS])
    plain = await decision_of(arena, game.game_id, wants=[Want.WANT_ACTION_TEXTS])
    wished.clocks.CopyFrom(plain.clocks)
    assert wished == plain
    assert wished.action_texts


async def test_a_stranger_can_neither_ask_nor_answer(arena, bound):
    game = await arena.new_game(A, B)
    decision = await decision_of(arena, game.game_id)
    error = await refused(bound.game("GetDecision", game_id=game.game_id))
    assert reason_of(error) == "NOT_YOUR_DECISION"
    error = await refused(submit(bound, decision, [decision.legal_actions[0]]))
    assert reason_of(error) == "NOT_YOUR_DECISION"
    error = await refused(arena.game("SubmitActions", game_id=game.game_id, decision_id=1))
    assert reason_of(error) == "INVALID_REQUEST"


async def test_a_caller_gets_the_events_it_lacks_and_none_if_it_names_no_count(arena):
    """The same in GetDecision, SubmitActions, WatchGame and, in test_play.py, Resume."""
    game = await arena.new_game(A, A)
    everything = await decision_of(arena, game.game_id, event_count=0)
    count = len(everything.events)
    some = await decision_of(arena, game.game_id, event_count=count - 2)
    none = await decision_of(arena, game.game_id)
    assert (everything.first_event, some.first_event, none.first_event) == (0, count - 2, count)
    assert list(some.events) == list(everything.events[-2:])
    assert not none.events

    for known in (None, 0, count):
        watch = arena.watch(game.game_id, event_count=known)
        update = (await watch.read()).update
        watch.cancel()
        first = count if known is None else known
        assert (update.first_event, len(update.events)) == (first, count - first)
        assert update.HasField("position") == (known is None)

    answered = await submit(arena, none, [none.legal_actions[0]])
    assert answered.decision.first_event > count
    assert not answered.decision.events
    more = await submit(
        arena, answered.decision, [answered.decision.legal_actions[0]], event_count=count
    )
    assert more.decision.first_event == count
    assert more.decision.events

    await arena.game("Resign", game_id=game.game_id)
    over = (await arena.game("GetDecision", game_id=game.game_id)).game_over
    assert over.first_event > count
    assert not over.events


async def test_a_claim_of_more_events_than_there_are_brings_them_all(arena):
    game = await arena.new_game(A, A)
    for claim in (10**6, -4):
        decision = await decision_of(arena, game.game_id, event_count=claim)
        follower = Follower(game)
        follower.take(decision)
        follower.check(decision)
    await arena.game("Resign", game_id=game.game_id)
    for claim in (10**6, -4):
        over = (await arena.game("GetDecision", game_id=game.game_id, event_count=claim)).game_over
        assert over.first_event == 0


async def test_a_game_tells_who_is_connected(arena):
    stream = Stream(arena, A)
    await stream.open()
    game = await arena.new_game(A, B)
    for shown in (
        (await arena.game("GetGame", game_id=game.game_id)).game,
        (await arena.game("ListGames")).games[0],
    ):
        assert [seat.connected for seat in shown.seats] == [True, False]
    await stream.cut()


# --- lists ------------------------------------------------------------------------------------


async def listed(arena, page_size=0, **wanted):
    """All pages of a list, and how many there were."""
    found, token, count = [], "", 0
    while True:
        page = await arena.game("ListGames", page_size=page_size, page_token=token, **wanted)
        assert not page_size or len(page.games) <= page_size
        found += page.games
        token, count = page.next_page_token, count + 1
        if not token:
            return found, count


async def test_games_are_listed_newest_first_in_pages(arena):
    made = [(await arena.create(2)).game_id for _ in range(23)]
    for size in (0, 1, 5, 23, 100):
        found, count = await listed(arena, size)
        assert [game.game_id for game in found] == made[::-1]
        assert count >= (23 // size if 0 < size <= 23 else 1)


async def test_filters_of_a_list_must_all_hold(arena, bound):
    waiting = await arena.create(2)
    half = await arena.create(2)
    await arena.join(half.game_id, A)
    playing = await arena.new_game(A, B)
    over = await arena.new_game(B, C)
    await arena.game("Resign", game_id=over.game_id, seat=0)
    mine = [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=C)] * 2
    kept = await arena.create(plans=mine)

    async def ids(through=arena, **wanted):
        return {game.game_id for game in (await listed(through, 2, **wanted))[0]}

    everything = {game.game_id for game in (waiting, half, playing, over, kept)}
    assert await ids() == everything
    waits = {waiting.game_id, half.game_id, kept.game_id}
    assert await ids(state=GameState.GAME_STATE_WAITING) == waits
    assert await ids(state=GameState.GAME_STATE_PLAYING) == {playing.game_id}
    assert await ids(state=OVER) == {over.game_id}
    assert await ids(bot=A) == {half.game_id, playing.game_id}
    assert await ids(bot=A, state=GameState.GAME_STATE_PLAYING) == {playing.game_id}
    assert await ids(owner=names.owner_of(A)) == {half.game_id, playing.game_id, over.game_id}
    assert await ids(owner="nobody") == set()
    assert await ids(ruleset="base") == everything
    assert await ids(ruleset="chess") == set()
    assert await ids(ladder="base-2p") == set()
    assert await ids(tournament="cup") == set()
    assert await ids(joinable=True) == waits
    assert await ids(bound, joinable=True) == {waiting.game_id, half.game_id}


async def test_a_page_token_belongs_to_its_question_and_cannot_be_made_up(arena):
    for _ in range(3):
        await arena.create(2)
    token = (await arena.game("ListGames", page_size=1)).next_page_token
    error = await refused(arena.game("ListGames", page_token=token, bot=A))
    assert reason_of(error) == "INVALID_REQUEST"
    digest_of_all = [sorted(asdict(GameFilter()).items())]
    assert pagination.cursor(token, *digest_of_all)
    for place in ("", "nonsense", "+inf x", "(1 x", "00", "1" * 400):
        forged = pagination.token(place, *digest_of_all)
        if not place:
            assert len((await arena.game("ListGames", page_token=forged)).games) == 3
            continue
        error = await refused(arena.game("ListGames", page_token=forged))
        assert reason_of(error) == "INVALID_REQUEST"
    for wrong in ({"page_size": -1}, {"state": 99}):
        error = await refused(arena.game("ListGames", **wrong))
        assert reason_of(error) == "INVALID_REQUEST"


async def test_a_list_passes_by_what_was_indexed_and_is_gone(arena, raw):
    game = await arena.create(2)
    entry = game_index.term("state", "playing") + bytes(game_index.TIME_BYTES) + b"gone"
    raw.zadd(keys.game_index(3), {entry: 0})
    assert [each.game_id for each in (await listed(arena))[0]] == [game.game_id]


async def test_games_of_an_older_version_are_listed_as_soon_as_the_arena_is_open(
    redis_server, raw, tmp_path
):
    async with in_process_arena(redis_server.url, tmp_path) as before:
        game = await before.create(2)
    bucket = keys.bucket_of(game.game_id)
    raw.delete(keys.game_index(bucket))
    raw.zadd(keys.games_to_index(bucket), {game.game_id: 1})
    async with in_process_arena(redis_server.url, tmp_path) as after:
        found, _ = await listed(after, state=GameState.GAME_STATE_WAITING)
    assert [each.game_id for each in found] == [game.game_id]


# --- replays and spectators -------------------------------------------------------------------


async def test_a_replay_of_a_running_game_goes_as_far_as_the_game(arena):
    game = await arena.new_game(A, A)
    follower = Follower(game)
    decision = await decision_of(arena, game.game_id, event_count=0)
    for _ in range(12):
        follower.take(decision)
        answer = await submit(
            arena, decision, [decision.legal_actions[0]], event_count=follower.count
        )
        decision = answer.decision
    follower.take(decision)
    replay = await arena.replay(game.game_id)
    assert [entry.version for entry in replay.log] == list(range(1, 14))
    assert (replay.format, replay.game.version) == (1, 13)
    assert not replay.game.chance.secret
    assert not replay.game.chance.key
    shown = [e for e in follower.mirror.game.events_since(0) if str(e.kind) in ("roll", "draw")]
    assert len(replay.chance) == len(shown) > 0


async def read_all(call):
    found = []
    while (message := await with_timeout(call.read())) is not grpc.aio.EOF:
        found.append(message)
    return found


async def test_a_spectator_sees_the_position_and_then_everything_that_happens(arena):
    game = await arena.new_game(A, B, C)
    early = arena.watch(game.game_id, event_count=0, wants=[Want.WANT_EVENT_TEXTS])
    reading = asyncio.create_task(read_all(early))
    await asyncio.gather(*(play_by_calls(arena, game.game_id, seat) for seat in range(3)))
    messages = await reading
    assert await early.code() is grpc.StatusCode.OK
    updates = [m.update for m in messages if m.HasField("update")]
    assert not any(update.HasField("position") for update in updates)
    follower = Follower(game)
    for update in updates:
        follower.take(update)
        assert all(event.text for event in update.events)
    versions = [update.version for update in updates]
    assert versions == sorted(set(versions))
    over, last = messages[-2].game_over, messages[-1].stream_end
    follower.take(over)
    assert follower.mirror.game.over
    assert not over.HasField("seat")
    assert last.kind == kind("COMPLETE")


async def test_a_spectator_is_told_the_seats_when_something_about_them_changes(arena):
    stream = Stream(arena, A)
    await stream.open()
    game = await arena.new_game(A, B)
    watch = arena.watch(game.game_id, event_count=0)
    first = (await watch.read()).update
    assert [(seat.bot, seat.connected) for seat in first.seats] == [(A, True), (B, False)]
    assert first.seats == (await arena.game("GetGame", game_id=game.game_id)).game.seats
    decision = await decision_of(arena, game.game_id)
    await submit(arena, decision, [decision.legal_actions[0]])
    assert not (await watch.read()).update.seats
    decision = await decision_of(arena, game.game_id)
    await refused(
        submit(arena, decision, [next(a for a in range(500) if a not in decision.legal_actions)])
    )
    await submit(arena, decision, [decision.legal_actions[0]])
    strikes = [seat.strikes for seat in (await watch.read()).update.seats]
    assert strikes[decision.seat] == 1
    watch.cancel()
    await stream.cut()


async def test_a_spectator_goes_on_where_they_were(arena):
    game = await arena.new_game(A, A)
    first = arena.watch(game.game_id, event_count=0)
    update = (await first.read()).update
    first.cancel()
    follower = Follower(game)
    follower.take(update)
    decision = await decision_of(arena, game.game_id)
    await submit(arena, decision, [decision.legal_actions[0]])
    again = arena.watch(game.game_id, event_count=follower.count)
    update = (await again.read()).update
    assert not update.HasField("position")
    follower.take(update)
    await arena.game("Resign", game_id=game.game_id)
    messages = await read_all(again)
    assert messages[-2].game_over.result.end_reason == EndReason.END_REASON_OUTLASTED
    assert messages[-1].stream_end.kind == kind("COMPLETE")


async def test_a_spectator_of_a_game_that_waits_sees_it_begin_and_of_one_that_is_over_its_end(
    arena,
):
    game = await arena.create(2)
    watch = arena.watch(game.game_id)
    assert (await watch.read()).update.state == GameState.GAME_STATE_WAITING
    await arena.join(game.game_id, A, B)
    while (update := (await watch.read()).update).state != GameState.GAME_STATE_PLAYING:
        pass
    assert update.events
    await arena.game("Resign", game_id=game.game_id, seat=0)
    await read_all(watch)
    late = await read_all(arena.watch(game.game_id))
    assert [m.WhichOneof("body") for m in late] == ["update", "game_over", "stream_end"]


@pytest.mark.parametrize("state", ["begun", "waiting"])
async def test_a_spectator_whose_token_is_revoked_sees_no_more(arena, state):
    game = await (arena.new_game(A, B) if state == "begun" else arena.create())
    wish = accounts.CreateTokenRequest(owner="local", scopes=[accounts.SCOPE_READ])
    issued = await arena.accounts.CreateToken(wish, metadata=arena.metadata)
    async with connected_client(arena.address, issued.secret) as theirs:
        watching = theirs.watch(game.game_id)
        assert (await with_timeout(watching.read())).HasField("update")
        request = accounts.RevokeTokenRequest(token_id=issued.token.token_id)
        await arena.accounts.RevokeToken(request, metadata=arena.metadata)
        last = (await with_timeout(watching.read())).stream_end
        assert (last.kind, last.reason) == (kind("TOKEN_REVOKED"), reason("INVALID_TOKEN"))
        assert await watching.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_spectator_of_nothing_is_told_so(arena):
    watch = arena.watch("nowhere")
    last = (await watch.read()).stream_end
    assert (last.kind, last.reason) == (kind("REFUSED"), reason("UNKNOWN_GAME"))
    assert await watch.code() is grpc.StatusCode.NOT_FOUND


# --- the store goes away ----------------------------------------------------------------------


async def test_without_its_store_every_call_says_when_to_come_again_and_later_is_answered(
    arena, redis_server
):
    game = await arena.new_game(A, A)
    decision = await decision_of(arena, game.game_id)
    watch = arena.watch(game.game_id)
    await watch.read()
    calls = {
        "CreateGame": {"ruleset": "base", "seats": [SeatPlan()] * 2, "request_id": "later"},
        "JoinGame": {"game_id": game.game_id, "bot": A},
        "GetDecision": {"game_id": game.game_id, "wait": Duration(seconds=20)},
        "SubmitActions": {
            "game_id": game.game_id,
            "decision_id": decision.decision_id,
            "actions": [decision.legal_actions[0]],
        },
        "GetGame": {"game_id": game.game_id},
        "ListGames": {},
        "GetReplay": {"game_id": game.game_id},
    }
    redis_server.kill()
    for method, fields in calls.items():
        error = await refused(arena.game(method, **fields))
        assert error.code() is grpc.StatusCode.UNAVAILABLE, method
        assert reason_of(error) == "STORE_UNAVAILABLE"
        assert detail(error, error_details_pb2.RetryInfo()).retry_delay.ToMilliseconds() > 0
    last = await watch.read()
    assert await watch.code() is grpc.StatusCode.UNAVAILABLE
    assert last.stream_end.kind == kind("UNAVAILABLE")
    assert last.stream_end.HasField("retry_delay")
    redis_server.start()
    answer = await arena.game("SubmitActions", **calls["SubmitActions"])
    assert answer.accepted.version == decision.decision_id + 1
    assert (await arena.game("CreateGame", **calls["CreateGame"])).game.game_id


def cannot_save(raw, short_folder):
    in_the_way = short_folder / raw.config_get("dbfilename")["dbfilename"]
    in_the_way.mkdir()
    raw.config_set("save", "3600 1")
    raw.bgsave()
    return in_the_way


def can_save(raw, short_folder):
    (short_folder / raw.config_get("dbfilename")["dbfilename"]).rmdir()
    raw.bgsave()


IMPAIRMENTS = {
    "it is a replica": (
        lambda raw, _: raw.replicaof("127.0.0.1", 1),
        lambda raw, _: raw.replicaof("NO", "ONE"),
    ),
    "its memory is full": (
        lambda raw, _: raw.config_set("maxmemory", 1),
        lambda raw, _: raw.config_set("maxmemory", 0),
    ),
    "it misses replicas": (
        lambda raw, _: raw.config_set("min-replicas-to-write", 1),
        lambda raw, _: raw.config_set("min-replicas-to-write", 0),
    ),
    "it cannot save": (cannot_save, can_save),
}
"""Ways in which a Redis comes to answer and yet take no writes, and how each is mended."""


def takes_writes(raw):
    try:
        return raw.set("test", "")
    except redis.ResponseError:
        return False


@pytest.mark.parametrize("why", IMPAIRMENTS)
@pytest.mark.one_redis("needs a Redis with settings of its own")
async def test_a_store_that_takes_no_writes_is_unavailable_and_the_log_says_why_once(
    arena, raw, short_folder, wait_until, why
):
    impair, mend = IMPAIRMENTS[why]
    game = await arena.new_game(A, A)
    stream = Stream(arena, A)
    await stream.open()
    decision = await stream.asked()
    action = decision.legal_actions[0]
    new = {"ruleset": "base", "seats": [SeatPlan()] * 2}
    with capture_logs() as logged:
        impair(raw, short_folder)
        await asyncio.to_thread(wait_until, lambda: not takes_writes(raw), "no write is taken")
        for _ in range(2):
            for call in (submit(arena, decision, [action]), arena.game("CreateGame", **new)):
                error = await refused(call)
                assert error.code() is grpc.StatusCode.UNAVAILABLE
                assert reason_of(error) == "STORE_UNAVAILABLE"
                assert detail(error, error_details_pb2.RetryInfo()).HasField("retry_delay")
                assert why not in error.details()
            await stream.act(decision, [action], "act")
            rejected = (await stream.answer("act")).rejected
            assert rejected.reason == reason("STORE_UNAVAILABLE")
            assert rejected.HasField("retry_delay")
        assert (await arena.game("GetGame", game_id=game.game_id)).game.version == game.version
        mend(raw, short_folder)
        await asyncio.to_thread(wait_until, lambda: takes_writes(raw), "writes are taken")
    errors = [line for line in logged if line["log_level"] == "error"]
    assert [line["event"] for line in errors] == ["store cannot do its work"]
    assert why in errors[0]["why"]
    await stream.act(decision, [action], "again")
    assert (await stream.answer("again")).accepted.played == [action]
    await stream.cut()


@pytest.mark.long
async def test_a_store_that_hangs_keeps_nobody_past_their_deadline(arena, redis_server):
    game = await arena.new_game(A, A)
    redis_server.send_signal(signal.SIGSTOP)
    try:
        crowd = [refused(arena.game("GetGame", game_id=game.game_id)) for _ in range(40)]
        errors = await asyncio.gather(*crowd)
    finally:
        redis_server.send_signal(signal.SIGCONT)
    for error in errors:
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert detail(error, error_details_pb2.RetryInfo()).retry_delay.ToMilliseconds() > 0
    assert (await arena.game("GetGame", game_id=game.game_id)).game.version == 1
