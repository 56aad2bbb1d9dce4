"""Asking a bot in-process: as long as it takes, or no longer than a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from himeji_sdk._bot import Player, Question, hung
from himeji_sdk._worker_threads import Workers


class Patience:
    """How long players are waited for; with a limit they are asked in a thread of their own."""

    def __init__(self, limit: float | None, workers: Workers) -> None:
        self._limit = limit
        self._workers = workers

    def answer(self, player: Player, question: Question) -> int:
        """What the player answers; raises BotFault, also for one that takes too long."""
        if self._limit is None:
            return player.answer(question)
        answer: Future[int] = Future()
        thread = threading.get_ident()

        def ask() -> None:
            nonlocal thread
            thread = threading.get_ident()
            try:
                answer.set_result(player.answer(question))
            except Exception as error:  # noqa: BLE001 - whoever asked gets it
                answer.set_exception(error)

        begun = time.monotonic()
        self._workers.do(ask)
        try:
            return answer.result(self._limit)
        except TimeoutError:
            raise hung(player.name, question, time.monotonic() - begun, thread) from None


@contextmanager
def patience(limit: float | None) -> Iterator[Patience]:
    """The patience of one game."""
    workers = Workers(1)
    try:
        yield Patience(limit, workers)
    finally:
        workers.dismiss()
