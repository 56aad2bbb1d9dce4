"""The games that one stream is subscribed to, from the first seat to the last message."""

from __future__ import annotations

import asyncio
from typing import Final

from himeji.rules.errors import HimejiError, NotYourDecision, StoreUnavailable
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import Hello, ServerMessage

from himeji_server.games.answers import Receipt
from himeji_server.games.client_errors import as_error
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import write_accepted, write_decision
from himeji_server.games.notifications import POLL_SECONDS
from himeji_server.games.rejections import rejection
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.stream import LadderStream
from himeji_server.play.game_feed import GameFeed
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.store.game_records import WAITING

MOST_REMEMBERED: Final = 1_000  # games that are over; the store forgets them within a moment


class Subscriptions:
    """The games of one stream."""

    def __init__(
        self,
        use_cases: GameUseCases,
        ladder: LadderStream,
        player: Player,
        hello: Hello,
        writer: StreamWriter,
    ) -> None:
        self._use_cases, self._writer = use_cases, writer
        self._ladder, self._player = ladder, player
        self.accepts_invitations = hello.accept_invitations
        self._wants = frozenset(hello.wants)
        self._next_in_accepted = hello.next_decision_in_accepted
        self.resumed = {
            each.game_id: each.event_count if each.HasField("event_count") else None
            for each in hello.resume
        }
        self._games: dict[str, GameFeed] = {}
        self._opening: set[str] = set()  # games that are about to be followed
        self._declined: set[str] = set()  # games of which this stream gave its seat back
        self._over: dict[str, None] = {}  # games whose end was told, the oldest first

    def follow(self, game_id: str) -> None:
        """Tell the bot of a game from now on, once."""
        known = (self._games, self._opening, self._over)
        if not any(game_id in each for each in known):
            self._opening.add(game_id)
            self._writer.start(self._open, game_id)

    async def _open(self, game_id: str) -> None:
        """Take the seat that is meant for the bot, if it wants that, and begin to follow."""
        try:
            view = await self._load(game_id)
        except HimejiError as error:
            if game_id in self.resumed:
                self._writer.send(ServerMessage(rejected=rejection(error, game_id)))
            return
        finally:
            self._opening.discard(game_id)
        if not self._ladder.seats(view):
            self._reject_resumed(game_id)
            return
        self._games[game_id] = GameFeed(
            bot=self._player.bot,
            ladder=self._ladder,
            wants=self._wants,
            next_in_accepted=self._next_in_accepted,
            send=self._writer.send,
            now=self._use_cases.now,
            events=self.resumed.get(game_id),
            resumed=game_id in self.resumed,
        )
        self._on_change(self._use_cases.subscribe(view, self._on_change, self._on_gone))

    async def _load(self, game_id: str) -> GameView:
        """The game, with the bot in the seat that is meant for it; waits for the store."""
        while True:
            try:
                await self._use_cases.register(game_id)
                view = await self._use_cases.view(game_id)
                if self.accepts_invitations and game_id not in self._declined:
                    view = await self._use_cases.accept_invitations(self._player, view)
            except StoreUnavailable:
                await asyncio.sleep(POLL_SECONDS)
            else:
                return view

    def _reject_resumed(self, game_id: str) -> None:
        """Answer for a game that the client has in mind and the bot has no seat in."""
        if game_id in self.resumed:
            del self.resumed[game_id]  # once
            error = NotYourDecision("you have no seat in this game", {"game_id": game_id})
            self._writer.send(ServerMessage(rejected=rejection(error, game_id)))

    def _on_change(self, view: GameView) -> None:
        """Send what is new in a game; an error here ends the stream."""
        feed = self._games[view.game_id]
        if view.stored.state == WAITING and not self._ladder.seats(view):
            self._unsubscribe(view.game_id)  # the seat was given up before the game began
            return
        try:
            feed.update(view)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client is told why
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
        """The bot gave up all its seats before the game began: it does not hear of it any more."""
        self._declined.add(game_id)
        self._opening.discard(game_id)
        if game_id in self._games:
            self._unsubscribe(game_id)
