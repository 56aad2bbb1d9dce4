"""The games that one stream is subscribed to, and what it sends about each of them.

A view that is published becomes messages here: the seat, each decision once, lost seats, the end.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import HimejiError, NotYourDecision, StoreUnavailable, UnknownGame
from himeji.v1.game_pb2 import Accepted, Decision, EndReason
from himeji.v1.play_service_pb2 import Hello, SeatLost, ServerMessage

from himeji_server.games.answers import Receipt
from himeji_server.games.client_errors import as_error
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import (
    WANT_POSITION,
    event_count,
    game_message,
    game_over_message,
    write_accepted,
    write_decision,
)
from himeji_server.games.notifications import POLL_SECONDS
from himeji_server.games.rejections import rejection
from himeji_server.games.seat_rules import accepts_by_itself
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.ready_check import has_failed
from himeji_server.ladder.stream import LadderStream
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.processor_shares import CallCost, StreamCosts
from himeji_server.store import StoreRefusedError
from himeji_server.store.game_records import OVER, WAITING

MOST_REMEMBERED: Final = 1_000  # games that are over; the store forgets them within a moment


class Subscriptions:
    """The games of one stream."""

    def __init__(  # noqa: PLR0913 - what it needs, each once
        self,
        use_cases: GameUseCases,
        ladder: LadderStream,
        player: Player,
        hello: Hello,
        writer: StreamWriter,
        *,
        costs: StreamCosts,
    ) -> None:
        self._use_cases, self._writer, self._costs = use_cases, writer, costs
        self._ladder, self._player = ladder, player
        self.accepts_invitations = hello.accept_invitations
        self._inviters = frozenset(hello.invitations_from)  # empty: everybody
        self._wants = frozenset(hello.wants)
        self._next_in_accepted = hello.next_decision_in_accepted
        self.resumed = {each.game_id: event_count(each) for each in hello.resume}
        self._games: dict[str, GameFeed] = {}
        self._opening: set[str] = set()  # games that are about to be followed
        self._passed_over: set[str] = set()  # invitations that this stream does not accept
        self._over: dict[str, None] = {}  # games whose end was sent, the oldest first

    def follow(self, game_id: str) -> None:
        """Send what happens in a game from now on; following it twice is the same as once."""
        if not self._is_known(game_id):
            self._opening.add(game_id)
            self._writer.start(self._open, game_id, self._costs.owed())

    async def take_up(self, game_id: str) -> None:
        """Follow one of many games as soon as the bot's owner has processor time for it."""
        if not self._is_known(game_id):
            self._opening.add(game_id)
            self._writer.start(self._open, game_id, await self._costs.wait())
            await asyncio.sleep(0)  # it begins now, and not at once with all the others

    def _is_known(self, game_id: str) -> bool:
        return any(game_id in each for each in (self._games, self._opening, self._over))

    def consider(self, invitations: Sequence[str]) -> None:
        """Accept those of the bot's invitations that the client wants to accept.

        What was passed over is not looked at again: anybody can send invitations.
        """
        self._passed_over.intersection_update(invitations)
        for game_id in invitations:
            if game_id not in self._passed_over:
                self.follow(game_id)

    async def _open(self, game_id: str, cost: CallCost) -> None:
        """Begin to follow a game; waits for the store."""
        while not await cost.measure(self._try_to_open(game_id)):
            await asyncio.sleep(POLL_SECONDS)
            cost = self._costs.owed()

    async def _try_to_open(self, game_id: str) -> bool:
        """Take the seat that is meant for the bot, if it wants that, and begin to follow.

        False if the store is away.
        """
        try:
            view = await self._load(game_id)
        except StoreUnavailable:
            return False
        except HimejiError as error:
            self._opening.discard(game_id)
            if game_id in self.resumed:
                self._writer.send(ServerMessage(rejected=rejection(error, game_id)))
            if isinstance(error, UnknownGame):
                await self._forget_invitation(game_id)
            return True
        self._opening.discard(game_id)
        if not self._ladder.seats(view):
            if game_id in self.resumed:
                del self.resumed[game_id]  # once
                self._reject(game_id)
            await self._pass_over(view)
            return True
        self._games[game_id] = GameFeed(
            bot=self._player.bot,
            ladder=self._ladder,
            wants=self._wants,
            next_in_accepted=self._next_in_accepted,
            send=self._writer.send,
            now=self._use_cases.now,
            events=self.resumed.get(game_id, 0),
        )
        self._on_change(self._use_cases.subscribe(view, self._on_change, self._on_gone))
        return True

    async def _load(self, game_id: str) -> GameView:
        """The game, with the bot in the seat that is meant for it."""
        await self._use_cases.register(game_id)
        view = await self._use_cases.view(game_id)
        if self.accepts_invitations:
            view = await self._use_cases.accept_invitations(self._player, view, self._inviters)
        return view

    async def _pass_over(self, view: GameView) -> None:
        """Look no more at an invitation that was not accepted, whether it still stands or not."""
        if view.stored.state != WAITING:
            await self._forget_invitation(view.game_id)
        elif self.accepts_invitations and not accepts_by_itself(
            view, self._player.bot, self._inviters
        ):
            self._passed_over.add(view.game_id)

    async def _forget_invitation(self, game_id: str) -> None:
        """Forget it in the store; if that fails, it is tried again when it is looked at again."""
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._use_cases.forget_invitation(self._player.bot, game_id)

    def _reject(self, game_id: str) -> None:
        """Send that the bot has no seat in a game in which its client believes to have one."""
        error = NotYourDecision("you have no seat in this game", {"game_id": game_id})
        self._writer.send(ServerMessage(rejected=rejection(error, game_id)))

    def _on_change(self, view: GameView) -> None:
        """Send what is new in a game; an error here ends the stream."""
        feed = self._games[view.game_id]
        if view.stored.state == WAITING and not self._ladder.seats(view):
            # The seat was given up before the game began. Who did that here has an answer.
            self._unsubscribe(view.game_id)
            if not feed.given_up:
                self._reject(view.game_id)
            return
        try:
            feed.update(view)
        except Exception as raised:  # noqa: BLE001 - the client gets the reason
            self._writer.close(StreamEnd.by(as_error(raised, "Play")))
        if feed.over:
            self._over[view.game_id] = None
            if len(self._over) > MOST_REMEMBERED:
                del self._over[next(iter(self._over))]
            self._unsubscribe(view.game_id)

    def _on_gone(self, game_id: str, error: HimejiError) -> None:
        """The store has lost the game: the client need not wait for it."""
        self._writer.send(ServerMessage(rejected=rejection(error, game_id)))
        self._unsubscribe(game_id)

    def _unsubscribe(self, game_id: str) -> None:
        del self._games[game_id]
        self._use_cases.unsubscribe(game_id, self._on_change)

    def unsubscribe_all(self) -> None:
        """Follow nothing any more."""
        for game_id in list(self._games):
            self._unsubscribe(game_id)

    # --- what answers to requests need -----------------------------------------------------------

    def accepted(self, request_id: str, view: GameView, receipt: Receipt) -> ServerMessage:
        """An answer that stands, with what follows from it if the client wants that."""
        feed, out = self._games.get(view.game_id), ServerMessage(request_id=request_id)
        write = write_accepted if feed is None else feed.write_accepted
        write(out.accepted, view, receipt)
        return out

    def decision(self, view: GameView) -> Decision:
        """The open decision, as news if the game is followed."""
        feed, out = self._games.get(view.game_id), Decision()
        if feed is None:
            write_decision(out, view, 0, (), 0)
        else:
            feed.write_decision(out, view)
        return out

    def given_up(self, game_id: str) -> set[int]:
        """The seats of a game that this stream gave up, to be added to."""
        feed = self._games.get(game_id)
        return feed.given_up if feed is not None else set()

    def decline(self, game_id: str) -> None:
        """The bot gave up all its seats before the game began: nothing more is sent about it."""
        self._opening.discard(game_id)
        if game_id in self._games:
            self._unsubscribe(game_id)


@dataclass(slots=True, eq=False)
class GameFeed:
    """One game of one stream: turns views into messages."""

    bot: str
    ladder: LadderStream
    wants: frozenset[int]
    next_in_accepted: bool  # whether Accepted carries the bot's next decision
    send: Callable[[ServerMessage], None]
    now: Callable[[], int]
    events: int | None  # of the game's that the client has; None: it wants none of the past
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
        if self.events is None:
            wants = wants | {WANT_POSITION}
        write_decision(out, view, self.events, wants, self.now())
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
        for seat in view.seats_of(self.bot)[:1]:  # none if the bot left before the game began
            message = game_over_message(view, seat, self.events, self.wants)
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
