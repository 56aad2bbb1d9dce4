"""Several server processes of one arena: on one port and one Redis, kept running, and drained.

The parent answers no calls. It reserves the port, so that a child that dies leaves it to nobody
else, and each child listens on it too; the kernel spreads the connections.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from himeji_server import metrics
from himeji_server.launch import die_with_parent
from himeji_server.launch.runtime import background
from himeji_server.limits import AccountLimits, Limits
from himeji_server.rpc import grpc_server
from himeji_server.settings import DRAIN_SECONDS, HOST, Settings
from himeji_server.startup_errors import StartRefusedError, port_unavailable

READY: Final = "ready"
"""What a child writes on its standard output once it answers calls."""

VARIABLE: Final = "HIMEJI_WORKER"
"""The environment variable in which a child finds its settings; a URL may have a password."""

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = DRAIN_SECONDS + 10.0
_FIRST_WAIT: Final = 0.2
_LONGEST_WAIT: Final = 10.0
_STEADY_SECONDS: Final = 60.0  # who lived so long is started again without a long wait
_NO_FILE: Final = 2  # the tether keeps a file open for its program; standard error is open anyway

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WorkerPool:
    """What there is to say about the children."""

    port: int
    metrics_ports: tuple[int, ...]
    http_port: int | None


@asynccontextmanager
async def running(settings: Settings, url: str) -> AsyncIterator[WorkerPool]:
    """Hold the children, all of them answering; raises StartRefusedError if one does not."""
    with _reserved(settings.port) as port, _reserved_page(settings.http_port) as http_port:
        ports = metrics.free_ports(settings.metrics_port, settings.processes)
        children = [
            WorkerProcess(
                number,
                replace(
                    settings,
                    port=port,
                    http_port=http_port,
                    redis=url,
                    metrics_port=ports[number] if ports else None,
                ),
            )
            for number in range(settings.processes)
        ]
        try:
            await asyncio.gather(*(child.start() for child in children))
            async with background(*(child.keep_running for child in children)):
                yield WorkerPool(port, ports, http_port)
        finally:
            await asyncio.gather(*(child.stop() for child in children))


class WorkerProcess:
    """One server process; it dies with its parent."""

    def __init__(self, number: int, settings: Settings) -> None:
        self._number = number
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process and return when it answers calls; raises StartRefusedError."""
        process = self._process = await self._spawn()
        line = b""
        if process.stdout is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_START_SECONDS):
                    line = await process.stdout.readline()
        if line.decode().strip() != READY:
            raise StartRefusedError(
                f"server process {self._number} does not start; the log says why"
            )

    async def keep_running(self) -> None:
        """Start the process again whenever it dies; returns only by being cancelled."""
        clock, wait = asyncio.get_running_loop().time, _FIRST_WAIT
        while True:
            began = clock()
            code = await self._process.wait() if self._process is not None else None
            wait = _FIRST_WAIT if clock() - began > _STEADY_SECONDS else wait
            _log.error("server process died", number=self._number, exit_code=code, wait_s=wait)
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
            try:
                await self.start()
            except (StartRefusedError, OSError) as error:
                _log.error("server process does not start again", why=str(error))
                self._kill()
            else:
                _log.info("server process runs again", number=self._number)

    async def stop(self) -> None:
        """Let the process drain, or end it by force when that takes too long."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            _log.error("server process does not end", number=self._number)
            self._kill()
            await process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _spawn(self) -> asyncio.subprocess.Process:
        launcher = [sys.executable, "-I", "-S", die_with_parent.__file__, die_with_parent.MECHANISM]
        launcher += [str(os.getpid()), str(_NO_FILE)]
        # -P: what lies in the arena's folder is not imported.
        program = [sys.executable, "-P", "-m", "himeji_server.launch.worker"]
        return await asyncio.create_subprocess_exec(
            *(launcher + program),
            env={**os.environ, VARIABLE: written(self._number, self._settings)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Ctrl-C in a terminal reaches the whole group; the parent stops its children.
            start_new_session=True,
        )


def written(number: int, settings: Settings) -> str:
    """What a child has to know, as text."""
    return json.dumps([number, asdict(settings)], default=str)


def read(text: str) -> tuple[int, Settings]:
    """The number and the settings of a child."""
    number, found = json.loads(text)
    settings = Settings(
        **found
        | {
            "data": Path(found["data"]),
            "admin_token_file": None,  # the parent's business, as the house is
            "house": (),
            "ladders": Path(found["ladders"]) if found["ladders"] else None,
            "accounts": AccountLimits(**found["accounts"]),
            "limits": Limits(**found["limits"]),
        }
    )
    return number, settings


@contextmanager
def _reserved(port: int) -> Iterator[int]:
    """Hold a port of this machine for the children; raises StartRefusedError if it is in use."""
    grpc_server.check_port(port)
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            held.bind((HOST, port))
        except OSError as error:
            raise port_unavailable(port, error) from error
        yield held.getsockname()[1]


@contextmanager
def _reserved_page(port: int | None) -> Iterator[int | None]:
    """The same for the port of the page, where there is one."""
    if port is None:
        yield None
        return
    # As in process.py: it takes a while to import, and not every arena has a page.
    from himeji_server.web.server import listening  # noqa: PLC0415

    with listening(port, shared=True) as held:
        yield held.getsockname()[1]
