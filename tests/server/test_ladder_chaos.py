"""The ladder end to end, short; `make ladder-battle` plays a few hundred games and rounds."""

from pathlib import Path

import pytest

from tests.programs.ladder_chaos.leave_rounds import BOTS, LeaveRounds
from tests.programs.ladder_chaos.scenario import LadderScenario

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
LEAVE_ROUNDS = 10
"""Some 40 seconds: a killed process takes a second or more to come back, and longer each time."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


async def test_twelve_bots_in_two_processes_that_are_killed_are_all_rated_once(
    start_arena, start_redis, tmp_path, record_property
):
    url = start_redis(*DURABLE).url
    options = ("--port", "0", "--processes", "2", "--redis", url)
    arena = start_arena(*options, "--data", str(tmp_path)).opened()
    token = (Path(tmp_path) / "token").read_text().strip()
    scenario = LadderScenario(arena.process.pid, arena.address, url, token)
    try:
        report = await scenario.run(games=60, kills=4)
    finally:
        scenario.kill_bots()
    record_property("note", f"ladder chaos: {dict(report.counts)}, means {report.means}")
    assert report.violations == []
    assert report.counts["rated"] >= 60
    assert report.counts["leaders killed"] >= 1
    assert report.counts["others killed"] >= 1
    assert report.means[0] < report.means[3], "the strongest are above the weakest"


def test_no_bot_hangs_that_is_removed_from_its_queue_while_processes_are_killed(
    start_arena, start_redis, tmp_path, record_property
):
    url = start_redis(*DURABLE).url
    options = ("--port", "0", "--processes", "2", "--redis", url)
    arena = start_arena(*options, "--data", str(tmp_path)).opened()
    token = (Path(tmp_path) / "token").read_text().strip()
    scenario = LeaveRounds(arena.process.pid, arena.address, url, token)
    scenario.play(rounds=LEAVE_ROUNDS, say=lambda line: record_property("note", line))
    assert scenario.violations == []
    assert scenario.counts["removed"] == LEAVE_ROUNDS * BOTS
    assert scenario.counts["killed"] >= LEAVE_ROUNDS
