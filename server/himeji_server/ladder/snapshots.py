"""Which snapshots of a season's standings are kept: many of late, few of long ago.

A snapshot is taken after every interval of so many results. All of the last eight intervals are
kept, of the eight before every second, of the sixteen before those every fourth, and so on. Thus
100 intervals have two dozen snapshots, and what has to be replayed for a void is at most a third
more than what followed the game, plus two intervals.
"""

from collections.abc import Sequence
from typing import Final

_ALL_KEPT_BITS: Final = 3  # intervals whose age has this many bits keep every snapshot


def is_kept(sequence: int, newest: int, interval: int) -> bool:
    """Whether a snapshot is kept when there are results up to `newest`.

    Never again once it is not: the number of its interval has to be divisible by a power of two
    that only grows with its age.
    """
    number = sequence // interval
    age = newest // interval - number
    return number % (1 << max(0, age.bit_length() - _ALL_KEPT_BITS)) == 0


def superseded(sequences: Sequence[int], newest: int, interval: int) -> list[int]:
    """The snapshots that go when one is taken at `newest`; an interval has one at most."""
    last = {each // interval: each for each in (*sorted(sequences), newest)}
    return [
        each
        for each in sequences
        if last[each // interval] != each or not is_kept(each, newest, interval)
    ]
