"""One bot's stream: many games at once, every request answered, and nothing lost with it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Final, ParamSpec

import himeji
import structlog
from himeji import rules
from himeji.rules.errors import (
    HimejiError,
    InternalFault,
    LimitExceeded,
    NotFound,
    NotYourDecision,
    StoreUnavailable,
    UnknownGame,
    VersionMismatch,
)
from himeji.v1.game_pb2 import Decision, Want
from himeji.v1.play_service_pb2 import (
    Hello,
    PlayRequest,
    PlayResponse,
    Rejected,
)

from himeji_server.counting import Bucket, check_actions
from himeji_server.games.desk import Desk, Player
from himeji_server.games.messages import accepted_message, decision_message
from himeji_server.games.receipts import Receipt
from himeji_server.games.refusals import refused_answer, rejection
from himeji_server.games.table import Table
from himeji_server.ladder.lobby import Lobby
from himeji_server.ladder.stream import REQUESTS, LadderStream, closed_notice, left_notice
from himeji_server.play.closing import Closing
from himeji_server.play.following import Following, seat_lost
from himeji_server.play.outbox import Outbox
from himeji_server.revocations import token_ended
from himeji_server.store import StoreRefusedError
from himeji_server.store.games import OVER, WAITING

_P = ParamSpec("_P")
_log = structlog.get_logger(__name__)

PROTOCOL: Final = 1
SECONDS_BETWEEN_SIGNS: Final = 5.0
SECONDS_BETWEEN_LOOKS: Final = 2.0
MOST_REMEMBERED: Final = 1_000  # games that are over; the store forgets them within a moment
_OUT_OF_QUEUE: Final = {"left": left_notice, "closed": closed_notice}
_ABOUT_NO_DECISION: Final = (InternalFault, LimitExceeded, NotFound, StoreUnavailable)


class Session:
    """A stream after its Hello."""

    def __init__(self, desk: Desk, lobby: Lobby, player: Player, hello: Hello) -> None:
        self.player = player
        self.stream = secrets.token_hex(8)
        self._desk = desk
        self._ladder = LadderStream(lobby, player)
        self._wants = frozenset(hello.wants)
        self._resumed = {
            each.game_id: each.event_count if each.HasField("event_count") else None
            for each in hello.resume
        }
        self._outbox = Outbox(desk.limits.messages_waiting)
        self._rate = Bucket(
            "requests_per_second", desk.limits.requests_per_second, desk.limits.requests_at_once
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._games: dict[str, Following] = {}
        self._meeting: set[str] = set()  # games that are about to be followed
        self._declined: set[str] = set()  # games of which this stream gave its seat back
        self._over: deque[str] = deque(maxlen=MOST_REMEMBERED)  # games whose end was told
        self._at_work = asyncio.Semaphore(desk.limits.requests_at_work)
        self._end: Closing | None = None
        self._handler: asyncio.Task[object] | None = None

    # --- the life of a stream -------------------------------------------------------------------

    async def run(
        self,
        hello_id: str,
        requests: AsyncIterator[PlayRequest],
        write: Callable[[PlayResponse], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        """Write what the client is told; raises the error with which the stream ends, if any."""
        self._handler = asyncio.current_task()
        with self._desk.bells.bot(self.player.bot) as bell:
            self._start(self._open, hello_id)
            self._start(self._read, requests)
            self._start(self._listen, bell)
            self._start(self._stay)
            self._start(self._revoked, ended)
            try:
                while batch := await self._outbox.waiting():
                    for message in batch:
                        await write(message)
            finally:
                await self._stop()
        if self._end is not None and self._end.error is not None:
            raise self._end.error

    def _start(
        self, part: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> asyncio.Task[None]:
        """Let a part of the session run beside the others; a part that fails ends the stream."""
        task = asyncio.create_task(self._guarded(part, *args, **kwargs))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(
        self, part: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        try:
            await part(*args, **kwargs)
        except HimejiError as error:
            self.close(Closing.by(error))
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client hears why
            self.close(Closing.by(fault(raised)))

    async def _stop(self) -> None:
        """End every part; an answer whose commit is under way is not waited for."""
        for task in self._tasks:
            task.cancel()
        for game_id in list(self._games):
            self._leave(game_id)
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._desk.presence.leave(self.player.bot, self.stream)

    def close(self, closing: Closing) -> None:
        """End the stream with a last message that says why."""
        if self._end is None:
            self._end = closing
            self._outbox.close(PlayResponse(notice=closing.notice()))

    def tell(self, message: PlayResponse) -> None:
        """Send a message; a client that does not read is let go."""
        if not self._outbox.put(message) and self._end is None:
            self.close(Closing.slow_reader(self._desk.limits.messages_waiting))
            self._start(self._cut)

    async def _cut(self) -> None:
        """End the stream by force when its client does not even read why it ends."""
        await asyncio.sleep(self._desk.limits.slow_seconds)
        if self._handler is not None and self._end is not None:
            self._handler.cancel(self._end.error)

    async def _stay(self) -> None:
        """Renew the bot's presence, and look for games of which a bell was missed."""
        presence, bot = self._desk.presence, self.player.bot
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_SIGNS)
            with contextlib.suppress(StoreUnavailable, StoreRefusedError):
                holder = await presence.stay(bot, self.stream)
                if holder != self.stream:
                    self.close(Closing.ousted(bot, holder))
                for game_id in await presence.games_of(bot):
                    self._follow(game_id)

    async def _revoked(self, ended: asyncio.Event) -> None:
        await ended.wait()
        self.close(Closing.by(token_ended()))

    async def _listen(self, bell: asyncio.Queue[tuple[str, ...]]) -> None:
        while True:
            what, name = await bell.get()
            if what == "seated":
                self._follow(name)
            elif what in _OUT_OF_QUEUE:
                self.tell(PlayResponse(notice=_OUT_OF_QUEUE[what](name)))
            elif name != self.stream:
                self.close(Closing.ousted(self.player.bot, name))

    # --- Hello ----------------------------------------------------------------------------------

    async def _open(self, hello_id: str) -> None:
        """Take over from any other stream of the bot, say Welcome, and resume its games."""
        await self._desk.presence.arrive(self.player.bot, self.stream)
        await self._desk.bots.check_active(self.player.bot)  # now that a retirement would be heard
        unfinished = await self._unfinished()
        answer = PlayResponse(request_id=hello_id)
        answer.welcome.protocol_version = PROTOCOL
        answer.welcome.server = f"himeji/{himeji.__version__}"
        answer.welcome.engine_version = himeji.__version__
        for name in sorted(rules.RULESETS):
            answer.welcome.rulesets.add(ruleset=name, revision=rules.RULESETS[name].revision)
        answer.welcome.bot, answer.welcome.bot_version = self.player.bot, self.player.version
        answer.welcome.server_time.FromMilliseconds(self._desk.ledger.now())
        answer.welcome.game_ids.extend(unfinished)
        answer.welcome.ladders.extend(await self._ladder.ladders())
        self.tell(answer)
        for game_id in [*unfinished, *sorted(self._resumed.keys() - set(unfinished))]:
            self._follow(game_id)
        if Want.WANT_INVITATIONS in self._wants:  # those that came while the bot was away
            for game_id in await self._desk.presence.games_of(self.player.bot):
                self._follow(game_id)

    async def _unfinished(self) -> list[str]:
        """The games that are not over in which the bot has a seat."""
        unfinished, presence, bot = [], self._desk.presence, self.player.bot
        for game_id in await presence.games_of(bot):
            try:
                table = await self._desk.ledger.table(game_id)
            except UnknownGame:
                await presence.remove_game(bot, game_id)
                continue
            if table.stored.state == OVER:
                await presence.remove_game(bot, game_id)
            elif self._ladder.seats(table):
                unfinished.append(game_id)
        return unfinished

    # --- games ----------------------------------------------------------------------------------

    def _follow(self, game_id: str) -> None:
        """Tell the bot of a game from now on, once."""
        known = (self._games, self._meeting, self._over)
        if not any(game_id in each for each in known):
            self._meeting.add(game_id)
            self._start(self._meet, game_id)

    async def _meet(self, game_id: str) -> None:
        """Take the seat that is meant for the bot, if it wants that, and begin to follow."""
        try:
            table = await self._found(game_id)
        except HimejiError as error:
            if game_id in self._resumed:
                self.tell(PlayResponse(rejected=rejection(error, game_id)))
            return
        finally:
            self._meeting.discard(game_id)
        if not self._ladder.seats(table):
            self._tell_no_seat(game_id)
            return
        self._games[game_id] = Following(
            bot=self.player.bot,
            ladder=self._ladder,
            wants=self._wants,
            tell=self.tell,
            now=self._desk.ledger.now,
            events=self._resumed.get(game_id),
            resumed=game_id in self._resumed,
        )
        self._desk.bells.follow_game(game_id, self._see, self._gone)
        self._see(table)

    async def _found(self, game_id: str) -> Table:
        """The game, with the bot in the seat that is meant for it; waits for the store."""
        while True:
            try:
                table = await self._desk.ledger.table(game_id)
                if Want.WANT_INVITATIONS in self._wants and game_id not in self._declined:
                    table = await self._desk.accept(self.player, table)
            except StoreUnavailable:
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            else:
                return table

    def _see(self, table: Table) -> None:
        """Hear of a change in a game; whoever made it must not suffer for a fault here."""
        following = self._games[table.game_id]
        if table.stored.state == WAITING and not self._ladder.seats(table):
            self._leave(table.game_id)  # the seat was given up before the game began
            return
        try:
            following.see(table)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client hears why
            self.close(Closing.by(fault(raised)))
        if following.over:
            self._over.append(table.game_id)
            self._leave(table.game_id)

    def _gone(self, game_id: str, error: HimejiError) -> None:
        """The store has lost the game: the client need not wait for it."""
        self.tell(PlayResponse(rejected=rejection(error, game_id)))
        self._leave(game_id)

    def _leave(self, game_id: str) -> None:
        del self._games[game_id]
        self._desk.bells.leave_game(game_id, self._see)

    def _tell_no_seat(self, game_id: str) -> None:
        """Answer for a game that the client has in mind and the bot has no seat in."""
        if game_id in self._resumed:
            del self._resumed[game_id]  # once
            error = NotYourDecision("you have no seat in this game", {"game_id": game_id})
            self.tell(PlayResponse(rejected=rejection(error, game_id)))

    # --- requests -------------------------------------------------------------------------------

    async def _read(self, requests: AsyncIterator[PlayRequest]) -> None:
        """Answer requests as they come; the end of the client's side ends the stream."""
        async for request in requests:
            if request.WhichOneof("body") not in self._handlers:
                self.close(Closing.protocol_error("a request has to say something, and Hello once"))
                return
            await self._at_work.acquire()
            task = asyncio.create_task(self._answer(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        for _ in range(self._desk.limits.requests_at_work):  # all that is at work gets its answer
            await self._at_work.acquire()
        self.close(Closing.goodbye())

    async def _answer(self, request: PlayRequest) -> None:
        try:
            self._rate.take()
            await self._handlers[request.WhichOneof("body") or ""](self, request)
        except Exception as raised:  # noqa: BLE001 - every request is answered
            rejected = await self._rejected(request, fault(raised))
            self.tell(PlayResponse(request_id=request.request_id, rejected=rejected))
        finally:
            self._at_work.release()

    async def _act(self, request: PlayRequest) -> None:
        act = request.act
        check_actions(len(act.actions))

        def accepted(table: Table, receipt: Receipt) -> None:
            following = self._games.get(act.game_id)
            make = accepted_message if following is None else following.accept
            answer = PlayResponse(request_id=request.request_id, accepted=make(table, receipt))
            self.tell(answer)

        bot = self.player.bot
        await self._desk.host.act(act.game_id, bot, act.decision_id, act.actions, accepted)

    async def _resign(self, request: PlayRequest) -> None:
        game_id, seat = request.resign.game_id, request.resign.seat
        wanted = seat if request.resign.HasField("seat") else None
        mine = (await self._desk.ledger.table(game_id)).seats_of(self.player.bot)
        following = self._games.get(game_id)
        given_up = following.given_up if following is not None else set()
        before = set(given_up)
        given_up.update(each for each in mine if wanted in (None, each))
        try:
            table = await self._desk.host.resign(game_id, self.player.bot, wanted)
        except HimejiError:
            given_up.intersection_update(before)
            raise
        self._resumed.pop(game_id, None)
        if not table.seats_of(self.player.bot):
            self._declined.add(game_id)
            self._meeting.discard(game_id)
            if game_id in self._games:
                self._leave(game_id)
        notice = seat_lost(table, [*mine, 0][0] if wanted is None else wanted)
        self.tell(PlayResponse(request_id=request.request_id, notice=notice))

    async def _of_ladder(self, request: PlayRequest) -> None:
        notice = await self._ladder.answer(request)
        self.tell(PlayResponse(request_id=request.request_id, notice=notice))

    async def _rejected(self, request: PlayRequest, error: HimejiError) -> Rejected:
        act = request.act
        out = rejection(error, act.game_id or request.resign.game_id or request.ready.game_id)
        out.decision_id = act.decision_id
        out.ladder = request.enter.ladder or request.leave.ladder
        if not act.game_id or isinstance(error, _ABOUT_NO_DECISION):
            return out
        try:
            table = await self._desk.ledger.table(act.game_id)
        except HimejiError:
            return out  # what is known already has to do
        seats = table.seats_of(self.player.bot)
        following = self._games.get(act.game_id)
        current = following.decision if following is not None else _plain_decision
        return refused_answer(error, table, seats, act.decision_id, partial(current, table))

    _handlers: Final[Mapping[str, Callable[[Session, PlayRequest], Awaitable[None]]]] = {
        "act": _act,
        "resign": _resign,
        **dict.fromkeys(REQUESTS, _of_ladder),
    }


def _plain_decision(table: Table) -> Decision:
    """An open decision for a stream that was not told of its game yet."""
    return decision_message(table, 0, (), 0)


def fault(raised: Exception) -> HimejiError:
    """What the client hears of an exception: a defect is an incident, and the log has the rest."""
    if isinstance(raised, HimejiError):
        return raised
    incident = InternalFault(secrets.token_hex(8))
    _log.error("fault", incident=incident.incident, method="Play", exc_info=raised)
    return incident


def check_hello(hello: Hello) -> None:
    """Refuse a client that speaks another protocol or plays by other rules."""
    if hello.protocol_version != PROTOCOL:
        raise VersionMismatch(
            f"you speak protocol {hello.protocol_version}, this server speaks {PROTOCOL}"
        )
    for each in hello.rulesets:
        known = rules.RULESETS.get(each.ruleset)
        if known is not None and known.revision != each.revision:
            raise VersionMismatch(
                f"ruleset {each.ruleset}: you have revision {each.revision}, "
                f"this server plays {known.revision}; update your tables",
                {"ruleset": each.ruleset},
            )
