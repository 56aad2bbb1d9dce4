"""A game as it goes on, as server-sent events: each tells everything that has to be drawn anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from himeji_server.games.live_game import LiveGame
from himeji_server.games.use_cases import GameUseCases
from himeji_server.store.game_records import OVER

SECONDS_BETWEEN_LOOKS: Final = 2.0  # a bell may be missed
SECONDS_BETWEEN_NEWS: Final = 0.3
"""Bots play faster than people look: what happens in between comes together."""

SECONDS_OF_SILENCE: Final = 15.0

Tell = Callable[[LiveGame], Awaitable[dict[str, Any]]]
"""Makes what is told of a game; the table is not looked at after its first pause."""


async def news(use_cases: GameUseCases, game_id: str, known: int, tell: Tell) -> AsyncIterator[str]:
    """The game after each change from a version on, until it is over or the arena stops."""
    wake, told, quiet = asyncio.Event(), known, 0.0
    yield "retry: 1000\n\n"
    async with use_cases.notifications.game(game_id, wake, use_cases.stopping):
        while not use_cases.stopping.is_set():
            wake.clear()
            view = await use_cases.view(game_id)
            over, version = view.stored.state == OVER, view.stored.version
            if version != told:
                yield _event("news", await tell(view), version)
                told, quiet = version, 0.0
                await asyncio.sleep(SECONDS_BETWEEN_NEWS)
            if over:
                yield _event("end", {"why": "the game is over"}, version)
                return
            quiet = await _pause(wake, quiet)
            if quiet >= SECONDS_OF_SILENCE:
                yield ": nothing new\n\n"
                quiet = 0.0
    yield pause("the arena stops", told)


def pause(why: str, version: int) -> str:
    """The last event of a stream that is worth opening again."""
    return _event("pause", {"why": why}, version)


async def _pause(wake: asyncio.Event, quiet: float) -> float:
    """Wait for a bell; how long it has been quiet then."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_BETWEEN_LOOKS):
            await wake.wait()
        return quiet
    return quiet + SECONDS_BETWEEN_LOOKS


def _event(name: str, content: dict[str, Any], version: int) -> str:
    return f"event: {name}\nid: {version}\ndata: {json.dumps(content)}\n\n"
