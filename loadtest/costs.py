"""What else a decision costs, for the computation of larger sites: at Redis, at the disk, to hear.

A game whose seats are at one process rings nowhere; one whose seats are at two is heard of, and
looked up, at the other one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import redis
from himeji_server.store import keys
from himeji_server.store.notifications import BotNotification, BotNotificationKind

from loadtest.arena import Arena
from loadtest.crowds import Outcome
from loadtest.meters import REDIS, SERVER, Meters

FSYNCS: Final = 200
FSYNC_BYTES: Final = 1_000
"""About what the log of Redis grows by with one commit."""

APART_TABLES: Final = 16
"""Games at once while it is measured what a decision costs."""

WORDS: Final = 20_000
_PATIENCE_SECONDS: Final = 60.0


def let_log_grow(arena: Arena) -> None:
    """Have an arena's Redis never rewrite its log, so that its growth can be read."""
    with redis.Redis.from_url(arena.redis) as client:
        client.config_set("auto-aof-rewrite-percentage", 0)


def traffic(arena: Arena) -> dict[str, int]:
    """Bytes that an arena's Redis has received, sent and logged since it began."""
    with redis.Redis.from_url(arena.redis) as client:
        facts: dict[str, Any] = client.info("everything")
    return {
        "received": facts["total_net_input_bytes"],
        "sent": facts["total_net_output_bytes"],
        "logged": facts["aof_current_size"],
    }


def per_decision(
    before: dict[str, int], after: dict[str, int], played: Outcome
) -> dict[str, float]:
    """What each decision cost that was played between two looks at the traffic: µs and bytes."""
    decisions = max(played.decisions, 1)
    busy = {f"{what}_us": played.cpu[what] * played.seconds * 1e6 for what in (SERVER, REDIS)}
    moved = {what: float(after[what] - before[what]) for what in before}
    return {what: spent / decisions for what, spent in (busy | moved).items()}


def typical(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median of each cost."""
    return {what: median(run[what] for run in runs) for what in runs[0]}


def hearing_us(together: dict[str, float], apart: dict[str, float]) -> float:
    """Processor time of servers for a decision that is due to seats being apart; never below 0."""
    return max(0.0, apart["server_us"] - together["server_us"])


def word_us(arena: Arena) -> float:
    """Processor time of a server process for a word about a bot that has no stream there."""
    meters = Meters([arena.pid], [])
    with redis.Redis.from_url(arena.redis) as client:
        before = meters.read().cpu[SERVER]
        for _ in range(0, WORDS, 1_000):
            pipeline = client.pipeline(transaction=False)
            for number in range(1_000):
                seated = BotNotification(BotNotificationKind.SEATED, "nobody/here", str(number))
                pipeline.publish(keys.BOT_CHANNEL, seated.text())
            pipeline.execute()
        return (_settled(meters) - before) / WORDS * 1e6


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


def _settled(meters: Meters) -> float:
    """Processor time of the server once it has nothing more to do."""
    until, last = time.monotonic() + _PATIENCE_SECONDS, -1.0
    now = meters.read().cpu[SERVER]
    while now - last > 0.05 and time.monotonic() < until:
        time.sleep(0.5)
        last, now = now, meters.read().cpu[SERVER]
    return now
