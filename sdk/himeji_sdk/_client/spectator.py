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
from himeji_sdk._client.remote_mirror import RemoteMirror, end_of
from himeji_sdk._client.rpc import RpcClient


@dataclass(frozen=True)
class Sight:
    """A moment of a game that is watched."""

    game: Game | None
    """The position, as the caller's own copy; None for a game that ended before it began."""

    happened: tuple[str, ...]
    """What happened since the moment before, in words."""

    end: End | None = None
    """How the game ended, in its last moment."""


def watch_game(rpc: RpcClient, game: GameMessage, seat: int) -> Iterator[Sight]:
    """Everything that happens, from the beginning to the end; the last End is that of a seat."""
    spectator = _Spectator(rpc, game, seat)
    while not spectator.over:
        yield from spectator.read_stream()


class _Spectator:
    """Watches a game over as many streams as it takes."""

    def __init__(self, rpc: RpcClient, game: GameMessage, seat: int) -> None:
        self.over = False
        self._rpc = rpc
        self._seat = seat
        self._game_id = game.game_id
        self._mirror = RemoteMirror(game)
        self._retries = rpc.retries()

    def read_stream(self) -> Iterator[Sight]:
        """Read one stream from the first unknown event on; waits after one that broke."""
        request = WatchGameRequest(game_id=self._game_id, event_count=self._mirror.event_count)
        request.wants.append(Want.WANT_EVENT_TEXTS)
        error: HimejiError = Unavailable("the stream ended unexpectedly")
        try:
            stream = self._rpc.games.WatchGame(request, metadata=self._rpc.metadata)
            for message in stream:
                self._retries = self._rpc.retries()
                yield from self._read_message(message)
        except grpc.RpcError as failure:
            error = from_rpc_error(failure)
        if not self.over:
            self._retries.wait(error)

    def _read_message(self, message: WatchGameResponse) -> Iterator[Sight]:
        if message.HasField("update"):
            yield from self._sights(message.update)
        elif message.HasField("game_over"):
            self.over = True
            end = end_of(self._game_id, self._seat, message.game_over.result)
            yield from self._sights(message.game_over, end)

    def _sights(self, message: GameUpdate | GameOver, end: End | None = None) -> Iterator[Sight]:
        known = self._mirror.event_count - message.first_event
        fresh = message.events[known:]
        self._mirror.feed(message.first_event, message.events)
        position = self._mirror.game if self._mirror.event_count else None
        if position is not None or end is not None:
            yield Sight(position, tuple(event.text for event in fresh), end)
