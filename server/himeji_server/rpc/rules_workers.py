"""A pool of worker processes for rules calls that would hold the event loop for too long.

A worker is started when a call needs one and none is free, and kept. One that died, or whose call
took too long, is replaced by the next call. What waits is bounded, for an owner and in all.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import structlog
from google.rpc import status_pb2
from himeji.components import VARIABLE as COMPONENTS
from himeji.rules.errors import Unavailable
from himeji.wire.errors import from_status

from himeji_server.limits import Limits
from himeji_server.rate_limits import ConcurrencyLimit, exceeded
from himeji_server.rpc.rules_process import HEADER, Outcome, RulesCall

_PASSED_ON: Final = frozenset({"HIMEJI_PURE", COMPONENTS})
_TRIES: Final = 2
"""A worker may have died while it was idle, for example for want of memory."""

_START_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 1.0
"""A worker ends itself after its time; this is for one that does not even do that."""

_log = structlog.get_logger(__name__)


class _WorkerEndedError(Exception):
    """The process ended before it answered."""


class RulesWorkers:
    """The worker processes of one server process."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots = ConcurrencyLimit(
            "rules_calls", limits.rules_calls_per_owner, limits.rules_calls
        )
        self._free = asyncio.Semaphore(limits.rules_workers)
        self._idle: list[_Worker] = []

    async def run(self, limit_key: str, call: RulesCall, request: bytes) -> bytes:
        """Run one call; raises what it raised, LimitExceeded or Unavailable."""
        with self._slots.slot(limit_key):
            async with self._free:
                for _ in range(_TRIES):
                    with contextlib.suppress(_WorkerEndedError):
                        outcome, content = await self._try(call, request)
                        return _response(outcome, content)
        raise Unavailable("the rules process ended before it answered, try again")

    async def _try(self, call: RulesCall, request: bytes) -> tuple[Outcome, bytes]:
        """Run a call in an idle worker or a new one, which is idle again only if it answers."""
        worker = self._idle.pop() if self._idle else await _Worker.start(self._limits)
        try:
            answer = await worker.run(call, request)
        except BaseException:
            await worker.kill()
            raise
        self._idle.append(worker)
        return answer

    async def close(self) -> None:
        """End the idle workers; one that is at work ends when its call is cancelled."""
        while self._idle:
            await self._idle.pop().kill()


class _Worker:
    """One process, which runs one call at a time."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        seconds: float,
    ) -> None:
        self._process = process
        self._output, self._input = connection
        self._seconds = seconds

    @classmethod
    async def start(cls, limits: Limits) -> "_Worker":
        """Start a process and wait until it is ready."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = _spawn(theirs, limits.rules_seconds)
        worker = cls(process, await asyncio.open_connection(sock=ours), limits.rules_seconds)
        _log.info("rules process started", pid=process.pid)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker._read()
        except BaseException as error:
            await worker.kill()
            if isinstance(error, TimeoutError):
                raise _WorkerEndedError from error
            raise
        return worker

    async def run(self, call: RulesCall, request: bytes) -> tuple[Outcome, bytes]:
        """Send a call and wait for its answer; raises LimitExceeded when it takes too long."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._seconds + _GRACE_SECONDS):
                self._input.write(HEADER.pack(call, len(request)) + request)
                return await self._read()
        except (TimeoutError, _WorkerEndedError) as error:
            if loop.time() - started < self._seconds:
                raise
            sentence = "the call took longer than {} seconds: send less at once"
            raise exceeded("rules_seconds", int(self._seconds), sentence) from error

    async def _read(self) -> tuple[Outcome, bytes]:
        try:
            outcome, length = HEADER.unpack(await self._output.readexactly(HEADER.size))
            return Outcome(outcome), await self._output.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise _WorkerEndedError from error

    async def kill(self) -> None:
        """End the process and wait until it is gone."""
        self._process.kill()
        self._input.close()
        await asyncio.to_thread(self._process.wait)


def _spawn(connection: socket.socket, seconds: float) -> subprocess.Popen[bytes]:
    """Start the program; not by asyncio: uvloop forks, which gRPC's threads make crash."""
    program = [sys.executable, "-P", "-m", "himeji_server.rpc.rules_process", str(seconds)]
    return subprocess.Popen(  # noqa: S603 - our own program
        program,
        env=_environment(os.environ),
        stdin=connection.fileno(),
        stdout=connection.fileno(),
        start_new_session=True,  # Ctrl-C in a terminal is for the server process
    )


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment without the settings of the arena, some of which are secret."""
    return {
        name: value
        for name, value in variables.items()
        if not name.startswith("HIMEJI_") or name in _PASSED_ON
    }


def _response(outcome: Outcome, content: bytes) -> bytes:
    if outcome is Outcome.ERROR:
        raise from_status(status_pb2.Status.FromString(content))
    if outcome is Outcome.FAULT:
        raise RuntimeError(content.decode())
    return content
