"""The embedded Redis: durable, private, and never left behind by whoever started it."""

import asyncio
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from himeji_server.launch import die_with_parent, embedded_redis
from himeji_server.launch.durable_sizes import MANIFEST, RECORD
from himeji_server.launch.embedded_redis import EmbeddedRedis
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import Store
from structlog.testing import capture_logs

MECHANISMS = (
    [die_with_parent.PIPE, die_with_parent.PRCTL]
    if sys.platform == "linux"
    else [die_with_parent.PIPE]
)
pytestmark = pytest.mark.one_redis("is about the embedded Redis and its data folder")
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)

OWNER = """
import asyncio, sys
from pathlib import Path
from himeji_server.launch.embedded_redis import EmbeddedRedis

async def main():
    folder, binary, mechanism = sys.argv[1:]
    redis = EmbeddedRedis(Path(folder), binary=Path(binary), mechanism=mechanism)
    await redis.start()
    print(redis.url, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def redis_pid(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        return int(client.info("server")["process_id"])


@every_mechanism
async def test_it_starts_durable_and_stops_without_a_trace(tmp_path, binary, mechanism, is_alive):
    server = EmbeddedRedis(tmp_path / "redis", binary=binary, mechanism=mechanism)
    await server.start()
    store = await Store.connect(server.url)
    await store.check_version()
    await store.check_durability()
    await store.close()
    pid = redis_pid(server.url)
    socket = Path(server.url.removeprefix("unix://"))
    assert socket.parent.stat().st_mode & 0o077 == 0
    await server.stop()
    assert not is_alive(pid)
    assert not socket.parent.exists()


async def test_it_listens_on_no_port(tmp_path, binary):
    server = EmbeddedRedis(tmp_path / "redis", binary=binary)
    await server.start()
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("save") == {"save": ""}
    await server.stop()


@every_mechanism
def test_a_killed_owner_takes_its_redis_along_and_every_key_is_found_again(
    tmp_path, binary, mechanism, is_alive, wait_until
):
    command = [sys.executable, "-c", OWNER, str(tmp_path), str(binary), mechanism]
    for round_number in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
            url = owner.stdout.readline().strip()
            pid = redis_pid(url)
            with redis.Redis.from_url(url, decode_responses=True) as client:
                assert client.dbsize() == round_number
                client.set(f"round-{round_number}", "kept")
            owner.kill()
        wait_until(lambda pid=pid: not is_alive(pid), "the Redis of a killed owner is gone")


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_launcher_that_finds_its_parent_gone_starts_nothing(tmp_path):
    mark = tmp_path / "started"
    ended = subprocess.run(
        [
            sys.executable,
            die_with_parent.__file__,
            die_with_parent.PRCTL,
            "1",
            "0",
            "/usr/bin/touch",
            str(mark),
        ],
        check=False,
        capture_output=True,
    )
    assert ended.returncode == 1
    assert not mark.exists()


@pytest.fixture
def killed_owner(tmp_path, binary):
    """The URL and the process of a Redis whose owner was killed a moment ago."""
    command = [sys.executable, "-c", OWNER, str(tmp_path), str(binary), die_with_parent.PIPE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        url = owner.stdout.readline().strip()
        pid = redis_pid(url)
        owner.kill()
    return url, pid


async def test_it_waits_for_the_redis_of_a_killed_owner(tmp_path, binary, is_alive, killed_owner):
    url, pid = killed_owner
    server = EmbeddedRedis(tmp_path, binary=binary)
    await server.start()
    assert not is_alive(pid)
    assert server.url != url
    assert redis_pid(server.url) != pid
    await server.stop()


async def test_it_refuses_a_folder_on_which_a_redis_still_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_redis, "_STOP_SECONDS", 0.1)
    first = EmbeddedRedis(tmp_path)
    await first.start()
    with pytest.raises(StartRefusedError, match="still runs"):
        await EmbeddedRedis(tmp_path).start()
    assert redis_pid(first.url)
    await first.stop()


async def test_one_that_does_not_obey_is_ended_by_force(tmp_path, monkeypatch, is_alive):
    monkeypatch.setattr(embedded_redis, "_STOP_SECONDS", 0.1)
    monkeypatch.setattr(embedded_redis, "_KILL_SECONDS", 0.1)
    server = EmbeddedRedis(tmp_path)
    await server.start()
    pid = redis_pid(server.url)
    os.kill(pid, signal.SIGSTOP)
    await server.stop()
    assert not is_alive(pid)


async def test_a_data_folder_with_a_long_path_works(tmp_path):
    folder = tmp_path / ("long " * 20) / ("ü" * 60)
    folder.mkdir(parents=True)
    server = EmbeddedRedis(folder)
    await server.start()
    assert redis_pid(server.url)
    await server.stop()


async def test_a_temporary_folder_with_a_long_path_works(tmp_path, monkeypatch):
    folder = tmp_path / ("t" * 100)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    server = EmbeddedRedis(tmp_path / "redis")
    await server.start()
    assert redis_pid(server.url)
    await server.stop()
    assert list(folder.iterdir()) == []


async def test_a_temporary_folder_may_have_any_name(tmp_path, short_folder, monkeypatch):
    folder = short_folder / 'a "b" 50% #c\\d'
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    server = EmbeddedRedis(tmp_path / "redis")
    await server.start()
    assert list(folder.iterdir()), "its socket is not there"
    assert redis_pid(server.url)
    await server.stop()


async def test_a_program_that_is_no_redis_is_refused_with_its_last_words(tmp_path):
    program = tmp_path / "no-redis"
    program.write_text("#!/bin/sh\necho a word of farewell\nexit 3\n")
    program.chmod(0o700)
    with pytest.raises(StartRefusedError, match="a word of farewell"):
        await EmbeddedRedis(tmp_path / "data", binary=program).start()


SLOW_LOADER = """
import re, socket
path = re.search('unixsocket "(.*)"', open("redis.conf").read())[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
for number in range(1_000_000):
    connection, _ = listener.accept()
    with connection:
        connection.recv(100)
        connection.sendall(b"-LOADING\\r\\n" if number < 20 else b"+PONG\\r\\n")
"""


def program_of(python_code, path):
    """A program that runs the code; by the shell, because `#!` takes no path with a space."""
    path.write_text(
        f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(python_code)}\n"
    )
    path.chmod(0o700)
    return path


async def test_one_that_is_loading_its_data_may_take_its_time(tmp_path, monkeypatch):
    program = program_of(SLOW_LOADER, tmp_path / "slow-loader")
    server = EmbeddedRedis(tmp_path / "data", binary=program)
    await server.start()
    await server.stop()
    monkeypatch.setattr(embedded_redis, "_START_SECONDS", 0.0)
    with pytest.raises(StartRefusedError):
        await server.start()


async def test_a_broken_locale_does_not_matter(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "xx_NOWHERE.UTF-8")
    server = EmbeddedRedis(tmp_path)
    await server.start()
    await server.stop()


def test_without_the_wheel_a_server_on_the_path_is_taken(tmp_path, monkeypatch):
    def nothing_installed(name):
        raise embedded_redis.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(embedded_redis.importlib.metadata, "distribution", nothing_installed)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StartRefusedError, match="--redis"):
        embedded_redis.find_binary()
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert embedded_redis.find_binary() == program


# --- lost writes ------------------------------------------------------------------------------


async def written(folder, keys=20):
    """Write keys with an embedded Redis that stops in good order; the file that they are in."""
    server = EmbeddedRedis(folder)
    await server.start()
    with redis.Redis.from_url(server.url) as client:
        for number in range(keys):
            client.set(f"key-{number}", "x" * 50)
    await server.stop()
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    return file


async def keys_after_start(folder, *, refuse_data_loss=True):
    """Start and stop; how many keys there were, and what was logged as wrong."""
    server = EmbeddedRedis(folder, refuse_data_loss=refuse_data_loss)
    with capture_logs() as logs:
        await server.start()
    with redis.Redis.from_url(server.url) as client:
        count = client.dbsize()
    await server.stop()
    return count, [(each["log_level"], each["bytes"]) for each in logs]


def cut(file, count):
    os.truncate(file, file.stat().st_size - count)


async def test_a_file_that_is_complete_is_opened_without_a_word(tmp_path):
    await written(tmp_path)
    assert await keys_after_start(tmp_path) == (20, [])


async def test_missing_bytes_are_an_error_and_with_refuse_data_loss_no_start(tmp_path):
    file = await written(tmp_path)
    cut(file, 137)
    before = file.read_bytes()
    for _ in range(2):
        with pytest.raises(StartRefusedError, match=r"137 bytes .* --accept-data-loss"):
            await EmbeddedRedis(tmp_path, refuse_data_loss=True).start()
    assert file.read_bytes() == before, "what is left is not touched before somebody decides"
    count, logged = await keys_after_start(tmp_path, refuse_data_loss=False)
    assert count == 18
    assert logged[0] == ("error", 137)
    assert [level for level, _ in logged[1:]] == ["warning"], "Redis cut the rest of a write"
    assert await keys_after_start(tmp_path) == (18, []), "what was accepted once is accepted"


async def test_a_whole_write_that_is_missing_is_noticed_though_redis_sees_nothing(tmp_path):
    file = await written(tmp_path)
    cut(file, len(file.read_bytes()) - file.read_bytes().rindex(b"*3\r\n"))
    with pytest.raises(StartRefusedError, match="bytes"):
        await keys_after_start(tmp_path)
    count, logged = await keys_after_start(tmp_path, refuse_data_loss=False)
    assert (count, [level for level, _ in logged]) == (19, ["error"])


async def test_the_beginning_of_a_write_that_nobody_was_told_of_is_no_loss(tmp_path):
    file = await written(tmp_path)
    unfinished = b"*3\r\n$3\r\nSET\r\n$9\r\nunfin"
    with file.open("ab") as end:
        end.write(unfinished)
    assert await keys_after_start(tmp_path) == (20, [("warning", len(unfinished))])
    assert await keys_after_start(tmp_path) == (20, [])


async def test_files_that_are_gone_are_a_loss(tmp_path):
    file = await written(tmp_path)
    (file.parent / MANIFEST).unlink()
    with pytest.raises(StartRefusedError, match="missing"):
        await keys_after_start(tmp_path)


async def test_a_damaged_record_is_refused(tmp_path):
    await written(tmp_path)
    (tmp_path / RECORD).write_text("{")
    with pytest.raises(StartRefusedError, match="damaged"):
        await keys_after_start(tmp_path)


async def test_rewritten_files_are_no_loss(tmp_path, wait_until):
    await written(tmp_path)
    record = (tmp_path / RECORD).read_text()
    server = EmbeddedRedis(tmp_path)
    await server.start()
    with redis.Redis.from_url(server.url) as client:
        client.bgrewriteaof()
        wait_until(
            lambda: "appendonly.aof.2.base.rdb" in server._sizes.measure(), "the log is rewritten"
        )
    await server.stop()
    assert json.loads((tmp_path / RECORD).read_text()) != json.loads(record)
    (tmp_path / RECORD).write_text(record)  # as if the arena had been killed before the next one
    assert await keys_after_start(tmp_path) == (20, [])


async def test_a_redis_that_is_killed_while_it_writes_is_started_again_by_itself(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(embedded_redis, "_RECORD_SECONDS", 0.0)
    server = EmbeddedRedis(tmp_path, refuse_data_loss=True)
    await server.start()
    recording = asyncio.create_task(server.record_sizes())
    acknowledged = 0
    for _ in range(10):
        acknowledged = await killed_while_writing(server, acknowledged)
        await server.launch()
        with redis.Redis.from_url(server.url) as client:
            assert client.llen("list") >= acknowledged
    recording.cancel()
    await server.stop()
    assert sum(json.loads((tmp_path / RECORD).read_text()).values()) > 100_000


async def killed_while_writing(server, acknowledged):
    """Push large values until Redis is killed; how long the list is known to be."""
    pid = redis_pid(server.url)

    def write():
        nonlocal acknowledged
        with contextlib.suppress(redis.ConnectionError), redis.Redis.from_url(server.url) as client:
            while True:
                acknowledged = client.rpush("list", *["x" * 10_000] * 5)

    writing = asyncio.create_task(asyncio.to_thread(write))
    await asyncio.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    await writing
    await server.wait()
    return acknowledged
