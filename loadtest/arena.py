"""Starts `himeji serve` as a process with a temporary folder and a free port, and stops it.

Also the helpers for child processes that the load tests and tests/programs share.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Final

HOST: Final = "127.0.0.1"
POLL_SECONDS: Final = 0.05
"""Pause between two looks at a child process."""

START_TIMEOUT: Final = 60.0
STOP_TIMEOUT: Final = 60.0
ANNOUNCEMENT: Final = "announcement"
_LOG_TAIL_LINES: Final = 12
_UNLIMITED: Final = 1_000_000
"""One owner has all bots of a load, so the limits per owner must not be what is measured."""


class ArenaFailedError(Exception):
    """The arena did not start, or ended unexpectedly; the message has the end of its log."""


class Arena:
    """A running arena process."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, log: Path) -> None:
        self._process = process
        self._log = log
        self.token_file = folder / "token"
        facts = _read_announcement(process, folder / ANNOUNCEMENT)
        if "stop" not in facts:
            raise ArenaFailedError(f"the arena did not start: {self.log_tail()}")
        self.target = facts["address"]
        self.page = facts.get("page", "")
        self.redis = facts["redis"].split()[0]

    @property
    def pid(self) -> int:
        """The process that was started; with --processes, the supervisor of the others."""
        return self._process.pid

    def check(self) -> None:
        """Raise ArenaFailedError if the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise ArenaFailedError(
                f"the arena ended by itself with exit code {code}: {self.log_tail()}"
            )

    def log_tail(self) -> str:
        """The last lines of the log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LOG_TAIL_LINES:]) or "the log is empty"


@contextlib.contextmanager
def temporary_arena(log: Path, *options: str) -> Iterator[Arena]:
    """Run an arena without house bots and without limits per owner, for a `with` block."""
    command = [sys.executable, "-m", "himeji_sdk", "serve", "--port", "0", "--house", "none"]
    command += ["--http-port", "none", "--log-format", "json"]
    for limit in ("bots", "games", "streams", "tokens"):
        command.append(f"--{limit}-per-owner={_UNLIMITED}")
    command.append(f"--calls-per-second={_UNLIMITED}")
    with tempfile.TemporaryDirectory(prefix="hj-") as folder, log.open("w") as errors:
        with (Path(folder) / ANNOUNCEMENT).open("w") as announcement:
            process = _start([*command, "--data", folder, *options], announcement, errors)
        try:
            yield Arena(process, Path(folder), log)
        finally:
            stop_process(process)


def stop_process(process: subprocess.Popen[str]) -> None:
    """Send SIGTERM and wait; kill the process if it takes longer than STOP_TIMEOUT."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def raise_on_sigterm() -> None:
    """Treat SIGTERM like Ctrl-C, so that context managers stop the child processes."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def clean_environment() -> dict[str, str]:
    """The environment without HIMEJI_* variables, which would configure arenas and clients."""
    return {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}


def free_port() -> int:
    """A TCP port that is free at the moment."""
    with socket.socket() as trial:
        trial.bind((HOST, 0))
        port: int = trial.getsockname()[1]
        return port


def _start(command: list[str], announcement: IO[str], errors: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        command,
        stdout=announcement,
        stderr=errors,
        text=True,
        env=clean_environment(),
        # Ctrl-C in a terminal reaches the whole group; the arena has to stop last.
        start_new_session=True,
    )


def _read_announcement(process: subprocess.Popen[str], path: Path) -> dict[str, str]:
    """The rows that `himeji serve` prints; the last is "stop", missing if it does not start."""
    facts: dict[str, str] = {}
    until = time.monotonic() + START_TIMEOUT
    while "stop" not in facts and process.poll() is None and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        rows = [line.strip().partition(" ") for line in path.read_text("utf-8").splitlines()]
        facts = {name: value.strip() for name, _, value in rows}
    return facts
