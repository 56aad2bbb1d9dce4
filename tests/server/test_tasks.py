"""A wait with a timeout, time slices, and background tasks that nobody awaits."""

import asyncio
import gc
import weakref

import pytest
from himeji_server import tasks
from himeji_server.tasks import TaskSet, Watchdog, in_slices, wait_for


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


@pytest.mark.parametrize(("seconds", "others_run"), [(0.0, True), (1_000.0, False)])
async def test_a_long_list_lets_others_run_after_each_slice_of_time(
    monkeypatch, seconds, others_run
):
    monkeypatch.setattr(tasks, "_SLICE_SECONDS", seconds)
    ran = []
    asyncio.get_running_loop().call_soon(ran.append, "another")
    found = [(item, bool(ran)) async for item in in_slices(range(3))]
    assert [item for item, _ in found] == [0, 1, 2]
    assert found[-1] == (2, others_run)


async def test_a_watchdog_barks_when_something_takes_too_long():
    late = asyncio.Event()
    watchdog = Watchdog(0.05, late.set)
    watchdog.start()
    assert await wait_for(late, 10)


async def test_a_watchdog_measures_each_time_by_itself():
    late = asyncio.Event()
    watchdog = Watchdog(0.5, late.set)
    for _ in range(4):
        watchdog.start()
        assert not await wait_for(late, 0.2)
        watchdog.stop()
    watchdog.start()
    assert await wait_for(late, 10)


async def test_a_watchdog_is_silent_about_what_is_done():
    late = asyncio.Event()
    watchdog = Watchdog(0.05, late.set)
    watchdog.start()
    watchdog.stop()
    assert not await wait_for(late, 0.2)
    watchdog.start()
    watchdog.close()
    assert not await wait_for(late, 0.2)


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
