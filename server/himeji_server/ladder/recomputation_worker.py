"""The worker process of a recomputation: `python -m himeji_server.ladder.recomputation_worker`.

The server process writes one line with the job to its standard input and reads one line for each
step from its standard output. The worker has a connection to the store of its own, so nothing of
the log passes through the event loop of the server process. It ends when nobody reads its output
any more.
"""

import asyncio
import base64
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import IO, Any, Final

from himeji.rules.errors import StoreUnavailable
from himeji.v1.ladder_service_pb2 import StandingDifferences

from himeji_server.ladder.recomputation import Progress
from himeji_server.ladder.recomputation_jobs import Job, JobKind, Recomputed, Step, run_job
from himeji_server.store.client import Store
from himeji_server.store.errors import StoreRefusedError

_NICENESS: Final = 10
"""Games are more urgent, where there are fewer cores than work."""

_STORE_FAILED: Final = 3  # the exit code
_LONGEST_LINE: Final = 64 << 20


class RecomputationFailedError(Exception):
    """A worker process ended in the middle of its job, for a reason that is not the store's."""


# --- in the server process ------------------------------------------------------------------------


async def run_in_worker(url: str, job: Job) -> AsyncGenerator[Step, None]:
    """Do a job in a process of its own, which ends with this generator.

    Raises StoreUnavailable, or RecomputationFailedError with what the process wrote last.
    """
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryFile() as errors:
        with theirs:
            process = _spawn(theirs, errors)
        output, orders = await asyncio.open_connection(sock=ours, limit=_LONGEST_LINE)
        try:
            # Not as an argument: the URL may have a password, and everybody sees those.
            orders.write(json.dumps({"url": url, "job": asdict(job)}).encode() + b"\n")
            while line := await _read_line(output):
                yield _decoded(json.loads(line))
            code = await asyncio.to_thread(process.wait)
            if code == _STORE_FAILED:
                raise StoreUnavailable("the store failed during a recomputation; try again")
            if code:
                errors.seek(0)
                words = errors.read().decode(errors="replace").strip()
                raise RecomputationFailedError(words or f"exit code {code}")
        finally:
            process.kill()
            orders.close()
            await asyncio.to_thread(process.wait)


def _spawn(connection: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the program; not by asyncio: uvloop forks, and with gRPC's threads the child crashes.

    Popen of the standard library does not run what gRPC registered for forks.
    """
    return subprocess.Popen(  # noqa: S603 - our own program
        # -P: a module in the current folder must not be taken for one of ours.
        [sys.executable, "-P", "-m", __name__],
        stdin=connection.fileno(),
        stdout=connection.fileno(),
        stderr=errors,
        # Ctrl-C in a terminal signals the whole process group; this process ends its own workers.
        start_new_session=True,
    )


async def _read_line(output: asyncio.StreamReader) -> bytes:
    """The next line, b"" at the end, also if the process ended without reading all it was sent."""
    try:
        return await output.readline()
    except ConnectionError:
        return b""


def _decoded(line: dict[str, Any]) -> Step:
    if "total" in line:
        return Progress(line["done"], line["total"])
    found = StandingDifferences.FromString(base64.b64decode(line["differences"]))
    return Recomputed(line["games"], tuple(found.standings), line["repaired"])


# --- in the worker process ------------------------------------------------------------------------


def _encoded(step: Step) -> dict[str, Any]:
    if isinstance(step, Progress):
        return step._asdict()
    rows = StandingDifferences(standings=step.differences).SerializeToString()
    return {
        "games": step.games,
        "differences": base64.b64encode(rows).decode(),
        "repaired": step.repaired,
    }


async def _work(url: str, job: Job) -> None:
    store = await Store.connect(url)
    try:
        async with aclosing(run_job(store, job)) as steps:
            async for step in steps:
                sys.stdout.write(json.dumps(_encoded(step)) + "\n")
                sys.stdout.flush()
    finally:
        await store.close()


def main() -> None:
    """Read a job, and do it."""
    os.nice(_NICENESS)
    order = json.loads(sys.stdin.readline())
    kind = JobKind(order["job"].pop("kind"))
    try:
        asyncio.run(_work(order["url"], Job(kind, **order["job"])))
    except (StoreUnavailable, StoreRefusedError):
        sys.exit(_STORE_FAILED)
    except ConnectionError:  # the server process is gone
        os._exit(1)


if __name__ == "__main__":
    main()
