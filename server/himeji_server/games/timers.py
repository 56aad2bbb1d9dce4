"""What time does to games: begins and cancels them, lets flags fall, plays for lost seats."""

from __future__ import annotations

import asyncio

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.rules.stand_in import stand_in
from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry

from himeji_server.games.live_game import LiveGame
from himeji_server.games.live_games import LiveGames
from himeji_server.store.client import StoreRefusedError
from himeji_server.store.game_records import OVER, PLAYING, WAITING, ClockCondition

_log = structlog.get_logger(__name__)


class Timers:
    """Does what is due, for all games of a store."""

    def __init__(self, live_games: LiveGames) -> None:
        self._live_games = live_games
        self._live_games.stand_in_is_asked = self._soon
        self._tasks: set[asyncio.Task[None]] = set()

    async def sweep(self, most: int = 20) -> int:
        """Do what is due in this store: begin or cancel games, let flags fall, play for lost seats.

        Any number of hosts may sweep at once; each change is made by the first to commit it.
        """
        now = await self._live_games.games.now()
        due = await self._live_games.games.due(now, most)
        for game_id in due:
            await self._due(game_id, now)
        return len(due)

    async def _due(self, game_id: str, now: int) -> None:
        try:
            if (await self._live_games.games.head(game_id)).state == OVER:
                await self._compact(game_id)
                return
            async with self._live_games.locks.at(game_id):
                await self._do_what_is_due(await self._live_games.fresh(game_id), now)
        except UnknownGame:
            await self._live_games.games.remove_timer(game_id)
        except (StoreUnavailable, StoreRefusedError):
            _log.warning("cannot do what is due: the store does not answer", game=game_id)
        except Exception:  # noqa: BLE001 - one bad game must not keep all others waiting
            _log.exception("fault in what is due", game=game_id)

    async def _do_what_is_due(self, game: LiveGame, now: int) -> None:
        stored = game.stored
        if stored.state == WAITING and game.open_seats() and stored.expires <= now:
            await self._live_games.stop(game, EndReason.END_REASON_CANCELLED)
        elif stored.state == WAITING:
            await self._live_games.begin(game)
        elif stored.state == PLAYING and stored.seats[stored.seat].lost:
            await self._stand_in(game)
        elif stored.state == PLAYING and self._struck_out(game):
            await self._live_games.lose(game, stored.seat, EndReason.END_REASON_STRIKES)
        elif stored.state == PLAYING:
            reason = await self._live_games.flag_reason(stored.seats[stored.seat].bot)
            await self._live_games.lose(game, stored.seat, reason, clock=ClockCondition.FALLEN)

    async def _compact(self, game_id: str) -> None:
        """Keep a game that is over in less room."""
        stored = await self._live_games.games.load(game_id)
        if [entry.version for entry in stored.log] == [*range(1, stored.version + 1)]:
            await self._live_games.games.compact(stored)
        else:  # what is left of it stays as it is
            await self._live_games.games.remove_timer(game_id)

    @staticmethod
    def _struck_out(game: LiveGame) -> bool:
        """Whether whoever counted the last strike of the asked seat did not come to end it."""
        return game.stored.seats[game.stored.seat].strikes >= game.header.strike_limit

    async def _stand_in(self, game: LiveGame) -> None:
        """Answer for a lost seat until somebody else is asked."""
        engine, seat = game.engine, game.stored.seat
        if engine is None:
            return
        played = []
        while engine.to_move == seat:
            played.append(stand_in(engine))
            engine.apply(played[-1])
        version = game.stored.version + 1
        words = ChainEntry(version, LogCause.LOG_CAUSE_STAND_IN, seat, tuple(played))
        await self._live_games.commit(game, engine, words)

    def _soon(self, game_id: str) -> None:
        """Let the stand-in play at once; if this process dies first, a sweep does it."""
        task = asyncio.create_task(self._due(game_id, self._live_games.now()))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
