"""The job loop of a single thread: jobs from any thread, and jobs with a delay, one at a time.

Invariant: jobs run only in the thread that calls `next_job`. Whatever belongs to that thread needs
no lock; other threads never touch it, they call `call_soon`.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Job = Callable[[], None]


class JobLoop:
    """Jobs of one thread."""

    def __init__(self) -> None:
        # A SimpleQueue, because its `put` is reentrant: a signal handler may call it.
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._due: list[tuple[float, int, Job]] = []
        self._sequence = itertools.count()

    def call_soon(self, job: Job) -> None:
        """Queue a job; safe in any thread and in a signal handler."""
        self._jobs.put(job)

    def call_later(self, seconds: float, job: Job) -> None:
        """Queue a job for later; only in the loop's own thread."""
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._sequence), job))

    def next_job(self) -> Job:
        """Wait for the next job; one that is due comes before those that are queued."""
        while True:
            wait = self._due[0][0] - time.monotonic() if self._due else None
            if wait is not None and wait <= 0:
                return heapq.heappop(self._due)[2]
            try:
                return self._jobs.get(timeout=wait)
            except queue.Empty:
                continue


@contextmanager
def stop_on_signals(stop: Job) -> Iterator[None]:
    """Call `stop` at the first SIGINT or SIGTERM; raise KeyboardInterrupt at the second.

    Python delivers signals to the main thread only; in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signalled = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal signalled
        if signalled:
            raise KeyboardInterrupt
        signalled = True
        stop()

    before = {each: signal.signal(each, handle) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
