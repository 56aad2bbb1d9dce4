"""Measures what a decision costs at Redis, at the disk and at other server processes.

`sizing` computes the needs of larger sites from these costs. If both seats of a game are connected
to one server process, no other process is notified of its changes; if they are at two, the other
one is notified and reads the change from Redis. The difference is the cost of a notification.
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
from loadtest.load_driver import LoadResult
from loadtest.resource_usage import REDIS, SERVER, ResourceMonitor

FSYNCS: Final = 200
FSYNC_BYTES: Final = 1_000
"""About what Redis appends to its log for one commit."""

PAIRS: Final = 16
"""Games at once while the cost of a decision is measured."""

BROADCASTS: Final = 20_000
_IDLE_TIMEOUT: Final = 60.0


def disable_log_rewrite(arena: Arena) -> None:
    """Make an arena's Redis never rewrite its log, so that the growth of the log can be read."""
    with redis.Redis.from_url(arena.redis) as client:
        client.config_set("auto-aof-rewrite-percentage", 0)


def traffic(arena: Arena) -> dict[str, int]:
    """Bytes that an arena's Redis has received, sent and logged since it started."""
    with redis.Redis.from_url(arena.redis) as client:
        info: dict[str, Any] = client.info("everything")
    return {
        "received": info["total_net_input_bytes"],
        "sent": info["total_net_output_bytes"],
        "logged": info["aof_current_size"],
    }


def per_decision(
    before: dict[str, int], after: dict[str, int], played: LoadResult
) -> dict[str, float]:
    """Microseconds and bytes for each decision, from the traffic before and after."""
    decisions = max(played.decisions, 1)
    busy = {f"{name}_us": played.cpu[name] * played.seconds * 1e6 for name in (SERVER, REDIS)}
    moved = {name: float(after[name] - before[name]) for name in before}
    return {name: spent / decisions for name, spent in (busy | moved).items()}


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """The median of each cost over several runs."""
    return {name: median(run[name] for run in runs) for name in runs[0]}


def notification_us(together: dict[str, float], apart: dict[str, float]) -> float:
    """Processor time of servers for a decision that is due to seats being apart; never below 0."""
    return max(0.0, apart["server_us"] - together["server_us"])


def broadcast_us(arena: Arena) -> float:
    """Processor time of a server process for a message about a bot that has no stream there."""
    monitor = ResourceMonitor([arena.pid], [])
    with redis.Redis.from_url(arena.redis) as client:
        before = monitor.sample().cpu[SERVER]
        for _ in range(0, BROADCASTS, 1_000):
            pipeline = client.pipeline(transaction=False)
            for number in range(1_000):
                seated = BotNotification(BotNotificationKind.SEATED, "nobody/here", str(number))
                pipeline.publish(keys.BOT_CHANNEL, seated.text())
            pipeline.execute()
        return (_cpu_when_idle(monitor) - before) / BROADCASTS * 1e6


def fsync_ms(folder: Path) -> float:
    """The median time of making a small write durable on this disk."""
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


def _cpu_when_idle(monitor: ResourceMonitor) -> float:
    """Processor time of the server, once it hardly grows any more."""
    until, last = time.monotonic() + _IDLE_TIMEOUT, -1.0
    now = monitor.sample().cpu[SERVER]
    while now - last > 0.05 and time.monotonic() < until:
        time.sleep(0.5)
        last, now = now, monitor.sample().cpu[SERVER]
    return now
