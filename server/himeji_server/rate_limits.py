"""Rate limits (token buckets), concurrency limits, and the errors for what exceeds a limit.

Both are counted in the memory of each process; games are counted in the store (store/quotas.py).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import LimitExceeded, MessageTooLarge, RateLimited, SlowReader
from himeji.wire.errors import RETRY_AFTER

from himeji_server.limits import Limits
from himeji_server.names import ADMINISTRATOR, HOUSE

UNLIMITED: Final = frozenset({HOUSE, ADMINISTRATOR})
"""The keys that no limit per owner is for: house bots and administrators."""

_MOST_BUCKETS: Final = 10_000
_FULL_RETRY_MS: Final = 10_000
"""When to retry at a process that is full: slots become free one by one, not all at once."""


def exceeded(name: str, most: float, sentence: str) -> LimitExceeded:
    """The error for a limit that is reached; `{}` in the sentence stands for its value."""
    allowed = str(most).removesuffix(".0")
    return LimitExceeded(sentence.format(allowed), {"limit": name, "allowed": allowed})


def too_large(name: str, what: str, size: int, most: int) -> MessageTooLarge:
    """The error for something with too many bytes."""
    return MessageTooLarge(
        f"{what} {size} bytes, and {most} are allowed", {"limit": name, "allowed": str(most)}
    )


def slow_reader(most: int) -> SlowReader:
    """The error for a client that does not read its stream."""
    return SlowReader(
        f"more than {most} messages wait for you; reconnect and resume",
        {"limit": "messages_waiting", "allowed": str(most)},
    )


def too_slow(seconds: float) -> SlowReader:
    """The error for a client that leaves a message of a stream unread for too long."""
    return SlowReader(
        f"you did not read for {seconds:g} seconds; call again",
        {"limit": "slow_seconds", "allowed": f"{seconds:g}"},
    )


def too_late(seconds: float) -> LimitExceeded:
    """The error for a call whose message does not arrive."""
    return LimitExceeded(
        f"the message of the call did not arrive within {seconds:g} seconds",
        {"limit": "request_seconds", "allowed": f"{seconds:g}"},
    )


def too_idle(seconds: float) -> LimitExceeded:
    """The error for a stream on which the client sends nothing."""
    return LimitExceeded(
        f"nothing came on the stream for {seconds:g} seconds",
        {"limit": "idle_seconds", "allowed": f"{seconds:g}"},
    )


def check_actions(count: int, most: int = Limits.actions) -> None:
    """Raise LimitExceeded for an answer with too many actions."""
    if count > most:
        raise exceeded("actions", most, f"{count} actions came, and {{}} are allowed")


@dataclass
class TokenBucket:
    """A token bucket: allows bursts of `at_once`, and `per_second` in the long run."""

    name: str
    per_second: int
    at_once: int
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self._tokens = float(self.at_once)
        self._updated = self.clock()
        self.refused = 0
        """Tokens that were refused since the bucket was last full."""

    def acquire(self, cost: int = 1) -> None:
        """Take tokens; raises RateLimited with the time until there are so many.

        What costs more than the bucket holds takes all but one, which its call has taken before.
        """
        cost = max(1, min(cost, self.at_once - 1))
        self._refill()
        if self._tokens < cost:
            self.refused += cost
            raise self.error((cost - self._tokens) / self.per_second)
        self._tokens -= cost

    def reserve(self, most_seconds: float, cost: float = 1.0) -> float:
        """Take tokens, on credit if need be; returns the seconds until there are so many.

        Raises RateLimited, and takes none, if that is more than `most_seconds`. What costs more
        than the bucket holds waits until it is full.
        """
        wait = self.seconds_until(cost)
        if wait > most_seconds:
            raise self.error(wait - most_seconds)
        self._tokens -= cost
        return wait

    def seconds_until(self, cost: float) -> float:
        """The seconds until there are so many tokens, or the bucket is full."""
        self._refill()
        return max(0.0, (min(cost, self.at_once) - self._tokens) / self.per_second)

    def give_back(self, tokens: float = 1.0) -> None:
        """Return tokens that were taken; a negative number takes more."""
        self._tokens += tokens

    def _refill(self) -> None:
        now = self.clock()
        self._tokens = min(self.at_once, self._tokens + (now - self._updated) * self.per_second)
        self._updated = now
        if self._tokens == self.at_once:
            self.refused = 0

    def error(self, wait: float) -> RateLimited:
        """The error for a caller that has to wait so many seconds."""
        return RateLimited(
            f"more than {self.per_second} a second: wait",
            {
                "limit": self.name,
                "allowed": str(self.per_second),
                RETRY_AFTER: str(int(wait * 1000) + 1),
            },
        )

    @property
    def full(self) -> bool:
        """Whether the bucket is full, so that a new one in its place would be the same."""
        return self._tokens + (self.clock() - self._updated) * self.per_second >= self.at_once


class RateLimiter:
    """A rate limit with one token bucket per key: an owner, or the address of a client."""

    def __init__(self, name: str, per_second: int, at_once: int) -> None:
        self.per_second = per_second
        self._name, self._at_once = name, at_once
        self._buckets: dict[str, TokenBucket] = {}

    def acquire(self, key: str, cost: int = 1) -> None:
        """Count a call, which may cost as much as several; raises RateLimited."""
        if key not in UNLIMITED:
            self.bucket(key).acquire(cost)

    def bucket(self, key: str) -> TokenBucket:
        """The bucket of a key."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= _MOST_BUCKETS:
                self._buckets = {k: each for k, each in self._buckets.items() if not each.full}
            bucket = self._buckets[key] = TokenBucket(self._name, self.per_second, self._at_once)
        return bucket


class GuessLimiter:
    """Slows down tokens that may be guesses, by address: later ones wait longer, or are refused."""

    def __init__(self, limits: Limits) -> None:
        per_second, at_once = limits.guesses_per_second, limits.guesses_at_once
        self._rate_limiter = RateLimiter("guesses_per_second", per_second, at_once)
        self._wait_seconds = limits.guess_wait_seconds

    async def wait(self, address: str) -> None:
        """Wait until it is the turn of one more guess; raises RateLimited."""
        wait = self._rate_limiter.bucket(address).reserve(self._wait_seconds)
        if wait > 0:
            await asyncio.sleep(wait)

    def give_back(self, address: str) -> None:
        """Return a turn: it was no guess."""
        self._rate_limiter.bucket(address).give_back()


class ConcurrencyLimit:
    """A concurrency limit: how many streams are open at once, per owner or address and in all."""

    def __init__(
        self, name: str, per_key: int, in_all: int | None = None, *, key: str = "owner"
    ) -> None:
        """`key` says what is counted by: "owner" or "address"."""
        self._name, self._per_key, self._in_all, self._key = name, per_key, in_all, key
        self._open: Counter[str] = Counter()

    def full_error(self) -> LimitExceeded | None:
        """The error for everybody while no slot is left at all; None while there is one."""
        if self._in_all is None or self._open.total() < self._in_all:
            return None
        error = exceeded(self._name, self._in_all, f"this process has {{}} {self._name} open")
        error.details[RETRY_AFTER] = str(_FULL_RETRY_MS)
        return error

    @contextmanager
    def slot(self, key: str) -> Iterator[None]:
        """Hold a slot for an owner or address; raises LimitExceeded."""
        full_error = self.full_error()
        if full_error is not None:
            raise full_error
        if key not in UNLIMITED and self._open[key] >= self._per_key:
            sentence = f"one {self._key} may have {{}} {self._name} open"
            raise exceeded(f"{self._name}_per_{self._key}", self._per_key, sentence)
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
