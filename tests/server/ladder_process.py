"""The ladder's parts on a real Redis without a server: for tests of results, tables and queues."""

import asyncio
import random
from contextlib import asynccontextmanager

from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_PLAY, SCOPE_READ
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.games.assembly import GameAssembly
from himeji_server.games.commands import NewGame
from himeji_server.games.use_cases import Player
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.ladder.ladders import Ladder, Ladders
from himeji_server.store import Store, keys
from himeji_server.store.game_records import SeatRequest
from himeji_server.store.ladder import LadderStore

LADDER = "base-2p"
READY_MS = 3_600_000
"""So long that no machine is too slow to answer; tests of what comes after it let time pass."""

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
    """Have a seating been made so much earlier, and have it looked at."""
    await store.call("HINCRBY", keys.game(game_id), "created", -milliseconds)
    await store.call("ZADD", keys.seating_deadlines(LADDER), 1, game_id)


class LadderProcess:
    """One process's ladder, to be worked by hand."""

    def __init__(self, store):
        self.redis = store
        self.store = LadderStore(store)
        self.accounts = accounts = Accounts(store)
        self.use_cases = GameAssembly(store, accounts).use_cases
        self.parts = LadderAssembly(LADDERS, store, self.use_cases, accounts)
        self.queue_commands, self.queries = self.parts.queue_commands, self.parts.queries
        self.administration, self.loop = self.parts.administration, self.parts.loop
        self.events, self.runner = self.parts.events, self.loop._runner
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
            clock=(60_000, 0),
            strike_limit=3,
            ladder=ladder,
            rated=True,
            meant_for=tuple(seats),
        )
        host = self.use_cases.commands
        game_id = (await host.create(new)).game_id
        for number, (bot, version) in enumerate(seats):
            await host.join(game_id, [number], SeatRequest(bot, version, b"", ""))
        for loser in losers:
            await host.resign(game_id, loser, None)
        if settle:
            await self.rater.settle_all()
        return game_id

    async def here(self, *bots, ladder=LADDER, most=1):
        """Bots that have a stream and are in the queue, one after the other."""
        for bot in bots:
            await self.use_cases.presence.connect(bot, f"stream of {bot}")
            await self.queue_commands.enter(Player(bot, 1), ladder, most)
            await asyncio.sleep(0.002)  # who enter in the same millisecond are in no order

    async def round(self):
        await self.loop.round()

    async def seated(self, ladder=LADDER):
        """The games that are seated or being played, with their bots."""
        return await self.store.queues.games(ladder)

    async def ready(self, bot, game_id):
        return await self.queue_commands.ready(Player(bot, 1), game_id, None, b"")

    async def table(self, ladder=LADDER):
        """The standings by bot."""
        season = await self.queries.season(ladder, 0)
        found = await self.queries.standings(ladder, season, old_versions=True)
        return {f"{each.bot}@{each.bot_version}": each for each in found}


@asynccontextmanager
async def ladder_process(url):
    store = await Store.connect(url)
    try:
        yield LadderProcess(store)
    finally:
        await asyncio.sleep(0)
        await store.close()
