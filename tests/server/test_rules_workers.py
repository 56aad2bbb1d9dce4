"""The worker processes for long rules calls: lazy, bounded, replaced when they die."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from himeji import rules
from himeji.rules.errors import InvalidRequest, LimitExceeded
from himeji.v1.rules_service_pb2 import ApplyActionsRequest, ApplyActionsResponse
from himeji.wire.positions import to_position
from himeji_server.limits import Limits
from himeji_server.rpc import rules_process
from himeji_server.rpc.rules_process import Outcome, RulesCall
from himeji_server.rpc.rules_workers import RulesWorkers

from tests.server.process_tree import rules_processes

GAME = to_position(rules.new_game("base", 2, seed=1))
REQUEST = ApplyActionsRequest(position=GAME, seed=1).SerializeToString()


@pytest.fixture
async def pool():
    """Makes pools with limits of their own."""
    made = []

    def make(**changed):
        made.append(RulesWorkers(replace(Limits(), **changed)))
        return made[-1]

    yield make
    for each in made:
        await each.close()


async def call(workers, owner="ada", request=REQUEST):
    answer = await workers.run(owner, RulesCall.APPLY_ACTIONS, request)
    return ApplyActionsResponse.FromString(answer)


async def test_a_worker_is_started_by_the_first_call_and_kept(pool):
    before, workers = rules_processes(), pool()
    assert rules_processes() == before
    assert (await call(workers)).position == GAME
    started = rules_processes() - before
    assert len(started) == 1
    await call(workers)
    assert rules_processes() - before == started
    await workers.close()
    assert rules_processes() == before


async def test_what_a_call_raises_arrives_as_itself(pool):
    with pytest.raises(InvalidRequest, match="no position") as raised:
        await call(pool(), request=b"")
    assert raised.value.details == {"field": "position"}


def test_a_defect_is_an_answer_with_a_traceback(monkeypatch):
    def fail(_request):
        raise ZeroDivisionError

    monkeypatch.setitem(rules_process.CALLS, RulesCall.APPLY_ACTIONS, fail)
    outcome, text = rules_process.answer(RulesCall.APPLY_ACTIONS, b"")
    assert outcome is Outcome.FAULT
    assert b"ZeroDivisionError" in text


async def test_a_worker_that_was_killed_is_replaced(pool):
    before, workers = rules_processes(), pool()
    await call(workers)
    (first,) = rules_processes() - before
    os.kill(first, signal.SIGKILL)
    assert (await call(workers)).position == GAME
    assert first not in rules_processes()


async def test_a_call_that_takes_too_long_is_ended_and_the_next_one_works(pool):
    before, workers = rules_processes(), pool(rules_seconds=0.5)
    await call(workers)
    (stopped,) = rules_processes() - before
    os.kill(stopped, signal.SIGSTOP)  # so that not even its alarm ends it
    with pytest.raises(LimitExceeded) as raised:
        await call(workers)
    assert raised.value.details["limit"] == "rules_seconds"
    assert stopped not in rules_processes()
    assert (await call(workers)).position == GAME


async def test_calls_of_an_owner_and_of_all_are_limited(pool):
    before, workers = rules_processes(), pool(rules_calls_per_owner=1, rules_calls=2)
    await call(workers)
    (worker,) = rules_processes() - before
    os.kill(worker, signal.SIGSTOP)
    waiting = [asyncio.create_task(call(workers, owner)) for owner in ("ada", "eve")]
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded) as raised:
        await call(workers, "joe")
    assert raised.value.details["limit"] == "rules_calls"
    os.kill(worker, signal.SIGCONT)
    await asyncio.gather(*waiting)
    os.kill(worker, signal.SIGSTOP)
    waiting = asyncio.create_task(call(workers))
    await asyncio.sleep(0)
    with pytest.raises(LimitExceeded) as raised:
        await call(workers)
    assert raised.value.details == {"limit": "rules_calls_per_owner", "allowed": "1"}
    os.kill(worker, signal.SIGCONT)
    assert (await waiting).position == GAME


async def test_a_cancelled_call_ends_its_worker(pool):
    before, workers = rules_processes(), pool()
    await call(workers)
    (worker,) = rules_processes() - before
    os.kill(worker, signal.SIGSTOP)
    waiting = asyncio.create_task(call(workers))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    assert worker not in rules_processes()
    assert (await call(workers)).position == GAME


PARENT = """
import asyncio, sys
from himeji_server import log
from himeji_server.limits import Limits
from himeji_server.rpc.rules_process import RulesCall
from himeji_server.rpc.rules_workers import RulesWorkers
from tests.server.process_tree import rules_processes

async def main():
    log.configure("json")  # to standard error
    workers = RulesWorkers(Limits())
    await workers.run("ada", RulesCall.APPLY_ACTIONS, bytes.fromhex(sys.argv[1]))
    print(*rules_processes(), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_worker_ends_with_the_process_that_started_it(wait_until, is_alive):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, REQUEST.hex()], stdout=subprocess.PIPE, text=True
    ) as parent:
        worker = int(parent.stdout.readline())
        assert is_alive(worker)
        parent.kill()
    wait_until(lambda: not is_alive(worker), "the worker has ended")


def test_a_call_without_end_is_ended_by_an_alarm():
    forever = "import sys, time\nfrom himeji_server.rpc import rules_process as p\n"
    forever += "p.CALLS[p.RulesCall.APPLY_ACTIONS] = lambda _: time.sleep(600)\n"
    forever += "p.run(sys.stdin.buffer, sys.stdout.buffer, 0.1)\n"
    frame = rules_process.HEADER.pack(RulesCall.APPLY_ACTIONS, 0)
    done = subprocess.run(
        [sys.executable, "-c", forever], input=frame, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGALRM
