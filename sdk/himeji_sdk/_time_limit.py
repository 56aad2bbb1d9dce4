"""Asking a bot in-process, with or without a time limit for each answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from himeji_sdk._bot import Player, Question, hung_fault
from himeji_sdk._worker_threads import WorkerThreads


class TimeLimit:
    """Asks players; with a limit in a thread of their own, which is given up when it is late."""

    def __init__(self, seconds: float | None, threads: WorkerThreads) -> None:
        self._seconds = seconds
        self._threads = threads

    def ask(self, player: Player, question: Question) -> int:
        """The player's action; raises BotFault, also for one that takes too long."""
        if self._seconds is None:
            return player.answer(question)
        answer: Future[int] = Future()
        thread = threading.get_ident()

        def ask() -> None:
            nonlocal thread
            thread = threading.get_ident()
            try:
                answer.set_result(player.answer(question))
            except Exception as error:  # noqa: BLE001 - raised again by `answer.result`
                answer.set_exception(error)

        begun = time.monotonic()
        self._threads.submit(ask)
        try:
            return answer.result(self._seconds)
        except TimeoutError:
            raise hung_fault(player.name, question, time.monotonic() - begun, thread) from None


@contextmanager
def time_limit(seconds: float | None) -> Iterator[TimeLimit]:
    """The time limit of one game, whose thread is let go at the end."""
    threads = WorkerThreads(1)
    try:
        yield TimeLimit(seconds, threads)
    finally:
        threads.shutdown()
