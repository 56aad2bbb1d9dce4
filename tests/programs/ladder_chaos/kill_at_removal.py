"""Kills processes as soon as a queue has fewer tickets: `... REDIS_URL KEY TICKETS PID [PID ...]`.

A process of its own, because what follows a removal follows within milliseconds, and the threads of
the bots would keep this one waiting for longer.
"""

import os
import signal
import sys

from tests.server.redis_client import raw_client

if __name__ == "__main__":
    url, key, tickets, *pids = sys.argv[1:]
    redis = raw_client(url)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while redis.hlen(key) >= int(tickets):
        pass
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
