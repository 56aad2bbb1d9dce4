"""What the clock of a game is: its standards and limits, time left, deadline and flag fall.

Every seat begins with the bank. Time runs for the seat that has to decide, from the commit that
opened its decision to the commit of its answer, and each decision that it answers earns one
increment. All times are whole milliseconds of the store's own clock.

The store decides, in `server/himeji_server/store/scripts/commit.lua`, because only there reading
the time and committing are one step. The lines that compute `charged`, `added` and `left` refuse
an answer after the flag has fallen ("fallen") and a flag fall that comes too early ("running");
the last `ZADD` sets the timer to the deadline of the seat that is asked next. This module says the
same for code that shows, limits or simulates a clock.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from himeji.rules.errors import InvalidRequest
from himeji.v1.game_pb2 import Clock as ClockMessage, EndReason

LONGEST_MS: Final = 7 * 24 * 3_600_000


class Clock(NamedTuple):
    """A time control: a bank for the whole game and an increment for each decision."""

    bank_ms: int
    increment_ms: int

    @classmethod
    def from_message(cls, message: ClockMessage) -> Clock:
        return cls(message.bank.ToMilliseconds(), message.increment.ToMilliseconds())

    def write(self, message: ClockMessage) -> None:
        message.bank.FromMilliseconds(self.bank_ms)
        message.increment.FromMilliseconds(self.increment_ms)

    def check(self) -> None:
        """Raise InvalidRequest if the bank is empty, or bank or increment is too long."""
        if not (0 < self.bank_ms <= LONGEST_MS and 0 <= self.increment_ms <= LONGEST_MS):
            raise InvalidRequest("a clock has a bank of up to seven days", {"field": "clock"})

    def after_answer(self, left_ms: int, elapsed_ms: int, decisions: int = 1) -> int:
        """What a seat has left after an answer; negative if its flag fell before it answered."""
        left_ms -= elapsed_ms
        return left_ms if left_ms < 0 else left_ms + self.increment_ms * decisions


CASUAL: Final = Clock(600_000, 1_000)
"""For games that are created without naming a clock."""

LADDER: Final = Clock(120_000, 500)
"""For ladders and tournaments that do not set their own, and for `himeji doctor`."""

FOR_PEOPLE: Final = (
    Clock(900_000, 5_000),
    Clock(3_600_000, 10_000),
    Clock(86_400_000, 60_000),
)
"""The choice that the page gives to people who play in their browser."""


def time_left(left_ms: int, asked_ms: int, now_ms: int) -> int:
    """What a seat that was asked at `asked_ms` has left now; never less than nothing."""
    return max(0, left_ms - max(0, now_ms - asked_ms))


def deadline(left_ms: int, asked_ms: int) -> int:
    """When the flag of a seat falls that was asked at `asked_ms`."""
    return asked_ms + left_ms


def flag_fall_reason(*, connected: bool) -> EndReason.ValueType:
    """Why a seat is lost whose flag has fallen: its bot was too slow, or it was gone."""
    return EndReason.END_REASON_TIMEOUT if connected else EndReason.END_REASON_DISCONNECTED
