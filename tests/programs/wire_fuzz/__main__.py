"""`make fuzz`: send mutated messages to every RPC, and fail on an answer that nobody may get."""

import argparse
import asyncio
import random
import sys

from tests.programs.wire_fuzz.fuzz import fuzz

SHOWN = 20


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="make fuzz ARGS=...", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=None, help="a random one by default")
    given = parser.parse_args()
    seed = random.randrange(1 << 30) if given.seed is None else given.seed
    say(f"seed {seed}")
    report = asyncio.run(fuzz(given.messages, seed, say=say))
    findings = report.verdict.findings
    for finding in findings[:SHOWN]:
        say(finding)
    say(f"{report.verdict.sent} messages, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
