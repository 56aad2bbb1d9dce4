"""Shares out the processor time of the event loop, so that one client's calls cannot fill it.

All calls of a process run on one event loop, in the order in which they come: a client that makes
many expensive calls at a time makes everybody wait, however few calls a second it makes. So each
client has a budget of processor time. A call begins when the budget has what calls of its method
usually cost this client, and what it really takes is charged to the budget after each of its steps.
Commands to Redis are counted too, because all callers share one pipeline to it.

A call whose client is in debt is paused, but only at stated points: before its handler begins,
after each message of a stream that only reads, and wherever its code says `await pause()` or
`async with turn()`. Requests to the page are measured in the same way, with budgets of their own.

Invariants: calls of a client that wait begin in the order in which they came, each when the budget
allows it, whatever the ones before it turned out to cost; calls that are paused go on before them,
one at a time, so that what one costs is charged before the next one is resumed. Clients do not wait
for each other: a call is paused only in its own task, and never while it holds a game's lock, which
the lock itself sees to (`forbid_pauses`). Therefore nobody who holds a lock waits for a budget, and
there is no deadlock. Nor may a stated point lie between a commit and telling about it: it belongs
before the work of a use case, into what only reads, and never into what commits call.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, Self, TypeAlias, TypeVar

from himeji.rules.errors import RateLimited

from himeji_server.limits import Limits
from himeji_server.rate_limits import UNLIMITED, TokenBucket

_T = TypeVar("_T")
_Queue: TypeAlias = "deque[tuple[float, asyncio.Future[None]]]"
"""Calls that wait, each with what it takes when it goes on."""

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


class _Share(NamedTuple):
    """What each client gets, and the name of the limit."""

    limit: str
    ms_per_second: int
    ms_at_once: int
    wait_seconds: float


class _Budget:
    """The processor time of one client, in milliseconds, and the calls that wait for it."""

    def __init__(self, share: _Share) -> None:
        self._bucket = TokenBucket(share.limit, share.ms_per_second, share.ms_at_once)
        self._wait_seconds = share.wait_seconds
        self._estimates: dict[str, CostEstimate] = {}
        self._paused: _Queue = deque()
        self._new: _Queue = deque()
        self._queued_ms = 0.0
        self._next_look: asyncio.Handle | None = None
        self.turn = asyncio.Lock()
        """Held by the one call of the client that does what only one may do at a time."""

    @property
    def is_unused(self) -> bool:
        """Whether a new budget in its place would be the same."""
        return self._bucket.full and not (self._paused or self._new or self.turn.locked())

    @property
    def debt_ms(self) -> float:
        """How much more the client has used than it had."""
        return self._bucket.seconds_until(0.0) * self._bucket.per_second

    def estimate(self, method: str) -> float:
        """What calls of a method usually cost this client."""
        known = self._estimates.get(method)
        return _FIRST_ESTIMATE_MS if known is None else known.ms

    def learn(self, method: str, ms: float) -> None:
        """Note what a call of a method cost."""
        self._estimates.setdefault(method, CostEstimate()).update(ms)

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
            await self._wait(self._new, ms)
        finally:
            self._queued_ms -= ms

    async def pay_debt(self) -> None:
        """Wait until the client is out of debt; before all calls that have not begun."""
        await self._wait(self._paused, 0.0)

    def charge(self, ms: float) -> None:
        """Take so much at once, whether it is there or not."""
        self._bucket.give_back(-ms)

    def give_back(self, ms: float) -> None:
        """Return what was taken."""
        self._bucket.give_back(ms)
        if self._paused or self._new:
            self._look_in(0.0)

    async def _wait(self, queue: _Queue, ms: float) -> None:
        if not (self._paused or self._new) and not self._bucket.seconds_until(ms):
            self.charge(ms)
            return
        waiting = (ms, asyncio.get_running_loop().create_future())
        queue.append(waiting)
        self._look_in(0.0)
        try:
            await waiting[1]
        except asyncio.CancelledError:
            if not waiting[1].cancelled():  # it was its turn
                self.give_back(ms)
            elif waiting in queue:
                queue.remove(waiting)
            raise

    def _look_in(self, seconds: float) -> None:
        """Look in so many seconds who may go on, instead of whenever it was to be."""
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        self._next_look = (
            loop.call_later(seconds, self._resume_next)
            if seconds > 0
            else loop.call_soon(self._resume_next)
        )

    def _resume_next(self) -> None:
        """Resume the next call if the budget allows it."""
        self._next_look = None
        queue = self._paused or self._new
        if not queue:
            return
        ms, turn = queue[0]
        seconds = self._bucket.seconds_until(ms)
        if not seconds:
            queue.popleft()
            if not turn.done():  # else it is being cancelled
                self.charge(ms)
                turn.set_result(None)
        # The loop runs the step of the call that was resumed before it looks for the next one.
        self._look_in(seconds)


class ProcessorShares:
    """The budgets of all clients: owners, and addresses of calls without a token."""

    def __init__(self, limits: Limits) -> None:
        self._share = _Share(
            _LIMIT,
            limits.processor_ms_per_second,
            limits.processor_ms_at_once,
            limits.processor_wait_seconds,
        )
        self._budgets: dict[str, _Budget] = {}

    @classmethod
    def of_page(cls, limits: Limits) -> Self:
        """Those of the page's clients, which pay for requests in advance."""
        made = cls(limits)
        made._share = _Share(
            "page_requests_per_second",
            limits.page_requests_per_second,
            limits.page_requests_at_once,
            limits.page_wait_seconds,
        )
        return made

    def budget(self, client: str) -> _Budget | None:
        """The budget of a client; None if its time is not limited."""
        if client in UNLIMITED:
            return None
        budget = self._budgets.get(client)
        if budget is None:
            if len(self._budgets) >= _MOST_CLIENTS:
                self._budgets = {k: each for k, each in self._budgets.items() if not each.is_unused}
            budget = self._budgets[client] = _Budget(self._share)
        return budget


class CallCost:
    """The processor time of one call."""

    def __init__(self, shares: ProcessorShares, method: str = "", *, pausable: bool = True) -> None:
        """`method` is what is called: the client's calls of one method cost about the same.

        Without one, what the call costs says nothing about others.
        """
        self._shares, self._method = shares, method
        self._is_admitted = False
        self._balance_ms = 0.0  # what was paid for and not used yet
        self.pausable = pausable
        self.budget: _Budget | None = None
        """The budget of the client, once it is known and if its time is limited."""

    async def wait_for_budget(self, client: str, *, patient: bool = False) -> None:
        """Wait until the client has time for the call.

        Raises RateLimited if that is too long for somebody who is not patient.
        """
        budget = self._shares.budget(client)
        if budget is not None:
            ms = budget.estimate(self._method)
            await budget.take(ms, patient=patient)
            self.budget, self._is_admitted = budget, True
            self._balance_ms += ms

    async def pay(self, client: str, ms: float, *, patient: bool = False) -> None:
        """Wait until the client has so much time, and take it whether it is used or not.

        What the call uses beyond that is charged as it is used. Raises RateLimited like
        `wait_for_budget`.
        """
        budget = self._shares.budget(client)
        if budget is not None:
            await budget.take(ms, patient=patient)
            self.budget = budget
            self._balance_ms = min(self._balance_ms, 0.0) + ms

    def owe(self, client: str) -> None:
        """Have the call charged to a client without waiting."""
        self.budget = self._shares.budget(client)

    def charge(self, ms: float) -> None:
        """Charge what the call has used; a call that is refused before its turn costs nothing."""
        self._balance_ms -= ms
        if self.budget is not None and self._balance_ms < 0:
            self.budget.charge(-self._balance_ms)
            self._balance_ms = 0.0

    async def measure(self, call: Coroutine[Any, Any, _T]) -> _T:
        """Await the call; what it takes is charged to the client for whom it waited."""
        meter = _Meter(call, self)
        _METER.set(meter)
        try:
            return await meter
        finally:
            _METER.set(None)
            meter.end()
            self._end(meter.ms)

    def _end(self, ms: float) -> None:
        """Return what was not used of an estimate, and learn from what the call cost."""
        if self.budget is not None and self._is_admitted:
            self.budget.give_back(self._balance_ms)
            if self._method:
                self.budget.learn(self._method, ms)
        self.budget = None  # tasks that outlive the call are not its own


class StreamCosts:
    """Charges a stream's client for work that is not the handling of a request.

    Such work waits before it begins or not at all: nothing of a stream is paused.
    """

    def __init__(self, shares: ProcessorShares, work: str, client: str) -> None:
        """`work` is the name of work that can wait, by which its usual cost is known."""
        self._shares, self._work, self._client = shares, work, client

    async def wait(self) -> CallCost:
        """Wait until the client's budget allows more work, without a timeout; returns its cost."""
        cost = CallCost(self._shares, self._work, pausable=False)
        await cost.wait_for_budget(self._client, patient=True)
        return cost

    def owed(self) -> CallCost:
        """The cost of work that starts at once: the client's next calls wait longer instead."""
        cost = CallCost(self._shares, self._work, pausable=False)
        cost.owe(self._client)
        return cost


class _Meter(Awaitable[_T]):
    """Awaits a coroutine and charges the processor time of its steps.

    Of tasks that the coroutine starts, only the commands to Redis are counted.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, _T], cost: CallCost) -> None:
        self._coroutine, self.cost = coroutine, cost
        self._task = asyncio.current_task()
        self._began = 0.0
        self.ms = 0.0
        self.locks = 0
        """Locks that the call holds or waits for."""

    def __await__(self) -> Generator[Any, Any, _T]:
        # Like `yield from`, with a clock around each step.
        steps = self._coroutine
        resume: Callable[[Any], Any] = steps.send
        argument: Any = None
        while True:
            self._began = time.thread_time()
            try:
                awaited = resume(argument)
            except StopIteration as stopped:
                value: _T = stopped.value
                return value
            finally:
                self._charge_step()
                argument = None  # an exception that this frame held would hold this frame
            try:
                argument, resume = (yield awaited), steps.send
            except BaseException as raised:  # noqa: BLE001 - it belongs to the coroutine
                argument, resume = raised, steps.throw

    def add(self, ms: float) -> None:
        """Charge something that the call has used."""
        self.ms += ms
        self.cost.charge(ms)

    def end(self) -> None:
        """Let go of the task, which refers to the call."""
        self._task = None

    def budget_to_wait_for(self) -> _Budget | None:
        """The budget for which the call may be paused here, with the step so far charged to it.

        None if it is not limited or must not be paused.
        """
        budget = self.cost.budget
        if budget is None or not self.cost.pausable or self.locks:
            return None
        if asyncio.current_task() is not self._task:  # others may wait for that task
            return None
        self._charge_step()
        return budget

    def _charge_step(self) -> None:
        now = time.thread_time()
        self.add((now - self._began) * 1000)
        self._began = now


_METER: Final[ContextVar[_Meter[Any] | None]] = ContextVar("meter", default=None)


def count_store_command() -> None:
    """Add a command to Redis to the cost of the call that sends it, if it is measured."""
    meter = _METER.get()
    if meter is not None:
        meter.add(_STORE_COMMAND_MS)


async def prepay(client: str, ms: float) -> None:
    """Wait until the client of this call has so much time, and take it as `CallCost.pay` does."""
    meter = _METER.get()
    if meter is not None:
        await meter.cost.pay(client, ms, patient=True)


async def pause() -> None:
    """Pause the call of this task until its client is out of debt; see the invariants above.

    For a point where the call holds nothing, and where it has told of all that it has changed.
    """
    meter = _METER.get()
    budget = None if meter is None else meter.budget_to_wait_for()
    if budget is not None and budget.debt_ms:
        await budget.pay_debt()


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Hold a lock of the call's client, and pause before the block like `pause`.

    For work whose cost shows only when it is too late for a pause: many calls of a client that
    begin it at once would all be in it before the first one was charged.
    """
    meter = _METER.get()
    budget = None if meter is None else meter.budget_to_wait_for()
    if budget is None:
        yield
        return
    async with budget.turn:
        await pause()
        forbid_pauses()  # nor may the block wait for a turn
        try:
            yield
        finally:
            allow_pauses()


def forbid_pauses() -> None:
    """Let the call of this task not be paused until `allow_pauses`: it is about to take a lock."""
    meter = _METER.get()
    if meter is not None:
        meter.locks += 1


def allow_pauses() -> None:
    """Let the call be paused again: it has released the lock."""
    meter = _METER.get()
    if meter is not None:
        meter.locks -= 1
