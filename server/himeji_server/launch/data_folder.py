"""The folder in which an arena keeps its data, and the lock that makes it one arena's."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from himeji_server.startup_errors import ExitCode, StartRefusedError

LOCK = "arena.lock"


@contextmanager
def owned(folder: Path) -> Iterator[Path]:
    """Create the folder where it is missing and hold it until the block ends.

    The lock is the kernel's, on an open file: it ends with the process, however that dies.
    """
    path = folder.expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(path, error) from error
    try:
        _take(lock, path)
        yield path
    finally:
        os.close(lock)


def unusable(path: Path, error: OSError) -> StartRefusedError:
    """Say that the folder cannot be used, and what the system gave as the reason."""
    why = os.strerror(error.errno) if error.errno else str(error)
    return StartRefusedError(
        f"the data folder {path} cannot be used ({why}): choose another one with --data"
    )


def _take(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EAGAIN}:
            raise unusable(path, error) from error
        holder = os.read(lock, 20).decode(errors="replace").strip() or "unknown"
        raise StartRefusedError(
            f"the data folder {path} is in use by another arena (process {holder}): "
            "stop that one, or choose another folder with --data",
            ExitCode.DATA_IN_USE,
        ) from error
