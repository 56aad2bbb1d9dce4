"""The bounded queue of messages to one client; a newer decision replaces an unread older one."""

import asyncio
from typing import Final

from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import PlayResponse

BATCH_SIZE: Final = 64
"""Messages that are sent as one, at most."""


class Outbox:
    """Messages for one client."""

    def __init__(self, most: int, *, batches: bool = False) -> None:
        """`most` messages may wait; `batches`: the client takes several as one."""
        self._most = most
        self._batches = batches
        self._waiting: list[PlayResponse] = []
        self._decisions: dict[str, int] = {}  # game: place of its decision among those waiting
        self._reader: asyncio.Future[None] | None = None  # whoever waits for a message
        self._closed = False

    def put(self, message: PlayResponse) -> bool:
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
        whole = PlayResponse(decision=newer)
        del whole.decision.events[:]
        whole.decision.first_event = older.first_event
        whole.decision.events.extend([*older.events, *newer.events])
        self._waiting[place] = whole
        return True

    def close(self, last: PlayResponse) -> None:
        """Nothing comes after this message."""
        if not self._closed:
            self._closed = True
            self._waiting.append(last)
            self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def waiting(self) -> list[PlayResponse]:
        """What is to be written, as soon as anything waits; nothing at the end."""
        if not self._waiting and not self._closed:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        batch, self._waiting, self._decisions = self._waiting, [], {}
        return batched(batch) if self._batches else batch


def batched(batch: list[PlayResponse]) -> list[PlayResponse]:
    """The same messages, in as few as possible."""
    firsts = batch[::BATCH_SIZE]
    for number, first in enumerate(firsts):
        begin = number * BATCH_SIZE
        first.more.extend(batch[begin + 1 : begin + BATCH_SIZE])
    return firsts
