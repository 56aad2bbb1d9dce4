"""What one stream tells its bot of one game: the seat, each decision once, lost seats, the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from himeji.v1.game_pb2 import Accepted, Decision, EndReason
from himeji.v1.play_service_pb2 import SeatLost, ServerMessage

from himeji_server.games.answers import Receipt
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import (
    WANT_POSITION,
    game_message,
    game_over_message,
    write_accepted,
    write_decision,
)
from himeji_server.ladder.ready_check import has_failed
from himeji_server.ladder.stream import LadderStream
from himeji_server.store.game_records import OVER


@dataclass(slots=True, eq=False)
class GameFeed:
    """One game of one stream: turns views into messages."""

    bot: str
    ladder: LadderStream
    wants: frozenset[int]
    next_in_accepted: bool  # whether Accepted carries the bot's next decision
    send: Callable[[ServerMessage], None]
    now: Callable[[], int]
    events: int | None  # how many of the game's events the client has
    resumed: bool  # whether the client has the game in mind already
    given_up: set[int] = field(default_factory=set)  # seats, by this stream's own wish
    over: bool = False
    _sent: int = 0  # the decision that was sent last
    _lost: set[int] | None = None  # lost seats that the client knows of, None before Seated

    def update(self, view: GameView) -> None:
        """Send what is new."""
        if self.over:
            return
        if view.stored.state == OVER:
            self._send_over(view)
            return
        if self._lost is None:
            self._send_seated(view)
            self._lost = set(view.lost_seats())
        elif (lost := view.lost_seats()).keys() != self._lost:
            self._send_lost(view, lost.keys() - self._lost)
            self._lost = set(lost)
        if self._asks(view) and view.stored.decision != self._sent:
            message = ServerMessage()
            self.write_decision(message.decision, view)
            self.send(message)

    def write_accepted(self, out: Accepted, view: GameView, receipt: Receipt) -> None:
        """The answer to an answer that stands, with what the bot is asked next if it wants that."""
        write_accepted(out, view, receipt)
        wanted = self.next_in_accepted and not receipt.duplicate
        if wanted and self._asks(view) and view.stored.decision != self._sent:
            self.write_decision(out.next_decision, view)

    def write_decision(self, out: Decision, view: GameView) -> None:
        """The open decision, with the events that the client does not have."""
        wants = self.wants
        if self.events is None and self.resumed:
            wants = wants | {WANT_POSITION}
        write_decision(out, view, self.events or 0, wants, self.now())
        self.events = view.event_count
        self._sent = view.stored.decision

    def _asks(self, view: GameView) -> bool:
        return view.asked_bot == self.bot

    def _send_seated(self, view: GameView) -> None:
        message = ServerMessage()
        message.seated.game.CopyFrom(game_message(view, lambda bot: bot == self.bot))
        message.seated.seat = self.ladder.seats(view)[0]
        self.ladder.write_deadline(message.seated, view, self.now())
        self.send(message)

    def _send_lost(self, view: GameView, seats: set[int]) -> None:
        """Send lost seats, but not those that the bot itself gave up here."""
        for seat in sorted(seats - self.given_up):
            self.send(ServerMessage(seat_lost=seat_lost(view, seat)))

    def _send_over(self, view: GameView) -> None:
        self.over = True
        if has_failed(view):
            failure = self.ladder.failure(view)
            if failure is not None:
                self.send(ServerMessage(seating_failed=failure))
            return
        seat = view.seats_of(self.bot)[0]
        message = game_over_message(view, seat, self.events or 0, self.wants)
        self.send(ServerMessage(game_over=message))


def seat_lost(view: GameView, seat: int) -> SeatLost:
    """The message about a seat that is lost."""
    reason = EndReason.ValueType(view.stored.seats[seat].lost)
    if not reason:  # it was given up before the game began
        reason = EndReason.END_REASON_RESIGNED
    return SeatLost(
        game_id=view.game_id,
        seat=seat,
        end_reason=reason,
        message=f"seat {seat} is lost: {EndReason.Name(reason).removeprefix('END_REASON_')}",
    )
