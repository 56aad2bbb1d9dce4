"""The list of all games, merged from the indexes of their buckets."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from himeji_server.store import keys, replies
from himeji_server.store.client import Store

_FIRST_PAGE: Final = 20
_TIME_DIGITS: Final = 15


async def list_newest(store: Store, before: str) -> AsyncIterator[tuple[str, str]]:
    """List ids of games, the newest first, each with the place after which the list goes on.

    A place is the time of creation and the id, written so that places sort as the games do.
    """
    place, newest, page = before, before.partition(" ")[0] or "+inf", _FIRST_PAGE
    while True:
        rows = await asyncio.gather(
            *(_page(store, bucket, newest, page) for bucket in range(keys.BUCKETS))
        )
        # A full page may have been cut off among games of its oldest time, so of those and of
        # older ones another bucket's page may show only a part.
        cut_off = max((row[-1][:_TIME_DIGITS] for row in rows if len(row) == page), default="")
        following = sorted(
            (
                each
                for row in rows
                for each in row
                if each[:_TIME_DIGITS] > cut_off and (not place or each < place)
            ),
            reverse=True,
        )
        for place in following:
            yield place[_TIME_DIGITS + 1 :], place
        if not cut_off:
            return
        if following:
            newest = str(int(place[:_TIME_DIGITS]))
        else:
            page *= 2


async def _page(store: Store, bucket: int, newest: str, page: int) -> list[str]:
    """The places of the games of a bucket that are not newer than a time, the newest first."""
    row: list[Any] = await store.call(
        *("ZREVRANGEBYSCORE", keys.index(bucket), newest, "-inf", "WITHSCORES", "LIMIT", 0, page)
    )
    return [
        f"{int(float(time)):0{_TIME_DIGITS}} {replies.text(game_id)}"
        for game_id, time in zip(row[::2], row[1::2], strict=True)
    ]
