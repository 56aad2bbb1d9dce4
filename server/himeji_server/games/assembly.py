"""The hall: everything that games need, put together, and the chores that keep them going."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable

from himeji_server import metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.games.commands import GameCommands
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import Notifications
from himeji_server.games.quota import Quota
from himeji_server.games.timers import Timers
from himeji_server.games.use_cases import GameUseCases
from himeji_server.limits import Limits
from himeji_server.store import Store, StoreRefusedError
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence
from himeji_server.store.quotas import QuotaStore

SECONDS_BETWEEN_SWEEPS: Final = 0.25

_log = structlog.get_logger(__name__)


class GameAssembly:
    """The games of one process."""

    def __init__(self, store: Store, accounts: Accounts, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        games, presence = GameStore(store), Presence(store)
        self._notifications = Notifications(games, presence)
        live_games = LiveGames(games, presence, self._notifications.ring)
        self._notifications.live_games = live_games
        self._timers = Timers(live_games)
        metrics.count_games(live_games.live)
        self.use_cases = GameUseCases(
            live_games=live_games,
            commands=GameCommands(live_games),
            games=games,
            presence=presence,
            notifications=self._notifications,
            bots=accounts.bots,
            requests=accounts.requests,
            quota=Quota(QuotaStore(store), limits),
            limits=limits,
        )

    @property
    def chores(self) -> tuple[Callable[[], Coroutine[None, None, None]], ...]:
        """What runs as long as the arena does."""
        return (self._notifications.follow, self._notifications.look_around, self._sweep)

    async def _sweep(self) -> None:
        """Do what is due, again and again; any number of processes may do so at once."""
        swept = True
        while True:
            try:
                metrics.DUE.inc(await self._timers.sweep())
                metrics.SWEEPS.inc()
                swept = True
            except (StoreUnavailable, StoreRefusedError) as error:
                if swept:
                    _log.warning("cannot sweep", why=str(error))
                swept = False
            await asyncio.sleep(SECONDS_BETWEEN_SWEEPS)
