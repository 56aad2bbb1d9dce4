"""`make ladder-battle`: play a few hundred ladder games while server processes are killed."""

import argparse
import asyncio
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from himeji_sdk._commands import ladder_output
from rich.console import Console

from tests.programs.ladder_chaos.leave_rounds import LeaveRounds
from tests.programs.ladder_chaos.scenario import LADDER, LadderScenario
from tests.server.conftest import Arena


@contextmanager
def running_arena():
    """An arena of two server processes, and its administrator's token."""
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        options = ("--port", "0", "--data", folder, "--processes", "2")
        arena = Arena(*options, "--house", "none").opened()
        try:
            yield arena, (Path(folder) / "token").read_text().strip()
        finally:
            arena.stop()


async def play(games, kills):
    with running_arena() as (arena, token):
        scenario = LadderScenario(arena.process.pid, arena.address, arena.redis_url, token)
        try:
            return await scenario.run(games, kills)
        finally:
            scenario.kill_bots()


def leave(rounds):
    """Play the rounds of leave_rounds.py; returns the exit code."""
    with running_arena() as (arena, token):
        scenario = LeaveRounds(arena.process.pid, arena.address, arena.redis_url, token)
        scenario.play(rounds, say)
    say("\n".join(scenario.violations) or "no violations")
    return 1 if scenario.violations else 0


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="make ladder-battle ARGS=...", description=__doc__)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument(
        "--leave-rounds", type=int, help="only remove bots from queues, so often, under kills"
    )
    given = parser.parse_args()
    if given.leave_rounds:
        return leave(given.leave_rounds)
    report = asyncio.run(play(given.games, given.kills))
    Console(width=120).print(
        ladder_output.standings(f"{LADDER}: {dict(report.counts)}", report.rows)
    )
    levels = [f"{mean:.1f}" for mean in report.means]
    sys.stdout.write(f"mean rating of each level, weakest first: {', '.join(levels)}\n")
    if report.means != sorted(report.means):
        report.violations.append("the order of strengths is wrong")
    sys.stdout.write(
        "\n".join(report.violations) + "\n" if report.violations else "no violations\n"
    )
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
