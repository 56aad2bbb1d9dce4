"""The background loop of the ladders: rates results, makes games, advances tournaments.

It also finishes voids that another process left behind. One process of all that share a store runs
it, as the leader: the one that holds the lease. The lease saves work and guards nothing. Rater,
matchmaker and tournament runner are each correct with any number of them at once, so that a leader
may lose its lease in the middle of a step.
"""

import asyncio
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable

from himeji_server.ladder.matchmaker import Matchmaker
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.tournament_runner import TournamentRunner
from himeji_server.ladder.voided_games import VoidedGames
from himeji_server.store import StoreRefusedError
from himeji_server.store.ladder import LadderStore
from himeji_server.store.leases import new_holder

PERIOD_SECONDS: Final = 0.2
LEASE: Final = "ladders"
LEASE_MS: Final = 3_000
"""How long the other processes wait for a leader that has stopped renewing its lease."""

_log = structlog.get_logger(__name__)


class LadderLoop:
    """Runs the ladders of a store while this process is the leader."""

    def __init__(
        self,
        store: LadderStore,
        matchmaker: Matchmaker,
        rater: Rater,
        runner: TournamentRunner,
        voided: VoidedGames,
    ) -> None:
        self._store = store
        self._matchmaker = matchmaker
        self._rater = rater
        self._runner = runner
        self._voided = voided
        self._holder = new_holder()

    async def run(self) -> None:
        """Run until cancelled, then give the lease back so that another process takes over."""
        try:
            await self._run()
        finally:
            await self._voided.stop()
            await self._store.leases.release(LEASE, self._holder)

    async def _run(self) -> None:
        while True:
            try:
                if await self._store.leases.acquire(LEASE, self._holder, LEASE_MS):
                    await self.run_once()
            except (StoreUnavailable, StoreRefusedError):
                _log.warning("ladder loop failed: the store does not answer")
            except Exception:  # noqa: BLE001 - a defect here must not end the arena
                _log.exception("ladder loop failed")
            await asyncio.sleep(PERIOD_SECONDS)

    async def run_once(self) -> None:
        # Rated first: a settled result releases its bots for the pairing that follows.
        await self._rater.settle_all()
        now = await self._store.games.now()
        await self._matchmaker.run_once(now)
        await self._runner.run_once(now)
        await self._voided.resume()
