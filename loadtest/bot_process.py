"""A process of asyncio bots that puts load on arenas; `load_driver` starts several of them.

The bots come in pairs that play one game after the other, each bot on a stream of its own. They
answer at random and keep no mirror of the game, so that they cost little beside the arena.

Standard input has the workload as one line of JSON. The process writes a line of JSON when all
bots are seated, waits for a second line of input, then plays and writes its counts once a second.
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

from loadtest.interceptors import reason_of, without_prefix

SEATS: Final = 2
CONCURRENT_STARTS: Final = 16
"""Pairs that connect and begin their first game at the same time."""

CALL_SECONDS: Final = 30.0
EOF: Final = grpc.aio.EOF  # type: ignore[attr-defined]
FINISHED: Final = game_pb2.END_REASON_FINISHED


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What one process of bots does, or several together."""

    targets: Sequence[str]
    token: str
    pairs: int
    think: float
    """Mean seconds before an answer."""
    seconds: float
    ruleset: str = "base"
    surplus_rate: float = 0.0
    """Further bots a second that open a stream, and close it when they are let in or refused."""
    apart: bool = False
    """Whether the bots of a pair connect to different targets."""

    def target(self, pair: int, seat: int) -> str:
        """The address a bot connects to: round robin over pairs, or over seats if apart."""
        turn = pair + seat if self.apart else pair
        return self.targets[turn % len(self.targets)]


class IntervalCounts:
    """What happened since the last report, and what is connected and live now."""

    def __init__(self) -> None:
        self.connected = 0
        self.live = 0
        self.errors: Counter[str] = Counter()
        self.surplus: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.decisions = 0
        self.games = 0

    def take(self) -> dict[str, Any]:
        """The counts as data; resets those of the interval."""
        report = {
            "connected": self.connected,
            "live": self.live,
            "decisions": self.decisions,
            "games": self.games,
            "errors": dict(self.errors),
            "surplus": dict(self.surplus),
            "latencies": [round(each, 2) for each in self.latencies],
        }
        self.errors.clear()
        self.surplus.clear()
        self.latencies = []
        self.decisions = self.games = 0
        return report


class BotPair:
    """Two bots that play one game after the other against each other."""

    def __init__(self, number: int, workload: Workload, counts: IntervalCounts) -> None:
        self._workload, self._counts = workload, counts
        self._metadata = credentials(workload.token)
        targets = [workload.target(number, seat) for seat in range(SEATS)]
        self._bots = [StreamBot(self, target, workload, counts) for target in targets]
        self._seats_over = 0
        self._answered_at = 0.0
        self.may_play = asyncio.Event()

    async def open(self) -> None:
        """Connect the bots and begin the first game."""
        for bot in self._bots:
            await bot.connect()
        await self.begin_game()

    async def begin_game(self) -> None:
        """Create and join a game; after an error, which is counted, the pair stays without one."""
        self._seats_over = 0
        try:
            stub = self._bots[0].games
            seats = [game_pb2.SeatPlan() for _ in self._bots]
            create = games.CreateGameRequest(
                request_id=str(uuid.uuid4()), ruleset=self._workload.ruleset, seats=seats
            )
            made = await stub.CreateGame(create, metadata=self._metadata, timeout=CALL_SECONDS)
            for bot in self._bots:
                join = games.JoinGameRequest(
                    request_id=str(uuid.uuid4()), game_id=made.game.game_id, bot=bot.name
                )
                await stub.JoinGame(join, metadata=self._metadata, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            self._counts.errors[reason_of(error)] += 1
        else:
            self._counts.live += 1

    def answer_sent(self) -> None:
        self._counts.decisions += 1
        self._answered_at = time.perf_counter()

    def decision_received(self) -> None:
        if self._answered_at:
            self._counts.latencies.append((time.perf_counter() - self._answered_at) * 1000)
            self._answered_at = 0.0

    async def game_over(self, end: game_pb2.EndReason.ValueType) -> None:
        """Count the end of a game, which each seat reports; after the last, begin the next one."""
        self._answered_at = 0.0
        self._seats_over += 1
        if self._seats_over == 1:
            self._counts.live -= 1
            self._counts.games += 1
            if end != FINISHED:
                self._counts.errors[f"game {game_pb2.EndReason.Name(end)}"] += 1
        if self._seats_over == len(self._bots):
            await self.begin_game()

    async def close(self) -> None:
        for bot in self._bots:
            await bot.close()


class StreamBot:
    """One connection, one stream, one game at a time."""

    def __init__(
        self, pair: BotPair, target: str, workload: Workload, counts: IntervalCounts
    ) -> None:
        self.name = _unique_name()
        self._pair, self._counts = pair, counts
        self._think = workload.think
        self._metadata = credentials(workload.token)
        self._channel = _channel(target)
        self.games = GameServiceStub(self._channel)
        self._call: Any = None
        self._reader: asyncio.Task[None] | None = None
        self._random = random.Random()  # noqa: S311 - a game, no secret

    async def connect(self) -> None:
        """Open the stream, and start reading it."""
        stub: Any = PlayServiceStub(self._channel)
        self._call = stub.Play(metadata=self._metadata)
        await _handshake(self._call, self.name)
        self._counts.connected += 1
        self._reader = asyncio.create_task(self._read())

    async def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait({self._reader})
        await self._channel.close(None)

    async def _read(self) -> None:
        try:
            while (batch := await self._call.read()) is not EOF:
                for message in batch.messages:
                    await self._handle(message)
            self._counts.errors["stream ended"] += 1
        except Exception as error:  # noqa: BLE001 - whatever ends a stream is counted
            self._counts.errors[f"stream {reason_of(error)}"] += 1
        finally:
            self._counts.connected -= 1

    async def _handle(self, message: play.ServerMessage) -> None:
        kind = message.WhichOneof("body")
        if kind == "decision":
            await self._answer(message.decision)
        elif kind == "accepted" and message.accepted.HasField("next_decision"):
            await self._answer(message.accepted.next_decision)
        elif kind == "game_over":
            await self._pair.game_over(message.game_over.result.end_reason)
        elif kind == "rejected":
            reason = without_prefix(ErrorReason.Name(message.rejected.reason))
            self._counts.errors[f"rejected {reason}"] += 1

    async def _answer(self, decision: game_pb2.Decision) -> None:
        self._pair.decision_received()
        await self._pair.may_play.wait()
        if self._think:
            await asyncio.sleep(self._random.uniform(0, 2 * self._think))
        act = play.Act(game_id=decision.game_id, decision_id=decision.decision_id)
        act.actions.append(self._random.choice(decision.legal_actions))
        self._pair.answer_sent()
        await self._call.write(_request(act=act))


class SurplusBots:
    """Bots beyond what the arena admits: each opens a stream, and the reply is counted."""

    MAX_PENDING: Final = 1_000
    """Attempts that may wait for a reply at the same time; more are counted as "not sent"."""

    def __init__(self, workload: Workload, counts: IntervalCounts) -> None:
        self._workload, self._counts = workload, counts
        self._pending: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Start attempts at the rate of the workload until cancelled."""
        begun, started = time.perf_counter(), 0
        while True:
            due = int((time.perf_counter() - begun) * self._workload.surplus_rate) - started
            for _ in range(due):
                started += 1
                self._start_attempt()
            await asyncio.sleep(0.01)

    def _start_attempt(self) -> None:
        if len(self._pending) >= self.MAX_PENDING:
            self._counts.surplus["not sent"] += 1
            return
        task = asyncio.create_task(self._attempt())
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _attempt(self) -> None:
        try:
            async with _channel(self._workload.targets[0]) as channel:
                stub: Any = PlayServiceStub(channel)
                call = stub.Play(metadata=credentials(self._workload.token), timeout=CALL_SECONDS)
                await _handshake(call, _unique_name())
        except grpc.RpcError as error:
            self._counts.surplus[reason_of(error)] += 1
        else:
            self._counts.surplus["OK"] += 1

    async def close(self) -> None:
        """Cancel the attempts that still wait."""
        for task in self._pending:
            task.cancel()
        if self._pending:
            await asyncio.wait(self._pending)


def _channel(target: str) -> grpc.aio.Channel:
    """A channel with a TCP connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1), *proxy_options(target)]
    return grpc.aio.insecure_channel(target, options=options)


def _unique_name() -> str:
    return f"local/load-{uuid.uuid4().hex[:12]}"


async def _handshake(call: Any, bot: str) -> None:
    """Send Hello and wait for the Welcome; raises RpcError with the reason if none comes."""
    hello = play.Hello(protocol_version=1, bot=bot, next_decision_in_accepted=True)
    await call.write(_request(hello=hello))
    batch = await call.read()
    while batch is not EOF and not batch.messages[0].HasField("welcome"):
        batch = await call.read()  # a refused stream has a StreamEnd first, then its status


def _request(**body: Any) -> play.PlayRequest:
    return play.PlayRequest(messages=[play.ClientMessage(**body)])


async def main() -> None:
    """Read the workload from standard input and carry it out."""
    workload = Workload(**json.loads(await asyncio.to_thread(sys.stdin.readline)))
    counts = IntervalCounts()
    pairs = [BotPair(number, workload, counts) for number in range(workload.pairs)]
    for first in range(0, len(pairs), CONCURRENT_STARTS):
        await asyncio.gather(*(each.open() for each in pairs[first : first + CONCURRENT_STARTS]))
    _write_line({"seated": True, **counts.take()})
    await asyncio.to_thread(sys.stdin.readline)
    for pair in pairs:
        pair.may_play.set()
    surplus = SurplusBots(workload, counts)
    attempts = asyncio.create_task(surplus.run())
    until = time.perf_counter() + workload.seconds
    while (left := until - time.perf_counter()) > 0:
        await asyncio.sleep(min(1.0, left))
        _write_line(counts.take())
    attempts.cancel()
    await asyncio.wait({attempts})
    await surplus.close()
    await asyncio.gather(*(pair.close() for pair in pairs))


def _write_line(report: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(report)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(ModuleNotFoundError):
        import uvloop

        uvloop.install()
    asyncio.run(main())
