"""The bounded queue of messages to one client; a newer decision replaces an unread older one."""

import asyncio
from typing import Final

from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import PlayResponse, ServerMessage

BATCH_SIZE: Final = 64
"""Messages in one PlayResponse, at most; play_service.proto promises it."""


class Outbox:
    """Messages for one client."""

    def __init__(self, most: int) -> None:
        """`most` messages may wait."""
        self._most = most
        self._waiting: list[ServerMessage] = []
        self._decisions: dict[str, int] = {}  # game: place of its decision among those waiting
        self._reader: asyncio.Future[None] | None = None  # whoever waits for a message
        self._closed = False

    def put(self, message: ServerMessage) -> bool:
        """Add a message; False if too many wait already."""
        if self._closed:
            return True
        decision = message.decision if message.WhichOneof("body") == "decision" else None
        if decision is not None and self._replaces(decision):
            return True
        if len(self._waiting) >= self._most:
            return False
        if decision is not None:
            self._decisions[decision.game_id] = len(self._waiting)
        self._waiting.append(message)
        self._wake()
        return True

    def _replaces(self, newer: Decision) -> bool:
        """Put a decision where an older one of its game was never read, with what that one told."""
        place = self._decisions.get(newer.game_id)
        if place is None:
            return False
        older = self._waiting[place].decision
        if older.first_event + len(older.events) != newer.first_event:
            return False  # something between the two was told in another message
        whole = ServerMessage(decision=newer)
        del whole.decision.events[:]
        whole.decision.first_event = older.first_event
        whole.decision.events.extend([*older.events, *newer.events])
        self._waiting[place] = whole
        return True

    def close(self, last: ServerMessage) -> None:
        """Nothing comes after this message."""
        if not self._closed:
            self._closed = True
            self._waiting.append(last)
            self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def batches(self) -> list[PlayResponse]:
        """What is to be written, as soon as anything waits; nothing at the end."""
        if not self._waiting and not self._closed:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        waiting, self._waiting, self._decisions = self._waiting, [], {}
        # Each message is copied once, here: it may be replaced until now, so that it cannot be
        # built inside its batch.
        return [
            PlayResponse(messages=waiting[begin : begin + BATCH_SIZE])
            for begin in range(0, len(waiting), BATCH_SIZE)
        ]
