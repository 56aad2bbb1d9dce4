"""A crowd: tables of bots in one process, as many as it is told, each bot with a stream of its own.

It answers at random and keeps no mirror of the games, so that it costs little beside what it puts
on the arena. Tell it what to do in one line of JSON; it says when everybody sits, waits for a line,
and then tells once a second what happened, in lines of JSON, until its time is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import grpc
from himeji.v1 import game_pb2, game_service_pb2 as games, play_service_pb2 as play
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.v1.play_service_pb2_grpc import PlayServiceStub
from himeji_sdk.connection import credentials, proxy_options

from loadtest.measuring import reason_of, without_prefix

SEATS: Final = 2
SEATED_AT_ONCE: Final = 16
CALL_SECONDS: Final = 30.0
EOF: Final = grpc.aio.EOF  # type: ignore[attr-defined]
FINISHED: Final = game_pb2.END_REASON_FINISHED


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a crowd is told to do."""

    targets: Sequence[str]
    token: str
    tables: int
    think: float
    """Mean seconds before an answer; so a game goes on about so fast."""
    seconds: float
    ruleset: str = "base"
    knocks: float = 0.0
    """Further bots that come each second, and go when they have heard whether they may stay."""
    apart: bool = False
    """Whether the bots of a table sit at different targets, and not at one."""

    def target(self, table: int, seat: int) -> str:
        """Where a bot sits: the tables take turns at the targets, and when apart the seats too."""
        turn = table + seat if self.apart else table
        return self.targets[turn % len(self.targets)]


class Tally:
    """What happened in the last second."""

    def __init__(self) -> None:
        self.connected = 0
        self.live = 0
        self.errors: Counter[str] = Counter()
        self.guests: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.decisions = 0
        self.games = 0

    def told(self) -> dict[str, Any]:
        """It as data; what is counted begins anew."""
        found = {
            "connected": self.connected,
            "live": self.live,
            "decisions": self.decisions,
            "games": self.games,
            "errors": dict(self.errors),
            "guests": dict(self.guests),
            "latencies": [round(each, 2) for each in self.latencies],
        }
        self.errors.clear()
        self.guests.clear()
        self.latencies = []
        self.decisions = self.games = 0
        return found


class Table:
    """Bots that play one game after the other with each other."""

    def __init__(self, number: int, orders: Orders, tally: Tally) -> None:
        self._orders, self._tally = orders, tally
        self._metadata = credentials(orders.token)
        targets = [orders.target(number, seat) for seat in range(SEATS)]
        self._bots = [Bot(self, target, orders, tally) for target in targets]
        self._told_of_the_end = 0
        self._answered = 0.0
        self.may_play = asyncio.Event()

    async def open(self) -> None:
        """Connect the bots and begin the first game."""
        for bot in self._bots:
            await bot.connect()
        await self.begin()

    async def begin(self) -> None:
        """Begin a game; a refusal is counted, and the table stays empty."""
        self._told_of_the_end = 0
        try:
            stub = self._bots[0].games
            seats = [game_pb2.SeatPlan() for _ in self._bots]
            new = games.CreateGameRequest(
                request_id=str(uuid.uuid4()), ruleset=self._orders.ruleset, seats=seats
            )
            made = await stub.CreateGame(new, metadata=self._metadata, timeout=CALL_SECONDS)
            for bot in self._bots:
                join = games.JoinGameRequest(
                    request_id=str(uuid.uuid4()), game_id=made.game.game_id, bot=bot.name
                )
                await stub.JoinGame(join, metadata=self._metadata, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            self._tally.errors[reason_of(error)] += 1
        else:
            self._tally.live += 1

    def answered(self) -> None:
        """A seat is sending its answer."""
        self._tally.decisions += 1
        self._answered = time.perf_counter()

    def asked(self) -> None:
        """A seat is asked."""
        if self._answered:
            self._tally.latencies.append((time.perf_counter() - self._answered) * 1000)
            self._answered = 0.0

    async def over(self, end: game_pb2.EndReason.ValueType) -> None:
        """A seat was told that the game is over; after the last one the next game begins."""
        self._answered = 0.0
        self._told_of_the_end += 1
        if self._told_of_the_end == 1:
            self._tally.live -= 1
            self._tally.games += 1
            if end != FINISHED:
                self._tally.errors[f"game {game_pb2.EndReason.Name(end)}"] += 1
        if self._told_of_the_end == len(self._bots):
            await self.begin()

    async def close(self) -> None:
        """Leave without a word."""
        for bot in self._bots:
            await bot.close()


class Bot:
    """One connection, one stream, one game at a time."""

    def __init__(self, table: Table, target: str, orders: Orders, tally: Tally) -> None:
        self.name = _fresh_name()
        self._table, self._tally = table, tally
        self._think = orders.think
        self._metadata = credentials(orders.token)
        self._channel = _channel(target)
        self.games = GameServiceStub(self._channel)
        self._call: Any = None
        self._reader: asyncio.Task[None] | None = None
        self._random = random.Random()  # noqa: S311 - a game, no secret

    async def connect(self) -> None:
        """Open the stream, and read it from then on."""
        stub: Any = PlayServiceStub(self._channel)
        self._call = stub.Play(metadata=self._metadata)
        await _greet(self._call, self.name)
        self._tally.connected += 1
        self._reader = asyncio.create_task(self._read())

    async def close(self) -> None:
        """End the stream."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})
        await self._channel.close(None)

    async def _read(self) -> None:
        try:
            while (message := await self._call.read()) is not EOF:
                await self._told(message)
            self._tally.errors["stream ended"] += 1
        except Exception as error:  # noqa: BLE001 - whatever ends a stream is told
            self._tally.errors[f"stream {reason_of(error)}"] += 1
        finally:
            self._tally.connected -= 1

    async def _told(self, message: play.PlayResponse) -> None:
        kind = message.WhichOneof("body")
        if kind == "decision":
            await self._answer(message.decision)
        elif kind == "accepted" and message.accepted.HasField("next_decision"):
            await self._answer(message.accepted.next_decision)
        elif kind == "game_over":
            await self._table.over(message.game_over.result.end_reason)
        elif kind == "rejected":
            reason = without_prefix(ErrorReason.Name(message.rejected.reason))
            self._tally.errors[f"rejected {reason}"] += 1

    async def _answer(self, decision: game_pb2.Decision) -> None:
        self._table.asked()
        await self._table.may_play.wait()
        if self._think:
            await asyncio.sleep(self._random.uniform(0, 2 * self._think))
        act = play.Act(game_id=decision.game_id, decision_id=decision.decision_id)
        act.actions.append(self._random.choice(decision.legal_actions))
        self._table.answered()
        await self._call.write(play.PlayRequest(act=act))


class Guests:
    """Bots for which there may be no place: each opens a stream, and what it hears is counted."""

    WAITING: Final = 1_000
    """More of them than this do not wait for an answer at the same time."""

    def __init__(self, orders: Orders, tally: Tally) -> None:
        self._orders, self._tally = orders, tally
        self._knocking: set[asyncio.Task[None]] = set()

    async def come(self) -> None:
        """Knock until cancelled."""
        begun, came = time.perf_counter(), 0
        while True:
            due = int((time.perf_counter() - begun) * self._orders.knocks) - came
            for _ in range(due):
                came += 1
                self._begin()
            await asyncio.sleep(0.01)

    def _begin(self) -> None:
        if len(self._knocking) >= self.WAITING:
            self._tally.guests["not sent"] += 1
            return
        task = asyncio.create_task(self._knock())
        self._knocking.add(task)
        task.add_done_callback(self._knocking.discard)

    async def _knock(self) -> None:
        try:
            async with _channel(self._orders.targets[0]) as channel:
                stub: Any = PlayServiceStub(channel)
                call = stub.Play(metadata=credentials(self._orders.token), timeout=CALL_SECONDS)
                await _greet(call, _fresh_name())
        except grpc.RpcError as error:
            self._tally.guests[reason_of(error)] += 1
        else:
            self._tally.guests["OK"] += 1

    async def leave(self) -> None:
        """Wait no longer."""
        for task in self._knocking:
            task.cancel()
        if self._knocking:
            await asyncio.wait(self._knocking)


def _channel(target: str) -> grpc.aio.Channel:
    """A connection that is shared with nobody."""
    options = [("grpc.use_local_subchannel_pool", 1), *proxy_options(target)]
    return grpc.aio.insecure_channel(target, options=options)


def _fresh_name() -> str:
    return f"local/crowd-{uuid.uuid4().hex[:12]}"


async def _greet(call: Any, bot: str) -> None:
    """Say Hello and wait for the Welcome; raises RpcError with the reason if none comes."""
    hello = play.Hello(protocol_version=1, bot=bot, wants=[game_pb2.WANT_NEXT_DECISION])
    await call.write(play.PlayRequest(hello=hello))
    message = await call.read()
    while message is not EOF and message.WhichOneof("body") != "welcome":
        message = await call.read()  # a notice says why there is none, and then the status


async def main() -> None:
    """Take the orders from standard input and carry them out."""
    orders = Orders(**json.loads(await asyncio.to_thread(sys.stdin.readline)))
    tally = Tally()
    tables = [Table(number, orders, tally) for number in range(orders.tables)]
    for first in range(0, len(tables), SEATED_AT_ONCE):
        await asyncio.gather(*(each.open() for each in tables[first : first + SEATED_AT_ONCE]))
    say({"seated": True, **tally.told()})
    await asyncio.to_thread(sys.stdin.readline)
    for table in tables:
        table.may_play.set()
    guests = Guests(orders, tally)
    coming = asyncio.create_task(guests.come())
    until = time.perf_counter() + orders.seconds
    while (left := until - time.perf_counter()) > 0:
        await asyncio.sleep(min(1.0, left))
        say(tally.told())
    coming.cancel()
    await asyncio.wait({coming})
    await guests.leave()
    await asyncio.gather(*(table.close() for table in tables))


def say(what: dict[str, Any]) -> None:
    """Say a line."""
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(ModuleNotFoundError):
        import uvloop

        uvloop.install()
    asyncio.run(main())
