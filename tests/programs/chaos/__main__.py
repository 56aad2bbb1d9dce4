"""`make chaos`: the kill test for minutes, with its controls; fails on any violation."""

import argparse
import asyncio
import itertools
import random
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tests.programs.chaos.deployment import DURABLE, FORGETFUL, SOUND, UNCHECKED, Field
from tests.programs.chaos.scenario import Plan, fight

KILLS = ("first arena", "redis", "last arena", "redis", "all arenas", "everything")
COLUMNS = ("games", "answers", "duplicate receipts", "versions", "streams", "calls repeated")
MOST_SHOWN = 20


@dataclass(frozen=True)
class Round:
    """One battle; in a control a fault is planted, and violations are what is wanted."""

    name: str
    plan: Plan
    redis_settings: tuple[str, ...] = DURABLE
    program: tuple[str, ...] = SOUND
    control: bool = False
    arenas: int = 2


def rounds(arguments):
    """The battles of a run: so many of them with kills in random order, and the two controls."""
    for number in range(arguments.rounds):
        chooser = random.Random(f"{arguments.seed} {number}")
        blows = list(itertools.islice(itertools.cycle(KILLS), arguments.blows))
        chooser.shuffle(blows)
        plan = Plan(arguments.games, tuple(blows), arguments.between, arguments.seed + number)
        yield Round(f"kills {number + 1}", plan, arenas=2 + number % 2)
    forgotten = Plan(4, ("save", "everything"), 40, arguments.seed)
    yield Round("control: Redis forgets", forgotten, redis_settings=FORGETFUL, control=True)
    unchecked = Plan(4, (), 40, arguments.seed)
    yield Round("control: no version check", unchecked, program=UNCHECKED, control=True)


async def run(each, patience):
    async with Field(
        arenas=each.arenas, redis_settings=each.redis_settings, program=each.program
    ) as field:
        async with asyncio.timeout(patience):
            return await fight(field, each.plan)


def main():
    parser = argparse.ArgumentParser(prog="make chaos ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--games", type=int, default=40, help="games of each round")
    parser.add_argument("--blows", type=int, default=18, help="kills in each round")
    parser.add_argument("--between", type=int, default=150, help="answers between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=1_200.0, help="seconds for a round")
    arguments = parser.parse_args()
    table = Table("round", *COLUMNS, "kills", "violations", "seconds", "verdict")
    console, failed = Console(width=160), False
    for each in rounds(arguments):
        began = time.monotonic()
        report = asyncio.run(run(each, arguments.patience))
        good = bool(report.violations) == each.control
        failed |= not good
        kills = sum(n for name, n in report.counts.items() if name.startswith("blows: "))
        row = [str(report.counts[column]) for column in COLUMNS]
        row += [str(kills), str(len(report.violations)), f"{time.monotonic() - began:.0f}"]
        table.add_row(each.name, *row, "as it should be" if good else "BROKEN")
        console.print(f"{each.name}: {len(report.violations)} violations")
        if not each.control:
            for sentence in report.violations[:MOST_SHOWN]:
                console.print(f"  {sentence}", style="red", highlight=False)
    console.print(table)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
