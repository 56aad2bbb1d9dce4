"""One bot's stream: many games at once, every request answered, and nothing lost with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Final

import himeji
from himeji import rules
from himeji.rules.errors import BotRetired, StoreUnavailable, UnknownGame, VersionMismatch
from himeji.v1.play_service_pb2 import Hello, PlayRequest, PlayResponse, ServerMessage

from himeji_server import names
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.open_streams import token_ended
from himeji_server.games.client_errors import as_error
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.messages import ladder_closed, removed_from_queue
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.ladder.stream import LadderStream
from himeji_server.play.dispatcher import Dispatcher
from himeji_server.play.request_slots import OwnerSlots
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.play.subscriptions import Subscriptions
from himeji_server.processor_shares import StreamCosts
from himeji_server.store import StoreRefusedError
from himeji_server.store.game_records import OVER
from himeji_server.store.notifications import BotNotification, BotNotificationKind
from himeji_server.store.presence import new_stream
from himeji_server.tasks import in_slices, wait_for
from himeji_server.texts import check_text

PROTOCOL: Final = 1
PRESENCE_SECONDS: Final = 5.0
LONGEST_CLIENT: Final = 200
_OUT_OF_QUEUE: Final = {
    BotNotificationKind.LEFT_QUEUE: removed_from_queue,
    BotNotificationKind.LADDER_CLOSED: ladder_closed,
}


class Session:
    """A stream after its Hello; made in the task that handles it."""

    def __init__(  # noqa: PLR0913 - what it needs, each once
        self,
        use_cases: GameUseCases,
        queue_commands: QueueCommands,
        caller: Caller,
        player: Player,
        hello: Hello,
        *,
        slots: OwnerSlots,
        costs: StreamCosts,
    ) -> None:
        """`costs` are those of taking up games: a stream may be opened often, and have many."""
        self.player = player
        self.stream = new_stream(player.version)
        self._use_cases = use_cases
        self._stopped = False
        self._connected = False
        self._welcomed = False
        self._resumed = False
        self._seated_early: list[str] = []
        """Games that began before Welcome was sent: clients hear of nothing before it."""

        self._writer = StreamWriter(use_cases.limits)
        self.close = self._writer.close
        self._ladder = LadderStream(queue_commands, player)
        self._costs = costs
        self._subscriptions = Subscriptions(
            use_cases, self._ladder, player, hello, self._writer, costs=costs
        )
        self._dispatcher = Dispatcher(
            use_cases,
            self._ladder,
            replace(caller, bot=player.bot),
            self._subscriptions,
            self._writer,
            slots=slots,
        )

    async def run(
        self,
        hello_id: str,
        requests: AsyncIterator[PlayRequest],
        write: Callable[[PlayResponse], Awaitable[None]],
        ended: asyncio.Event,
    ) -> None:
        """Run the stream to its end; raises the error with which it ends, if any."""
        writer = self._writer
        with self._use_cases.subscribe_bot(self.player.bot, self._on_bot_event):
            writer.start(self._open, hello_id)
            writer.start(self._dispatcher.read, requests)
            writer.start(self._stay_present, ended)
            try:
                await writer.write_all(write)
            finally:
                await self._stop()
        if writer.error is not None:
            raise writer.error

    async def _stop(self) -> None:
        self._stopped = True
        self._writer.cancel()
        self._subscriptions.unsubscribe_all()
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await self._use_cases.close_stream(self.player.bot, self.stream)

    async def _stay_present(self, ended: asyncio.Event) -> None:
        """Renew the bot's presence again and again, until its token works no more."""
        while not ended.is_set():
            if not await wait_for(ended, PRESENCE_SECONDS):
                await self._check_presence()
        self.close(StreamEnd.by(token_ended()))

    async def _check_presence(self) -> None:
        """Renew the presence once the store has this stream; before, it may have an older one."""
        if self._connected:
            with contextlib.suppress(StoreUnavailable, StoreRefusedError):
                await self._renew_presence()

    async def _renew_presence(self) -> None:
        """Renew the bot's presence, and make up for notifications that were lost."""
        bot = self.player.bot
        try:
            holder = await self._use_cases.renew_stream(bot, self.stream)
        except BotRetired as error:
            self.close(StreamEnd.by(error))
            return
        if holder != self.stream:
            self.close(StreamEnd.taken_over())
            return
        if self._resumed:
            for game_id in await self._use_cases.games_of(bot):
                self._subscriptions.follow(game_id)
            await self._consider_invitations()
        for message in await self._ladder.keep_places():
            self._writer.send(message)

    def _on_bot_event(self, event: BotNotification) -> None:
        """Handle an event of the bot; an error here must not reach the dispatcher."""
        if self._stopped:
            return
        try:
            kind, _, subject = event
            if kind is BotNotificationKind.SEATED:
                if self._welcomed:
                    self._subscriptions.follow(subject)
                else:
                    self._seated_early.append(subject)
            elif kind in _OUT_OF_QUEUE:
                message = ServerMessage()
                self._ladder.left(message, _OUT_OF_QUEUE[kind](subject))
                self._writer.send(message)
            elif subject != self.stream:
                # Maybe an older stream of the bot, whose notification comes late: ask the store.
                self._writer.start(self._check_presence)
        except Exception as raised:  # noqa: BLE001 - the client gets the reason
            self.close(StreamEnd.by(as_error(raised, "Play")))

    # --- Hello ----------------------------------------------------------------------------------

    async def _open(self, hello_id: str) -> None:
        """Take over from any other stream of the bot, say Welcome, and resume its games."""
        await self._use_cases.open_stream(self.player, self.stream)
        self._connected = True
        unfinished = await self._costs.owed().measure(self._unfinished())
        answer = ServerMessage(request_id=hello_id)
        answer.welcome.protocol_version = PROTOCOL
        answer.welcome.server = f"himeji/{himeji.__version__}"
        answer.welcome.engine_version = himeji.__version__
        for name in sorted(rules.RULESETS):
            answer.welcome.rulesets.add(ruleset=name, revision=rules.RULESETS[name].revision)
        answer.welcome.bot, answer.welcome.bot_version = self.player.bot, self.player.version
        answer.welcome.server_time.FromMilliseconds(self._use_cases.now())
        answer.welcome.game_ids.extend(unfinished)
        answer.welcome.ladders.extend(await self._ladder.ladders())
        self._writer.send(answer)
        self._welcomed = True
        for game_id in self._seated_early:
            self._subscriptions.follow(game_id)
        resumed = sorted(self._subscriptions.resumed.keys() - set(unfinished))
        for game_id in [*unfinished, *resumed]:
            await self._subscriptions.take_up(game_id)
        await self._consider_invitations()  # those that came while it was away
        self._resumed = True

    async def _consider_invitations(self) -> None:
        if self._subscriptions.accepts_invitations:
            self._subscriptions.consider(await self._use_cases.invitations(self.player.bot))

    async def _unfinished(self) -> list[str]:
        """The games that are not over in which the bot has a seat."""
        games = await self._use_cases.games_of(self.player.bot)
        return [each async for each in in_slices(games) if await self._is_unfinished(each)]

    async def _is_unfinished(self, game_id: str) -> bool:
        """Whether the bot has a seat in a game that is not over; forgets one that is."""
        with contextlib.suppress(UnknownGame):
            view = await self._use_cases.view(game_id)
            if view.stored.state != OVER:
                return bool(self._ladder.seats(view))
        await self._use_cases.forget_game(self.player.bot, game_id)
        return False


def check_hello(hello: Hello) -> None:
    """Refuse a client with another protocol or other rules, or with inviters that cannot be."""
    check_text(hello.client, "client", LONGEST_CLIENT)
    check_text(hello.engine_version, "engine_version", LONGEST_CLIENT)
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
    for number, owner in enumerate(hello.invitations_from):
        names.owner_name(owner, f"invitations_from[{number}]")
