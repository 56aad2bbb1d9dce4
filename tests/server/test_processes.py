"""Several server processes on one port and one Redis, and how an arena ends its streams."""

import contextlib
import json
import os
import queue
import random
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from himeji.rules import errors
from himeji.v1 import (
    game_pb2,
    game_service_pb2 as games_pb2,
    play_service_pb2 as play_pb2,
    stream_pb2,
)
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji.wire.errors import from_rpc_error
from himeji_server.launch import worker_pool
from himeji_server.limits import AccountLimits, Limits
from himeji_server.settings import Settings

from tests.server.conftest import open_arena
from tests.server.process_tree import children_of, workers_of

OWN_CONNECTION = [("grpc.use_local_subchannel_pool", 1)]
TWO = ("--port", "0", "--processes", "2", "--metrics-port", "0")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """An arena of two processes that are there whenever a test begins."""
    with open_arena(tmp_path_factory.mktemp("two"), *TWO) as arena:
        yield arena


def streams_by_process(arena):
    found = []
    for url in arena.facts["metrics"].split(", "):
        with urllib.request.urlopen(url, timeout=120) as answer:
            (line,) = [
                line
                for line in answer.read().decode().splitlines()
                if line.startswith('himeji_streams_open{kind="play"}')
            ]
        found.append(int(float(line.split()[1])))
    return found


def metadata_of(arena):
    secret = Path(arena.facts["token"]).read_text().strip()
    return (("authorization", f"Bearer {secret}"),)


class Bot:
    """A bot with a connection of its own, on whichever process the kernel chose."""

    def __init__(self, arena, name, stack):
        self.name = name
        self.channel = stack.enter_context(grpc.insecure_channel(arena.address, OWN_CONNECTION))
        self.requests = queue.Queue()
        hello = play_pb2.Hello(protocol_version=1, bot=name)
        self.send(hello=hello)
        stream = PlayServiceStub(self.channel).Play(
            iter(self.requests.get, None), metadata=metadata_of(arena)
        )
        self.messages = (message for batch in stream for message in batch.messages)
        assert next(self.messages).HasField("welcome")

    def send(self, **body):
        message = play_pb2.ClientMessage(**body)
        self.requests.put(play_pb2.PlayRequest(messages=[message]))

    def until(self, *bodies):
        """The next message of one of these kinds."""
        for message in self.messages:
            if message.WhichOneof("body") in bodies:
                return message
        raise AssertionError("the stream ended")

    def play_to_the_end(self):
        """Answer every decision until a game is over."""
        while (message := self.until("decision", "game_over")).HasField("decision"):
            asked = message.decision
            choice = random.Random(asked.decision_id).choice(asked.legal_actions)
            act = play_pb2.Act(
                game_id=asked.game_id, decision_id=asked.decision_id, actions=[choice]
            )
            self.send(act=act)
        return message.game_over

    def close(self):
        self.requests.put(None)
        assert self.until("stream_end").stream_end.kind == stream_pb2.STREAM_END_KIND_GOODBYE


def on_both_processes(arena, stack):
    """Two bots whose streams are at different processes: the kernel chooses, so try."""
    first = Bot(arena, "local/one", stack)
    for _ in range(60):
        second = Bot(arena, "local/two", stack)
        if streams_by_process(arena) == [1, 1]:
            return first, second
        second.close()
    raise AssertionError("all connections came to one process")


def test_a_game_is_played_by_bots_on_different_processes(start_arena, tmp_path):
    arena = start_arena("--data", str(tmp_path), *TWO).opened()
    with contextlib.ExitStack() as stack:
        bots = on_both_processes(arena, stack)
        games = GameServiceStub(bots[0].channel)
        metadata = metadata_of(arena)
        request = games_pb2.CreateGameRequest(ruleset="base", seats=[game_pb2.SeatPlan()] * 2)
        game_id = games.CreateGame(request, metadata=metadata, timeout=120).game.game_id
        for seat, bot in enumerate(bots):
            join = games_pb2.JoinGameRequest(game_id=game_id, bot=bot.name, seat=seat)
            games.JoinGame(join, metadata=metadata, timeout=120)
        with ThreadPoolExecutor() as threads:
            ends = list(threads.map(Bot.play_to_the_end, bots))
        assert ends[0].result == ends[1].result
        assert ends[0].result.end_reason == game_pb2.END_REASON_FINISHED
        for bot in bots:
            bot.close()
    assert arena.stop() == 0
    assert "Traceback" not in arena.errors


def test_several_processes_announce_themselves_once(start_arena, tmp_path):
    arena = start_arena("--data", str(tmp_path), *TWO).opened()
    assert len(workers_of(arena.process.pid)) == 2
    assert len(arena.facts["metrics"].split(", ")) == 2
    assert arena.stop() == 0
    assert arena.output.count("the arena is open") == 1
    assert arena.output.count("\n") == 9


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_one_process_has_no_children_but_redis(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--house", "none").opened()
    assert children_of(arena.process.pid) == [arena.redis_pid()]


def test_a_process_that_dies_is_replaced(two, wait_until, is_alive):
    before = workers_of(two.process.pid)
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: not is_alive(before[0]), "the child is gone")
    wait_until(
        lambda: len(set(workers_of(two.process.pid)) - {before[0]}) == 2, "there are two again"
    )
    wait_until(lambda: "server process runs again" in two.errors, "the new one answers")
    assert before[1] in workers_of(two.process.pid)
    assert sum(streams_by_process(two)) == 0  # both serve their figures


@pytest.mark.long
@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_killed_parent_takes_its_processes_with_it(start_arena, tmp_path, wait_until, is_alive):
    arena = start_arena("--data", str(tmp_path), *TWO).opened()
    orphans = [*workers_of(arena.process.pid), arena.redis_pid()]
    arena.process.kill()
    wait_until(lambda: not any(is_alive(pid) for pid in orphans), "all of them are gone")
    again = start_arena("--data", str(tmp_path), *TWO).opened()
    assert again.stop() == 0


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_streams_are_notified_before_the_sockets_close(
    start_arena, tmp_path, is_alive, processes, number
):
    options = ("--port", "0", "--house", "none", "--processes", str(processes))
    arena = start_arena("--data", str(tmp_path), *options).opened()
    workers = workers_of(arena.process.pid)
    with contextlib.ExitStack() as stack:
        bots = [Bot(arena, f"local/bot-{n}", stack) for n in range(6)]
        arena.process.send_signal(number)
        for bot in bots:
            last = bot.until("stream_end").stream_end
            assert last.kind == stream_pb2.STREAM_END_KIND_DRAINING
            with pytest.raises(grpc.RpcError) as ended:
                next(bot.messages)
            assert ended.value.code() is grpc.StatusCode.UNAVAILABLE
            assert isinstance(from_rpc_error(ended.value), errors.Draining)
        assert arena.ended() == 0
    assert not any(is_alive(pid) for pid in workers)
    assert "Traceback" not in arena.errors


def test_a_spectator_is_notified_as_well(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--house", "none").opened()
    metadata = metadata_of(arena)
    with grpc.insecure_channel(arena.address) as channel:
        games = GameServiceStub(channel)
        request = games_pb2.CreateGameRequest(ruleset="base", seats=[game_pb2.SeatPlan()] * 2)
        game_id = games.CreateGame(request, metadata=metadata, timeout=120).game.game_id
        watch = games.WatchGame(games_pb2.WatchGameRequest(game_id=game_id), metadata=metadata)
        assert next(watch).HasField("update")
        arena.process.send_signal(signal.SIGTERM)
        assert next(watch).stream_end.kind == stream_pb2.STREAM_END_KIND_DRAINING
        assert arena.ended() == 0


@pytest.mark.parametrize("reuse", [False, True])
def test_a_port_of_a_stranger_is_refused_even_one_that_could_be_shared(
    start_arena, tmp_path, reuse
):
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(reuse))
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = str(stranger.getsockname()[1])
        arena = start_arena("--data", str(tmp_path), "--port", port, "--processes", "2")
        assert arena.ended() == 3
    assert "Traceback" not in arena.errors


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_port_of_several_processes_is_shared_with_nobody_else(
    two, start_arena, tmp_path, processes
):
    port = two.address.rpartition(":")[2]
    options = ("--data", str(tmp_path), "--port", port, "--processes", processes)
    assert start_arena(*options).ended() == 3
    with grpc.insecure_channel(two.address) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), timeout=120
        )
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_a_metrics_port_in_use_is_refused_with_a_sentence(start_arena, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        options = ("--port", "0", "--processes", "2", "--metrics-port", port)
        arena = start_arena("--data", str(tmp_path), *options)
        assert arena.ended() == 3
    assert f"port {port} is in use: choose another one with --metrics-port" in arena.errors


def test_a_process_reads_the_settings_that_its_parent_wrote():
    settings = Settings(
        port=1234,
        redis="redis://user:secret@host/3",
        ranked=True,
        dev=False,
        admin_token_file=Path("admin"),
        house=("random",),
        accounts=AccountLimits(bots_per_owner=3),
        limits=Limits(games_per_owner=7, slow_seconds=1.5),
        processes=4,
    )
    number, read = worker_pool.from_json(worker_pool.to_json(2, settings))
    assert number == 2
    # Token files and house bots are the parent's alone.
    assert read == replace(settings, admin_token_file=None, house=())


def test_every_line_about_a_call_says_which_process_answered(start_arena, tmp_path):
    arena = start_arena("--data", str(tmp_path), *TWO, "--log-format", "json").opened()
    for _ in range(12):
        with grpc.insecure_channel(arena.address, OWN_CONNECTION) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            stub.Check(health_pb2.HealthCheckRequest(), timeout=120)
    assert arena.stop() == 0
    lines = [json.loads(line) for line in arena.errors.splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    assert len(calls) == 12
    assert {line.get("process") for line in calls} <= {0, 1}
