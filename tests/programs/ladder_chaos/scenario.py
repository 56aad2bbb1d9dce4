"""Bots of four strengths play one ladder while server processes are killed.

Afterwards every game that ended with ranks must be rated exactly once, the standings must be what
a recomputation from the log gives, and no bot may have kept a seat.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from himeji.v1 import account_service_pb2 as accounts
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.game_pb2 import GameState
from himeji.v1.game_service_pb2 import ListGamesRequest
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji_sdk import LadderClient, connection
from himeji_server.ladder.background import LEASE
from himeji_server.store import keys

from loadtest.arena import POLL_SECONDS, clean_environment
from tests.server.process_tree import workers_of
from tests.server.redis_client import raw_client

BOTS = Path(__file__).with_name("bots.py")
HIMEJI = str(Path(sys.executable).parent / "himeji")
LADDER = "base-2p"
LEVELS = 4
TIMEOUT = 240.0
"""Seconds for each thing that must happen while processes are being restarted."""


@dataclass
class Report:
    """The counts, the standings and the violations of a run."""

    violations: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    means: list[float] = field(default_factory=list)  # of each level's ratings
    rows: list = field(default_factory=list)

    def check(self, holds, violation):
        if not holds:
            self.violations.append(violation)


class LadderScenario:
    """One arena of two server processes, and a dozen bots in processes of their own."""

    def __init__(self, supervisor_pid, address, redis_url, admin_token, *, bots=12):
        """`supervisor_pid` is the parent of the arena's processes."""
        self.supervisor_pid = supervisor_pid
        self.address = address
        self.redis = raw_client(redis_url, decode_responses=True)
        self.admin = LadderClient(self.address, admin_token)
        self._admin_metadata = connection.credentials(admin_token)
        self.bots = {f"owner-{n}/level-{n % LEVELS}": n % LEVELS for n in range(bots)}
        self.tokens = {}
        self.processes = {}
        self.report = Report()

    # --- the bots -------------------------------------------------------------------------------

    async def start_bots(self):
        channel = connection.channel(self.address)
        stub = AccountServiceStub(channel)
        for bot, level in self.bots.items():
            owner = bot.partition("/")[0]
            made = stub.CreateOwner(
                accounts.CreateOwnerRequest(owner=owner),
                metadata=self._admin_metadata,
                timeout=120,
            )
            metadata = connection.credentials(made.secret)
            stub.CreateBot(accounts.CreateBotRequest(bot=bot), metadata=metadata, timeout=120)
            self.tokens[bot] = made.secret
            self.processes[bot] = await self._start_bot(bot, level)
        channel.close()

    async def _start_bot(self, bot, level):
        program = f"{BOTS}:Level{level}"
        pure = {key: os.environ[key] for key in ("HIMEJI_PURE",) if key in os.environ}
        command = ["ladder", "join", program, "--name", bot, "--target", self.address]
        return await asyncio.create_subprocess_exec(
            *(HIMEJI, *command, "--at-once", "2", "--ladder", LADDER, "--quiet"),
            env=clean_environment() | pure | {"HIMEJI_TOKEN": self.tokens[bot]},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    async def stop_bots(self):
        """Take all bots out of their queues; each finishes its games, then its process ends."""
        for bot, token in self.tokens.items():
            with LadderClient(self.address, token) as client:
                await self._retry(lambda c=client, b=bot: c.call("LeaveLadder", bot=b))
        for bot, process in self.processes.items():
            try:
                async with asyncio.timeout(TIMEOUT):
                    _, errors = await process.communicate()
                self.report.check(
                    process.returncode == 0, f"{bot} failed: {errors.decode()[-500:]}"
                )
            except TimeoutError:
                self.report.violations.append(f"{bot} did not stop")

    async def _retry(self, call):
        """Call a server that may be restarting until it answers."""
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                return await asyncio.to_thread(call)
            except Exception:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(POLL_SECONDS)

    def kill_bots(self):
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    # --- kills ----------------------------------------------------------------------------------

    def workers(self):
        return workers_of(self.supervisor_pid)

    def _leader(self):
        """The process that holds the lease to pair and rate; 0 if there is none."""
        holder = self.redis.get(keys.lease(LEASE))
        return int(holder.split()[0]) if holder else 0

    def kill_leader(self):
        """Kill the process that pairs and rates; returns whether it was running."""
        leader = self._leader()
        if leader not in self.workers():
            return False
        os.kill(leader, signal.SIGKILL)
        self.report.counts["leaders killed"] += 1
        return True

    def kill_other(self):
        """Kill a process that does not pair and rate; returns whether one was running."""
        leader = self._leader()
        others = [pid for pid in self.workers() if pid != leader]
        if not others:
            return False
        os.kill(others[0], signal.SIGKILL)
        self.report.counts["others killed"] += 1
        return True

    # --- the run --------------------------------------------------------------------------------

    async def run(self, games, kills):
        """Play until `games` are rated, with kills spread over them; returns the report."""
        await self.start_bots()
        marks = [games * (number + 1) // (kills + 1) for number in range(kills)]
        ways = [self.kill_leader, self.kill_other]
        until = time.monotonic() + TIMEOUT + games * 3
        while (rated := self._rated()) < games or marks:
            # If the process to kill is not back yet since the last kill, try again later.
            if marks and rated >= marks[0] and ways[len(marks) % 2]():
                marks.pop(0)
            if time.monotonic() > until:
                self.report.violations.append(f"only {rated} games were rated in time")
                break
            await asyncio.sleep(POLL_SECONDS)
        await self.stop_bots()
        await self._wait_until_settled()
        await self._check()
        self.redis.close()
        return self.report

    def _rated(self):
        return int(self.redis.hget(keys.standings_head(LADDER), "sequence") or 0)

    async def _wait_until_settled(self):
        """Wait until all results are rated and no game has seats."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            waiting = [self.redis.xlen(keys.outbox(n)) for n in range(keys.BUCKETS)]
            seated = self.redis.hlen(keys.seated(LADDER))
            if not any(waiting) and not seated:
                return
            await asyncio.sleep(POLL_SECONDS)
        self.report.violations.append(f"not settled: {sum(waiting)} results, {seated} seated games")

    async def _check(self):
        report, report.counts["rated"] = self.report, self._rated()
        await self._check_log()
        found = await self._retry(lambda: list(self.admin.recompute(LADDER)))
        rows = [row for message in found for row in message.differences.standings]
        report.check(not rows, f"recompute differs: {rows}")
        rows = await self._retry(
            lambda: self.admin.pages("GetStandings", "standings", ladder=LADDER)
        )
        report.check(
            sum(row.games for row in rows) == 2 * report.counts["rated"], "a game is missing"
        )
        for level in range(LEVELS):
            means = [row.rating.mean for row in rows if self.bots[row.bot] == level]
            report.means.append(fmean(means) if means else 0.0)
        report.rows = rows
        load = self.redis.hgetall(keys.load(LADDER))
        report.check(not load, f"seats were never released: {load}")

    async def _check_log(self):
        """Every game that ended with ranks is in the log, once."""
        rated = self.redis.hkeys(keys.standings_rated(LADDER))
        logged = self.redis.xlen(keys.standings_log(LADDER))
        self.report.check(logged == len(rated), f"{logged} entries for {len(rated)} games")
        audits = self.redis.hlen(keys.AUDIT_MARKS)
        self.report.check(audits == logged, f"{audits} audit entries for {logged} games")
        ended = await self._retry(self._ended)
        self.report.check(
            sorted(ended) == sorted(rated),
            f"ended but not rated, or rated but not ended: {set(ended) ^ set(rated)}",
        )

    def _ended(self):
        """The games of the ladder that ended with ranks."""
        found, page_token = [], ""
        with connection.channel(self.address) as channel:
            stub = GameServiceStub(channel)
            metadata = connection.credentials(next(iter(self.tokens.values())))
            while True:
                request = ListGamesRequest(
                    ladder=LADDER,
                    state=GameState.GAME_STATE_OVER,
                    page_size=500,
                    page_token=page_token,
                )
                page = stub.ListGames(request, metadata=metadata, timeout=120)
                found += [game.game_id for game in page.games if game.result.seats]
                page_token = page.next_page_token
                if not page_token:
                    return found
