"""`make cluster-test`: bots play on two arenas while a cluster of six nodes loses or moves slots.

The logs of the games are compared with everything that was acknowledged, as in `make chaos`. The
arenas of the controls do not wait for replicas.
"""

import asyncio

import pytest

from tests.programs.chaos.cluster_deployment import (
    CLUSTER_DISRUPTIONS,
    SERVER_WITHOUT_REPLICA_WAIT,
    ClusterDeployment,
)
from tests.programs.chaos.deployment import SERVER
from tests.programs.chaos.scenario import DISRUPTION_COUNT, Scenario, run

SCENARIO_TIMEOUT = 600.0
LAGGING = "primary with lagging replica"
LAGGING_AND_ARENAS = "primary with lagging replica, and arenas"
pytestmark = pytest.mark.timeout(700)


@pytest.fixture
def run_scenario(record_property):
    async def run_named(name, scenario, program=SERVER):
        async with ClusterDeployment(program=program) as deployment:
            report = await asyncio.wait_for(
                run(deployment, scenario, CLUSTER_DISRUPTIONS), SCENARIO_TIMEOUT
            )
        figures = dict(report.counts) | {"violations": len(report.violations)}
        record_property("note", f"{name}: {figures}")
        assert report.counts["games"] == scenario.games
        planned = scenario.disruptions
        happened = {each: report.counts[f"{DISRUPTION_COUNT}{each}"] for each in planned}
        assert happened == {each: planned.count(each) for each in planned}
        return report

    return run_named


async def test_nothing_acknowledged_is_lost_when_primaries_are_killed(run_scenario):
    disruptions = ("primary", "first arena", "primary", "primary")
    scenario = Scenario(games=12, disruptions=disruptions, answers_between=150, may_void=True)
    report = await run_scenario("primaries killed", scenario)
    assert report.violations == []


async def test_nothing_is_acknowledged_that_only_the_primary_has(run_scenario):
    disruptions = (LAGGING_AND_ARENAS, LAGGING_AND_ARENAS)
    scenario = Scenario(games=12, disruptions=disruptions, answers_between=150, may_void=True)
    report = await run_scenario("primaries with lagging replicas and arenas killed", scenario)
    assert report.violations == []


async def test_an_arena_that_saw_more_than_the_new_primary_has_voids_the_game(run_scenario):
    scenario = Scenario(games=12, disruptions=(LAGGING,), may_void=True)
    report = await run_scenario(
        "control, arenas do not wait for replicas", scenario, SERVER_WITHOUT_REPLICA_WAIT
    )
    assert report.violations == []
    assert report.counts["games voided"] > 0


async def test_the_checker_screams_if_nobody_can_tell_what_was_lost(run_scenario):
    scenario = Scenario(games=12, disruptions=(LAGGING_AND_ARENAS,), may_void=True)
    report = await run_scenario(
        "control, arenas do not wait for replicas and are killed",
        scenario,
        SERVER_WITHOUT_REPLICA_WAIT,
    )
    assert [each for each in report.violations if "acknowledged answer" in each]


async def test_games_go_on_while_all_their_slots_move(run_scenario):
    scenario = Scenario(games=16, disruptions=("every slot", "every slot"), answers_between=100)
    report = await run_scenario("slots moved", scenario)
    assert report.violations == []
