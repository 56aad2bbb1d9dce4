"""Runs a process of the arena: umask, event loop, signals, garbage collector, background tasks."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Final

PRIVATE_UMASK: Final = 0o077
"""For every file and folder of the arena, and of the Redis and the bots that it starts."""

AsyncFunction = Callable[[], Coroutine[None, None, None]]

GC_THRESHOLDS: Final = (10_000, 50, 100)
"""The thresholds of the garbage collector's three generations.

gRPC leaves a cycle of a dozen objects behind each call. With a threshold of 200,000 new objects, a
collection took 250 ms, in which nobody is answered; with 10,000 it takes 5 ms. The second and third
generation are collected rarely, so that it costs no more processor time (docs/load.md).
"""


def run_until_signalled(main: AsyncFunction) -> None:
    """Run a coroutine function until it returns, or SIGINT or SIGTERM cancels it."""
    os.umask(PRIVATE_UMASK)
    # Modules and rules stay for good; frozen, the collector does not walk through them each time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_run_until_signalled(main))


@asynccontextmanager
async def run_in_background(*functions: AsyncFunction) -> AsyncIterator[None]:
    """Run coroutine functions as tasks beside the block, and cancel them when it ends.

    A task that fails cancels the block, because that is a defect.
    """
    failed: Exception | None = None
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(function()) for function in functions]
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised below as itself, not as a group of one
            failed = error
        finally:
            for task in tasks:
                task.cancel()
    if failed is not None:
        raise failed


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Choose uvloop if it is installed; everything works without it."""
    try:
        import uvloop  # noqa: PLC0415 - optional
    except ModuleNotFoundError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


async def _run_until_signalled(main: AsyncFunction) -> None:
    task = asyncio.ensure_future(main())
    signalled = asyncio.Event()

    def stop() -> None:
        # Cancel only once: a second Ctrl-C must not interrupt the orderly shutdown.
        if not signalled.is_set():
            signalled.set()
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not signalled.is_set():
            raise
