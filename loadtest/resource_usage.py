"""Processor time and memory by component: server processes, Redis, and the load itself."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final

import psutil

SERVER: Final = "server"
REDIS: Final = "redis"
LOAD: Final = "load"
COMPONENTS: Final = (SERVER, REDIS, LOAD)
_REDIS_PROGRAMS: Final = ("valkey-server", "redis-server")


@dataclass(frozen=True)
class Usage:
    """What each component had used at one moment."""

    at: float
    cpu: dict[str, float]
    """Seconds of processor time since its processes started."""

    memory: dict[str, int]
    """Resident bytes."""


class ResourceMonitor:
    """Samples the processes of arenas with their children, and those that make the load."""

    def __init__(self, arenas: Iterable[int], load: Iterable[int]) -> None:
        self._arenas = [psutil.Process(pid) for pid in arenas]
        self._load = [psutil.Process(pid) for pid in load]

    def sample(self) -> Usage:
        """The usage now; a process that ends meanwhile counts nothing."""
        cpu: dict[str, float] = defaultdict(float)
        memory: dict[str, int] = defaultdict(int)
        trees = [[each, *each.children(recursive=True)] for each in self._arenas]
        for process in [*chain.from_iterable(trees), *self._load]:
            with contextlib.suppress(psutil.NoSuchProcess):
                component = LOAD if process in self._load else _component(process)
                times = process.cpu_times()
                cpu[component] += times.user + times.system
                memory[component] += process.memory_info().rss
        return Usage(time.monotonic(), dict(cpu), dict(memory))


def busy_processors(first: Usage, last: Usage) -> dict[str, float]:
    """Processors that each component kept busy between two samples."""
    seconds = max(last.at - first.at, 1e-9)
    return {
        each: (last.cpu.get(each, 0.0) - first.cpu.get(each, 0.0)) / seconds for each in COMPONENTS
    }


def _component(process: psutil.Process) -> str:
    return REDIS if process.name() in _REDIS_PROGRAMS else SERVER
