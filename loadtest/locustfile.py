"""What Locust runs: the users, its options, and a summary of everything at the end.

Locust patches the standard library when it is imported, so this file belongs into processes of its
own: `make loadtest` starts them, and so does `locust -f loadtest/locustfile.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any, Final

import gevent
import grpc.experimental.gevent
from himeji import rules
from himeji_sdk import connection
from locust import events
from locust.env import Environment
from locust.runners import WorkerRunner
from locust.stats import StatsEntry, StatsError

from loadtest import measuring, users, weights

MOST_WAITING: Final = 4_000
"""Calls and streams of this process that may wait at the same time.

Under gevent gRPC waits in threads of its pool, one for each; with gevent's standard of ten, bots
that wait for a question keep others from sending their answers.
"""

grpc.experimental.gevent.init_gevent()
gevent.get_hub().threadpool.maxsize = MOST_WAITING

_SECONDS_BETWEEN_COUNTS: Final = 0.5
_SECONDS_FOR_THE_LAST_FIGURES: Final = 1.0

StreamPlayer = users.StreamPlayer
UnaryPlayer = users.UnaryPlayer
Spectator = users.Spectator
LadderBot = users.LadderBot
Newcomer = users.Newcomer


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `python -m loadtest` passes on; its help explains them."""
    parser.add_argument("--ruleset", choices=sorted(rules.RULESETS), default="base")
    parser.add_argument("--weights", default=weights.STANDARD)
    parser.add_argument("--think", type=float, default=0.05)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--summary", default="")  # Locust sends options as plain values


def begin(environment: Environment, **_: Any) -> None:
    """Measure every channel, and weigh the users."""
    wanted: Any = environment.parsed_options
    measure = measuring.Measure(environment.events.request.fire)
    users.Visitor.measure = measure
    connection.intercept(
        measuring.Calls(measure), measuring.Watching(measure), measuring.Playing(measure)
    )
    for kind, weight in weights.parse(wanted.weights).items():
        users.KINDS[kind].weight = weight


def end_in_time(environment: Environment, **_: Any) -> None:
    """Watch over the bounds of the run, which Locust's own `--run-time` ends too abruptly."""
    wanted: Any = environment.parsed_options
    if not isinstance(environment.runner, WorkerRunner) and (wanted.seconds or wanted.games):
        gevent.spawn(_end, environment, wanted.seconds or math.inf, wanted.games or math.inf)


def _end(environment: Environment, seconds: float, games: float) -> None:
    """End the run; what users do until they have finished counts, at the workers too."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and _played(environment) < games:
        gevent.sleep(_SECONDS_BETWEEN_COUNTS)
    if environment.runner is not None:
        environment.runner.stop()
        gevent.sleep(_SECONDS_FOR_THE_LAST_FIGURES)
        environment.runner.quit()


def _played(environment: Environment) -> int:
    entries = environment.stats.entries.values()
    return sum(each.num_requests for each in entries if each.method == measuring.GAME)


def summarise(environment: Environment, **_: Any) -> None:
    """Write what happened into the file of `--summary`."""
    wanted: Any = environment.parsed_options
    runner = environment.runner
    if not wanted.summary or runner is None or isinstance(runner, WorkerRunner):
        return
    stats = environment.stats
    found = {
        "seconds": (stats.total.last_request_timestamp or 0) - (stats.total.start_time or 0),
        "events": [_event(each) for each in stats.entries.values()],
        "failures": [_failure(each) for each in stats.errors.values()],
        "faults": [str(each["traceback"]) for each in runner.exceptions.values()],
    }
    Path(wanted.summary).write_text(json.dumps(found, indent=1), encoding="utf-8")


def _event(entry: StatsEntry) -> dict[str, Any]:
    percentile = entry.get_response_time_percentile
    return {
        "kind": entry.method,
        "name": entry.name,
        "count": entry.num_requests,
        "failed": entry.num_failures,
        "p50": percentile(0.5),
        "p99": percentile(0.99),
        "most": entry.max_response_time,
    }


def _failure(error: StatsError) -> dict[str, Any]:
    return {
        "kind": error.method,
        "name": error.name,
        "reason": str(error.error),
        "count": error.occurrences,
    }


for event, listener in (
    (events.init_command_line_parser, add_options),
    (events.init, begin),
    (events.test_start, end_in_time),
    (events.quitting, summarise),
):
    event.add_listener(listener)  # type: ignore[no-untyped-call]
