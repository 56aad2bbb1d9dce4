"""An arena that cannot start says why in one sentence, with an exit code, and leaves nothing."""

import signal
import socket
import threading
from pathlib import Path

import pytest
from himeji_server.startup_errors import ExitCode


def sentence(arena) -> str:
    """The one line that was said; anything more would be a traceback or noise."""
    assert arena.output == ""
    assert arena.errors.startswith("Error: "), arena.errors
    assert arena.errors.count("\n") == 1, arena.errors
    return arena.errors


@pytest.fixture
def taken_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_in_use_has_an_exit_code_of_its_own_and_costs_no_redis(
    start_arena, taken_port, tmp_path
):
    arena = start_arena("--port", str(taken_port), "--data", str(tmp_path / "data"))
    assert arena.ended() == ExitCode.PORT_IN_USE
    assert f"port {taken_port} is in use" in sentence(arena)
    assert not (tmp_path / "data").exists()


def test_the_port_of_another_arena_is_in_use_too(start_arena, tmp_path):
    first = start_arena("--port", "0", "--data", str(tmp_path / "a")).opened()
    port = first.address.rpartition(":")[2]
    second = start_arena("--port", port, "--data", str(tmp_path / "b"))
    assert second.ended() == ExitCode.PORT_IN_USE
    assert "--port" in sentence(second)


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_data_folder_in_use_names_the_process_that_uses_it(start_arena, tmp_path):
    first = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    second = start_arena("--port", "0", "--data", str(tmp_path))
    assert second.ended() == ExitCode.DATA_IN_USE
    assert f"process {first.process.pid}" in sentence(second)
    assert first.redis_pid()
    assert first.stop() == 0


@pytest.mark.parametrize("place", ["a file", "under a file", "redis is a file"])
@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_a_data_folder_that_cannot_be_written_is_one_sentence(start_arena, tmp_path, place):
    (tmp_path / "file").write_text("not a folder")
    folder = {
        "a file": tmp_path / "file",
        "under a file": tmp_path / "file" / "data",
        "redis is a file": tmp_path,
    }[place]
    (tmp_path / "redis").write_text("not a folder either")
    arena = start_arena("--port", "0", "--data", str(folder))
    assert arena.ended() == ExitCode.REFUSED
    assert "--data" in sentence(arena)


@pytest.mark.parametrize(
    "url", ["nonsense", "http://127.0.0.1:6379", "redis://127.0.0.1:port", "redis://[::1", ""]
)
def test_a_url_that_names_no_redis_is_one_sentence(start_arena, url):
    arena = start_arena("--port", "0", "--redis", url)
    assert arena.ended() == ExitCode.REFUSED
    assert "redis://HOST:PORT" in sentence(arena)


def test_a_redis_that_refuses_the_connection_is_one_sentence(start_arena):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"redis://someone:hidden@127.0.0.1:{unused.getsockname()[1]}/0"
        arena = start_arena("--port", "0", "--redis", url)
        assert arena.ended() == ExitCode.REFUSED
    assert "does not answer" in sentence(arena)
    assert "hidden" not in arena.errors


@pytest.mark.long
def test_a_redis_that_accepts_and_says_nothing_is_one_sentence(start_arena, taken_port):
    arena = start_arena("--port", "0", "--redis", f"redis://127.0.0.1:{taken_port}")
    assert arena.ended() == ExitCode.REFUSED
    assert "does not answer" in sentence(arena)


@pytest.fixture
def old_redis():
    """No Redis 6 is at hand: this speaks just enough of its protocol to say what it is."""
    info = b"# Server\r\nredis_version:6.2.14\r\n"
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=pretend, args=(listener, info), daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def pretend(listener: socket.socket, info: bytes) -> None:
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        while count := lines.readline():
            words = [lines.read(int(lines.readline()[1:]) + 2)[:-2] for _ in range(int(count[1:]))]
            answer = {
                b"PING": b"+PONG\r\n",
                b"INFO": b"$%d\r\n%s\r\n" % (len(info), info),
            }.get(words[0].upper(), b"+OK\r\n")
            connection.sendall(answer)


def test_a_redis_that_is_too_old_is_named_with_its_version(start_arena, old_redis):
    arena = start_arena("--port", "0", "--redis", old_redis)
    assert arena.ended() == ExitCode.REFUSED
    assert "6.2.14" in sentence(arena)
    assert "7.0" in arena.errors


@pytest.mark.parametrize("password", ["", ":wrong-guess@"])
@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_a_wrong_or_missing_password_is_one_sentence(start_arena, start_redis, binary, password):
    mine = start_redis("--requirepass", "right-one", binary=binary)
    arena = start_arena("--port", "0", "--redis", mine.url.replace("unix://", f"unix://{password}"))
    assert arena.ended() == ExitCode.REFUSED
    assert "password" in sentence(arena)
    assert "wrong-guess" not in arena.errors


@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_the_right_password_opens_the_arena_and_is_shown_nowhere(start_arena, start_redis, binary):
    mine = start_redis("--requirepass", "right-one", binary=binary)
    url = mine.url.replace("unix://", "unix://:right-one@")
    arena = start_arena("--port", "0", "--redis", url).opened()
    assert arena.stop() == 0
    assert "right-one" not in arena.output + arena.errors


DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]


@pytest.mark.parametrize(
    ("weaker", "named"),
    [
        (["--appendonly", "no"], ["appendonly"]),
        (["--appendfsync", "everysec"], ["appendfsync"]),
        (["--no-appendfsync-on-rewrite", "yes"], ["no-appendfsync-on-rewrite"]),
        (["--maxmemory-policy", "allkeys-lru"], ["maxmemory-policy"]),
        (
            ["--appendonly", "no", "--appendfsync", "no", "--maxmemory-policy", "volatile-ttl"],
            ["appendonly", "appendfsync", "maxmemory-policy"],
        ),
    ],
)
@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_a_ranked_arena_refuses_a_weak_redis_and_names_each_setting(
    start_arena, start_redis, binary, weaker, named
):
    mine = start_redis(*DURABLE, *weaker, binary=binary)
    arena = start_arena("--port", "0", "--redis", mine.url, "--ranked")
    assert arena.ended() == ExitCode.REFUSED
    told = sentence(arena)
    assert [each.split()[0] for each in told.partition("do: ")[2].split("; ")] == named


def test_a_ranked_arena_starts_on_a_durable_redis(start_arena, start_redis, binary):
    mine = start_redis(*DURABLE, binary=binary)
    arena = start_arena("--port", "0", "--redis", mine.url, "--ranked").opened()
    assert arena.stop() == 0


@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_a_ranked_arena_refuses_a_redis_whose_settings_it_may_not_read(start_arena, start_redis):
    mine = start_redis(*DURABLE, "--rename-command", "CONFIG", "")
    arena = start_arena("--port", "0", "--redis", mine.url, "--ranked")
    assert arena.ended() == ExitCode.REFUSED
    assert "refuses a command" in sentence(arena)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (("--replicaof", "127.0.0.1 1"), "it is a replica"),
        (("--maxmemory", "1"), "its memory is full"),
        (("--min-replicas-to-write", "1"), "it misses replicas"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.one_redis("needs a Redis with settings of its own")
def test_an_arena_refuses_a_redis_that_takes_no_writes(start_arena, start_redis, setting, why):
    arena = start_arena("--port", "0", "--redis", start_redis(*setting).url)
    assert arena.ended() == ExitCode.REFUSED
    assert why in sentence(arena)


def test_an_arena_that_is_not_ranked_takes_a_weak_redis(start_arena, start_redis, binary):
    arena = start_arena("--port", "0", "--redis", start_redis(binary=binary).url).opened()
    assert arena.stop() == 0


def test_a_redis_of_the_users_needs_a_data_folder_for_the_token_alone_and_outlives_the_arena(
    start_arena, start_redis, tmp_path
):
    mine = start_redis()
    data = tmp_path / "data"
    options = ("--port", "0", "--redis", mine.url, "--data", str(data))
    assert start_arena(*options, "--no-dev").opened().stop(signal.SIGTERM) == 0
    assert not data.exists()
    assert start_arena(*options).opened().stop(signal.SIGTERM) == 0
    assert [each.name for each in data.iterdir()] == ["token"]
    assert mine.is_alive()


def test_ranked_and_development_mode_exclude_each_other(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--ranked", "--dev")
    assert arena.ended() == 2
    assert "exclude each other" in arena.errors


@pytest.mark.one_redis("is about the embedded Redis and its data folder")
def test_an_embedded_redis_that_cannot_load_its_data_says_what_redis_said(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    with arena.redis() as client:
        client.set("kept", "yes")
    assert arena.stop() == 0
    manifest = next((tmp_path / "redis" / "appendonlydir").glob("*.manifest"))
    manifest.write_text("this is no manifest\n")
    again = start_arena("--port", "0", "--data", str(tmp_path))
    assert again.ended() == ExitCode.REFUSED
    *_, told = again.errors.splitlines()  # the line before it says what is missing
    assert "does not start" in told
    assert str(Path("redis") / "redis.log") in told
