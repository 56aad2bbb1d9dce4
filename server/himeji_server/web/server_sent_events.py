"""The changes of games as server-sent events, each with everything that has to be redrawn.

A browser has one stream for the games of all its tabs: it opens few connections to a host, and a
stream for each tab would take them all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Any, Final

from himeji.rules.errors import InvalidRequest, UnknownGame
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from himeji_server.accounts.caller import Caller, current_address
from himeji_server.games.notifications import POLL_SECONDS
from himeji_server.games.use_cases import GameUseCases
from himeji_server.limits import Limits
from himeji_server.processor_shares import prepay
from himeji_server.rate_limits import ConcurrencyLimit
from himeji_server.store.game_records import OVER
from himeji_server.tasks import wait_for
from himeji_server.web.browser_players import BrowserPlayers
from himeji_server.web.request_costs import EVENT

MIN_SECONDS_BETWEEN_EVENTS: Final = 0.3
"""Bots play faster than people look: what happens in between comes together."""

KEEPALIVE_SECONDS: Final = 15.0
_MOST_DIGITS: Final = 9

LoadContent = Callable[[str, Caller | None], Awaitable[dict[str, Any]]]
"""Loads the content of an event: a game as the page shows it to somebody."""

Begin = Callable[[], Awaitable[AsyncGenerator[str, None]]]
"""Does what comes before the first event, and returns the events; raises what is answered instead.
"""


class EventStreams:
    """Opens the streams, as many as the limits allow."""

    def __init__(
        self,
        use_cases: GameUseCases,
        players: BrowserPlayers,
        load_content: LoadContent,
        limits: Limits,
    ) -> None:
        self._use_cases = use_cases
        self._players = players
        self._load_content = load_content
        self._most_games = limits.games_per_event_stream
        self._slots = ConcurrencyLimit(
            "event_streams",
            limits.event_streams_per_address,
            limits.event_streams,
            key="address",
        )

    async def open(self, request: Request) -> Response:
        """The stream of the games that the query names, with the versions that are known."""
        known = self._known_versions(request.query_params.get("games", ""))
        return _EventStream(self._slots, partial(self._begin, known, request))

    async def _begin(self, known: dict[str, int], request: Request) -> AsyncGenerator[str, None]:
        """The events of a stream that has its slot; raises UnknownGame."""
        await self._forget_unknown_games(known)
        return self._changes(known, await self._players.find(request))

    def _known_versions(self, text: str) -> dict[str, int]:
        """Parse ID:VERSION,ID:VERSION; raises InvalidRequest."""
        entries = [entry.partition(":") for entry in text.split(",")]
        if len(entries) > self._most_games:
            raise InvalidRequest(f"up to {self._most_games} games", {"field": "games"})
        if not all(game and _is_number(version) for game, _, version in entries):
            raise InvalidRequest("games are ID:VERSION,ID:VERSION", {"field": "games"})
        return {game: int(version) for game, _, version in entries}

    async def _forget_unknown_games(self, known: dict[str, int]) -> None:
        """Drop games that do not exist; raises UnknownGame if none is left."""
        for game_id in list(known):
            try:
                await self._use_cases.view(game_id)
            except UnknownGame:
                del known[game_id]
                if not known:
                    raise

    async def _changes(
        self, known: dict[str, int], caller: Caller | None
    ) -> AsyncGenerator[str, None]:
        """Each game after each change from a version on, until all are over or the arena stops."""
        use_cases, wake, quiet = self._use_cases, asyncio.Event(), 0.0
        async with AsyncExitStack() as stack:
            for game_id in known:
                await stack.enter_async_context(
                    use_cases.wake_on_change(game_id, wake, use_cases.stopping)
                )
            yield ": the changes of games\n\n"
            while known and not use_cases.stopping.is_set():
                wake.clear()
                for game_id in list(known):
                    view = await use_cases.view(game_id)
                    if view.stored.version != known[game_id]:
                        await prepay(current_address(), EVENT)
                        content = await self._load_content(game_id, caller)
                        known[game_id], quiet = content["version"], 0.0
                        yield _event("news", content)
                        await asyncio.sleep(MIN_SECONDS_BETWEEN_EVENTS)
                    elif view.stored.state == OVER:
                        del known[game_id]
                        yield _event("end", {"game": game_id})
                        wake.set()
                quiet = quiet if await wait_for(wake, POLL_SECONDS) else quiet + POLL_SECONDS
                if quiet >= KEEPALIVE_SECONDS:
                    yield ": nothing new\n\n"
                    quiet = 0.0
        if known:
            yield _event("pause", {"why": "the arena stops"})


class _EventStream(StreamingResponse):
    """A stream that holds a slot from its first work on; raises LimitExceeded before that."""

    def __init__(self, slots: ConcurrencyLimit, begin: Begin) -> None:
        super().__init__((), 200, {"cache-control": "no-store"}, "text/event-stream")
        self._slots, self._begin = slots, begin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slots.slot(current_address()):
            async with aclosing(await self._begin()) as events:
                self.body_iterator = events
                await super().__call__(scope, receive, send)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _event(name: str, content: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
