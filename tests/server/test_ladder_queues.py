"""Queues and seatings on a real Redis: nobody is seated twice, no ticket is lost, nobody hangs."""

import asyncio

import pytest
from himeji.rules.errors import GameEnded, InvalidRequest, Refused, UnknownAccount, UnknownLadder
from himeji.v1.account_service_pb2 import SCOPE_PLAY, SCOPE_READ
from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.wire.chain import chance_key
from himeji_server.accounts.caller import Caller
from himeji_server.games.use_cases import Player
from himeji_server.ladder import matchmaker
from himeji_server.ladder.queue_pairing import Policy
from himeji_server.ladder.rating import BEGINNER
from himeji_server.limits import Limits
from himeji_server.names import BotName, bot_name, owner_of
from himeji_server.processor_shares import CallCost, ProcessorShares
from himeji_server.store import keys

from tests.server.ladder_process import ADMIN, LADDER, READY_MS, ladder_process, let_time_pass

A, B, C, D = "ann/a", "bob/b", "cyd/c", "dan/d"


@pytest.fixture
def redis_server(start_redis):
    return start_redis()


@pytest.fixture
async def process(redis_server):
    async with ladder_process(redis_server.url) as opened:
        yield opened


@pytest.fixture
async def other(redis_server):
    """Another process on the same Redis."""
    async with ladder_process(redis_server.url) as opened:
        yield opened


async def waiting(process, ladder=LADDER):
    return [ticket.bot for ticket in (await process.store.queues.queue(ladder)).tickets]


async def load(process, ladder=LADDER):
    return (await process.store.queues.queue(ladder)).load


async def end_of(process, game_id):
    stored = await process.store.games.head(game_id)
    return GameResult.FromString(stored.result).end_reason


async def test_two_that_wait_are_seated_and_play_once_both_are_ready(process):
    await process.enter(A, B)
    await process.run_once()
    ((game_id, bots),) = (await process.seated()).items()
    assert set(bots) == {A, B}
    game = await process.use_cases.view(game_id)
    assert game.stored.state == "waiting"
    assert game.header.rated
    assert game.header.ladder == LADDER
    await process.ready(A, game_id)
    game = await process.ready(B, game_id)
    assert game.stored.state == "playing"
    assert await load(process) == {A: 1, B: 1}


async def test_being_ready_twice_is_the_same_as_once(process):
    await process.enter(A, B)
    await process.run_once()
    (game_id,) = await process.seated()
    for _ in range(2):
        assert (await process.ready(A, game_id)).seats_of(A)
    await process.ready(B, game_id)
    assert (await process.ready(A, game_id)).stored.state == "playing"


async def test_after_a_game_the_bots_are_seated_again(process):
    await process.enter(A, B)
    await process.run_once()
    (first,) = await process.seated()
    for bot in (A, B):
        await process.ready(bot, first)
    await process.resign(first, A)
    await process.run_once()
    (second,) = await process.seated()
    assert second != first
    assert (await process.standings())["bob/b@1"].games == 1


async def test_who_does_not_answer_is_out_and_the_others_keep_their_places(process):
    await process.enter(A)
    await process.enter(B)
    before = (await process.store.queues.queue(LADDER)).tickets
    await process.run_once()
    (game_id,) = await process.seated()
    await process.ready(A, game_id)
    await let_time_pass(process.redis, game_id, READY_MS)
    await process.run_once()
    await process.run_once()
    assert await end_of(process, game_id) == EndReason.END_REASON_UNSEATED
    (ticket,) = (await process.store.queues.queue(LADDER)).tickets
    assert (ticket.bot, ticket.id, ticket.since) == (A, before[0].id, before[0].since)
    assert await load(process) == {}
    assert await process.standings() == {}, "what never began is never rated"
    with pytest.raises(GameEnded):
        await process.ready(B, game_id)


async def test_nobody_is_unseated_before_the_time_is_over(process):
    await process.enter(A, B)
    await process.run_once()
    (game_id,) = await process.seated()
    await process.redis.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)
    await process.run_once()
    assert (await process.use_cases.view(game_id)).stored.state == "waiting"


async def test_who_declines_is_out_and_the_others_are_seated_anew_at_once(process):
    await process.enter(A, B, C)
    await process.run_once()
    ((game_id, bots),) = (await process.seated()).items()
    decliner, other = bots
    await process.queue_commands.decline(Player(decliner, 1), game_id, None)
    await process.run_once()
    assert decliner not in await waiting(process)
    ((again, together),) = (await process.seated()).items()
    assert again != game_id
    assert other in together, "it had not answered yet, and that is not its fault"


async def test_leaving_declines_a_seating_and_lets_games_go_on(process):
    await process.enter(A, B, C, D)
    await process.run_once()
    games = await process.seated()
    begun = next(game_id for game_id, bots in games.items() if A in bots)
    for bot in games[begun]:
        await process.ready(bot, begun)
    waits = next(bot for game_id, bots in games.items() if game_id != begun for bot in bots)
    assert await process.queue_commands.leave(A, LADDER) == [LADDER]
    assert await process.queue_commands.leave(waits, "") == [LADDER]
    await process.run_once()
    assert (await process.use_cases.view(begun)).stored.state == "playing"
    assert set(await process.seated()) == {begun}
    assert A not in await waiting(process)
    assert await process.queue_commands.leave(A, LADDER) == []


async def test_entering_again_keeps_the_place_and_sets_the_number_of_games_anew(process):
    await process.enter(A)
    first = (await process.store.queues.queue(LADDER)).tickets[0]
    await process.enter(B)
    await process.enter(A, most=4)
    again = (await process.store.queues.queue(LADDER)).tickets[0]
    assert (again.bot, again.id, again.entered, again.max_games) == (A, first.id, first.entered, 4)


async def test_that_a_bot_was_removed_by_a_call_is_forgotten_after_a_day(process):
    await process.enter(A)
    for _ in range(2):  # a ticket that is removed, and none
        await process.store.queues.remove(LADDER, A)
        left = int(await process.redis.call("TTL", keys.removal(LADDER, A)))
        assert 0 < left <= 24 * 3600


async def test_a_bot_without_a_stream_is_not_paired(process):
    await process.enter(A, B)
    await process.disconnect(B)
    await process.run_once()
    assert await process.seated() == {}
    await process.enter(B)
    await process.run_once()
    assert len(await process.seated()) == 1


async def test_a_bot_plays_as_many_games_as_it_allows_and_no_more(process):
    process.matchmaker._policy = Policy(wide_share=0)  # by chance, the others might take each other
    await process.enter(A, most=3)
    await process.enter(B, C, D, "eve/e", "fay/f")
    for _ in range(4):
        await process.run_once()
    count = await load(process)
    assert count[A] == 3
    assert all(count.get(bot, 0) <= 1 for bot in (B, C, D, "eve/e", "fay/f"))


async def test_matchmakers_of_two_processes_never_seat_a_bot_twice(process, other):
    bots = [f"o{number}/x" for number in range(20)]
    await process.enter(*bots)
    now = await process.store.games.now()
    await asyncio.gather(
        *(each.matchmaker.run_once(now) for each in (process, other) for _ in range(4))
    )
    seated = [bot for bots in (await process.seated()).values() for bot in bots]
    assert len(seated) == len(set(seated))
    assert set((await load(process)).values()) == {1}


async def test_a_seating_whose_matchmaker_died_before_making_the_game_is_released(
    process, monkeypatch
):
    async def die(*_):
        raise ConnectionAbortedError

    monkeypatch.setattr(process.use_cases, "seat_bots", die)
    await process.enter(A, B)
    with pytest.raises(ConnectionAbortedError):
        await process.run_once()
    monkeypatch.undo()
    (game_id,) = await process.seated()
    assert await load(process) == {A: 1, B: 1}
    await process.redis.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)
    await process.run_once()
    assert game_id not in await process.seated()
    assert len(await process.seated()) == 1, "both have their tickets and are seated together"


async def test_the_deadline_of_a_seating_passes_without_its_matchmaker(process, other):
    await process.enter(A, B)
    await process.run_once()
    (game_id,) = await process.seated()
    await let_time_pass(process.redis, game_id, READY_MS)
    await other.run_once()
    await other.run_once()
    assert await process.seated() == {}
    assert await waiting(process) == []


async def test_two_bots_of_one_owner_wait_for_others(process):
    await process.enter("ann/a", "ann/b")
    for _ in range(3):
        await process.run_once()
    assert await process.seated() == {}


async def test_a_newcomer_is_seated_with_the_house_in_the_first_round(process):
    await process.enter("house/random", most=8)
    await process.enter(A)
    await process.run_once()
    ((_, bots),) = (await process.seated()).items()
    assert set(bots) == {A, "house/random"}


async def chance_keys(process, bots):
    """Play the game of a trusted ladder that is seated; who sat where, and its chance key."""
    ((game_id, _),) = (await process.seated("league")).items()
    for bot in bots:
        await process.queue_commands.ready(Player(bot, 1), game_id, None, bot.encode())
    for bot in bots[1:]:
        await process.resign(game_id, bot)
    stored = (await process.use_cases.view(game_id)).stored
    key = chance_key(stored.secret, [seat.entropy for seat in stored.seats])
    return [seat.bot for seat in stored.seats], key


async def test_on_a_trusted_ladder_every_deal_is_played_from_every_seat(process):
    process.matchmaker._policy = Policy(least_worth=0)
    await process.enter(A, B, C, ladder="league")
    played = []
    for _ in range(4):
        await process.run_once()
        played.append(await chance_keys(process, [A, B, C]))
    (first, key), *others, (_, next_key) = played
    rotated = [first[1:] + first[:1], first[2:] + first[:2]]
    assert others == [(rotated[0], key), (rotated[1], key)]
    assert next_key != key, "then comes the next deal"
    await process.queue_commands.leave(B, "league")
    await process.enter(D, ladder="league")
    await process.run_once()
    ((_, bots),) = (await process.seated("league")).items()
    assert set(bots) == {A, C, D}
    assert len(await process.store.deals.unfinished("league")) == 1, "what B cannot play is dropped"


async def test_who_has_no_processor_time_left_is_not_paused_between_leaving_and_telling(process):
    await process.enter(A, B)
    await process.run_once()
    assert await process.seated()
    await process.accounts.bots.ensure(bot_name(A))
    shares = ProcessorShares(Limits(processor_ms_per_second=1))
    cost = CallCost(shares, "LeaveLadder")
    caller = Caller(owner_of(A), "t", frozenset({SCOPE_PLAY}))

    async def call():
        await cost.wait_for_budget(caller.owner)
        shares.budget(caller.owner).charge(1_000_000)
        await process.queue_commands.leave_by_call(caller, A, "", "")

    async with asyncio.timeout(60):
        await cost.measure(call())
    await process.run_once()
    assert not await process.seated()


async def test_a_bot_that_has_vanished_leaves_the_queue(process):
    await process.enter(A, B)
    for bot in (A, B):
        await process.disconnect(bot)
    now = await process.store.games.now()
    await process.matchmaker.run_once(now)
    await process.connect(B)
    await process.matchmaker.run_once(now + 1)
    await process.disconnect(B)
    await process.matchmaker.run_once(now + matchmaker.DISCONNECTED_MS)
    assert [each.bot for each in (await process.store.queues.queue(LADDER)).tickets] == [B]
    await process.matchmaker.run_once(now + 2 * matchmaker.DISCONNECTED_MS)
    assert not (await process.store.queues.queue(LADDER)).tickets


async def test_the_house_plays_with_itself_now_and_then(process):
    await process.enter("house/p", "house/q", most=8)
    await process.run_once()
    await process.run_once()
    assert len(await process.seated()) == 1, "and then it rests"
    rest = await process.redis.call("PTTL", keys.house_pause(LADDER))
    assert 0 < rest <= matchmaker.HOUSE_PAUSE_MS
    await process.redis.call("DEL", keys.house_pause(LADDER))
    await process.run_once()
    assert len(await process.seated()) == 2
    assert await process.redis.call("PTTL", keys.house_pause(LADDER)) > rest, (
        "longer, for it is known now"
    )


async def test_a_pair_that_met_too_often_today_is_not_seated_again(process, monkeypatch):
    monkeypatch.setattr(matchmaker, "CAPPED_PAIR_MS", 0)
    process.matchmaker._policy = Policy(pair_cap=2)
    await process.enter(A, B, most=9)
    for _ in range(4):
        await process.run_once()
    assert len(await process.seated()) == 2
    games = list(await process.seated())
    for bot in (A, B):
        await process.ready(bot, games[0])
    await process.resign(games[0], A)
    await process.queue_commands.decline(Player(A, 1), games[1], None)
    await process.run_once()
    await process.enter(A, most=9)
    for _ in range(3):
        await process.run_once()
    assert len(await process.seated()) == 1, "one meeting was played, one seating never began"


async def test_a_game_that_ended_before_its_deadline_was_checked_is_settled_once(process):
    await process.enter(A, B)
    await process.run_once()
    (game_id,) = await process.seated()
    for bot in (A, B):
        await process.ready(bot, game_id)
    await process.resign(game_id, A)
    await process.redis.call("ZADD", keys.seating_deadlines(LADDER), "XX", 1, game_id)
    await process.queue_commands.leave(A, "")
    await process.matchmaker.run_once(await process.store.games.now())
    assert await load(process) == {A: 1, B: 1}, "only the rater releases"
    await process.run_once()
    assert await load(process) == {}
    assert await process.store.queues.overdue(LADDER, 1 << 50) == []
    assert (await process.standings())["bob/b@1"].games == 1


async def test_what_cannot_be_entered_is_refused_by_its_reason(process):
    player = Player(A, 1)
    with pytest.raises(UnknownLadder, match="there is no ladder base-5p"):
        await process.queue_commands.enter(player, "base-5p", 1)
    with pytest.raises(Refused, match="closed"):
        await process.queue_commands.enter(player, "closed", 1)
    for games in (-1, 65):
        with pytest.raises(InvalidRequest, match="1 to 64"):
            await process.queue_commands.enter(player, LADDER, games)
    with pytest.raises(UnknownAccount, match="no owner ann"):
        await process.queue_commands.enter(player, LADDER, 1)
    await process.create_owner(A)
    assert (await process.queue_commands.enter(player, LADDER, 0)).max_games == 1


async def test_a_game_that_is_no_seating_needs_no_answer(process):
    game_id = await process.result(B, C)
    with pytest.raises(Refused, match="no seating"):
        await process.queue_commands.ready(Player(A, 1), game_id, None, b"")


async def test_tickets_are_shown_to_their_owner_and_to_administrators(process):
    await process.enter(A, B)
    await process.enter(A, ladder="base-3p")
    await process.accounts.bots.ensure(BotName(*A.split("/")))
    await process.run_once()
    ann = Caller("ann", "t", frozenset({SCOPE_READ}))
    mine, _ = await process.queries.list_tickets(ann, "", 0, "")
    assert [(each.bot, each.ladder) for each in mine] == [(A, LADDER), (A, "base-3p")]
    assert list(mine[0].game_ids) == list(await process.seated())
    assert list(mine[1].game_ids) == []
    assert mine[0].connected
    bound = Caller("ann", "t", frozenset({SCOPE_READ}), "ann/other")
    assert (await process.queries.list_tickets(bound, "", 0, ""))[0] == []
    everybodys, token = await process.queries.list_tickets(ADMIN, LADDER, 1, "")
    assert [each.bot for each in everybodys] == [A]
    rest, token = await process.queries.list_tickets(ADMIN, LADDER, 1, token)
    assert [each.bot for each in rest] == [B]
    assert not token
    ladder = await process.queries.ladder(LADDER)
    assert (ladder.waiting, ladder.playing) == (2, 1)


async def test_a_lone_bot_is_seated_alone_and_rated_against_the_rival(process):
    await process.enter(A, ladder="solo-hard")
    await process.run_once()
    ((game_id, bots),) = (await process.seated("solo-hard")).items()
    assert bots == [A]
    await process.ready(A, game_id)
    await process.resign(game_id, A)
    await process.run_once()
    row = (await process.standings("solo-hard"))["ann/a@1"]
    assert row.rating.mean < BEGINNER.mean
    assert list(row.rank_counts) == [0, 1]
    assert len(await process.seated("solo-hard")) == 1, "and the next game waits for it"


async def test_only_one_process_at_a_time_runs_the_ladders(process, other):
    ours, theirs = process.store.leases, other.store.leases
    assert await ours.acquire("work", "one", 60_000)
    assert await ours.acquire("work", "one", 60_000)
    assert await theirs.acquire("other work", "two", 60_000)
    assert not await theirs.acquire("work", "two", 60_000)
    await theirs.release("work", "two")
    assert not await theirs.acquire("work", "two", 60_000), "it was not theirs"
    assert await ours.acquire("work", "one", 1)
    await asyncio.sleep(0.1)
    assert await theirs.acquire("work", "two", 60_000), "it ends by itself"
    await theirs.release("work", "two")
    assert await ours.acquire("work", "one", 60_000)
