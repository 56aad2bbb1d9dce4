"""The rater is killed at random, again and again, and every game counts exactly once."""

import asyncio
import random
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from himeji.v1.admin_service_pb2 import AuditKind
from himeji.v1.ladder_service_pb2 import RatedResult

from tests.server.ladder_process import LADDER, ladder_process

ROOT = Path(__file__).parents[2]
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
GAMES = 160
LEAST_KILLS = 10
BOTS = ("ann/a", "bob/b", "cyd/c", "dan/d", "eve/e")
pytestmark = pytest.mark.timeout(300)


@asynccontextmanager
async def raters(url):
    """Lets a rater live for so many seconds and kills it, whatever it is doing."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.server.rater_process", url),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )

    async def live(seconds):
        process.stdin.write(f"{seconds}\n".encode())
        assert await process.stdout.readline() == b"killed\n"

    try:
        yield live
    finally:
        process.stdin.close()
        await process.wait()


async def log_of(process):
    found = []
    while entries := await process.store.standings.entries_after(LADDER, len(found)):
        found += [RatedResult.FromString(entry.data) for entry in entries]
    return found


async def test_every_game_is_rated_exactly_once_however_often_the_rater_is_killed(start_redis):
    url, chance = start_redis(*DURABLE).url, random.Random(6)
    async with ladder_process(url) as process:
        played, lives = [], 0

        async def play(games):
            for _ in range(games):
                winner, loser = chance.sample(BOTS, 2)
                played.append(await process.result(winner, loser, settle=False))

        async with raters(url) as live:
            while len(played) < GAMES or await process.store.results.pending(1):
                # A share of the games in each life, so that each has work to be killed at; and
                # ever longer lives, so that the work is done at last on any machine.
                share = min(GAMES - len(played), GAMES // LEAST_KILLS)
                seconds = chance.uniform(0.02, 0.1) * (1 + lives / 20)
                await asyncio.gather(play(share), live(seconds))
                lives += 1
        log = await log_of(process)
        assert sorted(each.game_id for each in log) == sorted(played)
        assert [each.sequence for each in log] == list(range(1, GAMES + 1))
        standings = await process.standings()
        assert sum(row.games for row in standings.values()) == 2 * GAMES
        found = await process.recompute()
        assert found.differences == ()
        entries, _ = await process.administration.list_audit_entries(
            AuditKind.AUDIT_KIND_RATING_CHANGE, 500, ""
        )
        assert sorted(each.game_id for each in entries) == sorted(played)
