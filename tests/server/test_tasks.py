"""A wait with a timeout, and background tasks that nobody awaits."""

import asyncio
import gc
import weakref

import pytest
from himeji_server.tasks import TaskSet, wait_for


async def test_a_wait_ends_when_its_event_is_set():
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    assert await wait_for(event, 10)


async def test_a_wait_ends_at_once_if_its_event_is_set_already():
    event = asyncio.Event()
    event.set()
    assert await wait_for(event, 0)


async def test_a_wait_ends_when_its_time_is_up():
    assert not await wait_for(asyncio.Event(), 0.001)


async def test_a_wait_can_be_cancelled():
    waiting = asyncio.create_task(wait_for(asyncio.Event(), 10))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_task_survives_garbage_collection_until_it_ends():
    tasks, futures = TaskSet(), weakref.WeakSet()

    async def wait_for_a_future_of_its_own():
        future = asyncio.get_running_loop().create_future()
        futures.add(future)
        await future

    tasks.start(wait_for_a_future_of_its_own())
    await asyncio.sleep(0)
    gc.collect()
    assert len(tasks) == 1
    (future,) = futures
    future.set_result(None)
    await asyncio.sleep(0.01)
    assert len(tasks) == 0


async def test_cancelling_a_set_cancels_every_task_that_still_runs():
    tasks = TaskSet()
    running = [tasks.start(asyncio.sleep(10)) for _ in range(3)]
    tasks.cancel()
    await asyncio.wait(running)
    assert all(task.cancelled() for task in running)
    assert len(tasks) == 0
