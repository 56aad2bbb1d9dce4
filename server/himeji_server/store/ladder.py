"""All parts of the store that ladders need, put together."""

from himeji_server.store.audit import Audit
from himeji_server.store.client import Store
from himeji_server.store.deals import Deals
from himeji_server.store.flags import Flags
from himeji_server.store.games import Games
from himeji_server.store.leases import Leases
from himeji_server.store.queues import Queues
from himeji_server.store.result_outbox import Results
from himeji_server.store.standings import Boards
from himeji_server.store.tournaments import Tournaments


class LadderStore:
    """Queues, deals, leases, results, tables, tournaments, flags and the audit log of a store."""

    def __init__(self, store: Store) -> None:
        self.games = Games(store)
        self.results = Results(store)
        self.leases = Leases(store)
        self.queues = Queues(store)
        self.deals = Deals(store)
        self.boards = Boards(store)
        self.audit = Audit(store)
        self.flags = Flags(store)
        self.tournaments = Tournaments(store)
