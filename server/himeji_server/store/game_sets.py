"""Sets of games with a limited size; each game is in it with the time at which it was added."""

from enum import StrEnum
from typing import Final

from himeji_server.store import replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script

_ADD: Final = Script("add_if_room")
_KEPT_SECONDS: Final = 30 * 24 * 3600
"""How long a set is kept after the last addition.

Whoever uses a set removes games that are over from it. This is for what a process that died has
left: without it, the sets of pairs of owners would grow in number for ever.
"""


class AddStatus(StrEnum):
    """What became of a game that was to be added to a set."""

    ADDED = "added"
    PRESENT = "present"
    FULL = "full"


async def add(store: Store, key: str, game_id: str, limit: int) -> AddStatus:
    """Add a game to a set, unless the set has as many as the limit."""
    return AddStatus(replies.text(await store.run(_ADD, [key], game_id, limit, _KEPT_SECONDS)))


async def members(store: Store, key: str) -> dict[str, int]:
    """The games of a set, the oldest first, and when each was added."""
    flat = replies.texts(await store.call("ZRANGE", key, 0, -1, "WITHSCORES"))
    return {game: int(float(time)) for game, time in zip(flat[::2], flat[1::2], strict=True)}


async def remove(store: Store, key: str, *game_ids: str) -> None:
    """Remove games from a set."""
    if game_ids:
        await store.call("ZREM", key, *game_ids)
