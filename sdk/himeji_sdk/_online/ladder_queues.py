"""The ladder queues that a bot is in, and the requests that enter and leave them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from himeji.rules.errors import HimejiError, Refused, UnknownLadder
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.play_service_pb2 import (
    ClientMessage,
    EnteredQueue,
    LeftQueue,
    LeftQueueReason,
    Rejected,
)

from himeji_sdk._client.rpc import new_entropy


class LadderQueues:
    """Which ladders a bot plays on, and how many games of each at once."""

    def __init__(self, ladders: Iterable[str] = (), at_once: int = 1) -> None:
        self._ladders = dict.fromkeys(ladders)
        self._at_once = at_once
        self._used = bool(self._ladders)
        self._entered: set[str] = set()
        self._entry_id = secrets.token_hex(16)  # one run enters a queue once

    @property
    def left_all(self) -> bool:
        """Whether the bot played on ladders, and is to play on none any more."""
        return self._used and not self._ladders

    def enter(self) -> list[ClientMessage]:
        """Requests that put the bot into its queues, and keep it there."""
        requests = []
        for ladder in self._ladders:
            request = ClientMessage()
            request.enter.ladder, request.enter.max_games = ladder, self._at_once
            request.enter.again = ladder in self._entered
            request.enter.entry_id = self._entry_id
            requests.append(request)
        return requests

    def pause(self) -> list[ClientMessage]:
        """Requests that take the bot out of all queues; it may enter again."""
        if not self._ladders:
            return []
        request = ClientMessage()
        request.leave.ladder = ""
        return [request]

    def leave(self) -> list[ClientMessage]:
        """Requests that take the bot out of all queues for good."""
        requests = self.pause()
        self._ladders.clear()
        return requests

    def on_entered(self, entered: EnteredQueue) -> None:
        """Note that the bot is in a queue."""
        self._entered.add(entered.ladder)

    def on_left(self, left: LeftQueue) -> None:
        """Play no more on a ladder whose queue the bot left without asking for it."""
        if left.reason != LeftQueueReason.LEFT_QUEUE_REASON_ASKED:
            self._ladders.pop(left.ladder, None)


def ready_request(game_id: str, bot: str) -> ClientMessage:
    """Accepts a seat that the arena offers to a bot."""
    request = ClientMessage()
    request.ready.game_id = game_id
    request.ready.entropy = new_entropy(bot)
    return request


def decline_request(game_id: str) -> ClientMessage:
    """Declines a seat that the arena offers."""
    request = ClientMessage()
    request.ready.game_id = game_id
    request.ready.decline = True
    return request


def rejection_error(rejected: Rejected) -> HimejiError:
    """Why a queue cannot be entered, as an error."""
    unknown = rejected.reason == ErrorReason.ERROR_REASON_UNKNOWN_LADDER
    return UnknownLadder(rejected.message) if unknown else Refused(rejected.message)
