"""The cache of games in memory, and how it is kept in step with the store.

Invariants: nothing is cached that the store does not have, except while a commit is under way; a
commit that fails, for whatever reason, drops the game, and the next reader loads it again. Every
view that is newer than the last one is published to the subscribers of this process.

A game is dropped when it is the oldest of more than MOST_CACHED, or one of more than MOST_OVER that
are over. Of a dropped game the position in its log is remembered: a store that later has less of
the log has lost a part of it (a failover can do that), and the game is void.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry, link
from himeji.wire.results import result

from himeji_server.games.game_locks import GameLocks
from himeji_server.games.live_game import GameView, LiveGame, LogPosition
from himeji_server.games.log_replay import BrokenLogError, catch_up, check_contains, restore
from himeji_server.games.seat_rules import invited_bots, invited_owners
from himeji_server.games.store_clock import StoreClock
from himeji_server.games.subscribers import Subscribers
from himeji_server.store.errors import StoreRefusedError
from himeji_server.store.game_records import OVER, PLAYING, StoredGame
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence
from himeji_server.store.quotas import QuotaStore, inviting
from himeji_server.tasks import TaskSet

MOST_CACHED: Final = 20_000
MOST_OVER: Final = 100  # games that are over: few come back to them
MOST_REMEMBERED: Final = 100_000  # positions in the logs of games that were dropped
COMPARED_AT_ONCE: Final = 500  # games; commits wait behind them

_log = structlog.get_logger(__name__)


class LiveGames:
    """The games of a store as one process knows them. Any number of processes share a store."""

    def __init__(
        self,
        store: GameStore,
        presence: Presence,
        quotas: QuotaStore,
        subscribers: Subscribers,
        clock: StoreClock | None = None,
    ) -> None:
        self.store = store
        self.clock = clock or StoreClock()
        self.locks = GameLocks()
        self.cached: OrderedDict[str, LiveGame] = OrderedDict()
        self.subscribers = subscribers
        self._presence, self._quotas = presence, quotas
        self._over: OrderedDict[str, None] = OrderedDict()  # cached and over, the oldest first
        self._remembered: OrderedDict[str, LogPosition] = OrderedDict()  # of dropped games
        self._moves = 0  # up to which slot moves of the store were checked
        self._tasks = TaskSet()

    async def read_time(self) -> int:
        """Ask the store for its time in milliseconds, and set the clock by it."""
        now = await self.store.now()
        self.clock.synchronise(now)
        return now

    def count_playing(self) -> int:
        """How many games that are being played are cached."""
        return sum(game.stored.state == PLAYING for game in list(self.cached.values()))

    # --- reading --------------------------------------------------------------------------------

    async def view(self, game_id: str) -> GameView:
        """The game as the store has it now; raises UnknownGame."""
        async with self.locks.hold(game_id):
            return (await self.refresh(game_id)).view

    async def view_at_least(self, game_id: str, version: int) -> GameView:
        """The game at a version or a later one; the store is read only if it has to be."""
        async with self.locks.hold(game_id):
            game = self.cached.get(game_id)
            if game is not None and game.stored.version >= version:
                return game.view
            return (await self.refresh(game_id)).view

    async def refresh(self, game_id: str) -> LiveGame:
        """Bring the game up to date with the store; raises UnknownGame. Needs the lock."""
        game = self.cached.get(game_id)
        if game is None or game.played.is_ahead:  # ahead: a change failed before it was sent
            return await self.reload(game_id)
        newer = await self.store.load_since(game.stored)
        try:
            catch_up(game, newer)
        except BrokenLogError:
            return await self.reload(game_id)  # the whole log shows what is wrong
        except BaseException:
            self.drop(game_id)
            raise
        self.subscribers.publish(game.view)
        if game.stored.state == OVER:
            self._expire_over(game_id)
        return game

    async def reload(self, game_id: str) -> LiveGame:
        """Read the game from its whole log; raises UnknownGame. Needs the lock."""
        self.drop(game_id)
        stored = await self.store.load(game_id)
        try:
            game = self._restore(stored)
        except BrokenLogError:
            # While a slot moves, a game may be read half at one node and half at another one.
            game = await self._reload_or_void(game_id)
        self._remembered.pop(game_id, None)
        self._cache(game)
        # Subscribers may know less: the reply to a commit can be lost with its connection.
        self.subscribers.publish(game.view)
        return game

    async def _reload_or_void(self, game_id: str) -> LiveGame:
        stored = await self.store.load(game_id)
        try:
            return self._restore(stored)
        except BrokenLogError as broken:
            _log.error("broken log", game=game_id, why=str(broken))
            return await self._void(stored)

    def _restore(self, stored: StoredGame) -> LiveGame:
        game = restore(stored)
        check_contains(stored, self._remembered.get(game.game_id))
        return game

    async def _void(self, stored: StoredGame) -> LiveGame:
        """End a game of whose log a part was lost: it is void."""
        game_id, reason = stored.header.game_id, EndReason.END_REASON_NO_CONTEST
        entry = ChainEntry(stored.version + 1, LogCause.LOG_CAUSE_STOPPED, end_reason=reason).text()
        ends = result(None, reason, {}).SerializeToString()
        rest = entry.partition(" ")[2]
        await self.store.void(stored.header, stored.chain, link(stored.chain, entry), rest, ends)
        after = await self.store.load(game_id)
        if after.state != OVER:
            raise StoreUnavailable("the game changes too fast, try again")
        try:
            game = restore(after)
        except BrokenLogError:
            game = LiveGame.of(after)
        self._release(game.view)
        return game

    # --- comparing with the store ---------------------------------------------------------------

    async def changed(self, game_ids: Sequence[str]) -> list[str]:
        """The games that the store has at another position than this process.

        Games of a node that does not reply are left out, and so are games that change here
        meanwhile: their subscribers know.
        """
        return [each for each, same in (await self._compare(game_ids)).items() if same is False]

    async def _compare(self, game_ids: Sequence[str]) -> dict[str, bool | None]:
        """Whether the store has each game at the position known here, None if it cannot tell."""
        found: dict[str, bool | None] = {}
        for first in range(0, len(game_ids), COMPARED_AT_ONCE):
            some = game_ids[first : first + COMPARED_AT_ONCE]
            before = [self._known_position(game_id) for game_id in some]
            heads = await self.store.heads(some)
            for game_id, known, head in zip(some, before, heads, strict=True):
                changed_here = known is not None and known != self._known_position(game_id)
                same = changed_here or known == (None if head is None else LogPosition(*head))
                found[game_id] = None if head is None else same
        return found

    def _known_position(self, game_id: str) -> LogPosition | None:
        game = self.cached.get(game_id)
        return self._remembered.get(game_id) if game is None else game.view.position_in_log

    async def check_moved(self) -> None:
        """Compare the games that another node of the store has now with what is known here.

        A node that took over may miss what was committed; only a process that saw it can tell.
        """
        moves, moved = self.store.moved(self._moves, [*self.cached, *self._remembered])
        compared = await self._compare(moved)
        for game_id, same in compared.items():
            if same is False:
                with contextlib.suppress(UnknownGame):
                    await self.view(game_id)
        if None not in compared.values():
            self._moves = moves

    # --- the cache ------------------------------------------------------------------------------

    def is_cached(self, game_id: str) -> bool:
        """Whether a reader of a game need not replay its whole log."""
        return game_id in self.cached

    def committed(self, game: LiveGame) -> None:
        """A commit of this process stands: expire what is over."""
        if game.stored.state == OVER:
            if game.game_id in self.cached:
                self._expire_over(game.game_id)
            self._release(game.view)

    def drop(self, game_id: str) -> None:
        """Take a game out of the cache; what was seen of its log must be there when it is read."""
        position = self._known_position(game_id)
        self.cached.pop(game_id, None)
        self._over.pop(game_id, None)
        if position is not None:
            self._remembered[game_id] = position
            self._remembered.move_to_end(game_id)
        while len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    def _cache(self, game: LiveGame) -> None:
        self.cached[game.game_id] = game
        self.cached.move_to_end(game.game_id)
        while len(self.cached) > MOST_CACHED:
            self.drop(next(iter(self.cached)))
        if game.stored.state == OVER:
            self._expire_over(game.game_id)

    def _expire_over(self, game_id: str) -> None:
        self._over[game_id] = None
        while len(self._over) > MOST_OVER:
            self.drop(next(iter(self._over)))

    def _release(self, view: GameView) -> None:
        """Forget in the store that bots have to come back to this game, which is over.

        What is left when this fails is removed at the bot's next Hello, or when a quota is full.
        """
        self._tasks.start(self._remove_from_bots(view))

    async def _remove_from_bots(self, view: GameView) -> None:
        game_id, creator = view.game_id, view.stored.creator
        plans = [seat.plan for seat in view.header.seats]
        named = invited_bots(plans)
        seated = {seat.bot for seat in view.stored.seats if seat.bot}
        is_invitation = bool(creator.owner)  # else a ladder or a tournament seated them
        invited = named if is_invitation else set()
        owners = invited_owners(creator.owner, plans) if is_invitation else set()
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await asyncio.gather(
                *(self._presence.remove_game(bot, game_id) for bot in seated | named),
                *(self._presence.remove_invitation(bot, game_id) for bot in invited),
                *(self._quotas.remove(inviting(creator, owner), game_id) for owner in owners),
            )
