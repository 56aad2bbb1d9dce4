"""The store's time between two reads of it.

This machine's monotonic clock measures what passed since the last read. Its time of day is not
used after the start: it jumps when somebody sets it, and clocks of games would be shown wrong.
"""

import time
from collections.abc import Callable


class StoreClock:
    """Tells the store's time without asking the store."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`monotonic` counts seconds and never jumps."""
        self._monotonic = monotonic
        self._offset = 0
        self.synchronise(time.time_ns() // 1_000_000)  # the best guess until the first read

    def now(self) -> int:
        """The store's time in milliseconds."""
        return self._elapsed() + self._offset

    def synchronise(self, time_ms: int) -> None:
        """Take the time of a reply that has just come for the store's time now."""
        self._offset = time_ms - self._elapsed()

    def _elapsed(self) -> int:
        return int(self._monotonic() * 1000)
