"""Starts bot processes, lets them play at the same time, and adds up what they report."""

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

from loadtest.arena import Arena, clean_environment, stop_process
from loadtest.bot_process import Workload
from loadtest.resource_usage import ResourceMonitor, Usage, busy_processors

_REPORT_TIMEOUT: Final = 120.0


class BotProcessError(Exception):
    """A bot process did not do its work; the message says why."""


@dataclass(frozen=True)
class LoadResult:
    """What all bot processes did together between the start signal and the end."""

    seconds: float
    pairs: int
    decisions: int
    games: int
    min_live: int
    min_connected: int
    errors: dict[str, int]
    surplus: dict[str, int]
    """What surplus bots were answered: OK, or the reason of the refusal."""

    p50: float
    p99: float
    slowest: float
    cpu: dict[str, float]
    """Processors that each component kept busy."""

    memory: dict[str, int]
    """Resident bytes of each component at the end."""

    @property
    def rate(self) -> float:
        """Durable decisions a second."""
        return self.decisions / self.seconds

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate}


class LoadDriver:
    """Bot processes that play at one arena, or at several with one Redis."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]], pairs: int) -> None:
        self._processes = processes
        self._pairs = pairs
        self._lines: list[queue.SimpleQueue[str]] = [queue.SimpleQueue() for _ in processes]
        for process, lines in zip(processes, self._lines, strict=True):
            threading.Thread(target=_read_lines, args=(process, lines), daemon=True).start()

    def wait_until_seated(self) -> dict[str, int]:
        """Wait until all bots are seated; returns errors on the way, by reason."""
        errors: Counter[str] = Counter()
        for report in self._next_reports():
            errors.update(report["errors"])
        return dict(errors)

    def monitor(self, *arenas: Arena) -> ResourceMonitor:
        """A monitor of these arenas and of the bot processes."""
        return ResourceMonitor(
            [each.pid for each in arenas], [each.pid for each in self._processes]
        )

    def play(self, *arenas: Arena) -> LoadResult:
        """Give the start signal, and collect reports until the end."""
        monitor = self.monitor(*arenas)
        first, since = monitor.sample(), time.monotonic()
        for process in self._processes:
            _write_line(process, "")
        last, seconds = first, []
        while reports := self._next_reports():
            seconds.append(reports)
            last = monitor.sample()
            for arena in arenas:
                arena.check()
        return self._result(seconds, last.at - since, first, last)

    def _result(
        self, seconds: list[list[dict[str, Any]]], duration: float, first: Usage, last: Usage
    ) -> LoadResult:
        """Add up the reports: a list for each second, with one report of each process."""
        every = [report for reports in seconds for report in reports]
        errors: Counter[str] = Counter()
        surplus: Counter[str] = Counter()
        for report in every:
            errors.update(report["errors"])
            surplus.update(report["surplus"])
        times = sorted(each for report in every for each in report["latencies"]) or [0.0]
        return LoadResult(
            seconds=duration,
            pairs=self._pairs,
            decisions=sum(report["decisions"] for report in every),
            games=sum(report["games"] for report in every),
            min_live=min(sum(each["live"] for each in reports) for reports in seconds),
            min_connected=min(sum(each["connected"] for each in reports) for reports in seconds),
            errors=dict(errors),
            surplus=dict(surplus),
            p50=times[len(times) // 2],
            p99=times[int(len(times) * 0.99)],
            slowest=times[-1],
            cpu=busy_processors(first, last),
            memory=last.memory,
        )

    def _next_reports(self) -> list[dict[str, Any]]:
        """The next report of every process; empty as soon as one process has ended."""
        try:
            lines = [each.get(timeout=_REPORT_TIMEOUT) for each in self._lines]
        except queue.Empty:
            raise BotProcessError(
                f"a bot process has reported nothing for {_REPORT_TIMEOUT:.0f} s"
            ) from None
        for process, line in zip(self._processes, lines, strict=True):
            if not line and process.wait(_REPORT_TIMEOUT):
                raise BotProcessError("a bot process ended with an error (see bots.log)")
        return [json.loads(each) for each in lines] if all(lines) else []


@contextmanager
def start_bots(workload: Workload, count: int, log: Path) -> Iterator[LoadDriver]:
    """Run a workload in so many processes, and surplus bots in one more, for a `with` block."""
    with ExitStack() as stack:
        output = stack.enter_context(log.open("a"))
        processes = []
        for share in _split(workload, count):
            process = subprocess.Popen(
                [sys.executable, "-m", "loadtest.bot_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                env=clean_environment(),
            )
            stack.callback(stop_process, process)
            _write_line(process, json.dumps(asdict(share)))
            processes.append(process)
        yield LoadDriver(processes, workload.pairs)


def _split(workload: Workload, count: int) -> list[Workload]:
    """The share of each process. Surplus bots have their own, so as not to slow down the pairs."""
    pairs = [workload.pairs // count + (n < workload.pairs % count) for n in range(count)]
    shares = [replace(workload, pairs=each, surplus_rate=0.0) for each in pairs]
    return [*shares, replace(workload, pairs=0)] if workload.surplus_rate else shares


def _write_line(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()


def _read_lines(process: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    """Put the output into a queue, and an empty line at its end."""
    if process.stdout is not None:
        with process.stdout as output:
            for line in output:
                lines.put(line)
    lines.put("")
