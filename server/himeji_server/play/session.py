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
from himeji_server.store.game_records import OVER
from himeji_server.store.notifications import BotNotification, BotNotificationKind

PROTOCOL: Final = 1
SECONDS_BETWEEN_SIGNS: Final = 5.0
_OUT_OF_QUEUE: Final = {
    BotNotificationKind.LEFT_QUEUE: left_notice,
    BotNotificationKind.LADDER_CLOSED: closed_notice,
}


class Session:
    """A stream after its Hello; made in the task that handles it."""

    def __init__(
        self, use_cases: GameUseCases, queue_commands: QueueCommands, player: Player, hello: Hello
    ) -> None:
        self.player = player
        self.stream = secrets.token_hex(8)
        self._use_cases = use_cases
        self._stopped = False
        self._writer = StreamWriter(
            use_cases.limits, more_at_once=Want.WANT_MORE_AT_ONCE in hello.wants
        )
        self.close = self._writer.close
        self._ladder = LadderStream(queue_commands, player)
        self._subscriptions = Subscriptions(use_cases, self._ladder, player, hello, self._writer)
        self._answers = Dispatcher(
            use_cases, self._ladder, player, self._subscriptions, self._writer
        )

    async def run(
        self,
        hello_id: str,
        requests: AsyncIterator[PlayRequest],
        write: Callable[[PlayResponse], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        """Write what the client is told; raises the error with which the stream ends, if any."""
        writer = self._writer
        with self._use_cases.notifications.bot(self.player.bot, self._hear):
            writer.start(self._open, hello_id)
            writer.start(self._answers.read, requests)
            writer.start(self._stay, ended)
            try:
                while batch := await writer.outbox.waiting():
                    for message in batch:
                        await write(message)
            finally:
                await self._stop()
        if writer.error is not None:
            raise writer.error

    async def _stop(self) -> None:
        self._stopped = True
        self._writer.cancel()
        self._subscriptions.leave_all()
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._use_cases.presence.disconnect(self.player.bot, self.stream)

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
        presence, bot = self._use_cases.presence, self.player.bot
        holder = await presence.renew(bot, self.stream)
        if holder != self.stream:
            self.close(StreamEnd.ousted(bot, holder))
        for game_id in await presence.games_of(bot):
            self._subscriptions.follow(game_id)

    def _hear(self, notification: BotNotification) -> None:
        """Hear of what happens to the bot; whoever rings must not suffer for a fault here."""
        if self._stopped:
            return
        try:
            kind, _, subject = notification
            if kind is BotNotificationKind.SEATED:
                self._subscriptions.follow(subject)
            elif kind in _OUT_OF_QUEUE:
                self._writer.tell(PlayResponse(notice=_OUT_OF_QUEUE[kind](subject)))
            elif subject != self.stream:
                self.close(StreamEnd.ousted(self.player.bot, subject))
        except Exception as raised:  # noqa: BLE001 - whatever it is, the client hears why
            self.close(StreamEnd.by(as_error(raised, "Play")))

    # --- Hello ----------------------------------------------------------------------------------

    async def _open(self, hello_id: str) -> None:
        """Take over from any other stream of the bot, say Welcome, and resume its games."""
        await self._use_cases.presence.connect(self.player.bot, self.stream)
        await self._use_cases.bots.check_active(
            self.player.bot
        )  # now that a retirement would be heard
        unfinished = await self._unfinished()
        answer = PlayResponse(request_id=hello_id)
        answer.welcome.protocol_version = PROTOCOL
        answer.welcome.server = f"himeji/{himeji.__version__}"
        answer.welcome.engine_version = himeji.__version__
        for name in sorted(rules.RULESETS):
            answer.welcome.rulesets.add(ruleset=name, revision=rules.RULESETS[name].revision)
        answer.welcome.bot, answer.welcome.bot_version = self.player.bot, self.player.version
        answer.welcome.server_time.FromMilliseconds(self._use_cases.now())
        answer.welcome.game_ids.extend(unfinished)
        answer.welcome.ladders.extend(await self._ladder.ladders())
        self._writer.tell(answer)
        for game_id in [*unfinished, *sorted(self._subscriptions.resumed.keys() - set(unfinished))]:
            self._subscriptions.follow(game_id)
        if Want.WANT_INVITATIONS in self._subscriptions.wants:  # those that came while it was away
            for game_id in await self._use_cases.presence.games_of(self.player.bot):
                self._subscriptions.follow(game_id)

    async def _unfinished(self) -> list[str]:
        """The games that are not over in which the bot has a seat."""
        unfinished, presence, bot = [], self._use_cases.presence, self.player.bot
        for game_id in await presence.games_of(bot):
            try:
                view = await self._use_cases.view(game_id)
            except UnknownGame:
                await presence.remove_game(bot, game_id)
                continue
            if view.stored.state == OVER:
                await presence.remove_game(bot, game_id)
            elif self._ladder.seats(view):
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
