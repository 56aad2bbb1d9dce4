"""Compares what the two worlds show."""

import asyncio
import hashlib
from contextlib import AsyncExitStack
from itertools import zip_longest
from typing import NamedTuple

from tests.programs.two_worlds.observer import Shown, running_world

CONTEXT_BYTES = 30


class Difference(NamedTuple):
    """A place at which the worlds show different things."""

    place: str
    first: bytes
    second: bytes

    def __str__(self):
        start = next(
            (n for n, (a, b) in enumerate(zip(self.first, self.second, strict=False)) if a != b), 0
        )
        cut = slice(max(0, start - CONTEXT_BYTES), start + CONTEXT_BYTES)
        return f"{self.place}: {self.first[cut]!r} and {self.second[cut]!r}"


class Report(NamedTuple):
    """How many things were compared, and which of them differ."""

    compared: int
    differences: list[Difference]


async def compare(deals, *, leaky=False):
    """Play the deals in both worlds; what differs."""
    async with AsyncExitStack() as stack:
        worlds = [
            await stack.enter_async_context(running_world(number, deals, leaky=leaky))
            for number in range(2)
        ]
        await asyncio.gather(*(world.play(deals) for world in worlds))
        pairs = list(zip_longest(*(each.shown for each in worlds), fillvalue=Shown("nothing", b"")))
        differences = [Difference(a.place, a.content, b.content) for a, b in pairs if a != b]
        for number, world in enumerate(worlds):
            differences += _secrets_in_log(number, world.log, deals)
    return Report(len(pairs), differences)


def _secrets_in_log(world, log, deals):
    """Secrets of games that the log of a world has."""
    for number in range(len(deals)):
        secret = hashlib.sha256(f"{world} {number}".encode()).hexdigest()
        if secret in log:
            yield Difference(f"log of world {world}", secret.encode(), b"")
