"""Standard output where bots run: what a bot prints is neither lost nor mixed into JSON.

Python buffers what is printed into a pipe or a file, and loses it when the process is killed or
leaves by `os._exit`, unless PYTHONUNBUFFERED is set. So what bots print is flushed at every write.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, Final, TextIO, cast

_STDOUT: Final = 1
_STDERR: Final = 2


def reopen_closed_descriptors() -> None:
    """Open /dev/null for closed standard streams (`himeji ... >&-`), lest a socket becomes one."""
    for descriptor in (_STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            lowest = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(lowest, True)  # noqa: FBT003 - the standard library's way


class _Unbuffered:
    """A text stream that is flushed after every write, and otherwise the same."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        count = self._stream.write(text)
        self._stream.flush()
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unbuffered(stream: TextIO) -> TextIO:
    """The same stream, flushed after every write."""
    return cast("TextIO", _Unbuffered(stream))


@contextlib.contextmanager
def bot_output(*, to_stderr: bool) -> Iterator[None]:
    """Flush what bots of this process print, and send it to standard error if stdout is for JSON.

    That holds for a bot's child processes and extension modules as well.
    """
    with contextlib.ExitStack() as stack:
        stream = sys.stderr if to_stderr else sys.stdout
        if to_stderr and sys.stdout is not None and sys.stderr is not None:
            sys.stdout.flush()
            stack.enter_context(_stdout_descriptor_is_stderr())
        if stream is not None:  # it is None where the descriptor is closed
            stack.enter_context(contextlib.redirect_stdout(unbuffered(stream)))
        yield


@contextlib.contextmanager
def _stdout_descriptor_is_stderr() -> Iterator[None]:
    saved = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
        yield
    finally:
        os.dup2(saved, _STDOUT)
        os.close(saved)


def redirect_stdout_to_stderr() -> None:
    """Send all standard output of this process to standard error, for good."""
    if sys.stderr is not None:
        os.dup2(_STDERR, _STDOUT)
        sys.stdout = sys.stderr = unbuffered(sys.stderr)
