"""Notifications between processes: how this process learns of what others commit.

A process registers with the store for each game that somebody here is subscribed to. The commit
script then publishes the game's new version on a channel of each registered process, which reads
the game and publishes it to its own subscribers (subscribers.py). What this process commits itself
is published without the detour. Since a message can be lost, games with subscribers are also
polled.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import Final

import structlog
from himeji.rules.errors import HimejiError, StoreUnavailable, UnknownGame

from himeji_server.games.live_game import GameView
from himeji_server.games.live_games import LiveGames
from himeji_server.games.subscribers import OnChange, OnGone
from himeji_server.store import StoreRefusedError
from himeji_server.store.notifications import BotNotification, GameNotification
from himeji_server.store.presence import Presence
from himeji_server.tasks import TaskSet

POLL_SECONDS: Final = 2.0
"""How often to check for a change whose notification may have been lost."""

REGISTRATION_SECONDS: Final = 60.0
"""How long a registration stays after the last subscriber: clients that use calls come back."""

OnBotEvent = Callable[[BotNotification], None]

_log = structlog.get_logger(__name__)


class Notifications:
    """The messages that this process gets, and the games that it is registered for."""

    def __init__(self, live_games: LiveGames, presence: Presence) -> None:
        self._live_games = live_games
        self._subscribers = live_games.subscribers
        self._store = live_games.store
        self._presence = presence
        self._registered: dict[str, float] = {}  # games, and when each was last asked for
        self._bots: defaultdict[str, set[OnBotEvent]] = defaultdict(set)
        # Games that are being read: the version to reach, and how often more was announced.
        self._loading: dict[str, tuple[int, int]] = {}
        self._tasks = TaskSet()

    # --- subscribing ----------------------------------------------------------------------------

    async def register(self, game_id: str) -> None:
        """Have the store notify this process of the game's changes.

        Register before reading the game: then no change is missed. A store that takes no writes may
        still be read; changes are found by polling then.
        """
        is_registered = game_id in self._registered
        self._registered[game_id] = time.monotonic()
        if is_registered:
            return
        try:
            await self._store.subscribe(game_id)
        except (StoreUnavailable, StoreRefusedError):
            self._registered.pop(game_id, None)
        except BaseException:
            self._registered.pop(game_id, None)
            raise

    def subscribe(self, view: GameView, on_change: OnChange, on_gone: OnGone) -> GameView:
        """Call `on_change` with each view after the one that is returned; see Subscribers.

        That is the given one, or a newer one if the game has moved on since it was read.
        """
        game = self._live_games.cached.get(view.game_id)
        if game is not None and game.stored.version >= view.stored.version:
            view = game.view
        self._subscribers.subscribe(view.game_id, on_change, on_gone, view)
        return view

    def unsubscribe(self, game_id: str, on_change: OnChange) -> None:
        """End a subscription; doing it twice is harmless."""
        if self._subscribers.unsubscribe(game_id, on_change):  # it is over
            self._registered.pop(game_id, None)
        elif game_id in self._registered:
            self._registered[game_id] = time.monotonic()

    @asynccontextmanager
    async def wake_on_change(
        self, game_id: str, wake: asyncio.Event, *others: asyncio.Event
    ) -> AsyncIterator[None]:
        """While the context is open, set the event after every change, and when another is set."""

        def on_change(_view: GameView) -> None:
            wake.set()

        await self.register(game_id)
        self._subscribers.subscribe(game_id, on_change, lambda _game_id, _error: wake.set())
        try:
            with _woken_by(wake, *others):
                yield
        finally:
            self.unsubscribe(game_id, on_change)

    @contextmanager
    def subscribe_bot(self, bot: str, on_event: OnBotEvent) -> Iterator[None]:
        """Call with each notification of the bot, for a while."""
        self._bots[bot].add(on_event)
        try:
            yield
        finally:
            self._bots[bot].discard(on_event)
            if not self._bots[bot]:
                del self._bots[bot]

    # --- receiving ------------------------------------------------------------------------------

    async def receive(self) -> None:
        """Dispatch the messages of other processes; returns only by being cancelled."""
        polling: asyncio.Task[None] | None = None
        async with aclosing(self._presence.subscribe(self._store.channels)) as messages:
            async for message in messages:
                if message is not None:
                    self._dispatch(message)
                elif polling is None or polling.done():  # some may have been missed
                    polling = self._tasks.start(self._poll(self._subscribers.game_ids))

    def _dispatch(self, message: GameNotification | BotNotification) -> None:
        if isinstance(message, BotNotification):
            for on_event in tuple(self._bots.get(message.bot, ())):
                on_event(message)
        elif message.game_id in self._subscribers:
            self._load_later(message.game_id, message.version)
        elif message.game_id not in self._registered:
            self._tasks.start(self._unregister(message.game_id))

    def _load_later(self, game_id: str, version: int) -> None:
        """Read a game that has reached a version, unless that was published; 0: unknown."""
        if game_id not in self._subscribers:
            return
        if 0 < version <= self._subscribers.published_version(game_id):
            return
        if game_id in self._loading:
            before, count = self._loading[game_id]
            self._loading[game_id] = (max(version, before), count + 1)
            return
        self._loading[game_id] = (version, 0)
        self._tasks.start(self._load(game_id))

    async def _load(self, game_id: str) -> None:
        """Read a game, which publishes it; again if something is announced meanwhile."""
        try:
            done = None
            while done != self._loading[game_id]:
                done = self._loading[game_id]
                version, _ = done
                if version:
                    await self._live_games.view_at_least(game_id, version)
                else:
                    await self._live_games.view(game_id)
        except UnknownGame as error:
            self._subscribers.publish_loss(game_id, error)
        except (HimejiError, StoreRefusedError):
            pass  # polling comes upon it again
        except Exception:  # noqa: BLE001 - one bad game must not hold up all others
            _log.exception("unexpected error in reading a game", game=game_id)
        finally:
            del self._loading[game_id]

    async def _unregister(self, game_id: str) -> None:
        if game_id in self._subscribers or game_id in self._registered:
            return  # somebody has come meanwhile
        with suppress(StoreUnavailable, StoreRefusedError):
            await self._store.unsubscribe(game_id)

    # --- polling --------------------------------------------------------------------------------

    async def poll(self) -> None:
        """Poll the games with subscribers that were not published since the last time."""
        before: dict[str, int] = {}
        while True:
            await asyncio.sleep(POLL_SECONDS)
            games = self._subscribers.game_ids
            versions = {each: self._subscribers.published_version(each) for each in games}
            quiet = [each for each in games if before.get(each, versions[each]) == versions[each]]
            before = versions
            await self._poll(quiet)
            self._expire_registrations()

    async def _poll(self, game_ids: Sequence[str]) -> None:
        with suppress(StoreUnavailable, StoreRefusedError):
            changed = await self._live_games.changed(game_ids)
            for game_id in changed:
                self._load_later(game_id, 0)
            # The store may have lost the registration; if this fails, polling goes on.
            again = (self._store.subscribe(game_id) for game_id in changed)
            await asyncio.gather(*again, return_exceptions=True)
            await self._live_games.check_moved()

    def _expire_registrations(self) -> None:
        """Forget games without subscribers; if one is announced later, it is unregistered."""
        oldest = time.monotonic() - REGISTRATION_SECONDS
        for game_id in [each for each in self._registered if each not in self._subscribers]:
            if self._registered[game_id] < oldest:
                del self._registered[game_id]


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
