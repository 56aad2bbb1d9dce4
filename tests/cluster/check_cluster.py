"""`make cluster-test`: six nodes lose a primary and move slots while bots play on two arenas."""

import threading
import time

import pytest
from himeji.rules.errors import HimejiError
from himeji_sdk import Client
from himeji_server.store import keys
from himeji_server.store.cluster import slot_of

TABLES = 6
PATIENCE = 120.0
MOST_SECONDS = 240.0


class Players:
    """Tables of unary bots, each seat at another arena; they play until they are told to stop."""

    def __init__(self, arenas):
        self._arenas = arenas
        self.stop = threading.Event()
        self.games = []
        self.faults = []
        self._threads = [threading.Thread(target=self._play) for _ in range(TABLES)]
        for thread in self._threads:
            thread.start()

    def _play(self):
        clients = [
            Client(each.target, each.token_file.read_text().strip(), patience=PATIENCE)
            for each in self._arenas
        ]
        try:
            while not self.stop.is_set():
                self._game(clients)
        except Exception as error:
            self.faults.append(repr(error))
            raise
        finally:
            for client in clients:
                client.close()

    def _game(self, clients):
        game = clients[0].create_game("duel", seats=2)
        hands = [
            client.join(game.game_id, seat=seat, bot=f"local/{game.game_id[:8]}-{seat}")
            for seat, client in enumerate(clients)
        ]
        deadline = time.monotonic() + MOST_SECONDS
        while all(hand.end is None for hand in hands):
            assert time.monotonic() < deadline, "a game does not go on"
            for hand in hands:
                self._answer(hand)
        self.games.append((game.game_id, next(hand.end for hand in hands if hand.end).reason))

    def _answer(self, hand):
        """Answer what is open. What the arena refuses, because it was played before, is no harm."""
        try:
            asked = hand.decision()
            if asked is not None:
                hand.submit(asked.legal[0])
        except HimejiError as error:
            if error.reason not in ("ALREADY_DECIDED", "STALE_DECISION", "GAME_ENDED"):
                raise

    def wait_for(self, more):
        """Wait until so many more games were played."""
        goal, deadline = len(self.games) + more, time.monotonic() + MOST_SECONDS
        while len(self.games) < goal:
            assert not self.faults, self.faults
            assert time.monotonic() < deadline, f"{len(self.games)} games, and {goal} were awaited"
            time.sleep(0.1)

    def end(self):
        self.stop.set()
        for thread in self._threads:
            thread.join(MOST_SECONDS)


@pytest.fixture
def cluster(start_cluster):
    return start_cluster(primaries=3, replicas=1)


@pytest.fixture
def players(cluster, start_arena):
    arenas = [start_arena(node.url) for node in (cluster.nodes[1], cluster.nodes[2])]
    playing = Players(arenas)
    yield playing
    playing.end()


def check(players, arena):
    """Every game came to its end by the rules, or was voided; and can be replayed."""
    assert not players.faults
    ends = {reason for _, reason in players.games}
    assert ends <= {"finished", "no_contest"}, ends
    with Client(arena.target, arena.token_file.read_text().strip()) as client:
        for game_id, reason in players.games:
            if reason == "finished":
                client.replay(game_id)


@pytest.mark.timeout(900)
def test_games_go_on_when_a_primary_is_lost_and_comes_back(cluster, players):
    players.wait_for(TABLES)
    lost = cluster.nodes[0]
    lost.kill()
    cluster.wait_until_ok()
    players.wait_for(2 * TABLES)
    lost.start()
    cluster.wait_until_ok()
    players.wait_for(TABLES)
    players.end()
    check(players, players._arenas[0])


@pytest.mark.timeout(900)
def test_games_go_on_while_all_their_slots_move(cluster, players):
    players.wait_for(TABLES)
    slots = sorted({slot_of(keys.timers(bucket)) for bucket in range(keys.BUCKETS)})
    primaries = cluster.nodes[:3]
    for slot in slots:
        home = slot * 3 // 16384
        cluster.move_slot(slot, primaries[home], primaries[(home + 1) % 3])
    players.wait_for(2 * TABLES)
    players.end()
    check(players, players._arenas[0])
    assert {reason for _, reason in players.games} == {"finished"}
