"""What administrators do with ladders: recompute, start seasons, void games, read the audit log."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final, NamedTuple

from himeji.rules.errors import Draining, InvalidRequest, StoreUnavailable
from himeji.v1.admin_service_pb2 import AuditEntry, AuditKind, Flag, FlagKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import RatedResult, Season

from himeji_server import pagination
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.fair_play import flag_message
from himeji_server.ladder.messages import audit_message, season_message
from himeji_server.ladder.queries import LadderQueries, paginate
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.recomputation_jobs import Job, JobKind, Recomputed, Step, live_rows
from himeji_server.ladder.standings import CARRY_OVER, Standings, StandingsRow
from himeji_server.ladder.voided_games import RunJob, VoidedGames
from himeji_server.rate_limits import ConcurrencyLimit
from himeji_server.store.audit import AuditRecord
from himeji_server.store.game_records import OVER
from himeji_server.store.ladder import LadderStore
from himeji_server.store.standings import PendingVoid, SeasonRecord
from himeji_server.texts import check_text

MAX_TRIES: Final = 50
APPLY_SECONDS: Final = 10.0
"""How long a call waits for a recomputation: less than the 30 seconds that clients wait for it."""

MAX_TITLE: Final = 80
MAX_EXPLANATION: Final = 500
ADMIN_ACT: Final = AuditKind.AUDIT_KIND_ADMIN_ACT


class VoidedGame(NamedTuple):
    """A game that is void."""

    view: GameView
    pending: bool
    """Whether the standings still count it; a recomputation is under way."""


class Administration:
    """Administrative use cases; each change is written into the audit log."""

    def __init__(  # noqa: PLR0913 - the parts that it works with
        self,
        *,
        queries: LadderQueries,
        store: LadderStore,
        use_cases: GameUseCases,
        rater: Rater,
        voided: VoidedGames,
        run_job: RunJob,
        requests: IdempotencyKeys,
    ) -> None:
        self._queries = queries
        self._store = store
        self._standings = store.standings
        self._use_cases = use_cases
        self._rater = rater
        self._voided = voided
        self._run_job = run_job
        self._requests = requests
        most = use_cases.limits.recomputations
        self._recomputations = ConcurrencyLimit("recomputations", most, in_all=most)

    # --- recompute ------------------------------------------------------------------------------

    async def recompute(
        self, caller: Caller, ladder: str, season: int, request_id: str, *, repair: bool
    ) -> AsyncGenerator[Step, None]:
        """Compare the standings with those that follow from the log; `repair` replaces them.

        Says how far it is, and what it found last; raises Draining when the server stops. The same
        request again gets what its repair changed.
        """
        content: list[object] = ["RecomputeStandings", ladder, season, repair]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        number = await self._queries.season_number(ladder, season)
        kind = JobKind.REPAIR if repair else JobKind.COMPARE
        interval = self._use_cases.limits.results_between_snapshots
        job = Job(kind, ladder, interval, number, operation.operation_id)
        with self._recomputations.slot(caller.owner):
            async with aclosing(self._run_job(job)) as steps:
                async for step in steps:
                    self._check_not_stopping()
                    if isinstance(step, Recomputed) and step.repaired:
                        await self._audit_repair(caller, job, len(step.differences))
                    yield step

    def _check_not_stopping(self) -> None:
        if self._use_cases.stopping.is_set():
            raise Draining("this server process is stopping; ask again")

    async def _audit_repair(self, caller: Caller, job: Job, rows: int) -> None:
        message = f"replaced the standings of season {job.season} by the recomputed ones"
        text = f"{message}: {rows} rows differed"
        await self._audit(caller, job.ladder, text, f"repaired {job.mark}")

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
        if not await self._voided.wait_applied(name, APPLY_SECONDS):
            raise StoreUnavailable("the table still counts games that are void, try again")
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
            head, rows = await live_rows(self._standings, ladder, season)
            if head.season not in seasons:  # somebody else has just started it
                continue
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
    ) -> VoidedGame:
        """Take a game out of the ratings and, if it still runs, end it.

        Returns when the void is durable, and a moment later if the standings are soon without it.
        """
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
        sequence = await self._standings.sequence_of(ladder, game_id) if ladder else 0
        if not sequence:
            await self._voided.audit(ladder, game_id, caller.owner, explanation)
            return VoidedGame(game, pending=False)
        (entry,) = await self._standings.entries(ladder, [sequence])
        season = RatedResult.FromString(entry.data).season
        void = PendingVoid(game_id, season, sequence, caller.owner, explanation)
        await self._voided.note(ladder, void)
        return VoidedGame(game, not await self._voided.wait_applied(ladder, APPLY_SECONDS))

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
        """A page of the audit log, the newest first.

        It reads a limited number of entries, however few of them are of the kind: then the page is
        short, or empty, and the next one goes on from there.
        """
        pagination.check_filter(kind, AuditKind.values(), "kind")
        size, query = pagination.size(page_size), ("audit", int(kind))
        place = pagination.cursor(page_token, *query)
        before, found = pagination.number(place or "0"), list[AuditRecord]()
        every = AuditKind.AUDIT_KIND_UNSPECIFIED
        most = size if kind == every else pagination.LARGEST_SIZE
        for record in await self._store.audit.newest(before, most):
            before = record.sequence
            if kind in (every, record.kind):
                found.append(record)
            if len(found) == size:
                break
        following = pagination.token(str(before), *query) if before > 1 else ""
        return [audit_message(each) for each in found], following

    async def _audit(self, caller: Caller, ladder: str, message: str, mark: str = "") -> None:
        record = AuditRecord(ADMIN_ACT, message, caller.owner, "", ladder)
        await self._store.audit.append(record, mark)
