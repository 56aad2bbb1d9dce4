"""Helpers for asyncio tasks: a wait with a timeout, and tasks that nobody awaits."""

import asyncio
from collections.abc import Coroutine


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait until the event is set, for at most `seconds`; False means that the time is up."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


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
