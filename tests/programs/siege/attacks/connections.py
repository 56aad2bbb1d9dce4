"""Attacks by connections and frames that a well-behaved client would never send."""

import asyncio
import time
from collections.abc import Mapping

from himeji.v1 import play_service_pb2 as play, rules_service_pb2 as rules
from himeji_server.limits import Limits

from tests.programs.siege.arena import hostile_bot
from tests.programs.siege.attacks.attack import (
    HOUR,
    LONGEST,
    NO_CANCELLATION_LIMIT,
    NO_FAILURE_LIMIT,
    NO_PACING,
    SOURCE,
    UNLIMITED,
    Attack,
    allow_open_files,
    limit_values,
)
from tests.programs.siege.http2 import ANSWERED, CLOSED, MARKED, Connection, request_headers

GET_RULESET = "/himeji.v1.RulesService/GetRuleset"
CONNECT_SECONDS = 1.0
BLOCKED = "blocked"
PLAY = "/himeji.v1.PlayService/Play"


class RawAttack(Attack):
    """An attack over connections of HTTP/2 whose frames it writes itself."""

    blocked = False
    """Whether the arena does not answer us any more."""

    async def connect(self, target, **settings):
        """A connection, or None if it is refused or we are blocked."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await Connection.connect(target.address, SOURCE, self.told, **settings)
        except TimeoutError:
            self.blocked = True
            self.told[BLOCKED] += 1
        except OSError:
            self.told["connection refused"] += 1
        return None


class UnreadAnswers(RawAttack):
    """Asks for large answers on many connections, and takes none of them: the windows are 0."""

    name = "unread answers"
    control = limit_values(
        unread_bytes_per_address=UNLIMITED,
        calls_in_flight_per_address=UNLIMITED,
        slow_seconds=HOUR,
        calls_per_second=UNLIMITED,
        **NO_PACING,
    )
    symptom = "answers lay unread"
    CONNECTIONS = 100
    CALLS_PER_SECOND = 1_300
    """Less than the rate limit for an address allows in the first seconds."""

    MOST_UNREAD = 500
    """Several times as many as `unread_bytes_per_address` holds."""

    async def run(self, target):
        headers = request_headers(GET_RULESET)
        body = rules.GetRulesetRequest(ruleset="matcha").SerializeToString()
        connections = [None] * self.CONNECTIONS
        began, sent = time.monotonic(), 0
        while (passed := time.monotonic() - began) < target.seconds:
            while not self.blocked and sent < passed * self.CALLS_PER_SECOND:
                number = sent % self.CONNECTIONS
                if connections[number] is None or not connections[number].open:
                    connections[number] = await self.connect(target, window=0)
                if connections[number] is not None:
                    connections[number].call(headers, body)
                sent += 1
            await asyncio.sleep(0.01)
        self.told["calls made"] += sent

    def harm(self, told):
        """The header of an answer comes also to whom takes nothing of the answer."""
        unread = told[ANSWERED]
        return f"{unread} answers lay unread" if unread > self.MOST_UNREAD else ""


class ConnectionFlood(RawAttack):
    """Opens all the connections that a process takes, and does nothing with them."""

    name = "connection flood"
    limits = limit_values(connections=4_000)
    control = limit_values(connections_per_address=UNLIMITED)
    symptom = "one address held"
    CONNECTIONS = 4_200
    """A few more than a process takes in all."""

    AT_ONCE = 200
    HELD = "connections held to the end"

    def prepare(self, target):
        allow_open_files()

    async def run(self, target):
        latest = time.monotonic() + LONGEST * target.seconds
        numbers, opened = iter(range(self.CONNECTIONS)), set()

        async def work():
            for _ in numbers:
                if time.monotonic() > latest:
                    return
                opened.add(await self.connect(target))

        await asyncio.gather(*(work() for _ in range(self.AT_ONCE)))
        opened.discard(None)
        self.told["connections made"] += len(opened)
        await asyncio.sleep(target.seconds)
        self.told[self.HELD] += sum(each.open for each in opened)

    def harm(self, told):
        """An arena may still have places, but one address must not hold most of them."""
        held = told[self.HELD]
        return f"one address held {held} connections" if held > self.CONNECTIONS / 2 else ""


class RapidReset(RawAttack):
    """Opens calls and resets them at once: a hundred thousand on ten connections."""

    name = "rapid reset"
    control = limit_values(**NO_CANCELLATION_LIMIT, **NO_FAILURE_LIMIT)
    symptom = "calls were reset and nothing was done"
    CONNECTIONS = 10
    CALLS = 100_000
    BURST = 50
    RESET = "calls reset by us"

    async def run(self, target):
        headers = request_headers(GET_RULESET)
        began = time.monotonic()
        latest = began + LONGEST * target.seconds

        async def work():
            connection = None
            while self.told[self.RESET] < self.CALLS and time.monotonic() < latest:
                if self.blocked:
                    await asyncio.sleep(max(0.0, began + target.seconds - time.monotonic()))
                    return
                if connection is None or not connection.open:
                    connection = await self.connect(target)
                    await asyncio.sleep(0)
                    continue
                self.told[self.RESET] += self.BURST
                for _ in range(self.BURST):
                    connection.reset(connection.call(headers))
                await connection.drain()
                # The arena has to get to know of them: too many at once are refused cheaply.
                await asyncio.sleep(0)

        await asyncio.gather(*(work() for _ in range(self.CONNECTIONS)))

    def harm(self, told):
        """Who resets so many calls must lose its connections."""
        stopped = told[CLOSED] or told[BLOCKED]
        return "" if stopped else f"{told[self.RESET]} calls were reset and nothing was done"


def _most_rejections(began):
    """Twice as many rejections as an owner may get since then."""
    seconds = time.monotonic() - began
    limits = Limits()
    at_once = limits.rejections_at_once + limits.requests_at_work_per_owner
    return 2 * (at_once + round(limits.rejections_per_second * seconds))


class BusyStreams(RawAttack):
    """Opens 64 Play streams, asks nonsense without end on each, and reads the answers."""

    name = "streams of nonsense"
    STREAMS = 64
    BATCH = 64
    SECONDS_BETWEEN_BATCHES = 0.04
    WINDOW = 1 << 30
    HELD = "streams held to the end"
    EXCESS = "rejections beyond the rate"
    MARKER = "x" * 36
    """The id of every request, which its rejection repeats."""

    hostile_bots = STREAMS
    limits: Mapping[str, float] = limit_values(bots_per_owner=STREAMS)
    control = limit_values(rejections_per_second=UNLIMITED, rejections_at_once=UNLIMITED)
    symptom = "of nonsense were handled"

    async def run(self, target):
        began = time.monotonic()
        until = began + target.seconds
        marker = self.MARKER.encode()
        opened = [
            await self.connect(target, window=self.WINDOW, marker=marker)
            for _ in range(self.STREAMS)
        ]
        connections = [each for each in opened if each is not None]
        works = (self._ask(target, n, each, until) for n, each in enumerate(connections))
        await asyncio.gather(*works)
        self.told[self.HELD] += sum(len(each.open_streams) for each in connections if each.open)
        self.told[self.EXCESS] += max(0, self.told[MARKED] - _most_rejections(began))

    def harm(self, told):
        """Rejections are work: an owner gets only so many a second."""
        return f"{told[MARKED]} requests of nonsense were handled" if told[self.EXCESS] else ""

    def game(self, target, number):
        """The game that a stream asks for."""
        return f"{target.game[:-2]}{number:02}"

    async def _ask(self, target, number, connection, until):
        """Say Hello, and then answer a decision that was not asked, in batches."""
        hello = play.ClientMessage(hello=play.Hello(protocol_version=1, bot=hostile_bot(number)))
        act = play.Act(game_id=self.game(target, number), decision_id=1, actions=[1])
        nonsense = [play.ClientMessage(request_id=self.MARKER, act=act)] * self.BATCH
        batch = play.PlayRequest(messages=nonsense).SerializeToString()
        stream = connection.call(
            request_headers(PLAY, target.token),
            play.PlayRequest(messages=[hello]).SerializeToString(),
            end=False,
        )
        while time.monotonic() < until:
            if connection.open and connection.open_streams:
                connection.send(stream, batch)
                self.told["requests made"] += self.BATCH
                await connection.drain()
            await asyncio.sleep(self.SECONDS_BETWEEN_BATCHES)


class SilentStreams(BusyStreams):
    """The same without reading any answer: the windows are 0."""

    name = "streams that do not read"
    WINDOW = 0
    limits = limit_values(bots_per_owner=BusyStreams.STREAMS, slow_seconds=1.0)
    control = limit_values(messages_waiting=UNLIMITED, slow_seconds=HOUR)
    symptom = "streams that do not read were kept"

    def game(self, target, number):
        return target.game

    def harm(self, told):
        return f"{told[self.HELD]} streams that do not read were kept" if told[self.HELD] else ""


ATTACKS = (UnreadAnswers, ConnectionFlood, RapidReset, BusyStreams, SilentStreams)
