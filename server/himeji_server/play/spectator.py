"""A spectator's stream: the game as it is, then each new version, then its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from himeji.rules.errors import HimejiError
from himeji.v1.game_pb2 import GameSeat, Want
from himeji.v1.game_service_pb2 import WatchGameRequest, WatchGameResponse

from himeji_server.accounts.open_streams import token_ended
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import (
    event_count,
    game_message,
    game_over_message,
    update_message,
)
from himeji_server.games.notifications import POLL_SECONDS
from himeji_server.games.use_cases import GameUseCases
from himeji_server.play.stream_end import StreamEnd
from himeji_server.store.game_records import OVER
from himeji_server.tasks import wait_for

COMPLETE: Final = StreamEnd.complete("the game is over")


class Spectator:
    """One spectator of one game."""

    def __init__(
        self, use_cases: GameUseCases, request: WatchGameRequest, ended: asyncio.Event
    ) -> None:
        """`ended` is set when the spectator's token works no more."""
        self._use_cases = use_cases
        self._ended = ended
        self._game_id = request.game_id
        self._wants = frozenset(request.wants)
        self._events = event_count(request)
        self._seats: list[GameSeat] = []
        self._told = -1
        self._over = False

    async def run(self) -> AsyncGenerator[WatchGameResponse, None]:
        """Everything there is to tell, and why it ends; raises the error it ends with, if any."""
        end = COMPLETE
        try:
            async with aclosing(self._messages()) as messages:
                async for message in messages:
                    yield message
            end = COMPLETE if self._over else StreamEnd.draining()
        except HimejiError as error:
            end = StreamEnd.by(error)
        yield WatchGameResponse(stream_end=end.to_message())
        if end.error is not None:
            raise end.error

    async def _messages(self) -> AsyncGenerator[WatchGameResponse, None]:
        """Updates until the game is over or this process stops; raises when the token ends."""
        wake, stopping = asyncio.Event(), self._use_cases.stopping
        async with self._use_cases.wake_on_change(self._game_id, wake, stopping, self._ended):
            while not stopping.is_set():
                wake.clear()
                view = await self._use_cases.view(self._game_id)
                if self._ended.is_set():
                    raise token_ended()
                for message in await self._news(view):
                    yield message
                if self._over:
                    return
                await wait_for(wake, POLL_SECONDS)

    async def _news(self, view: GameView) -> list[WatchGameResponse]:
        news, stored = [], view.stored
        if stored.version != self._told:
            seats = await self._changed_seats(view)
            wants = self._wants
            if self._events is None:
                wants = wants | {Want.WANT_POSITION}
            update = update_message(view, self._events, wants, self._use_cases.now())
            update.seats.extend(seats)
            news.append(WatchGameResponse(update=update))
            self._told = stored.version
            self._events = view.event_count
        if stored.state == OVER:
            self._over = True
            over = game_over_message(view, None, self._events, self._wants)
            news.append(WatchGameResponse(game_over=over))
        return news

    async def _changed_seats(self, view: GameView) -> list[GameSeat]:
        """All seats, if one of them is not as it was sent last; else none."""
        connected = await self._use_cases.connected(view)
        seats = list(game_message(view, connected.__contains__).seats)
        if seats == self._seats:
            return []
        self._seats = seats
        return seats
