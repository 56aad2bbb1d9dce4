"""The stores that ladders need, in one object."""

from himeji_server.store.audit import AuditLog
from himeji_server.store.client import Store
from himeji_server.store.deals import DealStore
from himeji_server.store.flags import FlagStore
from himeji_server.store.game_store import GameStore
from himeji_server.store.leases import Leases
from himeji_server.store.queues import QueueStore
from himeji_server.store.result_outbox import ResultOutbox
from himeji_server.store.standings import StandingsStore
from himeji_server.store.standings_replacement import SnapshotStore
from himeji_server.store.tournaments import TournamentStore


class LadderStore:
    """The stores of games, results, leases, queues, deals, standings, tournaments and audits."""

    def __init__(self, store: Store) -> None:
        self.games = GameStore(store)
        self.results = ResultOutbox(store)
        self.leases = Leases(store)
        self.queues = QueueStore(store)
        self.deals = DealStore(store)
        self.standings = StandingsStore(store)
        self.snapshots = SnapshotStore(store)
        self.audit = AuditLog(store)
        self.flags = FlagStore(store)
        self.tournaments = TournamentStore(store)
