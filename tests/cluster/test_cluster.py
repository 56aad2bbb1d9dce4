"""The store on a real Redis Cluster: every key finds its node, wherever its slot goes."""

import os
import signal

import himeji_server.store.cluster as module
import pytest
from himeji.rules.errors import StoreUnavailable
from himeji_sdk import Client
from himeji_server.store import Store, StoreRefusedError
from himeji_server.store.cluster import slot_of

from tests.cluster.nodes import wait_until


@pytest.fixture
def cluster(start_cluster):
    return start_cluster(primaries=3)


async def test_keys_are_spread_over_the_primaries_and_found_again(cluster):
    store = await Store.connect(cluster.url)
    for number in range(60):
        await store.call("SET", f"himeji:test-{number}", number)
    assert [int(await store.call("GET", f"himeji:test-{n}")) for n in range(60)] == [*range(60)]
    assert all(cluster.keys_of(node) for node in cluster.nodes)
    await store.check_writable()
    await store.close()


async def test_a_weak_setting_of_any_primary_is_too_weak_for_ranked_games(cluster):
    cluster.nodes[2].client.config_set("appendfsync", "everysec")
    store = await Store.connect(cluster.url)
    with pytest.raises(StoreRefusedError, match="appendfsync is everysec"):
        await store.check_durability()
    await store.close()


async def test_a_slot_that_moves_is_followed_while_it_moves_and_after(cluster, monkeypatch):
    # The nodes' own redirections have to be enough: nobody looks at the map again.
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LOOKS", 3600)
    store = await Store.connect(cluster.url)
    slot = slot_of("{a}")
    source = cluster.nodes[slot * 3 // 16384]
    target = cluster.nodes[(slot * 3 // 16384 + 1) % 3]
    await store.call("SET", "{a}:old", "1")
    target.client.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
    source.client.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
    await store.call("SET", "{a}:new", "2")  # asked of the target, which does not own it yet
    assert await store.call("GET", "{a}:old") == b"1"
    cluster.move_slot(slot, source, target)
    assert [await store.call("GET", f"{{a}}:{each}") for each in ("old", "new")] == [b"1", b"2"]
    await store.close()


async def test_a_store_without_all_its_slots_says_that_it_cannot_work(cluster):
    store = await Store.connect(cluster.url)
    cluster.nodes[1].kill()
    key = next(f"k{n}" for n in range(1000) if slot_of(f"k{n}") * 3 // 16384 == 1)
    with pytest.raises(StoreUnavailable):
        await store.call("GET", key)
    wait_until(lambda: not cluster.nodes[0].ok(), "the others have noticed")
    with pytest.raises(StoreUnavailable):
        await store.ping()
    await store.close()


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
    assert all(cluster.keys_of(node) for node in cluster.nodes)


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
