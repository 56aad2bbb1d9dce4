"""The outbox of results: games that are over and not settled, written by their last commits.

An entry stays until it is removed, so a result survives the process that settles it.
"""

import asyncio
from typing import Any, NamedTuple

from himeji_server.store import keys, replies
from himeji_server.store.client import Store


class PendingResult(NamedTuple):
    """A game that is over and not settled; ordered by the time of its end."""

    time: int
    number: int
    bucket: int
    game_id: str


class ResultOutbox:
    """The outboxes of all buckets."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pending(self, limit: int) -> list[PendingResult]:
        """What is not settled, the oldest first, at most this many of each bucket."""
        found = await asyncio.gather(
            *(
                self._store.call("XRANGE", keys.outbox(bucket), "-", "+", "COUNT", limit)
                for bucket in range(keys.BUCKETS)
            )
        )
        return sorted(
            _parse(bucket, raw) for bucket, entries in enumerate(found) for raw in entries
        )

    async def remove(self, result: PendingResult) -> None:
        """Remove a result that is settled."""
        await self._store.call("XDEL", keys.outbox(result.bucket), f"{result.time}-{result.number}")


def _parse(bucket: int, raw: Any) -> PendingResult:
    identity, fields = raw
    time, _, number = replies.text(identity).partition("-")
    return PendingResult(int(time), int(number), bucket, replies.text_fields(fields)["game"])
