"""`make loadtest`: a bounded, mixed load of bots, measured by Locust; fails on any error."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from himeji import rules
from rich.console import Console
from rich.table import Table

from loadtest import user_weights
from loadtest.arena import (
    HOST,
    POLL_SECONDS,
    ArenaFailedError,
    clean_environment,
    free_port,
    raise_on_sigterm,
    stop_process,
    temporary_arena,
)

ROOT: Final = Path(__file__).parents[1]
LOCUSTFILE: Final = Path(__file__).with_name("locustfile.py")
STOP_SECONDS: Final = 15
"""Time for users to finish their games when the load ends."""

START_SECONDS: Final = 180
"""Time for Locust's processes to start and to stop."""

Process = subprocess.Popen[str]


@dataclass(frozen=True, kw_only=True)
class Load:
    """The options of the command line."""

    users: int
    seconds: int
    games: int
    spawn_rate: float
    weights: str
    ruleset: str
    think: float
    workers: int
    out: Path

    @property
    def summary(self) -> Path:
        """The figures, as the locustfile writes them."""
        return self.out / "summary.json"

    @property
    def report(self) -> Path:
        """Locust's report with charts."""
        return self.out / "report.html"

    def common_arguments(self, target: str) -> list[str]:
        """Arguments of every Locust process."""
        arguments = ["-f", str(LOCUSTFILE), "--host", target, "--ruleset", self.ruleset]
        arguments += [
            "--weights",
            self.weights,
            "--think",
            str(self.think),
            "--loglevel",
            "WARNING",
        ]
        return [*arguments, "--stop-timeout", str(STOP_SECONDS)]

    def master_arguments(self) -> list[str]:
        """Further arguments of the process that controls the run."""
        arguments = ["--headless", "--users", str(self.users), "--spawn-rate", str(self.spawn_rate)]
        arguments += ["--seconds", str(self.seconds), "--games", str(self.games), "--only-summary"]
        return [*arguments, "--summary", str(self.summary), "--html", str(self.report)]


def _checked_weights(_context: click.Context, _option: click.Parameter, text: str) -> str:
    try:
        user_weights.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return text


@click.command(name="loadtest")
@click.option(
    "--users",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Users at the same time. A user who plays has a bot for each seat.",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 24 * 3600),
    default=45,
    show_default=True,
    help=f"How long the load lasts; then users have {STOP_SECONDS} s to finish their games.",
)
@click.option(
    "--games",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="End earlier, once so many games were played; 0 for no such end.",
)
@click.option(
    "--spawn-rate",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    help="Users that come each second.",
)
@click.option(
    "--weights",
    "shares",
    metavar="KIND=N,…",
    default=user_weights.STANDARD,
    show_default=True,
    callback=_checked_weights,
    help=f"How many of each kind of user come: {', '.join(user_weights.KINDS)}.",
)
@click.option(
    "--ruleset",
    type=click.Choice(sorted(rules.RULESETS)),
    default="base",
    show_default=True,
    help="What is played.",
)
@click.option(
    "--think",
    type=click.FloatRange(0),
    default=0.05,
    show_default=True,
    help="Mean seconds that a bot thinks before each answer.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    help="Spread the users over so many processes (Locust's workers) under a master; 0 for one "
    "process that does all.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Server processes of the arena that is started.",
)
@click.option(
    "--target",
    metavar="HOST:PORT",
    help="Load this arena instead of starting one. Its token is taken as the SDK takes it "
    "(HIMEJI_TOKEN_FILE, .himeji/token); ladder and newcomer need an administrator's.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "loadtest",
    help="Folder for the report and the logs; build/loadtest by default.",
)
def main(*, shares: str, processes: int, target: str | None, out: Path, **numbers: Any) -> None:
    """Put a bounded load of mixed bots on an arena, measured by Locust.

    Without --target an arena is started for it, on a free port and a folder of its own, and
    stopped again. Writes report.html, summary.json and the logs, prints a table, and fails if
    anything at all failed.
    """
    raise_on_sigterm()
    out.mkdir(parents=True, exist_ok=True)
    load = Load(weights=shares, out=out, **numbers)
    for stale in (load.summary, load.report):
        stale.unlink(missing_ok=True)
    try:
        if target is None:
            with temporary_arena(out / "arena.log", "--processes", str(processes)) as arena:
                environment = clean_environment() | {"HIMEJI_TOKEN_FILE": str(arena.token_file)}
                run(load, arena.target, environment, arena.check)
        else:
            run(load, target, dict(os.environ), lambda: None)
    except (ArenaFailedError, LocustFailedError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        problem = report(load)
    if problem:
        raise click.ClickException(problem)


class LocustFailedError(Exception):
    """Locust did not run as it should; the message says why."""


def run(load: Load, target: str, environment: dict[str, str], check: Callable[[], None]) -> None:
    """Run Locust until it ends; `check` is polled and raises if the arena is gone."""
    with contextlib.ExitStack() as stack:
        master_arguments = load.master_arguments()
        if load.workers:
            port = str(free_port())
            bind = ["--master-bind-host", HOST, "--master-bind-port", port]
            master_arguments += ["--master", "--expect-workers", str(load.workers), *bind]
            connect = ["--worker", "--master-host", HOST, "--master-port", port]
            for number in range(1, load.workers + 1):
                arguments = [*load.common_arguments(target), *connect]
                stack.enter_context(
                    locust(arguments, load.out / f"worker-{number}.log", environment)
                )
        log = load.out / "locust.log"
        arguments = [*load.common_arguments(target), *master_arguments]
        master = stack.enter_context(locust(arguments, log, environment))
        until = time.monotonic() + load.seconds + STOP_SECONDS + START_SECONDS
        while master.poll() is None:
            check()
            if time.monotonic() > until:
                raise LocustFailedError(f"Locust did not end in time (see {log})")
            time.sleep(POLL_SECONDS)
        check()


@contextlib.contextmanager
def locust(arguments: list[str], log: Path, environment: dict[str, str]) -> Iterator[Process]:
    """Run a Locust process for a `with` block."""
    paths = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "locust", *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment | {"PYTHONPATH": paths},
        )
        try:
            yield process
        finally:
            stop_process(process)


def report(load: Load) -> str:
    """Print the results; returns why the load test fails, or an empty text."""
    if not load.summary.exists():
        return f"Locust left no summary (see {load.out / 'locust.log'})"
    found = json.loads(load.summary.read_text(encoding="utf-8"))
    console = Console(width=None if sys.stdout.isatty() else 100)
    console.print(_event_table(found))
    console.print(f"report: {load.report}")
    for fault in found["faults"]:
        console.print(fault, markup=False)
    for each in found["failures"]:
        failure = f"{each['count']} x {each['kind']} {each['name']}: {each['reason']}"
        console.print(failure, style="red", markup=False)
    failures = sum(each["count"] for each in found["failures"]) + len(found["faults"])
    if failures:
        return f"{failures} failures, as listed above"
    if not any(each["kind"] == "decision" for each in found["events"]):
        return "not one decision was made: the load was too short, or has no players"
    return ""


def _event_table(found: dict[str, Any]) -> Table:
    seconds = max(found["seconds"], 1e-9)
    table = Table(title=f"{seconds:.0f} s of load (times in ms)", title_justify="left")
    table.add_column("kind")
    table.add_column("name")
    for heading in ("count", "failed", "per s", "p50", "p99", "slowest"):
        table.add_column(heading, justify="right")
    for each in sorted(found["events"], key=lambda each: (each["kind"], each["name"])):
        times = [f"{each[key]:,.0f}" for key in ("p50", "p99", "slowest")]
        counts = [f"{each['count']:,}", f"{each['failed']:,}", f"{each['count'] / seconds:,.1f}"]
        table.add_row(each["kind"], each["name"], *counts, *times)
    return table


if __name__ == "__main__":
    main()
