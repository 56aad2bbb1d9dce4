"""One lock for each game, in this process.

Whoever changes a game in memory, or reads it from the store, holds its lock. Other processes are
not locked out: the store compares versions, and the slower one tries again. Waiting is bounded,
because a store that hangs would otherwise gather waiters without end. The quick path of an answer
takes a free lock without a coroutine (`acquire_if_free`). A call that holds a lock, or waits for
it, is not paused for want of processor time (processor_shares.py): others may wait for the game.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from himeji.rules.errors import StoreUnavailable

from himeji_server.processor_shares import allow_pauses, forbid_pauses

LOCK_SECONDS: Final = 5.0


class GameLocks:
    """The locks by game; a free one takes no memory."""

    def __init__(self) -> None:
        self._waiters: dict[str, deque[asyncio.Future[None]]] = {}  # only of locks that are held

    def hold(self, game_id: str) -> GameLock:
        """The lock of a game, for `async with`; raises StoreUnavailable after LOCK_SECONDS."""
        return GameLock(self, game_id)

    def acquire_if_free(self, game_id: str) -> bool:
        """Take the lock if nobody holds it."""
        if game_id in self._waiters:
            return False
        self._waiters[game_id] = deque()
        return True

    async def acquire(self, game_id: str) -> None:
        """Wait for the lock, first come, first served."""
        if self.acquire_if_free(game_id):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiters[game_id].append(turn)
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.release(game_id)  # it was handed over too late
            if isinstance(error, TimeoutError):
                raise StoreUnavailable("too many wait for this game, try again") from None
            raise

    def release(self, game_id: str) -> None:
        """Hand the lock to the next waiter, or free it."""
        waiters = self._waiters[game_id]
        while waiters:
            turn = waiters.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._waiters[game_id]


class GameLock:
    """The lock of one game as an asynchronous context manager."""

    __slots__ = ("_game_id", "_locks")

    def __init__(self, locks: GameLocks, game_id: str) -> None:
        self._locks = locks
        self._game_id = game_id

    async def __aenter__(self) -> None:
        forbid_pauses()
        try:
            await self._locks.acquire(self._game_id)
        except BaseException:
            allow_pauses()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._locks.release(self._game_id)
        allow_pauses()
