"""An arena of one's own: `himeji serve` on a fresh folder and a free port, gone at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Final

OPEN_SECONDS: Final = 60.0
STOP_SECONDS: Final = 60.0
ANNOUNCEMENT: Final = "announcement"
_LAST_LINES: Final = 12
_LOOK_SECONDS: Final = 0.05
_PLENTY: Final = 1_000_000
"""One owner has all the bots of a load, so the limits of an owner must not be what is measured."""


class ArenaFailedError(Exception):
    """The arena did not open, or ended by itself; the sentence says what it said."""


class Arena:
    """An arena that runs as a process."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, log: Path) -> None:
        self._process = process
        self._log = log
        self.token_file = folder / "token"
        facts = _announced(process, folder / ANNOUNCEMENT)
        if "stop" not in facts:
            raise ArenaFailedError(f"the arena did not open: {self.last_words()}")
        self.target = facts["address"]
        self.redis = facts["redis"].split()[0]

    @property
    def pid(self) -> int:
        """The process that was started; with several, the one that watches the others."""
        return self._process.pid

    def check(self) -> None:
        """Raise ArenaFailedError if it ended by itself."""
        code = self._process.poll()
        if code is not None:
            raise ArenaFailedError(
                f"the arena ended by itself with exit code {code}: {self.last_words()}"
            )

    def last_words(self) -> str:
        """The end of its log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LAST_LINES:]) or "it left no word"


@contextlib.contextmanager
def own_arena(log: Path, *options: str) -> Iterator[Arena]:
    """Hold an open arena without house bots, with plenty of everything for one owner."""
    command = [sys.executable, "-m", "himeji_sdk", "serve", "--port", "0", "--house", "none"]
    command += ["--http-port", "none", "--registration", "open", "--log-format", "json"]
    for what in ("bots", "games", "streams", "tokens"):
        command.append(f"--{what}-per-owner={_PLENTY}")
    command.append(f"--calls-per-second={_PLENTY}")
    with tempfile.TemporaryDirectory(prefix="hj-") as folder, log.open("w") as errors:
        with (Path(folder) / ANNOUNCEMENT).open("w") as words:
            process = _started([*command, "--data", folder, *options], words, errors)
        try:
            yield Arena(process, Path(folder), log)
        finally:
            end(process)


def end(process: subprocess.Popen[str]) -> None:
    """End a process in good order, or by force when it takes too long."""
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def heed_sigterm() -> None:
    """End like after Ctrl-C when told to: what was started is stopped on the way out."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)


def without_settings() -> dict[str, str]:
    """The environment without anything that would set an arena or a client."""
    return {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}


def _started(command: list[str], words: IO[str], errors: IO[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        command,
        stdout=words,
        stderr=errors,
        text=True,
        env=without_settings(),
        # Ctrl-C in a terminal reaches the whole group; the arena has to stop last.
        start_new_session=True,
    )


def _announced(process: subprocess.Popen[str], words: Path) -> dict[str, str]:
    """The rows of the announcement, whose last one says how to stop; fewer if it does not open."""
    facts: dict[str, str] = {}
    until = time.monotonic() + OPEN_SECONDS
    while "stop" not in facts and process.poll() is None and time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        rows = [line.strip().partition(" ") for line in words.read_text("utf-8").splitlines()]
        facts = {name: value.strip() for name, _, value in rows}
    return facts
