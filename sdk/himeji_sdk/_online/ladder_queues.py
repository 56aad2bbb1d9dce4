"""The ladder queues that a bot is in, and the requests that enter and leave them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from himeji.rules.errors import HimejiError, Refused, UnknownLadder
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.play_service_pb2 import Notice, NoticeKind, PlayRequest, Rejected

from himeji_sdk._client.rpc import new_entropy

_REMOVED: Final = (NoticeKind.NOTICE_KIND_LEFT, NoticeKind.NOTICE_KIND_LADDER_CLOSED)
_NOT_SEATED: Final = (NoticeKind.NOTICE_KIND_UNSEATED, NoticeKind.NOTICE_KIND_SEATING_FAILED)


class LadderQueues:
    """Which ladders a bot plays on, and how many games of each at once."""

    def __init__(self, ladders: Iterable[str] = (), at_once: int = 1) -> None:
        self._ladders = dict.fromkeys(ladders)
        self._at_once = at_once
        self._used = bool(self._ladders)
        self._entered: set[str] = set()
        self._unconfirmed_leaves = 0

    @property
    def left_all(self) -> bool:
        """Whether the bot played on ladders, and is to play on none any more."""
        return self._used and not self._ladders

    def enter(self) -> list[PlayRequest]:
        """Requests that put the bot into its queues, and keep it there."""
        requests = []
        for ladder in self._ladders:
            request = PlayRequest()
            request.enter.ladder, request.enter.max_games = ladder, self._at_once
            request.enter.again = ladder in self._entered
            requests.append(request)
        return requests

    def pause(self) -> list[PlayRequest]:
        """Requests that take the bot out of all queues; it may enter again."""
        if not self._ladders:
            return []
        self._unconfirmed_leaves += 1
        request = PlayRequest()
        request.leave.ladder = ""
        return [request]

    def leave(self) -> list[PlayRequest]:
        """Requests that take the bot out of all queues for good."""
        requests = self.pause()
        self._ladders.clear()
        return requests

    def on_new_stream(self) -> None:
        """Answers to requests of the old stream will not come."""
        self._unconfirmed_leaves = 0

    def on_notice(self, notice: Notice) -> None:
        """Note that the bot is in a queue, or was taken out of it by somebody else."""
        if notice.kind == NoticeKind.NOTICE_KIND_ENTERED:
            self._entered.add(notice.ladder)
        elif notice.kind == NoticeKind.NOTICE_KIND_LEFT and self._unconfirmed_leaves:
            self._unconfirmed_leaves -= 1
        elif notice.kind in _REMOVED:
            for ladder in [notice.ladder] if notice.ladder else list(self._ladders):
                self._ladders.pop(ladder, None)


def is_seating_failed(notice: Notice) -> bool:
    """Whether the notice says that its game will never begin."""
    return notice.kind in _NOT_SEATED


def ready_request(game_id: str) -> PlayRequest:
    """Accepts a seat that the arena offers."""
    request = PlayRequest()
    request.ready.game_id = game_id
    request.ready.entropy = new_entropy()
    return request


def decline_request(game_id: str) -> PlayRequest:
    """Declines a seat that the arena offers."""
    request = PlayRequest()
    request.ready.game_id = game_id
    request.ready.decline = True
    return request


def rejection_error(rejected: Rejected) -> HimejiError:
    """Why a queue cannot be entered, as an error."""
    unknown = rejected.reason == ErrorReason.ERROR_REASON_UNKNOWN_LADDER
    return UnknownLadder(rejected.message) if unknown else Refused(rejected.message)
