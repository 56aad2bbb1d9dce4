"""The queues of ladders that a bot is in, as its runner keeps them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Final

from himeji.rules.errors import HimejiError, Refused, UnknownLadder
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.play_service_pb2 import Notice, NoticeKind, PlayRequest, Rejected

ENTROPY_BYTES: Final = 16
_OUT: Final = (NoticeKind.NOTICE_KIND_LEFT, NoticeKind.NOTICE_KIND_LADDER_CLOSED)
_FAILED: Final = (NoticeKind.NOTICE_KIND_UNSEATED, NoticeKind.NOTICE_KIND_SEATING_FAILED)


class Queueing:
    """Which ladders a bot plays on, and how many games of each at once."""

    def __init__(self, ladders: Iterable[str] = (), at_once: int = 1) -> None:
        self._ladders = dict.fromkeys(ladders)
        self._at_once = at_once
        self._queued = bool(self._ladders)
        self._entered: set[str] = set()
        self._own = 0  # times that the bot left by itself and has not heard the answer

    @property
    def over(self) -> bool:
        """Whether the bot was in queues, and is to be in none any more."""
        return self._queued and not self._ladders

    def enter(self) -> list[PlayRequest]:
        """What puts the bot into its queues, and keeps it there."""
        requests = []
        for ladder in self._ladders:
            request = PlayRequest()
            request.enter.ladder, request.enter.max_games = ladder, self._at_once
            request.enter.again = ladder in self._entered
            requests.append(request)
        return requests

    def pause(self) -> list[PlayRequest]:
        """What takes the bot out of all queues; it may enter again."""
        if not self._ladders:
            return []
        self._own += 1
        request = PlayRequest()
        request.leave.ladder = ""
        return [request]

    def leave(self) -> list[PlayRequest]:
        """What takes the bot out of all queues for good."""
        requests = self.pause()
        self._ladders.clear()
        return requests

    def new_stream(self) -> None:
        """Answers that have not come will not come."""
        self._own = 0

    def told(self, notice: Notice) -> None:
        """Take in that the bot is in a queue, or out of it because somebody else said so."""
        if notice.kind == NoticeKind.NOTICE_KIND_ENTERED:
            self._entered.add(notice.ladder)
        elif notice.kind == NoticeKind.NOTICE_KIND_LEFT and self._own:
            self._own -= 1
        elif notice.kind in _OUT:
            for ladder in [notice.ladder] if notice.ladder else list(self._ladders):
                self._ladders.pop(ladder, None)


def failed(notice: Notice) -> bool:
    """Whether a game that the notice names will never begin."""
    return notice.kind in _FAILED


def ready(game_id: str) -> PlayRequest:
    """The answer to a seating: the bot is there."""
    request = PlayRequest()
    request.ready.game_id = game_id
    request.ready.entropy = secrets.token_bytes(ENTROPY_BYTES)
    return request


def declined(game_id: str) -> PlayRequest:
    """The answer to a seating that the bot does not take."""
    request = PlayRequest()
    request.ready.game_id = game_id
    request.ready.decline = True
    return request


def refusal(rejected: Rejected) -> HimejiError:
    """Why a queue cannot be entered, as an error."""
    unknown = rejected.reason == ErrorReason.ERROR_REASON_UNKNOWN_LADDER
    return UnknownLadder(rejected.message) if unknown else Refused(rejected.message)
