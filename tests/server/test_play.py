"""The stream over real sockets: whole games, lost connections, and every way it can end."""

import asyncio
import random
import signal
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from himeji.v1 import account_service_pb2 as accounts, play_service_pb2 as play
from himeji.v1.game_pb2 import EndReason, GameState, SeatPlan, SeatPolicy, StopReason, Want
from himeji.wire.positions import to_position
from himeji_server.games import notifications
from himeji_server.play import session, stream_writer
from himeji_server.store import Store, keys, presence
from himeji_server.store.notifications import BotNotification, BotNotificationKind, publish

from tests.server.arena_client import (
    PATIENCE,
    Bot,
    Follower,
    Stream,
    clock,
    connected_client,
    in_process_arena,
    kind,
    local_secret,
    play_by_calls,
    reason,
    reason_of,
    with_timeout,
)
from tests.server.redis_client import raw_client
from tests.server.replays import faults_of

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
A_WHILE = Duration(seconds=25)
LEAVE = play.ClientMessage(leave=play.Leave())
A, B, C, D = BOTS = ("local/a", "local/b", "local/c", "local/d")
HELLO = play.ClientMessage(hello=play.Hello(protocol_version=1, bot=A))


@pytest.fixture
def redis_server(start_redis):
    return start_redis(*DURABLE)


@pytest.fixture
async def open_arena(redis_server, tmp_path):
    """Opens arenas in this process, each with sockets of its own, on one Redis."""
    async with AsyncExitStack() as stack:

        async def start():
            return await stack.enter_async_context(in_process_arena(redis_server.url, tmp_path))

        yield start


@pytest.fixture
async def arena(open_arena):
    return await open_arena()


@pytest.fixture
async def other(open_arena):
    return await open_arena()


@pytest.fixture
def raw(redis_server):
    with raw_client(redis_server.url) as client:
        yield client


@asynccontextmanager
async def streams(*doors, bots=BOTS, **hello):
    """Open streams, bot by bot through the doors in turn."""
    opened = []
    try:
        for number, bot in enumerate(bots):
            stream = Stream(doors[number % len(doors)], bot, **hello)
            await stream.open()
            opened.append(stream)
        yield opened
    finally:
        for stream in opened:
            await stream.cut()


async def verified(arena, game_id):
    replay = await arena.replay(game_id)
    assert faults_of(replay) == []
    return replay


async def asked(*opened):
    """Which of the streams is asked first, the decision, and the others."""
    tasks = {asyncio.create_task(stream.asked()): stream for stream in opened}
    done, waiting = await asyncio.wait(tasks, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    [task] = done
    return tasks[task], task.result(), [tasks[each] for each in waiting]


# --- whole games ------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("wants", [(), (Want.WANT_POSITION, Want.WANT_ACTION_TEXTS)], ids=len)
async def test_a_whole_game_by_streams_whose_events_rebuild_every_position(arena, seats, wants):
    bots = BOTS[:seats]
    async with streams(arena, bots=bots, wants=wants) as opened:
        game = await arena.new_game(*bots)
        players = [Bot(stream) for stream in opened]
        await asyncio.gather(*(player.play() for player in players))
        replay = await verified(arena, game.game_id)
        for player in players:
            over = player.over[game.game_id]
            assert over.result == replay.game.result
            assert over.chance == replay.game.chance
            assert player.followers[game.game_id].mirror.game.over
        answered = {a.version for player in players for a in player.accepted}
        assert answered == {entry.version for entry in replay.log if entry.cause == 1}


async def test_many_games_share_one_stream(arena):
    async with streams(arena, bots=(A, B)) as opened:
        players = [Bot(stream) for stream in opened]
        made = [(await arena.new_game(A, B)).game_id for _ in range(5)]
        await asyncio.gather(*(player.play(5) for player in players))
        assert set(players[0].over) == set(made)
        for game_id in made:
            await verified(arena, game_id)


async def test_one_batch_answers_for_many_games(arena):
    async with streams(arena, bots=[A]) as [stream]:
        made = {(await arena.new_game(A, A)).game_id for _ in range(5)}
        batch = [
            play.ClientMessage(
                request_id=each.game_id,
                act=play.Act(
                    game_id=each.game_id,
                    decision_id=each.decision_id,
                    actions=each.legal_actions[-1:],
                ),
            )
            for each in [await stream.asked() for _ in made]
        ]
        await stream.call.write(play.PlayRequest(messages=batch))
        for game_id in made:
            assert (await stream.answer(game_id)).accepted.game_id == game_id


async def test_stream_and_calls_are_two_doors_to_one_game(arena, other):
    async with streams(arena, bots=(A,)) as [stream]:
        game = await arena.new_game(A, B, B)
        over, *rest = await asyncio.gather(
            Bot(stream).play(),
            play_by_calls(other, game.game_id, 1, wants=[Want.WANT_POSITION]),
            play_by_calls(arena, game.game_id, 2),
        )
        for by_calls, accepted in rest:
            assert by_calls.result == over[game.game_id].result
            assert accepted
        await verified(arena, game.game_id)


async def test_one_seat_may_go_in_and_out_by_both_doors(arena):
    async with streams(arena, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        players = [Bot(stream) for stream in opened]

        async def by_calls(decision):
            """Answer by a call instead, and every other time act on the next decision, too."""
            player.decisions += 1
            player.learn(decision)
            await arena.game(
                "SubmitActions",
                game_id=decision.game_id,
                decision_id=decision.decision_id,
                actions=[player.random.choice(decision.legal_actions)],
            )

        player = players[0]
        by_stream = player.decide
        deciders = [by_stream, by_calls]

        async def alternately(decision):
            await deciders[player.decisions % 2](decision)

        player.decide = alternately
        await asyncio.gather(*(each.play() for each in players))
        await verified(arena, game.game_id)


async def test_the_seats_of_one_game_may_be_at_different_processes(start_arena, redis_server):
    running = [start_arena("--port", "0", "--redis", redis_server.url) for _ in range(2)]
    secret = local_secret(_data_of(*running))
    async with (
        connected_client(running[0].address, secret) as one,
        connected_client(running[1].address, secret) as two,
        streams(one, two, bots=(A, B, C, D)) as opened,
    ):
        game = await two.new_game(A, B, C, D)
        await asyncio.gather(*(Bot(stream).play() for stream in opened))
        await verified(one, game.game_id)


def _data_of(*arenas):
    """Wait until the arenas are open; the folder that they share."""
    [folder] = {arena.opened().facts["token"].removesuffix("/token") for arena in arenas}
    return folder


# --- losing the connection --------------------------------------------------------------------


class Fickle(Bot):
    """Breaks its stream at every decision, sometimes before it answers and sometimes after."""

    def __init__(self, doors, bot):
        self.doors, self.bot, self.cuts = doors, bot, 0
        self.open_acts = {}
        super().__init__(Stream(doors[0], bot))

    async def decide(self, decision):
        follower = self.learn(decision)
        actions = self.open_acts.setdefault(
            decision.decision_id, [self.random.choice(decision.legal_actions)]
        )
        self.cuts += 1
        manner = self.cuts % 4
        if manner in (1, 2):
            await self.stream.act(decision, actions)
        if manner == 2:
            await self.stream.until("accepted")
        await self.stream.cut()
        known = play.Resume(game_id=decision.game_id, event_count=follower.count)
        if manner == 3:  # everything was forgotten: the position comes along
            known.ClearField("event_count")
        self.stream = Stream(self.doors[self.cuts % len(self.doors)], self.bot, resume=[known])
        welcome = await self.stream.open()
        assert decision.game_id in welcome.game_ids or manner in (1, 2)
        if manner == 3:
            again = await self.stream.asked()
            assert again.position == to_position(follower.mirror.game)
            assert (again.first_event, len(again.events)) == (follower.count, 0)
        await self.stream.act(decision, actions, "again")
        accepted = (await self.stream.answer("again")).accepted
        assert list(accepted.played) == actions
        assert accepted.duplicate or manner != 2
        self.accepted.append(accepted)


async def test_a_bot_that_reconnects_at_every_decision_loses_nothing(arena, other):
    async with streams(arena, bots=(B,)) as [steady]:
        fickle = Fickle([arena, other], A)
        await fickle.stream.open()
        game = await arena.new_game(A, B)
        async with asyncio.timeout(2 * PATIENCE):
            await asyncio.gather(play_fickle(fickle, game), Bot(steady).play())
        replay = await verified(arena, game.game_id)
        assert fickle.cuts > 20
        mine = {entry.version for entry in replay.log if entry.cause == 1 and entry.seat == 0}
        assert {accepted.version for accepted in fickle.accepted} == mine
        await fickle.stream.cut()


async def play_fickle(fickle, game):
    fickle.seated(game)
    while game.game_id not in fickle.over:
        message = await fickle.stream.next()
        assert message is not None, fickle.stream.seen[-1:]
        body = message.WhichOneof("body")
        if body == "decision" and message.decision.decision_id in fickle.open_acts:
            fickle.followers[game.game_id].take(message.decision)  # it is answered already
            continue
        await fickle.take(message)


async def test_a_resumed_game_that_ended_sends_its_end_and_one_without_a_seat_a_refusal(arena):
    async with streams(arena, bots=(A, B)) as opened:
        over = (await arena.new_game(A, B)).game_id
        foreign = (await arena.new_game(B, C)).game_id
        await opened[1].send(resign=play.Resign(game_id=over))
        await opened[0].until("game_over")
    resume = [play.Resume(game_id=name) for name in (over, foreign, "nowhere")]
    stream = Stream(arena, A, resume=resume)
    welcome = await stream.open()
    assert welcome.game_ids == []
    told = {}
    while len(told) < 3:
        message = await stream.next()
        body = message.WhichOneof("body")
        told[getattr(message, body).game_id] = message
    assert told[over].game_over.chance.key
    assert told[foreign].rejected.reason == reason("NOT_YOUR_DECISION")
    assert told["nowhere"].rejected.reason == reason("UNKNOWN_GAME")
    assert (await stream.goodbye())[1] is grpc.StatusCode.OK


async def test_a_game_that_one_only_tried_to_join_is_not_ones_own(arena):
    game = await arena.new_game(A, B)
    with pytest.raises(grpc.RpcError) as refused:
        await arena.join(game.game_id, C)
    assert reason_of(refused.value) == "SEAT_TAKEN"
    stream = Stream(arena, C)
    assert (await stream.open()).game_ids == []
    await stream.cut()


async def test_a_client_that_claims_more_events_than_there_are_gets_all(arena):
    game = await arena.new_game(A, A)
    for claim in (10_000, -3):
        resume = [play.Resume(game_id=game.game_id, event_count=claim)]
        stream = Stream(arena, A, resume=resume)
        await stream.open()
        decision = await stream.asked()
        follower = Follower(game)
        follower.take(decision)
        follower.check(decision)
        await stream.cut()


# --- answers ----------------------------------------------------------------------------------


async def test_the_same_act_again_gets_the_same_receipt(arena):
    async with streams(arena, bots=(A, B)) as opened:
        await arena.new_game(A, B)
        stream, decision, _ = await asked(*opened)
        action = [decision.legal_actions[0]]
        for name in ("first", "second", "third"):
            await stream.act(decision, action, name)
        got = {}
        while len(got) < 3:
            message = await stream.next()
            if message.request_id:
                got[message.request_id] = message.accepted
        assert [got[name].duplicate for name in ("first", "second", "third")].count(False) == 1
        for accepted in got.values():
            accepted.ClearField("duplicate")
        assert got["first"] == got["second"] == got["third"]


async def test_another_act_for_the_same_decision_is_told_what_stands(arena):
    async with streams(arena, bots=(A, B)) as opened:
        await arena.new_game(A, B)
        stream, decision, _ = await asked(*opened)
        first, second = decision.legal_actions[:2]
        await stream.act(decision, [first], "1")
        accepted = (await stream.answer("1")).accepted
        await stream.act(decision, [second], "2")
        rejected = (await stream.answer("2")).rejected
        assert rejected.reason == reason("ALREADY_DECIDED")
        assert rejected.standing.duplicate
        rejected.standing.ClearField("duplicate")
        assert rejected.standing == accepted
        assert rejected.decision_id == decision.decision_id


async def test_acts_that_come_in_the_wrong_order_are_stale_and_the_open_decision_comes_along(arena):
    async with streams(arena, bots=(A,)) as [stream]:
        game = await arena.new_game(A, A)
        decision = await stream.asked()
        follower = Follower(game)
        follower.take(decision)
        await stream.act(decision, [0], "early", decision_id=decision.decision_id + 7)
        rejected = (await stream.answer("early")).rejected
        assert rejected.reason == reason("STALE_DECISION")
        assert rejected.current.decision_id == decision.decision_id
        assert rejected.current.legal_actions == decision.legal_actions
        follower.take(rejected.current)
        await stream.act(decision, [decision.legal_actions[0]], "now")
        assert (await stream.answer("now")).accepted.version == decision.decision_id + 1


async def test_acts_sent_all_at_once_are_answered_all(arena):
    async with streams(arena, bots=(A,)) as [stream]:
        game = await arena.new_game(A, A)
        decision = await stream.asked()
        ids = list(range(decision.decision_id, decision.decision_id + 40))
        random.Random(4).shuffle(ids)
        for number in ids:
            await stream.act(decision, [10**6], str(number), decision_id=number)
        await stream.call.done_writing()
        end, code = await stream.ended()
        assert (end.kind, code) == (kind("GOODBYE"), grpc.StatusCode.OK)
        answered = [m.request_id for m in stream.seen if m.request_id not in ("", "hello")]
        assert sorted(answered) == sorted(map(str, ids))
        assert (await arena.game("GetGame", game_id=game.game_id)).game.version == 1


async def test_a_planned_turn_is_played_as_far_as_it_goes_and_its_receipt_stays_the_same(
    arena, other
):
    async with streams(arena, bots=(A,)) as [stream]:
        game = await arena.new_game(A, A)
        follower, stops = Follower(game), set()
        chooser = random.Random(11)
        while len(stops) < 4:
            decision = await stream.asked()
            follower.take(decision)
            twin, plan = follower.mirror.game.clone(), []
            while len(plan) < chooser.randint(1, 5) and twin.to_move == decision.seat:
                plan.append(chooser.choice(twin.legal()))
                twin.apply(plan[-1])
            if chooser.random() < 0.3:
                illegal = next((a for a in range(500) if a not in twin.legal()), 0)
                plan.append(chooser.choice([illegal, 10**6]))
            await stream.act(decision, plan, "plan")
            accepted = (await stream.answer("plan")).accepted
            assert list(accepted.played) == plan[: len(accepted.played)]
            assert accepted.version == decision.decision_id + 1
            stop = StopReason.Name(accepted.stop)
            assert (len(accepted.played) == len(plan)) == (stop == "STOP_REASON_ALL_PLAYED")
            assert bool(accepted.message) == (stop == "STOP_REASON_ILLEGAL_ACTION")
            act = {"decision_id": decision.decision_id, "actions": plan}
            again = (await other.game("SubmitActions", game_id=game.game_id, **act)).accepted
            assert again.duplicate
            again.duplicate = False
            assert again == accepted
            stops.add(stop)
            if twin.over:
                game = await arena.new_game(A, A)
                follower = Follower(game)


async def test_every_receipt_says_what_the_clock_says(arena):
    async with streams(arena, bots=(A, B)) as opened:
        game = await arena.new_game(A, B, clock=clock(90_000, 500))
        players = [Bot(stream) for stream in opened]
        await asyncio.gather(*(player.play() for player in players))
        replay = await verified(arena, game.game_id)
        charged = {e.version: e.charged.ToMilliseconds() for e in replay.log}
        for player in players:
            left = 90_000
            for accepted in player.accepted:
                receipt = accepted.receipt
                assert receipt.charged.ToMilliseconds() == charged[accepted.version]
                assert receipt.added.ToMilliseconds() == 500
                left += 500 - receipt.charged.ToMilliseconds()
                assert receipt.left.ToMilliseconds() == left


async def test_an_untimed_game_says_nothing_of_time(arena):
    async with streams(arena, bots=(A,)) as [stream]:
        await arena.new_game(A, A, untimed=True)
        decision = await stream.asked()
        assert not decision.HasField("clocks")
        await stream.act(decision, [decision.legal_actions[0]], "1")
        assert not (await stream.answer("1")).accepted.HasField("receipt")


# --- refusals ---------------------------------------------------------------------------------


async def test_strikes_are_counted_aloud_and_the_last_one_ends_the_game(arena):
    async with streams(arena, bots=(A, B)) as opened:
        game = await arena.new_game(A, B, strike_limit=3)
        stream, decision, [opponent] = await asked(*opened)
        illegal, another, *_ = [a for a in range(500) if a not in decision.legal_actions]
        assert illegal == 0, "an action like any other, so it has to be there"
        wrongs = [illegal, 10**6, another]
        for number, wrong in enumerate(wrongs, start=1):
            await stream.act(decision, [wrong], str(number))
            rejected = (await stream.answer(str(number))).rejected
            if number < 3:  # as after an answer that was lost
                await stream.act(decision, [wrong], "again")
                assert (await stream.answer("again")).rejected == rejected
            expected = "UNKNOWN_ACTION" if wrong == 10**6 else "ILLEGAL_ACTION"
            assert rejected.reason == reason(expected)
            assert (rejected.strikes, rejected.strike_limit) == (number, 3)
            assert (rejected.HasField("action"), rejected.action) == (True, wrong)
            if number < 3:
                assert rejected.legal_actions == decision.legal_actions
        for each in (stream, opponent):
            over = (await each.until("game_over")).game_over
            seats = over.result.seats
            assert seats[decision.seat].end_reason == EndReason.END_REASON_STRIKES
            assert seats[1 - decision.seat].rank == 1
        await stream.act(decision, [decision.legal_actions[0]], "late")
        assert (await stream.answer("late")).rejected.reason == reason("GAME_ENDED")
        await verified(arena, game.game_id)


async def test_what_is_not_ones_own_is_refused_by_its_reason(arena):
    async with streams(arena, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        _, decision, [opponent] = await asked(*opened)
        await opponent.act(decision, [0], "1")
        assert (await opponent.answer("1")).rejected.reason == reason("NOT_YOUR_DECISION")
        await opponent.act(decision, [0], "2", game_id="nowhere")
        assert (await opponent.answer("2")).rejected.reason == reason("UNKNOWN_GAME")
        await opponent.act(decision, [], "3")
        assert (await opponent.answer("3")).rejected.reason == reason("INVALID_REQUEST")
        await opponent.send("4", ready=play.Ready(game_id=game.game_id))
        assert (await opponent.answer("4")).rejected.game_id == game.game_id
        await opponent.send("5", enter=play.Enter(ladder="base-5p"))
        refused = (await opponent.answer("5")).rejected
        assert (refused.ladder, refused.reason) == ("base-5p", reason("UNKNOWN_LADDER"))
        await opponent.send("6", resign=play.Resign(game_id="nowhere"))
        assert (await opponent.answer("6")).rejected.reason == reason("UNKNOWN_GAME")
        waiting = await arena.create(2)
        await arena.join(waiting.game_id, B)
        await opponent.act(decision, [0], "7", game_id=waiting.game_id)
        assert (await opponent.answer("7")).rejected.reason == reason("GAME_NOT_STARTED")


# --- lost seats -------------------------------------------------------------------------------


async def test_who_resigns_of_two_loses_at_once(arena):
    async with streams(arena, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        await opened[0].send("up", resign=play.Resign(game_id=game.game_id))
        lost = (await opened[0].answer("up")).seat_lost
        assert (lost.game_id, lost.seat) == (game.game_id, 0)
        assert lost.end_reason == EndReason.END_REASON_RESIGNED
        for stream in opened:
            over = (await stream.until("game_over")).game_over
            assert over.result.end_reason == EndReason.END_REASON_OUTLASTED
            assert [seat.rank for seat in over.result.seats] == [2, 1]
        await opened[0].send("up", resign=play.Resign(game_id=game.game_id))
        assert (await opened[0].answer("up")).HasField("seat_lost")


async def test_the_next_decision_comes_inside_accepted_for_those_who_want_it(arena):
    async with (
        streams(arena, bots=[A], next_decision_in_accepted=True) as [quick],
        streams(arena, bots=[B]) as [plain],
    ):
        game = await arena.new_game(A, B)
        players = [Bot(quick), Bot(plain)]
        await asyncio.gather(*(player.play() for player in players))
        inside, alone = [], []
        for message in quick.seen:
            if message.accepted.HasField("next_decision"):
                inside.append(message.accepted.next_decision.decision_id)
            elif message.WhichOneof("body") == "decision":
                alone.append(message.decision.decision_id)
        assert inside
        assert alone
        assert len({*inside, *alone}) == len(inside) + len(alone) == players[0].decisions
        assert not any(m.accepted.HasField("next_decision") for m in plain.seen)
        await verified(arena, game.game_id)


async def test_who_leaves_before_the_game_begins_is_not_seated_again_by_the_same_invitation(
    arena, monkeypatch
):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
    meant = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=A)
    async with streams(arena, bots=(A,), accept_invitations=True) as [stream]:
        game = await arena.create(plans=[meant, SeatPlan(), SeatPlan()])
        assert (await stream.until("seated")).seated.game.game_id == game.game_id
        for number in ("1", "2"):
            await stream.send(number, resign=play.Resign(game_id=game.game_id))
            lost = (await stream.answer(number)).seat_lost
            assert (lost.game_id, lost.seat) == (game.game_id, 0)
            assert lost.end_reason == EndReason.END_REASON_RESIGNED
        await arena.join(game.game_id, B)
        await asyncio.sleep(0.5)  # the stream looks several times
        seats = (await arena.game("GetGame", game_id=game.game_id)).game.seats
        assert [seat.bot for seat in seats] == ["", B, ""]
        assert (await stream.goodbye())[0].kind == kind("GOODBYE")
        assert not any(message.HasField("game_over") for message in stream.seen)


async def test_of_three_the_others_hear_of_a_lost_seat_and_play_on_with_the_stand_in(arena, other):
    async with streams(arena, other, bots=(A, B, C)) as opened:
        game = await arena.new_game(A, B, C)
        await opened[2].send("up", resign=play.Resign(game_id=game.game_id))
        assert (await opened[2].answer("up")).seat_lost.seat == 2
        players = [Bot(stream, lost=stream is opened[2]) for stream in opened]
        overs = await asyncio.gather(*(player.play() for player in players))
        result = overs[0][game.game_id].result
        assert result.end_reason == EndReason.END_REASON_FINISHED
        assert (result.seats[2].rank, result.seats[2].end_reason) == (
            3,
            EndReason.END_REASON_RESIGNED,
        )
        for stream in opened:
            assert [m.seat_lost.seat for m in stream.seen if m.HasField("seat_lost")] == [2]
        await verified(arena, game.game_id)


def let_the_flag_fall(raw, decision):
    """Take the time of the seat that is asked: a short clock might fall before all is ready."""
    raw.hset(keys.game(decision.game_id), f"left{decision.seat}", 0)
    raw.zadd(keys.timers(keys.bucket_of(decision.game_id)), {decision.game_id: 1})


@pytest.mark.parametrize("away", [False, True])
async def test_a_fallen_flag_tells_a_timeout_from_a_disconnect(arena, other, raw, wait_until, away):
    async with streams(arena, other, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        stream, decision, [opponent] = await asked(*opened)
        if away:
            await stream.cut()
            gone = partial(raw.get, keys.presence(stream.bot))
            await asyncio.to_thread(wait_until, lambda: gone() is None, "it counts as gone")
        let_the_flag_fall(raw, decision)
        over = (await opponent.until("game_over")).game_over
        expected = EndReason.END_REASON_DISCONNECTED if away else EndReason.END_REASON_TIMEOUT
        assert over.result.seats[decision.seat].end_reason == expected
        if not away:
            assert (await stream.until("game_over")).game_over.result == over.result
        await verified(arena, game.game_id)


async def test_a_flag_that_falls_in_a_game_of_three_is_told_to_all(arena, raw):
    async with streams(arena, bots=(A, B, C)) as opened:
        await arena.new_game(A, B, C)
        _, decision, _ = await asked(*opened)
        let_the_flag_fall(raw, decision)
        for stream in opened:
            lost = (await stream.until("seat_lost")).seat_lost
            assert (lost.seat, lost.end_reason) == (decision.seat, EndReason.END_REASON_TIMEOUT)


# --- how a stream ends ------------------------------------------------------------------------


async def test_a_newer_stream_takes_over_and_the_older_one_is_told(arena, other):
    for newer_door in (arena, other):
        older = Stream(arena, A)
        await older.open()
        newer = Stream(newer_door, A)
        await newer.open()
        end, code = await older.ended()
        assert (end.kind, code) == (kind("TAKEN_OVER"), grpc.StatusCode.ABORTED)
        assert end.reason == reason("TAKEN_OVER")
        await arena.new_game(A, A)
        await newer.asked()  # the games go to the newer one
        await newer.cut()


async def test_a_late_notification_of_an_older_stream_closes_nothing(arena, redis_server):
    stream = Stream(arena, A)
    await stream.open()
    store = await Store.connect(redis_server.url)
    late = BotNotification(BotNotificationKind.STREAM_OPENED, A, "an older stream")
    await publish(store, late)
    await store.close()
    await arena.new_game(A, A)
    await stream.asked()
    await stream.goodbye()


async def test_a_stream_that_missed_the_bell_learns_of_its_end_by_looking(arena, raw, monkeypatch):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.2)
    older = Stream(arena, A)
    await older.open()
    raw.set(keys.presence(A), "another", ex=60)  # a newer stream, whose notification was lost
    assert (await older.ended())[0].kind == kind("TAKEN_OVER")
    assert raw.getdel(keys.presence(A)) == b"another"


async def test_a_stream_that_ends_begins_to_follow_nothing_more(arena, monkeypatch):
    disconnect, hear = presence.Presence.disconnect, session.Session._on_bot_event
    leaving, rung, let_go, followed = asyncio.Event(), asyncio.Event(), asyncio.Event(), []

    async def slowly(self, bot, stream):
        leaving.set()
        await let_go.wait()
        await disconnect(self, bot, stream)

    def heard(self, notification):
        monkeypatch.setattr(self._subscriptions, "follow", followed.append)
        hear(self, notification)
        if notification.kind is BotNotificationKind.SEATED:
            rung.set()

    monkeypatch.setattr(presence.Presence, "disconnect", slowly)
    monkeypatch.setattr(session.Session, "_on_bot_event", heard)  # before a stream gives it away
    stream = Stream(arena, A)
    await stream.open()
    ending = asyncio.create_task(stream.goodbye())
    async with asyncio.timeout(PATIENCE):
        await leaving.wait()
        await arena.new_game(A, A)
        await rung.wait()
    let_go.set()
    await ending
    assert followed == []


async def test_a_seat_whose_bell_was_missed_is_found_by_looking(arena, raw, monkeypatch):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.2)
    async with streams(arena, bots=(A,)) as [stream]:
        game = await arena.create(1 + 1)
        raw.sadd(keys.games_of(A), game.game_id)
        raw.hset(keys.game(game.game_id), mapping={"bot0": A, "botversion0": 1, "entropy0": b""})
        seated = (await stream.until("seated")).seated
        assert (seated.game.game_id, seated.seat) == (game.game_id, 0)


async def test_a_revoked_token_ends_its_streams(arena):
    wish = accounts.CreateTokenRequest(owner="local", scopes=[accounts.SCOPE_PLAY])
    issued = await arena.accounts.CreateToken(wish, metadata=arena.metadata)
    async with connected_client(arena.address, issued.secret) as mine:
        stream = Stream(mine, A)
        await stream.open()
        request = accounts.RevokeTokenRequest(token_id=issued.token.token_id)
        await arena.accounts.RevokeToken(request, metadata=arena.metadata)
        end, code = await stream.ended()
        assert (end.kind, code) == (kind("TOKEN_REVOKED"), grpc.StatusCode.UNAUTHENTICATED)
        with pytest.raises(grpc.RpcError) as refused:
            await mine.new_game(A, A)
        assert reason_of(refused.value) == "INVALID_TOKEN"


@pytest.mark.parametrize("bell", ["heard", "missed"])
async def test_a_bot_that_is_retired_has_no_stream_any_more(arena, other, raw, monkeypatch, bell):
    if bell == "missed":
        monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
        monkeypatch.setattr(notifications.Notifications, "_dispatch", lambda *_: None)
    async with streams(arena, other, bots=(A, B)) as [retired, stays]:
        await arena.new_game(A, B)
        request = accounts.RetireBotRequest(bot=A)
        await other.accounts.RetireBot(request, metadata=other.metadata)
        end, code = await retired.ended()
        assert (end.kind, end.reason) == (kind("REFUSED"), reason("BOT_RETIRED"))
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        again = Stream(arena, A)
        await again.send(hello=again._hello)
        end, code = await again.ended()
        assert (end.kind, end.reason) == (kind("REFUSED"), reason("BOT_RETIRED"))
        assert (await stays.goodbye())[0].kind == kind("GOODBYE")
    raw.delete(keys.presence(A))  # it would expire by itself


async def test_a_bot_that_was_retired_while_its_process_stood_still_has_no_stream(
    arena, raw, monkeypatch
):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
    monkeypatch.setattr(notifications.Notifications, "_dispatch", lambda *_: None)

    async def expired(_self, bot):
        raw.delete(keys.presence(bot))

    monkeypatch.setattr(presence.Presence, "disconnect_retired", expired)
    async with streams(arena, bots=(A,)) as [retired]:
        request = accounts.RetireBotRequest(bot=A)
        await arena.accounts.RetireBot(request, metadata=arena.metadata)
        end, _ = await retired.ended()
    assert (end.kind, end.reason) == (kind("REFUSED"), reason("BOT_RETIRED"))


async def test_a_bot_hears_that_its_seat_was_given_up_by_a_call_before_the_game_began(arena):
    async with streams(arena, bots=(A,)) as [stream]:
        game_id = (await arena.create()).game_id
        await arena.join(game_id, A)
        await stream.until("seated")
        await arena.game("Resign", game_id=game_id)
        told = (await stream.until("rejected")).rejected
    assert (told.game_id, told.reason) == (game_id, reason("NOT_YOUR_DECISION"))


async def test_a_stream_that_opens_while_its_bot_is_retired_does_not_stay(arena, monkeypatch):
    connect = presence.Presence.connect

    async def after_the_retirement(self, bot, stream):
        monkeypatch.setattr(presence.Presence, "connect", connect)
        request = accounts.RetireBotRequest(bot=A)
        await arena.accounts.RetireBot(request, metadata=arena.metadata)
        await connect(self, bot, stream)

    monkeypatch.setattr(presence.Presence, "connect", after_the_retirement)
    stream = Stream(arena, A)
    await stream.send(hello=stream._hello)
    end, _ = await stream.ended()
    assert end.reason == reason("BOT_RETIRED")


async def test_a_process_that_stops_tells_its_streams_and_another_goes_on(
    start_arena, redis_server
):
    running = [start_arena("--port", "0", "--redis", redis_server.url) for _ in range(2)]
    secret = local_secret(_data_of(*running))
    async with (
        connected_client(running[0].address, secret) as one,
        connected_client(running[1].address, secret) as two,
    ):
        stream, watch = Stream(one, A), None
        await stream.open()
        game = await two.new_game(A, A)
        decision = await stream.asked()
        watch = one.watch(game.game_id)
        assert (await watch.read()).HasField("update")
        waiting = asyncio.create_task(
            one.game("GetDecision", game_id=game.game_id, seat=1 - decision.seat, wait=A_WHILE)
        )
        await _has_begun(one)
        running[0].process.send_signal(signal.SIGTERM)
        assert (await waiting).WhichOneof("outcome") is None  # ask again, elsewhere
        end, code = await stream.ended()
        assert (end.kind, code) == (kind("DRAINING"), grpc.StatusCode.UNAVAILABLE)
        assert not end.HasField("retry_delay")  # at once
        told = [message async for message in _rest(watch)]
        assert told[-1].stream_end.kind == kind("DRAINING")
        assert await watch.code() is grpc.StatusCode.UNAVAILABLE
        follower = Follower(game)
        follower.take(decision)
        resume = [play.Resume(game_id=game.game_id, event_count=follower.count)]
        player = Bot(Stream(two, A, resume=resume))
        player.followers[game.game_id] = follower
        await player.stream.open()
        await player.play()
        await verified(two, game.game_id)
        await player.stream.cut()
    assert running[0].ended() == 0
    assert "Traceback" not in running[0].errors


async def _has_begun(arena):
    """Wait until what was sent before has arrived: calls of one channel begin in their order."""
    for _ in range(3):
        await arena.accounts.WhoAmI(accounts.WhoAmIRequest(), metadata=arena.metadata)


async def _rest(call):
    try:
        while (message := await with_timeout(call.read())) is not grpc.aio.EOF:
            yield message
    except grpc.RpcError:
        return


@pytest.mark.parametrize(
    "requests",
    [
        [[]],
        [[play.ClientMessage()]],
        [[LEAVE]],
        [[HELLO], [HELLO]],
        [[HELLO], []],
        [[HELLO], [LEAVE, HELLO]],
        [[HELLO, LEAVE]],
        [[LEAVE, HELLO]],
        [b"\xff\xff\xff"],
        [[HELLO], b"\xff\xff\xff"],
    ],
    ids=[
        *("empty-batch", "no-body", "no-hello", "two-hellos", "empty-batch-later"),
        *("hello-among-others", "hello-not-alone", "hello-not-first"),
        *("no-message", "no-message-later"),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_told_so(arena, requests):
    method = arena.channel.stream_stream(
        "/himeji.v1.PlayService/Play",
        request_serializer=lambda raw: raw,
        response_deserializer=play.PlayResponse.FromString,
    )
    call = method(metadata=arena.metadata)
    for request in requests:
        raw = isinstance(request, bytes)
        await call.write(request if raw else play.PlayRequest(messages=request).SerializeToString())
    seen = [message async for batch in _rest(call) for message in batch.messages]
    assert seen[-1].stream_end.kind == kind("PROTOCOL_ERROR")
    assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT


UNKNOWN_MEMBER = b"\x9a\x06\x02\x08\x01"  # field 99, a message of two bytes


@pytest.mark.parametrize("request_id", ["new", ""])
@pytest.mark.parametrize("body", [UNKNOWN_MEMBER, b""], ids=["newer", "empty"])
async def test_a_message_that_the_server_does_not_know_is_refused_and_the_stream_goes_on(
    arena, request_id, body
):
    unknown = play.ClientMessage.FromString(
        play.ClientMessage(request_id=request_id).SerializeToString() + body
    )
    assert unknown.WhichOneof("body") is None
    stream = Stream(arena, A)
    await stream.open()
    await stream.call.write(play.PlayRequest(messages=[unknown, LEAVE]))
    answer = await stream.until("rejected")
    assert answer.request_id == request_id
    assert answer.rejected.reason == reason("UNSUPPORTED")
    await stream.until("left_queue")
    await stream.cut()


async def test_a_client_of_another_version_is_refused_before_any_game(arena):
    for hello in (
        play.Hello(protocol_version=2, bot=A),
        play.Hello(protocol_version=1, bot=A, rulesets=[{"ruleset": "base", "revision": "0-x"}]),
    ):
        stream = Stream(arena, A)
        await stream.send("1", hello=hello)
        end, code = await stream.ended()
        assert end.kind == kind("VERSION_MISMATCH")
        assert end.reason == reason("VERSION_MISMATCH")
        assert code is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_bot_of_somebody_else_is_refused_with_the_status_of_the_reason(arena):
    stream = Stream(arena, "house/greedy")
    await stream.send("1", hello=play.Hello(protocol_version=1, bot="house/greedy"))
    end, code = await stream.ended()
    assert (end.kind, end.reason) == (kind("REFUSED"), reason("FORBIDDEN"))
    assert code is grpc.StatusCode.PERMISSION_DENIED


# --- fairness ---------------------------------------------------------------------------------


async def test_the_commitment_comes_first_and_the_key_at_the_end_and_only_then(arena, other):
    before = []  # every message before the end, as bytes
    async with streams(arena, other, bots=(A, B)) as opened:
        game = await arena.create(2)
        before.append(game.SerializeToString())
        commitment = game.chance.commitment
        assert len(commitment) == 32
        entropies = [b"mine", bytes(range(32))]
        for bot, entropy in zip((A, B), entropies, strict=True):
            joined = await arena.game("JoinGame", game_id=game.game_id, bot=bot, entropy=entropy)
            before.append(joined.SerializeToString())
        watch = other.watch(game.game_id, wants=[Want.WANT_POSITION])

        async def peek():
            for method in ("GetGame", "GetReplay"):
                found = await other.game(method, game_id=game.game_id)
                if (getattr(found, "game", None) or found.replay.game).state != GameState.Value(
                    "GAME_STATE_OVER"
                ):
                    before.append(found.SerializeToString())
            found = await other.game("ListGames", state=GameState.Value("GAME_STATE_PLAYING"))
            before.append(found.SerializeToString())

        players = [Bot(stream) for stream in opened]
        decide = players[0].decide

        async def decide_and_peek(decision):
            await peek()
            await decide(decision)

        players[0].decide = decide_and_peek
        await asyncio.gather(*(player.play() for player in players))
        seated = [m.seated for m in opened[0].seen if m.WhichOneof("body") == "seated"]
        assert seated[0].game.chance.commitment == commitment
        replay = await verified(arena, game.game_id)
        chance = replay.game.chance
        assert chance.commitment == commitment
        assert list(chance.seat_entropy) == entropies
        for stream in opened:
            told = [m for m in stream.seen if m.WhichOneof("body") != "game_over"]
            before.extend(message.SerializeToString() for message in told)
        updates = [m async for m in _rest(watch) if m.HasField("update")]
        playing = [m for m in updates if m.update.state == GameState.Value("GAME_STATE_PLAYING")]
        assert len(playing) > 5
        before.extend(message.SerializeToString() for message in playing)
        for secret in (chance.secret, chance.key):
            assert len(secret) == 32
            assert not any(
                secret in message or secret.hex().encode() in message for message in before
            )
        for player in players:
            assert player.over[game.game_id].chance == chance


# --- the store goes away ----------------------------------------------------------------------


class Patient(Bot):
    """Sends again what the store could not take."""

    async def take(self, message):
        if message.WhichOneof("body") != "rejected":
            await super().take(message)
            return
        assert message.rejected.reason == reason("STORE_UNAVAILABLE"), message
        await asyncio.sleep(0.1)
        await self.stream.act(self.decision, self.actions)

    async def decide(self, decision):
        self.learn(decision)
        self.decision, self.actions = decision, [self.random.choice(decision.legal_actions)]
        self.unanswered += 1
        await self.stream.act(decision, self.actions)


async def test_streams_outlive_a_store_that_goes_away_and_comes_back(arena, other, redis_server):
    async with streams(arena, other, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        stream, decision, _ = await asked(*opened)
        redis_server.kill()
        await stream.act(decision, [decision.legal_actions[0]], "gone")
        rejected = (await stream.answer("gone")).rejected
        assert rejected.reason == reason("STORE_UNAVAILABLE")
        assert rejected.HasField("retry_delay")
        redis_server.start()
        players = [Patient(each) for each in opened]
        for player in players:
            player.seated(game)
        mover = players[opened.index(stream)]
        await mover.decide(decision)
        async with asyncio.timeout(2 * PATIENCE):
            await asyncio.gather(*(player.play() for player in players))
        await verified(arena, game.game_id)


async def test_a_stream_opened_without_a_store_is_told_to_come_again(arena, redis_server):
    await arena.new_game(A, A)
    redis_server.kill()
    stream = Stream(arena, A)
    await stream.send("hello", hello=play.Hello(protocol_version=1, bot=A))
    while await stream.next() is not None:
        pass
    assert await stream.call.code() is grpc.StatusCode.UNAVAILABLE
    redis_server.start()
    stream = Stream(arena, A)
    await stream.open()
    await stream.asked()
    await stream.cut()


async def test_a_game_whose_log_is_broken_is_void_and_everybody_is_told(arena, other, raw):
    async with streams(arena, other, bots=(A, B)) as opened:
        game = await arena.new_game(A, B)
        watch = other.watch(game.game_id)
        await watch.read()
        stream, decision, _ = await asked(*opened)
        raw.xdel(keys.log(game.game_id), "1-0")
        raw.hincrby(keys.game(game.game_id), "version", 3)
        for each in opened:
            over = (await each.until("game_over")).game_over
            assert over.result.end_reason == EndReason.END_REASON_NO_CONTEST
            assert list(over.result.seats) == []
            assert not over.rated
        told = [message async for message in _rest(watch)]
        assert told[-2].game_over.result.end_reason == EndReason.END_REASON_NO_CONTEST
        assert told[-1].stream_end.kind == kind("COMPLETE")
        await stream.act(decision, [decision.legal_actions[0]], "late")
        assert (await stream.answer("late")).rejected.reason == reason("GAME_ENDED")


async def test_a_defect_in_one_request_is_an_incident_and_the_stream_goes_on(arena, raw):
    async with streams(arena, bots=(A,)) as [stream]:
        broken, whole = await arena.create(2), await arena.create(2)
        raw.hdel(keys.game(broken.game_id), "secret")
        await stream.send("1", resign=play.Resign(game_id=broken.game_id))
        rejected = (await stream.answer("1")).rejected
        assert rejected.reason == reason("INTERNAL_FAULT")
        assert rejected.incident
        await arena.join(whole.game_id, A, A)
        await stream.asked()


# --- what is on its way -----------------------------------------------------------------------


def decision_of(game_id, number, first, count):
    message = play.ServerMessage()
    message.decision.game_id, message.decision.decision_id = game_id, number
    message.decision.first_event = first
    for event in range(first, first + count):
        message.decision.events.add(kind=1, numbers=[event, 0])
    return message


async def waiting_in(box):
    box.close(play.ServerMessage())
    [batch] = await box.batches()
    return batch.messages[:-1]


async def test_a_decision_that_was_never_read_gives_its_events_to_the_newer_one():
    box = stream_writer.SendQueue(9)
    box.put(decision_of("g", 1, 0, 5))
    box.put(play.ServerMessage(request_id="x"))
    box.put(decision_of("g", 4, 5, 3))
    box.put(decision_of("h", 1, 0, 1))
    first, _, last = await waiting_in(box)
    assert (first.decision.decision_id, first.decision.first_event) == (4, 0)
    assert [event.numbers[0] for event in first.decision.events] == list(range(8))
    assert last.decision.game_id == "h"


async def test_a_decision_whose_events_do_not_follow_replaces_nothing():
    box = stream_writer.SendQueue(9)
    box.put(decision_of("g", 1, 0, 5))
    box.put(decision_of("g", 4, 7, 3))  # two events went out with a refusal in between
    assert [m.decision.decision_id for m in await waiting_in(box)] == [1, 4]


async def test_what_waits_goes_out_in_as_few_batches_as_possible():
    box = stream_writer.SendQueue(1000)
    told = [play.ServerMessage(request_id=str(n)) for n in range(66)]
    for message in told:
        box.put(message)
    written = await box.batches()
    assert [message for batch in written for message in batch.messages] == told
    assert [len(batch.messages) for batch in written] == [64, 2]


async def test_only_so_many_messages_wait():
    box = stream_writer.SendQueue(9)
    for _ in range(9):
        assert box.put(play.ServerMessage())
    assert not box.put(play.ServerMessage())
    assert not box.put(decision_of("g", 1, 0, 1))


async def test_resigning_a_seat_that_the_game_does_not_have_changes_nothing(arena):
    async with streams(arena, bots=[A]) as [stream]:
        game = await arena.create(2)
        await stream.send("r", resign=play.Resign(game_id=game.game_id, seat=99))
        answer = await stream.answer("r")
        assert answer.rejected.reason == reason("NOT_YOUR_DECISION")
        found = (await arena.game("GetGame", game_id=game.game_id)).game
        assert found.state == GameState.GAME_STATE_WAITING
