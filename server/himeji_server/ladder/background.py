"""The steward: the chore that keeps ladders going, in one process at a time."""

import asyncio
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable

from himeji_server.ladder.matchmaker import Matchmaker
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.tournament_runner import TournamentRunner
from himeji_server.store import StoreRefusedError
from himeji_server.store.ladder import LadderStore
from himeji_server.store.leases import new_holder

SECONDS_BETWEEN_ROUNDS: Final = 0.2
LEASE: Final = "ladders"
LEASE_MS: Final = 3_000
"""How long the others wait for a steward that does not come back."""

_log = structlog.get_logger(__name__)


class LadderLoop:
    """Rates what is over and seats who waits, again and again."""

    def __init__(
        self, store: LadderStore, matchmaker: Matchmaker, rater: Rater, runner: TournamentRunner
    ) -> None:
        self._store = store
        self._matchmaker = matchmaker
        self._rater = rater
        self._runner = runner
        self._name = new_holder()

    async def run(self) -> None:
        """Work as long as the arena does; whoever holds the lease works alone."""
        try:
            await self._work()
        finally:
            await self._store.leases.release(LEASE, self._name)

    async def _work(self) -> None:
        while True:
            try:
                if await self._store.leases.acquire(LEASE, self._name, LEASE_MS):
                    await self.round()
            except (StoreUnavailable, StoreRefusedError):
                _log.warning("cannot keep the ladders going: the store does not answer")
            except Exception:  # noqa: BLE001 - a defect here must not end the arena
                _log.exception("fault in keeping the ladders going")
            await asyncio.sleep(SECONDS_BETWEEN_ROUNDS)

    async def round(self) -> None:
        """Settle results, then seat those who are free by them, and take tournaments further."""
        await self._rater.settle_all()
        now = await self._store.games.now()
        await self._matchmaker.round(now)
        await self._runner.round(now)
