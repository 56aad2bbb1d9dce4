"""One client's dear calls wait for their turn, and others do not."""

import asyncio
import gc
import time
from contextlib import suppress

import pytest
from himeji.rules.errors import RateLimited
from himeji_server.limits import Limits
from himeji_server.names import ADMINISTRATOR, HOUSE
from himeji_server.processor_shares import (
    CallCost,
    CostEstimate,
    ProcessorShares,
    StreamCosts,
    count_store_command,
    is_out_of_budget,
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


async def begun_within(seconds, budget, *costs):
    """Which of several calls begin in time, by their numbers, and which are refused."""
    begun, refused = [], []

    async def call(number, ms):
        nonlocal refused
        try:
            await budget.take(ms)
        except RateLimited as error:
            refused += [number] if is_out_of_budget(error) else []
        else:
            begun.append(number)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(call(number, ms) for number, ms in enumerate(costs)))
    return begun, refused


async def test_a_client_waits_when_its_time_is_used_up_and_others_do_not():
    found = shares()
    assert await begun_within(0.1, found.budget("ada"), 25, 25, 25) == ([0, 1], [])
    assert await begun_within(0.1, found.budget("bob"), 25) == ([0], [])


async def test_who_would_wait_too_long_is_refused_and_not_charged():
    budget = shares().budget("ada")
    assert await begun_within(2, budget, 50, 50, 20, 50, 50) == ([0, 1, 2], [3, 4])
    assert await begun_within(2, budget, 50) == ([0], [])


async def test_calls_that_wait_begin_later_if_those_before_them_cost_more_than_was_thought():
    budget = shares().budget("ada")
    waiting = asyncio.create_task(begun_within(0.5, budget, 50, 1))
    await asyncio.sleep(0.001)
    budget.give_back(-100)
    assert await waiting == ([0], [])
    assert await begun_within(2, budget, 1) == ([0], [])


@pytest.mark.parametrize("client", [ADMINISTRATOR, HOUSE])
def test_administrators_and_house_bots_never_wait(client):
    assert shares().budget(client) is None


async def test_a_call_costs_its_client_what_it_took_and_not_the_time_it_waited():
    found, estimate = shares(), CostEstimate()
    cost = CallCost(found, estimate)

    async def call():
        await cost.wait_for_budget("ada")
        await asyncio.sleep(0.2)
        return await dear_call()

    before = time.monotonic()
    assert await cost.measure(call()) == "answer"
    await found.budget("ada").take(50)
    took = 2 * DEAR_SECONDS  # of which 10 % come back in a second
    assert 10 * took <= time.monotonic() - before < 10 * (took + 0.2)


async def test_a_call_that_was_refused_before_its_turn_costs_nothing():
    found, estimate = shares(), CostEstimate()
    cost, first = CallCost(found, estimate), estimate.ms
    await cost.measure(dear_call())
    assert estimate.ms == first
    assert await begun_within(0.1, found.budget("ada"), 50) == ([0], [])


async def test_many_dear_calls_at_once_leave_the_event_loop_to_others():
    """The estimate makes them wait before they begin, not only after all have begun."""
    found, estimate = shares(), CostEstimate()
    for _ in range(30):
        estimate.update(2_000 * DEAR_SECONDS)
    begun = []

    async def call(cost):
        await cost.wait_for_budget("ada")
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
        await cost.wait_for_budget("ada")
        await asyncio.gather(*(command() for _ in range(1_000)))

    found = shares()
    cost = CallCost(found, CostEstimate())
    await cost.measure(call())
    before = time.monotonic()
    await found.budget("ada").take(50)
    assert time.monotonic() - before > 0.1, "15 ms were missing"
    count_store_command()  # nobody's: there is nothing to do


# Work of streams


async def piece_of(costs):
    return await (await costs.wait()).measure(dear_call())


async def test_pieces_of_work_are_done_as_the_budget_allows_and_none_is_refused():
    costs = StreamCosts(shares(), CostEstimate(), "ada")
    before = time.monotonic()
    for _ in range(6):
        assert await piece_of(costs) == "answer"
    # 240 ms of work, of which 50 at once, and the last one is paid for afterwards.
    least = (5 * 2 * DEAR_SECONDS * 1000 - 50) / 100
    assert time.monotonic() - before >= least > LIMITS.processor_wait_seconds


async def test_a_piece_that_cannot_wait_is_paid_for_by_the_next_calls():
    found = shares()
    costs = StreamCosts(found, CostEstimate(), "ada")
    for _ in range(4):
        assert await costs.owed().measure(dear_call()) == "answer"
    assert await begun_within(0.1, found.budget("ada"), 1) == ([], [0])


async def test_house_bots_do_not_wait_for_pieces_of_work():
    costs = StreamCosts(shares(), CostEstimate(), HOUSE)
    for _ in range(20):
        assert await piece_of(costs) == "answer"
        assert await costs.owed().measure(dear_call()) == "answer"
