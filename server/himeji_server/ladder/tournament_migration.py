"""Counts the games of tournaments of an older version, and adds these to the index, once.

Versions before 0.3.0 kept a list of all tournaments; no newer one writes it. It is what is left to
do: a tournament is removed from it when it is counted and in the index. So any number of processes
may do this at once, and whoever is killed goes on at the next start.
"""

import json
from collections import Counter

import structlog

from himeji_server.ladder.tournament_pairing import Counted, count_byes
from himeji_server.ladder.tournament_runner import count_result
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import TournamentRecord, TournamentStore

_log = structlog.get_logger(__name__)


async def index_older_tournaments(store: LadderStore) -> None:
    """Count and index every tournament that an older version left without."""
    tournaments = store.tournaments
    names = await tournaments.to_index()
    for name in names:
        record = await tournaments.get(name)
        if record is not None:
            head = await tournaments.head(name)
            counted = await _counted(tournaments, record, head.progress.round)
            await tournaments.save_counters(name, counted)
            await tournaments.add_to_index(record, head.progress.state)
        await tournaments.is_indexed(name)
    if names:
        _log.info("counted the tournaments of an older version", tournaments=len(names))


async def _counted(tournaments: TournamentStore, record: TournamentRecord, rounds: int) -> Counted:
    """What the games and byes of the first rounds add to the counters."""
    counted: Counted = Counter()
    for number, plan in enumerate(
        await tournaments.plans(record.name, range(1, rounds + 1)), start=1
    ):
        pairings, byes = json.loads(plan or "[[], []]")
        counted.update(count_byes(byes, record.seats))
        async for table, game in tournaments.games(record.name, number, len(pairings)):
            if game.result:
                counted.update(count_result(tuple(pairings[table]), game.result))
    return counted
