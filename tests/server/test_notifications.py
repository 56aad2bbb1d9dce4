"""Notifications: a change of a game reaches the processes that follow it, and no others."""

import asyncio
import gc
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from himeji.rules.errors import StoreUnavailable
from himeji.v1.game_pb2 import EndReason
from himeji_server.games import commits, live_games, notifications
from himeji_server.games.live_game import LiveGame
from himeji_server.games.messages import replay_message
from himeji_server.launch.embedded_redis import find_binary
from himeji_server.store import keys
from himeji_server.store.cluster import _RoutedCommand
from himeji_server.store.commands import AwaitedReply
from himeji_server.store.errors import StoreRefusedError, translate
from himeji_server.store.game_records import OVER, PLAYING
from himeji_server.store.notifications import GameNotification
from himeji_server.store.pubsub import PubSub
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError, MovedError, ResponseError

from tests.server.arena_client import with_timeout
from tests.server.conftest import RedisProcess
from tests.server.game_process import BOTS, act, begun, lowest, new_game, raw, seat_request

PATIENCE = 120.0


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - of many kinds
            await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(*processes):
    """What each of the processes hears of games while it listens."""
    heard = {process: [] for process in processes}
    for process in processes:
        pass_on = process.notifications._dispatch

        def note(message, process=process, pass_on=pass_on):
            if isinstance(message, GameNotification):
                heard[process].append(message)
            pass_on(message)

        process.notifications._dispatch = note
    tasks = [asyncio.create_task(process.notifications.receive()) for process in processes]
    try:
        for process in processes:
            await until(lambda process=process: all_heard(process))
        yield heard
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def all_heard(process):
    """Whether somebody listens to each channel of a process, wherever it is."""
    return all([await raw(process, "SPUBLISH", each, "hello") for each in process.games.channels])


class Follower:
    """Somebody who follows a game."""

    def __init__(self, process, game_id):
        self._process, self._game_id = process, game_id
        self.versions = []

    async def come(self):
        await self._process.notifications.register(self._game_id)
        view = await self._process.live_games.view(self._game_id)
        self._process.notifications.subscribe(view, self._on_change, lambda *_: None)
        return self

    def leave(self):
        self._process.notifications.unsubscribe(self._game_id, self._on_change)

    def _on_change(self, view):
        self.versions.append(view.stored.version)


async def subscribers(process, game_id):
    found = await raw(process, "HGET", keys.game(game_id), "subscribers")
    return bytes(found or b"").decode().split()


async def test_a_change_rings_where_the_game_is_followed_and_nowhere_else(three):
    one, two, _ = three
    game_id = await begun(one)
    async with listening(*three) as heard:
        mine, theirs = await Follower(one, game_id).come(), await Follower(two, game_id).come()
        for _ in range(3):
            await act(one, game_id, lowest)
        await until(lambda: seen(theirs, 4))
        assert mine.versions == theirs.versions == [2, 3, 4]
        other = await begun(one)  # which nobody follows
        await act(one, other, lowest)
        await act(one, game_id, lowest)
        await until(lambda: seen(theirs, 5))
    assert [heard[process] for process in three] == [
        [],
        [(game_id, n) for n in (2, 3, 4, 5)],
        [],
    ]


async def seen(follower, version):
    return version in follower.versions


async def test_a_seat_that_is_taken_or_left_rings_everywhere_it_is_followed(processes):
    one = processes[0]
    game_id = (await one.commands.create(new_game())).game_id
    async with listening(*processes) as heard:
        for process in processes:
            await Follower(process, game_id).come()
        await one.games.take_seat(game_id, [0], seat_request(0))
        await one.games.leave_seats(game_id, [0], seat_request(0).bot)
        await until(lambda: rung_twice(heard))
    assert all(words == [(game_id, 0)] * 2 for words in heard.values())


async def rung_twice(heard):
    return all(len(words) == 2 for words in heard.values())


async def test_a_process_that_left_a_game_long_ago_is_rung_at_once_more(processes, monkeypatch):
    one, two = processes
    game_id = await begun(one)
    async with listening(*processes) as heard:
        follower = await Follower(two, game_id).come()
        follower.leave()
        two.notifications._expire_registrations()
        await act(one, game_id, lowest)
        await until(lambda: rung(heard[two]))
        assert len(await subscribers(one, game_id)) == 1  # whoever asks by calls may come back
        monkeypatch.setattr(notifications, "REGISTRATION_SECONDS", 0.0)
        two.notifications._expire_registrations()
        await act(one, game_id, lowest)
        await until(lambda: deaf(one, game_id))
        await act(one, game_id, lowest)
        assert heard[two] == [(game_id, 2), (game_id, 3)]


async def rung(heard):
    return bool(heard)


async def deaf(process, game_id):
    return not await subscribers(process, game_id)


async def test_a_bell_that_was_missed_is_made_up_for_and_the_next_one_rings(processes, monkeypatch):
    monkeypatch.setattr(notifications, "POLL_SECONDS", 0.05)
    one, two = processes
    game_id = await begun(one)
    async with listening(*processes) as heard:
        follower = await Follower(two, game_id).come()
        await raw(one, "HDEL", keys.game(game_id), "subscribers")  # as a lost primary may
        looking = asyncio.create_task(two.notifications.poll())
        await act(one, game_id, lowest)
        await until(lambda: seen(follower, 2))
        await until(lambda: listens(one, game_id))
        looking.cancel()
        assert heard[two] == []
        await act(one, game_id, lowest)
        await until(lambda: seen(follower, 3))
        assert heard[two] == [(game_id, 3)]


async def listens(process, game_id):
    return len(await subscribers(process, game_id)) == 1


async def test_who_follows_a_game_leaves_nothing_behind_after_its_end(processes):
    one, two = processes
    game_id = await begun(one)
    async with listening(*processes):
        follower = await Follower(two, game_id).come()
        bot = (await one.live_games.view(game_id)).stored.seats[0].bot
        await one.commands.resign(game_id, bot, None)
        await until(lambda: seen(follower, 2))
        follower.leave()
        assert two.notifications._registered == {}
        await one.games.compact(await one.games.load(game_id))
        assert await subscribers(one, game_id) == []
        late = await Follower(two, game_id).come()
        late.leave()
        assert (await two.live_games.view(game_id)).stored.state == OVER
        assert await subscribers(one, game_id) == []


async def test_subscribing_to_a_game_that_does_not_exist_creates_none(processes):
    one, _ = processes
    await one.notifications.register("none")
    assert await raw(one, "EXISTS", keys.game("none")) == 0


async def test_of_many_processes_that_were_restarted_the_oldest_are_rung_at_no_more(one):
    game_id = await begun(one)
    for number in range(40):
        one.games.process = f"life-{number}"
        await one.games.subscribe(game_id)
    assert await subscribers(one, game_id) == [f"life-{number}" for number in range(8, 40)]


async def test_a_store_that_takes_no_writes_may_still_be_followed(one, monkeypatch):
    async def refused(_game_id):
        raise StoreUnavailable("no writes")

    game_id = await begun(one)
    with monkeypatch.context() as patched:
        patched.setattr(one.games, "subscribe", refused)
        await one.notifications.register(game_id)
    assert await subscribers(one, game_id) == []
    await one.notifications.register(game_id)  # it was not taken for said
    assert len(await subscribers(one, game_id)) == 1


async def test_a_game_in_which_catching_up_fails_is_read_anew(processes, monkeypatch):
    one, two = processes
    game_id = await begun(one)
    await two.live_games.view(game_id)
    await act(one, game_id, lowest)

    def half_way(game, _newer):
        game.engine.apply(game.engine.legal()[0])
        raise RuntimeError("a defect")

    with monkeypatch.context() as patched:
        patched.setattr(live_games, "catch_up", half_way)
        with pytest.raises(RuntimeError):
            await two.live_games.view(game_id)
    mine, theirs = await one.live_games.view(game_id), await two.live_games.view(game_id)
    assert mine.copy().dumps() == theirs.copy().dumps()


async def test_what_others_played_is_played_on_from_what_is_known(processes, monkeypatch):
    one, two = processes
    game_id = (await one.commands.create(new_game())).game_id
    await two.live_games.view(game_id)  # before its seats are taken
    known = two.live_games.cached[game_id]
    for seat in range(2):
        await one.commands.join(
            game_id, [seat], replace(seat_request(seat), entropy=b"chosen by the bot")
        )
    for _ in range(20):
        await act(one, game_id, lowest)

    async def whole_log(_game_id):
        raise AssertionError("the whole log was read")

    monkeypatch.setattr(two.games, "load", whole_log)
    rung_before = two.subscribers.counts[game_id]
    table = await two.live_games.view(game_id)
    assert two.live_games.cached[game_id] is known
    assert two.subscribers.counts[game_id] == rung_before + 1
    mine = await one.live_games.view(game_id)
    assert table.copy().dumps() == mine.copy().dumps()
    assert (table.stored.version, table.stored.chain) == (21, mine.stored.chain)
    assert table.log == mine.log
    assert known.played.answers == one.live_games.cached[game_id].played.answers
    await act(two, game_id, lowest)
    assert (await one.live_games.view(game_id)).stored.version == 22


async def test_each_change_is_published_once_wherever_it_was_committed(processes):
    one, two = processes
    game_id = (await one.commands.create(new_game())).game_id
    async with listening(one, two):
        followers = [await Follower(each, game_id).come() for each in (one, two)]
        for seat in range(2):
            await one.commands.join(game_id, [seat], seat_request(seat))
        for number in range(6):
            await act((one, two)[number % 2], game_id, lowest)
        await until(lambda: _has(followers, 7))
        for each in processes:  # what was published is not published again by reading it
            await each.live_games.view(game_id)
            each.live_games.drop(game_id)
            await each.live_games.view(game_id)
    for follower in followers:
        begun_at = follower.versions.index(1)
        assert set(follower.versions[:begun_at]) <= {0}  # seats are taken without a version
        assert follower.versions[begun_at:] == [1, 2, 3, 4, 5, 6, 7]


async def _has(followers, version):
    return all(version in follower.versions for follower in followers)


async def test_a_view_stays_what_it_is_while_its_game_goes_on(one):
    game_id = await begun(one)
    await act(one, game_id, lowest)
    view = await one.live_games.view(game_id)
    before = (view.copy().dumps(), [*view.legal()], [*view.events()], view.log, view.step_kind())
    replay = replay_message(view, "1").SerializeToString(deterministic=True)
    for _ in range(3):
        await act(one, game_id, lowest)
    assert (await one.live_games.view(game_id)).stored.version == view.stored.version + 3
    after = (view.copy().dumps(), [*view.legal()], [*view.events()], view.log, view.step_kind())
    assert after == before
    assert replay_message(view, "1").SerializeToString(deterministic=True) == replay
    assert view.answer_to((await one.live_games.view(game_id)).log[-1].version - 1) is None


async def test_a_view_is_right_while_the_next_commit_is_under_way(one, monkeypatch):
    game_id = await begun(one)
    view = await one.live_games.view(game_id)
    before = view.copy().dumps()
    seen = []
    commit = one.writer.commit

    def committing(change, pending):
        seen.append(view.copy().dumps())  # the engine has played what is not committed yet
        commit(change, pending)

    monkeypatch.setattr(one.writer, "commit", committing)
    await act(one, game_id, lowest)
    assert seen == [before]


async def test_a_position_that_a_log_does_not_lead_to_voids_the_game_of_who_follows_it(processes):
    one, two = processes
    game_id = await begun(one)
    await two.live_games.view(game_id)
    for _ in range(10):
        await act(one, game_id, lowest)
    snapshot = await raw(one, "HGET", keys.game(game_id), "position")
    version, _, position = snapshot.partition(b" ")
    assert 1 < int(version) <= 11
    await raw(one, "HSET", keys.game(game_id), "position", version + b" x" + position)
    assert (await two.live_games.view(game_id)).stored.state == OVER


async def test_an_answer_to_what_another_process_asked_is_taken_at_once(processes):
    one, two = processes
    game_id = await begun(one)
    await two.live_games.view(game_id)  # and hears of nothing after it
    await act(one, game_id, lowest)
    table = await one.live_games.view(game_id)
    stored = table.stored
    bot, actions = stored.seats[stored.seat].bot, lowest(table.copy())
    receipt = await two.answer(game_id, bot, stored.decision, actions)
    assert (receipt.duplicate, receipt.entry.version) == (False, stored.version + 1)


async def test_games_that_end_elsewhere_are_laid_aside_too(processes, monkeypatch):
    monkeypatch.setattr(live_games, "MOST_OVER", 1)
    one, two = processes
    for _ in range(3):
        game_id = await begun(one)
        await two.live_games.view(game_id)
        await one.commands.resign(game_id, BOTS[0], None)
        assert (await two.live_games.view(game_id)).stored.state == OVER
    assert [*two.live_games.cached] == [game_id]


async def test_a_game_that_is_read_in_two_places_while_it_moves_is_not_void(processes, monkeypatch):
    one, two = processes
    game_id = await begun(one)
    await act(one, game_id, lowest)
    load, reads = two.games.load, []

    async def torn_once(game_id):
        stored = await load(game_id)
        if not reads:
            del stored.log[-1]
        reads.append(game_id)
        return stored

    monkeypatch.setattr(two.games, "load", torn_once)
    assert (await two.live_games.view(game_id)).stored.state == PLAYING
    assert len(reads) == 2


async def test_games_of_a_node_that_does_not_answer_are_looked_at_again_later(
    processes, monkeypatch
):
    one, two = processes
    lost, whole = await begun(one), await begun(one)
    for game_id in (lost, whole):
        await two.live_games.view(game_id)
        await act(one, game_id, lowest)
    heads = two.games.heads

    async def without_one(game_ids):
        found = await heads(game_ids)
        return [None if each == lost else head for each, head in zip(game_ids, found, strict=True)]

    monkeypatch.setattr(two.games, "heads", without_one)
    monkeypatch.setattr(two.games, "moved", lambda since, games: (7, [*games] if since < 7 else []))
    assert await two.live_games.changed([lost, whole]) == [whole]
    await two.live_games.check_moved()
    assert [two.live_games.cached[each].stored.version for each in (lost, whole)] == [1, 2]
    monkeypatch.setattr(two.games, "heads", heads)
    await two.live_games.check_moved()
    assert two.live_games.cached[lost].stored.version == 2


@pytest.fixture
def two_nodes(short_folder):
    """Two servers by name."""
    made = {}
    for name in "ab":
        (short_folder / name).mkdir()
        made[name] = RedisProcess(find_binary(), short_folder / name).start()
    yield made
    for node in made.values():
        node.kill()


@pytest.mark.one_redis("two of them are the nodes here, and one is killed")
async def test_a_lost_node_costs_no_messages_of_the_others(two_nodes):
    pools = {name: ConnectionPool.from_url(node.url) for name, node in two_nodes.items()}

    def places(channels):
        return [(pools[name], [name]) for name in channels] or [(pools["a"], ())]

    heard = []

    async def listen():
        async for message in PubSub(places).messages(("all",), ("a", "b")):
            heard.append(message)  # noqa: PERF401 - looked at while it grows

    async def reached(name):
        with suppress(RedisConnectionError):
            client = Redis(connection_pool=pools[name])
            return await client.execute_command("SPUBLISH", name, "hello")

    listening = asyncio.create_task(listen())
    for name in two_nodes:
        await until(lambda name=name: reached(name))
    two_nodes["b"].kill()
    await until(lambda: missed(heard))
    for _ in range(5):
        assert await reached("a") == 1
        await asyncio.sleep(0.2)
    two_nodes["b"].start()
    await until(lambda: reached("b"))
    listening.cancel()
    await asyncio.wait({listening})
    for pool in pools.values():
        await pool.disconnect()


async def missed(heard):
    return None in heard


@pytest.mark.one_redis("one of them is the node here")
async def test_a_connection_that_closes_while_it_is_made_is_made_again(two_nodes, monkeypatch):
    pool, connect = ConnectionPool.from_url(two_nodes["a"].url), AbstractConnection.connect

    async def closed(_connection):
        monkeypatch.setattr(AbstractConnection, "connect", connect)
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>")

    monkeypatch.setattr(AbstractConnection, "connect", closed)
    messages = PubSub(lambda _channels: [(pool, ())]).messages(("all",), ())
    assert await with_timeout(anext(messages)) is None, "some may have been missed"
    client = Redis(connection_pool=ConnectionPool.from_url(two_nodes["a"].url))
    await until(lambda: client.publish("all", "is anybody here?"))
    await messages.aclose()
    await client.connection_pool.disconnect()


async def test_a_game_that_is_dropped_is_freed_without_the_garbage_collector(one):
    def living():
        return sum(type(each) is LiveGame for each in gc.get_objects())

    gc.collect()
    before = living()
    gc.disable()
    try:
        for _ in range(3):
            game_id = await begun(one)
            view = await one.live_games.view(game_id)
            one.notifications.subscribe(view, lambda _view: None, print)
            del view
            for _ in range(3):
                await act(one, game_id, lowest)
            one.live_games.drop(game_id)
        await asyncio.sleep(0)
        assert living() == before
    finally:
        gc.enable()


async def test_a_seat_change_that_is_announced_while_another_is_read_is_published(
    processes, monkeypatch
):
    one, two = processes
    game_id = (await two.commands.create(new_game(3))).game_id
    seen, go_on, load_since = [], asyncio.Event(), one.games.load_since
    view = await one.live_games.view(game_id)
    one.notifications.subscribe(
        view, lambda each: seen.append([seat.bot for seat in each.stored.seats]), print
    )

    async def slowly(known):
        newer = await load_since(known)
        await go_on.wait()
        return newer

    monkeypatch.setattr(one.games, "load_since", slowly)
    for seat in range(2):
        await two.commands.join(game_id, [seat], seat_request(seat))
        one.notifications._load_later(game_id, 0)
        await asyncio.sleep(0.05)  # the first is being read when the second is announced
    go_on.set()
    await until(lambda: _is_last(seen, [BOTS[0], BOTS[1], ""]))


async def _is_last(seen, bots):
    return seen[-1:] == [bots]


async def test_a_game_whose_change_failed_before_it_was_sent_is_read_again(one, monkeypatch):
    game_id = await begun(one, 3)
    view = await one.live_games.view(game_id)
    async with one.live_games.locks.hold(game_id):
        game = await one.live_games.refresh(game_id)
        await one.commits.lose_seat(game, view.stored.seat, EndReason.END_REASON_RESIGNED)
    before = (await one.live_games.view(game_id)).event_count

    def broken(*_):
        raise RuntimeError("a defect")

    with monkeypatch.context() as patched:
        patched.setattr(commits, "_record", broken)
        await one.timers._handle(game_id, 0)
    after = await one.live_games.view(game_id)
    assert (after.stored.version, after.event_count) == (2, before)
    await one.timers._handle(game_id, 0)
    assert not (await one.live_games.view(game_id)).asks_a_lost_seat


async def test_a_command_that_is_redirected_and_then_refused_is_answered():
    class Sender:
        def send(self, _command, receiver):
            error = translate(ResponseError("BUSY Redis is busy running a script"))
            asyncio.get_running_loop().call_soon(receiver.receive, error)

    class OneNode:
        def start_task(self, work):
            self.task = asyncio.create_task(work)

        def slot_moved(self, *_):
            pass

        def sender(self, _address):
            return Sender()

    reply = AwaitedReply()
    command = _RoutedCommand(OneNode(), ("EVALSHA", "x", 1, "key"), ("here", 1), reply)
    command.receive(MovedError("1 there:2"))
    with pytest.raises(StoreRefusedError):
        await asyncio.wait_for(reply.future, PATIENCE)
