"""Real parts for the server's tests: arenas and Redis servers as processes of their own."""

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import redis
from himeji_server.launch.embedded_redis import find_binary
from himeji_server.store import Store

from tests.cluster.nodes import Cluster
from tests.server.game_process import GameProcess
from tests.server.redis_client import raw_client

PATIENCE = 120.0
"""Seconds after which something that should happen did not; generous, for slow machines."""


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline, pause = time.monotonic() + PATIENCE, 0.005
    while not condition():
        assert time.monotonic() < deadline, f"in vain: waited until {what}"
        time.sleep(pause)
        pause = min(2 * pause, 0.05)  # some things take no time, and some looks cost some


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return not Path("/proc/self").exists()
    # A zombie runs no longer; it waits for a parent that may never ask.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool], str], None]:
    return _wait_until


@pytest.fixture
def is_alive() -> Callable[[int], bool]:
    return _is_alive


class Arena:
    """`himeji serve` as a process, started through the installed command."""

    COMMAND = (str(Path(sys.executable).parent / "himeji"),)

    def __init__(
        self, *options: str, env: dict[str, str] | None = None, command: Sequence[str] = COMMAND
    ) -> None:
        """The command stands for `himeji`."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}
        self.process = subprocess.Popen(
            [*command, "serve", *options],
            env=clean | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.facts: dict[str, str] = {}
        self.output = ""
        self.errors = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_output(self) -> None:
        for line in self.process.stdout:
            self.output += line
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        for line in self.process.stderr:
            self.errors += line

    def opened(self) -> "Arena":
        """Wait for the announcement, whose last row says how to stop."""
        while "stop" not in self.facts:
            line = self._lines.get(timeout=PATIENCE)
            assert line is not None, f"the arena ended before it opened: {self.errors}"
            name, _, value = line.strip().partition(" ")
            self.facts[name] = value.strip()
        return self

    @property
    def address(self) -> str:
        return self.facts["address"]

    @property
    def redis_url(self) -> str:
        return self.facts["redis"].split()[0]

    def redis(self) -> redis.Redis:
        return raw_client(self.redis_url, decode_responses=True)

    def redis_pid(self) -> int:
        with self.redis() as client:
            return int(client.info("server")["process_id"])

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        code = self.process.wait(timeout=PATIENCE)
        for reader in self._readers:
            reader.join(timeout=PATIENCE)
        return code

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.ended()


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="hj-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _temporary_files_go_with_the_test(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A killed arena cannot clear up its socket's folder; only the next one on its data can.
    monkeypatch.setenv("TMPDIR", str(short_folder))


@pytest.fixture
def start_arena(short_folder: Path, given_redis: dict[str, str]) -> Iterator[Callable[..., Arena]]:
    started: list[Arena] = []

    def start(*options: str, env: dict[str, str] | None = None) -> Arena:
        # An arena on a Redis of the user's has a data folder too, for its token.
        # House bots are processes that cost time; the tests that are about them ask for them.
        # So is the page, which takes a while to import.
        own = {"HIMEJI_DATA": str(short_folder / "data"), "HIMEJI_HOUSE": "none"}
        own["HIMEJI_HTTP_PORT"] = "none"
        arena = Arena(*options, env=own | given_redis | (env or {}))
        started.append(arena)
        return arena

    yield start
    for arena in started:
        if arena.process.poll() is None:
            arena.process.kill()
        arena.ended()
        arena.process.stdout.close()
        arena.process.stderr.close()


@contextlib.contextmanager
def open_arena(
    folder: Path,
    *options: str,
    env: dict[str, str] | None = None,
    command: Sequence[str] = Arena.COMMAND,
) -> Iterator[Arena]:
    """An arena for tests that share it: without house bots, unless asked, and without a page."""
    alone = ("--port", "0", "--house", "none", "--http-port", "none", "--data", str(folder))
    arena = Arena(*alone, *options, env=env, command=command)
    try:
        yield arena.opened()
    finally:
        if arena.process.poll() is None:
            arena.stop()
        arena.ended()
        arena.process.stdout.close()
        arena.process.stderr.close()


def _binaries() -> list[Path]:
    """Every Redis server there is: the embedded one always, one on the path where it exists."""
    others = [shutil.which("redis-server"), shutil.which("valkey-server")]
    return [find_binary(), *(Path(found) for found in others if found)]


@pytest.fixture(params=_binaries(), ids=lambda path: path.name)
def binary(request: pytest.FixtureRequest) -> Path:
    return request.param


DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")
"""The settings that the nodes of a cluster have in these tests."""


class RedisProcess:
    """A Redis of the user's, with settings of their choice, that can be ended and started again."""

    def __init__(self, binary: Path, folder: Path, *settings: str) -> None:
        self._command = [str(binary), "--port", "0", "--unixsocket", str(folder / "r.sock")]
        self._command += ["--dir", str(folder), "--save", "", *settings]
        self.url = f"unix://{folder / 'r.sock'}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RedisProcess":
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_until(self._answers, "Redis answers")
        return self

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.AuthenticationError:
                return True
            except (redis.ConnectionError, redis.TimeoutError):
                return False


@pytest.fixture(scope="session")
def nodes(request: pytest.FixtureRequest) -> Iterator[Cluster | None]:
    """With --cluster, the three primaries and three replicas that all tests share."""
    if not request.config.getoption("--cluster"):
        yield None
        return
    # No node of it shall be taken for lost because the machine is busy.
    patient = ("--cluster-node-timeout", "10000")
    with contextlib.closing(Cluster(primaries=3, replicas=1, settings=patient)) as opened:
        yield opened


@pytest.fixture
def cluster(nodes: Cluster | None) -> Cluster | None:
    """With --cluster, the cluster, with nothing in it."""
    if nodes is not None:
        nodes.empty()
    return nodes


@pytest.fixture
def given_redis(cluster: Cluster | None) -> dict[str, str]:
    """What makes an arena use the cluster, unless it is told to use another Redis."""
    return {} if cluster is None else {"HIMEJI_REDIS": cluster.url}


@pytest.fixture
def start_redis(
    short_folder: Path, cluster: Cluster | None
) -> Iterator[Callable[..., RedisProcess | Cluster]]:
    started: list[RedisProcess] = []

    def start(*settings: str, binary: Path | None = None) -> RedisProcess | Cluster:
        if cluster is not None:
            assert set(settings) <= set(DURABLE), "a test with other settings is about one_redis"
            return cluster
        process = RedisProcess(binary or find_binary(), short_folder, *settings)
        started.append(process)
        return process.start()

    yield start
    for process in started:
        process.kill()


# --- what is not run on a cluster ---------------------------------------------------------------

_LEFT_OUT = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEFT_OUT] = set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--cluster"):
        return
    left_out = {item: item.get_closest_marker("one_redis") for item in items}
    config.hook.pytest_deselected(items=[item for item, mark in left_out.items() if mark])
    items[:] = [item for item, mark in left_out.items() if not mark]
    told = config.stash[_LEFT_OUT]
    for item, mark in left_out.items():
        if mark:
            [why] = mark.args
            told.add(f"{item.nodeid.partition('[')[0]}: {why}")
    if hasattr(config, "workeroutput"):
        config.workeroutput["left out"] = sorted(told)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_LEFT_OUT].update(getattr(node, "workeroutput", {}).get("left out", ()))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    told = sorted(config.stash[_LEFT_OUT])
    if told:
        terminalreporter.section(f"about a single Redis, so not run on a cluster: {len(told)}")
    for sentence in told:
        terminalreporter.write_line(sentence)


# --- processes without a server -----------------------------------------------------------------


@pytest.fixture
async def three(start_redis: Callable[..., Any], binary: Path) -> AsyncIterator[list[GameProcess]]:
    url = start_redis("--appendonly", "yes", binary=binary).url
    opened = [GameProcess(await Store.connect(url)) for _ in range(3)]
    yield opened
    for process in opened:
        await process.store.close()


@pytest.fixture
def processes(three: list[GameProcess]) -> list[GameProcess]:
    return three[:2]


@pytest.fixture
def one(processes: list[GameProcess]) -> GameProcess:
    return processes[0]


@pytest.fixture
def two(processes: list[GameProcess]) -> GameProcess:
    return processes[1]
