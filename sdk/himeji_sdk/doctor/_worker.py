"""The worker process in which a bot is examined; it reports by lines of JSON on a pipe.

`python -m himeji_sdk.doctor._worker DESCRIPTOR TASK SETTINGS`, started by `_examination` alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import NoReturn

from himeji.rules.errors import HimejiError

from himeji_sdk._bot import AnyBot, bot_factory
from himeji_sdk._bot_loader import load_bot
from himeji_sdk.doctor._finding import FAULT, Finding, ReportKind, fault, ok, skipped
from himeji_sdk.doctor._game_checks import check_games, play_to_compare
from himeji_sdk.doctor._memory_check import check_memory
from himeji_sdk.doctor._resume_check import check_resuming
from himeji_sdk.doctor._settings import Settings


class ExaminationWorker:
    """Runs one task and reports to the other end of the pipe."""

    def __init__(self, descriptor: int, settings: Settings) -> None:
        self._descriptor = descriptor
        self._settings = settings

    def examine(self) -> None:
        """Run all checks that need one process."""
        bot = self._load_bot()
        if bot is None:
            return
        for finding in self._findings(bot):
            self._report_finding(finding)

    def compare(self) -> None:
        """Play some games, whose actions are compared with those of a second process."""
        bot = load_bot(self._settings.bot)
        self._report(ReportKind.ACTIONS, play_to_compare(bot, self._settings, self._on_progress))

    def _load_bot(self) -> AnyBot | None:
        try:
            bot = load_bot(self._settings.bot)
            name = bot_factory(bot).name
        except HimejiError as error:
            self._report_finding(fault("loading", error.message))
        else:
            self._report_finding(ok("loading", f"{self._settings.bot} is the bot {name}"))
            return bot
        return None

    def _findings(self, bot: AnyBot) -> Iterator[Finding]:
        healthy = True
        for finding in check_games(bot, self._settings, self._on_progress):
            healthy = healthy and finding.verdict != FAULT
            yield finding
        for name, check in (("memory", check_memory), ("resuming", check_resuming)):
            yield check(bot, self._settings, self._on_progress) if healthy else skipped(name)

    def _on_progress(self, doing: str) -> None:
        self._report(ReportKind.DOING, doing)

    def _report_finding(self, finding: Finding) -> None:
        self._report(ReportKind.FINDING, asdict(finding))

    def _report(self, kind: ReportKind, value: object) -> None:
        line = json.dumps({kind: value}) + "\n"
        os.write(self._descriptor, line.encode())

    def exit(self) -> NoReturn:
        """Report that the task is done, and exit at once: a thread of the bot may hang."""
        self._report(ReportKind.DONE, True)  # noqa: FBT003 - a value, no switch
        os._exit(0)


def main() -> NoReturn:
    descriptor, task, settings = sys.argv[1:]
    worker = ExaminationWorker(int(descriptor), Settings.from_json(settings))
    {"examine": worker.examine, "compare": worker.compare}[task]()
    worker.exit()


if __name__ == "__main__":
    main()
