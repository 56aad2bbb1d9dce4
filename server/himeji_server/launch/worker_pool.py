"""Several server processes (workers) of one arena, on one port and one Redis.

The parent answers no calls. It reserves the port, so that no other program can take it while a
worker restarts; each worker listens on it too, and the kernel spreads the connections.
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
from himeji_server.launch.runtime import run_in_background
from himeji_server.launch.supervisor import RestartPolicy, SupervisedProcess
from himeji_server.limits import AccountLimits, Limits
from himeji_server.rpc import grpc_server
from himeji_server.settings import DRAIN_SECONDS, HOST, Settings
from himeji_server.startup_errors import StartRefusedError, port_unavailable

READY: Final = "ready"
"""What a worker writes on its standard output once it answers calls."""

VARIABLE: Final = "HIMEJI_WORKER"
"""The environment variable with a worker's settings: a URL in them may have a password, which
other users could read on a command line."""

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = DRAIN_SECONDS + 10.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WorkerPool:
    """The ports of the running workers."""

    port: int
    metrics_ports: tuple[int, ...]
    http_port: int | None


@asynccontextmanager
async def running(settings: Settings, url: str) -> AsyncIterator[WorkerPool]:
    """Run the workers until the block ends; raises StartRefusedError if one does not start."""
    with _reserved(settings.port) as port, _reserved_http(settings.http_port) as http_port:
        ports = metrics.free_ports(settings.metrics_port, settings.processes)
        workers = [
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
            await asyncio.gather(*(worker.launch() for worker in workers))
            async with run_in_background(*(worker.keep_running for worker in workers)):
                yield WorkerPool(port, ports, http_port)
        finally:
            await asyncio.gather(*(worker.stop() for worker in workers))


class WorkerProcess(SupervisedProcess):
    """One server process; it dies with its parent."""

    def __init__(self, number: int, settings: Settings) -> None:
        super().__init__("server process", RestartPolicy(), number=number)
        self._number = number
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None

    def is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def launch(self) -> None:
        """Start the process and return when it answers calls; raises StartRefusedError."""
        process = self._process = await self._spawn()
        line = b""
        if process.stdout is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_START_SECONDS):
                    line = await process.stdout.readline()
        if line.decode().strip() != READY:
            _kill(process)
            await process.wait()
            raise StartRefusedError(
                f"server process {self._number} does not start; the log says why"
            )

    async def wait(self) -> str:
        code = await self._process.wait() if self._process is not None else None
        return f"it ended with code {code}"

    async def stop(self) -> None:
        """Let the process drain, or end it by force when that takes too long."""
        self._stopping.set()
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            _log.error("server process does not end, so it is killed", number=self._number)
            _kill(process)
            await process.wait()
        if process.stdin is not None:
            process.stdin.close()

    async def _spawn(self) -> asyncio.subprocess.Process:
        # -P: modules in the current folder are not imported.
        program = [sys.executable, "-P", "-m", "himeji_server.launch.worker"]
        return await asyncio.create_subprocess_exec(
            *die_with_parent.command(program),
            env={**os.environ, VARIABLE: to_json(self._number, self._settings)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Ctrl-C in a terminal signals the whole process group; the parent stops its workers.
            start_new_session=True,
        )


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def to_json(number: int, settings: Settings) -> str:
    """Serialise what a worker has to know."""
    return json.dumps([number, asdict(settings)], default=str)


def from_json(text: str) -> tuple[int, Settings]:
    """Read the number and the settings of a worker."""
    number, found = json.loads(text)
    settings = Settings(
        **found
        | {
            "data": Path(found["data"]),
            "admin_token_file": None,  # the parent writes it, and runs the house bots
            "house": (),
            "ladders": Path(found["ladders"]) if found["ladders"] else None,
            "accounts": AccountLimits(**found["accounts"]),
            "limits": Limits(**found["limits"]),
        }
    )
    return number, settings


@contextmanager
def _reserved(port: int) -> Iterator[int]:
    """Reserve a port of this machine for the workers; raises StartRefusedError if it is in use."""
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
def _reserved_http(port: int | None) -> Iterator[int | None]:
    """Reserve the port of the web page, if there is one."""
    if port is None:
        yield None
        return
    # Imported here for the reason in server_process.py.
    from himeji_server.web.server import bind_socket  # noqa: PLC0415

    with bind_socket(port, shared=True) as held:
        yield held.getsockname()[1]
