"""Queues and seatings on a real Redis: nobody is seated twice, no ticket is lost, nobody hangs."""

import asyncio

import pytest
from himeji.rules.errors import GameEnded, InvalidRequest, Refused, UnknownLadder
from himeji.v1.account_service_pb2 import SCOPE_READ
from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.wire.chain import chance_key
from himeji_server.accounts.caller import Caller
from himeji_server.games.use_cases import Player
from himeji_server.ladder import matchmaker
from himeji_server.ladder.pairing import Policy
from himeji_server.ladder.rating import BEGINNER
from himeji_server.store import keys

from tests.server.ladder_process import ADMIN, LADDER, READY_MS, ladder_process, let_time_pass

A, B, C, D = "ann/a", "bob/b", "cyd/c", "dan/d"


@pytest.fixture
def redis_server(start_redis):
    return start_redis()


@pytest.fixture
async def stage(redis_server):
    async with ladder_process(redis_server.url) as opened:
        yield opened


@pytest.fixture
async def other(redis_server):
    """Another process on the same Redis."""
    async with ladder_process(redis_server.url) as opened:
        yield opened


async def waiting(stage, ladder=LADDER):
    return [ticket.bot for ticket in (await stage.store.queues.queue(ladder)).tickets]


async def load(stage, ladder=LADDER):
    return (await stage.store.queues.queue(ladder)).load


async def end_of(stage, game_id):
    stored = await stage.store.games.head(game_id)
    return GameResult.FromString(stored.result).end_reason


async def test_two_that_wait_are_seated_and_play_once_both_are_ready(stage):
    await stage.here(A, B)
    await stage.round()
    ((game_id, bots),) = (await stage.seated()).items()
    assert set(bots) == {A, B}
    table = await stage.use_cases.view(game_id)
    assert table.stored.state == "waiting"
    assert table.header.rated
    assert table.header.ladder == LADDER
    await stage.ready(A, game_id)
    table = await stage.ready(B, game_id)
    assert table.stored.state == "playing"
    assert await load(stage) == {A: 1, B: 1}


async def test_being_ready_twice_is_the_same_as_once(stage):
    await stage.here(A, B)
    await stage.round()
    (game_id,) = await stage.seated()
    for _ in range(2):
        assert (await stage.ready(A, game_id)).seats_of(A)
    await stage.ready(B, game_id)
    assert (await stage.ready(A, game_id)).stored.state == "playing"


async def test_after_a_game_the_bots_are_seated_again(stage):
    await stage.here(A, B)
    await stage.round()
    (first,) = await stage.seated()
    for bot in (A, B):
        await stage.ready(bot, first)
    await stage.use_cases.commands.resign(first, A, None)
    await stage.round()
    (second,) = await stage.seated()
    assert second != first
    assert (await stage.table())["bob/b@1"].games == 1


async def test_who_does_not_answer_is_out_and_the_others_keep_their_places(stage):
    await stage.here(A)
    await stage.here(B)
    before = (await stage.store.queues.queue(LADDER)).tickets
    await stage.round()
    (game_id,) = await stage.seated()
    await stage.ready(A, game_id)
    await let_time_pass(stage.redis, game_id, READY_MS)
    await stage.round()
    await stage.round()
    assert await end_of(stage, game_id) == EndReason.END_REASON_UNSEATED
    (ticket,) = (await stage.store.queues.queue(LADDER)).tickets
    assert (ticket.bot, ticket.id, ticket.since) == (A, before[0].id, before[0].since)
    assert await load(stage) == {}
    assert await stage.table() == {}, "what never began is never rated"
    with pytest.raises(GameEnded):
        await stage.ready(B, game_id)


async def test_nobody_is_unseated_before_the_time_is_over(stage):
    await stage.here(A, B)
    await stage.round()
    (game_id,) = await stage.seated()
    await stage.redis.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)
    await stage.round()
    assert (await stage.use_cases.view(game_id)).stored.state == "waiting"


async def test_who_declines_is_out_and_the_others_are_seated_anew_at_once(stage):
    await stage.here(A, B, C)
    await stage.round()
    ((game_id, bots),) = (await stage.seated()).items()
    decliner, other = bots
    await stage.queue_commands.decline(Player(decliner, 1), game_id, None)
    await stage.round()
    assert decliner not in await waiting(stage)
    ((again, together),) = (await stage.seated()).items()
    assert again != game_id
    assert other in together, "it had not answered yet, and that is not its fault"


async def test_leaving_declines_a_seating_and_lets_games_go_on(stage):
    await stage.here(A, B, C, D)
    await stage.round()
    games = await stage.seated()
    begun = next(game_id for game_id, bots in games.items() if A in bots)
    for bot in games[begun]:
        await stage.ready(bot, begun)
    waits = next(bot for game_id, bots in games.items() if game_id != begun for bot in bots)
    assert await stage.queue_commands.leave(A, LADDER) == [LADDER]
    assert await stage.queue_commands.leave(waits, "") == [LADDER]
    await stage.round()
    assert (await stage.use_cases.view(begun)).stored.state == "playing"
    assert set(await stage.seated()) == {begun}
    assert A not in await waiting(stage)
    assert await stage.queue_commands.leave(A, LADDER) == []


async def test_entering_again_keeps_the_place_and_sets_the_number_of_games_anew(stage):
    await stage.here(A)
    first = (await stage.store.queues.queue(LADDER)).tickets[0]
    await stage.here(B)
    await stage.here(A, most=4)
    again = (await stage.store.queues.queue(LADDER)).tickets[0]
    assert (again.bot, again.id, again.entered, again.max_games) == (A, first.id, first.entered, 4)


async def test_a_bot_without_a_stream_is_not_paired(stage):
    await stage.here(A, B)
    await stage.use_cases.presence.disconnect(B, f"stream of {B}")
    await stage.round()
    assert await stage.seated() == {}
    await stage.here(B)
    await stage.round()
    assert len(await stage.seated()) == 1


async def test_a_bot_plays_as_many_games_as_it_allows_and_no_more(stage):
    stage.matchmaker._policy = Policy(wide_share=0)  # by chance, the others might take each other
    await stage.here(A, most=3)
    await stage.here(B, C, D, "eve/e", "fay/f")
    for _ in range(4):
        await stage.round()
    count = await load(stage)
    assert count[A] == 3
    assert all(count.get(bot, 0) <= 1 for bot in (B, C, D, "eve/e", "fay/f"))


async def test_ushers_of_two_processes_never_seat_a_bot_twice(stage, other):
    bots = [f"o{number}/x" for number in range(20)]
    await stage.here(*bots)
    now = await stage.store.games.now()
    await asyncio.gather(*(each.matchmaker.round(now) for each in (stage, other) for _ in range(4)))
    seated = [bot for bots in (await stage.seated()).values() for bot in bots]
    assert len(seated) == len(set(seated))
    assert set((await load(stage)).values()) == {1}


async def test_a_seating_whose_usher_died_before_making_the_game_is_released(stage, monkeypatch):
    async def die(*_):
        raise ConnectionAbortedError

    monkeypatch.setattr(stage.use_cases.commands, "create", die)
    await stage.here(A, B)
    with pytest.raises(ConnectionAbortedError):
        await stage.round()
    monkeypatch.undo()
    (game_id,) = await stage.seated()
    assert await load(stage) == {A: 1, B: 1}
    await stage.redis.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)
    await stage.round()
    assert game_id not in await stage.seated()
    assert len(await stage.seated()) == 1, "both have their tickets and are seated together"


async def test_the_answer_time_of_a_seating_ends_without_its_usher(stage, other):
    await stage.here(A, B)
    await stage.round()
    (game_id,) = await stage.seated()
    await let_time_pass(stage.redis, game_id, READY_MS)
    await other.round()
    await other.round()
    assert await stage.seated() == {}
    assert await waiting(stage) == []


async def test_two_bots_of_one_owner_wait_for_others(stage):
    await stage.here("ann/a", "ann/b")
    for _ in range(3):
        await stage.round()
    assert await stage.seated() == {}


async def test_a_newcomer_is_seated_with_the_house_in_the_first_round(stage):
    await stage.here("house/random", most=8)
    await stage.here(A)
    await stage.round()
    ((_, bots),) = (await stage.seated()).items()
    assert set(bots) == {A, "house/random"}


async def chance_keys(stage, bots):
    """Play the game of a trusted ladder that is seated; who sat where, and its chance key."""
    ((game_id, _),) = (await stage.seated("league")).items()
    for bot in bots:
        await stage.queue_commands.ready(Player(bot, 1), game_id, None, bot.encode())
    for bot in bots[1:]:
        await stage.use_cases.commands.resign(game_id, bot, None)
    stored = (await stage.use_cases.view(game_id)).stored
    key = chance_key(stored.secret, [seat.entropy for seat in stored.seats])
    return [seat.bot for seat in stored.seats], key


async def test_on_a_trusted_ladder_every_deal_is_played_from_every_seat(stage):
    stage.matchmaker._policy = Policy(least_worth=0)
    await stage.here(A, B, C, ladder="league")
    played = []
    for _ in range(4):
        await stage.round()
        played.append(await chance_keys(stage, [A, B, C]))
    (first, key), *others, (_, next_key) = played
    rotated = [first[1:] + first[:1], first[2:] + first[:2]]
    assert others == [(rotated[0], key), (rotated[1], key)]
    assert next_key != key, "then comes the next deal"
    await stage.queue_commands.leave(B, "league")
    await stage.here(D, ladder="league")
    await stage.round()
    ((_, bots),) = (await stage.seated("league")).items()
    assert set(bots) == {A, C, D}
    assert len(await stage.store.deals.unfinished("league")) == 1, "what B cannot play is dropped"


async def test_a_bot_that_has_vanished_leaves_the_queue(stage):
    await stage.here(A, B)
    for bot in (A, B):
        await stage.use_cases.presence.disconnect(bot, f"stream of {bot}")
    now = await stage.store.games.now()
    await stage.matchmaker.round(now)
    await stage.use_cases.presence.connect(B, "its next stream")
    await stage.matchmaker.round(now + 1)
    await stage.use_cases.presence.disconnect(B, "its next stream")
    await stage.matchmaker.round(now + matchmaker.AWAY_MS)
    assert [each.bot for each in (await stage.store.queues.queue(LADDER)).tickets] == [B]
    await stage.matchmaker.round(now + 2 * matchmaker.AWAY_MS)
    assert not (await stage.store.queues.queue(LADDER)).tickets


async def test_the_house_plays_with_itself_now_and_then(stage):
    await stage.here("house/p", "house/q", most=8)
    await stage.round()
    await stage.round()
    assert len(await stage.seated()) == 1, "and then it rests"
    rest = await stage.redis.call("PTTL", keys.house_pause(LADDER))
    assert 0 < rest <= matchmaker.HOUSE_PAUSE_MS
    await stage.redis.call("DEL", keys.house_pause(LADDER))
    await stage.round()
    assert len(await stage.seated()) == 2
    assert await stage.redis.call("PTTL", keys.house_pause(LADDER)) > rest, (
        "longer, for it is known now"
    )


async def test_a_pair_that_met_too_often_today_is_not_seated_again(stage, monkeypatch):
    monkeypatch.setattr(matchmaker, "CAPPED_MS", 0)
    stage.matchmaker._policy = Policy(pair_cap=2)
    await stage.here(A, B, most=9)
    for _ in range(4):
        await stage.round()
    assert len(await stage.seated()) == 2
    games = list(await stage.seated())
    for bot in (A, B):
        await stage.ready(bot, games[0])
    await stage.use_cases.commands.resign(games[0], A, None)
    await stage.queue_commands.decline(Player(A, 1), games[1], None)
    await stage.round()
    await stage.here(A, most=9)
    for _ in range(3):
        await stage.round()
    assert len(await stage.seated()) == 1, "one meeting was played, one seating never began"


async def test_a_game_that_ended_before_its_seating_was_looked_at_is_settled_once(stage):
    await stage.here(A, B)
    await stage.round()
    (game_id,) = await stage.seated()
    for bot in (A, B):
        await stage.ready(bot, game_id)
    await stage.use_cases.commands.resign(game_id, A, None)
    await stage.redis.call("ZADD", keys.seating_deadlines(LADDER), "XX", 1, game_id)
    await stage.queue_commands.leave(A, "")
    await stage.matchmaker.round(await stage.store.games.now())
    assert await load(stage) == {A: 1, B: 1}, "only the rater releases"
    await stage.round()
    assert await load(stage) == {}
    assert await stage.store.queues.overdue(LADDER, 1 << 50) == []
    assert (await stage.table())["bob/b@1"].games == 1


async def test_what_cannot_be_entered_is_refused_by_its_reason(stage):
    player = Player(A, 1)
    with pytest.raises(UnknownLadder, match="there is no ladder base-5p"):
        await stage.queue_commands.enter(player, "base-5p", 1)
    with pytest.raises(Refused, match="closed"):
        await stage.queue_commands.enter(player, "closed", 1)
    for games in (-1, 65):
        with pytest.raises(InvalidRequest, match="1 to 64"):
            await stage.queue_commands.enter(player, LADDER, games)
    assert (await stage.queue_commands.enter(player, LADDER, 0)).max_games == 1


async def test_a_game_that_is_no_seating_needs_no_answer(stage):
    game_id = await stage.result(B, C)
    with pytest.raises(Refused, match="no seating"):
        await stage.queue_commands.ready(Player(A, 1), game_id, None, b"")


async def test_tickets_are_shown_to_their_owner_and_to_administrators(stage):
    await stage.here(A, B)
    await stage.here(A, ladder="base-3p")
    await stage.round()
    ann = Caller("ann", "t", frozenset({SCOPE_READ}))
    mine, _ = await stage.queries.tickets(ann, "", 0, "")
    assert [(each.bot, each.ladder) for each in mine] == [(A, LADDER), (A, "base-3p")]
    assert list(mine[0].game_ids) == list(await stage.seated())
    assert mine[0].connected
    everybodys, token = await stage.queries.tickets(ADMIN, LADDER, 1, "")
    assert [each.bot for each in everybodys] == [A]
    rest, token = await stage.queries.tickets(ADMIN, LADDER, 1, token)
    assert [each.bot for each in rest] == [B]
    assert not token
    ladder = await stage.queries.ladder(LADDER)
    assert (ladder.waiting, ladder.playing) == (2, 1)


async def test_a_lone_bot_is_seated_alone_and_rated_against_the_rival(stage):
    await stage.here(A, ladder="solo-hard")
    await stage.round()
    ((game_id, bots),) = (await stage.seated("solo-hard")).items()
    assert bots == [A]
    await stage.ready(A, game_id)
    await stage.use_cases.commands.resign(game_id, A, None)
    await stage.round()
    row = (await stage.table("solo-hard"))["ann/a@1"]
    assert row.rating.mean < BEGINNER.mean
    assert list(row.rank_counts) == [0, 1]
    assert len(await stage.seated("solo-hard")) == 1, "and the next game waits for it"


async def test_only_one_process_at_a_time_keeps_the_ladders_going(stage, other):
    ours, theirs = stage.store.leases, other.store.leases
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
