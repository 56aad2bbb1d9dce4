"""Everything that ladders need in one process, put together."""

from himeji_server.accounts.accounts import Accounts
from himeji_server.games.use_cases import Desk
from himeji_server.ladder.administration import Administration
from himeji_server.ladder.background import Steward
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.matchmaker import Usher
from himeji_server.ladder.queries import Office
from himeji_server.ladder.queue_commands import Lobby
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.tournament_runner import Director
from himeji_server.ladder.tournaments import Events
from himeji_server.store import Store
from himeji_server.store.ladder import LadderStore


class LadderParts:
    """The ladders of one process."""

    def __init__(self, ladders: Ladders, store: Store, desk: Desk, accounts: Accounts) -> None:
        stores = LadderStore(store)
        rater = Rater(ladders, stores)
        self.lobby = Lobby(ladders, stores.queues, desk, accounts.requests)
        self.office = Office(ladders, stores, desk)
        self.administration = Administration(self.office, stores, desk, rater, accounts.requests)
        director = Director(stores, desk)
        self.events = Events(stores, desk, director, accounts.bots, accounts.requests)
        self.steward = Steward(stores, Usher(ladders, stores, desk), rater, director)
