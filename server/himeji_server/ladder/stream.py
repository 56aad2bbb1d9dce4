"""The ladder's part of a bot's stream: Enter, Leave and Ready, and the messages about seatings."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from himeji.v1.play_service_pb2 import (
    ClientMessage,
    Enter,
    EnteredQueue,
    LeftQueue,
    LeftQueueReason,
    Seated,
    SeatingFailed,
    ServerMessage,
)

from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import Player
from himeji_server.ladder.messages import ladder_closed, left_queue, removed_from_queue
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.ladder.ready_check import (
    assigned_seats,
    ready_noted,
    seating_declined,
    seating_failed,
    write_deadline,
)

REQUESTS: Final = ("enter", "leave", "ready")


class LadderStream:
    """Handles the ladder's requests of one stream."""

    def __init__(self, queue_commands: QueueCommands, player: Player) -> None:
        self._queue_commands = queue_commands
        self._player = player
        self._declined: set[str] = set()
        # How the client entered the queues that it believes to be in.
        self._entered: dict[str, Enter] = {}
        # Held by what changes the queues, so that keep_places() does not undo it half way.
        self._lock = asyncio.Lock()
        self._handlers: dict[str, Callable[[ClientMessage, ServerMessage], Awaitable[None]]] = {
            "enter": self._enter,
            "leave": self._leave,
            "ready": self._ready,
        }

    async def handle(self, request: ClientMessage) -> ServerMessage:
        """The answer to one of REQUESTS; raises HimejiError if it is refused."""
        out = ServerMessage(request_id=request.request_id)
        await self._handlers[request.WhichOneof("body") or ""](request, out)
        return out

    async def ladders(self) -> list[str]:
        """The ladders in whose queue the bot is."""
        return await self._queue_commands.ladders_of(self._player.bot)

    async def _enter(self, request: ClientMessage, out: ServerMessage) -> None:
        async with self._lock:
            await self._put_in(request.enter, out)

    async def _leave(self, request: ClientMessage, out: ServerMessage) -> None:
        ladder = request.leave.ladder
        async with self._lock:
            await self._queue_commands.leave(self._player.bot, ladder)
            self.left(out, left_queue(ladder, LeftQueueReason.LEFT_QUEUE_REASON_ASKED))

    def left(self, out: ServerMessage, message: LeftQueue) -> None:
        """Write that the bot is out of a queue, or of all."""
        for ladder in [message.ladder] if message.ladder else [*self._entered]:
            self._entered.pop(ladder, None)
        out.left_queue.CopyFrom(message)

    async def keep_places(self) -> list[ServerMessage]:
        """Make sure that the bot is in the queues it believes to be in, or tell it why it is not.

        What takes a bot out of a queue notifies its stream, but the notification may be lost with
        the process that sends or receives it. And a bot whose process was stopped for a while
        loses its ticket as one that has gone, though its stream is open: it gets a new one.
        """
        messages = []
        async with self._lock:
            queued = await self.ladders() if self._entered else []
            for ladder in [each for each in self._entered if each not in queued]:
                out, again = ServerMessage(), Enter()
                again.CopyFrom(self._entered[ladder])
                again.again = True
                await self._put_in(again, out)
                if out.HasField("left_queue"):
                    messages.append(out)
        return messages

    async def _put_in(self, enter: Enter, out: ServerMessage) -> None:
        """Put the bot into a queue; writes that it is in it, or why not."""
        ladder = enter.ladder
        if enter.again and not self._queue_commands.is_open(ladder):
            self.left(out, ladder_closed(ladder))
            return
        ticket = await self._queue_commands.enter(
            *(self._player, ladder, enter.max_games), again=enter.again, entry_id=enter.entry_id
        )
        if ticket is None:
            self.left(out, removed_from_queue(ladder))
            return
        self._entered[ladder] = enter
        out.entered_queue.CopyFrom(EnteredQueue(ladder=ladder, message=f"waiting on {ladder}"))

    async def _ready(self, request: ClientMessage, out: ServerMessage) -> None:
        ready = request.ready
        seat = ready.seat if ready.HasField("seat") else None
        if ready.decline:
            self._declined.add(ready.game_id)
            async with self._lock:
                view = await self._queue_commands.decline(self._player, ready.game_id, seat)
                self._entered.pop(view.header.ladder, None)
            out.seating_failed.CopyFrom(seating_declined(view))
        else:
            view = await self._queue_commands.ready(
                self._player, ready.game_id, seat, ready.entropy
            )
            out.ready_noted.CopyFrom(ready_noted(view))

    def seats(self, view: GameView) -> list[int]:
        """The seats that the bot has taken, or that are assigned to it."""
        return view.seats_of(self._player.bot) or assigned_seats(view, self._player.bot)

    def write_deadline(self, message: Seated, view: GameView, now: int) -> None:
        """Write by when a seating must be answered, if the game is one."""
        if assigned_seats(view, self._player.bot):
            write_deadline(message, view, self._queue_commands.ready_ms(view), now)

    def failure(self, view: GameView) -> SeatingFailed | None:
        """The message about a seating that failed; None if the bot itself declined it."""
        if view.game_id in self._declined:
            return None  # the bot was told when it declined
        failed = seating_failed(view, self._player.bot, self._queue_commands.ready_ms(view))
        if not failed.still_queued:
            self._entered.pop(failed.ladder, None)
        return failed
