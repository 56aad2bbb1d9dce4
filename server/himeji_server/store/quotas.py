"""How many games an owner has: a set of ids that may hold some that do not count any more.

An id goes in before the game counts. It is taken out when the set is full and the game, looked at
then, does not count (any more, or yet: of games made at the same moment one may slip through). So
nothing is spent on this while games are played. Looking through a full set is dear, and who is
refused may ask again at once: after a look that made little room, there is none for a moment.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from himeji_server.store import keys
from himeji_server.store.client import Script, Store
from himeji_server.store.game_store import OVER, WAITING

_TAKE: Final = Script("add_if_room")
_SECONDS_BETWEEN_LOOKS: Final = 1.0
_LITTLE: Final = 0.1
"""A look that takes out less of a set than this was in vain: at most ten are looked at for one."""

_FIELDS: Final = ("state", "creator", "bot0", "bot1", "bot2", "bot3")


class QuotaStore:
    """The games of owners, as far as they are limited."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._in_vain: dict[str, float] = {}  # when a look at a set made little room
        self._looks: dict[str, asyncio.Future[None]] = {}

    async def take_waiting(self, owner: str, game_id: str, most: int) -> bool:
        """Count a game that the owner creates; False if too many of theirs wait."""
        return await self._take(keys.waiting_of(owner), owner, game_id, most, _waits)

    async def take_seated(self, owner: str, game_id: str, most: int) -> bool:
        """Count a game in which the owner's bots sit down; False if they are in too many."""
        return await self._take(keys.seated_of(owner), owner, game_id, most, _sits)

    async def _take(
        self,
        key: str,
        owner: str,
        game_id: str,
        most: int,
        counts: Callable[[str, Sequence[str]], bool],
    ) -> bool:
        if await self._store.run(_TAKE, [key], game_id, most):
            return True
        # Those who find it full at the same moment wait for the same look.
        look = self._looks.get(key)
        if look is None:
            ago = time.monotonic() - self._in_vain.get(key, -_SECONDS_BETWEEN_LOOKS)
            if ago < _SECONDS_BETWEEN_LOOKS:
                return False
            look = self._looks[key] = asyncio.ensure_future(self._clear(key, owner, counts))
        await asyncio.shield(look)
        return bool(await self._store.run(_TAKE, [key], game_id, most))

    async def _clear(
        self, key: str, owner: str, counts: Callable[[str, Sequence[str]], bool]
    ) -> None:
        """Take out what does not count."""
        try:
            share = await self._take_out(key, owner, counts)
            if share < _LITTLE:
                self._in_vain[key] = time.monotonic()
            else:
                self._in_vain.pop(key, None)
        finally:
            del self._looks[key]

    async def _take_out(
        self, key: str, owner: str, counts: Callable[[str, Sequence[str]], bool]
    ) -> float:
        """Take out what does not count; which share of the set it was."""
        members = [bytes(each).decode() for each in await self._store.call("SMEMBERS", key)]
        heads = await asyncio.gather(
            *(self._store.call("HMGET", keys.game(each), *_FIELDS) for each in members)
        )
        gone = [
            each
            for each, head in zip(members, heads, strict=True)
            if not counts(owner, [bytes(value or b"").decode() for value in head])
        ]
        if gone:
            await self._store.call("SREM", key, *gone)
        return len(gone) / max(1, len(members))


def _waits(owner: str, head: Sequence[str]) -> bool:
    return head[0] == WAITING and head[1] == owner


def _sits(owner: str, head: Sequence[str]) -> bool:
    return head[0] not in ("", OVER) and any(bot.startswith(f"{owner}/") for bot in head[2:])
