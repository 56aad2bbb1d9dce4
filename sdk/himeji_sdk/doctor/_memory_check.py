"""Memory under examination: one object plays game after game, and must not keep more each time."""

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
from himeji_sdk.doctor._game_checks import Say, alive, game_of
from himeji_sdk.doctor._settings import Wishes
from himeji_sdk.doctor._timed_bot import Patient, table

WARM_UP: Final = 2
"""Games in which imports, tables and caches are filled."""

LEAST: Final = WARM_UP + 3
"""Fewer games tell nothing."""

ALLOWED: Final = 32_768
"""Bytes after each game that nobody needs to mind."""

_CALLS: Final = 12
"""How far up the calls are looked for the bot's own line; each one makes the bot slower."""

_NOT_THE_BOTS: Final = (
    Path(himeji.__file__).parent,
    Path(__file__).parents[1],
    Path(sysconfig.get_path("stdlib")),
)


def memory(bot: AnyBot, wishes: Wishes, say: Say) -> Finding:
    """Whether the bot keeps more after every game."""
    try:
        sizes, _ = _measured(bot, wishes, say)
        growth = [after - before for before, after in pairwise(sizes[WARM_UP:])]
        each = sum(growth) // len(growth)
        if min(growth) <= 0 or each <= ALLOWED:
            return ok("memory", f"one object plays {len(sizes)} games and keeps no more each time")
        _, snapshots = _measured(bot, replace(wishes, games=1), say, _CALLS)
    except BotFault as error:
        return fault("memory", f"playing on with one object: {error.sentence}", str(error))
    return fault("memory", f"it keeps {_size(each)} more after every game{_place(*snapshots)}")


def _measured(
    bot: AnyBot, wishes: Wishes, say: Say, calls: int = 1
) -> tuple[list[int], list[tracemalloc.Snapshot]]:
    """What is held after each game, and by whom: after the warm-up, and at the end."""
    sizes: list[int] = []
    snapshots: list[tracemalloc.Snapshot] = []
    tracemalloc.start(calls)
    try:
        patient, seats = Patient(bot), rules.ruleset(wishes.ruleset).seat_counts[0]
        enough, until = max(wishes.games, LEAST), time.monotonic() + wishes.seconds
        while len(sizes) < LEAST or (len(sizes) < enough and time.monotonic() < until):
            doing = f"measuring memory, game {len(sizes) + 1} of {enough}"
            number, patient.times = len(sizes), []
            game_of(table(patient, seats, number), number, wishes, alive(say, doing, patient))
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
            if calls > 1 and len(sizes) in (WARM_UP, LEAST):
                snapshots.append(tracemalloc.take_snapshot())
    finally:
        tracemalloc.stop()
    return sizes, snapshots


def _place(before: tracemalloc.Snapshot, after: tracemalloc.Snapshot) -> str:
    """The line of the bot that holds most of what was added."""
    grown: dict[str, int] = {}
    for difference in after.compare_to(before, "traceback"):
        own = [frame for frame in difference.traceback if _is_the_bots(frame.filename)]
        if own:
            line = f"{Path(own[-1].filename).name}, line {own[-1].lineno}"
            grown[line] = grown.get(line, 0) + difference.size_diff
    most = max(grown, key=lambda line: grown[line], default="")
    return f", most of it from {most}" if most and grown[most] > 0 else ""


def _is_the_bots(file: str) -> bool:
    path = Path(file)
    return path.is_file() and not any(path.is_relative_to(each) for each in _NOT_THE_BOTS)


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count / 1000:.0f} kB"
