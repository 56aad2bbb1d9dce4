"""What else a decision costs, for the computation of larger sites: bytes at Redis, fsync, bells."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

import redis
from himeji_server.store import keys

from loadtest.arena import Arena
from loadtest.meters import SERVER, Meters

FSYNCS: Final = 200
FSYNC_BYTES: Final = 1_000
"""About what the log of Redis grows by with one commit."""

BELLS: Final = 20_000
_PATIENCE_SECONDS: Final = 60.0


def traffic(arena: Arena) -> dict[str, int]:
    """Bytes that an arena's Redis has received, sent and logged since it began."""
    with redis.Redis.from_url(arena.redis) as client:
        facts: dict[str, Any] = client.info("everything")
    return {
        "received": facts["total_net_input_bytes"],
        "sent": facts["total_net_output_bytes"],
        "logged": facts["aof_current_size"],
    }


def per_decision(before: dict[str, int], after: dict[str, int], decisions: int) -> dict[str, float]:
    """What each decision of a time between two looks added."""
    return {what: (after[what] - before[what]) / max(decisions, 1) for what in before}


def fsync_ms(folder: Path) -> float:
    """How long the disk takes to make a small write durable, in the middle of many."""
    times = []
    path = folder / "fsync"
    with path.open("wb", buffering=0) as file:
        for _ in range(FSYNCS):
            file.write(bytes(FSYNC_BYTES))
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    path.unlink()
    return sorted(times)[len(times) // 2]


def bell_us(arena: Arena) -> float:
    """Processor time of a server process for hearing of a change of a game that is not its own."""
    meters = Meters(arena.pid, [])
    with redis.Redis.from_url(arena.redis) as client:
        before = meters.read().cpu[SERVER]
        for number in range(0, BELLS, 1_000):
            pipeline = client.pipeline(transaction=False)
            for version in range(number, number + 1_000):
                pipeline.publish(keys.BELL, f"nobody-follows-this {version} another-process")
            pipeline.execute()
        return (_settled(meters) - before) / BELLS * 1e6


def _settled(meters: Meters) -> float:
    """Processor time of the server once it has nothing more to do."""
    until, last = time.monotonic() + _PATIENCE_SECONDS, -1.0
    now = meters.read().cpu[SERVER]
    while now - last > 0.05 and time.monotonic() < until:
        time.sleep(0.5)
        last, now = now, meters.read().cpu[SERVER]
    return now
