"""One bot's stream: many games at once, every request answered, and nothing lost with it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import himeji
from himeji import rules
from himeji.rules.errors import StoreUnavailable, UnknownGame, VersionMismatch
from himeji.v1.game_pb2 import Want
from himeji.v1.play_service_pb2 import Hello, PlayRequest, PlayResponse

from himeji_server.accounts.open_streams import token_ended
from himeji_server.games.client_errors import as_error
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.ladder.stream import LadderStream, closed_notice, left_notice
from himeji_server.play.dispatcher import Dispatcher
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.play.subscriptions import Subscriptions
from himeji_server.store import StoreRefusedError
from himeji_server.store.games import OVER

PROTOCOL: Final = 1
SECONDS_BETWEEN_SIGNS: Final = 5.0
_OUT_OF_QUEUE: Final = {"left": left_notice, "closed": closed_notice}


class Session:
    """A stream after its Hello; made in the task that handles it."""

    def __init__(
        self, desk: GameUseCases, lobby: QueueCommands, player: Player, hello: Hello
    ) -> None:
        self.player = player
        self.stream = secrets.token_hex(8)
        self._desk = desk
        self._stopped = False
        self._line = StreamWriter(desk.limits, more_at_once=Want.WANT_MORE_AT_ONCE in hello.wants)
        self.close = self._line.close
        self._ladder = LadderStream(lobby, player)
        self._followed = Subscriptions(desk, self._ladder, player, hello, self._line)
        self._answers = Dispatcher(desk, self._ladder, player, self._followed, self._line)

    async def run(
        self,
        hello_id: str,
        requests: AsyncIterator[PlayRequest],
        write: Callable[[PlayResponse], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        """Write what the client is told; raises the error with which the stream ends, if any."""
        line = self._line
        with self._desk.bells.bot(self.player.bot, self._hear):
            line.start(self._open, hello_id)
            line.start(self._answers.read, requests)
            line.start(self._stay, ended)
            try:
                while batch := await line.outbox.waiting():
                    for message in batch:
                        await write(message)
            finally:
                await self._stop()
        if line.error is not None:
            raise line.error

    async def _stop(self) -> None:
        self._stopped = True
        self._line.cancel()
        self._followed.leave_all()
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._desk.presence.leave(self.player.bot, self.stream)

    async def _stay(self, ended: asyncio.Event) -> None:
        """Renew the bot's presence again and again, until its token works no more."""
        while not ended.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SECONDS_BETWEEN_SIGNS):
                    await ended.wait()
            if not ended.is_set():
                with contextlib.suppress(StoreUnavailable, StoreRefusedError):
                    await self._give_a_sign()
        self.close(StreamEnd.by(token_ended()))

    async def _give_a_sign(self) -> None:
        """Renew the bot's presence, and look for games of which a bell was missed."""
        presence, bot = self._desk.presence, self.player.bot
        holder = await presence.stay(bot, self.stream)
        if holder != self.stream:
            self.close(StreamEnd.ousted(bot, holder))
        for game_id in await presence.games_of(bot):
            self._followed.follow(game_id)

    def _hear(self, what: str, name: str) -> None:
        """Hear of what happens to the bot; whoever rings must not suffer for a fault here."""
        if self._stopped:
            return
        try:
            if what == "seated":
                self._followed.follow(name)
            elif what in _OUT_OF_QUEUE:
                self._line.tell(PlayResponse(notice=_OUT_OF_QUEUE[what](name)))
            elif name != self.stream:
                self.close(StreamEnd.ousted(self.player.bot, name))
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client hears why
            self.close(StreamEnd.by(as_error(raised, "Play")))

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
        self._line.tell(answer)
        for game_id in [*unfinished, *sorted(self._followed.resumed.keys() - set(unfinished))]:
            self._followed.follow(game_id)
        if Want.WANT_INVITATIONS in self._followed.wants:  # those that came while it was away
            for game_id in await self._desk.presence.games_of(self.player.bot):
                self._followed.follow(game_id)

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
