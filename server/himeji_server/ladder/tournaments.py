"""What is asked of tournaments: create, show, list and cancel them."""

import asyncio
import re
from dataclasses import replace
from typing import Final

from himeji import rules
from himeji.rules.errors import InvalidRequest, NotFound
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import (
    AuditKind,
    CreateTournamentRequest,
    Tournament,
    TournamentEntrant,
    TournamentState,
    TournamentSystem,
)

from himeji_server import names, pagination
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, PlannedRequest
from himeji_server.games.use_cases import LONGEST_CLOCK, GameUseCases
from himeji_server.ladder.tournament_runner import TournamentRunner
from himeji_server.ladder.tournament_systems import counted, planned_games, table
from himeji_server.store.audit import AuditRecord
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import Progress, ProgressState, TournamentRecord

STANDARD_CLOCK: Final = (120_000, 500)
STANDARD_PATIENCE_MS: Final = 120_000
MOST_BOTS: Final = 64
MOST_ROUNDS: Final = 100
MOST_GAMES: Final = 20_000
_STATES: Final = {
    ProgressState.PLAYING: TournamentState.TOURNAMENT_STATE_PLAYING,
    ProgressState.OVER: TournamentState.TOURNAMENT_STATE_OVER,
    ProgressState.CANCELLED: TournamentState.TOURNAMENT_STATE_CANCELLED,
}
_SYSTEMS: Final = (
    TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN,
    TournamentSystem.TOURNAMENT_SYSTEM_SWISS,
)


class Tournaments:
    """Tournaments for callers."""

    def __init__(
        self,
        store: LadderStore,
        use_cases: GameUseCases,
        runner: TournamentRunner,
        bots: Bots,
        requests: IdempotencyKeys,
    ) -> None:
        self._store = store
        self._tournaments = store.tournaments
        self._use_cases = use_cases
        self._runner = runner
        self._bots = bots
        self._requests = requests

    async def create(self, caller: Caller, request: CreateTournamentRequest) -> Tournament:
        """Create a tournament; the same request again gives the same one."""
        asked = await self._asked(request)
        said = CreateTournamentRequest()
        said.CopyFrom(request)
        said.request_id = ""
        content: list[object] = ["CreateTournament", said.SerializeToString().hex()]
        plan = await self._requests.planned(
            caller.owner, request.request_id, content, PlannedRequest()
        )
        now = await self._store.games.now()
        stands = await self._tournaments.create(replace(asked, mark=plan.mark), now)
        if stands.mark != plan.mark:
            raise names.in_use("tournament", asked.name)
        await self._note(caller, f"created the tournament {asked.name}", f"created {plan.mark}")
        return await self._message(stands, Progress())

    async def _asked(self, request: CreateTournamentRequest) -> TournamentRecord:
        """What a request asks for, checked; raises InvalidRequest."""
        if re.fullmatch(names.NAME, request.tournament) is None:
            raise InvalidRequest("a name has small letters and digits", {"field": "tournament"})
        names.text_of(request.title, "title", 80)
        ruleset = rules.ruleset(request.ruleset)
        ruleset.check_seats(request.seats)
        if request.system not in _SYSTEMS:
            raise InvalidRequest("a tournament is a round robin or Swiss", {"field": "system"})
        bank, increment = STANDARD_CLOCK
        if request.HasField("clock"):
            bank = request.clock.bank.ToMilliseconds()
            increment = request.clock.increment.ToMilliseconds()
        if not (0 < bank <= LONGEST_CLOCK and 0 <= increment <= LONGEST_CLOCK):
            raise InvalidRequest("a clock has a bank of up to seven days", {"field": "clock"})
        patience = STANDARD_PATIENCE_MS
        if request.HasField("patience"):
            patience = max(0, request.patience.ToMilliseconds())
        asked = TournamentRecord(
            name=request.tournament,
            title=request.title,
            system=int(request.system),
            ruleset=ruleset.name,
            seats=request.seats,
            options=ruleset.check_options({each.name: each.value for each in request.options}),
            bank=bank,
            increment=increment,
            rounds=request.rounds,
            bots=await self._entrants(request),
            patience=patience,
            mark="",
        )
        _check_size(asked)
        return asked

    async def _entrants(self, request: CreateTournamentRequest) -> list[tuple[str, int]]:
        wanted = list(request.bots)
        if len(set(wanted)) != len(wanted):
            raise InvalidRequest("a bot is named twice", {"field": "bots"})
        if not max(2, request.seats) <= len(wanted) <= MOST_BOTS:
            most = f"{max(2, request.seats)} to {MOST_BOTS}"
            raise InvalidRequest(f"this tournament takes {most} bots", {"field": "bots"})
        found = await asyncio.gather(*map(self._bots.get, wanted))
        return [(str(bot.name), bot.newest_version) for bot in found]

    async def get(self, name: str) -> tuple[Tournament, list[TournamentEntrant]]:
        """A tournament with its table; raises NotFound."""
        asked = await self._known(name)
        progress = await self._tournaments.progress(name)
        played, byes = await self._runner.played(asked, progress.round)
        tallies = counted(dict(asked.bots), asked.seats, played, byes)
        return (
            await self._message(asked, progress),
            table(dict(asked.bots), asked.seats, tallies),
        )

    async def _known(self, name: str) -> TournamentRecord:
        asked = await self._tournaments.get(name)
        if asked is None:
            raise NotFound(f"there is no tournament {name}", {"tournament": name})
        return asked

    async def listed(
        self, state: TournamentState.ValueType, page_size: int, page_token: str
    ) -> tuple[list[Tournament], str]:
        """A page of the tournaments, the newest first."""
        size, question = pagination.size(page_size), ("tournaments", int(state))
        before = pagination.place(page_token, *question)
        everything = await self._tournaments.names()
        left = everything[everything.index(before) + 1 :] if before in everything else everything
        found: list[Tournament] = []
        for name in left:
            progress = await self._tournaments.progress(name)
            if state in (TournamentState.TOURNAMENT_STATE_UNSPECIFIED, _STATES[progress.state]):
                found.append(await self._message(await self._known(name), progress))
            if len(found) == size:
                following = pagination.token(name, *question) if name != left[-1] else ""
                return found, following
        return found, ""

    async def cancel(self, caller: Caller, name: str, request_id: str) -> Tournament:
        """Call a tournament off; its games are called off, its table stays as it is."""
        await self._requests.planned(
            caller.owner, request_id, ["CancelTournament", name], PlannedRequest()
        )
        asked = await self._known(name)
        progress = await self._tournaments.progress(name)
        if progress.state is ProgressState.PLAYING:
            progress = replace(
                progress, state=ProgressState.CANCELLED, ended=await self._store.games.now()
            )
            await self._tournaments.save_progress(name, progress)
            await self._note(caller, f"cancelled the tournament {name}", f"cancelled {name}")
        for game in (await self._tournaments.games(name)).values():
            if game.game_id and not game.result:
                await self._use_cases.commands.end(game.game_id, EndReason.END_REASON_CANCELLED)
        return await self._message(asked, progress)

    async def _message(self, asked: TournamentRecord, progress: Progress) -> Tournament:
        is_swiss = asked.system == TournamentSystem.TOURNAMENT_SYSTEM_SWISS
        games = await self._tournaments.games(asked.name)
        out = Tournament(
            name=asked.name,
            title=asked.title,
            system=TournamentSystem.ValueType(asked.system),
            ruleset=asked.ruleset,
            seats=asked.seats,
            rounds=asked.rounds,
            current_round=progress.round,
            state=_STATES[progress.state],
            games_played=sum(bool(game.result) for game in games.values()),
            games_planned=planned_games(len(asked.bots), asked.seats, asked.rounds, swiss=is_swiss),
        )
        for name in sorted(asked.options):
            out.options.add(name=name, value=asked.options[name])
        out.clock.bank.FromMilliseconds(asked.bank)
        out.clock.increment.FromMilliseconds(asked.increment)
        out.create_time.FromMilliseconds(asked.created)
        if progress.ended:
            out.end_time.FromMilliseconds(progress.ended)
        return out

    async def _note(self, caller: Caller, words: str, mark: str) -> None:
        record = AuditRecord(AuditKind.AUDIT_KIND_ADMIN_ACT, words, caller.owner)
        await self._store.audit.append(record, mark)


def _check_size(asked: TournamentRecord) -> None:
    if not 1 <= asked.rounds <= MOST_ROUNDS:
        raise InvalidRequest(f"a tournament has 1 to {MOST_ROUNDS} rounds", {"field": "rounds"})
    if asked.seats < 2:
        raise InvalidRequest("a tournament's tables have two seats or more", {"field": "seats"})
    is_swiss = asked.system == TournamentSystem.TOURNAMENT_SYSTEM_SWISS
    games = planned_games(len(asked.bots), asked.seats, asked.rounds, swiss=is_swiss)
    if games > MOST_GAMES:
        raise InvalidRequest(
            f"that would be {games} games, and {MOST_GAMES} is the most", {"field": "bots"}
        )
