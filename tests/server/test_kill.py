"""The kill test, short: processes die while games are played, and no promise is broken.

`make chaos` runs the same for minutes. The controls plant a fault and see the checker scream.
"""

import asyncio

import pytest

from tests.programs.chaos.deployment import DURABLE, FORGETFUL, SOUND, UNCHECKED, Field
from tests.programs.chaos.scenario import Plan, fight

PATIENCE = 540.0
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.one_redis("kills its one Redis; tests/cluster kills the nodes of a cluster"),
]


async def fought(plan, *, redis_settings=DURABLE, program=SOUND):
    async with Field(redis_settings=redis_settings, program=program) as field:
        async with asyncio.timeout(PATIENCE):
            return await fight(field, plan)


async def test_nothing_acknowledged_is_lost_or_played_twice_whoever_is_killed(record_property):
    blows = ("first arena", "redis", "last arena", "everything")
    report = await fought(Plan(games=7, blows=blows, answers_between=60))
    record_property("note", f"kill test: {dict(report.counts)}")
    assert report.violations == []
    assert [report.counts[f"blows: {blow}"] for blow in blows] == [1, 1, 1, 1]
    assert report.counts["games"] == 7
    assert report.counts["answers"] > 400
    assert report.counts["duplicate receipts"] > 10
    assert report.counts["streams"] > 10


async def test_the_checker_screams_if_commits_do_not_compare_the_version():
    report = await fought(Plan(games=4), program=UNCHECKED)
    assert [each for each in report.violations if "acknowledged answer" in each]


async def test_the_checker_screams_if_redis_forgets():
    plan = Plan(games=3, blows=("save", "everything"), answers_between=40)
    report = await fought(plan, redis_settings=FORGETFUL)
    assert report.counts["blows: everything"] == 1
    assert [each for each in report.violations if "acknowledged answer" in each]
