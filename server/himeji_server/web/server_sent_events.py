"""The changes of a game as server-sent events, each with everything that has to be redrawn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from himeji_server.games.live_game import GameView
from himeji_server.games.notifications import POLL_SECONDS
from himeji_server.games.use_cases import GameUseCases
from himeji_server.store.game_records import OVER
from himeji_server.tasks import wait_for

MIN_SECONDS_BETWEEN_EVENTS: Final = 0.3
"""Bots play faster than people look: what happens in between comes together."""

KEEPALIVE_SECONDS: Final = 15.0

Content = Callable[[GameView], Awaitable[dict[str, Any]]]
"""Makes the content of an event."""


async def changes(
    use_cases: GameUseCases, game_id: str, known: int, content: Content
) -> AsyncIterator[str]:
    """The game after each change from a version on, until it is over or the arena stops."""
    wake, sent, quiet = asyncio.Event(), known, 0.0
    yield "retry: 1000\n\n"
    async with use_cases.wake_on_change(game_id, wake, use_cases.stopping):
        while not use_cases.stopping.is_set():
            wake.clear()
            view = await use_cases.view(game_id)
            over, version = view.stored.state == OVER, view.stored.version
            if version != sent:
                yield _event("news", await content(view), version)
                sent, quiet = version, 0.0
                await asyncio.sleep(MIN_SECONDS_BETWEEN_EVENTS)
            if over:
                yield _event("end", {"why": "the game is over"}, version)
                return
            quiet = await _pause(wake, quiet)
            if quiet >= KEEPALIVE_SECONDS:
                yield ": nothing new\n\n"
                quiet = 0.0
    yield pause("the arena stops", sent)


def pause(why: str, version: int) -> str:
    """The last event of a stream that is worth opening again."""
    return _event("pause", {"why": why}, version)


async def _pause(wake: asyncio.Event, quiet: float) -> float:
    """Wait for a change; for how many seconds nothing has changed then."""
    return quiet if await wait_for(wake, POLL_SECONDS) else quiet + POLL_SECONDS


def _event(name: str, content: dict[str, Any], version: int) -> str:
    return f"event: {name}\nid: {version}\ndata: {json.dumps(content)}\n\n"
