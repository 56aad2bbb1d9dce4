"""The store: the only package that imports redis, and the only one that knows a key or a script."""

from himeji_server.store.client import (
    DURABLE,
    OLDEST_VERSION,
    Store,
    without_password,
)
from himeji_server.store.errors import StoreImpairedError, StoreRefusedError

__all__ = [
    "DURABLE",
    "OLDEST_VERSION",
    "Store",
    "StoreImpairedError",
    "StoreRefusedError",
    "without_password",
]
