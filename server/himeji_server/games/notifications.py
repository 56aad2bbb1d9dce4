"""Bells: who follows a game, or a bot, hears of what happens, wherever it happened.

What this process commits is told at once, with the game in hand. What others commit is rung by
the store, and looked up: it rings at the processes that said they follow the game, and at no
others. Since a bell can be missed, all games that are followed are looked at now and then.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Final

import structlog
from himeji.rules.errors import HimejiError, StoreUnavailable, UnknownGame

from himeji_server.games.live_game import LiveGame
from himeji_server.store import StoreRefusedError
from himeji_server.store.game_records import OVER
from himeji_server.store.game_store import GameStore
from himeji_server.store.notifications import BotNotification, GameNotification
from himeji_server.store.presence import Presence

if TYPE_CHECKING:
    from himeji_server.games.live_games import LiveGames

SECONDS_BETWEEN_LOOKS: Final = 2.0
SECONDS_HEARD_ON: Final = 60.0
"""How long a game rings here after nobody follows it any more: who asks by calls comes back."""

Hear = Callable[[BotNotification], None]
See = Callable[[LiveGame], None]
Gone = Callable[[str, HimejiError], None]

_log = structlog.get_logger(__name__)


class Notifications:
    """The bells of this process."""

    live_games: LiveGames
    """Who looks a game up; it rings here itself, so it comes second."""

    def __init__(self, games: GameStore, presence: Presence) -> None:
        self._store = games
        self._presence = presence
        self._rung: dict[str, float] = {}  # games that ring here, and when that was wished last
        self._games: defaultdict[str, dict[See, Gone]] = defaultdict(dict)
        self._versions: dict[str, int] = {}  # of games that are followed, as they were told
        self._bots: defaultdict[str, set[Hear]] = defaultdict(set)
        self._looking: dict[str, int] = {}  # games that are looked up, and the version to come to
        self._tasks: set[asyncio.Task[None]] = set()

    async def hear(self, game_id: str) -> None:
        """Have the game rung here. Said before it is read: what is read then cannot be missed.

        A store that takes no writes may still be read: changes are then found by looking.
        """
        rings = game_id in self._rung
        self._rung[game_id] = time.monotonic()
        if rings:
            return
        try:
            await self._store.subscribe(game_id)
        except (StoreUnavailable, StoreRefusedError):
            self._rung.pop(game_id, None)
        except BaseException:
            self._rung.pop(game_id, None)
            raise

    def follow_game(self, game_id: str, see: See, gone: Gone) -> None:
        """Call `see` with the game after every change until it is left; `gone` if it is no more.

        Changes that others make are seen at once if the game is rung here.
        """
        self._games[game_id][see] = gone

    def leave_game(self, game_id: str, see: See) -> None:
        """Call no more; leaving twice is harmless."""
        self._games[game_id].pop(see, None)
        if not self._games[game_id]:
            del self._games[game_id]
            self._versions.pop(game_id, None)
            if game_id in self._rung:
                self._rung[game_id] = time.monotonic()

    @asynccontextmanager
    async def game(
        self, game_id: str, wake: asyncio.Event, *others: asyncio.Event
    ) -> AsyncIterator[None]:
        """Set the event after every change, and when one of the others is set, for a while."""

        def see(_table: LiveGame) -> None:
            wake.set()

        await self.hear(game_id)
        self.follow_game(game_id, see, lambda _game_id, _error: wake.set())
        try:
            with _woken_by(wake, *others):
                yield
        finally:
            self.leave_game(game_id, see)

    @contextmanager
    def bot(self, bot: str, hear: Hear) -> Iterator[None]:
        """Call with each notification of the bot, for a while."""
        self._bots[bot].add(hear)
        try:
            yield
        finally:
            self._bots[bot].discard(hear)
            if not self._bots[bot]:
                del self._bots[bot]

    def ring(self, game: LiveGame) -> None:
        """Tell those of this process who follow the game."""
        if game.stored.state == OVER:
            self._rung.pop(game.game_id, None)  # nothing is rung after its end
        followers = self._games.get(game.game_id)
        if not followers:
            return
        self._versions[game.game_id] = game.stored.version
        for see in tuple(followers):
            see(game)

    async def follow(self) -> None:
        """Pass on what other processes ring; returns only by being cancelled."""
        looking: asyncio.Task[None] | None = None
        async with aclosing(self._presence.subscribe(self._store.channels)) as notifications:
            async for notification in notifications:
                if notification is not None:
                    self._pass_on(notification)
                elif looking is None or looking.done():
                    looking = self._start(self._look_at(list(self._games)))

    async def look_around(self) -> None:
        """Look again and again at every game that is followed and has not changed since."""
        before: dict[str, int] = {}
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            quiet = [each for each in self._games if self._versions.get(each) == before.get(each)]
            before = dict(self._versions)
            await self._look_at(quiet)
            self._let_fade()

    async def _look_at(self, game_ids: Sequence[str]) -> None:
        with suppress(StoreUnavailable, StoreRefusedError):
            changed = await self.live_games.differing(game_ids)
            for game_id in changed:
                self._heard(game_id, 0)
            again = (self._store.subscribe(game_id) for game_id in changed)
            # In case the store has forgotten who listens; of what fails is heard by looking.
            await asyncio.gather(*again, return_exceptions=True)
            await self.live_games.look_again()

    def _let_fade(self) -> None:
        """Forget games that were left long ago; should one of them ring, it is told not to."""
        long_ago = time.monotonic() - SECONDS_HEARD_ON
        left = [each for each in self._rung if each not in self._games]
        for game_id in left:
            if self._rung[game_id] < long_ago:
                del self._rung[game_id]

    async def _hear_no_more(self, game_id: str) -> None:
        if game_id in self._games or game_id in self._rung:
            return  # somebody has come meanwhile
        with suppress(StoreUnavailable, StoreRefusedError):
            await self._store.unsubscribe(game_id)

    def _pass_on(self, notification: GameNotification | BotNotification) -> None:
        if isinstance(notification, BotNotification):
            for hear in tuple(self._bots.get(notification.bot, ())):
                hear(notification)
            return
        game_id, version = notification
        if game_id in self._games:
            self._heard(game_id, version)
        elif game_id not in self._rung:
            self._start(self._hear_no_more(game_id))

    def _heard(self, game_id: str, version: int) -> None:
        """Look a game up that has come to a version, unless everybody was told; 0: unknown."""
        if game_id not in self._games or 0 < version <= self._versions.get(game_id, -1):
            return
        if game_id in self._looking:
            self._looking[game_id] = max(version, self._looking[game_id])
            return
        self._looking[game_id] = version
        self._start(self._look(game_id))

    def _start(self, part: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(part)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _look(self, game_id: str) -> None:
        try:
            version = -1
            while version != self._looking[game_id]:
                version = self._looking[game_id]
                self.ring(await self.live_games.at(game_id, version or None))
        except UnknownGame as error:
            for gone in list(self._games.get(game_id, {}).values()):
                gone(game_id, error)
        except (HimejiError, StoreRefusedError):
            pass  # it is looked at again
        except Exception:  # noqa: BLE001 - one bad game must not keep all others waiting
            _log.exception("fault in looking at a game", game=game_id)
        finally:
            del self._looking[game_id]


@contextmanager
def _woken_by(wake: asyncio.Event, *events: asyncio.Event) -> Iterator[None]:
    """Set `wake` when one of the events is set, too."""

    async def wait(event: asyncio.Event) -> None:
        await event.wait()
        wake.set()

    tasks = [asyncio.create_task(wait(event)) for event in events]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
