"""The ladder over real sockets: enter, be seated, answer, play, and what is told when it fails."""

import asyncio

import grpc
import pytest
from himeji.rules.errors import Draining, StoreUnavailable
from himeji.v1 import (
    account_service_pb2 as accounts,
    ladder_service_pb2 as ladders,
    play_service_pb2 as play,
)
from himeji.v1.game_pb2 import EndReason, GameState
from himeji.v1.stream_pb2 import StreamEndKind
from himeji_server.games import notifications
from himeji_server.ladder.administration import Administration
from himeji_server.ladder.standings import StandingsRow
from himeji_server.play import session
from himeji_server.rpc import ladder_service
from himeji_server.store import Store, keys
from himeji_server.store.queues import QueueStore

from tests.server.arena_client import PATIENCE, reason, reason_of
from tests.server.ladder_arena import LadderBot, enter, ladder_arena
from tests.server.ladder_process import let_time_pass


@pytest.fixture
def redis_server(start_redis):
    return start_redis()


@pytest.fixture
async def arena(redis_server, tmp_path):
    async with ladder_arena(redis_server.url, tmp_path) as opened:
        yield opened


async def streams(arena, *owners, **more):
    return [await (await arena.owner(owner)).stream(**more) for owner in owners]


def left(reason):
    return play.LeftQueueReason.Value(f"LEFT_QUEUE_REASON_{reason}")


async def seated(stream):
    return (await stream.until("seated")).seated


async def eventually(check, what):
    async with asyncio.timeout(PATIENCE):
        while not (found := await check()):  # noqa: ASYNC110 - nobody rings for it
            await asyncio.sleep(0.05)
    assert found, what
    return found


async def test_two_bots_enter_are_seated_play_and_are_rated(arena):
    ann, bob = await streams(arena, "ann", "bob")
    for stream in (ann, bob):
        assert (await enter(stream)).entered_queue.ladder == "base-2p"
    players = [LadderBot(ann), LadderBot(bob)]
    overs = await asyncio.gather(*(player.play() for player in players))
    (game_id,) = overs[0]
    over = overs[0][game_id]
    assert over.rated
    assert over.result.end_reason == EndReason.END_REASON_FINISHED
    assert list(over.chance.seat_entropy) == [b"luck", b"luck"]
    client = await arena.owner("ann")
    result = await eventually(
        lambda: finished(client, "base-2p", game_id), "the game is in the standings"
    )
    assert {each.bot: each.games for each in result} == {"ann/bot": 1, "bob/bot": 1}
    game = (await client.game("GetGame", game_id=game_id)).game
    assert (game.ladder, game.rated) == ("base-2p", True)


async def test_who_waits_on_a_ladder_that_is_closed_is_told(redis_server, tmp_path):
    file = tmp_path / "ladders.toml"
    file.write_text("[base-2p]\naccepting = false\n")
    async with ladder_arena(redis_server.url, tmp_path, ladders=file) as arena:
        (ann,) = await streams(arena, "ann")
        store = await Store.connect(redis_server.url)
        await QueueStore(store).enter("base-2p", "ann/bot", 1, 1)  # when it was open
        await store.close()
        told = (await ann.until("left_queue")).left_queue
        assert (told.reason, told.ladder) == (left("LADDER_CLOSED"), "base-2p")
        assert (await enter(ann, again=True)).left_queue.reason == left("LADDER_CLOSED")
        await ann.send("fresh", enter=play.Enter(ladder="base-2p"))
        refused = (await ann.answer("fresh")).rejected
        assert refused.message == "base-2p is closed: nobody can enter"
        client = await arena.owner("ann")
        assert not (await client.ladder("ListTickets", ladder="base-2p")).tickets


async def finished(client, ladder, game_id):
    entries = (await client.ladder("GetHistory", bot=f"{client.owner}/bot")).entries
    if game_id not in [each.result.game_id for each in entries]:
        return []
    return (await client.ladder("GetStandings", ladder=ladder)).standings


async def test_a_seating_tells_who_plays_and_by_when_to_answer(arena):
    ann, bob = await streams(arena, "ann", "bob")
    await asyncio.gather(enter(ann), enter(bob))
    first, second = await seated(ann), await seated(bob)
    assert first.game.game_id == second.game.game_id
    assert {first.seat, second.seat} == {0, 1}
    assert first.game.state == GameState.GAME_STATE_WAITING
    assert [seat.ready for seat in first.game.seats] == [False, False]
    assert {seat.bot for seat in first.game.seats} == {"ann/bot", "bob/bot"}
    assert first.game.seats[first.seat].bot == "ann/bot"
    wait = first.ready_wait.ToMilliseconds()
    assert 0 < wait <= 10_000
    made = first.game.create_time.ToMilliseconds()
    assert first.ready_deadline.ToMilliseconds() == made + 10_000
    assert len(first.game.chance.commitment) == 32
    await ann.send("1", ready=play.Ready(game_id=first.game.game_id))
    noted = (await ann.answer("1")).ready_noted
    assert (noted.game_id, noted.message) == (first.game.game_id, "waiting for 1 seat")


async def test_who_does_not_answer_is_unseated_and_the_other_is_back_at_its_place(
    arena, redis_server
):
    ann, bob = await streams(arena, "ann", "bob")
    await asyncio.gather(enter(ann), enter(bob))
    game_id = (await seated(ann)).game.game_id
    await ann.send("1", ready=play.Ready(game_id=game_id))
    assert (await ann.answer("1")).HasField("ready_noted")
    store = await Store.connect(redis_server.url)
    await let_time_pass(store, game_id, 60_000)
    await store.close()
    for stream, still_queued in ((bob, False), (ann, True)):
        failed = (await stream.until("seating_failed")).seating_failed
        assert (failed.game_id, failed.ladder) == (game_id, "base-2p")
        assert failed.still_queued is still_queued
    await bob.send("late", ready=play.Ready(game_id=game_id))
    assert (await bob.answer("late")).rejected.reason == reason("GAME_ENDED")
    (cyd,) = await streams(arena, "cyd")
    await enter(cyd)
    again = await seated(ann)
    assert {seat.bot for seat in again.game.seats} == {"ann/bot", "cyd/bot"}
    assert not [m for m in bob.seen if m.HasField("game_over")], "nothing began that could end"


async def test_who_declines_hears_so_and_the_other_is_told(arena):
    ann, bob = await streams(arena, "ann", "bob")
    await asyncio.gather(enter(ann), enter(bob))
    game_id = (await seated(ann)).game.game_id
    await ann.send("no", ready=play.Ready(game_id=game_id, decline=True))
    declined = (await ann.answer("no")).seating_failed
    assert (declined.game_id, declined.still_queued) == (game_id, False)
    failed = (await bob.until("seating_failed")).seating_failed
    assert (failed.game_id, failed.still_queued) == (game_id, True)
    ladders = (await streams(arena, "ann"))[0].welcome.ladders
    assert list(ladders) == []


async def test_a_seating_comes_again_after_a_reconnect_at_any_process(arena):
    await arena.open()
    ann, bob = await streams(arena, "ann", "bob")
    await asyncio.gather(enter(ann), enter(bob))
    game_id = (await seated(ann)).game.game_id
    await ann.cut()
    ann = await (await arena.owner("ann", arena=1)).stream()
    assert list(ann.welcome.game_ids) == [game_id]
    assert list(ann.welcome.ladders) == ["base-2p"]
    again = await seated(ann)
    assert again.game.game_id == game_id
    assert again.HasField("ready_deadline")
    await ann.send("1", ready=play.Ready(game_id=game_id))
    await bob.send("1", ready=play.Ready(game_id=game_id))
    players = [LadderBot(ann), LadderBot(bob)]
    for player, stream in zip(players, (ann, bob), strict=True):
        player.seated(again.game)
        assert (await stream.answer("1")).HasField("ready_noted")
    await asyncio.gather(*(player.play() for player in players))


async def test_leaving_is_answered_and_no_seating_follows(arena):
    ann, bob = await streams(arena, "ann", "bob")
    await enter(ann)
    await ann.send("bye", leave=play.Leave())
    answer = (await ann.answer("bye")).left_queue
    assert (answer.reason, answer.ladder) == (left("ASKED"), "")
    await enter(bob)
    client = await arena.owner("bob")
    for _ in range(3):
        await asyncio.sleep(0.3)
        assert (await client.ladder("GetLadder", ladder="base-2p")).ladder.playing == 0


async def test_a_bot_taken_out_by_a_call_hears_it_on_its_stream(arena):
    (ann,) = await streams(arena, "ann")
    await enter(ann)
    client = await arena.owner("ann")
    taken_out = await client.ladder("LeaveLadder", bot="ann/bot")
    assert list(taken_out.ladders) == ["base-2p"]
    told = (await ann.until("left_queue")).left_queue
    assert (told.reason, told.ladder) == (left("REMOVED"), "base-2p")
    assert list((await client.ladder("LeaveLadder", bot="ann/bot")).ladders) == []
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await (await arena.owner("bob")).ladder("LeaveLadder", bot="ann/bot")
    assert reason_of(refused.value) == "FORBIDDEN"


async def test_a_removal_whose_notification_was_lost_is_sent_all_the_same(arena, monkeypatch):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
    client = await arena.owner("ann")
    stream = await client.stream()
    await enter(stream)
    with monkeypatch.context() as patched:
        patched.setattr(notifications.Notifications, "_dispatch", lambda *_: None)
        await client.ladder("LeaveLadder", bot="ann/bot")
        message = (await stream.until("left_queue")).left_queue
    assert (message.ladder, message.reason) == ("base-2p", left("REMOVED"))


async def test_a_repeated_removal_notifies_a_stream_that_the_first_one_did_not(arena, monkeypatch):
    client = await arena.owner("ann")
    stream = await client.stream()
    await enter(stream)

    async def die(*_):
        raise StoreUnavailable("the process died before it notified anybody")

    with monkeypatch.context() as patched:
        patched.setattr(QueueStore, "notify_left", die)
        with pytest.raises(grpc.aio.AioRpcError):
            await client.ladder("LeaveLadder", bot="ann/bot")
    await client.ladder("LeaveLadder", bot="ann/bot")
    message = (await stream.until("left_queue")).left_queue
    assert (message.ladder, message.reason) == ("base-2p", left("REMOVED"))


async def test_a_removal_that_died_before_it_notified_is_sent_though_nobody_repeats_it(
    arena, monkeypatch
):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
    client = await arena.owner("ann")
    stream = await client.stream()
    await enter(stream)

    async def die(*_):
        raise StoreUnavailable("the process died before it notified anybody")

    monkeypatch.setattr(QueueStore, "notify_left", die)
    with pytest.raises(grpc.aio.AioRpcError):
        await client.ladder("LeaveLadder", bot="ann/bot")
    message = (await stream.until("left_queue")).left_queue
    assert (message.ladder, message.reason) == ("base-2p", left("REMOVED"))


async def has_ticket(client, ladder="base-2p"):
    return bool((await client.ladder("ListTickets", ladder=ladder)).tickets)


async def lose_ticket(url, bot):
    """Take a bot's ticket away without a word, as from one that was away for too long."""
    store = await Store.connect(url)
    await QueueStore(store).leave("base-2p", bot)
    await store.close()


async def test_a_bot_that_lost_its_ticket_while_its_stream_is_open_gets_another(
    arena, redis_server, monkeypatch
):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.1)
    client = await arena.owner("ann")
    stream = await client.stream()
    await enter(stream)
    await lose_ticket(redis_server.url, "ann/bot")
    await eventually(lambda: has_ticket(client), "the bot has a ticket again")


async def test_a_bot_that_left_or_declined_gets_no_other_ticket(arena, redis_server, monkeypatch):
    monkeypatch.setattr(session, "PRESENCE_SECONDS", 0.05)
    ann, bob, eve = await streams(arena, "ann", "bob", "eve")
    await asyncio.gather(enter(ann), enter(bob))
    game_id = (await seated(ann)).game.game_id
    await ann.send("no", ready=play.Ready(game_id=game_id, decline=True))
    assert (await ann.answer("no")).HasField("seating_failed")
    await bob.send("bye", leave=play.Leave())
    assert (await bob.answer("bye")).HasField("left_queue")
    # Eve gets hers back again and again, so the streams have looked after their places meanwhile.
    await enter(eve)
    client = await arena.owner("eve")
    for _ in range(3):
        await lose_ticket(redis_server.url, "eve/bot")
        await eventually(lambda: has_ticket(client), "eve has a ticket again")
    for owner in ("ann", "bob"):
        assert not await has_ticket(await arena.owner(owner))


async def test_a_bot_that_was_taken_out_while_it_was_away_does_not_enter_again_by_itself(arena):
    (ann,) = await streams(arena, "ann")
    await enter(ann)
    await ann.cut()
    client = await arena.owner("ann")
    await client.ladder("LeaveLadder", bot="ann/bot")
    (ann,) = await streams(arena, "ann")
    told = (await enter(ann, again=True)).left_queue
    assert (told.reason, told.ladder) == (left("REMOVED"), "base-2p")
    assert (await enter(ann)).HasField("entered_queue"), "but it may change its mind"
    assert (await enter(ann, again=True)).HasField("entered_queue")


async def test_a_bot_that_was_taken_out_before_it_heard_that_it_is_in_does_not_enter_again(arena):
    (ann,) = await streams(arena, "ann")
    await enter(ann, entry_id="first run")
    await ann.cut()  # before EnteredQueue came, as far as the client knows
    client = await arena.owner("ann")
    await client.ladder("LeaveLadder", bot="ann/bot")
    await client.ladder("LeaveLadder", bot="ann/bot")  # a retry, which finds no ticket
    (ann,) = await streams(arena, "ann")
    told = (await enter(ann, entry_id="first run")).left_queue
    assert (told.reason, told.ladder) == (left("REMOVED"), "base-2p")
    assert (await enter(ann, entry_id="next run")).HasField("entered_queue")
    too_long = await enter(ann, entry_id="x" * 65)
    assert too_long.rejected.reason == reason("INVALID_REQUEST")


async def test_results_are_watched_as_they_are_rated(arena):
    client = await arena.owner("eve")
    watching = client.ladders.WatchResults(
        ladders.WatchResultsRequest(ladder="base-2p", after_sequence=0), metadata=client.metadata
    )
    ann, bob = await streams(arena, "ann", "bob")
    await asyncio.gather(enter(ann), enter(bob))
    players = [LadderBot(ann), LadderBot(bob)]
    await asyncio.gather(*(player.play(2) for player in players))
    seen = []
    async with asyncio.timeout(PATIENCE):
        async for message in watching:
            seen.append(message.result)
            if len(seen) == 2:
                break
    watching.cancel()
    assert [each.sequence for each in seen] == [1, 2]
    assert seen[1].seats[0].before.mean in {each.after.mean for each in seen[0].seats}
    first_seats = [[seat.bot for seat in each.seats] for each in seen]
    assert first_seats[0] == first_seats[1][::-1], "seats take turns"


async def test_a_watch_of_results_ends_when_its_token_is_revoked(arena):
    client = await arena.owner("eve")
    wish = accounts.CreateTokenRequest(owner="eve", scopes=[accounts.SCOPE_READ])
    issued = await client.accounts.CreateToken(wish, metadata=client.metadata)
    watching = client.ladders.WatchResults(
        ladders.WatchResultsRequest(ladder="base-2p"),
        metadata=(("authorization", f"Bearer {issued.secret}"),),
        timeout=PATIENCE,
    )
    last = asyncio.ensure_future(watching.read())
    await asyncio.sleep(0.2)
    assert not last.done()
    request = accounts.RevokeTokenRequest(token_id=issued.token.token_id)
    await client.accounts.RevokeToken(request, metadata=client.metadata)
    assert (await last).stream_end.kind == StreamEndKind.STREAM_END_KIND_TOKEN_REVOKED
    assert await watching.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_watch_of_an_unknown_ladder_ends_with_its_reason(arena):
    client = await arena.owner("eve")
    watching = client.ladders.WatchResults(
        ladders.WatchResultsRequest(ladder="nope"), metadata=client.metadata
    )
    assert (await watching.read()).HasField("stream_end")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await watching.read()
    assert reason_of(refused.value) == "UNKNOWN_LADDER"


async def test_ladders_are_listed_for_everybody_in_pages(arena):
    stranger = await arena.owner("eve")
    found = (await stranger.ladder("ListLadders")).ladders
    names = [each.name for each in found]
    assert names == sorted(names)
    assert {"base-2p", "base-3p", "base-4p"} <= set(names)
    two = found[names.index("base-2p")]
    assert (two.ruleset, two.seats, two.season, two.accepting) == ("base", 2, 1, True)
    assert two.clock.bank.ToMilliseconds() == 120_000
    paged, token = [], ""
    while True:
        page = await stranger.ladder("ListLadders", page_size=2, page_token=token)
        paged += [each.name for each in page.ladders]
        token = page.next_page_token
        if not token:
            break
    assert paged == names


async def refusal(call):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    return reason_of(refused.value)


async def test_administration_needs_an_administrator(arena):
    client, admin = await arena.owner("ann"), await arena.admin()
    for refused in (
        client.ladder("StartSeason", ladder="base-2p"),
        client.administer("VoidGame", game_id="x", explanation="y"),
        client.administer("ListFlags"),
        client.administer("ListAuditEntries"),
    ):
        assert await refusal(refused) == "FORBIDDEN"
    season = (await admin.ladder("StartSeason", ladder="base-2p", title="Two")).season
    assert season.number == 2
    (entry,) = (await admin.administer("ListAuditEntries")).entries
    assert entry.actor == "admin"
    assert list((await admin.administer("ListFlags")).flags) == []
    unknown = admin.administer("VoidGame", game_id="x", explanation="y")
    assert await refusal(unknown) == "UNKNOWN_GAME"
    listed = (await client.ladder("ListSeasons", ladder="base-2p")).seasons
    assert [each.title for each in listed] == ["Two", ""]


async def test_characters_that_deceive_are_refused_in_texts_of_administrators(arena):
    admin, title = await arena.admin(), "Two\u202e"
    for refused in (
        admin.ladder("StartSeason", ladder="base-2p", title=title),
        admin.ladder("CreateTournament", tournament="cup", title=title),
        admin.administer("VoidGame", game_id="x", explanation="no\x1b[2J"),
        admin.administer("VoidGame", game_id="x", explanation="no\n7 1 0 admin - - yes"),
    ):
        assert await refusal(refused) == "INVALID_REQUEST"
    assert not (await admin.administer("ListAuditEntries")).entries


async def recompute(client, **fields):
    """All messages of RecomputeStandings, and the reason with which it fails, if it does."""
    request = ladders.RecomputeStandingsRequest(**fields)
    call = client.ladders.RecomputeStandings(request, metadata=client.metadata, timeout=PATIENCE)
    messages = []
    try:
        async for message in call:
            messages.append(message)  # noqa: PERF401 - those before the failure count
    except grpc.aio.AioRpcError as error:
        return messages, reason_of(error)
    return messages, ""


async def test_a_recomputation_tells_its_progress_and_its_result(arena, redis_server, monkeypatch):
    monkeypatch.setattr(ladder_service, "ROWS_PER_MESSAGE", 2)
    admin = await arena.admin()
    store = await Store.connect(redis_server.url)
    row = StandingsRow("eve/x", 1, 25.0, 8.0)
    rows = [part for number in range(3) for part in (f"eve/x@{number + 1}", row.to_json())]
    await store.call("HSET", keys.standings_rows("base-2p", 1), *rows)
    await store.close()
    messages, failure = await recompute(admin, ladder="base-2p", repair=True, request_id="once")
    assert not failure
    bodies = [each.WhichOneof("body") for each in messages]
    assert bodies == ["progress", "differences", "differences", "result", "stream_end"]
    assert [len(each.differences.standings) for each in messages[1:3]] == [2, 1]
    result = messages[-2].result
    assert (result.games, result.differences, result.repaired) == (0, 3, True)
    assert messages[-1].stream_end.kind == StreamEndKind.STREAM_END_KIND_COMPLETE
    again, _ = await recompute(admin, ladder="base-2p", repair=True, request_id="once")
    assert again == messages[1:], "the answer to the same request, without the work"
    messages, _ = await recompute(admin, ladder="base-2p")
    assert [each.WhichOneof("body") for each in messages] == ["progress", "result", "stream_end"]


async def test_a_recomputation_that_cannot_be_says_why_at_its_end(arena):
    client, admin = await arena.owner("ann"), await arena.admin()
    assert await recompute(client, ladder="base-2p") == ([], "FORBIDDEN")
    (last,), failure = await recompute(admin, ladder="nope")
    assert failure == "UNKNOWN_LADDER"
    assert last.stream_end.kind == StreamEndKind.STREAM_END_KIND_REFUSED


async def test_a_recomputation_ends_when_its_server_stops(arena, monkeypatch):
    admin = await arena.admin()

    def stopping(_self):
        raise Draining("this server process is stopping; ask again")

    monkeypatch.setattr(Administration, "_check_not_stopping", stopping)
    (last,), failure = await recompute(admin, ladder="base-2p")
    assert failure == "DRAINING"
    assert last.stream_end.kind == StreamEndKind.STREAM_END_KIND_DRAINING


async def test_results_before_the_first_one_cannot_be_watched(arena):
    client = await arena.owner("eve")
    watching = client.ladders.WatchResults(
        ladders.WatchResultsRequest(ladder="base-2p", after_sequence=-1), metadata=client.metadata
    )
    assert (await watching.read()).stream_end.reason == reason("INVALID_REQUEST")
