"""Quotas: how many games an owner has that wait, have seats of the owner's bots, or invite others.

A quota is a set of game ids. An id is added before its game counts and stays when the game does not
count any more, so a game costs nothing while it is played. Only when the set is full is it cleaned
up: every game in it is read, and those that do not count are removed, except for those that were
added a moment ago and may count soon.

Cleaning up a full set is expensive, and a client that is refused may retry at once. So concurrent
requests share one clean-up, and after one that freed little there is none for a moment.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, NamedTuple

from himeji_server.store import game_sets, keys, replies
from himeji_server.store.client import Store
from himeji_server.store.game_records import OVER, WAITING, Creator
from himeji_server.store.game_sets import AddStatus

_CLEAN_UP_PAUSE_SECONDS: Final = 1.0
_WORTHWHILE: Final = 0.1
"""The share of a set that a clean-up has to free: at most ten games are read for each freed one."""

_SOON_MS: Final = 30_000
"""How long a game that does not count yet stays in a set: the request that added it is at work."""

_DAY_SECONDS: Final = 24 * 3600
_FIELDS: Final = ("state", "creator", "bot0", "bot1", "bot2", "bot3")


class _Counts(Enum):
    YES = "yes"
    NOT_YET = "not yet"
    NEVER = "never again"


class Quota(NamedTuple):
    """A limited set of games of an owner, and which games count in it."""

    key: str
    owner: str
    counts: Callable[[str, Sequence[str]], _Counts]
    """Whether a game, given by its _FIELDS, counts for the owner."""


def waiting(creator: Creator) -> Quota:
    """The games that an owner, or a guest, created and that have not begun."""
    return Quota(keys.waiting_games(creator.counted_as), creator.owner, _waits)


def seated(owner: str) -> Quota:
    """The games in which bots of the owner have seats."""
    return Quota(keys.seated_games(owner), owner, _is_seated)


def inviting(creator: Creator, invited: str) -> Quota:
    """The unfinished games that an owner created with a seat for a bot of another owner."""
    key = keys.inviting_games(creator.counted_as, invited)
    return Quota(key, creator.owner, _is_unfinished)


class QuotaStore:
    """The limited sets of games of all owners."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._futile: dict[str, float] = {}  # when a clean-up of a set freed little
        self._clean_ups: dict[str, asyncio.Future[None]] = {}

    async def add(self, quota: Quota, game_id: str, limit: int) -> AddStatus:
        """Count a game, unless as many as the limit count already."""
        status = await game_sets.add(self._store, quota.key, game_id, limit)
        if status is not AddStatus.FULL or not await self._make_room(quota):
            return status
        return await game_sets.add(self._store, quota.key, game_id, limit)

    async def remove(self, quota: Quota, game_id: str) -> None:
        """Count a game no more."""
        await game_sets.remove(self._store, quota.key, game_id)

    async def is_created(self, game_id: str) -> bool:
        """Whether there is such a game."""
        return bool(await self._store.call("EXISTS", keys.game(game_id)))

    async def wait_to_create(self, owner: str, limit: int) -> int:
        """Milliseconds until an owner may create a game, 0 if it may now; see count_created."""
        key = keys.created_games(owner)
        count, left = await asyncio.gather(
            self._store.call("GET", key), self._store.call("PTTL", key)
        )
        return max(1, int(left)) if int(count or 0) >= limit else 0

    async def count_created(self, owner: str) -> None:
        """Count a game that an owner created; a day begins with the first one."""
        key = keys.created_games(owner)
        await asyncio.gather(
            self._store.call("INCR", key), self._store.call("EXPIRE", key, _DAY_SECONDS, "NX")
        )

    async def _make_room(self, quota: Quota) -> bool:
        """Clean up a full set, unless that freed little a moment ago; whether it was done."""
        key = quota.key
        clean_up = self._clean_ups.get(key)
        if clean_up is None:
            futile = self._futile.get(key)
            if futile is not None and time.monotonic() - futile < _CLEAN_UP_PAUSE_SECONDS:
                return False
            clean_up = asyncio.ensure_future(self._clean_up(quota))
            self._clean_ups[key] = clean_up
        await asyncio.shield(clean_up)
        return True

    async def _clean_up(self, quota: Quota) -> None:
        try:
            if await self._remove_uncounted(quota) < _WORTHWHILE:
                self._note_futile(quota.key)
            else:
                self._futile.pop(quota.key, None)
        finally:
            del self._clean_ups[quota.key]

    def _note_futile(self, key: str) -> None:
        """Remember a clean-up that freed little, and forget those whose pause is over."""
        now = time.monotonic()
        recent = now - _CLEAN_UP_PAUSE_SECONDS
        self._futile = {each: at for each, at in self._futile.items() if at > recent} | {key: now}

    async def _remove_uncounted(self, quota: Quota) -> float:
        """Remove the games that do not count; returns which share of the set they were."""
        members = await game_sets.members(self._store, quota.key)
        heads = await asyncio.gather(
            *(self._store.call("HMGET", keys.game(each), *_FIELDS) for each in members)
        )
        recent = replies.milliseconds(await self._store.call("TIME")) - _SOON_MS
        uncounted = []
        for (game_id, added), head in zip(members.items(), heads, strict=True):
            counts = quota.counts(quota.owner, replies.texts(value or b"" for value in head))
            if counts is _Counts.NEVER or (counts is _Counts.NOT_YET and added < recent):
                uncounted.append(game_id)
        await game_sets.remove(self._store, quota.key, *uncounted)
        return len(uncounted) / max(1, len(members))


def _waits(owner: str, head: Sequence[str]) -> _Counts:
    state, creator = head[:2]
    if not state:
        return _Counts.NOT_YET
    return _Counts.YES if state == WAITING and creator == owner else _Counts.NEVER


def _is_seated(owner: str, head: Sequence[str]) -> _Counts:
    state, bots = head[0], head[2:]
    if state == OVER:
        return _Counts.NEVER
    if any(bot.startswith(f"{owner}/") for bot in bots):
        return _Counts.YES
    return _Counts.NOT_YET if state in ("", WAITING) else _Counts.NEVER


def _is_unfinished(_owner: str, head: Sequence[str]) -> _Counts:
    if not head[0]:
        return _Counts.NOT_YET
    return _Counts.NEVER if head[0] == OVER else _Counts.YES
