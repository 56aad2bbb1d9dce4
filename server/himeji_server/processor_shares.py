"""Shares out the processor time of the event loop, so that one client's calls cannot fill it.

All calls of a process run on one event loop, in the order in which they come: a client that makes
many expensive calls at a time makes everybody wait, however few calls a second it makes. So each
client has a budget of processor time. A call begins when the budget has what calls of its method
usually cost, and what it really took is charged to the budget when it ends.
Commands to Redis are counted too, because all callers share one pipeline to it.

Invariants: calls of a client that wait begin in the order in which they came, each when the budget
allows it, whatever the ones before it turned out to cost. Clients do not wait for each other.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from himeji.rules.errors import RateLimited

from himeji_server.limits import Limits
from himeji_server.rate_limits import UNLIMITED, TokenBucket

_T = TypeVar("_T")

_LIMIT: Final = "processor_ms_per_second"
_MOST_CLIENTS: Final = 10_000
_FIRST_ESTIMATE_MS: Final = 1.0
_LEAST_ESTIMATE_MS: Final = 0.5
"""So that only so many calls begin at once, however cheap the ones before them were."""

_STORE_COMMAND_MS: Final = 0.015
"""What a command to Redis costs beside the call's own steps: half in the pipeline, half there."""

_UP: Final = 1.2
_DOWN: Final = 0.98
"""What an estimate is multiplied by after a call that cost more or less: nine of ten cost less."""


def is_out_of_budget(error: Exception) -> bool:
    """Whether a call was refused because its client has no processor time left."""
    return isinstance(error, RateLimited) and error.details.get("limit") == _LIMIT


class CostEstimate:
    """What nine of ten calls of a method cost at most, in milliseconds.

    It moves in small steps, because now and then a call is charged for the garbage collector, too.
    """

    def __init__(self) -> None:
        self.ms = _FIRST_ESTIMATE_MS

    def update(self, ms: float) -> None:
        """Note what a call cost."""
        self.ms = max(_LEAST_ESTIMATE_MS, self.ms * (_UP if ms > self.ms else _DOWN))


class _Budget:
    """The processor time of one client, in milliseconds."""

    def __init__(self, limits: Limits) -> None:
        self._bucket = TokenBucket(
            _LIMIT, limits.processor_ms_per_second, limits.processor_ms_at_once
        )
        self._wait_seconds = limits.processor_wait_seconds
        self._first_in_line = asyncio.Lock()
        self._queued_ms = 0.0

    @property
    def is_unused(self) -> bool:
        """Whether a new budget in its place would be the same."""
        return self._bucket.full and not self._first_in_line.locked()

    async def take(self, ms: float, *, patient: bool = False) -> None:
        """Take so much as soon as it is there.

        Raises RateLimited if that would take too long for somebody who is not patient.
        """
        bucket = self._bucket
        wait = bucket.seconds_until(ms) + self._queued_ms / bucket.per_second
        if wait > self._wait_seconds and not patient:
            raise bucket.error(wait - self._wait_seconds)
        self._queued_ms += ms
        try:
            async with self._first_in_line:
                while (wait := bucket.seconds_until(ms)) > 0:  # noqa: ASYNC110 - nothing tells when
                    await asyncio.sleep(wait)
                bucket.give_back(-ms)
        finally:
            self._queued_ms -= ms

    def give_back(self, ms: float) -> None:
        """Return what was taken; a negative number takes more."""
        self._bucket.give_back(ms)


class ProcessorShares:
    """The budgets of all clients: owners, and addresses of calls without a token."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._budgets: dict[str, _Budget] = {}

    def budget(self, client: str) -> _Budget | None:
        """The budget of a client; None if its time is not limited."""
        if client in UNLIMITED:
            return None
        budget = self._budgets.get(client)
        if budget is None:
            if len(self._budgets) >= _MOST_CLIENTS:
                self._budgets = {k: each for k, each in self._budgets.items() if not each.is_unused}
            budget = self._budgets[client] = _Budget(self._limits)
        return budget


class CallCost:
    """The processor time of one call."""

    def __init__(self, shares: ProcessorShares, estimate: CostEstimate) -> None:
        self._shares, self._estimate = shares, estimate
        self._budget: _Budget | None = None
        self._taken_ms = 0.0

    async def wait_for_budget(self, client: str, *, patient: bool = False) -> None:
        """Wait until the client has time for the call.

        Raises RateLimited if that is too long for somebody who is not patient.
        """
        budget, ms = self._shares.budget(client), self._estimate.ms
        if budget is not None:
            await budget.take(ms, patient=patient)
            self._budget, self._taken_ms = budget, ms

    def owe(self, client: str) -> None:
        """Have the call charged to a client without waiting."""
        self._budget = self._shares.budget(client)

    async def measure(self, call: Coroutine[Any, Any, _T]) -> _T:
        """Await the call; what it took is charged to the client for whom it waited."""
        meter = _Meter(call)
        _METER.set(meter)
        try:
            return await meter
        finally:
            _METER.set(None)
            if self._budget is not None:
                self._estimate.update(meter.ms)
                self._budget.give_back(self._taken_ms - meter.ms)


class StreamCosts:
    """Charges a stream's client for work that is not the handling of a request."""

    def __init__(self, shares: ProcessorShares, estimate: CostEstimate, client: str) -> None:
        """`estimate` is the usual cost of work that can wait."""
        self._shares, self._estimate, self._client = shares, estimate, client

    async def wait(self) -> CallCost:
        """Wait until the client's budget allows more work, without a timeout; returns its cost."""
        cost = CallCost(self._shares, self._estimate)
        await cost.wait_for_budget(self._client, patient=True)
        return cost

    def owed(self) -> CallCost:
        """The cost of work that starts at once: the client's next calls wait longer instead."""
        cost = CallCost(self._shares, CostEstimate())
        cost.owe(self._client)
        return cost


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
