"""Deals of trusted ladders: the same chance for each order of the seats."""

import json
from dataclasses import dataclass

from himeji_server.store import keys, replies
from himeji_server.store.client import Store

Order = tuple[str, ...]
"""Bots in the order of their seats."""


@dataclass(frozen=True)
class Deal:
    """A deal of which games are still to be played."""

    id: str
    secret: bytes
    """The chance key of each of its games is derived from it."""

    orders: tuple[Order, ...]
    """The games to be played."""


class DealStore:
    """The unfinished deals of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def unfinished(self, ladder: str) -> list[Deal]:
        """The deals of which games are still to be played."""
        found = replies.fields(await self._store.call("HGETALL", keys.deals(ladder)))
        return [_parse(name, text) for name, text in sorted(found.items())]

    async def save(self, ladder: str, deal: Deal) -> None:
        """Save a deal, or delete it if no game of it is left."""
        if not deal.orders:
            await self._store.call("HDEL", keys.deals(ladder), deal.id)
            return
        text = json.dumps({"secret": deal.secret.hex(), "orders": deal.orders})
        await self._store.call("HSET", keys.deals(ladder), deal.id, text)


def _parse(name: str, text: bytes) -> Deal:
    found = json.loads(text)
    orders = tuple(tuple(order) for order in found["orders"])
    return Deal(name, bytes.fromhex(found["secret"]), orders)
