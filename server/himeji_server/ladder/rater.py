"""The rater: takes results from the outboxes and settles each of them exactly once.

A result is rated, written into the audit log and its bots released, each of which can be done
again without effect; only then it leaves the outbox. So a rater may die between any two steps,
and several may work at once.
"""

import time
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.v1.admin_service_pb2 import AuditKind
from himeji.v1.game_pb2 import GameResult
from himeji.v1.ladder_service_pb2 import RatedResult

from himeji_server.ladder.fair_play import FairPlay
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.ready_check import has_timed_out, unanswered
from himeji_server.ladder.snapshots import superseded
from himeji_server.ladder.standings import Standings, StandingsRow, names_needed
from himeji_server.store.audit import AuditRecord
from himeji_server.store.game_records import StoredGame
from himeji_server.store.ladder import LadderStore
from himeji_server.store.replies import AppendStatus
from himeji_server.store.result_outbox import PendingResult

BATCH: Final = 50
"""Results of one outbox that are settled in one go."""

MAX_TRIES: Final = 50
RETRY_SECONDS: Final = 60.0
"""How long a result that could not be settled is left alone while others go on."""

_log = structlog.get_logger(__name__)


class Rater:
    """Settles the results of all games."""

    def __init__(self, ladders: Ladders, store: LadderStore, interval: int) -> None:
        """`interval` is the number of results between two snapshots of the standings."""
        self._interval = interval
        self._ladders = ladders
        self._store = store
        self._standings = store.standings
        self._fair_play = FairPlay(store)
        self._retry_at: dict[str, float] = {}

    async def settle_all(self) -> int:
        """Settle what is in the outboxes; how many results that were."""
        waiting = await self._store.results.pending(BATCH)
        return sum([await self._settle_or_skip(each) for each in waiting])

    async def _settle_or_skip(self, result: PendingResult) -> bool:
        if self._retry_at.get(result.game_id, 0.0) > time.monotonic():
            return False
        try:
            await self.settle(result.game_id)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one bad result must not keep all others waiting
            _log.exception("cannot settle a result", game=result.game_id)
            self._retry_at[result.game_id] = time.monotonic() + RETRY_SECONDS
            return False
        await self._store.results.remove(result)
        self._retry_at.pop(result.game_id, None)
        return True

    async def settle(self, game_id: str) -> None:
        """Rate a result and release its bots. Idempotent."""
        try:
            stored = await self._store.games.head(game_id)
        except UnknownGame:
            return
        ladder = stored.header.ladder
        if not ladder:
            return
        result = GameResult.FromString(stored.result)
        if stored.header.rated and result.seats:
            await self._rate(ladder, stored, result)
        await self._release(ladder, stored)

    async def _rate(self, ladder: str, stored: StoredGame, result: GameResult) -> None:
        rated = RatedResult(ladder=ladder, game_id=stored.header.game_id, result=result)
        rated.end_time.FromMilliseconds(stored.ended)
        for seat in stored.seats:
            rated.seats.add(bot=seat.bot, bot_version=seat.bot_version)
        sequence, rows = await self._apply(ladder, rated)
        if sequence % self._interval == 0:
            await self._take_snapshot(ladder)
        if sequence != rated.sequence:  # rated before: the log has the ratings of that time
            (entry,) = await self._standings.entries(ladder, [sequence])
            rated, rows = RatedResult.FromString(entry.data), []
        record = AuditRecord(
            AuditKind.AUDIT_KIND_RATING_CHANGE, _description(rated), "", rated.game_id, ladder
        )
        await self._store.audit.append(record, f"rated {rated.game_id}")
        await self._fair_play.check(rated, rows, stored.version)

    async def _apply(self, ladder: str, rated: RatedResult) -> tuple[int, list[StandingsRow]]:
        """Rate a game unless it was rated before; its sequence and the rows of its bots."""
        names = names_needed((seat.bot, seat.bot_version) for seat in rated.seats)
        for _ in range(MAX_TRIES):
            head = await self._standings.head(ladder)
            rows = await self._standings.rows(ladder, head.season, names)
            start = await self._standings.starting_means(ladder, head.season, names)
            rated.sequence, rated.season = head.sequence + 1, head.season
            standings = Standings(
                {name: StandingsRow.from_json(text) for name, text in rows.items()}, start
            )
            changed = standings.apply(rated)
            status, sequence = await self._standings.rate(
                ladder,
                head,
                rated.game_id,
                entry=rated.SerializeToString(),
                rows={row.name: row.to_json() for row in changed},
                bots=(seat.bot for seat in rated.seats),
            )
            if status is not AppendStatus.CONFLICT:
                return sequence, changed
        raise StoreUnavailable("the standings change too fast, try again")

    async def _take_snapshot(self, ladder: str) -> None:
        """Copy the standings as they are, which may be some results later.

        A void is cheap because of it, and right without it.
        """
        snapshots = self._store.snapshots
        for _ in range(MAX_TRIES):
            head = await self._standings.head(ladder)
            found = await snapshots.sequences(ladder, head.season)
            if await snapshots.take(ladder, head, superseded(found, head.sequence, self._interval)):
                return

    async def _release(self, ladder: str, stored: StoredGame) -> None:
        """Free the bots for the next pairing; those that never answered lose their ticket."""
        silent: list[str] = []
        if ladder in self._ladders.names and not stored.started:
            late = has_timed_out(stored, self._ladders[ladder].ready)
            silent = unanswered(stored) if late else []
        await self._store.queues.release(
            ladder, stored.header.game_id, begun=bool(stored.started), silent=silent
        )


def _description(rated: RatedResult) -> str:
    """How a game changed the ratings, for the audit log."""
    changes = [
        f"{seat.bot}@{seat.bot_version} rank {rated.result.seats[number].rank}: "
        f"{seat.before.mean:.3f}±{seat.before.uncertainty:.3f} to "
        f"{seat.after.mean:.3f}±{seat.after.uncertainty:.3f}"
        for number, seat in enumerate(rated.seats)
    ]
    return f"result {rated.sequence} of season {rated.season}: {'; '.join(changes)}"
