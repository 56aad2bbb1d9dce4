"""Wires the objects that games need in one process."""

from collections.abc import Callable, Coroutine

from himeji_server import metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.games.commands import GameCommands
from himeji_server.games.commits import Commits
from himeji_server.games.game_limits import GameLimits
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import Notifications
from himeji_server.games.submission import Submissions
from himeji_server.games.subscribers import Subscribers
from himeji_server.games.timers import Timers
from himeji_server.games.use_cases import GameUseCases
from himeji_server.limits import Limits
from himeji_server.store import Store
from himeji_server.store.game_commit import CommitWriter
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence
from himeji_server.store.quotas import QuotaStore


class GameAssembly:
    """The games of one process."""

    def __init__(self, store: Store, accounts: Accounts, limits: Limits | None = None) -> None:
        presence = Presence(store)
        games = GameStore(store)
        quotas, limits = QuotaStore(store), limits or Limits()
        live_games = LiveGames(games, presence, quotas, Subscribers())
        commits = Commits(live_games, CommitWriter(store, games.process), presence)
        notifications, timers = Notifications(live_games, presence), Timers(commits)
        metrics.count_games(live_games.count_playing)
        self.use_cases = GameUseCases(
            live_games=live_games,
            commands=GameCommands(commits),
            submissions=Submissions(commits),
            notifications=notifications,
            presence=presence,
            game_limits=GameLimits(quotas, limits),
            bots=accounts.bots,
            requests=accounts.requests,
            limits=limits,
        )
        self.background: tuple[Callable[[], Coroutine[None, None, None]], ...] = (
            notifications.receive,
            notifications.poll,
            timers.run,
            timers.run_stand_ins,
        )
        """What runs as long as the process does."""
