"""Fills a ladder with synthetic results, a hundred times as fast as games could be played."""

import asyncio
import random

from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import RatedResult
from himeji_server.ladder.snapshots import superseded
from himeji_server.ladder.standings import Standings, StandingsRow
from himeji_server.limits import Limits
from himeji_server.store import keys
from himeji_server.store.standings import StandingsHead, StandingsStore
from himeji_server.store.standings_replacement import SnapshotStore

FINISHED = EndReason.END_REASON_FINISHED
START_MS = 1_700_000_000_000


async def fill(
    store, ladder, count, *, bots=100, interval=Limits.results_between_snapshots, told=lambda _: 0
):
    """Append results to the running season as the rater would; there are no games to them.

    `told` is called with the number of results after each interval.
    """
    log, chooser = StandingsStore(store), random.Random(count)
    head = await log.head(ladder)
    rows = await log.rows(ladder, head.season)
    start = await log.starting_means(ladder, head.season)
    table = Standings({name: StandingsRow.from_json(row) for name, row in rows.items()}, start)
    last = head.sequence + count
    while head.sequence < last:
        until = min(last, (head.sequence // interval + 1) * interval)
        results = [
            _result(ladder, head.season, sequence, chooser, bots)
            for sequence in range(head.sequence + 1, until + 1)
        ]
        for result in results:
            table.apply(result)
        head = StandingsHead(until, head.season, head.generation)
        await _append(store, ladder, head, results, table)
        if until % interval == 0:
            snapshots = SnapshotStore(store)
            found = await snapshots.sequences(ladder, head.season)
            assert await snapshots.take(ladder, head, superseded(found, until, interval))
        told(until)


def _result(ladder, season, sequence, chooser, bots):
    """A game of two bots; the lower number is the better bot."""
    one, other = chooser.sample(range(bots), 2)
    wins = chooser.random() < 0.5 + (other - one) / (2.5 * bots)
    game_id = f"synthetic-{sequence}"
    result = RatedResult(sequence=sequence, ladder=ladder, season=season, game_id=game_id)
    result.result.end_reason = FINISHED
    for number, rank in ((one, 2 - wins), (other, 1 + wins)):
        result.seats.add(bot=f"synthetic/bot-{number:04}", bot_version=1)
        result.result.seats.add(rank=rank, score=60 - 10 * rank, end_reason=FINISHED)
    result.end_time.FromMilliseconds(START_MS + sequence)
    return result


async def _append(store, ladder, head, results, table):
    calls = []
    for each in results:
        entry = each.SerializeToString()
        calls.append(
            store.call("XADD", keys.standings_log(ladder), f"{each.sequence}-0", "r", entry)
        )
        calls.append(store.call("HSET", keys.standings_rated(ladder), each.game_id, each.sequence))
        calls += [
            store.call("RPUSH", keys.standings_history(ladder, seat.bot), each.sequence)
            for seat in each.seats
        ]
    rows = [text for name, row in table.rows.items() for text in (name, row.to_json())]
    calls.append(store.call("HSET", keys.standings_rows(ladder, head.season), *rows))
    await asyncio.gather(*calls)
    await store.call("HSET", keys.standings_head(ladder), "sequence", head.sequence)
