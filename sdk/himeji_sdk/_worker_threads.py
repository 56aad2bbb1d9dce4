"""Daemon threads in which bots are asked, so that a bot that hangs cannot keep a program alive.

`concurrent.futures` is no choice here: it joins its threads when the interpreter exits.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]


class WorkerThreads:
    """At most `limit` threads, started on demand. With one, jobs run in their order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._lock = threading.Lock()

    def submit(self, job: Job) -> None:
        """Queue a job, which has to handle its own errors."""
        with self._lock:
            self._unfinished += 1
            if len(self._threads) < min(self._unfinished, self._limit):
                thread = threading.Thread(target=self._work, name="himeji-bot", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._jobs.put(job)

    def shutdown(self) -> None:
        """Let each thread end after its jobs, without waiting for it."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._unfinished -= 1
