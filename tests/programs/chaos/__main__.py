"""`make chaos`: kill servers and Redis for minutes while bots play; fails on any violation."""

import argparse
import asyncio
import itertools
import random
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tests.programs.chaos.deployment import (
    DURABLE,
    NOT_DURABLE,
    SERVER,
    SERVER_WITHOUT_VERSION_CHECK,
    Deployment,
)
from tests.programs.chaos.scenario import DISRUPTION_COUNT, Scenario, run

KILLS = ("first arena", "redis", "last arena", "redis", "all arenas", "everything")
COLUMNS = ("games", "answers", "duplicate receipts", "versions", "streams", "calls repeated")
MAX_SHOWN = 20


@dataclass(frozen=True)
class Round:
    """One scenario; a control has a planted fault, and must have violations."""

    name: str
    scenario: Scenario
    redis_settings: tuple[str, ...] = DURABLE
    program: tuple[str, ...] = SERVER
    control: bool = False
    arenas: int = 2


def rounds(arguments):
    """The rounds of a run: some with kills in random order, and two controls."""
    for number in range(arguments.rounds):
        kills = list(itertools.islice(itertools.cycle(KILLS), arguments.kills))
        random.Random(f"{arguments.seed} {number}").shuffle(kills)
        scenario = Scenario(
            arguments.games, tuple(kills), arguments.between, arguments.seed + number
        )
        yield Round(f"kills {number + 1}", scenario, arenas=2 + number % 2)
    forgetful = Scenario(4, ("save", "everything"), 40, arguments.seed)
    yield Round("control: Redis forgets", forgetful, redis_settings=NOT_DURABLE, control=True)
    unchecked = Scenario(4, (), 40, arguments.seed)
    yield Round(
        "control: no version check",
        unchecked,
        program=SERVER_WITHOUT_VERSION_CHECK,
        control=True,
    )


async def run_round(each, seconds):
    async with Deployment(
        arenas=each.arenas, redis_settings=each.redis_settings, program=each.program
    ) as deployment:
        async with asyncio.timeout(seconds):
            return await run(deployment, each.scenario)


def main():
    parser = argparse.ArgumentParser(prog="make chaos ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="rounds beside the two controls")
    parser.add_argument("--games", type=int, default=40, help="games of each round")
    parser.add_argument("--kills", type=int, default=18, help="kills in each round")
    parser.add_argument("--between", type=int, default=150, help="answers between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1_200.0, help="seconds for a round")
    arguments = parser.parse_args()
    table = Table("round", *COLUMNS, "kills", "violations", "seconds", "verdict")
    console, failed = Console(width=160), False
    for each in rounds(arguments):
        began = time.monotonic()
        report = asyncio.run(run_round(each, arguments.timeout))
        good = bool(report.violations) == each.control
        failed |= not good
        kills = sum(n for name, n in report.counts.items() if name.startswith(DISRUPTION_COUNT))
        row = [str(report.counts[column]) for column in COLUMNS]
        row += [str(kills), str(len(report.violations)), f"{time.monotonic() - began:.0f}"]
        table.add_row(each.name, *row, "as expected" if good else "BROKEN")
        console.print(f"{each.name}: {len(report.violations)} violations")
        if not each.control:
            for violation in report.violations[:MAX_SHOWN]:
                console.print(f"  {violation}", style="red", highlight=False)
    console.print(table)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
