"""Who has the names of guests of the page: for each name, the token that was issued last."""

from typing import Final

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script

_REPLACE: Final = Script("replace_guest")


class GuestStore:
    """The names of guests that were ever given, and to whose token."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def tokens(self) -> dict[str, str]:
        """The ids of the tokens by the short names of the guests."""
        return replies.text_fields(await self._store.call("HGETALL", keys.GUESTS))

    async def replace(self, name: str, before: str, token_id: str, max_guests: int) -> bool:
        """Give a name to a token; False if it is not any more that of the token before ("": none).

        A name that nobody had is given only while there are fewer names than `max_guests`.
        """
        return bool(
            await self._store.run(_REPLACE, [keys.GUESTS], name, before, token_id, max_guests)
        )
