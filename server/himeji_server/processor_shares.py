"""Shares out the processor time of the event loop, so that one client's calls cannot fill it.

All calls of a process run on one event loop, in the order in which they come: a client that makes
dear calls many at a time makes everybody wait, however few calls a second it makes. So the calls of
each client are metered, and paced: a call begins when its client has processor time left for it, as
far as can be told from what the method cost before.

Commands to Redis are counted too, because all callers share one pipeline to it.

Invariants: what a call took is charged to its client exactly, also if the estimate was wrong. While
one client waits for its turn, no other client does.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from himeji_server.limits import Limits
from himeji_server.rate_limits import UNLIMITED, RateLimiter

_T = TypeVar("_T")

_FIRST_ESTIMATE_MS: Final = 1.0
_STORE_COMMAND_MS: Final = 0.015
"""What a command to Redis costs beside the call's own steps: half in the pipeline, half there."""

_UP: Final = 1.2
_DOWN: Final = 0.98
"""What an estimate is multiplied by after a call that cost more or less: nine of ten cost less."""


class CostEstimate:
    """What nine of ten calls of a method cost at most, in milliseconds.

    It moves in small steps, because now and then a call is charged for the garbage collector, too.
    """

    def __init__(self) -> None:
        self.ms = _FIRST_ESTIMATE_MS

    def update(self, ms: float) -> None:
        """Note what a call cost."""
        self.ms *= _UP if ms > self.ms else _DOWN


class ProcessorShares:
    """The processor time that each client has left."""

    def __init__(self, limits: Limits) -> None:
        self._budgets = RateLimiter(
            "processor_ms_per_second", limits.processor_ms_per_second, limits.processor_ms_at_once
        )
        self._wait_seconds = limits.processor_wait_seconds

    def reserve(self, client: str, ms: float) -> float:
        """Charge a client in advance; returns the seconds to wait, or raises RateLimited."""
        if client in UNLIMITED:
            return 0.0
        return self._budgets.bucket(client).reserve(self._wait_seconds, ms)

    def settle(self, client: str, ms: float) -> None:
        """Charge a client for more than was reserved; a negative number is given back."""
        if client not in UNLIMITED:
            self._budgets.bucket(client).give_back(-ms)


class CallCost:
    """The processor time of one call."""

    def __init__(self, shares: ProcessorShares, estimate: CostEstimate) -> None:
        self._shares, self._estimate = shares, estimate
        self._client = ""
        self._reserved_ms = 0.0

    async def turn(self, client: str) -> None:
        """Wait until the client has time for the call; raises RateLimited if that is too long."""
        ms = self._estimate.ms
        wait = self._shares.reserve(client, ms)
        self._client, self._reserved_ms = client, ms
        if wait > 0:
            await asyncio.sleep(wait)

    async def measure(self, call: Coroutine[Any, Any, _T]) -> _T:
        """Await the call; what it took is charged to the client whose turn it was."""
        meter = _Meter(call)
        _METER.set(meter)
        try:
            return await meter
        finally:
            if self._client:
                self._estimate.update(meter.ms)
                self._shares.settle(self._client, meter.ms - self._reserved_ms)


class _Meter(Awaitable[_T]):
    """Awaits a coroutine and measures the processor time of its steps.

    Of tasks that the coroutine starts, only the commands to Redis are counted.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, _T]) -> None:
        self._coroutine = coroutine
        self.ms = 0.0

    def __await__(self) -> Generator[Any, Any, _T]:
        # Like `yield from`, with a clock around each step.
        steps = self._coroutine
        resume: Callable[[Any], Any] = steps.send
        argument: Any = None
        while True:
            began = time.thread_time()
            try:
                awaited = resume(argument)
            except StopIteration as stopped:
                value: _T = stopped.value
                return value
            finally:
                self.ms += (time.thread_time() - began) * 1000
                argument = None  # an exception that this frame held would hold this frame
            try:
                argument, resume = (yield awaited), steps.send
            except BaseException as raised:  # noqa: BLE001 - it belongs to the coroutine
                argument, resume = raised, steps.throw


_METER: Final[ContextVar[_Meter[Any] | None]] = ContextVar("meter", default=None)


def count_store_command() -> None:
    """Add a command to Redis to the cost of the call that sends it, if it is measured."""
    meter = _METER.get()
    if meter is not None:
        meter.ms += _STORE_COMMAND_MS
