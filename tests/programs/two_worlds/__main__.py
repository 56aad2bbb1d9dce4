"""`make two-worlds`: play many pairs of games, and fail on any difference that shows."""

import argparse
import asyncio
import sys

from tests.programs.two_worlds.comparison import compare
from tests.programs.two_worlds.deals import deals


def main():
    parser = argparse.ArgumentParser(prog="make two-worlds ARGS=...", description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    report = asyncio.run(compare(deals(given.games, given.seed)))
    for difference in report.differences[:20]:
        sys.stdout.write(f"{difference}\n")
    found = len(report.differences)
    sys.stdout.write(f"{given.games} pairs of games, {report.compared} things, {found} differ\n")
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())
