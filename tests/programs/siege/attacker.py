"""The process of one attack: prepares, waits for the word, attacks, and says what it was told."""

import asyncio
import contextlib
import json
import os
import sys

from tests.programs.siege.attacks import ATTACKS
from tests.programs.siege.attacks.attack import Target

READY = "ready"
LEAST_PRIORITY = 19
"""A real attacker has processors of its own: this one takes what the arena and its users leave."""


def main():
    os.nice(LEAST_PRIORITY)
    facts = json.loads(sys.stdin.readline())
    attack = ATTACKS[facts.pop("attack")]()
    target = Target(**facts)
    attack.prepare(target)
    say(READY)
    sys.stdin.readline()
    asyncio.run(attack.run(target))
    say(json.dumps(attack.told))
    # Without waiting for thousands of connections to be closed in good order.
    os._exit(0)


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(ModuleNotFoundError):
        import uvloop

        uvloop.install()
    main()
