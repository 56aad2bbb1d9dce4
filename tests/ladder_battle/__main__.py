"""Fight for a few hundred games: `python -m tests.ladder_battle`, or `make ladder-battle`."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from himeji_sdk._commands import ladder_output
from rich.console import Console

from tests.ladder_battle.battle import LADDER, Battle
from tests.server.conftest import Arena


async def fight(games, kills):
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        options = ("--port", "0", "--data", folder, "--processes", "2", "--registration", "open")
        arena = Arena(*options, "--house", "none").opened()
        try:
            opened = SimpleNamespace(pid=arena.process.pid, address=arena.address)
            battle = Battle(opened, arena.redis_url, (Path(folder) / "token").read_text().strip())
            try:
                return await battle.fight(games, kills)
            finally:
                battle.kill_the_rest()
        finally:
            arena.stop()


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.ladder_battle")
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--kills", type=int, default=12)
    given = parser.parse_args()
    report = asyncio.run(fight(given.games, given.kills))
    Console(width=120).print(
        ladder_output.standings(f"{LADDER}: {dict(report.counts)}", report.rows)
    )
    levels = [f"{mean:.1f}" for mean in report.means]
    sys.stdout.write(f"mean rating of each level, weakest first: {', '.join(levels)}\n")
    if report.means != sorted(report.means):
        report.faults.append("the order of strengths is wrong")
    sys.stdout.write(
        "\n".join(report.faults) + "\n" if report.faults else "every promise was kept\n"
    )
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
