"""Flags of fair-play detection: each is raised once and never removed."""

import asyncio
import json
from dataclasses import asdict, dataclass
from typing import Final

from himeji_server.store import keys, replies
from himeji_server.store.client import Store

_QUICK_RESIGNATIONS_SECONDS: Final = 2 * 24 * 3600


@dataclass(frozen=True)
class FlagRecord:
    """A suspicion about bots, with the games that raised it."""

    id: str
    kind: int
    ladder: str
    bots: list[str]
    game_ids: list[str]
    message: str
    time: int


class FlagStore:
    """The flags of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def raise_once(self, flag: FlagRecord) -> None:
        """Store a flag, unless there is one with its id."""
        await self._store.call("HSETNX", keys.FLAGS, flag.id, json.dumps(asdict(flag)))
        await self._store.call("ZADD", keys.FLAGS_BY_TIME, "NX", flag.time, flag.id)

    async def newest(self) -> list[FlagRecord]:
        """All flags, the newest first."""
        names = await self._store.call("ZREVRANGE", keys.FLAGS_BY_TIME, 0, -1)
        if not names:
            return []
        texts = await self._store.call("HMGET", keys.FLAGS, *names)
        return [FlagRecord(**json.loads(text)) for text in texts if text]

    async def add_quick_resignation(
        self, ladder: str, bot: str, day: str, game_id: str
    ) -> list[str]:
        """Note a game that a bot resigned very soon; returns all of that day."""
        key = keys.quick_resignations(ladder, bot, day)
        _, _, found = await asyncio.gather(
            self._store.call("SADD", key, game_id),
            self._store.call("EXPIRE", key, _QUICK_RESIGNATIONS_SECONDS),
            self._store.call("SMEMBERS", key),
        )
        return sorted(replies.texts(found))
