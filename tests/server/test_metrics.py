"""The figures of a real arena, scraped as Prometheus does."""

import re
import socket
import threading
import urllib.error
import urllib.request
from pathlib import Path

import grpc
import pytest
from himeji.v1 import game_pb2, game_service_pb2 as games_pb2, play_service_pb2 as play_pb2
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji_server import metrics
from prometheus_client.parser import text_string_to_metric_families

from tests.server.conftest import open_arena

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
GAMES = "/himeji.v1.GameService"
NO_SUCH_GAME = ("himeji_calls_total", f"{GAMES}/GetGame", "NOT_FOUND")
NO_SUCH_METHOD = ("himeji_calls_total", "UNIMPLEMENTED", "unknown")


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    """An arena with figures that other tests may have moved."""
    with open_arena(tmp_path_factory.mktemp("counting"), "--metrics-port", "0") as arena:
        yield arena


def scraped(url):
    """All samples by name and labels."""
    with urllib.request.urlopen(url, timeout=120) as answer:
        text = answer.read().decode()
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Local:
    """The local owner, who plays both seats of a game by unary calls."""

    def __init__(self, arena, channel):
        secret = Path(arena.facts["token"]).read_text().strip()
        self.metadata = (("authorization", f"Bearer {secret}"),)
        self.stub = GameServiceStub(channel)
        request = games_pb2.CreateGameRequest(ruleset="base", seats=[game_pb2.SeatPlan()] * 2)
        self.game_id = self.call("CreateGame", request).game.game_id
        for bot in ("local/one", "local/two"):
            self.call("JoinGame", games_pb2.JoinGameRequest(game_id=self.game_id, bot=bot))

    def call(self, method, request):
        return getattr(self.stub, method)(request, metadata=self.metadata, timeout=120)

    def answer(self):
        asked = self.call("GetDecision", games_pb2.GetDecisionRequest(game_id=self.game_id))
        request = games_pb2.SubmitActionsRequest(
            game_id=self.game_id,
            decision_id=asked.decision.decision_id,
            actions=asked.decision.legal_actions[:1],
        )
        self.call("SubmitActions", request)


def test_what_an_arena_does_is_in_its_metrics(start_arena, tmp_path, wait_until):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--metrics-port", "0").opened()
    url = arena.facts["metrics"]
    with grpc.insecure_channel(arena.address) as channel:
        local = Local(arena, channel)
        for _ in range(3):
            local.answer()
        with pytest.raises(grpc.RpcError):
            local.call("GetGame", games_pb2.GetGameRequest(game_id="none"))
        wait_until(lambda: NO_SUCH_GAME in scraped(url), "a refusal is counted once it was told")
        wait_until(lambda: scraped(url)["himeji_sweeps_total",] > 0, "timers are looked at")
        found = scraped(url)
        assert found["himeji_decisions_committed_total",] == 3
        assert found["himeji_commits_total", "ok"] == 4  # the beginning of the game is one
        assert found["himeji_calls_total", f"{GAMES}/SubmitActions", "OK"] == 3
        assert found[NO_SUCH_GAME] == 1
        assert found["himeji_call_seconds_count", f"{GAMES}/SubmitActions"] == 3
        assert found["himeji_games_live",] == 1
        assert found["himeji_store_commands_total",] > found["himeji_store_seconds_count",] > 0
        assert found["process_resident_memory_bytes",] > 1_000_000
        wait_until(lambda: scraped(url)["himeji_loop_lag_seconds_count",] > 0, "lag is measured")
        local.call("Resign", games_pb2.ResignRequest(game_id=local.game_id))
        assert scraped(url)["himeji_games_live",] == 0
    assert arena.stop() == 0


def test_open_streams_are_counted_while_they_are_open(counting, wait_until):
    url, play = counting.facts["metrics"], ("himeji_streams_open", "play")
    with grpc.insecure_channel(counting.address) as channel:
        local = Local(counting, channel)
        hello = play_pb2.ClientMessage(hello=play_pb2.Hello(protocol_version=1, bot="local/one"))
        first = play_pb2.PlayRequest(messages=[hello])
        stream = PlayServiceStub(channel).Play(endless(first), metadata=local.metadata)
        assert next(stream).messages[0].HasField("welcome")
        assert scraped(url)[play] == 1
        request = games_pb2.WatchGameRequest(game_id=local.game_id)
        watch = local.stub.WatchGame(request, metadata=local.metadata)
        next(watch)
        assert scraped(url)["himeji_streams_open", "watch"] == 1
        stream.cancel()
        wait_until(lambda: scraped(url)[play] == 0, "the stream is not counted any more")


def endless(first):
    yield first
    threading.Event().wait(60)


def test_methods_that_do_not_exist_share_one_label(counting, wait_until):
    with grpc.insecure_channel(counting.address) as channel:
        for number in range(3):
            with pytest.raises(grpc.RpcError):
                channel.unary_unary(f"/made.Up/Method{number}")(b"", timeout=120)
    url = counting.facts["metrics"]
    wait_until(lambda: scraped(url).get(NO_SUCH_METHOD, 0) >= 3, "refusals are counted")
    found = scraped(url)
    assert found[NO_SUCH_METHOD] == 3
    assert not [labels for labels in found if any("made.Up" in label for label in labels)]


def test_metrics_are_served_on_this_machine_alone_and_only_on_request(start_arena, tmp_path):
    silent = start_arena("--port", "0", "--data", str(tmp_path / "a")).opened()
    assert "metrics" not in silent.facts
    arena = start_arena(
        "--port", "0", "--data", str(tmp_path / "b"), env={"HIMEJI_METRICS_PORT": "0"}
    ).opened()
    elsewhere = arena.facts["metrics"].replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(elsewhere, timeout=120)


def test_a_port_in_use_is_refused_with_a_sentence(start_arena, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ("--port", "0", "--data", str(tmp_path), "--metrics-port", str(port))
        arena = start_arena(*options)
        assert arena.ended() == 3
    assert f"port {port} is in use: choose another one with --metrics-port" in arena.errors
    assert "Traceback" not in arena.errors


def test_every_metric_is_on_the_page_of_operations_and_no_other():
    ours = {family.name for family in metrics.REGISTRY.collect()}
    told = re.findall(r"^\| `(himeji_\w+)", PAGE, re.MULTILINE)
    assert {name.removesuffix("_total") for name in told} == {
        name for name in ours if name.startswith("himeji_")
    }
