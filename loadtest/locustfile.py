"""The file that Locust runs: users, options, and a summary at the end.

Locust patches the standard library when it is imported, so this module must only be imported in a
Locust process: `make loadtest` starts one, and so does `locust -f loadtest/locustfile.py`.
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

from loadtest import interceptors, user_weights, users

MAX_PENDING_CALLS: Final = 4_000
"""Calls and streams of this process that may wait at the same time.

Under gevent, each pending gRPC call takes a thread of gevent's pool. With its default of ten, bots
that wait for a decision keep others from sending their answers.
"""

grpc.experimental.gevent.init_gevent()
gevent.get_hub().threadpool.maxsize = MAX_PENDING_CALLS

_COUNT_SECONDS: Final = 0.5
_FLUSH_SECONDS: Final = 1.0
"""Time for workers to send their last figures to the master."""

StreamPlayer = users.StreamPlayer
UnaryPlayer = users.UnaryPlayer
Spectator = users.Spectator
LadderBot = users.LadderBot
Newcomer = users.Newcomer


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `python -m loadtest` passes on; its help explains them."""
    parser.add_argument("--ruleset", choices=sorted(rules.RULESETS), default="base")
    parser.add_argument("--weights", default=user_weights.STANDARD)
    parser.add_argument("--think", type=float, default=0.05)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--summary", default="")  # Locust sends options as plain values


def set_up(environment: Environment, **_: Any) -> None:
    """Install the interceptors, and give each kind of user its weight."""
    options: Any = environment.parsed_options
    metrics = interceptors.RequestMetrics(environment.events.request.fire)
    users.ArenaUser.metrics = metrics
    connection.intercept(
        interceptors.UnaryInterceptor(metrics),
        interceptors.WatchInterceptor(metrics),
        interceptors.PlayInterceptor(metrics),
    )
    for kind, weight in user_weights.parse(options.weights).items():
        users.KINDS[kind].weight = weight


def limit_run(environment: Environment, **_: Any) -> None:
    """End the run after --seconds or --games; Locust's own `--run-time` interrupts the users."""
    options: Any = environment.parsed_options
    if not isinstance(environment.runner, WorkerRunner) and (options.seconds or options.games):
        gevent.spawn(_end_run, environment, options.seconds or math.inf, options.games or math.inf)


def _end_run(environment: Environment, seconds: float, games: float) -> None:
    """Stop the users, and count what they finish until then, at the workers too."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and _games_played(environment) < games:
        gevent.sleep(_COUNT_SECONDS)
    if environment.runner is not None:
        environment.runner.stop()
        gevent.sleep(_FLUSH_SECONDS)
        environment.runner.quit()


def _games_played(environment: Environment) -> int:
    entries = environment.stats.entries.values()
    return sum(each.num_requests for each in entries if each.method == interceptors.GAME)


def write_summary(environment: Environment, **_: Any) -> None:
    """Write all figures into the file of `--summary`."""
    options: Any = environment.parsed_options
    runner = environment.runner
    if not options.summary or runner is None or isinstance(runner, WorkerRunner):
        return
    stats = environment.stats
    summary = {
        "seconds": (stats.total.last_request_timestamp or 0) - (stats.total.start_time or 0),
        "events": [_event(each) for each in stats.entries.values()],
        "failures": [_failure(each) for each in stats.errors.values()],
        "faults": [str(each["traceback"]) for each in runner.exceptions.values()],
    }
    Path(options.summary).write_text(json.dumps(summary, indent=1), encoding="utf-8")


def _event(entry: StatsEntry) -> dict[str, Any]:
    percentile = entry.get_response_time_percentile
    return {
        "kind": entry.method,
        "name": entry.name,
        "count": entry.num_requests,
        "failed": entry.num_failures,
        "p50": percentile(0.5),
        "p99": percentile(0.99),
        "slowest": entry.max_response_time,
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
    (events.init, set_up),
    (events.test_start, limit_run),
    (events.quitting, write_summary),
):
    event.add_listener(listener)  # type: ignore[no-untyped-call]
