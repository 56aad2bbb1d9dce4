"""The hall: everything that games need, put together, and the chores that keep them going."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable

from himeji_server import metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.games.commands import Host
from himeji_server.games.live_games import Ledger
from himeji_server.games.notifications import Bells
from himeji_server.games.quota import Quota
from himeji_server.games.timers import Clockwork
from himeji_server.games.use_cases import Desk
from himeji_server.limits import Limits
from himeji_server.store import Store, StoreRefusedError
from himeji_server.store.games import Games
from himeji_server.store.presence import Presence
from himeji_server.store.quotas import Quotas

SECONDS_BETWEEN_SWEEPS: Final = 0.25

_log = structlog.get_logger(__name__)


class Hall:
    """The games of one process."""

    def __init__(self, store: Store, accounts: Accounts, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        games, presence = Games(store), Presence(store)
        self._bells = Bells(games, presence)
        ledger = Ledger(games, presence, self._bells.ring)
        self._bells.ledger = ledger
        self._clockwork = Clockwork(ledger)
        metrics.count_games(ledger.live)
        self.desk = Desk(
            ledger=ledger,
            host=Host(ledger),
            games=games,
            presence=presence,
            bells=self._bells,
            bots=accounts.bots,
            requests=accounts.requests,
            quota=Quota(Quotas(store), limits),
            limits=limits,
        )

    @property
    def chores(self) -> tuple[Callable[[], Coroutine[None, None, None]], ...]:
        """What runs as long as the arena does."""
        return (self._bells.follow, self._bells.look_around, self._sweep)

    async def _sweep(self) -> None:
        """Do what is due, again and again; any number of processes may do so at once."""
        swept = True
        while True:
            try:
                metrics.DUE.inc(await self._clockwork.sweep())
                metrics.SWEEPS.inc()
                swept = True
            except (StoreUnavailable, StoreRefusedError) as error:
                if swept:
                    _log.warning("cannot sweep", why=str(error))
                swept = False
            await asyncio.sleep(SECONDS_BETWEEN_SWEEPS)
