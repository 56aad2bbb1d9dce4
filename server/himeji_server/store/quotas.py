"""Quotas: how many games an owner has that wait, or in which the owner's bots have seats.

A quota is a set of game ids. An id is added before its game counts and stays when the game does not
count any more, so a game costs nothing while it is played. Only when the set is full is it cleaned
up: every game in it is read, and those that do not count are removed. (A game that does not count
yet is removed too, so of games created at the same moment one too many may pass.)

Cleaning up a full set is expensive, and a client that is refused may retry at once. So concurrent
requests share one clean-up, and after one that freed little there is none for a moment.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.pipelining import Script

_ADD: Final = Script("add_if_room")
_CLEAN_UP_PAUSE_SECONDS: Final = 1.0
_WORTHWHILE: Final = 0.1
"""The share of a set that a clean-up has to free: at most ten games are read for each freed one."""

_FIELDS: Final = ("state", "creator", "bot0", "bot1", "bot2", "bot3")

Counts = Callable[[str, Sequence[str]], bool]
"""Whether a game, given by its _FIELDS, counts for an owner."""


class QuotaStore:
    """The limited sets of games of all owners."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._futile: dict[str, float] = {}  # when a clean-up of a set freed little
        self._clean_ups: dict[str, asyncio.Future[None]] = {}

    async def add_waiting(self, owner: str, game_id: str, limit: int) -> bool:
        """Count a game that the owner creates; False if too many of theirs wait."""
        return await self._add(keys.waiting_games(owner), owner, game_id, limit, _waits)

    async def add_seated(self, owner: str, game_id: str, limit: int) -> bool:
        """Count a game in which the owner's bots take seats; False if they are in too many."""
        return await self._add(keys.seated_games(owner), owner, game_id, limit, _is_seated)

    async def _add(self, key: str, owner: str, game_id: str, limit: int, counts: Counts) -> bool:
        if await self._store.run(_ADD, [key], game_id, limit):
            return True
        clean_up = self._clean_ups.get(key)
        if clean_up is None:
            futile = self._futile.get(key)
            if futile is not None and time.monotonic() - futile < _CLEAN_UP_PAUSE_SECONDS:
                return False
            clean_up = asyncio.ensure_future(self._clean_up(key, owner, counts))
            self._clean_ups[key] = clean_up
        await asyncio.shield(clean_up)
        return bool(await self._store.run(_ADD, [key], game_id, limit))

    async def _clean_up(self, key: str, owner: str, counts: Counts) -> None:
        try:
            if await self._remove_uncounted(key, owner, counts) < _WORTHWHILE:
                self._futile[key] = time.monotonic()
            else:
                self._futile.pop(key, None)
        finally:
            del self._clean_ups[key]

    async def _remove_uncounted(self, key: str, owner: str, counts: Counts) -> float:
        """Remove the games that do not count; returns which share of the set they were."""
        members = replies.texts(await self._store.call("SMEMBERS", key))
        heads = await asyncio.gather(
            *(self._store.call("HMGET", keys.game(each), *_FIELDS) for each in members)
        )
        uncounted = [
            each
            for each, head in zip(members, heads, strict=True)
            if not counts(owner, replies.texts(value or b"" for value in head))
        ]
        if uncounted:
            await self._store.call("SREM", key, *uncounted)
        return len(uncounted) / max(1, len(members))


def _waits(owner: str, head: Sequence[str]) -> bool:
    return head[0] == WAITING and head[1] == owner


def _is_seated(owner: str, head: Sequence[str]) -> bool:
    return head[0] not in ("", OVER) and any(bot.startswith(f"{owner}/") for bot in head[2:])
