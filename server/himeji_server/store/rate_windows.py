"""Rate limits for the whole arena: fixed windows of time, counted in the store by its clock.

For what is rare and must not be multiplied by the number of processes. Calls are counted in the
memory of each process instead (rate_limits.py), which costs no round trip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji.rules.errors import RateLimited
from himeji.wire.errors import RETRY_AFTER

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script

MINUTE: Final = 60
DAY: Final = 86_400

_COUNT: Final = Script("count_in_windows")
_UNIT_NAMES: Final = {MINUTE: "a minute", DAY: "a day"}


@dataclass(frozen=True)
class RateWindow:
    """A limit: how many in how many seconds."""

    limit: str
    """The name of the limit, for the error."""

    allowed: int
    seconds: int
    address: str = ""
    """Whose are counted; empty: everybody's together."""


class RateWindows:
    """The counts of one kind of thing."""

    def __init__(self, store: Store, what: str) -> None:
        """`what` names what is counted, in the plural."""
        self._store = store
        self._what = what

    async def acquire(self, windows: Sequence[RateWindow]) -> None:
        """Count one in every window, or raise RateLimited and count it in none."""
        touched = [keys.rate_window(self._what, each.limit, each.address) for each in windows]
        figures = [each for one in windows for each in (one.allowed, one.seconds * 1000)]
        full, *left = await self._store.run(_COUNT, touched, *figures)
        if full:
            window = windows[full - 1]
            place = "from your address" if window.address else "in this arena"
            raise RateLimited(
                f"there were {window.allowed} {self._what} {_UNIT_NAMES[window.seconds]} {place}: "
                "wait, or ask an administrator",
                {
                    "limit": window.limit,
                    "allowed": str(window.allowed),
                    RETRY_AFTER: str(max(1, int(left[0]))),
                },
            )
