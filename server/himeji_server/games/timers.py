"""Due timers: begins and cancels games, ends the parts of seats whose flag fell, plays stand-ins.

The store has one timer for each game. Any number of processes sweep at once; each change is made by
the first one that commits it.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.rules.game import stand_in
from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry

from himeji_server import metrics
from himeji_server.games.commits import Change, Commits
from himeji_server.games.live_game import LiveGame
from himeji_server.store.errors import StoreRefusedError
from himeji_server.store.game_records import OVER, PLAYING, WAITING, ClockCondition
from himeji_server.tasks import TaskSet

SWEEP_SECONDS: Final = 0.25
MOST_DUE: Final = 20  # timers of each bucket that one sweep handles

_log = structlog.get_logger(__name__)


class Timers:
    """Handles the due timers of a store."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._live_games = commits.live_games
        self._store = commits.live_games.store
        self._tasks = TaskSet()

    async def run(self) -> None:
        """Sweep again and again; returns only by being cancelled."""
        reachable = True
        while True:
            try:
                metrics.DUE.inc(await self.sweep())
                metrics.SWEEPS.inc()
                reachable = True
            except (StoreUnavailable, StoreRefusedError) as error:
                if reachable:
                    _log.warning("cannot sweep timers", why=str(error))
                reachable = False
            await asyncio.sleep(SWEEP_SECONDS)

    async def run_stand_ins(self) -> None:
        """Let stand-ins answer without waiting for a sweep; returns only by being cancelled."""
        while True:
            game_id = await self._commits.stand_ins.get()
            self._tasks.start(self._handle(game_id, self._live_games.clock.now()))

    async def sweep(self, most: int = MOST_DUE) -> int:
        """Handle the timers that are due; how many there were."""
        now = await self._live_games.read_time()
        due = await self._store.due(now, most)
        for game_id in due:
            await self._handle(game_id, now)
        return len(due)

    async def _handle(self, game_id: str, now: int) -> None:
        try:
            if (await self._store.head(game_id)).state == OVER:
                await self._compact(game_id)
                return
            async with self._live_games.locks.hold(game_id):
                await self._change(await self._live_games.refresh(game_id), now)
        except UnknownGame:
            await self._store.remove_timer(game_id)
        except (StoreUnavailable, StoreRefusedError):
            _log.warning("cannot handle a due timer: the store does not answer", game=game_id)
        except Exception:  # noqa: BLE001 - one bad game must not hold up all others
            _log.exception("unexpected error in a due timer", game=game_id)

    async def _change(self, game: LiveGame, now: int) -> None:
        """Make the change that is due in a game that is not over."""
        stored = game.stored
        if stored.state == WAITING and game.view.open_seats() and stored.expires <= now:
            await self._commits.stop(game, EndReason.END_REASON_CANCELLED)
        elif stored.state == WAITING:
            await self._commits.begin(game)
        elif stored.state == PLAYING and stored.seats[stored.seat].lost:
            await self._play_stand_in(game)
        elif stored.state == PLAYING and _has_struck_out(game):
            await self._commits.lose_seat(game, stored.seat, EndReason.END_REASON_STRIKES)
        elif stored.state == PLAYING:
            reason = await self._commits.flag_reason(stored.seats[stored.seat].bot)
            await self._commits.lose_seat(game, stored.seat, reason, clock=ClockCondition.FALLEN)

    async def _compact(self, game_id: str) -> None:
        """Store a game that is over in less memory."""
        stored = await self._store.load(game_id)
        if [entry.version for entry in stored.log] == [*range(1, stored.version + 1)]:
            await self._store.compact(stored)
        else:  # a part of its log is lost: what is left stays as it is
            await self._store.remove_timer(game_id)

    async def _play_stand_in(self, game: LiveGame) -> None:
        """Answer for a lost seat until another seat is asked."""
        engine, seat = game.engine, game.stored.seat
        if engine is None:
            return
        game.played.is_ahead = True
        played = []
        while engine.to_move == seat:
            played.append(stand_in(engine))
            engine.apply(played[-1])
        version = game.stored.version + 1
        entry = ChainEntry(version, LogCause.LOG_CAUSE_STAND_IN, seat, tuple(played))
        await self._commits.commit(game, engine, Change(entry))


def _has_struck_out(game: LiveGame) -> bool:
    """Whether the process that counted the last strike of the asked seat died before ending it."""
    return game.stored.seats[game.stored.seat].strikes >= game.view.header.strike_limit
