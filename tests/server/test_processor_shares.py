"""One client's dear calls wait for their turn, and others do not."""

import asyncio
import gc
import time
from contextlib import suppress

import pytest
from himeji.rules.errors import RateLimited
from himeji_server.games.game_locks import GameLocks
from himeji_server.limits import Limits
from himeji_server.names import ADMINISTRATOR, HOUSE
from himeji_server.processor_shares import (
    CallCost,
    CostEstimate,
    ProcessorShares,
    StreamCosts,
    count_store_command,
    is_out_of_budget,
    pause,
    turn,
)
from himeji_server.tasks import in_slices

LIMITS = Limits(processor_ms_per_second=100, processor_ms_at_once=50, processor_wait_seconds=0.8)
DEAR_SECONDS = 0.02
SLICE_MS = 5
SLICES_AT_ONCE = 10
ONCE = Limits(processor_ms_per_second=1, processor_ms_at_once=50, processor_wait_seconds=9_000)
"""Nothing comes back while a test runs, so that steps can be counted, however slow the machine."""


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
    found = shares()
    cost = CallCost(found, "Dear")

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
    found = shares()
    first = found.budget("ada").estimate("Dear")
    await CallCost(found, "Dear").measure(dear_call())
    assert found.budget("ada").estimate("Dear") == first
    assert await begun_within(0.1, found.budget("ada"), 50) == ([0], [])


async def test_calls_that_are_known_to_be_dear_wait_before_they_begin():
    """The estimate makes them wait before they begin, not only after all have begun."""
    found = shares()
    for _ in range(30):
        found.budget("ada").learn("Dear", 2_000 * DEAR_SECONDS)
    begun = []

    async def call(cost):
        await cost.wait_for_budget("ada")
        begun.append(cost)
        return await dear_call()

    async def one():
        cost = CallCost(found, "Dear")
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
    cost = CallCost(shares(), "Dear")
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
            await CallCost(shares(), "Dear").measure(fails())
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
    cost = CallCost(found, "Dear")
    await cost.measure(call())
    before = time.monotonic()
    await found.budget("ada").take(50)
    assert time.monotonic() - before > 0.1, "15 ms were missing"
    count_store_command()  # nobody's: there is nothing to do


# Calls that turn out to be dear


class Calls:
    """Calls of one client, all begun at once before anything is known of their cost."""

    def __init__(self, found, work, count=40):
        self.budget = found.budget("ada")
        self.slices = 0
        self.tasks = [asyncio.create_task(self.one(found, work)) for _ in range(count)]

    async def one(self, found, work):
        cost = CallCost(found, "Dear")

        async def call():
            await cost.wait_for_budget("ada")
            await work(self)

        await cost.measure(call())

    def burn_slice(self):
        self.slices += 1
        burn(SLICE_MS / 1000)

    async def end(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def others_turns(count=100):
    """Let the event loop go round so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


async def in_steps(calls):
    for _ in range(SLICES_AT_ONCE):
        await pause()
        calls.burn_slice()
        await asyncio.sleep(0)


async def as_a_list(calls):
    async for _ in in_slices(range(SLICES_AT_ONCE)):
        calls.burn_slice()


async def after_a_store_read(calls):
    """All replies come in one batch, and the cost only shows then."""
    await asyncio.sleep(0)
    await in_steps(calls)


async def under_a_lock(calls):
    async with turn():
        await asyncio.sleep(0)
        for _ in range(2):
            calls.burn_slice()
            await asyncio.sleep(0)


@pytest.mark.parametrize("work", [in_steps, as_a_list, after_a_store_read, under_a_lock])
async def test_others_wait_for_a_few_slices_of_many_calls_that_turn_out_dear(work):
    calls = Calls(ProcessorShares(ONCE), work)
    await others_turns()
    assert 1 <= calls.slices <= SLICES_AT_ONCE + 2
    assert not all(task.done() for task in calls.tasks)
    await calls.end()


async def test_as_the_budget_comes_back_paused_calls_go_on_one_by_one():
    calls = Calls(ProcessorShares(ONCE), in_steps)
    await others_turns()
    for _ in range(5):
        before = calls.slices
        # Out of debt by less than a slice: the first call to go on is in debt again.
        calls.budget.give_back(calls.budget.debt_ms + 1)
        await others_turns()
        assert calls.slices == before + 1
    await calls.end()


async def test_paused_calls_go_on_before_others_begin():
    found = ProcessorShares(ONCE)
    calls = Calls(found, in_steps, count=8)
    await others_turns()
    late = Calls(found, in_steps, count=8)
    for _ in range(100):
        calls.budget.give_back(calls.budget.debt_ms + 2)
        await others_turns(5)
        if all(task.done() for task in calls.tasks):
            break
        assert late.slices == 0
    await calls.end()
    await late.end()
    assert calls.slices == 8 * SLICES_AT_ONCE


async def test_a_paused_call_that_is_cancelled_keeps_nobody_waiting():
    calls = Calls(ProcessorShares(ONCE), under_a_lock)
    await others_turns()
    paused = [task for task in calls.tasks if not task.done()]
    for task in paused[:-1]:
        task.cancel()
    await others_turns()
    calls.budget.give_back(1_000)
    await asyncio.wait_for(paused[-1], 60)
    assert not calls.budget.turn.locked()


async def test_what_a_call_has_used_is_charged_while_it_runs():
    found = ProcessorShares(ONCE)
    cost = CallCost(found, "Dear")

    async def call():
        await cost.wait_for_budget("ada")
        await dear_call()
        assert not found.budget("ada").debt_ms
        await dear_call()
        await asyncio.sleep(0)
        assert found.budget("ada").debt_ms

    await cost.measure(call())


async def test_one_client_does_not_change_what_another_ones_calls_are_thought_to_cost():
    found = shares()
    for _ in range(50):
        cost = CallCost(found, "Dear")
        cost.owe("ada")
        found.budget("ada").learn("Dear", 1_000.0)
    assert found.budget("ada").estimate("Dear") > 500
    assert found.budget("bob").estimate("Dear") <= 1


async def in_debt(work):
    """Do something in a call of a client in debt; whether it came to its end."""
    found = ProcessorShares(ONCE)
    cost, done = CallCost(found, "Dear"), []

    async def call():
        await cost.wait_for_budget("ada")
        found.budget("ada").charge(1_000)
        await work()
        done.append(True)

    task = asyncio.create_task(cost.measure(call()))
    await others_turns()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return bool(done)


async def test_a_call_is_never_paused_while_it_holds_a_games_lock():
    locks = GameLocks()

    async def holds_the_lock():
        async with locks.hold("game"):
            await pause()
            async with turn():
                await pause()

    async def has_released_it():
        await holds_the_lock()
        await pause()

    assert not await in_debt(pause)
    assert await in_debt(holds_the_lock)
    assert not await in_debt(has_released_it)


async def test_what_others_may_wait_for_is_not_paused_in_a_task_that_a_call_started():
    assert await in_debt(lambda: asyncio.gather(pause(), pause()))


async def test_a_turn_within_a_turn_waits_for_nobody():
    calls = Calls(ProcessorShares(ONCE), twice_in_turn, count=3)
    await asyncio.wait_for(asyncio.gather(*calls.tasks), 60)


async def twice_in_turn(_calls):
    async with turn(), turn():
        await asyncio.sleep(0)


async def test_work_of_a_stream_that_has_begun_is_not_paused():
    found = ProcessorShares(ONCE)
    found.budget("ada").charge(1_000)
    owed = StreamCosts(found, "games", "ada").owed()
    await asyncio.wait_for(owed.measure(pause()), 60)


# Work of streams


async def piece_of(costs):
    return await (await costs.wait()).measure(dear_call())


async def test_pieces_of_work_are_done_as_the_budget_allows_and_none_is_refused():
    costs = StreamCosts(shares(), "games", "ada")
    before = time.monotonic()
    for _ in range(6):
        assert await piece_of(costs) == "answer"
    # 240 ms of work, of which 50 at once, and the last one is paid for afterwards.
    least = (5 * 2 * DEAR_SECONDS * 1000 - 50) / 100
    assert time.monotonic() - before >= least > LIMITS.processor_wait_seconds


async def test_a_piece_that_cannot_wait_is_paid_for_by_the_next_calls():
    found = shares()
    costs = StreamCosts(found, "games", "ada")
    for _ in range(10):
        assert await costs.owed().measure(dear_call()) == "answer"
    assert await begun_within(0.1, found.budget("ada"), 1) == ([], [0])


async def test_house_bots_do_not_wait_for_pieces_of_work():
    costs = StreamCosts(shares(), "games", HOUSE)
    for _ in range(20):
        assert await piece_of(costs) == "answer"
        assert await costs.owed().measure(dear_call()) == "answer"
