"""Leases: what only one process of all arenas on a store does at a time, and which one does it."""

import contextlib
import os
import secrets
from typing import Final

from himeji.rules.errors import StoreUnavailable

from himeji_server.store import keys
from himeji_server.store.client import Script, Store, StoreRefusedError

_LEASE: Final = Script("acquire_lease")
_LEAVE: Final = Script("delete_if_equal")


def new_holder() -> str:
    """A name for one that holds leases: the id of its process, and what makes it unique."""
    return f"{os.getpid()} {secrets.token_hex(8)}"


class Leases:
    """The leases of a store; each ends by itself when its holder does not renew it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def take(self, name: str, holder: str, milliseconds: int) -> bool:
        """Take a lease or renew it; whether this holder has it for the next while."""
        return bool(await self._store.run(_LEASE, [keys.lease(name)], holder, milliseconds))

    async def give_back(self, name: str, holder: str) -> None:
        """End a lease, so that others need not wait for it; one that others hold stays theirs.

        A store that does not answer is no trouble: the lease ends by itself.
        """
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._store.run(_LEAVE, [keys.lease(name)], holder)
