"""What the health service says: serving while the store works and the arena is not stopping."""

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog
from grpc_health.v1 import health, health_pb2
from himeji.rules.errors import StoreUnavailable

from himeji_server.store import Store, StoreRefusedError

ALIVE: Final = "himeji.alive"
"""The name under which the process says that it answers, whatever the store does."""

_SECONDS_BETWEEN_LOOKS: Final = 0.5
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

_log = structlog.get_logger(__name__)


class Readiness:
    """The state of the whole server (under the empty name) and of each service."""

    def __init__(self, services: Iterable[str]) -> None:
        self.servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]
        self._names = ["", *services]

    async def set(self, *, ready: bool) -> None:
        """Tell everyone who asks or watches; without effect once the arena drains."""
        await self.servicer.set(ALIVE, _SERVING)
        for name in self._names:
            await self.servicer.set(name, _SERVING if ready else _NOT_SERVING)

    async def drain(self) -> None:
        """Say "not serving" from now on, whatever the store does."""
        await self.servicer.enter_graceful_shutdown()

    async def follow(self, store: Store) -> None:
        """Keep the state in step with the store; returns only by being cancelled."""
        worked = True
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            works = await _works(store)
            if works != worked:
                worked = works
                _log.warning("store works again" if works else "store does not work")
                await self.set(ready=works)


async def _works(store: Store) -> bool:
    """Whether the store answers and takes writes."""
    try:
        await store.check_writable()
    except (StoreUnavailable, StoreRefusedError):
        return False
    return True
