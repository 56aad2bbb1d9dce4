"""Which processes a process has below it, by what Linux tells; any of them may go meanwhile."""

import contextlib
import os
from pathlib import Path


def children_of(pid):
    """The processes that a process has started, none where it is gone."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def words_of(pid):
    """The command line of a process, nothing where it is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return []


def workers_of(pid):
    """The server processes of an arena of several."""
    return [each for each in children_of(pid) if "himeji_server.launch.worker" in words_of(each)]


def rules_processes():
    """The processes for long rules calls that this process has started."""
    mine = children_of(os.getpid())
    return {each for each in mine if "himeji_server.rpc.rules_process" in words_of(each)}
