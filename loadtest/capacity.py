"""`make capacity`: what this machine holds, measured step by step and written down with plots."""

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

from loadtest import costs, page, scaling
from loadtest.arena import Arena, ArenaFailedError, heed_sigterm, own_arena
from loadtest.crowd import Orders
from loadtest.crowds import CrowdFailedError, Crowds, Outcome, seated
from loadtest.meters import REDIS, SERVER, shares

ROOT: Final = Path(__file__).parents[1]
SANE_MS: Final = 100.0
"""A rate counts as long as 99 of 100 decisions follow within this."""

OVERLOAD: Final = 3
"""So many times the bots of the peak want to play in the overload."""

OVERLOAD_RUNS: Final = 3
"""So often it is measured, each time with and without."""

SPARE: Final = 0.05
"""So many tables more than games are held: between two games of a table none is live."""

APART_RUNS: Final = 3
"""So often it is measured what a decision costs, each time with seats together and apart."""

SECONDS_OF_ADVICE: Final = 10.0
"""After which a process that is full asks to be called again (docs/limits.md)."""

SECONDS_BETWEEN_KNOCKS: Final = SECONDS_OF_ADVICE + 0.75 * Backoff.LONGEST
"""How often a bot that was refused comes again, as the SDK's runner does after some tries."""

IMPATIENT_SECONDS: Final = 1.0
"""How often it comes again if it does not listen."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured, and for how long."""

    games: int
    hold: int
    think: float
    step: int
    crowds: int
    processes: tuple[int, ...]
    sweep: tuple[int, ...]
    """Games at once that are played as fast as they go."""

    out: Path

    @property
    def tables(self) -> int:
        """Tables at which that many games are live in every second."""
        return self.games + max(1, math.ceil(self.games * SPARE))

    @property
    def log(self) -> Path:
        """Where crowds complain."""
        return self.out / "crowd.log"


class Measuring:
    """Everything that is measured, in order."""

    def __init__(self, plan: Plan, console: Console) -> None:
        self._plan = plan
        self._console = console

    def measure(self) -> dict[str, Any]:
        """All figures."""
        echo = self._echo()
        sweeps = {count: self._sweep(count) for count in self._plan.processes}
        first = sweeps[self._plan.processes[0]]
        peak = max(first, key=lambda each: each.rate)
        return {
            "machine": _machine(),
            "sweeps": {str(n): [each.facts() for each in found] for n, found in sweeps.items()},
            "sane": _sane(first),
            "growth": self._growth(),
            "hold": self._hold(),
            "overload": self._overload(peak),
            "echo": echo,
            **self._apart(),
            "word_us": self._word(),
            "fsync_ms": costs.fsync_ms(self._plan.out),
        }

    def _sweep(self, processes: int) -> list[Outcome]:
        """Decisions a second and how long each takes, the more games the faster."""
        found = []
        for games in self._plan.sweep:
            with self._arena("--processes", str(processes)) as arena:
                played = self._play(arena, tables=games, think=0.0, seconds=self._plan.step)
            what = f"{processes} process(es), {games} games, no thinking"
            self._say(what, played)
            found.append(played)
        return found

    def _growth(self) -> list[dict[str, float]]:
        """Memory and processors with more and more games that wait for their bots."""
        most = self._plan.games
        return [self._waiting(games) for games in sorted({0, most // 4, most // 2, most})]

    def _waiting(self, games: int) -> dict[str, float]:
        """What games take in which nobody moves."""
        orders = {"tables": games, "think": 0.0, "seconds": 0.0}
        with self._arena() as arena, self._seated([arena], **orders) as crowds:
            meters = crowds.meters(arena)
            first = meters.read()
            time.sleep(self._plan.step)
            last = meters.read()
        busy, memory = shares(first, last), last.memory
        self._console.print(
            f"{games} games that wait: server {memory[SERVER] / 1e6:.0f} MB, "
            f"Redis {memory[REDIS] / 1e6:.0f} MB, "
            f"{busy[SERVER]:.2f} and {busy[REDIS]:.2f} processors"
        )
        return {
            "games": float(games),
            **memory,
            **{f"{what}_busy": busy[what] for what in (SERVER, REDIS)},
        }

    def _hold(self) -> dict[str, Any]:
        """Many games with all seats connected, for a long time."""
        plan = self._plan
        with self._arena() as arena:
            held = self._play(arena, tables=plan.tables, think=plan.think, seconds=plan.hold)
        self._say(f"{held.least_live} games held, {plan.think} s a decision", held)
        return held.facts()

    def _apart(self) -> dict[str, Any]:
        """What a decision costs at two arenas with one Redis, seats of a game together and apart.

        In turn, some times; each is told by its medians.
        """
        with self._arena() as one, self._arena("--redis", one.redis, log="second.log") as two:
            costs.let_log_grow(one)
            ways = [
                [self._decision(one, two, apart=each) for each in (False, True)]
                for _ in range(APART_RUNS)
            ]
        together, apart = (costs.typical(runs) for runs in zip(*ways, strict=True))
        hearing = costs.hearing_us(together, apart)
        self._console.print(
            f"a decision: {together['server_us']:.0f} µs at the server and "
            f"{together['redis_us']:.0f} µs at Redis; to hear of it at another process: "
            f"{hearing:.0f} µs, and at Redis {apart['redis_us'] - together['redis_us']:.0f} µs"
        )
        return {"decision": {"together": together, "apart": apart}, "hearing_us": hearing}

    def _decision(self, one: Arena, two: Arena, *, apart: bool) -> dict[str, float]:
        """What a decision costs, seats together or apart."""
        what = {"tables": costs.APART_TABLES, "think": 0.0, "seconds": self._plan.step}
        with self._seated([one, two], apart=apart, **what) as crowds:
            before = costs.traffic(one)
            played = crowds.play(one, two)
            found = costs.per_decision(before, costs.traffic(one), played)
        self._say(f"two arenas, seats of a game {'apart' if apart else 'together'}", played)
        return found

    def _word(self) -> float:
        """What a process pays for a word about a bot of another one."""
        with self._arena() as arena:
            found = costs.word_us(arena)
        self._console.print(f"a word about a bot at another process: {found:.1f} µs")
        return found

    def _overload(self, peak: Outcome) -> dict[str, Any]:
        """The peak again, with all places taken, while twice as many bots want to play besides.

        Without them, with them, and with them as they come against all advice, in turn, some times;
        each is told by its median.
        """
        bots = (OVERLOAD - 1) * 2 * peak.tables
        rates = (0.0, bots / SECONDS_BETWEEN_KNOCKS, bots / IMPATIENT_SECONDS)
        runs = [[self._full(peak, knocks) for knocks in rates] for _ in range(OVERLOAD_RUNS)]
        calm, full, rude = (_median(each) for each in zip(*runs, strict=True))
        self._say(f"the peak with {OVERLOAD} times as many bots", full)
        self._say("the same with impatient ones", rude)
        return {
            "calm": calm.facts(),
            "full": full.facts(),
            "kept": full.rate / calm.rate,
            "impatient": rude.facts(),
            "kept_by_impatient": rude.rate / calm.rate,
        }

    def _full(self, peak: Outcome, knocks: float) -> Outcome:
        tables, seconds = peak.tables, self._plan.step
        with self._arena(f"--streams={2 * tables}") as arena:
            return self._play(arena, tables=tables, think=0.0, seconds=seconds, knocks=knocks)

    def _echo(self) -> dict[str, float]:
        """The arena's stream against a bare echo, as `make bench` measures it."""
        bench = importlib.import_module("tests.programs.bench.server")  # tests are not typed
        found: dict[str, float] = bench.measure()
        self._console.print(f"ratio to the bare echo: {found['ratio to the echo']:.2f}")
        return found

    @contextmanager
    def _arena(self, *options: str, log: str = "arena.log") -> Iterator[Arena]:
        with own_arena(self._plan.out / log, *options) as arena:
            yield arena

    @contextmanager
    def _seated(self, arenas: Sequence[Arena], **what: Any) -> Iterator[Crowds]:
        """Hold crowds of which everybody sits; the arenas share one Redis, and so its tokens."""
        token = arenas[0].token_file.read_text(encoding="utf-8").strip()
        orders = Orders(targets=[each.target for each in arenas], token=token, **what)
        with seated(orders, self._plan.crowds, self._plan.log) as crowds:
            errors = crowds.wait_until_seated()
            if errors:
                raise CrowdFailedError(f"not everybody could be seated: {errors}")
            yield crowds

    def _play(self, arena: Arena, **what: Any) -> Outcome:
        with self._seated([arena], **what) as crowds:
            return crowds.play(arena)

    def _say(self, what: str, found: Outcome) -> None:
        self._console.print(
            f"{what}: {found.rate:,.0f} decisions/s, p50 {found.p50:.0f} ms, p99 {found.p99:.0f} "
            f"ms, errors {found.errors or 'none'}",
            highlight=False,
        )


def _median(outcomes: Sequence[Outcome]) -> Outcome:
    """The one with the middle rate."""
    return sorted(outcomes, key=lambda each: each.rate)[len(outcomes) // 2]


def _sane(sweep: list[Outcome]) -> dict[str, float]:
    """The highest rate at which decisions still follow quickly; nothing if there is none."""
    sane = [each for each in sweep if each.p99 <= SANE_MS and not each.errors]
    best = max(sane, key=lambda each: each.rate, default=None)
    return {} if best is None else {"rate": best.rate, "p99": best.p99, "games": best.tables}


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
    """Positive numbers with commas between them."""
    try:
        numbers = tuple(int(each) for each in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"{text!r} is no list of positive numbers: write 1,2,4")
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
    "--crowds",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Processes that make the load.",
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
def main(*, publish: bool, out: Path, **wanted: Any) -> None:
    """Measure what this machine holds, and write it down with plots.

    Arenas are started for it and stopped again. Fails if a held game or a connected bot was lost,
    or anything was refused that should not have been.
    """
    heed_sigterm()
    out.mkdir(parents=True, exist_ok=True)
    plan = Plan(out=out, **wanted)
    plan.log.write_text("")
    console = Console(width=None if sys.stdout.isatty() else 100)
    try:
        figures = Measuring(plan, console).measure()
    except (ArenaFailedError, CrowdFailedError) as error:
        raise click.ClickException(str(error)) from error
    figures["command"] = shlex.join(["make", "capacity", *_arguments()])
    for folder in [out, *([ROOT / "docs"] if publish else [])]:
        page.write(figures, folder)
        scaling.write(figures, folder)
    console.print(page.table(figures), markup=False, highlight=False)
    wrong = page.errors(figures)
    if wrong:
        raise click.ClickException(wrong)


def _arguments() -> list[str]:
    words = shlex.join(sys.argv[1:])
    return [f"ARGS={words}"] if words else []


if __name__ == "__main__":
    main()
