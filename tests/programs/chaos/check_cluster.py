"""`make cluster-test`: bots play on two arenas while a cluster of six nodes is hurt and rearranged.

Everything that was acknowledged is compared with the logs of the games, by the checker of
`make chaos`. The arenas of the controls do not wait for replicas.
"""

import asyncio

import pytest

from tests.programs.chaos.cluster_deployment import CLUSTER_BLOWS, HASTY, ClusterField
from tests.programs.chaos.deployment import SOUND
from tests.programs.chaos.scenario import Plan, fight

PATIENCE = 600.0
pytestmark = pytest.mark.timeout(700)


@pytest.fixture
def fought(record_property):
    async def fought_with(name, plan, program=SOUND):
        async with ClusterField(program=program) as field:
            report = await asyncio.wait_for(fight(field, plan, CLUSTER_BLOWS), PATIENCE)
        figures = dict(report.counts) | {"violations": len(report.violations)}
        record_property("note", f"{name}: {figures}")
        assert report.counts["games"] == plan.games
        fallen = [report.counts[f"blows: {blow}"] for blow in set(plan.blows)]
        assert fallen == [plan.blows.count(blow) for blow in set(plan.blows)]
        return report

    return fought_with


async def test_nothing_acknowledged_is_lost_when_primaries_are_killed(fought):
    blows = ("primary", "first arena", "primary", "primary")
    plan = Plan(games=12, blows=blows, answers_between=150, may_void=True)
    report = await fought("primaries killed", plan)
    assert report.violations == []


async def test_nothing_is_acknowledged_that_only_the_primary_has(fought):
    blows = ("primary and all who knew", "primary and all who knew")
    plan = Plan(games=12, blows=blows, answers_between=150, may_void=True)
    report = await fought("primary and all who knew killed", plan)
    assert report.violations == []


async def test_an_arena_that_saw_more_than_the_new_primary_has_voids_the_game(fought):
    plan = Plan(games=12, blows=("primary before its replica knew",), may_void=True)
    report = await fought("control, arenas do not wait", plan, HASTY)
    assert report.violations == []
    assert report.counts["games voided"] > 0


async def test_the_checker_screams_if_nobody_can_tell_what_was_lost(fought):
    plan = Plan(games=12, blows=("primary and all who knew",), may_void=True)
    report = await fought("control, arenas do not wait and are killed", plan, HASTY)
    assert [each for each in report.violations if "acknowledged answer" in each]


async def test_games_go_on_while_all_their_slots_move(fought):
    plan = Plan(games=16, blows=("every slot", "every slot"), answers_between=100)
    report = await fought("slots moved", plan)
    assert report.violations == []
