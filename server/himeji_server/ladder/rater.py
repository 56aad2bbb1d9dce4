"""The rater: takes results from the outboxes and settles each of them, exactly once.

A result is rated, written into the audit log and its bots released, each of which can be done
again without effect; only then it leaves the outbox. So a rater may die between any two steps,
and several may work at once.
"""

import time
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.v1.game_pb2 import GameResult
from himeji.v1.ladder_service_pb2 import AuditKind, RatedResult

from himeji_server.ladder.fair_play import FairPlay
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.ready_check import ran_out, unanswered
from himeji_server.ladder.standings import Row, Standings, names_needed
from himeji_server.store.audit import AuditRecord
from himeji_server.store.game_records import StoredGame
from himeji_server.store.ladder import LadderStore
from himeji_server.store.replies import AppendStatus
from himeji_server.store.result_outbox import PendingResult

MOST_AT_ONCE: Final = 50
TRIES: Final = 50
SECONDS_AFTER_A_FAULT: Final = 60.0
"""A result that cannot be settled waits so long, and all others go on."""

_log = structlog.get_logger(__name__)


class Rater:
    """Settles the results of all games."""

    def __init__(self, ladders: Ladders, store: LadderStore) -> None:
        self._ladders = ladders
        self._store = store
        self._boards = store.standings
        self._fair_play = FairPlay(store)
        self._faulty: dict[str, float] = {}

    async def settle_all(self) -> int:
        """Settle what waits; how many results that were."""
        waiting = await self._store.results.pending(MOST_AT_ONCE)
        return sum([await self._settle_or_skip(each) for each in waiting])

    async def _settle_or_skip(self, result: PendingResult) -> bool:
        if self._faulty.get(result.game_id, 0.0) > time.monotonic():
            return False
        try:
            await self.settle(result.game_id)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one bad result must not keep all others waiting
            _log.exception("fault in a result", game=result.game_id)
            self._faulty[result.game_id] = time.monotonic() + SECONDS_AFTER_A_FAULT
            return False
        await self._store.results.remove(result)
        self._faulty.pop(result.game_id, None)
        return True

    async def settle(self, game_id: str) -> None:
        """Do everything that follows from a result; doing it again changes nothing."""
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
        sequence, rows = await self._add(ladder, rated)
        if sequence != rated.sequence:  # it was rated before; the log has the figures of then
            (entry,) = await self._boards.entries(ladder, [sequence])
            rated, rows = RatedResult.FromString(entry.data), []
        record = AuditRecord(
            AuditKind.AUDIT_KIND_RATING_CHANGE, _words(rated), "", rated.game_id, ladder
        )
        await self._store.audit.append(record, f"rated {rated.game_id}")
        await self._fair_play.look(rated, rows, stored.version)

    async def _add(self, ladder: str, rated: RatedResult) -> tuple[int, list[Row]]:
        """Rate a game unless it was; its sequence and the rows of its bots."""
        names = names_needed((seat.bot, seat.bot_version) for seat in rated.seats)
        for _ in range(TRIES):
            head = await self._boards.head(ladder)
            rows = await self._boards.rows(ladder, head.season, names)
            start = await self._boards.starting_means(ladder, head.season, names)
            rated.sequence, rated.season = head.sequence + 1, head.season
            board = Standings({name: Row.parse(text) for name, text in rows.items()}, start)
            changed = board.take(rated)
            status, sequence = await self._boards.rate(
                ladder,
                head,
                rated.game_id,
                entry=rated.SerializeToString(),
                rows={row.name: row.text() for row in changed},
                bots=(seat.bot for seat in rated.seats),
            )
            if status is not AppendStatus.CONFLICT:
                return sequence, changed
        raise StoreUnavailable("the table changes too fast, try again")

    async def _release(self, ladder: str, stored: StoredGame) -> None:
        """Let the bots be seated again; those who were silent until the end must enter again."""
        silent: list[str] = []
        if ladder in self._ladders.names and not stored.started:
            late = ran_out(stored, self._ladders[ladder].ready)
            silent = unanswered(stored) if late else []
        await self._store.queues.release(
            ladder, stored.header.game_id, begun=bool(stored.started), silent=silent
        )


def _words(rated: RatedResult) -> str:
    """What a game did to the ratings."""
    changes = [
        f"{seat.bot}@{seat.bot_version} rank {rated.result.seats[number].rank}: "
        f"{seat.before.mean:.3f}±{seat.before.uncertainty:.3f} to "
        f"{seat.after.mean:.3f}±{seat.after.uncertainty:.3f}"
        for number, seat in enumerate(rated.seats)
    ]
    return f"result {rated.sequence} of season {rated.season}: {'; '.join(changes)}"
