"""Measures the arena's stream against a bare gRPC echo with messages of the same sizes.

The amount of work is fixed: a number of games, a number of round trips. The arena runs as a process
of its own with its embedded, durable Redis; the bots of this module answer with the lowest legal
action that is no exchange, which costs them nothing. Each plays many games on its stream, once with
batched answers, as the SDK does, and once with a message for each of them. The arena sends together
what waits for a bot either way.

There are two echoes, with as many round trips under way as there are games. The faster one has a
stream for each of them, which gRPC sends together; the arena with batched messages is compared with
that. The other has as many streams as the arena has bots; the arena without batched answers is
compared with that.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
import redis
from himeji.v1 import (
    game_pb2,
    game_service_pb2,
    game_service_pb2_grpc,
    play_service_pb2 as play,
    play_service_pb2_grpc,
)
from himeji_sdk.connection import proxy_options

BOTS = 16
GAMES = 256
ROUNDS = 3  # of arena and echo in turn, because the speed of a machine changes within seconds
MIDDLE = 30  # decisions into a game, which has about 60
ROUND_TRIPS = 25_600
WARM_UP_BOTS, IDLE_BOTS = 100, 400  # memory is measured after the first, for the others


def cpu(process):
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class BenchArena:
    """`himeji serve` on a new folder."""

    def __init__(self, folder):
        command = [str(Path(sys.executable).parent / "himeji"), "serve", "--port", "0"]
        command += ["--data", str(folder), "--log-format", "json", "--house", "none"]
        command += [
            f"--{limit}-per-owner={5 * IDLE_BOTS}" for limit in ("bots", "games", "streams")
        ]
        self._log = (folder.parent / "arena.log").open("w")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.strip().startswith("stop"):
                break
        text = "".join(lines)
        self.address = re.search(r"address\s+(\S+)", text)[1]
        self.redis = re.search(r"redis\s+(\S+)", text)[1]
        self.metadata = (("authorization", f"Bearer {(folder / 'token').read_text().strip()}"),)

    def redis_memory(self):
        """Bytes that Redis uses."""
        with redis.Redis.from_url(self.redis) as client:
            return client.info("memory")["used_memory"]

    def memory(self):
        """Resident kilobytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def cpu(self):
        """Seconds of processor time of the arena, and of its Redis."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return cpu(self.process.pid), sum(cpu(child) for child in children.split())

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=120)
        self._log.close()


class BenchBot:
    """A bot that answers at once, or holds its answers until `answer_held`."""

    def __init__(self, arena, name, *, holds=False, batched=False):
        self.arena, self.name = arena, name
        self.batched = batched
        self.call = None
        self.holds, self.held = holds, []
        self.ready = asyncio.Event()
        self.decisions = self.over = self.received = self.sent = 0
        self.waits = []

    async def run(self, channel, games):
        stub = play_service_pb2_grpc.PlayServiceStub(channel)
        self.call = stub.Play(metadata=self.arena.metadata)
        hello = play.Hello(protocol_version=1, bot=self.name, next_decision_in_accepted=True)
        await self.call.write(play.PlayRequest(messages=[play.ClientMessage(hello=hello)]))
        while (batch := await self.call.read()) is not grpc.aio.EOF:
            self.received += batch.ByteSize()
            await self._write([act for each in batch.messages for act in self._handle(each)])
            if self.over == games:
                await self.call.done_writing()

    def _handle(self, message):
        """Yield the answers to a message."""
        body = message.WhichOneof("body")
        if body == "welcome":
            self.ready.set()
        elif body == "decision":
            yield from self._answer(message.decision)
        elif body == "accepted" and message.accepted.HasField("next_decision"):
            yield from self._answer(message.accepted.next_decision)
        elif body == "rejected":
            raise RuntimeError(str(message.rejected))
        elif body == "game_over":
            self.over += 1

    async def is_ready(self, run):
        """Wait for the Welcome, or raise the error that ended the stream before it."""
        ready = asyncio.create_task(self.ready.wait())
        await asyncio.wait({ready, run}, return_when=asyncio.FIRST_COMPLETED)
        if run.done():
            ready.cancel()
            run.result()

    async def answer_held(self):
        """Answer the held decisions, and later ones at once; only one task may write."""
        while self.held:
            held, self.held = self.held, []
            await self._write([self._act(each) for each in held])
        self.holds = False

    def _answer(self, decision):
        if self.holds:
            self.held.append(decision)
        else:
            yield self._act(decision)

    def _act(self, decision):
        self.decisions += 1
        action = next(each for each in decision.legal_actions if each > 4)
        act = play.Act(game_id=decision.game_id, decision_id=decision.decision_id, actions=[action])
        return play.ClientMessage(act=act)

    async def _write(self, messages):
        batches = [messages] if self.batched and messages else [[each] for each in messages]
        for batch in batches:
            request = play.PlayRequest(messages=batch)
            self.sent += request.ByteSize()
            await self.call.write(request)


def channel_to(address, *options):
    return grpc.aio.insecure_channel(address, [*options, *proxy_options(address)])


async def measure_games(arena, *, batched):
    """Decisions a second while no game has ended yet, and what each of them costs."""
    async with contextlib.AsyncExitStack() as stack:
        channels = [await stack.enter_async_context(channel_to(arena.address)) for _ in range(BOTS)]
        bots = [
            BenchBot(arena, f"local/bench-{n}", holds=True, batched=batched) for n in range(BOTS)
        ]
        runs = [
            asyncio.create_task(bot.run(channel, GAMES * 2 // BOTS))
            for bot, channel in zip(bots, channels, strict=True)
        ]
        for bot, run in zip(bots, runs, strict=True):
            await bot.is_ready(run)
        before = (
            arena.redis_memory()
        )  # after the bots have connected, so that only games are counted
        stub = game_service_pb2_grpc.GameServiceStub(channels[0])
        pairs = [(2 * n % BOTS, (2 * n + 1) % BOTS) for n in range(GAMES)]
        for few in range(0, GAMES, 8):
            await asyncio.gather(
                *(new_game(arena, stub, [bots[n].name for n in p]) for p in pairs[few : few + 8])
            )
        while sum(len(bot.held) for bot in bots) < GAMES:  # noqa: ASYNC110 - of many bots
            await asyncio.sleep(0.05)
        start, used, own = time.perf_counter(), arena.cpu(), time.process_time()
        for bot in bots:
            await bot.answer_held()
        live = None
        while not any(bot.over for bot in bots):
            if live is None and sum(bot.decisions for bot in bots) > GAMES * MIDDLE:
                live = arena.redis_memory()
            await asyncio.sleep(0.01)
        spent = time.perf_counter() - start
        decisions = sum(bot.decisions for bot in bots)
        arena_cpu, redis_cpu = (b - a for a, b in zip(used, arena.cpu(), strict=True))
        own = time.process_time() - own
        await asyncio.gather(*runs)
        every = sum(bot.decisions for bot in bots)
        return {
            "decisions": decisions,
            "rate": decisions / spent,
            "cpu": arena_cpu / decisions * 1e6,
            "redis cpu": redis_cpu / decisions * 1e6,
            "client cpu": own / decisions * 1e6,
            "sent": sum(bot.sent for bot in bots) / every,
            "received": sum(bot.received for bot in bots) / every,
            "redis": (live - before) / GAMES,
        }


async def new_game(arena, stub, bots):
    """Create a game and seat these bots."""
    seats = [game_pb2.SeatPlan() for _ in bots]
    create = game_service_pb2.CreateGameRequest(ruleset="base", seats=seats)
    game = (await stub.CreateGame(create, metadata=arena.metadata)).game
    for bot in bots:
        join = game_service_pb2.JoinGameRequest(game_id=game.game_id, bot=bot)
        await stub.JoinGame(join, metadata=arena.metadata)


async def measure_echoes(process, port, sent, received, streams):
    """Round trips a second of a bare echo with messages of these sizes."""
    payload = int(received).to_bytes(4, "big") + bytes(max(0, int(sent) - 4))
    each, ahead = ROUND_TRIPS // streams, GAMES // streams

    async def stream(channel):
        call = channel.stream_stream("/bench.Echo/Echo")()
        for _ in range(ahead):
            await call.write(payload)
        for _ in range(each - ahead):
            await call.read()
            await call.write(payload)
        for _ in range(ahead):
            await call.read()
        await call.done_writing()

    async with contextlib.AsyncExitStack() as stack:
        channels = [
            await stack.enter_async_context(channel_to(f"127.0.0.1:{port}")) for _ in range(BOTS)
        ]
        start, used, own = time.perf_counter(), cpu(process), time.process_time()
        await asyncio.gather(*(stream(channels[n % BOTS]) for n in range(streams)))
        count = each * streams
        return {
            "rate": count / (time.perf_counter() - start),
            "cpu": (cpu(process) - used) / count * 1e6,
            "client cpu": (time.process_time() - own) / count * 1e6,
        }


async def measure_latency(arena):
    """Milliseconds from an answer to the next decision, one game alone."""
    times, bot = [], BenchBot(arena, "local/bench-alone")
    sent_at = None

    async with channel_to(arena.address) as channel:
        answer = bot._answer

        def timed(decision):
            nonlocal sent_at
            if sent_at is not None:
                times.append((time.perf_counter() - sent_at) * 1000)
            sent_at = time.perf_counter()
            return answer(decision)

        bot._answer = timed
        run = asyncio.create_task(bot.run(channel, 1))
        await bot.is_ready(run)
        stub = game_service_pb2_grpc.GameServiceStub(channel)
        await new_game(arena, stub, [bot.name, bot.name])
        await run
    times.sort()
    return {"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}


async def measure_idle_bots(arena):
    """Kilobytes of server memory for each connected bot that does nothing."""
    async with contextlib.AsyncExitStack() as stack:
        bots, found = [], []
        for more in (WARM_UP_BOTS, IDLE_BOTS):
            for n in range(more):
                channel = await stack.enter_async_context(
                    channel_to(arena.address, ("grpc.use_local_subchannel_pool", 1))
                )
                bot = BenchBot(arena, f"local/idle-{more}-{n}")
                bots.append((bot, asyncio.create_task(bot.run(channel, -1))))
            for bot, task in bots:
                await bot.is_ready(task)
            found.append(arena.memory())
        for bot, task in bots:
            await bot.call.done_writing()
            await task
    return (found[1] - found[0]) / IDLE_BOTS


@contextlib.contextmanager
def open_arena():
    """Run an arena for a `with` block."""
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        opened = BenchArena(Path(folder) / "data")
        try:
            yield opened
        finally:
            opened.stop()


def run_echo(found, streams=GAMES):
    """Start an echo server and measure it with messages of the sizes found."""
    echo = subprocess.Popen(
        [sys.executable, "-m", "tests.programs.bench.echo"], stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(echo.stdout.readline())
        return asyncio.run(
            measure_echoes(echo.pid, port, found["sent"], found["received"], streams)
        )
    finally:
        echo.kill()
        echo.wait()


def mean(found):
    """The mean of each figure over the rounds."""
    return {name: sum(each[name] for each in found) / len(found) for name in found[0]}


def compare(*, batched, streams):
    """Measure the arena and an echo with so many streams in turn; returns the means of both."""
    rounds, echoed = [], []
    for _ in range(ROUNDS):
        with open_arena() as opened:
            rounds.append(asyncio.run(measure_games(opened, batched=batched)))
        echoed.append(run_echo(rounds[-1], streams))
    return mean(rounds), mean(echoed)


def measure():
    """All figures of the server, as a dictionary."""
    found, bare = compare(batched=True, streams=GAMES)
    single, alike = compare(batched=False, streams=BOTS)
    with open_arena() as opened:
        alone = asyncio.run(measure_latency(opened))
        per_bot = asyncio.run(measure_idle_bots(opened))
    return {
        "durable decisions/s": found["rate"],
        "bare echo/s": bare["rate"],
        "ratio to the echo": found["rate"] / bare["rate"],
        "decisions/s without batched messages": single["rate"],
        "bare echo/s on as many streams": alike["rate"],
        "ratio without batched messages": single["rate"] / alike["rate"],
        "processor time of a decision, µs": found["cpu"],
        "processor time of a decision in Redis, µs": found["redis cpu"],
        "processor time of a decision in the bots, µs": found["client cpu"],
        "processor time of an echo, µs": bare["cpu"],
        "processor time of an echo in its client, µs": bare["client cpu"],
        "decisions measured": found["decisions"],
        "bytes to the server per decision": found["sent"],
        "bytes to the client per decision": found["received"],
        "latency of a decision, p50 ms": alone["p50"],
        "latency of a decision, p99 ms": alone["p99"],
        "server memory per idle bot, kB": per_bot,
        "Redis memory per live game, kB": found["redis"] / 1024,
    }
