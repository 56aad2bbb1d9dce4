"""The folder with the data of an arena, and the lock that keeps other arenas out of it."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from himeji_server.startup_errors import ExitCode, StartRefusedError

LOCK = "arena.lock"


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Create the folder if it is missing, and hold its lock until the block ends.

    The kernel releases the lock (flock) when the process ends, however it dies.
    """
    path = folder.expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable(path, error) from error
    try:
        _acquire(lock, path)
        yield path
    finally:
        os.close(lock)


def unusable(path: Path, error: OSError) -> StartRefusedError:
    """The error for a folder that cannot be used, with the reason that the system gave."""
    why = os.strerror(error.errno) if error.errno else str(error)
    return StartRefusedError(
        f"the data folder {path} cannot be used ({why}): choose another one with --data"
    )


def _acquire(lock: int, path: Path) -> None:
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
