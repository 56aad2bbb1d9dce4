"""`make capacity`: measures what this machine holds, step by step, and writes pages with plots."""

from __future__ import annotations

import importlib
import math
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import himeji
import psutil
from himeji_sdk.connection import Backoff
from rich.console import Console

from loadtest import capacity_page, cost_measurements as costs, scaling_page
from loadtest.arena import Arena, ArenaFailedError, raise_on_sigterm, temporary_arena
from loadtest.bot_process import SEATS, Workload
from loadtest.load_driver import BotProcessError, LoadDriver, LoadResult, start_bots
from loadtest.resource_usage import REDIS, SERVER, busy_processors

ROOT: Final = Path(__file__).parents[1]
MAX_P99_MS: Final = 100.0
"""A rate counts as responsive while 99 of 100 decisions follow within this."""

OVERLOAD_FACTOR: Final = 3
"""Bots that want to play in the overload, as a multiple of those at the peak."""

RUNS: Final = 3
"""Repetitions of each measurement that compares set-ups, which are taken in turn."""

SPARE: Final = 0.05
"""Share of pairs beyond the games to hold: between two games, a pair has no live one."""

RETRY_DELAY: Final = 10.0
"""Seconds after which a full process asks clients to come again (docs/limits.md)."""

POLITE_SECONDS: Final = RETRY_DELAY + 0.75 * Backoff.LONGEST
"""Between two attempts of a refused bot, as the SDK's runner makes them after some failures."""

IMPATIENT_SECONDS: Final = 1.0
"""Between two attempts of a bot that ignores the retry delay."""


@dataclass(frozen=True, kw_only=True)
class CapacityOptions:
    """The options of the command line."""

    games: int
    hold: int
    think: float
    step: int
    bot_processes: int
    processes: tuple[int, ...]
    sweep: tuple[int, ...]
    """Numbers of games at once that are played without thinking."""

    out: Path

    @property
    def pairs(self) -> int:
        """Pairs of bots, enough that `games` of them are in a live game in every second."""
        return self.games + max(1, math.ceil(self.games * SPARE))

    @property
    def log(self) -> Path:
        """The standard error of the bot processes."""
        return self.out / "bots.log"


class CapacityRun:
    """All measurements, in order."""

    def __init__(self, options: CapacityOptions, console: Console) -> None:
        self._options = options
        self._console = console

    def measure(self) -> dict[str, Any]:
        echo = self._echo()
        sweeps = {count: self._sweep(count) for count in self._options.processes}
        first = sweeps[self._options.processes[0]]
        peak = max(first, key=lambda each: each.rate)
        return {
            "machine": _machine(),
            "sweeps": {str(n): [each.as_dict() for each in found] for n, found in sweeps.items()},
            "responsive": _best_responsive(first),
            "growth": self._growth(),
            "hold": self._hold(),
            "overload": self._overload(peak),
            "echo": echo,
            **self._decision_costs(),
            "broadcast_us": self._broadcast_us(),
            "fsync_ms": costs.fsync_ms(self._options.out),
        }

    def _sweep(self, processes: int) -> list[LoadResult]:
        """Decisions a second and their latency, with more and more games at once."""
        results = []
        for games in self._options.sweep:
            with self._arena("--processes", str(processes)) as arena:
                played = self._play(arena, pairs=games, think=0.0, seconds=self._options.step)
            self._print(f"{processes} process(es), {games} games, no thinking", played)
            results.append(played)
        return results

    def _growth(self) -> list[dict[str, float]]:
        """Memory and processors with more and more games in which nobody moves."""
        most = self._options.games
        return [self._idle_games(games) for games in sorted({0, most // 4, most // 2, most})]

    def _idle_games(self, games: int) -> dict[str, float]:
        workload = {"pairs": games, "think": 0.0, "seconds": 0.0}
        with self._arena() as arena, self._bots([arena], **workload) as driver:
            monitor = driver.monitor(arena)
            first = monitor.sample()
            time.sleep(self._options.step)
            last = monitor.sample()
        busy, memory = busy_processors(first, last), last.memory
        self._console.print(
            f"{games} idle games: server {memory[SERVER] / 1e6:.0f} MB, "
            f"Redis {memory[REDIS] / 1e6:.0f} MB, "
            f"{busy[SERVER]:.2f} and {busy[REDIS]:.2f} processors"
        )
        return {
            "games": float(games),
            **memory,
            **{f"{component}_busy": busy[component] for component in (SERVER, REDIS)},
        }

    def _hold(self) -> dict[str, Any]:
        """Many games with all seats connected, for a long time."""
        options = self._options
        with self._arena() as arena:
            held = self._play(arena, pairs=options.pairs, think=options.think, seconds=options.hold)
        self._print(f"{held.min_live} games held, {options.think} s a decision", held)
        return held.as_dict()

    def _decision_costs(self) -> dict[str, Any]:
        """Costs of a decision at two arenas with one Redis, seats of a game together and apart."""
        with self._arena() as one, self._arena("--redis", one.redis, log="second.log") as two:
            costs.disable_log_rewrite(one)
            runs = [
                [self._decision_cost(one, two, apart=each) for each in (False, True)]
                for _ in range(RUNS)
            ]
        together, apart = (costs.medians(each) for each in zip(*runs, strict=True))
        notification = costs.notification_us(together, apart)
        self._console.print(
            f"a decision: {together['server_us']:.0f} µs at the server and "
            f"{together['redis_us']:.0f} µs at Redis; its notification at another process: "
            f"{notification:.0f} µs, and at Redis {apart['redis_us'] - together['redis_us']:.0f} µs"
        )
        return {"decision": {"together": together, "apart": apart}, "notification_us": notification}

    def _decision_cost(self, one: Arena, two: Arena, *, apart: bool) -> dict[str, float]:
        workload = {"pairs": costs.PAIRS, "think": 0.0, "seconds": self._options.step}
        with self._bots([one, two], apart=apart, **workload) as driver:
            before = costs.traffic(one)
            played = driver.play(one, two)
            found = costs.per_decision(before, costs.traffic(one), played)
        self._print(f"two arenas, seats of a game {'apart' if apart else 'together'}", played)
        return found

    def _broadcast_us(self) -> float:
        """Processor time of a process for a message about a bot of another one."""
        with self._arena() as arena:
            found = costs.broadcast_us(arena)
        self._console.print(f"a broadcast about a bot at another process: {found:.1f} µs")
        return found

    def _overload(self, peak: LoadResult) -> dict[str, Any]:
        """The peak again with every stream taken, while further bots try to connect.

        Without them, with polite ones, and with ones that ignore the retry delay, in turn; of each
        the run with the median rate.
        """
        bots = (OVERLOAD_FACTOR - 1) * SEATS * peak.pairs
        rates = (0.0, bots / POLITE_SECONDS, bots / IMPATIENT_SECONDS)
        runs = [[self._full_arena(peak, rate) for rate in rates] for _ in range(RUNS)]
        baseline, full, impatient = (_median(each) for each in zip(*runs, strict=True))
        self._print(f"the peak with {OVERLOAD_FACTOR} times as many bots", full)
        self._print("the same with impatient ones", impatient)
        return {
            "baseline": baseline.as_dict(),
            "full": full.as_dict(),
            "kept": full.rate / baseline.rate,
            "impatient": impatient.as_dict(),
            "kept_by_impatient": impatient.rate / baseline.rate,
        }

    def _full_arena(self, peak: LoadResult, surplus_rate: float) -> LoadResult:
        pairs, seconds = peak.pairs, self._options.step
        with self._arena(f"--streams={SEATS * pairs}") as arena:
            return self._play(
                arena, pairs=pairs, think=0.0, seconds=seconds, surplus_rate=surplus_rate
            )

    def _echo(self) -> dict[str, float]:
        """The arena's stream against a bare echo, as `make bench` measures it."""
        bench = importlib.import_module("tests.programs.bench.server")  # tests are not typed
        found: dict[str, float] = bench.measure()
        self._console.print(f"ratio to the bare echo: {found['ratio to the echo']:.2f}")
        return found

    @contextmanager
    def _arena(self, *options: str, log: str = "arena.log") -> Iterator[Arena]:
        with temporary_arena(self._options.out / log, *options) as arena:
            yield arena

    @contextmanager
    def _bots(self, arenas: Sequence[Arena], **workload: Any) -> Iterator[LoadDriver]:
        """Run bots that are all seated; the arenas share one Redis, and so the token."""
        token = arenas[0].token_file.read_text(encoding="utf-8").strip()
        whole = Workload(targets=[each.target for each in arenas], token=token, **workload)
        with start_bots(whole, self._options.bot_processes, self._options.log) as driver:
            errors = driver.wait_until_seated()
            if errors:
                raise BotProcessError(f"not all bots could be seated: {errors}")
            yield driver

    def _play(self, arena: Arena, **workload: Any) -> LoadResult:
        with self._bots([arena], **workload) as driver:
            return driver.play(arena)

    def _print(self, name: str, result: LoadResult) -> None:
        self._console.print(
            f"{name}: {result.rate:,.0f} decisions/s, p50 {result.p50:.0f} ms, p99 "
            f"{result.p99:.0f} ms, errors {result.errors or 'none'}",
            highlight=False,
        )


def _median(results: Sequence[LoadResult]) -> LoadResult:
    """The result with the median rate."""
    return sorted(results, key=lambda each: each.rate)[len(results) // 2]


def _best_responsive(sweep: list[LoadResult]) -> dict[str, float]:
    """The highest rate with a p99 within MAX_P99_MS and no errors; empty if there is none."""
    responsive = [each for each in sweep if each.p99 <= MAX_P99_MS and not each.errors]
    best = max(responsive, key=lambda each: each.rate, default=None)
    return {} if best is None else {"rate": best.rate, "p99": best.p99, "games": best.pairs}


def _machine() -> dict[str, Any]:
    return {
        "himeji": himeji.__version__,
        "rules": himeji.ENGINE_FORM,
        "python": platform.python_version(),
        "system": platform.system(),
        "processors": os.cpu_count(),
        "memory": psutil.virtual_memory().total,
    }


def _numbers(_context: click.Context, _option: click.Parameter, text: str) -> tuple[int, ...]:
    """Parse positive numbers separated by commas."""
    try:
        numbers = tuple(int(each) for each in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"{text!r} is not a list of positive numbers: write 1,2,4")
    return numbers


@click.command(name="capacity")
@click.option(
    "--games",
    type=click.IntRange(4, 2_380),
    default=1_000,
    show_default=True,
    help="Games that are held, each with two connected bots.",
)
@click.option(
    "--hold",
    type=click.IntRange(5, 24 * 3600),
    default=600,
    show_default=True,
    help="Seconds for which they are held.",
)
@click.option(
    "--think",
    type=click.FloatRange(0),
    default=2.0,
    show_default=True,
    help="Mean seconds that a bot of the held games thinks before each answer.",
)
@click.option(
    "--step",
    type=click.IntRange(2, 600),
    default=20,
    show_default=True,
    help="Seconds of each other measurement.",
)
@click.option(
    "--bot-processes",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Processes of bots that make the load.",
)
@click.option(
    "--processes",
    default="1,2",
    show_default=True,
    callback=_numbers,
    help="Numbers of server processes that are compared.",
)
@click.option(
    "--sweep",
    default="1,4,16,64,128,256",
    show_default=True,
    callback=_numbers,
    help="Numbers of games at once that are played without thinking.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "capacity",
    help="Folder for capacity.json, the pages, the plots and the logs; build/capacity by default.",
)
@click.option("--publish", is_flag=True, help="Write the pages and their plots into docs/ as well.")
def main(*, publish: bool, out: Path, **given: Any) -> None:
    """Measure what this machine holds, and write pages with plots.

    Starts arenas of its own and stops them. Fails if a held game or a connected bot was lost, or
    if anything was refused that should not have been.
    """
    raise_on_sigterm()
    out.mkdir(parents=True, exist_ok=True)
    options = CapacityOptions(out=out, **given)
    options.log.write_text("")
    console = Console(width=None if sys.stdout.isatty() else 100)
    try:
        figures = CapacityRun(options, console).measure()
    except (ArenaFailedError, BotProcessError) as error:
        raise click.ClickException(str(error)) from error
    figures["command"] = shlex.join(["make", "capacity", *_arguments()])
    for folder in [out, *([ROOT / "docs"] if publish else [])]:
        capacity_page.write(figures, folder)
        scaling_page.write(figures, folder)
    console.print(capacity_page.table(figures), markup=False, highlight=False)
    problem = capacity_page.errors(figures)
    if problem:
        raise click.ClickException(problem)


def _arguments() -> list[str]:
    given = shlex.join(sys.argv[1:])
    return [f"ARGS={given}"] if given else []


if __name__ == "__main__":
    main()
