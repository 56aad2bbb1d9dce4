"""What bots and their owners ask of queues, by stream or by call: enter, leave, ready, decline."""

import contextlib
from collections.abc import Collection
from typing import Final

from himeji.rules.errors import GameEnded, InvalidRequest, Refused, UnknownGame
from himeji.v1.game_pb2 import EndReason

from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.live_game import GameView
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.ready_check import assigned_seats
from himeji_server.ladder.tournament_runner import READY_MS
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.queues import QueueStore, Ticket
from himeji_server.texts import check_text

LONGEST_ENTRY_ID: Final = 64
MAX_GAMES: Final = 64
"""How many games of a ladder a bot may play at the same time."""


class QueueCommands:
    """Commands on the queues of all ladders, and on the seatings that come of them."""

    def __init__(
        self,
        ladders: Ladders,
        queues: QueueStore,
        use_cases: GameUseCases,
        requests: IdempotencyKeys,
    ) -> None:
        self._ladders = ladders
        self._queues = queues
        self._use_cases = use_cases
        self._requests = requests

    async def enter(
        self,
        player: Player,
        ladder: str,
        max_games: int,
        *,
        again: bool = False,
        entry_id: str = "",
    ) -> Ticket | None:
        """Enter a queue, or keep the place in it; raises UnknownLadder, Refused.

        None if the bot was removed since the Enter that this one repeats (`again`, `entry_id`).
        """
        check_text(entry_id, "entry_id", LONGEST_ENTRY_ID)
        if not 0 <= max_games <= MAX_GAMES:
            raise InvalidRequest(
                f"a bot plays 1 to {MAX_GAMES} games of a ladder at once", {"field": "max_games"}
            )
        found = self._ladders[ladder]
        if not found.accepting:
            raise Refused(f"{ladder} is closed: nobody can enter", {"ladder": ladder})
        await self._use_cases.record_entry(player.bot)
        return await self._queues.enter(
            *(found.name, player.bot, player.version, max_games or 1),
            again=again,
            entry_id=entry_id,
        )

    def is_open(self, ladder: str) -> bool:
        """Whether the ladder exists and bots can enter it."""
        return ladder in self._ladders.names and self._ladders[ladder].accepting

    async def leave(self, bot: str, ladder: str) -> list[str]:
        """Leave a queue, or all with ""; the queues that the bot was in.

        Seatings that it has not answered are declined.
        """
        ladders = self._ladders.names_of(ladder)
        left = [name for name in ladders if await self._queues.leave(name, bot)]
        await self._decline_all(bot, ladders)
        return left

    async def leave_by_call(
        self, caller: Caller, bot: str, ladder: str, request_id: str
    ) -> list[str]:
        """Remove a bot of the caller's from a queue, or from all; its stream is notified."""
        content: list[object] = ["LeaveLadder", bot, ladder]
        await self._requests.claim(caller.owner, request_id, content, Operation())
        player = await self._use_cases.player(caller, bot)
        ladders = self._ladders.names_of(ladder)
        left = [name for name in ladders if await self._queues.remove(name, player.bot)]
        await self._decline_all(player.bot, ladders)
        # All of them: a retry does not know whether the first try came to notify the stream.
        for name in ladders:
            await self._queues.notify_left(player.bot, name)
        return left

    async def _decline_all(self, bot: str, ladders: Collection[str]) -> None:
        """Decline the seatings of these ladders that a bot has not answered."""
        for game_id in await self._use_cases.games_of(bot):
            with contextlib.suppress(UnknownGame):
                view = await self._use_cases.view(game_id)
                if view.header.ladder in ladders and _awaits_answer(view, bot):
                    await self._cancel_seating(game_id)

    async def ladders_of(self, bot: str) -> list[str]:
        """The ladders in whose queue a bot is."""
        return await self._queues.ladders_of(bot, self._ladders.names)

    async def ready(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes
    ) -> GameView:
        """Accept a seat; the game as it is then. Idempotent."""
        view = await self._seating(player.bot, game_id, seat)
        if not _awaits_answer(view, player.bot):
            return view
        ladder = view.header.ladder
        if ladder and self._ladders[ladder].trusted:
            entropy = b""  # the next game of the deal must have the same chance
        view, _ = await self._use_cases.join(player, game_id, seat, entropy, "")
        return view

    async def decline(self, player: Player, game_id: str, seat: int | None) -> GameView:
        """Decline a seat: the bot leaves the queue, and the game does not begin."""
        view = await self._seating(player.bot, game_id, seat)
        if view.stored.state != WAITING:
            raise Refused(f"game {game_id} has begun", {"game_id": game_id})
        if view.header.ladder:
            await self._queues.leave(view.header.ladder, player.bot)
        return await self._cancel_seating(game_id)

    def ready_ms(self, view: GameView) -> int:
        """How long the bots of a seating have to answer."""
        ladder = view.header.ladder
        return self._ladders[ladder].ready if ladder else READY_MS

    async def _seating(self, bot: str, game_id: str, seat: int | None) -> GameView:
        """The seating in which the bot is assigned that seat; raises Refused, GameEnded."""
        view = await self._use_cases.view(game_id)
        assigned = assigned_seats(view, bot)
        if not assigned or seat not in (None, *assigned):
            raise Refused("no seating of this game waits for your answer", {"game_id": game_id})
        if view.stored.state == OVER:
            raise GameEnded("the game is over", {"game_id": game_id})
        return view

    async def _cancel_seating(self, game_id: str) -> GameView:
        return await self._use_cases.cancel(game_id, EndReason.END_REASON_UNSEATED)


def _awaits_answer(view: GameView, bot: str) -> bool:
    """Whether the game is a seating that the bot has not answered."""
    if view.stored.state != WAITING:
        return False
    return not set(view.open_seats()).isdisjoint(assigned_seats(view, bot))
