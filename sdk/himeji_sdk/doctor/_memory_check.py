"""The check of memory: one object plays game after game, and must not keep more each time."""

from __future__ import annotations

import gc
import sysconfig
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import himeji
from himeji import rules

from himeji_sdk._bot import AnyBot
from himeji_sdk._bot_fault import BotFault
from himeji_sdk.doctor._finding import Finding, fault, ok
from himeji_sdk.doctor._game_checks import OnProgress, play_game, progress_watch
from himeji_sdk.doctor._settings import Settings
from himeji_sdk.doctor._timed_bot import TimedBot, lineup

WARM_UP_GAMES: Final = 2
"""Games in which imports, tables and caches are filled."""

MIN_GAMES: Final = WARM_UP_GAMES + 3
"""Fewer games show no trend."""

ALLOWED_GROWTH_BYTES: Final = 32_768
"""Growth per game that is no fault."""

_TRACE_DEPTH: Final = 12
"""Frames that are recorded to find the bot's own line; each one makes the bot slower."""

_FOREIGN_FOLDERS: Final = (
    Path(himeji.__file__).parent,
    Path(__file__).parents[1],
    Path(sysconfig.get_path("stdlib")),
)


def check_memory(bot: AnyBot, settings: Settings, on_progress: OnProgress) -> Finding:
    """Whether the bot keeps more after every game."""
    try:
        sizes, _ = _measure(bot, settings, on_progress)
        growth = [after - before for before, after in pairwise(sizes[WARM_UP_GAMES:])]
        each = sum(growth) // len(growth)
        if min(growth) <= 0 or each <= ALLOWED_GROWTH_BYTES:
            return ok("memory", f"one object plays {len(sizes)} games and keeps no more each time")
        _, snapshots = _measure(bot, replace(settings, games=1), on_progress, _TRACE_DEPTH)
    except BotFault as error:
        return fault("memory", f"playing on with one object: {error.sentence}", str(error))
    return fault("memory", f"it keeps {_size(each)} more after every game{_place(*snapshots)}")


def _measure(
    bot: AnyBot, settings: Settings, on_progress: OnProgress, depth: int = 1
) -> tuple[list[int], list[tracemalloc.Snapshot]]:
    """Bytes held after each game, and, if deep, snapshots after the warm-up and at the end."""
    sizes: list[int] = []
    snapshots: list[tracemalloc.Snapshot] = []
    tracemalloc.start(depth)
    try:
        timed, seats = TimedBot(bot), rules.ruleset(settings.ruleset).seat_counts[0]
        wanted, until = max(settings.games, MIN_GAMES), time.monotonic() + settings.seconds
        while len(sizes) < MIN_GAMES or (len(sizes) < wanted and time.monotonic() < until):
            doing = f"measuring memory, game {len(sizes) + 1} of {wanted}"
            number, timed.times = len(sizes), []
            watch = progress_watch(on_progress, doing, timed)
            play_game(lineup(timed, seats, number), number, settings, watch)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
            if depth > 1 and len(sizes) in (WARM_UP_GAMES, MIN_GAMES):
                snapshots.append(tracemalloc.take_snapshot())
    finally:
        tracemalloc.stop()
    return sizes, snapshots


def _place(before: tracemalloc.Snapshot, after: tracemalloc.Snapshot) -> str:
    """The line of the bot that allocated most of the growth."""
    grown: dict[str, int] = {}
    for difference in after.compare_to(before, "traceback"):
        own = [frame for frame in difference.traceback if _is_bot_file(frame.filename)]
        if own:
            line = f"{Path(own[-1].filename).name}, line {own[-1].lineno}"
            grown[line] = grown.get(line, 0) + difference.size_diff
    most = max(grown, key=lambda line: grown[line], default="")
    return f", most of it from {most}" if most and grown[most] > 0 else ""


def _is_bot_file(file: str) -> bool:
    path = Path(file)
    return path.is_file() and not any(path.is_relative_to(each) for each in _FOREIGN_FOLDERS)


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count / 1000:.0f} kB"
