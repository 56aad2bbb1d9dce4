"""The program of the arena under fuzz: development mode, without limits on how often one calls.

It takes a page token for any query, so that the fuzzer can make tokens with cursors of its own, as
a client can that computes the digest of a query.
"""

import asyncio
import json
import sys
from dataclasses import fields, replace
from pathlib import Path

from himeji_server import log, pagination
from himeji_server.games.use_cases import GameUseCases
from himeji_server.launch.serve import open_arena
from himeji_server.limits import AccountLimits, Limits
from himeji_server.settings import Settings

DEFECTS = "--with-defects"
ID_LENGTH = 20
UNLIMITED = 1_000_000
DIGEST = "of any query"
RATES = [each.name for each in fields(Limits) if each.name.endswith(("_per_second", "_at_once"))]


def plant_defects():
    """An exception that nobody expects, and memory that is never given back."""
    view, kept = GameUseCases.view, []

    async def fail_or_keep(self, game_id):
        kept.append(b"x" * 2_000_000)
        if len(game_id) != ID_LENGTH:
            raise KeyError(game_id)
        return await view(self, game_id)

    GameUseCases.view = fail_or_keep


async def serve(folder):
    pagination._digest = lambda _query: DIGEST
    limits = replace(Limits(), **dict.fromkeys(RATES, UNLIMITED))
    accounts = AccountLimits(bots_per_owner=UNLIMITED, bot_names_per_owner=UNLIMITED)
    settings = Settings(port=0, data=Path(folder), limits=limits, accounts=accounts)
    async with open_arena(settings) as arena:
        facts = {
            "grpc": arena.port,
            "redis": arena.redis.split()[0],
            "token": (settings.data / "token").read_text().strip(),
        }
        sys.stdout.write(f"{json.dumps(facts)}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)  # until the harness closes it


if __name__ == "__main__":
    log.configure("json")
    if sys.argv[2:] == [DEFECTS]:
        plant_defects()
    asyncio.run(serve(sys.argv[1]))
