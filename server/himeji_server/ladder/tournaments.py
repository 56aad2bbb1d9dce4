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
from himeji_server.ladder.tournament_pairing import planned_games, standings, tallies_of
from himeji_server.store.audit import AuditRecord
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import (
    PLAYED,
    Progress,
    ProgressState,
    TournamentRecord,
    is_position,
    name_at,
)
from himeji_server.texts import check_text

STANDARD_PATIENCE_MS: Final = 120_000
MAX_BOTS: Final = 64
MAX_ROUNDS: Final = 100
MAX_GAMES: Final = 20_000
_LOADED_AT_ONCE: Final = 20
_ANY_STATE: Final = TournamentState.TOURNAMENT_STATE_UNSPECIFIED
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
        bots: Bots,
        requests: IdempotencyKeys,
    ) -> None:
        self._store = store
        self._tournaments = store.tournaments
        self._use_cases = use_cases
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
        return await self._load(stored.name)

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
        head = await self._tournaments.head(name)
        counters = await self._tournaments.counters(name)
        versions = dict(record.bots)
        entrants = standings(versions, record.seats, tallies_of(versions, counters))
        return _message(record, head.progress, counters.get(PLAYED, 0)), entrants

    async def _get(self, name: str) -> TournamentRecord:
        record = await self._tournaments.get(name)
        if record is None:
            raise NotFound(f"there is no tournament {name}", {"tournament": name})
        return record

    async def list_tournaments(
        self, state: TournamentState.ValueType, page_size: int, page_token: str
    ) -> tuple[list[Tournament], str]:
        """A page of the tournaments, the newest first.

        With a filter it is short if a tournament of the page is about to end.
        """
        pagination.check_filter(state, TournamentState.values(), "state")
        size, query = pagination.size(page_size), ("tournaments", int(state))
        before = pagination.cursor(page_token, *query)
        if before and not is_position(before):
            raise InvalidRequest("the page token is not one of this list", {"field": "page_token"})
        states = [each for each in ProgressState if state in (_ANY_STATE, _STATES[each])]
        positions = await self._tournaments.newest(states, before, size + 1)
        page = positions[:size]
        found: list[Tournament] = []
        for first in range(0, len(page), _LOADED_AT_ONCE):
            names_to_load = map(name_at, page[first : first + _LOADED_AT_ONCE])
            found += await asyncio.gather(*map(self._load, names_to_load))
        following = pagination.token(page[-1], *query) if len(positions) > size else ""
        return [each for each in found if state in (_ANY_STATE, each.state)], following

    async def _load(self, name: str) -> Tournament:
        record, head, played = await asyncio.gather(
            self._get(name), self._tournaments.head(name), self._tournaments.games_played(name)
        )
        return _message(record, head.progress, played)

    async def cancel(self, caller: Caller, name: str, request_id: str) -> Tournament:
        """End a tournament and its open games; its standings stay as they are."""
        await self._requests.claim(
            caller.owner, request_id, ["CancelTournament", name], Operation()
        )
        record = await self._get(name)
        progress = await self._cancel(caller, record)
        count = _planned(record, rounds=1)
        async for _, game in self._tournaments.games(name, progress.round, count):
            if game.game_id and not game.result:
                await self._use_cases.end(game.game_id, EndReason.END_REASON_CANCELLED)
        return await self._load(name)

    async def _cancel(self, caller: Caller, record: TournamentRecord) -> Progress:
        """End a tournament that is being played; its progress then."""
        while True:
            head = await self._tournaments.head(record.name)
            if head.progress.state is not ProgressState.PLAYING:
                return head.progress
            now = await self._store.games.now()
            progress = replace(head.progress, state=ProgressState.CANCELLED, ended=now)
            if await self._tournaments.save_progress(record, head.version, progress):
                text = f"the tournament {record.name}"
                await self._audit(caller, f"cancelled {text}", f"cancelled {record.name}")
                return progress

    async def _audit(self, caller: Caller, message: str, mark: str) -> None:
        record = AuditRecord(AuditKind.AUDIT_KIND_ADMIN_ACT, message, caller.owner)
        await self._store.audit.append(record, mark)


def _message(record: TournamentRecord, progress: Progress, played: int) -> Tournament:
    out = Tournament(
        name=record.name,
        title=record.title,
        system=TournamentSystem.ValueType(record.system),
        ruleset=record.ruleset,
        seats=record.seats,
        rounds=record.rounds,
        current_round=progress.round,
        state=_STATES[progress.state],
        games_played=played,
        games_planned=_planned(record, record.rounds),
    )
    for name in sorted(record.options):
        out.options.add(name=name, value=record.options[name])
    Clock(record.bank, record.increment).write(out.clock)
    out.create_time.FromMilliseconds(record.created)
    if progress.ended:
        out.end_time.FromMilliseconds(progress.ended)
    return out


def _planned(record: TournamentRecord, rounds: int) -> int:
    """How many games so many rounds of a tournament have."""
    is_swiss = record.system == TournamentSystem.TOURNAMENT_SYSTEM_SWISS
    return planned_games(len(record.bots), record.seats, rounds, swiss=is_swiss)


def _check_size(record: TournamentRecord) -> None:
    if not 1 <= record.rounds <= MAX_ROUNDS:
        raise InvalidRequest(f"a tournament has 1 to {MAX_ROUNDS} rounds", {"field": "rounds"})
    if record.seats < 2:
        raise InvalidRequest("a tournament's games have two seats or more", {"field": "seats"})
    games = _planned(record, record.rounds)
    if games > MAX_GAMES:
        raise InvalidRequest(
            f"that would be {games} games, and {MAX_GAMES} is the most", {"field": "entries"}
        )
