"""`make ladder-battle`: play a few hundred ladder games while server processes are killed."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from himeji_sdk._commands import ladder_output
from rich.console import Console

from tests.programs.ladder_chaos.scenario import LADDER, LadderScenario
from tests.server.conftest import Arena


async def play(games, kills):
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        options = ("--port", "0", "--data", folder, "--processes", "2")
        arena = Arena(*options, "--house", "none").opened()
        try:
            token = (Path(folder) / "token").read_text().strip()
            scenario = LadderScenario(arena.process.pid, arena.address, arena.redis_url, token)
            try:
                return await scenario.run(games, kills)
            finally:
                scenario.kill_bots()
        finally:
            arena.stop()


def main():
    parser = argparse.ArgumentParser(prog="make ladder-battle ARGS=...", description=__doc__)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--kills", type=int, default=12)
    given = parser.parse_args()
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
