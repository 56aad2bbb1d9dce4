"""Threads in which bots think; they never keep a program from ending."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]


class Workers:
    """Up to so many threads, started as they are needed. With one, jobs are done in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._lock = threading.Lock()

    def do(self, job: Job) -> None:
        """Do a job soon; a job sees to its own errors."""
        with self._lock:
            self._unfinished += 1
            if len(self._threads) < min(self._unfinished, self._most):
                thread = threading.Thread(target=self._work, name="himeji-bot", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._jobs.put(job)

    def dismiss(self) -> None:
        """Let the threads end once their jobs are done."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._unfinished -= 1
