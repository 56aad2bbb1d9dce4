"""The ladder on a real Redis without a server, for tests of results, standings and queues."""

import asyncio
import json
import random
from contextlib import asynccontextmanager
from functools import partial

from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_PLAY, SCOPE_READ
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy
from himeji.wire.clock import Clock
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.games.assembly import GameAssembly
from himeji_server.games.commands import NewGame
from himeji_server.games.use_cases import Player
from himeji_server.ladder import recomputation_jobs
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.ladder.ladders import Ladder, Ladders
from himeji_server.names import owner_of
from himeji_server.store import Store, keys, replies
from himeji_server.store.game_records import SeatRequest
from himeji_server.store.ladder import LadderStore
from himeji_server.store.presence import new_stream

LADDER = "base-2p"
READY_MS = 3_600_000
"""Too long to expire on a slow machine; tests of the deadline use let_time_pass."""

LADDERS = Ladders(
    {
        "base-2p": Ladder("base-2p", "base", 2, ready=READY_MS),
        "base-3p": Ladder("base-3p", "base", 3, ready=READY_MS),
        "solo-hard": Ladder("solo-hard", "solo", 1, {"difficulty": "hard"}, ready=READY_MS),
        "league": Ladder("league", "base", 3, ready=READY_MS, trusted=True),
        "closed": Ladder("closed", "base", 2, accepting=False),
    }
)
ADMIN = Caller("admin", "t", frozenset({SCOPE_ADMIN, SCOPE_READ, SCOPE_PLAY}))


async def let_time_pass(store, game_id, milliseconds):
    """Move the creation of a seating back in time, and make its deadline due."""
    await store.call("HINCRBY", keys.game(game_id), "created", -milliseconds)
    await store.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)


class LadderProcess:
    """The ladder of one process, run step by step by tests."""

    def __init__(self, store, limits=None, run_job=None):
        self.redis = store
        self.store = LadderStore(store)
        self.accounts = accounts = Accounts(store)
        self.use_cases = GameAssembly(store, accounts, limits).use_cases
        # Step by step with the test, where the arena has worker processes.
        recompute = run_job or partial(recomputation_jobs.run_job, store)
        self.parts = LadderAssembly(LADDERS, store, self.use_cases, accounts, recompute)
        self.queue_commands, self.queries = self.parts.queue_commands, self.parts.queries
        self.administration, self.loop = self.parts.administration, self.parts.loop
        self.tournaments, self.runner = self.parts.tournaments, self.loop._runner
        self._streams = {}
        self.rater, self.matchmaker = self.loop._rater, self.loop._matchmaker

    async def result(self, winner, *losers, ladder=LADDER, versions=(), settle=True):
        """A game that the losers resign, first to last; its id."""
        bots = [winner, *losers]
        versions = versions or [1] * len(bots)
        seats = list(zip(bots, versions, strict=True))
        random.Random(str(seats)).shuffle(seats)
        plan = SeatPolicy.SEAT_POLICY_BOT
        new = NewGame(
            ruleset="base",
            options={},
            plans=tuple(SeatPlan(policy=plan, name=bot) for bot, _ in seats),
            clock=Clock(60_000, 0),
            strike_limit=3,
            ladder=ladder,
            rated=True,
            meant_for=tuple(seats),
        )
        commands = self.use_cases._commands
        game_id = (await commands.create(new)).game_id
        for number, (bot, version) in enumerate(seats):
            await commands.join(game_id, [number], SeatRequest(bot, version, b"", ""))
        for loser in losers:
            await self.resign(game_id, loser)
        if settle:
            await self.rater.settle_all()
        return game_id

    async def resign(self, game_id, bot):
        await self.use_cases._commands.resign(game_id, bot, None)

    async def connect(self, bot, version=1):
        """Open a stream of the bot's, in place of any other."""
        await self.create_owner(bot)
        self._streams[bot] = new_stream(version)
        await self.use_cases._presence.connect(bot, self._streams[bot])

    async def create_owner(self, bot):
        """Create the owner of a bot, if it is missing."""
        await self.accounts._make_owner(owner_of(bot), "")

    async def disconnect(self, bot):
        await self.use_cases.close_stream(bot, self._streams[bot])

    async def enter(self, *bots, ladder=LADDER, most=1):
        """Connect bots and let them enter a queue, one after the other."""
        for bot in bots:
            await self.connect(bot)
            await self.queue_commands.enter(Player(bot, 1), ladder, most)
            await asyncio.sleep(0.002)  # who enter in the same millisecond are in no order

    async def run_once(self):
        await self.loop.run_once()

    async def seated(self, ladder=LADDER):
        """The games that are seated or being played, with their bots."""
        found = replies.fields(await self.redis.call("HGETALL", keys.seated(ladder)))
        return {
            game_id: [seat["bot"] for seat in json.loads(text)["bots"]]
            for game_id, text in found.items()
        }

    async def ready(self, bot, game_id):
        return await self.queue_commands.ready(Player(bot, 1), game_id, None, b"")

    async def recompute(self, *, ladder=LADDER, season=0, request_id="", repair=False):
        """Recompute the standings; what was found last."""
        steps = self.administration.recompute(ADMIN, ladder, season, request_id, repair=repair)
        *_, found = [step async for step in steps]
        return found

    async def standings(self, ladder=LADDER):
        """The standings by bot."""
        season = await self.queries.season_number(ladder, 0)
        found = await self.queries.standings(ladder, season, old_versions=True)
        return {f"{each.bot}@{each.bot_version}": each for each in found}


@asynccontextmanager
async def ladder_process(url, limits=None, run_job=None):
    store = await Store.connect(url)
    try:
        yield LadderProcess(store, limits, run_job)
    finally:
        await asyncio.sleep(0)
        await store.close()
