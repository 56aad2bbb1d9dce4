"""The ladder's part of a bot's stream: Enter, Leave and Ready, and the notices about seatings."""

from collections.abc import Awaitable, Callable
from typing import Final

from himeji.v1.play_service_pb2 import Notice, NoticeKind, PlayRequest, Seated

from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import Player
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.ladder.ready_check import (
    assigned_seats,
    declined_notice,
    failed_notice,
    has_failed,
    ready_notice,
    write_deadline,
)

REQUESTS: Final = ("enter", "leave", "ready")


class LadderStream:
    """Handles the ladder's requests of one stream."""

    def __init__(self, queue_commands: QueueCommands, player: Player) -> None:
        self._queue_commands = queue_commands
        self._player = player
        self._declined: set[str] = set()
        self._handlers: dict[str, Callable[[PlayRequest], Awaitable[Notice]]] = {
            "enter": self._enter,
            "leave": self._leave,
            "ready": self._ready,
        }

    async def handle(self, request: PlayRequest) -> Notice:
        """The answer to one of REQUESTS; raises HimejiError if it is refused."""
        return await self._handlers[request.WhichOneof("body") or ""](request)

    async def ladders(self) -> list[str]:
        """The ladders in whose queue the bot is."""
        return await self._queue_commands.ladders_of(self._player.bot)

    async def _enter(self, request: PlayRequest) -> Notice:
        enter = request.enter
        again = enter.again
        if again and not self._queue_commands.is_open(enter.ladder):
            return closed_notice(enter.ladder)
        if not await self._queue_commands.enter(
            self._player, enter.ladder, enter.max_games, again=again
        ):
            return left_notice(enter.ladder)
        return Notice(
            kind=NoticeKind.NOTICE_KIND_ENTERED,
            message=f"waiting on {enter.ladder}",
            ladder=enter.ladder,
        )

    async def _leave(self, request: PlayRequest) -> Notice:
        await self._queue_commands.leave(self._player.bot, request.leave.ladder)
        return left_notice(request.leave.ladder)

    async def _ready(self, request: PlayRequest) -> Notice:
        ready = request.ready
        seat = ready.seat if ready.HasField("seat") else None
        if not ready.decline:
            return ready_notice(
                await self._queue_commands.ready(self._player, ready.game_id, seat, ready.entropy)
            )
        self._declined.add(ready.game_id)
        return declined_notice(
            await self._queue_commands.decline(self._player, ready.game_id, seat)
        )

    def seats(self, view: GameView) -> list[int]:
        """The seats that the bot has taken, or that are assigned to it."""
        return view.seats_of(self._player.bot) or assigned_seats(view, self._player.bot)

    def write_deadline(self, message: Seated, view: GameView, now: int) -> None:
        """Write by when a seating must be answered, if the game is one."""
        if assigned_seats(view, self._player.bot):
            write_deadline(message, view, self._queue_commands.ready_ms(view), now)

    def failure(self, view: GameView) -> list[Notice] | None:
        """The notices about a seating that failed; None if the game is something else."""
        if not has_failed(view):
            return None
        if view.game_id in self._declined:
            return []  # the bot got its notice when it declined
        return [failed_notice(view, self._player.bot, self._queue_commands.ready_ms(view))]


def closed_notice(ladder: str) -> Notice:
    """The bot is out of a queue because its ladder was closed."""
    return Notice(
        kind=NoticeKind.NOTICE_KIND_LADDER_CLOSED,
        message=f"{ladder} was closed: out of its queue",
        ladder=ladder,
    )


def left_notice(ladder: str) -> Notice:
    """The bot is out of a queue, or of all."""
    return Notice(
        kind=NoticeKind.NOTICE_KIND_LEFT,
        message=f"out of the queue of {ladder}" if ladder else "out of all queues",
        ladder=ladder,
    )
