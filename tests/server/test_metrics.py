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

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
GAMES = "/himeji.v1.GameService"


def scraped(url):
    """All samples by name and labels."""
    with urllib.request.urlopen(url, timeout=30) as answer:
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
        return getattr(self.stub, method)(request, metadata=self.metadata, timeout=30)

    def answer(self):
        asked = self.call("GetDecision", games_pb2.GetDecisionRequest(game_id=self.game_id))
        request = games_pb2.SubmitActionsRequest(
            game_id=self.game_id,
            decision_id=asked.decision.decision_id,
            actions=asked.decision.legal_actions[:1],
        )
        self.call("SubmitActions", request)


def test_what_an_arena_does_is_in_its_figures(start_arena, tmp_path, wait_until):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--metrics-port", "0").opened()
    url = arena.facts["metrics"]
    with grpc.insecure_channel(arena.address) as channel:
        local = Local(arena, channel)
        for _ in range(3):
            local.answer()
        with pytest.raises(grpc.RpcError):
            local.call("GetGame", games_pb2.GetGameRequest(game_id="none"))
        found = scraped(url)
        assert found["himeji_decisions_committed_total",] == 3
        assert found["himeji_commits_total", "ok"] == 4  # the beginning of the game is one
        assert found["himeji_calls_total", f"{GAMES}/SubmitActions", "OK"] == 3
        assert found["himeji_calls_total", f"{GAMES}/GetGame", "NOT_FOUND"] == 1
        assert found["himeji_call_seconds_count", f"{GAMES}/SubmitActions"] == 3
        assert found["himeji_games_live",] == 1
        assert found["himeji_sweeps_total",] > 0
        assert found["himeji_store_commands_total",] > found["himeji_store_seconds_count",] > 0
        assert found["process_resident_memory_bytes",] > 1_000_000
        wait_until(lambda: scraped(url)["himeji_loop_lag_seconds_count",] > 0, "lag is measured")
        local.call("Resign", games_pb2.ResignRequest(game_id=local.game_id))
        assert scraped(url)["himeji_games_live",] == 0
    assert arena.stop() == 0


def test_open_streams_are_counted_while_they_are_open(start_arena, tmp_path, wait_until):
    options = ("--port", "0", "--data", str(tmp_path), "--metrics-port", "0", "--house", "none")
    arena = start_arena(*options).opened()
    url, play = arena.facts["metrics"], ("himeji_streams_open", "play")
    with grpc.insecure_channel(arena.address) as channel:
        local = Local(arena, channel)
        hello = play_pb2.PlayRequest(hello=play_pb2.Hello(protocol_version=1, bot="local/one"))
        stream = PlayServiceStub(channel).Play(endless(hello), metadata=local.metadata)
        assert next(stream).HasField("welcome")
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


def test_methods_that_do_not_exist_share_one_name(start_arena, wait_until, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--metrics-port", "0").opened()
    with grpc.insecure_channel(arena.address) as channel:
        for number in range(3):
            with pytest.raises(grpc.RpcError):
                channel.unary_unary(f"/made.Up/Method{number}")(b"", timeout=30)
    unknown = ("himeji_calls_total", "UNIMPLEMENTED", "unknown")
    # A call is counted after its answer.
    wait_until(lambda: scraped(arena.facts["metrics"]).get(unknown) == 3, "all are counted")
    found = scraped(arena.facts["metrics"])
    assert not [labels for labels in found if any("made.Up" in label for label in labels)]


def test_figures_are_served_on_this_machine_alone_and_only_if_wanted(start_arena, tmp_path):
    silent = start_arena("--port", "0", "--data", str(tmp_path / "a")).opened()
    assert "metrics" not in silent.facts
    arena = start_arena(
        "--port", "0", "--data", str(tmp_path / "b"), env={"HIMEJI_METRICS_PORT": "0"}
    ).opened()
    elsewhere = arena.facts["metrics"].replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(elsewhere, timeout=30)


def test_a_port_in_use_is_refused_with_a_sentence(start_arena, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ("--port", "0", "--data", str(tmp_path), "--metrics-port", str(port))
        arena = start_arena(*options)
        assert arena.ended() == 3
    assert f"port {port} for metrics is in use" in arena.errors
    assert "Traceback" not in arena.errors


def test_every_figure_is_on_the_page_of_operations_and_no_other():
    ours = {family.name for family in metrics.REGISTRY.collect()}
    told = re.findall(r"^\| `(himeji_\w+)", PAGE, re.MULTILINE)
    assert {name.removesuffix("_total") for name in told} == {
        name for name in ours if name.startswith("himeji_")
    }
