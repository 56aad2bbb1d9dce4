"""The process in which a bot is examined; it tells what it finds, a line of JSON at a time.

`python -m himeji_sdk.doctor._worker DESCRIPTOR TASK WISHES`, started by the examination alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import NoReturn

from himeji.rules.errors import HimejiError

from himeji_sdk._bot import AnyBot, maker
from himeji_sdk._bot_loader import load_bot
from himeji_sdk.doctor._finding import FAULT, Finding, fault, ok, skipped
from himeji_sdk.doctor._game_checks import answers, games
from himeji_sdk.doctor._memory_check import memory
from himeji_sdk.doctor._resume_check import resuming
from himeji_sdk.doctor._settings import Wishes

DONE = "done"


class Ward:
    """Does what it is asked and tells it to the other end of a pipe."""

    def __init__(self, descriptor: int, wishes: Wishes) -> None:
        self._descriptor = descriptor
        self._wishes = wishes

    def examine(self) -> None:
        """All checks that one process can make."""
        bot = self._loaded()
        if bot is None:
            return
        for finding in self._findings(bot):
            self._tell("finding", asdict(finding))

    def compare(self) -> None:
        """The actions of some games, for the comparison of two processes."""
        bot = load_bot(self._wishes.bot)
        self._tell("answers", answers(bot, self._wishes, self._say))

    def _loaded(self) -> AnyBot | None:
        try:
            bot = load_bot(self._wishes.bot)
            name = maker(bot).name
        except HimejiError as error:
            self._tell("finding", asdict(fault("loading", error.message)))
        else:
            self._tell("finding", asdict(ok("loading", f"{self._wishes.bot} is the bot {name}")))
            return bot
        return None

    def _findings(self, bot: AnyBot) -> Iterator[Finding]:
        healthy = True
        for finding in games(bot, self._wishes, self._say):
            healthy = healthy and finding.verdict != FAULT
            yield finding
        for check, look in (("memory", memory), ("resuming", resuming)):
            yield look(bot, self._wishes, self._say) if healthy else skipped(check)

    def _say(self, doing: str) -> None:
        self._tell("doing", doing)

    def _tell(self, what: str, value: object) -> None:
        line = json.dumps({what: value}) + "\n"
        os.write(self._descriptor, line.encode())

    def end(self) -> NoReturn:
        """Say that all was told, and leave at once: a thread may hang."""
        self._tell(DONE, True)  # noqa: FBT003 - a value, no switch
        os._exit(0)


def main() -> NoReturn:
    """Do one task."""
    descriptor, task, wishes = sys.argv[1:]
    ward = Ward(int(descriptor), Wishes.parse(wishes))
    {"examine": ward.examine, "compare": ward.compare}[task]()
    ward.end()


if __name__ == "__main__":
    main()
