"""Standard output of commands that run bots: what a bot prints is neither lost nor mixed into JSON.

Python keeps what is printed into a pipe or a file back until there is a lot of it, and throws it
away when the process is killed or leaves by `os._exit`, unless PYTHONUNBUFFERED is set.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from contextlib import AbstractContextManager


def flush_every_line() -> None:
    """Write each line as soon as it is printed; characters that cannot be encoded become `?`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="replace")


def bots_print_to_stderr(*, when: bool = True) -> AbstractContextManager[object]:
    """Keep standard output for the command alone: bots of this process print to standard error."""
    return contextlib.redirect_stdout(sys.stderr) if when else contextlib.nullcontext()


def use_stderr_only() -> None:
    """Do the same for good, in a process that has nothing but a bot to run."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    flush_every_line()
