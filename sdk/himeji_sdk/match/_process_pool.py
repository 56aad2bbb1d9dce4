"""The crew: one process per core plays groups; they come back in the order of their numbers.

Processes are started afresh, not forked, so that a bot finds nothing of the command in them. They
end with the one that started them, whatever a bot is doing then.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from itertools import count
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from himeji.rules.errors import HimejiError

from himeji_sdk._stdout import print_to_stderr_alone
from himeji_sdk.match._match import Group, Match, Table


class CrewError(Exception):
    """A process of the crew died, or could not play."""


class Crew:
    """Processes that play the groups of a match."""

    def __init__(self, match: Match, cores: int) -> None:
        self._match = match
        self._cores = cores
        self._at: dict[Connection, BaseProcess] = {}
        self._plays: dict[Connection, int] = {}

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        for _ in range(self._cores):
            mine, its = context.Pipe()
            process = context.Process(target=_work, args=(self._match, its), daemon=True)
            process.start()
            its.close()
            self._at[mine] = process
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection, process in self._at.items():
            process.kill()  # it holds nothing that another group does not hold as well
            process.join()
            connection.close()

    def groups(self, first: int, end: int | None) -> Iterator[Group]:
        """The groups from `first` up to, not including, `end`, in their order; raises CrewError.

        The order makes a match repeatable: which group is counted last does not depend on which
        process was quicker.
        """
        numbers = iter(count(first) if end is None else range(first, end))
        for connection in self._at:
            self._give(connection, numbers)
        ready: dict[int, Group] = {}
        while self._plays:
            told = wait(list(self._plays))
            for connection in [each for each in self._plays if each in told]:
                group = self._take(connection)
                ready[group.number] = group
                self._give(connection, numbers)
            while first in ready:
                yield ready.pop(first)
                first += 1

    def _give(self, connection: Connection, numbers: Iterator[int]) -> None:
        number = next(numbers, None)
        if number is not None:
            self._plays[connection] = number
            # A process that died meanwhile is found when its result is taken.
            with contextlib.suppress(BrokenPipeError):
                connection.send(number)

    def _take(self, connection: Connection) -> Group:
        number = self._plays.pop(connection)
        try:
            result: Group | str = connection.recv()
        except (EOFError, ConnectionResetError):
            process = self._at[connection]
            process.join()
            raise CrewError(
                f"the process that played group {number} died (exit code {process.exitcode})"
            ) from None
        if isinstance(result, str):
            raise CrewError(f"group {number} cannot be played: {result}")
        return result


def _work(match: Match, connection: Connection) -> None:
    """Play the groups that are asked for, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends us
    print_to_stderr_alone()
    threading.Thread(target=_end_with_the_command, daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionResetError, BrokenPipeError):
        table: Table | None = None
        while True:
            number: int = connection.recv()
            try:
                table = table or Table(match)
                result: Group | str = table.play(number)
            except HimejiError as error:
                result = error.message
            connection.send(result)


def _end_with_the_command() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
