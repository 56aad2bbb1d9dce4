"""A pool of processes that play the groups of a match, delivered in the order of their numbers.

Processes are spawned, not forked, so that a bot finds nothing of the command in them. They end
with the process that started them, even if a bot hangs then.
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

from himeji_sdk._stdout import redirect_stdout_to_stderr
from himeji_sdk.match._match import Group, Match, MatchRunner


class ProcessPoolError(Exception):
    """A process of the pool died, or could not play."""


class ProcessPool:
    """Processes that play the groups of a match."""

    def __init__(self, match: Match, cores: int) -> None:
        self._match = match
        self._cores = cores
        self._processes: dict[Connection, BaseProcess] = {}
        self._busy: dict[Connection, int] = {}  # the group that each is playing

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        for _ in range(self._cores):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(self._match, theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection, process in self._processes.items():
            process.kill()  # whatever it is playing is not needed any more
            process.join()
            connection.close()

    def groups(self, first: int, end: int | None) -> Iterator[Group]:
        """The groups from `first` up to, not including, `end`, in order; raises ProcessPoolError.

        The order makes a match repeatable: which group is counted last does not depend on which
        process was quicker.
        """
        numbers = iter(count(first) if end is None else range(first, end))
        for connection in self._processes:
            self._assign(connection, numbers)
        ready: dict[int, Group] = {}
        while self._busy:
            finished = wait(list(self._busy))
            for connection in [each for each in self._busy if each in finished]:
                group = self._receive(connection)
                ready[group.number] = group
                self._assign(connection, numbers)
            while first in ready:
                yield ready.pop(first)
                first += 1

    def _assign(self, connection: Connection, numbers: Iterator[int]) -> None:
        number = next(numbers, None)
        if number is not None:
            self._busy[connection] = number
            # A process that died meanwhile is found when its result is taken.
            with contextlib.suppress(BrokenPipeError):
                connection.send(number)

    def _receive(self, connection: Connection) -> Group:
        number = self._busy.pop(connection)
        try:
            result: Group | str = connection.recv()
        except (EOFError, ConnectionResetError):
            process = self._processes[connection]
            process.join()
            raise ProcessPoolError(
                f"the process that played group {number} died (exit code {process.exitcode})"
            ) from None
        if isinstance(result, str):
            raise ProcessPoolError(f"group {number} cannot be played: {result}")
        return result


def _work(match: Match, connection: Connection) -> None:
    """The main function of a process: play what is assigned until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command handles Ctrl-C, and kills us
    redirect_stdout_to_stderr()
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionResetError, BrokenPipeError):
        runner: MatchRunner | None = None
        while True:
            number: int = connection.recv()
            try:
                runner = runner or MatchRunner(match)
                result: Group | str = runner.play(number)
            except HimejiError as error:
                result = error.message
            connection.send(result)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
