"""The use cases of tournaments: create, get, list and cancel."""

import asyncio
import re
from dataclasses import replace
from typing import Final

from himeji import rules
from himeji.rules.errors import InvalidRequest, NotFound
from himeji.v1.admin_service_pb2 import AuditKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import (
    CreateTournamentRequest,
    Tournament,
    TournamentEntrant,
    TournamentState,
    TournamentSystem,
)
from himeji.wire.clock import LADDER, Clock

from himeji_server import names, pagination
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.tournament_pairing import count_results, planned_games, standings
from himeji_server.ladder.tournament_runner import TournamentRunner
from himeji_server.store.audit import AuditRecord
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import Progress, ProgressState, TournamentRecord
from himeji_server.texts import check_text

STANDARD_PATIENCE_MS: Final = 120_000
MAX_BOTS: Final = 64
MAX_ROUNDS: Final = 100
MAX_GAMES: Final = 20_000
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
    """Tournaments, for callers."""

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
        record = await self._record(request)
        without_id = CreateTournamentRequest()
        without_id.CopyFrom(request)
        without_id.request_id = ""
        content: list[object] = ["CreateTournament", without_id.SerializeToString().hex()]
        operation = await self._requests.claim(
            caller.owner, request.request_id, content, Operation()
        )
        for bot, _ in record.bots:
            await self._use_cases.record_entry(bot)
        now = await self._store.games.now()
        stored = await self._tournaments.create(replace(record, mark=operation.operation_id), now)
        if stored.mark != operation.operation_id:
            raise names.in_use("tournament", record.name)
        await self._audit(
            caller, f"created the tournament {record.name}", f"created {operation.operation_id}"
        )
        return await self._message(stored, Progress())

    async def _record(self, request: CreateTournamentRequest) -> TournamentRecord:
        """The tournament that a valid request describes; raises InvalidRequest."""
        if re.fullmatch(names.NAME, request.tournament) is None:
            raise InvalidRequest("a name has small letters and digits", {"field": "tournament"})
        check_text(request.title, "title", 80)
        ruleset = rules.ruleset(request.ruleset)
        ruleset.check_seats(request.seats)
        if request.system not in _SYSTEMS:
            raise InvalidRequest("a tournament is a round robin or Swiss", {"field": "system"})
        clock = Clock.from_message(request.clock) if request.HasField("clock") else LADDER
        clock.check()
        patience = STANDARD_PATIENCE_MS
        if request.HasField("patience"):
            patience = max(0, request.patience.ToMilliseconds())
        record = TournamentRecord(
            name=request.tournament,
            title=request.title,
            system=int(request.system),
            ruleset=ruleset.name,
            seats=request.seats,
            options=ruleset.check_options({each.name: each.value for each in request.options}),
            bank=clock.bank_ms,
            increment=clock.increment_ms,
            rounds=request.rounds,
            bots=await self._entrants(request),
            patience=patience,
            mark="",
        )
        _check_size(record)
        return record

    async def _entrants(self, request: CreateTournamentRequest) -> list[tuple[str, int]]:
        entries = request.entries
        least = max(2, request.seats)
        if not least <= len(entries) <= MAX_BOTS:
            raise InvalidRequest(
                f"this tournament takes {least} to {MAX_BOTS} bots", {"field": "entries"}
            )
        if len({each.bot for each in entries}) != len(entries):
            raise InvalidRequest("a bot is named twice", {"field": "entries"})
        return await asyncio.gather(
            *(self._bots.version(each.bot, each.bot_version) for each in entries)
        )

    async def get(self, name: str) -> tuple[Tournament, list[TournamentEntrant]]:
        """A tournament with its standings; raises NotFound."""
        record = await self._get(name)
        progress = await self._tournaments.progress(name)
        finished, byes = await self._runner.finished_games(record, progress.round)
        versions = dict(record.bots)
        tallies = count_results(versions, record.seats, finished, byes)
        entrants = standings(versions, record.seats, tallies)
        return await self._message(record, progress), entrants

    async def _get(self, name: str) -> TournamentRecord:
        record = await self._tournaments.get(name)
        if record is None:
            raise NotFound(f"there is no tournament {name}", {"tournament": name})
        return record

    async def list_tournaments(
        self, state: TournamentState.ValueType, page_size: int, page_token: str
    ) -> tuple[list[Tournament], str]:
        """A page of the tournaments, the newest first."""
        pagination.check_filter(state, TournamentState.values(), "state")
        size, query = pagination.size(page_size), ("tournaments", int(state))
        before = pagination.cursor(page_token, *query)
        everything = await self._tournaments.names()
        left = everything[everything.index(before) + 1 :] if before in everything else everything
        found: list[Tournament] = []
        for name in left:
            progress = await self._tournaments.progress(name)
            if state in (TournamentState.TOURNAMENT_STATE_UNSPECIFIED, _STATES[progress.state]):
                found.append(await self._message(await self._get(name), progress))
            if len(found) == size:
                following = pagination.token(name, *query) if name != left[-1] else ""
                return found, following
        return found, ""

    async def cancel(self, caller: Caller, name: str, request_id: str) -> Tournament:
        """End a tournament and its open games; its standings stay as they are."""
        await self._requests.claim(
            caller.owner, request_id, ["CancelTournament", name], Operation()
        )
        record = await self._get(name)
        progress = await self._tournaments.progress(name)
        if progress.state is ProgressState.PLAYING:
            progress = replace(
                progress, state=ProgressState.CANCELLED, ended=await self._store.games.now()
            )
            await self._tournaments.save_progress(name, progress)
            await self._audit(caller, f"cancelled the tournament {name}", f"cancelled {name}")
        for game in (await self._tournaments.games(name)).values():
            if game.game_id and not game.result:
                await self._use_cases.end(game.game_id, EndReason.END_REASON_CANCELLED)
        return await self._message(record, progress)

    async def _message(self, record: TournamentRecord, progress: Progress) -> Tournament:
        is_swiss = record.system == TournamentSystem.TOURNAMENT_SYSTEM_SWISS
        games = await self._tournaments.games(record.name)
        out = Tournament(
            name=record.name,
            title=record.title,
            system=TournamentSystem.ValueType(record.system),
            ruleset=record.ruleset,
            seats=record.seats,
            rounds=record.rounds,
            current_round=progress.round,
            state=_STATES[progress.state],
            games_played=sum(bool(game.result) for game in games.values()),
            games_planned=planned_games(
                len(record.bots), record.seats, record.rounds, swiss=is_swiss
            ),
        )
        for name in sorted(record.options):
            out.options.add(name=name, value=record.options[name])
        Clock(record.bank, record.increment).write(out.clock)
        out.create_time.FromMilliseconds(record.created)
        if progress.ended:
            out.end_time.FromMilliseconds(progress.ended)
        return out

    async def _audit(self, caller: Caller, message: str, mark: str) -> None:
        record = AuditRecord(AuditKind.AUDIT_KIND_ADMIN_ACT, message, caller.owner)
        await self._store.audit.append(record, mark)


def _check_size(record: TournamentRecord) -> None:
    if not 1 <= record.rounds <= MAX_ROUNDS:
        raise InvalidRequest(f"a tournament has 1 to {MAX_ROUNDS} rounds", {"field": "rounds"})
    if record.seats < 2:
        raise InvalidRequest("a tournament's games have two seats or more", {"field": "seats"})
    is_swiss = record.system == TournamentSystem.TOURNAMENT_SYSTEM_SWISS
    games = planned_games(len(record.bots), record.seats, record.rounds, swiss=is_swiss)
    if games > MAX_GAMES:
        raise InvalidRequest(
            f"that would be {games} games, and {MAX_GAMES} is the most", {"field": "entries"}
        )
