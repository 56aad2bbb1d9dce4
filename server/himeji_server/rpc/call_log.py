"""One log line for every call, and few lines about calls that come to nothing.

Whoever calls without a valid token, too often or by an unknown name could fill the disk with log
lines. So of these calls only the first ones of an address are logged in each interval; the rest
becomes one line at its end, with the number of calls of the busiest addresses.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import structlog

INTERVAL_SECONDS: Final = 10.0
_MOST_NAMED: Final = 10

_log = structlog.get_logger(__name__)


class CallLog:
    """The log lines about calls."""

    def __init__(self, failures_logged: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._failures_logged = failures_logged
        self._clock = clock
        self._failures: Counter[str] = Counter()
        self._interval_end = clock() + INTERVAL_SECONDS

    def write(self, address: str, *, failed: bool, **facts: Any) -> None:
        """Log a call that ended; `failed` if it came to nothing without any work."""
        self._end_interval()
        if failed:
            self._failures[address] += 1
            if self._failures[address] > self._failures_logged:
                return
        _log.info("call", **facts)

    def _end_interval(self) -> None:
        now = self._clock()
        if now < self._interval_end:
            return
        self._interval_end = now + INTERVAL_SECONDS
        failures, self._failures = self._failures, Counter()
        omitted = {
            address: count - self._failures_logged
            for address, count in failures.most_common()
            if count > self._failures_logged
        }
        if omitted:
            busiest = dict(list(omitted.items())[:_MOST_NAMED])
            _log.warning("failed calls not logged", total=sum(omitted.values()), busiest=busiest)
