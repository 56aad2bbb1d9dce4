"""Deals of trusted ladders: the same chance for each order of the bots at a table."""

import json
from dataclasses import dataclass

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.replies import pairs

Order = tuple[str, ...]
"""Bots in the order of their seats."""


@dataclass(frozen=True)
class Deal:
    """A deal that is not over with."""

    id: str
    secret: bytes
    """What the chance key of each of its games follows from."""

    orders: tuple[Order, ...]
    """The games to come."""


class DealStore:
    """The deals of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self, ladder: str) -> list[Deal]:
        """The deals of which games are to come."""
        found = await self._store.call("HGETALL", keys.deals(ladder))
        return [_deal(name, text) for name, text in sorted(pairs(found).items())]

    async def keep(self, ladder: str, deal: Deal) -> None:
        """Note what is to come of a deal; one of which nothing is to come is forgotten."""
        if not deal.orders:
            await self._store.call("HDEL", keys.deals(ladder), deal.id)
            return
        text = json.dumps({"secret": deal.secret.hex(), "orders": deal.orders})
        await self._store.call("HSET", keys.deals(ladder), deal.id, text)


def _deal(name: str, text: bytes) -> Deal:
    found = json.loads(text)
    orders = tuple(tuple(order) for order in found["orders"])
    return Deal(name, bytes.fromhex(found["secret"]), orders)
