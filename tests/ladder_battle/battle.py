"""The battle: bots of four strengths on one ladder, while server processes are killed."""

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
from himeji_sdk import connection
from himeji_sdk.ladders import LadderClient
from himeji_server.ladder.background import LEASE
from himeji_server.store import keys

from tests.server.process_tree import workers_of
from tests.server.redis_client import raw_client

ROOT = Path(__file__).parents[2]
HIMEJI = str(Path(sys.executable).parent / "himeji")
LADDER = "base-2p"
LEVELS = 4
PATIENCE = 240.0


@dataclass
class Report:
    """What the battle showed."""

    faults: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    means: list[float] = field(default_factory=list)  # of each level's ratings
    rows: list = field(default_factory=list)

    def check(self, holds, fault):
        if not holds:
            self.faults.append(fault)


class Battle:
    """One arena of two server processes, and a dozen bots in processes of their own."""

    def __init__(self, arena, redis_url, admin_token, *, bots=12):
        """`arena` is an open arena with `pid`, `address` and open registration."""
        self.arena = arena
        self.address = arena.address
        self.redis = raw_client(redis_url, decode_responses=True)
        self.admin = LadderClient(self.address, admin_token)
        self.bots = {f"owner-{n}/level-{n % LEVELS}": n % LEVELS for n in range(bots)}
        self.tokens = {}
        self.processes = {}
        self.report = Report()

    # --- the bots -------------------------------------------------------------------------------

    async def enter(self):
        channel = connection.channel(self.address)
        stub = AccountServiceStub(channel)
        for bot, level in self.bots.items():
            owner = bot.partition("/")[0]
            made = stub.CreateOwner(accounts.CreateOwnerRequest(owner=owner), timeout=120)
            metadata = connection.credentials(made.secret)
            stub.CreateBot(accounts.CreateBotRequest(bot=bot), metadata=metadata, timeout=120)
            self.tokens[bot] = made.secret
            self.processes[bot] = await self._start(bot, level)
        channel.close()

    async def _start(self, bot, level):
        program = f"{ROOT / 'tests' / 'ladder_battle' / 'fighters.py'}:Level{level}"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}
        pure = {key: os.environ[key] for key in ("HIMEJI_PURE",) if key in os.environ}
        words = ["ladder", "join", program, "--name", bot, "--target", self.address]
        return await asyncio.create_subprocess_exec(
            *(HIMEJI, *words, "--at-once", "2", "--ladder", LADDER, "--quiet"),
            env=clean | pure | {"HIMEJI_TOKEN": self.tokens[bot]},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )

    async def leave(self):
        """Take all out of their queues; each plays its games to the end and stops by itself."""
        for bot, token in self.tokens.items():
            with LadderClient(self.address, token) as client:
                await self._patiently(lambda c=client, b=bot: c.call("LeaveLadder", bot=b))
        for bot, process in self.processes.items():
            try:
                async with asyncio.timeout(PATIENCE):
                    _, said = await process.communicate()
                self.report.check(process.returncode == 0, f"{bot} failed: {said.decode()[-500:]}")
            except TimeoutError:
                self.report.faults.append(f"{bot} hangs")

    async def _patiently(self, call):
        """Call a server that may be on its way up again."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return await asyncio.to_thread(call)
            except Exception:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.2)

    def kill_the_rest(self):
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    # --- blows ----------------------------------------------------------------------------------

    def workers(self):
        return workers_of(self.arena.pid)

    async def kill_the_rater(self):
        """Kill the process that pairs and rates at this moment; whether there was one."""
        holder = self.redis.get(keys.lease(LEASE))
        if not holder or int(holder.split()[0]) not in self.workers():
            return False
        os.kill(int(holder.split()[0]), signal.SIGKILL)
        self.report.counts["raters killed"] += 1
        return True

    async def kill_another(self):
        """Kill a process that does not; whether there was one."""
        holder = self.redis.get(keys.lease(LEASE)) or "0"
        others = [pid for pid in self.workers() if pid != int(holder.split()[0])]
        if not others:
            return False
        os.kill(others[0], signal.SIGKILL)
        self.report.counts["others killed"] += 1
        return True

    # --- the whole ------------------------------------------------------------------------------

    async def fight(self, games, kills):
        """Play until so many games are rated, with kills spread over them."""
        await self.enter()
        marks = [games * (number + 1) // (kills + 1) for number in range(kills)]
        blows = [self.kill_the_rater, self.kill_another]
        until = time.monotonic() + PATIENCE + games * 3
        while (rated := await self._rated()) < games or marks:
            # A blow that finds nobody, because who died before is not back, falls later.
            if marks and rated >= marks[0] and await blows[len(marks) % 2]():
                marks.pop(0)
            if time.monotonic() > until:
                self.report.faults.append(f"only {rated} games were rated in time")
                break
            await asyncio.sleep(0.1)
        await self.leave()
        await self._settled()
        await self._examine()
        self.redis.close()
        return self.report

    async def _rated(self):
        return int(self.redis.hget(keys.standings_head(LADDER), "sequence") or 0)

    async def _settled(self):
        """Wait until nothing waits to be rated and nobody is seated."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            waiting = [self.redis.xlen(keys.outbox(n)) for n in range(keys.BUCKETS)]
            seated = self.redis.hlen(keys.seated(LADDER))
            if not any(waiting) and not seated:
                return
            await asyncio.sleep(0.2)
        self.report.faults.append(f"not settled: {sum(waiting)} results, {seated} seated games")

    async def _examine(self):
        report, report.counts["rated"] = self.report, await self._rated()
        await self._examine_log()
        found = await self._patiently(lambda: self.admin.call("RecomputeStandings", ladder=LADDER))
        report.check(not found.differences, f"recompute differs: {found.differences}")
        rows = await self._patiently(
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

    async def _examine_log(self):
        """Every game that ended with ranks stands in the log, and none twice."""
        rated = self.redis.hkeys(keys.standings_rated(LADDER))
        logged = self.redis.xlen(keys.standings_log(LADDER))
        self.report.check(logged == len(rated), f"{logged} entries for {len(rated)} games")
        audits = self.redis.hlen(keys.AUDIT_MARKS)
        self.report.check(audits == logged, f"{audits} audit entries for {logged} games")
        ended = await self._patiently(self._ended)
        self.report.check(
            sorted(ended) == sorted(rated),
            f"over but not rated, or the other way round: {set(ended) ^ set(rated)}",
        )

    def _ended(self):
        """The games of the ladder that are over with ranks."""
        found, place = [], ""
        with connection.channel(self.address) as channel:
            stub = GameServiceStub(channel)
            metadata = connection.credentials(next(iter(self.tokens.values())))
            while True:
                request = ListGamesRequest(
                    ladder=LADDER,
                    state=GameState.GAME_STATE_OVER,
                    page_size=500,
                    page_token=place,
                )
                page = stub.ListGames(request, metadata=metadata, timeout=120)
                found += [game.game_id for game in page.games if game.result.seats]
                place = page.next_page_token
                if not place:
                    return found
