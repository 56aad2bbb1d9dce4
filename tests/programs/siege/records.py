"""The records of honest calls: written by one process, read by another.

Times are those of the monotonic clock, which all processes of a machine share, so that the reader
can cut the records into the time before, during and after an attack.
"""

import contextlib
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

DECISION, PAGE, CONNECT = "decision", "page", "connect"
REGISTER = "register"
SLOW_BY_NATURE = frozenset({PAGE, CONNECT, REGISTER, "event stream", "open stream"})
"""Kinds that are several calls, or draw a page; their time is not compared with that of calls."""


class Record(NamedTuple):
    """One honest call."""

    kind: str
    started: float
    ms: float
    failure: str


class Recorder:
    """Writes records; safe in any thread."""

    def __init__(self, path):
        self._file = open(path, "a", buffering=1)  # noqa: PTH123, SIM115 - for the whole process
        self._lock = threading.Lock()

    def record(self, kind, started, failure=""):
        ms = (time.monotonic() - started) * 1000
        failure = " ".join(failure.split())
        with self._lock:
            self._file.write(f"{kind}\t{started:.6f}\t{ms:.3f}\t{failure}\n")

    @contextlib.contextmanager
    def timed(self, kind, describe):
        """Record a block; what it raises is described, and raised on."""
        started = time.monotonic()
        try:
            yield
        except Exception as error:
            self.record(kind, started, describe(error))
            raise
        self.record(kind, started)


def read(path):
    """All records that were written completely so far."""
    found = []
    for line in path.read_text().split("\n")[:-1]:
        kind, started, ms, failure = line.split("\t")
        found.append(Record(kind, float(started), float(ms), failure))
    return found


@dataclass(frozen=True)
class Window:
    """The honest calls that began in a span of time."""

    calls: tuple[Record, ...]
    seconds: float

    @classmethod
    def of(cls, records, start, end):
        return cls(tuple(each for each in records if start <= each.started < end), end - start)

    def percentile(self, share, *, page=False):
        """Milliseconds of the calls and decisions, or of the page."""
        times = sorted(
            each.ms
            for each in self.calls
            if (each.kind == PAGE if page else each.kind not in SLOW_BY_NATURE)
        )
        return times[math.ceil(share * len(times)) - 1] if times else math.nan

    def failures(self):
        """How often each kind of call failed, and why."""
        return Counter(f"{each.kind}: {each.failure}" for each in self.calls if each.failure)
