"""Crowds as processes, and what they tell together."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from loadtest.arena import Arena, end, without_settings
from loadtest.crowd import Orders
from loadtest.meters import Meters, Reading, shares

_SILENCE_SECONDS: Final = 120.0


class CrowdFailedError(Exception):
    """A crowd did not do its work; the sentence says why."""


@dataclass(frozen=True)
class Outcome:
    """What crowds did together from the word go to the end."""

    seconds: float
    tables: int
    decisions: int
    games: int
    least_live: int
    least_connected: int
    errors: dict[str, int]
    guests: dict[str, int]
    """What those heard who came besides: OK, or the reason why not."""

    p50: float
    p99: float
    most: float
    cpu: dict[str, float]
    """Processors that each component kept busy."""

    memory: dict[str, int]
    """Resident bytes of each component at the end."""

    @property
    def rate(self) -> float:
        """Durable decisions a second."""
        return self.decisions / self.seconds

    def facts(self) -> dict[str, Any]:
        """It as data."""
        return {**asdict(self), "rate": self.rate}


class Crowds:
    """Several crowds that sit at one arena, or at several of one Redis."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]], tables: int) -> None:
        self._processes = processes
        self._tables = tables
        self._lines: list[queue.SimpleQueue[str]] = [queue.SimpleQueue() for _ in processes]
        for process, lines in zip(processes, self._lines, strict=True):
            threading.Thread(target=_read, args=(process, lines), daemon=True).start()

    def wait_until_seated(self) -> dict[str, int]:
        """Wait until everybody sits; errors on the way, by reason."""
        errors: Counter[str] = Counter()
        for said in self._said():
            errors.update(said["errors"])
        return dict(errors)

    def meters(self, *arenas: Arena) -> Meters:
        """What reads these arenas and the crowds."""
        return Meters([each.pid for each in arenas], [each.pid for each in self._processes])

    def play(self, *arenas: Arena) -> Outcome:
        """Say go, and take in what happens at the arenas until the end."""
        meters = self.meters(*arenas)
        first, since = meters.read(), time.monotonic()
        for process in self._processes:
            _say(process, "")
        last, rounds = first, []
        while said := self._said():
            rounds.append(said)
            last = meters.read()
            for arena in arenas:
                arena.check()
        return self._outcome(rounds, last.at - since, first, last)

    def _outcome(
        self, rounds: list[list[dict[str, Any]]], seconds: float, first: Reading, last: Reading
    ) -> Outcome:
        every = [each for said in rounds for each in said]
        errors: Counter[str] = Counter()
        guests: Counter[str] = Counter()
        for each in every:
            errors.update(each["errors"])
            guests.update(each["guests"])
        times = sorted(each for one in every for each in one["latencies"]) or [0.0]
        return Outcome(
            seconds=seconds,
            tables=self._tables,
            decisions=sum(each["decisions"] for each in every),
            games=sum(each["games"] for each in every),
            least_live=min(sum(each["live"] for each in said) for said in rounds),
            least_connected=min(sum(each["connected"] for each in said) for said in rounds),
            errors=dict(errors),
            guests=dict(guests),
            p50=times[len(times) // 2],
            p99=times[int(len(times) * 0.99)],
            most=times[-1],
            cpu=shares(first, last),
            memory=last.memory,
        )

    def _said(self) -> list[dict[str, Any]]:
        """The next line of every crowd; nothing once one of them is done."""
        try:
            lines = [each.get(timeout=_SILENCE_SECONDS) for each in self._lines]
        except queue.Empty:
            raise CrowdFailedError("a crowd has said nothing for a long time") from None
        for process, line in zip(self._processes, lines, strict=True):
            if not line and process.wait(_SILENCE_SECONDS):
                raise CrowdFailedError("a crowd ended with an error (see crowd.log)")
        return [json.loads(each) for each in lines] if all(lines) else []


@contextmanager
def seated(orders: Orders, count: int, log: Path) -> Iterator[Crowds]:
    """Hold so many crowds, over which the tables are spread, and one of guests if any come."""
    with ExitStack() as stack:
        output = stack.enter_context(log.open("a"))
        processes = []
        for share in _shares(orders, count):
            process = subprocess.Popen(
                [sys.executable, "-m", "loadtest.crowd"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                env=without_settings(),
            )
            stack.callback(end, process)
            _say(process, json.dumps(asdict(share)))
            processes.append(process)
        yield Crowds(processes, orders.tables)


def _shares(orders: Orders, count: int) -> list[Orders]:
    """What each crowd is told. Who knocks must not hold up those who play, so they are apart."""
    tables = [orders.tables // count + (n < orders.tables % count) for n in range(count)]
    shares = [replace(orders, tables=each, knocks=0.0) for each in tables]
    return [*shares, replace(orders, tables=0)] if orders.knocks else shares


def _say(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    if process.stdout is not None:
        with process.stdout as said:
            for line in said:
                lines.put(line)
    lines.put("")
