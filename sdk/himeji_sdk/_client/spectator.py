"""A game in an arena as a spectator sees it: each position, and what led to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import grpc
from himeji.rules import Game
from himeji.rules.errors import HimejiError, Unavailable
from himeji.v1.game_pb2 import Game as GameMessage, GameOver, Want
from himeji.v1.game_service_pb2 import GameUpdate, WatchGameRequest, WatchGameResponse
from himeji.wire.errors import from_rpc_error

from himeji_sdk._bot import End
from himeji_sdk._client.remote_mirror import Following, end_of
from himeji_sdk._client.rpc import Calls


@dataclass(frozen=True)
class Sight:
    """A moment of a game that is watched."""

    game: Game | None
    """The position, as the caller's own copy; None for a game that ended before it began."""

    happened: tuple[str, ...]
    """What happened since the moment before, in words."""

    end: End | None = None
    """How the game ended, in its last moment."""


def sights(call: Calls, game: GameMessage, seat: int) -> Iterator[Sight]:
    """Everything that happens, from the beginning to the end; the end is that of a seat."""
    spectator = _Spectator(call, game, seat)
    while not spectator.seen_the_end:
        yield from spectator.look()


class _Spectator:
    """Watches over as many streams as it takes."""

    def __init__(self, call: Calls, game: GameMessage, seat: int) -> None:
        self.seen_the_end = False
        self._call = call
        self._seat = seat
        self._game_id = game.game_id
        self._following = Following(game)
        self._again = call.tries()

    def look(self) -> Iterator[Sight]:
        """What one stream tells; a stream that breaks is waited for, and the next one goes on."""
        request = WatchGameRequest(game_id=self._game_id, event_count=self._following.count)
        request.wants.append(Want.WANT_EVENT_TEXTS)
        error: HimejiError = Unavailable("the stream ended without a word")
        try:
            stream = self._call.games.WatchGame(request, metadata=self._call.metadata)
            for message in stream:
                self._again = self._call.tries()
                yield from self._told(message)
        except grpc.RpcError as failure:
            error = from_rpc_error(failure)
        if not self.seen_the_end:
            self._again(error)

    def _told(self, message: WatchGameResponse) -> Iterator[Sight]:
        if message.HasField("update"):
            yield from self._happened(message.update)
        elif message.HasField("game_over"):
            self.seen_the_end = True
            end = end_of(self._game_id, self._seat, message.game_over.result)
            yield from self._happened(message.game_over, end)

    def _happened(self, news: GameUpdate | GameOver, end: End | None = None) -> Iterator[Sight]:
        known = self._following.count - news.first_event
        fresh = news.events[known:]
        self._following.take(news.first_event, news.events)
        position = self._following.game if self._following.count else None
        if position is not None or end is not None:
            yield Sight(position, tuple(event.text for event in fresh), end)
