"""One client's dear calls wait for their turn, and others do not."""

import asyncio
import gc
import time

import pytest
from himeji.rules.errors import RateLimited
from himeji_server.limits import Limits
from himeji_server.names import ADMINISTRATOR, HOUSE
from himeji_server.processor_shares import (
    CallCost,
    CostEstimate,
    ProcessorShares,
    count_store_command,
)

LIMITS = Limits(processor_ms_per_second=100, processor_ms_at_once=50, processor_wait_seconds=0.8)
DEAR_SECONDS = 0.02


def shares():
    return ProcessorShares(LIMITS)


def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def dear_call():
    burn(DEAR_SECONDS)
    await asyncio.sleep(0)
    burn(DEAR_SECONDS)
    return "answer"


def test_a_client_waits_when_its_time_is_used_up_and_others_do_not():
    found = shares()
    waits = [found.reserve("ada", 25) for _ in range(4)]
    assert waits == pytest.approx([0, 0, 0.25, 0.5], abs=0.05)
    assert found.reserve("bob", 25) == 0


def test_who_would_wait_too_long_is_refused_and_not_charged():
    found = shares()
    assert [found.reserve("ada", 50) for _ in range(2)] == pytest.approx([0, 0.5], abs=0.05)
    for _ in range(3):
        with pytest.raises(RateLimited) as refused:
            found.reserve("ada", 50)
        assert refused.value.details["limit"] == "processor_ms_per_second"
    assert found.reserve("ada", 25) == pytest.approx(0.75, abs=0.05)


@pytest.mark.parametrize("client", [ADMINISTRATOR, HOUSE])
def test_administrators_and_house_bots_never_wait(client):
    found = shares()
    assert [found.reserve(client, 1_000) for _ in range(5)] == [0] * 5


async def test_a_call_costs_its_client_what_it_took_and_not_the_time_it_waited():
    found, estimate = shares(), CostEstimate()
    cost = CallCost(found, estimate)

    async def call():
        await cost.turn("ada")
        await asyncio.sleep(0.05)
        return await dear_call()

    before = time.monotonic()
    assert await cost.measure(call()) == "answer"
    wait = found.reserve("ada", 50)
    passed, took = time.monotonic() - before, 2 * DEAR_SECONDS
    # A tenth of the time that has passed came back meanwhile.
    assert 10 * took - passed <= wait < 10 * (took + 0.02)


async def test_a_call_that_was_refused_before_its_turn_costs_nothing():
    found, estimate = shares(), CostEstimate()
    cost, first = CallCost(found, estimate), estimate.ms
    await cost.measure(dear_call())
    assert (estimate.ms, found.reserve("ada", 50)) == (first, 0)


async def test_many_dear_calls_at_once_leave_the_event_loop_to_others():
    """The estimate makes them wait before they begin, not only after all have begun."""
    found, estimate = shares(), CostEstimate()
    for _ in range(30):
        estimate.update(2_000 * DEAR_SECONDS)
    begun = []

    async def call(cost):
        await cost.turn("ada")
        begun.append(cost)
        return await dear_call()

    async def one():
        cost = CallCost(found, estimate)
        await cost.measure(call(cost))

    tasks = [asyncio.create_task(one()) for _ in range(20)]
    await asyncio.sleep(0.1)
    assert len(begun) <= 4
    refused = [task for task in tasks if task.done() and isinstance(task.exception(), RateLimited)]
    assert len(refused) >= 15
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_an_estimate_follows_what_most_calls_cost_and_not_a_single_one():
    estimate = CostEstimate()
    for _ in range(40):
        estimate.update(4.0)
    assert 3.9 <= estimate.ms <= 4.9
    estimate.update(500.0)
    assert estimate.ms < 6
    for _ in range(300):
        estimate.update(0.5)
    assert 0.4 <= estimate.ms <= 0.6


async def test_a_measured_call_can_be_cancelled_and_timed_out():
    cost = CallCost(shares(), CostEstimate())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await cost.measure(asyncio.sleep(60))

    async def cleans_up():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            raise ValueError("cleaned up") from None

    task = asyncio.create_task(cost.measure(cleans_up()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(ValueError, match="cleaned up"):
        await task


async def test_a_call_that_fails_leaves_nothing_to_the_garbage_collector():
    async def fails():
        await asyncio.sleep(0)
        raise KeyError

    async def once():
        try:
            await CallCost(shares(), CostEstimate()).measure(fails())
        except KeyError:
            return

    await once()
    gc.collect()
    for _ in range(10):
        await once()
    assert gc.collect() == 0


async def test_commands_to_redis_are_a_part_of_the_cost_wherever_the_call_sends_them():
    async def command():
        count_store_command()

    async def call():
        await cost.turn("ada")
        await asyncio.gather(*(command() for _ in range(1_000)))

    found = shares()
    cost = CallCost(found, CostEstimate())
    await cost.measure(call())
    assert found.reserve("ada", 50) >= 0.14, "15 ms are missing"
    count_store_command()  # nobody's: there is nothing to do
