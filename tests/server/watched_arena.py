"""An arena in a process of its own that tells how long its event loop was held.

Holding is counted in processor time of the loop's thread, between two beats of a task that wakes
every millisecond: what other processes of the machine do meanwhile does not count.

Run as a script, it prints its port, token and Redis as JSON, and then, for each line that it reads,
what it used since the line before.
"""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from himeji_server import log
from himeji_server.launch import serve
from himeji_server.launch.runtime import run_until_signalled
from himeji_server.limits import AccountLimits, Limits
from himeji_server.settings import Settings

BEAT_SECONDS = 0.001
LARGE = 1_000_000
"""For limits on how much is stored and asked: what a single request costs is measured here."""


class Watch:
    """The longest time for which the event loop was held since the last look."""

    def __init__(self):
        self._longest, self._cpu = 0.0, time.process_time()

    async def run(self):
        last = time.thread_time()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            now = time.thread_time()
            self._longest, last = max(self._longest, now - last), now

    def look(self):
        cpu, longest = time.process_time() - self._cpu, self._longest
        self.__init__()
        return {"cpu_ms": 1000 * cpu, "hold_ms": 1000 * longest}


def tell(facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def main(folder):
    limits = replace(
        Limits(),
        games_per_owner=LARGE,
        waiting_games_per_owner=LARGE,
        calls_per_second=LARGE,
        calls_at_once=LARGE,
    )
    accounts = AccountLimits(bots_per_owner=LARGE, bot_names_per_owner=LARGE)
    settings = Settings(
        port=0, data=folder, limits=limits, accounts=accounts, admin_token_file=folder / "admin"
    )
    async with serve.open_arena(settings) as arena:
        facts = {"address": f"127.0.0.1:{arena.port}", "redis": arena.redis.split()[0]}
        for name in ("token", "admin"):
            facts[name] = (folder / name).read_text().strip()
        tell(facts)
        watch = Watch()
        beats = asyncio.create_task(watch.run())
        while await asyncio.to_thread(sys.stdin.readline):
            tell(watch.look())
        beats.cancel()


class WatchedArena:
    """Such a process, from outside."""

    def __init__(self, process):
        self._process = process
        facts = json.loads(process.stdout.readline())
        self.address, self.redis = facts["address"], facts["redis"]
        self.metadata = (("authorization", f"Bearer {facts['token']}"),)
        self.admin_metadata = (("authorization", f"Bearer {facts['admin']}"),)

    def look(self):
        """What the arena used since the last look, in milliseconds: `cpu_ms`, `hold_ms`."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def open_watched_arena(folder):
    command = [sys.executable, "-m", "tests.server.watched_arena", str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        yield WatchedArena(process)
        process.stdin.close()  # the arena ends with its input


if __name__ == "__main__":
    log.configure("json", Path(sys.argv[1]).with_suffix(".log").open("w"))
    run_until_signalled(lambda: main(Path(sys.argv[1])))
