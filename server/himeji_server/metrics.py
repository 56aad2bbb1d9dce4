"""Prometheus metrics of a process, served on a port of their own.

Counting costs about a microsecond and happens whether anybody scrapes or not. What is counted for
every decision must cost less, so these are plain numbers that become metrics only when somebody
scrapes (`_Commits`). Labelled children are created once and kept, because looking one up is slow.
"""

import asyncio
import socket
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NoReturn

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from himeji_server.settings import HOST
from himeji_server.startup_errors import port_unavailable

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

_FAST: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_OPTION: Final = "--metrics-port"
_LAG_SECONDS: Final = 0.5

CALLS: Final = Counter(
    "himeji_calls", "Calls that ended, streams too.", ["method", "code"], registry=REGISTRY
)
CALL_SECONDS: Final = Histogram(
    "himeji_call_seconds",
    "How long unary calls took.",
    ["method"],
    registry=REGISTRY,
    buckets=_FAST,
)
STREAMS: Final = Gauge(
    "himeji_streams_open",
    "Streams that are open, by what they are for.",
    ["kind"],
    registry=REGISTRY,
)
CONNECTIONS_CLOSED: Final = Counter(
    "himeji_connections_closed",
    "Connections closed because their client took more than its share.",
    ["why"],
    registry=REGISTRY,
)
ADDRESSES_BLOCKED: Final = Counter(
    "himeji_addresses_blocked",
    "Addresses blocked because of too many calls that came to nothing, or connections to the page.",
    registry=REGISTRY,
)
GAMES: Final = Gauge(
    "himeji_games_live",
    "Games being played that this process has in memory.",
    registry=REGISTRY,
)
SWEEPS: Final = Counter("himeji_sweeps", "Sweeps for due games.", registry=REGISTRY)
DUE: Final = Counter("himeji_due_games", "Games found due by sweeps.", registry=REGISTRY)
STORE_COMMANDS: Final = Counter(
    "himeji_store_commands", "Commands sent to the store.", registry=REGISTRY
)
STORE_SECONDS: Final = Histogram(
    "himeji_store_seconds",
    "Round trips to the store, each with all commands of one tick of the event loop.",
    registry=REGISTRY,
    buckets=_FAST,
)
STORE_FAILURES: Final = Counter(
    "himeji_store_failures", "Round trips that the store did not answer.", registry=REGISTRY
)
LAG: Final = Histogram(
    "himeji_loop_lag_seconds",
    "By how much the event loop was late, measured twice a second.",
    registry=REGISTRY,
    buckets=_FAST,
)

PLAY_STREAMS: Final = STREAMS.labels("play")
WATCH_STREAMS: Final = STREAMS.labels("watch")

UNKNOWN_METHOD: Final = "unknown"
"""The label of all unknown methods: callers can send any name, and each would be a new series."""


class _Commits(Collector):
    """The outcomes of commits."""

    def __init__(self) -> None:
        self.outcomes: Tally[str] = Tally()
        self.decisions = 0

    def collect(self) -> Iterator[CounterMetricFamily]:
        sentence = "Changes of games that were sent to the store, by what became of them."
        commits = CounterMetricFamily("himeji_commits", sentence, labels=["outcome"])
        for outcome, count in list(
            self.outcomes.items()
        ):  # a copy: the event loop adds to it, and scrapes have a thread
            commits.add_metric([outcome], count)
        yield commits
        yield CounterMetricFamily(
            "himeji_decisions_committed", "Answers of bots that were committed.", self.decisions
        )


_COMMITS: Final = _Commits()
REGISTRY.register(_COMMITS)


class Calls:
    """The metrics of one RPC method."""

    def __init__(self, method: str, *, timed: bool) -> None:
        """Streams are not timed: how long one was open says nothing."""
        self._method = method
        self._codes: dict[str, Counter] = {}
        self._seconds = CALL_SECONDS.labels(method) if timed else None

    def ended(self, code: str, seconds: float) -> None:
        counter = self._codes.get(code)
        if counter is None:
            counter = self._codes[code] = CALLS.labels(self._method, code)
        counter.inc()
        if self._seconds is not None:
            self._seconds.observe(seconds)


def committed(outcome: str, *, decision: bool) -> None:
    """Count a commit by its outcome."""
    _COMMITS.outcomes[outcome] += 1
    if decision:
        _COMMITS.decisions += 1


def store_answered(commands: int, since: float, *, failed: bool) -> None:
    """Count a round trip to the store; `since` is a time of `time.perf_counter`."""
    STORE_COMMANDS.inc(commands)
    STORE_SECONDS.observe(time.perf_counter() - since)
    if failed:
        STORE_FAILURES.inc()


async def measure_loop_lag() -> NoReturn:
    """Measure by how much the event loop is late; returns only by being cancelled."""
    while True:
        due = time.perf_counter() + _LAG_SECONDS
        await asyncio.sleep(_LAG_SECONDS)
        LAG.observe(max(0.0, time.perf_counter() - due))


@contextmanager
def served(port: int | None) -> Iterator[tuple[int, ...]]:
    """Serve the metrics on a port of 127.0.0.1 (0: a free one; None: not at all)."""
    if port is None:
        yield ()
        return
    try:
        server, thread = start_http_server(port, HOST, REGISTRY)
    except OSError as error:
        raise port_unavailable(port, error, _OPTION) from error
    try:
        yield (server.server_port,)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_ports(first: int | None, count: int) -> tuple[int, ...]:
    """Ports for several processes: consecutive ones, or free ones for 0.

    Raises StartRefusedError if one is in use.
    """
    if first is None:
        return ()
    with ExitStack() as stack:
        trials = [stack.enter_context(socket.socket()) for _ in range(count)]
        for number, trial in enumerate(trials):
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port = first + number if first else 0
            try:
                trial.bind((HOST, port))
            except OSError as error:
                raise port_unavailable(port, error, _OPTION) from error
        return tuple(trial.getsockname()[1] for trial in trials)


def count_games(live: Callable[[], int]) -> None:
    """Set the function that counts the games in memory when somebody scrapes."""
    GAMES.set_function(live)
