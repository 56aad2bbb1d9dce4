"""How many requests of an owner's streams are handled at a time, and how often they may be wrong.

An Act that is accepted is paid for by the game's own pace: a seat is asked one thing at a time. A
request that is rejected or repeated costs as much and can be sent without end, and so can requests
that are no Act. So each owner has a number of slots for requests at work, and the slot of such a
request becomes free only at a limited rate; meanwhile the owner's streams are read no further.
"""

import asyncio
import math
from weakref import WeakValueDictionary

from himeji_server.accounts.caller import Caller
from himeji_server.limits import NO_LIMIT, Limits
from himeji_server.rate_limits import UNLIMITED, RateLimiter


class OwnerSlots:
    """The slots of one owner, for all its streams."""

    def __init__(self, key: str, slots: int, rejections: RateLimiter) -> None:
        self._limited = None if key in UNLIMITED else rejections.bucket(key)
        self._most_seconds = slots / max(1, rejections.per_second)
        self._slots = asyncio.Semaphore(slots)

    async def acquire(self) -> None:
        """Take a slot as soon as one is free."""
        await self._slots.acquire()

    def release(self) -> None:
        """Free a slot."""
        self._slots.release()

    def delay(self) -> float:
        """Count a request that no game limits; returns the seconds for which its slot stays taken.

        No more is counted than the slots can hold: who closes streams to free them leaves no debt
        that would keep the owner's other streams waiting.
        """
        if self._limited is None:
            return 0.0
        wait = self.debt_seconds()
        return wait if wait > self._most_seconds else self._limited.reserve(math.inf)

    def debt_seconds(self) -> float:
        """How long a new stream waits until it is read, after others were closed early."""
        return 0.0 if self._limited is None else self._limited.seconds_until(0.0)


class RequestSlots:
    """The slots of all owners with open streams."""

    def __init__(self, limits: Limits) -> None:
        self._per_owner = limits.requests_at_work_per_owner
        self._rejections = RateLimiter(
            "rejections_per_second", limits.rejections_per_second, limits.rejections_at_once
        )
        self._owners: WeakValueDictionary[str, OwnerSlots] = WeakValueDictionary()

    def of(self, caller: Caller) -> OwnerSlots:
        """The slots of a caller, which its streams share; administrators have any number."""
        key = caller.limit_key
        slots = self._owners.get(key)
        if slots is None:
            most = NO_LIMIT if key in UNLIMITED else self._per_owner
            slots = self._owners[key] = OwnerSlots(key, most, self._rejections)
        return slots
