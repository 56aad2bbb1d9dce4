"""The health service: SERVING while the store works and the arena is not stopping."""

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog
from grpc_health.v1 import health, health_pb2
from himeji.rules.errors import StoreUnavailable

from himeji_server.store import Store, StoreRefusedError

ALIVE: Final = "himeji.alive"
"""The service name under which a process is SERVING as long as it runs, even without the store."""

_POLL_SECONDS: Final = 0.5
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

_log = structlog.get_logger(__name__)


class Readiness:
    """The health of the whole server (under the empty name) and of each service."""

    def __init__(self, services: Iterable[str]) -> None:
        self.servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]
        self._names = ["", *services]

    async def set(self, *, ready: bool) -> None:
        """Set the state for Check and Watch; has no effect once the arena drains."""
        await self.servicer.set(ALIVE, _SERVING)
        for name in self._names:
            await self.servicer.set(name, _SERVING if ready else _NOT_SERVING)

    async def drain(self) -> None:
        """Be NOT_SERVING from now on, even if the store works."""
        await self.servicer.enter_graceful_shutdown()

    async def monitor(self, store: Store) -> None:
        """Poll the store and update the state; returns only by being cancelled."""
        was_working = True
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            works = await _works(store)
            if works != was_working:
                was_working = works
                _log.warning("store works again" if works else "store does not work")
                await self.set(ready=works)


async def _works(store: Store) -> bool:
    """Whether the store answers and accepts writes."""
    try:
        await store.check_writable()
    except (StoreUnavailable, StoreRefusedError):
        return False
    return True
