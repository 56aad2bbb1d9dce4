"""What administrators do with ladders: recompute, start seasons, void games, read the audit log."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from himeji.rules.errors import InvalidRequest, StoreUnavailable
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import (
    AuditEntry,
    AuditKind,
    Flag,
    FlagKind,
    RatedResult,
    Season,
    Standing,
)

from himeji_server import names, pagination
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.fair_play import flag_message
from himeji_server.ladder.messages import audit_message, season_message, standing_message
from himeji_server.ladder.queries import LadderQueries, paginate
from himeji_server.ladder.rater import Rater
from himeji_server.ladder.standings import CARRY_OVER, Standings, StandingsRow, recomputed
from himeji_server.store.audit import AuditRecord
from himeji_server.store.game_records import OVER
from himeji_server.store.ladder import LadderStore
from himeji_server.store.standings import SeasonRecord, StandingsHead

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
    ) -> Recomputed:
        """Compare the standings with those that follow from the log; `repair` replaces them."""
        content: list[object] = ["RecomputeStandings", ladder, season, repair]
        await self._requests.claim(caller.owner, request_id, content, Operation())
        number = await self._queries.season_number(ladder, season)
        for _ in range(MAX_TRIES):
            head, live = await self._live_rows(ladder, number)
            games, standings = await self._from_log(ladder, number, head, frozenset())
            texts = {name: row.to_json() for name, row in standings.rows.items()}
            found = tuple(_differences(standings, texts, live))
            if not repair or not found:
                return Recomputed(games, found, repaired=False)
            if await self._standings.replace(ladder, head, texts, season=number):
                message = f"replaced the standings of season {number} by the recomputed ones"
                await self._audit(caller, ladder, f"{message}: {len(found)} rows differed")
                return Recomputed(games, found, repaired=True)
        raise StoreUnavailable("the standings change too fast, try again")

    async def _live_rows(self, ladder: str, season: int) -> tuple[StandingsHead, dict[str, str]]:
        """The live rows, and the head of the log that did not change while they were read."""
        for _ in range(MAX_TRIES):
            before = await self._standings.head(ladder)
            rows = await self._standings.rows(ladder, season)
            if await self._standings.head(ladder) == before:
                return before, rows
        raise StoreUnavailable("the standings change too fast, try again")

    async def _from_log(
        self, ladder: str, season: int, head: StandingsHead, without: frozenset[str]
    ) -> tuple[int, Standings]:
        """How many results of a season count, and the standings that follow from its log."""
        seasons = await self._standings.seasons(ladder)
        last = seasons[season].last if season < head.season else head.sequence
        start = await self._standings.starting_means(ladder, season)
        voided = await self._standings.voided(ladder) | without
        results = [each async for each in self._results(ladder, seasons[season].first, last)]
        counted = sum(each.game_id not in voided for each in results)
        return counted, recomputed(results, start, voided)

    async def _results(self, ladder: str, after: int, last: int) -> AsyncIterator[RatedResult]:
        while entries := await self._standings.entries_after(ladder, after, until=last):
            for entry in entries:
                yield RatedResult.FromString(entry.data)
            after = entries[-1].sequence

    # --- seasons --------------------------------------------------------------------------------

    async def start_season(
        self, caller: Caller, ladder: str, title: str, carry_over: float | None, request_id: str
    ) -> Season:
        """End the running season and start the next; the same request again starts nothing."""
        share = CARRY_OVER if carry_over is None else carry_over
        if not 0 <= share <= 1:
            raise InvalidRequest("carry_over is a share from 0 to 1", {"field": "carry_over"})
        names.check_length(title, "title", MAX_TITLE)
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
        names.check_length(explanation, "explanation", MAX_EXPLANATION)
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
        for _ in range(MAX_TRIES):
            sequence = await self._standings.sequence_of(ladder, game_id)
            if not sequence or game_id in await self._standings.voided(ladder):
                return
            (entry,) = await self._standings.entries(ladder, [sequence])
            season = RatedResult.FromString(entry.data).season
            head = await self._standings.head(ladder)
            _, standings = await self._from_log(ladder, season, head, frozenset({game_id}))
            rows = {name: row.to_json() for name, row in standings.rows.items()}
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


def _differences(
    standings: Standings, texts: dict[str, str], live: dict[str, str]
) -> list[Standing]:
    """The computed rows that differ from the live ones, if only in the last digit."""
    out = [
        standing_message(standings.rows[name])
        for name in sorted(texts)
        if live.get(name) != texts[name]
    ]
    for name in sorted(live.keys() - texts.keys()):
        bot, _, version = name.partition("@")
        out.append(Standing(bot=bot, bot_version=int(version)))
    return out
