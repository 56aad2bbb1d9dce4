"""Examines a bot from outside: starts its worker processes, reads their reports, ends them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from himeji import render, rules

from himeji_sdk.doctor._finding import CHECKS, FAULT, Finding, ReportKind, fault, ok, skipped
from himeji_sdk.doctor._game_checks import OnProgress
from himeji_sdk.doctor._settings import Settings

IMPORT_TIMEOUT_SECONDS: Final = 120.0
"""For the import of a bot: some need large libraries, some machines are busy."""

SILENCE_TIMEOUT_SECONDS: Final = 20.0
"""Beyond the limit of a choice: a process that is silent for longer hangs as a whole."""

_ENDED_ADVICE: Final = {
    "crashes": "Nothing in a bot may end its process: look for os._exit, for an extension module "
    "that crashes, and for memory that runs out.",
    "hangs": "Look for an endless loop while the file is imported, in on_start or on_end, or in an "
    "extension module that does not let go of the interpreter.",
}


class _WorkerEndedError(Exception):
    """A worker ended, or had to be ended, before it was done."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


def examine(settings: Settings, on_progress: OnProgress = lambda _doing: None) -> Iterator[Finding]:
    """Examine a bot; a finding per check, in their order. `on_progress` gets what is being done."""
    healthy = True
    for finding in _examine_in_worker(settings, on_progress):
        healthy = healthy and finding.verdict != FAULT
        yield finding
    if settings.deterministic:
        yield _check_determinism(settings, on_progress) if healthy else skipped("determinism")


def _examine_in_worker(settings: Settings, on_progress: OnProgress) -> Iterator[Finding]:
    missing = [check for check in CHECKS if check != "determinism"]
    try:
        for kind, value in _reports("examine", settings, on_progress):
            if kind == ReportKind.FINDING:
                missing.remove(value["check"])
                yield Finding(**value)
    except _WorkerEndedError as error:
        at_fault = error.check if error.check in missing else missing[0]
        ended = fault(at_fault, str(error), advice=_ENDED_ADVICE[error.check])
        yield from (ended if check == at_fault else skipped(check) for check in missing)
    else:
        yield from map(skipped, missing)


def _reports(
    task: str, settings: Settings, on_progress: OnProgress, hash_seed: str = "random"
) -> Iterator[tuple[str, Any]]:
    """Run a task in a worker, and read its reports; raises _WorkerEndedError if it breaks off."""
    reader, writer = os.pipe()
    # -u: what a bot printed is seen although its process is killed, or leaves by os._exit.
    module = [sys.executable, "-u", "-m", "himeji_sdk.doctor._worker"]
    process = subprocess.Popen(  # noqa: S603 - our own module
        [*module, str(writer), task, settings.to_json()],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=2,  # what a bot prints must not mix with what we print
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
    )
    os.close(writer)
    try:
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            yield from _read_lines(
                pipe, process, settings.limit + SILENCE_TIMEOUT_SECONDS, on_progress
            )
    finally:
        process.kill()
        process.wait()


def _read_lines(
    pipe: Any, process: subprocess.Popen[bytes], timeout: float, on_progress: OnProgress
) -> Iterator[tuple[str, Any]]:
    last, allowed = "being imported", max(timeout, IMPORT_TIMEOUT_SECONDS)
    while True:
        if not select.select([pipe], [], [], allowed)[0]:
            raise _WorkerEndedError(
                "hangs", f"its process fell silent while {last}: it holds everything"
            )
        line = pipe.readline()
        if not line:
            raise _WorkerEndedError(
                "crashes", f"its process ended while {last} ({_exit_text(process)})"
            )
        ((kind, value),) = json.loads(line).items()
        if kind == ReportKind.DONE:
            return
        if kind == ReportKind.DOING:
            last, allowed = value, timeout
            on_progress(value)
        else:
            yield kind, value


def _exit_text(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return f"by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _check_determinism(settings: Settings, on_progress: OnProgress) -> Finding:
    """Two processes play the same games; the first choice that differs is the finding."""
    try:
        one, two = (_actions(settings, on_progress, seed) for seed in ("1", "2"))
    except _WorkerEndedError as error:
        return fault("determinism", str(error))
    for number, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return _first_difference(settings, number, left, right)
    games = min(len(one), len(two))
    return ok("determinism", f"two processes play the same {games} games, choice by choice")


def _actions(settings: Settings, on_progress: OnProgress, hash_seed: str) -> list[list[int]]:
    found = [value for _, value in _reports("compare", settings, on_progress, hash_seed)]
    return list(found[0])


def _first_difference(
    settings: Settings, number: int, left: list[int], right: list[int]
) -> Finding:
    pairs = enumerate(zip(left, right, strict=False))
    place = next(index for index, (one, two) in pairs if one != two)
    counts = rules.ruleset(settings.ruleset).seat_counts
    seats = counts[number % len(counts)]
    game = rules.new_game(settings.ruleset, seats, seed=number, options=settings.options)
    for action in left[:place]:
        game.apply(action)
    texts = game.ruleset.actions
    choices = " and ".join(f"{each[place]} ({texts.text(each[place])})" for each in (left, right))
    return fault(
        "determinism",
        f"asked twice the same as choice {place} of game {number}, it answered {choices}",
        render.text(game),
    )
