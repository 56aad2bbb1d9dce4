"""Attacks on the page, without any account."""

import asyncio
import itertools
from functools import partial

from tests.programs.siege.attacks.attack import (
    SOURCE,
    UNLIMITED,
    Attack,
    allow_open_files,
    limit_values,
)
from tests.programs.siege.page_requests import connect, event_stream, head, read_to_end, status

SECONDS_BETWEEN_TRIES = 0.1


class HeldConnections(Attack):
    """Opens connections to the page, says something on each, and keeps them."""

    CONNECTIONS = 0
    HELD = "held to the end"

    def __init__(self):
        super().__init__()
        self._held = 0

    def prepare(self, target):
        allow_open_files()

    def opening(self, target, number):
        """What is said on a connection."""
        raise NotImplementedError

    async def run(self, target):
        await self.repeat(target, self.CONNECTIONS, partial(self._hold, target, itertools.count()))
        self.told[self.HELD] += self._held

    async def _hold(self, target, numbers):
        """Hold a connection as long as the arena lets us."""
        try:
            reader, writer = await connect(target.page, SOURCE)
        except OSError:
            self.told["connection refused"] += 1
        else:
            self._held += 1
            writer.write(self.opening(target, next(numbers)))
            self.told[status(await read_to_end(reader))] += 1
            self._held -= 1
            writer.transport.abort()
        await asyncio.sleep(SECONDS_BETWEEN_TRIES)


class SlowPageClients(HeldConnections):
    """Opens a thousand connections to the page that say nothing, or half a header."""

    name = "slow page clients"
    control = limit_values(page_connections_per_address=UNLIMITED)
    symptom = "one address held"
    CONNECTIONS = 1_000

    def opening(self, target, number):
        return head(target.page, "/")[: -4 if number % 2 else 0]

    def harm(self, told):
        """An arena may still serve others, but one address must not hold most of its places."""
        held = told[self.HELD]
        return f"one address held {held} connections" if held > self.CONNECTIONS / 2 else ""


class EventStreams(HeldConnections):
    """Opens all the event streams that the page has, and keeps them."""

    name = "event streams"
    control = limit_values(
        event_streams_per_address=UNLIMITED,
        page_connections_per_address=UNLIMITED,
        page_requests_per_second=UNLIMITED,
        page_requests_at_once=UNLIMITED,
    )
    symptom = "event stream: Failure"
    CONNECTIONS = 300

    def opening(self, target, number):
        return head(target.page, event_stream(target.game))


ATTACKS = (SlowPageClients, EventStreams)
