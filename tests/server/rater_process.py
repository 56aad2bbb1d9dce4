"""Raters to be killed: `python -m tests.server.rater_process URL` forks one for each line it reads.

To fork is quick where a fresh Python would take seconds, so that many can be killed in a test.
"""

import asyncio
import os
import signal
import sys
import time

from tests.server.ladder_process import ladder_process


async def rate(url):
    async with ladder_process(url) as process:
        while True:
            await process.rater.settle_all()


def main(url):
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(rate(url))
        time.sleep(float(line))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sys.stdout.write("killed\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
