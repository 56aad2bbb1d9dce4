"""The store on a real Redis Cluster: every key finds its node, wherever its slot goes."""

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter

import himeji_server.store.cluster as module
import pytest
from himeji.rules.errors import StoreUnavailable
from himeji.v1.game_pb2 import EndReason, GameResult, SeatPlan, SeatPolicy
from himeji.wire.clock import Clock
from himeji_sdk import Client
from himeji_server.games.commands import NewGame
from himeji_server.ladder.ladders import defaults
from himeji_server.store import Store, StoreRefusedError, keys, pipelining
from himeji_server.store.cluster import slot_of
from himeji_server.store.game_records import SeatRequest

from tests.cluster.nodes import SLOTS, TIMEOUT, Cluster, wait_until
from tests.server.ladder_process import ladder_process

pytestmark = pytest.mark.long


async def eventually(store, *command):
    """Retry a command until it is answered."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return await store.call(*command)
        except StoreUnavailable:
            assert time.monotonic() < deadline, "the store did not recover in time"
            await asyncio.sleep(0.1)


@pytest.fixture(scope="module")
def nodes():
    with contextlib.closing(Cluster(primaries=3)) as opened:
        yield opened


@pytest.fixture
def cluster(nodes):
    """Three empty primaries; earlier tests may have moved slots between them."""
    nodes.empty()
    return nodes


async def test_keys_are_spread_over_the_primaries_and_found_again(cluster):
    store = await Store.connect(cluster.url)
    for number in range(60):
        await store.call("SET", f"himeji:test-{number}", number)
    assert [int(await store.call("GET", f"himeji:test-{n}")) for n in range(60)] == [*range(60)]
    assert all(cluster.key_count(node) for node in cluster.nodes)
    await store.check_writable()
    await store.close()


async def test_a_weak_setting_of_any_primary_is_too_weak_for_ranked_games(cluster):
    cluster.nodes[2].client.config_set("appendfsync", "everysec")
    store = await Store.connect(cluster.url)
    with pytest.raises(StoreRefusedError, match="appendfsync is everysec"):
        await store.check_durability()
    cluster.nodes[2].client.config_set("appendfsync", "always")
    await store.check_durability()
    await store.close()


async def test_a_slot_that_moves_is_followed_while_it_moves_and_after(cluster, monkeypatch):
    # Redirections of the nodes have to suffice: the slot map is never refreshed.
    monkeypatch.setattr(module, "_REFRESH_SECONDS", 3600)
    monkeypatch.setattr(module, "_REFRESH_DELAY_SECONDS", 3600)
    store = await Store.connect(cluster.url)
    slot = slot_of("{a}")
    source = cluster.primary_of(slot)
    target = cluster.other_primary(source)
    await store.call("SET", "{a}:old", "1")
    target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
    source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
    await store.call(
        "SET", "{a}:new", "2"
    )  # redirected to the target, which does not own the slot yet
    assert await store.call("GET", "{a}:old") == b"1"
    cluster.move_slot(slot, source, target)
    assert [await store.call("GET", f"{{a}}:{each}") for each in ("old", "new")] == [b"1", b"2"]
    await store.close()


async def test_what_was_written_is_answered_for_when_the_replica_has_it(start_cluster, monkeypatch):
    monkeypatch.setattr(pipelining, "_REPLICATION_MILLISECONDS", 100)
    cluster = start_cluster(primaries=1, replicas=1)
    primary, replica = cluster.nodes
    store = await Store.connect(cluster.url)
    await store.call("SET", "a", "copied")
    replica.stop_replication(primary)
    with pytest.raises(StoreUnavailable, match="not copied"):
        await store.call("SET", "a", "not copied")
    with pytest.raises(StoreUnavailable, match="not copied"):
        await store.call("GET", "a")  # a read must not show what may be lost
    replica.resume_replication()
    wait_until(replica.is_linked, "the replica is connected again")
    assert await store.call("GET", "a") == b"not copied"
    replica.kill()
    wait_until(lambda: primary.counts_replicas(0), "the primary considers the replica lost")
    await eventually(store, "SET", "a", "without a replica")
    await store.close()


async def test_a_store_without_all_its_slots_says_that_it_cannot_work(cluster):
    store = await Store.connect(cluster.url)
    lost = {*cluster.nodes[1].slots()}
    cluster.nodes[1].kill()
    key = next(f"k{n}" for n in range(1000) if slot_of(f"k{n}") in lost)
    with pytest.raises(StoreUnavailable):
        await store.call("GET", key)
    wait_until(lambda: not cluster.nodes[0].ok(), "the other nodes have noticed")
    with pytest.raises(StoreUnavailable):
        await store.ping()
    await store.close()


async def begun_game(commands):
    """A game of two bots that are asked for their first answer."""
    bots = ("ada/one", "bob/two")
    plans = tuple(SeatPlan(policy=SeatPolicy.SEAT_POLICY_ANYONE) for _ in bots)
    table = await commands.create(NewGame("duel", {}, plans, Clock(60_000, 0), strike_limit=3))
    for seat, bot in enumerate(bots):
        table, _ = await commands.join(table.game_id, [seat], SeatRequest(bot, 1, b"", ""))
    return table


async def answer(submissions, table):
    legal = table.legal()[:1]
    await submissions.submit_and_wait(table.game_id, table.asked_bot, table.stored.decision, legal)


async def test_a_move_is_one_command_to_the_slot_of_its_game(cluster, monkeypatch):
    async with ladder_process(cluster.url) as stage:
        table = await begun_game(stage.use_cases._commands)
        sent, send = [], stage.redis._sender.send

        def recorded(command, receiver):
            sent.append(command)
            send(command, receiver)

        monkeypatch.setattr(stage.redis._sender, "send", recorded)
        await answer(stage.use_cases._submissions, table)
        [(name, _, count, *rest)] = sent
        assert name == "EVALSHA"
        assert {slot_of(key) for key in rest[:count]} == {slot_of(keys.game(table.game_id))}


async def test_a_game_of_which_its_new_node_lost_a_part_is_voided_though_nobody_asks(cluster):
    async with ladder_process(cluster.url) as stage:
        commands, live_games = stage.use_cases._commands, stage.use_cases._live_games
        lost, kept = [await begun_game(commands) for _ in range(2)]
        slots = [slot_of(keys.game(table.game_id)) for table in (lost, kept)]
        of_lost = (keys.game(lost.game_id), keys.log(lost.game_id))
        old = {key: await stage.redis.call("DUMP", key) for key in of_lost}
        await answer(stage.use_cases._submissions, lost)
        await answer(stage.use_cases._submissions, kept)
        for slot in set(slots):
            home = cluster.primary_of(slot)
            cluster.move_slot(slot, home, cluster.other_primary(home))
        for key, value in old.items():
            await stage.redis.call("RESTORE", key, 0, value, "REPLACE")
        await stage.redis.call("EXISTS", keys.game(kept.game_id))
        await live_games.check_moved()
        ended = [live_games.cached[each.game_id].stored.state for each in (lost, kept)]
        assert ended == ["over", "playing"]
        voided = await live_games.store.load(lost.game_id)
        assert GameResult.FromString(voided.result).end_reason == EndReason.END_REASON_NO_CONTEST


def test_games_and_ladders_are_spread_over_slots():
    chance = random.Random(1)
    games = [chance.randbytes(10).hex() for _ in range(6_400)]
    in_slots = Counter(slot_of(keys.game(each)) for each in games)
    assert len(in_slots) == keys.BUCKETS
    assert max(in_slots.values()) < 2 * len(games) / keys.BUCKETS
    on_primaries = Counter(slot_of(keys.game(each)) * 3 // SLOTS for each in games)
    assert min(on_primaries.values()) > len(games) / 3 / 2
    ladders = defaults()
    assert len({slot_of(keys.tickets(each)) for each in ladders}) == len(ladders)
    # A list of games asks the index of each bucket; nothing holds the games of all.
    assert len({slot_of(keys.game_index(bucket)) for bucket in range(keys.BUCKETS)}) == keys.BUCKETS


def test_a_game_is_played_on_a_cluster_by_bots_of_two_arenas(cluster, start_arena):
    here, there = (start_arena(node.url) for node in cluster.nodes[:2])
    with (
        Client(here.target, here.token_file.read_text().strip()) as one,
        Client(there.target, there.token_file.read_text().strip()) as other,
    ):
        game = one.create_game("duel", seats=2)
        hands = [
            one.join(game, seat=0, bot="local/one"),
            other.join(game.game_id, seat=1, bot="local/two"),
        ]
        while all(hand.end is None for hand in hands):
            for hand in hands:
                asked = hand.decision()
                if asked is not None:
                    hand.submit(asked.legal[0])
        assert hands[0].decision(wait=20) is None
        assert hands[0].end.reason == "finished"
        assert [each.game_id for each in other.games(most=5)] == []
    assert all(cluster.key_count(node) for node in cluster.nodes)


def test_a_client_with_two_addresses_goes_on_when_one_arena_stops(cluster, start_arena):
    first, second = (start_arena(cluster.url) for _ in range(2))
    addresses = f"ipv4:{first.target},{second.target}"
    with Client(addresses, first.token_file.read_text().strip(), patience=120) as client:
        game = client.create_game("duel", seats=2)
        for seat in range(2):
            hand = client.join(game, seat=seat, bot="local/both")
        hand.seat = None  # plays for both seats
        for turn in range(200):
            asked = hand.decision(wait=20)
            if asked is None:
                break
            hand.submit(asked.legal[0])
            if turn == 3:
                os.kill(first.pid, signal.SIGKILL)
    assert hand.end.reason == "finished"
