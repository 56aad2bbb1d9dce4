"""What is to be done next: by one thread, one after the other, some of it later."""

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


class Inbox:
    """Jobs of one thread. Any thread, and a signal handler, may put one in."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._due: list[tuple[float, int, Job]] = []
        self._numbers = itertools.count()

    def put(self, job: Job) -> None:
        """Have something done."""
        self._jobs.put(job)

    def later(self, seconds: float, job: Job) -> None:
        """Have something done in a while; for the inbox's own thread."""
        heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), job))

    def next(self) -> Job:
        """The next thing to do, once there is one."""
        while True:
            wait = self._due[0][0] - time.monotonic() if self._due else None
            if wait is not None and wait <= 0:
                return heapq.heappop(self._due)[2]
            try:
                return self._jobs.get(timeout=wait)
            except queue.Empty:
                continue


@contextmanager
def on_signals(stop: Job) -> Iterator[None]:
    """Call `stop` at the first SIGINT or SIGTERM and end at once at the second.

    Only the main thread hears of signals; in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal told
        if told:
            raise KeyboardInterrupt
        told = True
        stop()

    before = {each: signal.signal(each, handle) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
