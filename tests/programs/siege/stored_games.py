"""Fills the store of a running arena with finished games and with rated results.

It goes through the server's own code in this process, so that whatever the store keeps about a
game (indexes, quotas, logs) is there as if it had been played.
"""

import asyncio
import itertools
import time
import uuid
from dataclasses import replace

from himeji.v1.game_pb2 import EndReason, GameResult, SeatPlan
from himeji.v1.ladder_service_pb2 import RatedResult
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.games.assembly import GameAssembly
from himeji_server.games.commands import NewGame
from himeji_server.ladder.standings import Standings
from himeji_server.limits import AccountLimits, Limits
from himeji_server.names import HOUSE
from himeji_server.store import Store
from himeji_server.store.standings import StandingsHead, StandingsStore

AT_ONCE = 64
LADDER = "base-2p"
TOURNAMENT = "siege"
BOTS = 50


async def add_finished_games(redis_url, count):
    """Create games of the house, whose number is not limited, and cancel them.

    Half of them are of one ruleset, the others are of a tournament with another ruleset: whoever
    asks for both finds two long lists that have no game in common.
    """
    store = await Store.connect(redis_url)
    try:
        accounts = Accounts(store, AccountLimits(), dev=False)
        use_cases = GameAssembly(store, accounts, Limits()).use_cases
        caller = Caller(HOUSE, "", frozenset())
        seats = (SeatPlan(), SeatPlan())
        casual = NewGame("base", {}, seats, None, 3)
        kinds = (casual, replace(casual, ruleset="duel", tournament=TOURNAMENT))
        numbers = iter(range(count))

        async def work():
            for number in numbers:
                view = await use_cases.create(caller, kinds[number % 2], "")
                await use_cases.cancel(view.game_id)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    finally:
        await store.close()


async def add_rated_results(redis_url, count):
    """Append results to the log of a ladder, with the standings that follow from them."""
    store = await Store.connect(redis_url)
    try:
        log, standings, head = StandingsStore(store), Standings({}, {}), await _head(store)
        for first in range(0, count, AT_ONCE):
            appends = []
            for number in range(first, min(first + AT_ONCE, count)):
                rated = _result(number, head)
                rows = {row.name: row.to_json() for row in standings.apply(rated)}
                # In flight together, but in order: each names the head that the one before leaves.
                appends.append(
                    log.rate(
                        LADDER,
                        head,
                        rated.game_id,
                        entry=rated.SerializeToString(),
                        rows=rows,
                        bots=[seat.bot for seat in rated.seats],
                    )
                )
                head = head._replace(sequence=head.sequence + 1)
            await asyncio.gather(*appends)
        if await _head(store) != head:
            raise RuntimeError("the results were not appended one after the other")
    finally:
        await store.close()


async def _head(store) -> StandingsHead:
    log = StandingsStore(store)
    await log.ensure_first_season(LADDER)
    return await log.head(LADDER)


def _result(number, head):
    rated = RatedResult(
        ladder=LADDER, game_id=uuid.uuid4().hex[:20], season=head.season, sequence=head.sequence + 1
    )
    rated.end_time.FromMilliseconds(int(time.time() * 1000))
    pair = list(itertools.islice(itertools.cycle(range(BOTS)), number % BOTS, number % BOTS + 2))
    rated.result.CopyFrom(GameResult(end_reason=EndReason.END_REASON_FINISHED))
    for rank, bot in enumerate(pair, start=1):
        rated.seats.add(bot=f"player-{bot}/bot", bot_version=1)
        rated.result.seats.add(rank=rank, score=50 - rank)
    return rated
