"""How a process of an arena runs: on the fastest event loop there is, until it is told to stop."""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Final

Chore = Callable[[], Coroutine[None, None, None]]

YOUNG_OBJECTS: Final = 200_000
"""So many more objects make the collector look for cycles, and games make hardly any.

What is freed without it counts against them, so with games that come and go it looks rarely.
"""


def until_told(life: Chore) -> None:
    """Run a life until it ends or SIGINT or SIGTERM cancels it."""
    # What is there now stays: modules and rules, which the collector would walk through each time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_until_told(life))


@asynccontextmanager
async def background(*chores: Chore) -> AsyncIterator[None]:
    """Run the chores beside the block; one that fails ends the block, for it is a defect."""
    failed: Exception | None = None
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(chore()) for chore in chores]
        try:
            yield
        except Exception as error:  # noqa: BLE001 - told as itself, not as a group of one
            failed = error
        finally:
            for task in tasks:
                task.cancel()
    if failed is not None:
        raise failed


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Choose uvloop where it is installed; everything works without."""
    try:
        import uvloop  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


async def _until_told(life: Chore) -> None:
    task = asyncio.ensure_future(life())
    told = asyncio.Event()

    def stop() -> None:
        # Once only: a second Ctrl-C must not cut the orderly end short.
        if not told.is_set():
            told.set()
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not told.is_set():
            raise
