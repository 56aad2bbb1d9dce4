"""Supervises child processes: restarts one whenever it ends, with exponential back-off.

Invariant: a child is launched only while no earlier process of it is alive, and never after `stop`
was called. Each child has one task that runs `keep_running`, in the event loop, and `_stopping` is
read again after every await during which `stop` may have run. A child whose `launch` does not read
it has to be stopped after that task was cancelled.
"""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass

import structlog

from himeji_server.startup_errors import StartRefusedError
from himeji_server.tasks import wait_for

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class RestartPolicy:
    """How long to wait before a child that ended is launched again; the delay doubles each time."""

    first_delay: float = 0.2
    longest_delay: float = 10.0
    steady_seconds: float = 60.0
    """After running for longer than this, a child is restarted with the first delay again."""


class SupervisedProcess(ABC):
    """A child process that is restarted whenever it ends."""

    def __init__(self, kind: str, policy: RestartPolicy, **context: object) -> None:
        """The log names the child by its kind; `context` is added to each of its log lines."""
        self._kind = kind
        self._policy = policy
        self._context = context
        self._stopping = asyncio.Event()

    @abstractmethod
    def is_alive(self) -> bool:
        """Whether there is a process that has not ended."""

    @abstractmethod
    async def launch(self) -> None:
        """Start the process and return when it is ready.

        Raises StartRefusedError or OSError. May return without a process if it is being stopped.
        """

    @abstractmethod
    async def wait(self) -> str:
        """Wait until the process ends; return the reason for the log."""

    @abstractmethod
    async def stop(self) -> None:
        """End the process, by force if it takes too long, and never launch it again."""

    async def keep_running(self) -> None:
        """Launch the process if it is not alive, again and again; returns once it was stopped."""
        clock, policy = asyncio.get_running_loop().time, self._policy
        delay, restarting = policy.first_delay, False
        while not self._stopping.is_set():
            seconds_running = 0.0
            try:
                if not self.is_alive():
                    await self.launch()
                    if self._stopping.is_set():
                        return
                    if restarting:
                        _log.info(f"{self._kind} runs again", **self._context)
                launched = clock()
                reason = await self.wait()
                seconds_running = clock() - launched
            except (StartRefusedError, OSError) as error:
                reason = str(error)
            if self._stopping.is_set():
                return
            if seconds_running > policy.steady_seconds:
                delay = policy.first_delay
            _log.error(f"{self._kind} is not running", why=reason, wait_s=delay, **self._context)
            await wait_for(self._stopping, delay)
            delay, restarting = min(delay * 2, policy.longest_delay), True
