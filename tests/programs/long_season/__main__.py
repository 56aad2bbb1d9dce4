"""`make long-season`: void games and recompute the table of a long season while others call.

Prints how long it took and what other callers waited before and meanwhile. Fails if the p99 of
other callers is more than `--ratio` times what it was before, in each of `--tries` runs; and if a
control is within that: an arena that recomputes in its event loop.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from functools import partial
from itertools import chain
from pathlib import Path

import grpc
from himeji.v1 import (
    account_service_pb2 as accounts,
    account_service_pb2_grpc,
    admin_service_pb2 as admin,
    admin_service_pb2_grpc,
    game_service_pb2 as games,
    game_service_pb2_grpc,
    ladder_service_pb2 as ladders,
    ladder_service_pb2_grpc,
)
from himeji_server.store import Store
from rich.console import Console
from rich.table import Table

from tests.programs.long_season.results import fill
from tests.server.conftest import Arena, open_arena
from tests.server.ladder_process import LADDER, LadderProcess

CONTROL = (sys.executable, "-m", "tests.programs.long_season.arena_server")
BASELINE_SECONDS = 10.0
PAUSE_SECONDS = 0.01
LEAST_PROGRESS = 5
A, B = "ann/a", "bob/b"


def memory(process):
    """Resident kB of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def workers(process):
    """The worker processes that a process has started."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    found = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    return [
        each
        for each in found
        if "recomputation_worker" in Path(f"/proc/{each}/cmdline").read_text()
    ]


def token_of(arena):
    return Path(arena.facts["token"].split()[0]).read_text().strip()


class Calls:
    """Honest calls, one after the other, and how long each took."""

    def __init__(self, channel, metadata, game_id):
        self._who = account_service_pb2_grpc.AccountServiceStub(channel).WhoAmI
        self._game = game_service_pb2_grpc.GameServiceStub(channel).GetGame
        self._metadata, self._game_id = metadata, game_id
        self.seconds = {"WhoAmI": [], "GetGame": []}
        self.enough = False

    async def run(self):
        """Call until it is enough; the last calls count however long they take."""
        asked = (
            ("WhoAmI", self._who, accounts.WhoAmIRequest()),
            ("GetGame", self._game, games.GetGameRequest(game_id=self._game_id)),
        )
        while not self.enough:
            for name, method, request in asked:
                started = time.perf_counter()
                await method(request, metadata=self._metadata)
                self.seconds[name].append(time.perf_counter() - started)
                await asyncio.sleep(PAUSE_SECONDS)


class Measurement:
    """An arena with a long season, and a table of what was measured."""

    def __init__(self, arena, calls):
        self._arena, self._calls = arena, calls
        self._table = Table("what", "s", "calls", "p50 ms", "p99 ms", "max ms", "p99 ratio")
        for column in ("server MB", "worker MB"):
            self._table.add_column(column)
        self._baseline = 0.0
        self.worst_ratio = 0.0
        """The highest p99 in a row, in baselines."""

        self._server = self._worker = 0

    async def measure(self, name, work):
        """Run the work while calls are made and memory is watched."""
        calls = self._calls()
        calling = asyncio.create_task(calls.run())
        watching = asyncio.create_task(self._watch_memory())
        started = time.perf_counter()
        await work()
        seconds = time.perf_counter() - started
        calls.enough = True
        await calling
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        self._row(name, seconds, [*chain(*calls.seconds.values())])

    def _row(self, name, seconds, found):
        cuts = statistics.quantiles(found, n=100)
        self._baseline = self._baseline or cuts[98]
        figures = [1000 * each for each in (statistics.median(found), cuts[98], max(found))]
        ratio = cuts[98] / self._baseline
        self.worst_ratio = max(self.worst_ratio, ratio)
        self._table.add_row(
            *(name, f"{seconds:.1f}", str(len(found))),
            *(f"{each:.1f}" for each in figures),
            *(f"{ratio:.1f}", f"{self._server / 1024:.0f}", f"{self._worker / 1024:.0f}"),
        )

    async def _watch_memory(self):
        self._server = self._worker = 0
        server = self._arena.process.pid
        while True:
            self._server = max(self._server, memory(server))
            with contextlib.suppress(OSError, IndexError):  # one that ends at this moment
                self._worker = max([self._worker, *map(memory, workers(server))])
            await asyncio.sleep(0.05)

    def print(self):
        Console(width=140).print(self._table)


class Administrator:
    """Does what takes long, on a connection of its own."""

    def __init__(self, channel, metadata):
        self._admin = admin_service_pb2_grpc.AdminServiceStub(channel)
        self._ladder = ladder_service_pb2_grpc.LadderServiceStub(channel)
        self._metadata = metadata

    async def void(self, game_id):
        """Void a game, and wait until the table is without it."""
        request = admin.VoidGameRequest(game_id=game_id, explanation="measured")
        await self._admin.VoidGame(request, metadata=self._metadata)
        wanted = ladders.GetStandingsRequest(ladder=LADDER)
        answer = await self._ladder.GetStandings(wanted, metadata=self._metadata)
        while answer.pending_voids:
            await asyncio.sleep(0.5)
            answer = await self._ladder.GetStandings(wanted, metadata=self._metadata)

    async def recompute(self):
        """Recompute the table, which has to agree; progress has to come meanwhile."""
        wanted, progress = ladders.RecomputeStandingsRequest(ladder=LADDER), 0
        async for message in self._ladder.RecomputeStandings(wanted, metadata=self._metadata):
            assert not message.result.differences, message
            progress += message.HasField("progress")
        assert progress >= LEAST_PROGRESS, f"{progress} messages of progress"


def connect(arena):
    """A connection that shares nothing with another one."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    return grpc.aio.insecure_channel(arena.address, options=options)


async def main(arguments):
    """Run the measurement and its control; returns the exit code."""
    for number in range(1, arguments.tries + 1):
        ratio = await run(arguments.results, arguments.bots)
        if ratio <= arguments.ratio:
            break
        say(f"try {number} of {arguments.tries}: other callers waited {ratio:.1f} x as long")
    control = await run(arguments.results_of_control, arguments.bots, CONTROL)
    say(f"other callers: p99 {ratio:.1f} x its baseline, {arguments.ratio:g} x allowed")
    say(f"control: {control:.1f} x, and more than {arguments.ratio:g} x expected")
    return int(not ratio <= arguments.ratio < control)


async def run(results, bots, command=Arena.COMMAND):
    """Fill an arena and measure; returns the worst ratio of other callers' p99 to its baseline."""
    with (
        tempfile.TemporaryDirectory(prefix="himeji-season-") as folder,
        open_arena(Path(folder) / "data", command=command) as arena,
    ):
        store = await Store.connect(arena.redis_url)
        process, started = LadderProcess(store), time.perf_counter()
        oldest = await process.result(A, B)
        await fill(store, LADDER, results - 2, bots=bots)
        newest = await process.result(A, B)
        await store.close()
        seconds = time.perf_counter() - started
        title = "" if command is Arena.COMMAND else "control, "
        say(f"{title}{results:,} results, {bots} bots: filled in {seconds:.0f} s")
        return await measure(arena, oldest, newest)


async def measure(arena, oldest, newest):
    metadata = (("authorization", f"Bearer {token_of(arena)}"),)
    async with connect(arena) as channel, connect(arena) as own:
        administrator = Administrator(own, metadata)
        measurement = Measurement(arena, lambda: Calls(channel, metadata, newest))
        for name, work in (
            ("nothing", partial(asyncio.sleep, BASELINE_SECONDS)),
            ("VoidGame, the newest game", partial(administrator.void, newest)),
            ("VoidGame, the oldest game", partial(administrator.void, oldest)),
            ("RecomputeStandings", administrator.recompute),
        ):
            await measurement.measure(name, work)
        measurement.print()
        return measurement.worst_ratio


def say(line):
    Console(width=140).print(line, highlight=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make long-season ARGS=...", description=__doc__)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--results-of-control", type=int, default=10_000)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--ratio", type=float, default=3.0, help="bound of p99 / its baseline (3)")
    parser.add_argument("--tries", type=int, default=1, help="the best of so many tries counts")
    sys.exit(asyncio.run(main(parser.parse_args())))
