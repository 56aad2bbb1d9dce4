"""The examination of a bot from outside: its processes are started, listened to, and ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from himeji import render, rules

from himeji_sdk.doctor._finding import CHECKS, FAULT, Finding, fault, ok, skipped
from himeji_sdk.doctor._settings import Wishes

IMPORTING: Final = 120.0
"""Seconds that a bot may take to be imported: some need large libraries, some machines are busy."""

SILENCE: Final = 20.0
"""Seconds beyond the limit of a choice after which a silent process hangs as a whole."""

_ENDED_ADVICE: Final = {
    "crashes": "Nothing in a bot may end its process: look for os._exit, for an extension module "
    "that crashes, and for memory that runs out.",
    "hangs": "Look for an endless loop while the file is imported, in on_start or on_end, or in an "
    "extension module that does not let go of the interpreter.",
}


class _EndedError(Exception):
    """A process ended, or had to be ended, before it had told everything."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


def examine(wishes: Wishes, doing: Callable[[str], None] = lambda _what: None) -> Iterator[Finding]:
    """Examine a bot; a finding per check, in their order. `doing` is told what goes on."""
    healthy = True
    for finding in _by_one_process(wishes, doing):
        healthy = healthy and finding.verdict != FAULT
        yield finding
    if wishes.deterministic:
        yield _determinism(wishes, doing) if healthy else skipped("determinism")


def _by_one_process(wishes: Wishes, doing: Callable[[str], None]) -> Iterator[Finding]:
    missing = [check for check in CHECKS if check != "determinism"]
    try:
        for what, value in _told("examine", wishes, doing):
            if what == "finding":
                missing.remove(value["check"])
                yield Finding(**value)
    except _EndedError as error:
        at_fault = error.check if error.check in missing else missing[0]
        ended = fault(at_fault, str(error), advice=_ENDED_ADVICE[error.check])
        yield from (ended if check == at_fault else skipped(check) for check in missing)
    else:
        yield from map(skipped, missing)


def _told(
    task: str, wishes: Wishes, doing: Callable[[str], None], hash_seed: str = "random"
) -> Iterator[tuple[str, Any]]:
    """What a process tells of a task; raises _EndedError if it breaks off."""
    reader, writer = os.pipe()
    # -u: what a bot printed is seen although its process is killed, or leaves by os._exit.
    module = [sys.executable, "-u", "-m", "himeji_sdk.doctor._worker"]
    process = subprocess.Popen(  # noqa: S603 - our own module
        [*module, str(writer), task, wishes.text()],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=2,  # what a bot prints must not mix with what we print
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
    )
    os.close(writer)
    try:
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            yield from _lines(pipe, process, wishes.limit + SILENCE, doing)
    finally:
        process.kill()
        process.wait()


def _lines(
    pipe: Any, process: subprocess.Popen[bytes], patience: float, doing: Callable[[str], None]
) -> Iterator[tuple[str, Any]]:
    last, allowed = "being imported", max(patience, IMPORTING)
    while True:
        if not select.select([pipe], [], [], allowed)[0]:
            raise _EndedError("hangs", f"its process fell silent while {last}: it holds everything")
        line = pipe.readline()
        if not line:
            raise _EndedError("crashes", f"its process ended while {last} ({_end(process)})")
        ((what, value),) = json.loads(line).items()
        if what == "done":
            return
        if what == "doing":
            last, allowed = value, patience
            doing(value)
        else:
            yield what, value


def _end(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return f"by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _determinism(wishes: Wishes, doing: Callable[[str], None]) -> Finding:
    """Two processes play the same games; the first choice that differs is the finding."""
    try:
        one, two = (_answers(wishes, doing, seed) for seed in ("1", "2"))
    except _EndedError as error:
        return fault("determinism", str(error))
    for number, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return _difference(wishes, number, left, right)
    games = min(len(one), len(two))
    return ok("determinism", f"two processes play the same {games} games, choice by choice")


def _answers(wishes: Wishes, doing: Callable[[str], None], hash_seed: str) -> list[list[int]]:
    answers = [value for what, value in _told("compare", wishes, doing, hash_seed)]
    return list(answers[0])


def _difference(wishes: Wishes, number: int, left: list[int], right: list[int]) -> Finding:
    pairs = enumerate(zip(left, right, strict=False))
    place = next(index for index, (one, two) in pairs if one != two)
    counts = rules.ruleset(wishes.ruleset).seat_counts
    seats = counts[number % len(counts)]
    game = rules.new_game(wishes.ruleset, seats, seed=number, options=wishes.options)
    for action in left[:place]:
        game.apply(action)
    texts = game.ruleset.actions
    choices = " and ".join(f"{each[place]} ({texts.text(each[place])})" for each in (left, right))
    return fault(
        "determinism",
        f"asked twice the same as choice {place} of game {number}, it answered {choices}",
        render.text(game),
    )
