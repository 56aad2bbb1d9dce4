"""Counting against limits, and what is said to whoever asks for more.

Places and rates are counted in the memory of each process; games, in the store (games/quota.py).
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import LimitExceeded, MessageTooLarge, RateLimited, SlowReader
from himeji.wire.errors import RETRY_AFTER

from himeji_server.limits import MOST_ACTIONS
from himeji_server.names import HOUSE

_MOST_BUCKETS: Final = 10_000
_FULL_RETRY_MS: Final = 10_000
"""When to come back to a process that is full: places get free one by one, not all at once."""


def exceeded(name: str, most: int, sentence: str) -> LimitExceeded:
    """Say which limit is reached; the sentence has a place for its value."""
    return LimitExceeded(sentence.format(most), {"limit": name, "allowed": str(most)})


def too_large(name: str, what: str, size: int, most: int) -> MessageTooLarge:
    """Say that something has too many bytes."""
    return MessageTooLarge(
        f"{what} {size} bytes, and {most} are allowed", {"limit": name, "allowed": str(most)}
    )


def slow_reader(most: int) -> SlowReader:
    """Say that a client does not read its stream."""
    return SlowReader(
        f"more than {most} messages wait for you; reconnect and resume",
        {"limit": "messages_waiting", "allowed": str(most)},
    )


def check_actions(count: int) -> None:
    """Refuse a request with too many actions."""
    if count > MOST_ACTIONS:
        raise exceeded("actions", MOST_ACTIONS, f"{count} actions came, and {{}} are allowed")


@dataclass
class TokenBucket:
    """Allows so much at once, and then so much a second."""

    name: str
    per_second: int
    at_once: int
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self._level = float(self.at_once)
        self._at = self.clock()

    def take(self) -> None:
        """Count one; raises RateLimited, with the time until the next one is allowed."""
        now = self.clock()
        self._level = min(self.at_once, self._level + (now - self._at) * self.per_second)
        self._at = now
        if self._level < 1:
            wait = (1 - self._level) / self.per_second
            raise RateLimited(
                f"more than {self.per_second} a second: wait",
                {
                    "limit": self.name,
                    "allowed": str(self.per_second),
                    RETRY_AFTER: str(int(wait * 1000) + 1),
                },
            )
        self._level -= 1

    @property
    def full(self) -> bool:
        """Whether forgetting it would change nothing."""
        return self._level + (self.clock() - self._at) * self.per_second >= self.at_once


class RateLimiter:
    """A bucket for each of those who are counted."""

    def __init__(self, name: str, per_second: int, at_once: int) -> None:
        self._name, self._per_second, self._at_once = name, per_second, at_once
        self._buckets: dict[str, TokenBucket] = {}

    def take(self, who: str) -> None:
        """Count one; raises RateLimited. The house's own bots are not counted."""
        if who == HOUSE:
            return
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= _MOST_BUCKETS:
                self._buckets = {k: each for k, each in self._buckets.items() if not each.full}
            bucket = self._buckets[who] = TokenBucket(self._name, self._per_second, self._at_once)
        bucket.take()


class ConcurrencyLimit:
    """Places that are held for as long as something is open."""

    def __init__(self, name: str, per_owner: int, in_all: int | None = None) -> None:
        self._name, self._per_owner, self._in_all = name, per_owner, in_all
        self._held: Counter[str] = Counter()

    def full(self) -> LimitExceeded | None:
        """What everybody is told while no place is left at all, None as long as there is one."""
        if self._in_all is None or self._held.total() < self._in_all:
            return None
        error = exceeded(self._name, self._in_all, f"this process has {{}} {self._name} open")
        error.details[RETRY_AFTER] = str(_FULL_RETRY_MS)
        return error

    @contextmanager
    def held(self, owner: str) -> Iterator[None]:
        """Hold a place for an owner; raises LimitExceeded. The house has as many as there are."""
        full = self.full()
        if full is not None:
            raise full
        if owner != HOUSE and self._held[owner] >= self._per_owner:
            sentence = f"an owner may have {{}} {self._name} open"
            raise exceeded(f"{self._name}_per_owner", self._per_owner, sentence)
        self._held[owner] += 1
        try:
            yield
        finally:
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner]
