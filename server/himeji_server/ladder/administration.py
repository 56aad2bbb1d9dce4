"""What administrators do with ladders: recompute, start seasons, void games, read the audit log."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from himeji.rules.errors import Draining, InvalidRequest, StoreUnavailable
from himeji.v1.admin_service_pb2 import AuditEntry, AuditKind, Flag, FlagKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import RatedResult, Season, Standing, StandingDifferences

from himeji_server import pagination
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.fair_play import flag_message
from himeji_server.ladder.messages import audit_message, season_message
from himeji_server.ladder.queries import LadderQueries, paginate
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.recomputation import Progress, Recomputation
from himeji_server.ladder.standings import CARRY_OVER, Standings, StandingsRow
from himeji_server.store.audit import AuditRecord
from himeji_server.store.game_records import OVER
from himeji_server.store.ladder import LadderStore
from himeji_server.store.standings import RepairRecord, SeasonRecord, StandingsHead
from himeji_server.texts import check_text

MAX_TRIES: Final = 50
MAX_TITLE: Final = 80
MAX_EXPLANATION: Final = 500
ADMIN_ACT: Final = AuditKind.AUDIT_KIND_ADMIN_ACT


@dataclass(frozen=True)
class Recomputed:
    """The standings computed from the log, compared with the live ones."""

    games: int
    differences: tuple[Standing, ...]
    repaired: bool


class Administration:
    """Administrative use cases; each change is written into the audit log."""

    def __init__(
        self,
        queries: LadderQueries,
        store: LadderStore,
        use_cases: GameUseCases,
        rater: Rater,
        requests: IdempotencyKeys,
    ) -> None:
        self._queries = queries
        self._store = store
        self._standings = store.standings
        self._use_cases = use_cases
        self._rater = rater
        self._requests = requests

    # --- recompute ------------------------------------------------------------------------------

    async def recompute(
        self, caller: Caller, ladder: str, season: int, request_id: str, *, repair: bool
    ) -> AsyncGenerator[Progress | Recomputed, None]:
        """Compare the standings with those that follow from the log; `repair` replaces them.

        Says how far it is, and what it found last; raises Draining when the server stops. The same
        request again gets what its repair changed.
        """
        content: list[object] = ["RecomputeStandings", ladder, season, repair]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        number = await self._queries.season_number(ladder, season)
        mark = operation.operation_id
        computation = Recomputation(self._standings, ladder, number)
        for _ in range(MAX_TRIES):
            repaired = await self._standings.repair(ladder, mark)
            if repaired is not None:
                yield await self._repaired(caller, ladder, number, repaired)
                return
            head, live = await self._live_rows(ladder, number)
            if head.generation != computation.generation:
                await computation.begin()
                continue
            async with aclosing(computation.advance(head)) as steps:
                async for progress in steps:
                    self._check_not_stopping()
                    yield progress
            found = computation.differences(live)
            if not repair or not found:
                yield Recomputed(computation.games, tuple(found), repaired=False)
                return
            record = RepairRecord(computation.games, _encoded(found), mark)
            # In vain if the ladder has changed; the record tells.
            await self._standings.replace(
                ladder, head, computation.rows(), season=number, repair=record
            )
        raise StoreUnavailable("the standings change too fast, try again")

    def _check_not_stopping(self) -> None:
        if self._use_cases.stopping.is_set():
            raise Draining("this server process is stopping; ask again")

    async def _repaired(
        self, caller: Caller, ladder: str, season: int, record: RepairRecord
    ) -> Recomputed:
        """What a repair changed, which is in the audit log once."""
        found = StandingDifferences.FromString(record.differences).standings
        message = f"replaced the standings of season {season} by the recomputed ones"
        rows = f"{len(found)} rows differed"
        await self._audit(caller, ladder, f"{message}: {rows}", f"repaired {record.mark}")
        return Recomputed(record.games, tuple(found), repaired=True)

    async def _live_rows(self, ladder: str, season: int) -> tuple[StandingsHead, dict[str, str]]:
        """The live rows, and the head of the log that did not change while they were read."""
        for _ in range(MAX_TRIES):
            before = await self._standings.head(ladder)
            rows = await self._standings.rows(ladder, season)
            if await self._standings.head(ladder) == before:
                return before, rows
        raise StoreUnavailable("the standings change too fast, try again")

    # --- seasons --------------------------------------------------------------------------------

    async def start_season(
        self, caller: Caller, ladder: str, title: str, carry_over: float | None, request_id: str
    ) -> Season:
        """End the running season and start the next; the same request again starts nothing."""
        share = CARRY_OVER if carry_over is None else carry_over
        if not 0 <= share <= 1:
            raise InvalidRequest("carry_over is a share from 0 to 1", {"field": "carry_over"})
        check_text(title, "title", MAX_TITLE)
        name = self._queries.ladders[ladder].name
        content: list[object] = ["StartSeason", ladder, title, carry_over]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        begun = await self._start(name, title, share, operation.operation_id)
        message = f"started season {begun.number}, keeping {share:g} of every distance"
        await self._audit(caller, name, message, f"season {operation.operation_id}")
        return season_message(name, begun, 0)

    async def _start(self, ladder: str, title: str, share: float, mark: str) -> SeasonRecord:
        for _ in range(MAX_TRIES):
            seasons = await self._standings.seasons(ladder)
            started = [each for each in seasons.values() if each.mark == mark]
            if started:
                return started[0]
            season = (await self._standings.head(ladder)).season
            head, rows = await self._live_rows(ladder, season)
            start = await self._standings.starting_means(ladder, head.season)
            standings = Standings(
                {name: StandingsRow.from_json(text) for name, text in rows.items()}, start
            )
            now = await self._store.games.now()
            ended = replace(seasons[head.season], ended=now, last=head.sequence)
            begun = SeasonRecord(head.season + 1, title, now, first=head.sequence, mark=mark)
            means = standings.next_start(share)
            if await self._standings.start_season(ladder, head, ended, begun, means):
                return begun
        raise StoreUnavailable("the standings change too fast, try again")

    async def list_seasons(
        self, ladder: str, page_size: int, page_token: str
    ) -> tuple[list[Season], str]:
        """A page of the seasons of a ladder, the newest first."""
        name = self._queries.ladders[ladder].name
        records = await self._standings.seasons(name)
        numbers = sorted(records, reverse=True)
        shown, following = paginate(numbers, page_size, page_token, "seasons", name)
        return [
            season_message(name, records[each], await self._queries.games_of_season(name, each))
            for each in shown
        ], following

    # --- adjudication ---------------------------------------------------------------------------

    async def void_game(
        self, caller: Caller, game_id: str, explanation: str, request_id: str
    ) -> GameView:
        """Take a game out of the ratings and, if it still runs, end it."""
        if not explanation.strip():
            raise InvalidRequest("say why the game is void", {"field": "explanation"})
        check_text(explanation, "explanation", MAX_EXPLANATION)
        content: list[object] = ["VoidGame", game_id, explanation]
        await self._requests.claim(caller.owner, request_id, content, Operation())
        game = await self._use_cases.view(game_id)
        if game.stored.state != OVER:
            game = await self._use_cases.end(game_id, EndReason.END_REASON_ADJUDICATED)
        ladder = game.header.ladder
        await self._rater.settle(game_id)  # so that it cannot be rated after this
        if ladder:
            await self._remove_from_standings(ladder, game_id)
        record = AuditRecord(
            AuditKind.AUDIT_KIND_ADJUDICATION,
            f"voided: {explanation}",
            caller.owner,
            game_id,
            ladder,
        )
        await self._store.audit.append(record, f"voided {game_id}")
        return game

    async def _remove_from_standings(self, ladder: str, game_id: str) -> None:
        """Replace the standings of the game's season by those computed without the game."""
        sequence = await self._standings.sequence_of(ladder, game_id)
        if not sequence:
            return
        (entry,) = await self._standings.entries(ladder, [sequence])
        season, without = RatedResult.FromString(entry.data).season, frozenset({game_id})
        computation = Recomputation(self._standings, ladder, season, without)
        for _ in range(MAX_TRIES):
            head = await self._standings.head(ladder)
            if game_id in await self._standings.voided(ladder):
                return
            if head.generation != computation.generation:
                await computation.begin()
            async for _ in computation.advance(head):
                pass
            rows = computation.rows()
            if await self._standings.replace(ladder, head, rows, season=season, voided=game_id):
                return
        raise StoreUnavailable("the standings change too fast, try again")

    async def list_flags(
        self, ladder: str, bot: str, kind: FlagKind.ValueType, page_size: int, page_token: str
    ) -> tuple[list[Flag], str]:
        """A page of the fair-play flags, the newest first."""
        pagination.check_filter(kind, FlagKind.values(), "kind")
        found = [
            flag_message(each)
            for each in await self._store.flags.newest()
            if ladder in ("", each.ladder)
            and (not bot or bot in each.bots)
            and kind in (FlagKind.FLAG_KIND_UNSPECIFIED, each.kind)
        ]
        return paginate(found, page_size, page_token, "flags", ladder, bot, int(kind))

    # --- the audit log --------------------------------------------------------------------------

    async def list_audit_entries(
        self, kind: AuditKind.ValueType, page_size: int, page_token: str
    ) -> tuple[list[AuditEntry], str]:
        """A page of the audit log, the newest first."""
        pagination.check_filter(kind, AuditKind.values(), "kind")
        size, query = pagination.size(page_size), ("audit", int(kind))
        place = pagination.cursor(page_token, *query)
        if place and not place.isdecimal():
            raise InvalidRequest("the page token is not one of this list", {"field": "page_token"})
        before, found = int(place or 0), list[AuditRecord]()
        while len(found) < size:
            records = await self._store.audit.newest(before, size)
            if not records:
                return [audit_message(each) for each in found], ""
            for record in records:
                before = record.sequence
                if kind in (AuditKind.AUDIT_KIND_UNSPECIFIED, record.kind):
                    found.append(record)
                if len(found) == size:
                    break
        following = pagination.token(str(before), *query) if before > 1 else ""
        return [audit_message(each) for each in found], following

    async def _audit(self, caller: Caller, ladder: str, message: str, mark: str = "") -> None:
        record = AuditRecord(ADMIN_ACT, message, caller.owner, "", ladder)
        await self._store.audit.append(record, mark)


def _encoded(differences: list[Standing]) -> bytes:
    return StandingDifferences(standings=differences).SerializeToString()
