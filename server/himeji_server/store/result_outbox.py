"""Results that wait to be settled: games that are over, as their commits left them."""

import asyncio
from typing import Any, NamedTuple

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.replies import pairs


class PendingResult(NamedTuple):
    """A game that is over and not settled; ordered by the time of its end."""

    time: int
    number: int
    bucket: int
    game_id: str


class ResultOutbox:
    """The outboxes of all buckets. An entry stays until it is done with: nothing is lost."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def waiting(self, most: int) -> list[PendingResult]:
        """What waits, the oldest first, at most so many of each bucket."""
        found = await asyncio.gather(
            *(
                self._store.call("XRANGE", keys.outbox(bucket), "-", "+", "COUNT", most)
                for bucket in range(keys.BUCKETS)
            )
        )
        return sorted(
            _waiting(bucket, raw) for bucket, entries in enumerate(found) for raw in entries
        )

    async def done(self, result: PendingResult) -> None:
        """A result is settled."""
        await self._store.call("XDEL", keys.outbox(result.bucket), f"{result.time}-{result.number}")


def _waiting(bucket: int, raw: Any) -> PendingResult:
    identity, fields = raw
    time, _, number = bytes(identity).decode().partition("-")
    return PendingResult(int(time), int(number), bucket, pairs(fields)["game"].decode())
