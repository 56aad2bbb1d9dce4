"""What one stream tells its bot of one game: the seat, each decision once, lost seats, the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from himeji.v1.game_pb2 import Accepted, Decision, EndReason, Want
from himeji.v1.play_service_pb2 import Notice, NoticeKind, PlayResponse

from himeji_server.games.live_game import LiveGame
from himeji_server.games.messages import (
    WANT_POSITION,
    game_message,
    game_over_message,
    write_accepted,
    write_decision,
)
from himeji_server.games.receipts import Receipt
from himeji_server.ladder.stream import LadderStream
from himeji_server.store.game_records import OVER

_NEXT_DECISION = Want.WANT_NEXT_DECISION


@dataclass(slots=True, eq=False)
class GameFeed:
    """One game of one stream. Everything here is done at once: tables move on during any pause."""

    bot: str
    ladder: LadderStream
    wants: frozenset[int]
    tell: Callable[[PlayResponse], None]
    now: Callable[[], int]
    events: int | None  # how many of the game's events the client has
    resumed: bool  # whether the client has the game in mind already
    given_up: set[int] = field(default_factory=set)  # seats, by this stream's own wish
    over: bool = False
    _told: int = 0  # the decision that was told last
    _lost: set[int] | None = None  # seats of which the bot knows that they are lost

    def see(self, view: LiveGame) -> None:
        """Tell what is new."""
        if self.over:
            return
        if view.stored.state == OVER:
            self._tell_over(view)
            return
        if self._lost is None:
            self._tell_seated(view)
            self._lost = set(view.lost_seats())
        elif (lost := view.lost_seats()).keys() != self._lost:
            self._tell_lost(view, lost.keys() - self._lost)
            self._lost = set(lost)
        if self._asks(view) and view.stored.decision != self._told:
            message = PlayResponse()
            self.write_decision(message.decision, view)
            self.tell(message)

    def write_accepted(self, out: Accepted, view: LiveGame, receipt: Receipt) -> None:
        """The answer to an answer that stands, with what the bot is asked next if it wants that."""
        write_accepted(out, view, receipt)
        feed = not receipt.duplicate and _NEXT_DECISION in self.wants
        if feed and self._asks(view) and view.stored.decision != self._told:
            self.write_decision(out.next_decision, view)

    def write_decision(self, out: Decision, view: LiveGame) -> None:
        """The open decision, with the events that the client does not have."""
        wants = self.wants
        if self.events is None and self.resumed:
            wants = wants | {WANT_POSITION}
        write_decision(out, view, self.events or 0, wants, self.now())
        self.events = view.event_count
        self._told = view.stored.decision

    def _asks(self, view: LiveGame) -> bool:
        return view.asked_bot == self.bot

    def _tell_seated(self, view: LiveGame) -> None:
        message = PlayResponse()
        message.seated.game.CopyFrom(game_message(view, lambda bot: bot == self.bot))
        message.seated.seat = self.ladder.seats(view)[0]
        self.ladder.write_deadline(message.seated, view, self.now())
        self.tell(message)

    def _tell_lost(self, view: LiveGame, seats: set[int]) -> None:
        """Tell of lost seats, but not of what the bot itself gave up here."""
        for seat in sorted(seats - self.given_up):
            self.tell(PlayResponse(notice=seat_lost(view, seat)))

    def _tell_over(self, view: LiveGame) -> None:
        self.over = True
        failure = self.ladder.failure(view)
        if failure is not None:
            for notice in failure:
                self.tell(PlayResponse(notice=notice))
            return
        seat = view.seats_of(self.bot)[0]
        message = game_over_message(view, seat, self.events or 0, self.wants)
        self.tell(PlayResponse(game_over=message))


def seat_lost(view: LiveGame, seat: int) -> Notice:
    """The notice of a seat that is lost."""
    reason = EndReason.ValueType(view.stored.seats[seat].lost)
    if not reason:  # it was given up before the game began
        reason = EndReason.END_REASON_RESIGNED
    return Notice(
        kind=NoticeKind.NOTICE_KIND_SEAT_LOST,
        message=f"seat {seat} is lost: {EndReason.Name(reason).removeprefix('END_REASON_')}",
        game_id=view.game_id,
        seat=seat,
        end_reason=reason,
    )
