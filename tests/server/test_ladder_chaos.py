"""The ladder end to end, short; `make ladder-battle` plays a few hundred games."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.programs.ladder_chaos.scenario import Battle

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
pytestmark = pytest.mark.timeout(600)


async def test_twelve_bots_in_two_processes_that_are_killed_are_all_rated_once(
    start_arena, start_redis, tmp_path, record_property
):
    url = start_redis(*DURABLE).url
    options = ("--port", "0", "--processes", "2", "--registration", "open", "--redis", url)
    arena = start_arena(*options, "--data", str(tmp_path)).opened()
    opened = SimpleNamespace(pid=arena.process.pid, address=arena.address)
    battle = Battle(opened, url, (Path(tmp_path) / "token").read_text().strip())
    try:
        report = await battle.fight(games=60, kills=4)
    finally:
        battle.kill_the_rest()
    record_property("note", f"ladder battle: {dict(report.counts)}, means {report.means}")
    assert report.faults == []
    assert report.counts["rated"] >= 60
    assert report.counts["raters killed"] >= 1
    assert report.counts["others killed"] >= 1
    assert report.means[0] < report.means[3], "the strongest are above the weakest"
