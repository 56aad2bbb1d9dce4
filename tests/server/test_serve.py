"""`himeji serve` from outside: it opens, answers, stops and comes back."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
import redis
from click.testing import CliRunner
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from himeji import rules
from himeji.rules.datafile import packaged
from himeji.v1 import rules_service_pb2, rules_service_pb2_grpc
from himeji.v1.play_service_pb2 import Hello, Resume
from himeji_server.launch import cli, serve
from himeji_server.rpc import rpc_handlers
from himeji_server.rpc.readiness import ALIVE
from himeji_server.store import keys

from tests.server.conftest import open_arena

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
REFLECTION = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
HIMEJI = str(Path(sys.executable).parent / "himeji")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """An arena that tests only ask."""
    with open_arena(tmp_path_factory.mktemp("asked")) as arena:
        yield arena


def health(address: str, service: str = "") -> int:
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        return health_pb2_grpc.HealthStub(channel).Check(request, timeout=120).status


def reflect(address: str, service: str, **question: str) -> reflection_pb2.ServerReflectionResponse:
    """Ask a reflection service; the messages of v1 and v1alpha are the same on the wire."""
    with grpc.insecure_channel(address) as channel:
        call = channel.stream_stream(
            f"/{service}/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        request = reflection_pb2.ServerReflectionRequest(**question)
        return next(iter(call(iter([request]), timeout=120)))


def reflected_services(address: str, service: str) -> set[str]:
    answer = reflect(address, service, list_services="")
    return {each.name for each in answer.list_services_response.service}


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_an_arena_announces_itself_in_one_block(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path / "data")).opened()
    assert arena.facts["data"] == str(tmp_path / "data")
    assert arena.address.startswith("127.0.0.1:")
    assert arena.stop() == 0
    assert arena.output.count("\n") == 8
    assert "Traceback" not in arena.errors


def test_the_command_that_the_announcement_suggests_works(opened):
    command = opened.facts["next"].partition("(")[0].split()
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout == f"{opened.address} SERVING\n"


def test_every_service_is_healthy_for_a_separate_process(opened):
    names = ["", *rpc_handlers.services()]
    assert len(names) > 1
    assert [health(opened.address, name) for name in names] == [SERVING] * len(names)


def test_health_can_be_printed_as_json(opened):
    port = opened.address.rpartition(":")[2]
    told = subprocess.run(
        [HIMEJI, "health", "--port", port, "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout) == {"address": opened.address, "state": "SERVING"}


def test_a_health_check_of_nothing_is_one_sentence(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    assert arena.stop() == 0
    port = arena.address.rpartition(":")[2]
    told = subprocess.run(
        [HIMEJI, "health", "--port", port], capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert told.stderr.startswith("Error: ")
    assert told.stderr.count("\n") == 1


def test_reflection_is_there_in_development_mode_alone(opened, start_arena, tmp_path):
    ranked = start_arena("--port", "0", "--data", str(tmp_path), "--ranked").opened()
    for service in REFLECTION:
        assert set(rpc_handlers.services()) <= reflected_services(opened.address, service)
        with pytest.raises(grpc.RpcError) as refused:
            reflected_services(ranked.address, service)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("service", REFLECTION)
def test_reflection_describes_every_service_that_it_lists(opened, service):
    listed = reflected_services(opened.address, service)
    assert listed >= set(REFLECTION)
    for name in listed:
        answer = reflect(opened.address, service, file_containing_symbol=name)
        files = map(
            FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto
        )
        described = {f"{file.package}.{each.name}" for file in files for each in file.service}
        assert name in described


@pytest.mark.long
@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_ranked_mode_refuses_a_folder_that_lost_acknowledged_writes(start_arena, tmp_path):
    options = ("--port", "0", "--data", str(tmp_path))
    assert start_arena(*options).opened().stop() == 0
    (file,) = (tmp_path / "redis" / "appendonlydir").glob("*.incr.aof")
    os.truncate(file, file.stat().st_size - 137)

    refused = start_arena(*options, "--ranked")
    assert refused.ended() == 1
    assert "137 bytes" in refused.errors
    assert "--accept-data-loss" in refused.errors
    accepted = start_arena(*options, "--ranked", "--accept-data-loss").opened()
    assert accepted.stop() == 0
    assert "acknowledged writes are lost" in accepted.errors
    assert "bytes=137" in accepted.errors
    assert start_arena(*options, "--ranked").opened().stop() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_signal_stops_the_arena_and_its_redis_in_good_order(
    start_arena, is_alive, tmp_path, number
):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    pid = arena.redis_pid()
    socket = Path(arena.redis_url.removeprefix("unix://"))
    assert socket.exists()
    assert arena.stop(number) == 0
    assert not is_alive(pid)
    assert not socket.parent.exists()
    assert "Traceback" not in arena.errors


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_signal_during_the_start_stops_in_good_order_too(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path))
    lock = tmp_path / "arena.lock"
    while not lock.exists():
        assert arena.process.poll() is None
    assert arena.stop(signal.SIGTERM) == 0
    assert "Traceback" not in arena.errors


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_second_signal_does_not_cut_the_end_short(start_arena, is_alive, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    pid = arena.redis_pid()
    arena.process.send_signal(signal.SIGINT)
    assert arena.stop(signal.SIGINT) == 0
    assert not is_alive(pid)


def test_an_open_stream_does_not_keep_the_arena_from_stopping(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with grpc.insecure_channel(arena.address) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == SERVING
        arena.process.send_signal(signal.SIGTERM)
        assert next(watch).status == NOT_SERVING
        assert arena.ended() == 0


def test_a_second_start_finds_the_data_of_the_first(start_arena, tmp_path):
    first = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with first.redis() as client:
        client.set("kept", "yes")
    assert first.stop() == 0
    second = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with second.redis() as client:
        assert client.get("kept") == "yes"


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
@pytest.mark.one_redis("about the files of the embedded Redis")
def test_what_the_arena_writes_is_for_its_user_alone(start_arena, tmp_path):
    folder = tmp_path / "above" / "data"
    before = os.umask(0o000)
    try:
        arena = start_arena("--port", "0", "--processes", "2", "--data", str(folder))
    finally:
        os.umask(before)
    arena.opened()
    with arena.redis() as client:
        client.bgrewriteaof()
    assert arena.stop() == 0
    written = [folder.parent, *folder.parent.rglob("*")]
    assert {"redis.conf", "redis.log", "appendonlydir", "token"} <= {each.name for each in written}
    for path in written:
        allowed = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o777 == allowed, path


def test_two_arenas_side_by_side_do_not_disturb_each_other(opened, start_arena, tmp_path):
    one, two = start_arena("--port", "0", "--data", str(tmp_path)).opened(), opened
    assert one.address != two.address
    with one.redis() as client:
        client.set("whose", "one")
    with two.redis() as client:
        assert client.get("whose") is None
    assert one.stop() == 0
    assert health(two.address) == SERVING


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_killed_arena_leaves_no_redis_and_loses_no_acknowledged_key(
    start_arena, is_alive, wait_until, tmp_path
):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    pid = arena.redis_pid()
    acknowledged = 0
    with arena.redis() as client:
        for number in range(200):
            client.set(f"key-{number}", number)
            acknowledged += 1
        arena.process.kill()
        try:
            while acknowledged < 1_000_000:
                client.set(f"key-{acknowledged}", acknowledged)
                acknowledged += 1
        except redis.ConnectionError:
            pass
    wait_until(lambda: not is_alive(pid), "the orphan is gone")

    again = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with again.redis() as client:
        lost = [n for n in range(acknowledged) if client.get(f"key-{n}") != str(n)]
    assert lost == []
    assert not Path(arena.redis_url.removeprefix("unix://")).parent.exists()


def test_an_arena_started_at_once_after_a_kill_waits_for_the_old_redis(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with arena.redis() as client:
        client.set("kept", "yes")
    arena.process.kill()
    again = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with again.redis() as client:
        assert client.get("kept") == "yes"


@pytest.mark.long
@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_an_embedded_redis_that_dies_is_started_again(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with arena.redis() as client:
        client.set("kept", "yes")
    pid = arena.redis_pid()
    with grpc.insecure_channel(arena.address) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == SERVING
        os.kill(pid, signal.SIGSTOP)
        assert next(watch).status == NOT_SERVING
        os.kill(pid, signal.SIGKILL)
        assert next(watch).status == SERVING
    assert arena.redis_pid() != pid
    with arena.redis() as client:
        assert client.get("kept") == "yes"
    assert arena.stop() == 0


def test_health_follows_a_redis_that_goes_away_and_comes_back(start_arena, start_redis, binary):
    mine = start_redis(binary=binary)
    arena = start_arena("--port", "0", "--redis", mine.url).opened()
    with grpc.insecure_channel(arena.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        overall = stub.Watch(health_pb2.HealthCheckRequest())
        name = next(iter(rpc_handlers.services()))
        of_a_service = stub.Watch(health_pb2.HealthCheckRequest(service=name))
        assert (next(overall).status, next(of_a_service).status) == (SERVING, SERVING)
        mine.kill()
        assert (next(overall).status, next(of_a_service).status) == (NOT_SERVING, NOT_SERVING)
        assert health(arena.address, ALIVE) == SERVING  # no reason to restart the arena
        mine.start()
        assert (next(overall).status, next(of_a_service).status) == (SERVING, SERVING)
    assert arena.stop() == 0


@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_health_follows_a_redis_that_comes_to_take_no_writes(start_arena, start_redis, binary):
    mine = start_redis(binary=binary)
    arena = start_arena("--port", "0", "--redis", mine.url).opened()
    with grpc.insecure_channel(arena.address) as channel, arena.redis() as client:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == SERVING
        for limit in ("1", "0"):  # full, and as large as it likes
            client.config_set("maxmemory", limit)
            assert next(watch).status == (NOT_SERVING if limit == "1" else SERVING)
        client.replicaof("127.0.0.1", "1")  # of which nobody is the primary
        assert next(watch).status == NOT_SERVING
        client.replicaof("NO", "ONE")
        assert next(watch).status == SERVING
        assert not client.exists(keys.WRITE_PROBE)
    assert arena.stop() == 0


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_every_option_can_come_from_the_environment(start_arena, tmp_path):
    env = {
        "HIMEJI_PORT": "0",
        "HIMEJI_DATA": str(tmp_path / "there"),
        "HIMEJI_LOG_FORMAT": "json",
        "HIMEJI_RANKED": "1",
    }
    arena = start_arena(env=env).opened()
    assert arena.facts["data"] == str(tmp_path / "there")
    assert "ranked" in arena.output
    assert health(arena.address) == SERVING
    assert arena.stop() == 0
    assert '"event": "call"' in arena.errors


def test_help_names_every_option_and_its_variable():
    text = subprocess.run(
        [HIMEJI, "serve", "--help"], capture_output=True, text=True, check=True
    ).stdout
    accounts = ("registration", "admin-token-file", "bots-per-owner", "tokens-per-owner")
    for option in ("port", "data", "redis", "ranked", "dev", "log-format", *accounts):
        assert f"--{option}" in text
        assert f"HIMEJI_{option.replace('-', '_').upper()}" in text


@pytest.mark.parametrize(("games", "waiting"), [(10, 200), (1_000, 200), (5_000, 1_000)])
def test_who_may_have_more_games_may_let_more_of_them_wait(monkeypatch, games, waiting):
    asked = []
    monkeypatch.setattr(serve, "run", lambda settings, **_more: asked.append(settings))
    found = CliRunner().invoke(cli.serve, ["--games-per-owner", str(games)])
    assert found.exit_code == 0, found.output
    assert asked[0].limits.games_per_owner == games
    assert asked[0].limits.waiting_games_per_owner == waiting


def test_who_may_have_more_games_may_resume_them_all(monkeypatch):
    asked = []
    monkeypatch.setattr(serve, "run", lambda settings, **_more: asked.append(settings.limits))
    for games in (10, 5_000):
        found = CliRunner().invoke(cli.serve, ["--games-per-owner", str(games)])
        assert found.exit_code == 0, found.output
    few, many = asked
    assert (few.resumed_games, few.play_message_bytes) == (1_000, 262_144)
    resumed = [Resume(game_id="0" * 20, event_count=10_000)] * many.resumed_games
    assert many.resumed_games == 5_000
    assert Hello(resume=resumed).ByteSize() < many.play_message_bytes


def test_an_arena_runs_without_uvloop(start_arena, tmp_path):
    (tmp_path / "uvloop.py").write_text("raise ModuleNotFoundError('none', name='uvloop')\n")
    env = {"PYTHONPATH": str(tmp_path)}
    arena = start_arena("--port", "0", "--data", str(tmp_path / "data"), env=env).opened()
    assert health(arena.address) == SERVING
    assert arena.stop() == 0


# --- corrected components -----------------------------------------------------------------------


def test_an_arena_with_corrected_components_shows_them_and_refuses_who_has_others(
    start_arena, tmp_path
):
    cards, data = tmp_path / "cards", tmp_path / "data"
    cards.mkdir()
    corrected = packaged("solo.toml").replace('"2 rival-vp"]', '"4 rival-vp"]')
    (cards / "solo.toml").write_text(corrected)
    arena = start_arena("--port", "0", "--data", str(data), "--components", str(cards)).opened()
    solo, base = shown_ruleset(arena.address, "solo"), shown_ruleset(arena.address, "base")
    assert base.summary.revision == rules.ruleset("base").revision
    assert solo.summary.revision != rules.ruleset("solo").revision
    [card] = [each for each in solo.components if each.id == "solitaire-9"]
    assert [face.text for face in card.faces][-1] == "rival-audience, 4 rival-vp"
    join = [HIMEJI, "run", "random", "--target", arena.address, "--invited"]
    join += ["--token-file", str(data / "token")]
    other = subprocess.run(join, capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert "plays by another version (ruleset matcha-solo: you have revision" in other.stderr
    own = [HIMEJI, "rulesets", "--components", str(cards), "--json"]
    told = json.loads(subprocess.run(own, capture_output=True, text=True, check=True).stdout)
    assert solo.summary.revision in {each["revision"] for each in told}


def shown_ruleset(address: str, name: str) -> rules_service_pb2.Ruleset:
    with grpc.insecure_channel(address) as channel:
        stub = rules_service_pb2_grpc.RulesServiceStub(channel)
        request = rules_service_pb2.GetRulesetRequest(ruleset=name)
        return stub.GetRuleset(request, timeout=120).ruleset
