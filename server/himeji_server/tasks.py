"""Helpers for asyncio tasks: timeouts, time slices, and tasks that nobody awaits."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Final, TypeVar

from himeji_server.processor_shares import pause

_SLICE_SECONDS: Final = 0.003
_T = TypeVar("_T")


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait until the event is set, for at most `seconds`; False means that the time is up."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def in_slices(items: Iterable[_T]) -> AsyncGenerator[_T, None]:
    """Yield items, and let other tasks run after every few milliseconds of work on them.

    For long lists in one answer; an iterator makes its items here, so that counts as well. A call
    whose client is in debt is paused before each slice: see processor_shares.py where that may be.
    """
    await pause()
    until = time.perf_counter() + _SLICE_SECONDS
    for item in items:
        yield item
        if time.perf_counter() > until:
            await asyncio.sleep(0)
            await pause()
            until = time.perf_counter() + _SLICE_SECONDS


class Watchdog:
    """Calls a function when something that is done again and again takes too long once.

    It sets one timer in `seconds`, not one each time, so that hot code may use it.
    """

    def __init__(self, seconds: float, on_timeout: Callable[[], None]) -> None:
        self._seconds = seconds
        self._on_timeout = on_timeout
        self._loop = asyncio.get_running_loop()
        self._started: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Note that it begins now."""
        self._started = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._started + self._seconds, self._check)

    def stop(self) -> None:
        """Note that it is done."""
        self._started = None

    def close(self) -> None:
        """Nothing begins any more."""
        self.stop()
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        self._timer = None
        if self._started is None:
            return
        due = self._started + self._seconds
        if due <= self._loop.time():
            self._on_timeout()
        else:
            self._timer = self._loop.call_at(due, self._check)


class TaskSet:
    """Holds background tasks until they end.

    The event loop keeps only weak references to tasks, so a task that nobody else refers to can be
    garbage-collected before it has finished.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, coroutine: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run the coroutine as a task; an exception that it raises is logged by asyncio."""
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Cancel every task that is still running, without waiting for it to end."""
        for task in self._tasks:
            task.cancel()
