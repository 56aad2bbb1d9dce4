"""Wires the ladder's parts of one process."""

from functools import partial

from himeji_server.accounts.accounts import Accounts
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.administration import Administration
from himeji_server.ladder.background import LadderLoop
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.matchmaker import Matchmaker
from himeji_server.ladder.queries import LadderQueries
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.recomputation_worker import run_in_worker
from himeji_server.ladder.tournament_runner import TournamentRunner
from himeji_server.ladder.tournaments import Tournaments
from himeji_server.ladder.voided_games import RunJob, VoidedGames
from himeji_server.store import Store
from himeji_server.store.ladder import LadderStore


class LadderAssembly:
    """The use cases of the ladder, and the loop that runs it."""

    def __init__(
        self,
        ladders: Ladders,
        store: Store,
        use_cases: GameUseCases,
        accounts: Accounts,
        run_job: RunJob | None = None,
    ) -> None:
        """`run_job` recomputes standings: by default in worker processes."""
        stores, requests = LadderStore(store), accounts.requests
        interval = use_cases.limits.results_between_snapshots
        run_job = run_job or partial(run_in_worker, store.url)
        rater = Rater(ladders, stores, interval)
        voided = VoidedGames(ladders, stores, run_job, interval)
        runner = TournamentRunner(stores, use_cases)
        self.queue_commands = QueueCommands(ladders, stores.queues, use_cases, requests)
        self.queries = LadderQueries(ladders, stores, use_cases, accounts.bots)
        self.administration = Administration(
            queries=self.queries,
            store=stores,
            use_cases=use_cases,
            rater=rater,
            voided=voided,
            run_job=run_job,
            requests=requests,
        )
        self.tournaments = Tournaments(stores, use_cases, accounts.bots, requests)
        matchmaker = Matchmaker(ladders, stores, use_cases)
        self.loop = LadderLoop(stores, matchmaker, rater, runner, voided)
