"""Turns at a game: whoever changes it, or looks closely, has it alone, and nobody waits long."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from himeji.rules.errors import StoreUnavailable

SECONDS_IN_LINE: Final = 5.0
"""While the store hangs, everybody in line would add up."""


class GameLocks:
    """Who has which game; a game that nobody has costs nothing."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    def at(self, game_id: str) -> GameLock:
        """A turn at a game, to be had by `async with`; raises StoreUnavailable."""
        return GameLock(self, game_id)

    def take_if_free(self, game_id: str) -> bool:
        """Have the game if nobody else does."""
        if game_id in self._lines:
            return False
        self._lines[game_id] = deque()
        return True

    async def take(self, game_id: str) -> None:
        """Wait until nobody else has the game."""
        if self.take_if_free(game_id):
            return
        line = self._lines[game_id]
        place = asyncio.get_running_loop().create_future()
        line.append(place)
        try:
            async with asyncio.timeout(SECONDS_IN_LINE):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():
                self.give(game_id)  # it came, and too late
            if isinstance(error, TimeoutError):
                raise StoreUnavailable("too many wait for this game, try again") from None
            raise

    def give(self, game_id: str) -> None:
        """Let the next in line have the game."""
        line = self._lines[game_id]
        while line:
            place = line.popleft()
            if not place.done():
                place.set_result(None)
                return
        del self._lines[game_id]


class GameLock:
    """One turn at one game."""

    __slots__ = ("_game_id", "_locks")

    def __init__(self, locks: GameLocks, game_id: str) -> None:
        self._locks = locks
        self._game_id = game_id

    async def __aenter__(self) -> None:
        await self._locks.take(self._game_id)

    async def __aexit__(self, *_: object) -> None:
        self._locks.give(self._game_id)
