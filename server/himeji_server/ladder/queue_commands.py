"""The lobby: what bots ask of ladders, by their streams or by calls: enter, leave, be ready."""

from collections.abc import Sequence
from typing import Final

from himeji.rules.errors import GameEnded, InvalidRequest, Refused
from himeji.v1.game_pb2 import EndReason

from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, PlannedRequest
from himeji_server.games.live_game import LiveGame
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.ready_check import seats_meant_for
from himeji_server.ladder.tournament_runner import READY_MS
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.queues import QueueStore, Ticket

MOST_GAMES: Final = 64
"""How many games of a ladder a bot may play at the same time."""


class QueueCommands:
    """The queues of an arena, as bots see them."""

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
        self, player: Player, ladder: str, max_games: int, *, again: bool = False
    ) -> Ticket | None:
        """Enter a queue, or stay in it at the same place; raises UnknownLadder, Refused.

        None for a bot that only says it again and was taken out meanwhile.
        """
        if not 0 <= max_games <= MOST_GAMES:
            raise InvalidRequest(
                f"a bot plays 1 to {MOST_GAMES} games of a ladder at once", {"field": "max_games"}
            )
        found = self._ladders[ladder]
        if not found.accepting:
            raise Refused(f"{ladder} is closed: nobody can enter", {"ladder": ladder})
        return await self._queues.enter(
            found.name, player.bot, player.version, max_games or 1, again=again
        )

    def is_open(self, ladder: str) -> bool:
        """Whether there is a ladder of that name, and bots can enter it."""
        return ladder in self._ladders.names and self._ladders[ladder].accepting

    async def leave(self, bot: str, ladder: str) -> list[str]:
        """Leave a queue, or all; the queues that the bot was in. Open seatings are declined."""
        wanted = [self._ladders[ladder].name] if ladder else self._ladders.names
        left = [name for name in wanted if await self._queues.leave(name, bot)]
        for game_id in await self._use_cases.presence.games_of(bot):
            view = await self._use_cases.view(game_id)
            if view.header.ladder in wanted and self._waits_for(view, bot):
                await self._call_off(game_id)
        return left

    async def leave_by_call(
        self, caller: Caller, bot: str, ladder: str, request_id: str
    ) -> list[str]:
        """Take a bot of the caller's out of a queue, or of all; its stream is told."""
        content: list[object] = ["LeaveLadder", bot, ladder]
        await self._requests.planned(caller.owner, request_id, content, PlannedRequest())
        player = await self._use_cases.player(caller, bot)
        for name in [self._ladders[ladder].name] if ladder else self._ladders.names:
            # Noted first: a stream that is on its way back must not enter again.
            await self._queues.note_removal(name, player.bot)
        left = await self.leave(player.bot, ladder)
        for name in left:
            await self._queues.notify_left(player.bot, name)
        return left

    async def ladders_of(self, bot: str) -> list[str]:
        """The ladders in whose queue a bot is."""
        return await self._queues.ladders_of(bot, self._ladders.names)

    async def ready(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes
    ) -> LiveGame:
        """Answer a seating; the game as it is then. Doing it twice is the same as once."""
        view = await self._seating(player.bot, game_id, seat)
        if not self._waits_for(view, player.bot):
            return view
        ladder = view.header.ladder
        if ladder and self._ladders[ladder].trusted:
            entropy = b""  # the next game of the deal must have the same chance
        view, _ = await self._use_cases.join(player, game_id, seat, entropy, "")
        return view

    async def decline(self, player: Player, game_id: str, seat: int | None) -> LiveGame:
        """Refuse a seat: the bot is out of the queue, and the game does not begin."""
        view = await self._seating(player.bot, game_id, seat)
        if view.stored.state != WAITING:
            raise Refused(f"game {game_id} has begun", {"game_id": game_id})
        if view.header.ladder:
            await self._queues.leave(view.header.ladder, player.bot)
        return await self._call_off(game_id)

    def answer_ms(self, view: LiveGame) -> int:
        """How long the seats of a seating have to answer."""
        ladder = view.header.ladder
        return self._ladders[ladder].ready if ladder else READY_MS

    async def _seating(self, bot: str, game_id: str, seat: int | None) -> LiveGame:
        """The seating in which a bot has a seat; raises the reason why there is none."""
        view = await self._use_cases.view(game_id)
        meant = seats_meant_for(view, bot)
        if not meant or seat not in (None, *meant):
            raise Refused("no seating of this game waits for your answer", {"game_id": game_id})
        if view.stored.state == OVER:
            raise GameEnded("the game is over", {"game_id": game_id})
        return view

    @staticmethod
    def _waits_for(view: LiveGame, bot: str) -> bool:
        open_seats: Sequence[int] = view.open_seats()
        waits = any(seat in open_seats for seat in seats_meant_for(view, bot))
        return view.stored.state == WAITING and waits

    async def _call_off(self, game_id: str) -> LiveGame:
        return await self._use_cases.commands.cancel(game_id, EndReason.END_REASON_UNSEATED)
