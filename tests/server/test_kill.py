"""The kill test, short: processes die while games are played, and no promise is broken.

`make chaos` runs the same for minutes. The controls plant a fault and see the checker scream.
"""

import asyncio

import pytest

from tests.programs.chaos.deployment import (
    DURABLE,
    NOT_DURABLE,
    SERVER,
    SERVER_WITHOUT_VERSION_CHECK,
    Deployment,
)
from tests.programs.chaos.scenario import DISRUPTION_COUNT, Scenario, run

PATIENCE = 540.0
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.one_redis("kills its one Redis; check_cluster.py kills the nodes of a cluster"),
]


async def played(scenario, *, redis_settings=DURABLE, program=SERVER):
    async with Deployment(redis_settings=redis_settings, program=program) as deployment:
        async with asyncio.timeout(PATIENCE):
            return await run(deployment, scenario)


async def test_nothing_acknowledged_is_lost_or_played_twice_whoever_is_killed(record_property):
    disruptions = ("first arena", "redis", "last arena", "everything")
    report = await played(Scenario(games=7, disruptions=disruptions, answers_between=60))
    record_property("note", f"kill test: {dict(report.counts)}")
    assert report.violations == []
    assert [report.counts[f"{DISRUPTION_COUNT}{each}"] for each in disruptions] == [1, 1, 1, 1]
    assert report.counts["games"] == 7
    assert report.counts["answers"] > 400
    assert report.counts["duplicate receipts"] > 10
    assert report.counts["streams"] > 10


@pytest.mark.long
async def test_the_checker_screams_if_commits_do_not_compare_the_version():
    report = await played(Scenario(games=4), program=SERVER_WITHOUT_VERSION_CHECK)
    assert [each for each in report.violations if "acknowledged answer" in each]


@pytest.mark.long
async def test_the_checker_screams_if_redis_forgets():
    scenario = Scenario(games=3, disruptions=("save", "everything"), answers_between=40)
    report = await played(scenario, redis_settings=NOT_DURABLE)
    assert report.counts[f"{DISRUPTION_COUNT}everything"] == 1
    assert [each for each in report.violations if "acknowledged answer" in each]
