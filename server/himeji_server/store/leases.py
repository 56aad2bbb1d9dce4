"""Leases: which process of all arenas on a store does a job that one is enough for."""

import contextlib
import os
import secrets
from typing import Final

from himeji.rules.errors import StoreUnavailable

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.errors import StoreRefusedError
from himeji_server.store.pipelining import Script

_ACQUIRE: Final = Script("acquire_lease")
_DELETE_IF_EQUAL: Final = Script("delete_if_equal")


def new_holder() -> str:
    """Make a unique name for a holder of leases; it begins with the id of its process."""
    return f"{os.getpid()} {secrets.token_hex(8)}"


class Leases:
    """The leases of a store; each expires unless its holder renews it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def acquire(self, name: str, holder: str, milliseconds: int) -> bool:
        """Acquire a lease or renew it; whether this holder has it from now on."""
        return bool(await self._store.run(_ACQUIRE, [keys.lease(name)], holder, milliseconds))

    async def release(self, name: str, holder: str) -> None:
        """Release a lease, so that others need not wait until it expires.

        A lease of another holder stays. Errors of the store do not matter: the lease expires.
        """
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._store.run(_DELETE_IF_EQUAL, [keys.lease(name)], holder)
