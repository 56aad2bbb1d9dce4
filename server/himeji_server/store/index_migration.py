"""Adds the games of a data folder of an older version to the index, once.

Versions before 0.3.0 kept a list of the games of each bucket; no newer one writes it. It is what is
left to do: a game is removed from it when its entries are in the index. So any number of processes
may do this at once, and whoever is killed goes on at the next start.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

import structlog

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.game_format import SUMMARY_FIELDS, parse_summary
from himeji_server.store.game_index import all_entries
from himeji_server.store.pipelining import Script

INDEX_GAME: Final = Script("index", "index_game")
_GAMES_AT_ONCE: Final = 200
_SECONDS_BETWEEN_REPORTS: Final = 2.0

_log = structlog.get_logger(__name__)


async def index_older_games(store: Store) -> None:
    """Add every game to the index that an older version left without."""
    lists = [keys.games_to_index(bucket) for bucket in range(keys.BUCKETS)]
    total = sum(map(int, await asyncio.gather(*(store.call("ZCARD", key) for key in lists))))
    if not total:
        return
    _log.info("indexing the games of an older version, before the arena opens", games=total)
    done, reported = 0, time.monotonic()
    for key in lists:
        while game_ids := replies.texts(await store.call("ZRANGE", key, 0, _GAMES_AT_ONCE - 1)):
            await asyncio.gather(*(_index_game(store, game_id) for game_id in game_ids))
            await store.call("ZREM", key, *game_ids)
            done += len(game_ids)
            if time.monotonic() - reported > _SECONDS_BETWEEN_REPORTS:
                _log.info("indexing games", done=done, games=total)
                reported = time.monotonic()
    _log.info("indexed the games of an older version", games=done)


async def _index_game(store: Store, game_id: str) -> None:
    """Add the entries of a game; again if it changes meanwhile, by another process."""
    touched = [keys.game(game_id), keys.game_index(keys.bucket_of(game_id))]
    while True:
        game = parse_summary(await store.call("HMGET", touched[0], *SUMMARY_FIELDS))
        if game is None:
            return
        bots: Sequence[str] = [seat.bot for seat in game.seats if seat.bot]
        entries = all_entries(game.header, game.state, bots)
        arguments = (game_id, game.state, " ".join(bots), entries)
        if await store.run(INDEX_GAME, touched, *arguments):
            return
