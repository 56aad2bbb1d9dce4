"""A small client for tests: it speaks the bare contract, and checks every message it is sent.

It knows nothing of the SDK, so that what the arena does is shown by the contract alone.
"""

import asyncio
import random
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import redis
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from himeji import rules
from himeji.v1 import (
    account_service_pb2_grpc,
    game_service_pb2 as games,
    game_service_pb2_grpc,
    play_service_pb2 as play,
    play_service_pb2_grpc,
)
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Clock, SeatPlan
from himeji.v1.stream_pb2 import StreamEndKind
from himeji.wire.events import from_events
from himeji.wire.positions import to_position
from himeji_server.launch import serve
from himeji_server.settings import Settings
from himeji_server.store import keys, presence

from tests.server.redis_client import raw_client

PATIENCE = 120.0
"""Seconds after which something that should happen did not; generous, for slow machines."""


async def with_timeout(awaitable):
    """What is awaited, unless it takes too long; `wait_for` may swallow a cancellation (3.11)."""
    async with asyncio.timeout(PATIENCE):
        return await awaitable


async def one_message(method, raw, metadata=()):
    """Call a bare method whose requests stream with one message; the call, which goes on.

    The end of what is sent may cross a refusal, and whoever hears of that has the refusal to read.
    """
    call = method(metadata=metadata, timeout=PATIENCE)
    await call.write(raw)
    with suppress(grpc.RpcError, grpc.aio.InternalError, asyncio.InvalidStateError):
        await call.done_writing()
    return call


def reason(name):
    return ErrorReason.Value(f"ERROR_REASON_{name}")


def kind(name):
    return StreamEndKind.Value(f"STREAM_END_KIND_{name}")


def clock(bank_ms, increment_ms=0):
    bank, increment = Duration(), Duration()
    bank.FromMilliseconds(bank_ms)
    increment.FromMilliseconds(increment_ms)
    return Clock(bank=bank, increment=increment)


class Follower:
    """A mirror of one game, kept by the events of its messages alone."""

    def __init__(self, game):
        self.game = game
        options = {option.name: option.value for option in game.options}
        self.ruleset = rules.ruleset(game.ruleset)
        self.mirror = rules.Mirror(game.ruleset, len(game.seats), options)
        self.count = 0

    def take(self, message):
        """Feed the mirror with the events of a Decision, GameOver or GameUpdate."""
        assert message.first_event == self.count, "events are missing, or came twice"
        self.mirror.feed(from_events(self.ruleset, message.events))
        self.count += len(message.events)

    def check(self, decision):
        """A decision is what the mirror itself would ask."""
        mirror = self.mirror.game
        assert mirror.to_move == decision.seat
        assert list(decision.legal_actions) == sorted(mirror.legal())
        if decision.HasField("position"):
            assert decision.position == to_position(mirror)


class ArenaClient:
    """A channel to an arena with a token: stubs, and calls that read errors."""

    def __init__(self, address, secret):
        self.channel = grpc.aio.insecure_channel(address)
        self.address = address
        self.metadata = (("authorization", f"Bearer {secret}"),)
        self.games = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.accounts = account_service_pb2_grpc.AccountServiceStub(self.channel)
        self.play = play_service_pb2_grpc.PlayServiceStub(self.channel)

    async def game(self, method, **fields):
        """Call a method of GameService."""
        request = getattr(games, f"{method}Request")(**fields)
        call = getattr(self.games, method)(request, metadata=self.metadata, timeout=PATIENCE)
        return await call

    async def create(self, seats=2, **fields):
        plans = fields.pop("plans", [SeatPlan()] * seats)
        fields = {"ruleset": "base", **fields}
        return (await self.game("CreateGame", seats=plans, **fields)).game

    async def join(self, game_id, *bots):
        for bot in bots:
            joined = await self.game("JoinGame", game_id=game_id, bot=bot)
        return joined.game

    async def new_game(self, *bots, **fields):
        """A game of these bots, which has begun."""
        game = await self.create(len(bots), **fields)
        return await self.join(game.game_id, *bots)

    async def replay(self, game_id):
        return (await self.game("GetReplay", game_id=game_id)).replay

    def watch(self, game_id, **fields):
        request = games.WatchGameRequest(game_id=game_id, **fields)
        return self.games.WatchGame(request, metadata=self.metadata)


@asynccontextmanager
async def connected_client(address, secret):
    opened = ArenaClient(address, secret)
    try:
        yield opened
    finally:
        await opened.channel.close()


def status_of(error):
    """The google.rpc.Status of a failed call."""
    found = status_pb2.Status()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            found.MergeFromString(value)
    return found


def detail(error, message):
    """A detail of a failed call, None without one."""
    for packed in status_of(error).details:
        if packed.Is(message.DESCRIPTOR):
            packed.Unpack(message)
            return message
    return None


def reason_of(error):
    info = detail(error, error_details_pb2.ErrorInfo())
    return info.reason if info is not None else ""


class Stream:
    """One Play stream. Everything that came is kept in `seen`."""

    def __init__(self, client, bot, **hello):
        """`hello`: what Hello says beyond who it is."""
        self.bot = bot
        self.seen = []
        self._aside = []
        self.call = client.play.Play(metadata=client.metadata)
        # A read that is given up would end the whole call, so one task reads for all who wait.
        self._arrived = asyncio.Queue()
        self._reader = asyncio.create_task(self._read())
        self._hello = play.Hello(client="test/1", protocol_version=1, bot=bot, **hello)

    async def open(self):
        await self.send("hello", hello=self._hello)
        return (await self.until("welcome")).welcome

    async def send(self, request_id="", **body):
        message = play.ClientMessage(request_id=request_id, **body)
        await self.call.write(play.PlayRequest(messages=[message]))

    async def act(self, decision, actions, request_id="", *, game_id="", decision_id=None):
        number = decision.decision_id if decision_id is None else decision_id
        act = play.Act(game_id=game_id or decision.game_id, decision_id=number, actions=actions)
        await self.send(request_id, act=act)

    async def _read(self):
        with suppress(grpc.RpcError, asyncio.CancelledError):
            while (batch := await self.call.read()) is not grpc.aio.EOF:
                assert batch.messages
                for message in batch.messages:
                    self._arrived.put_nowait(message)
        self._arrived.put_nowait(None)

    async def next(self):
        """The next message, None at the end of the stream."""
        return self._aside.pop(0) if self._aside else await self._newest()

    async def _newest(self):
        message = await with_timeout(self._arrived.get())
        if message is None:
            self._arrived.put_nowait(None)
        else:
            self.seen.append(message)
        return message

    async def find(self, fits, what):
        """The next message that fits; those before it are put aside for later."""
        for number, message in enumerate(self._aside):
            if fits(message):
                return self._aside.pop(number)
        while True:
            message = await self._newest()
            assert message is not None, f"the stream ended before {what}: {self.seen[-1:]}"
            if fits(message):
                return message
            self._aside.append(message)

    async def until(self, body, where=lambda _: True):
        """The next message with this body."""
        return await self.find(
            lambda m: m.WhichOneof("body") == body and where(getattr(m, body)), body
        )

    async def answer(self, request_id):
        """The answer to a request."""
        return await self.find(lambda m: m.request_id == request_id, f"answer {request_id}")

    async def asked(self):
        """The next decision."""
        return (await self.until("decision")).decision

    async def ended(self):
        """Wait for the end: the last message, which must say why, and the status."""
        while await self.next() is not None:
            pass
        last = self.seen[-1]
        assert last.WhichOneof("body") == "stream_end", last
        assert sum(message.HasField("stream_end") for message in self.seen) == 1
        return last.stream_end, await self.call.code()

    async def goodbye(self):
        await self.call.done_writing()
        return await self.ended()

    async def cut(self):
        """Be gone without a word, as a broken network is."""
        self.call.cancel()
        await self._reader


NEWS = ("welcome", "entered_queue", "left_queue", "ready_noted", "seating_failed", "seat_lost")


class Bot:
    """Plays legal actions at random, over one stream, in any number of games, with mirrors."""

    def __init__(self, stream, seed=0, *, lost=False):
        """A bot whose seat is lost answers nothing, but hears all."""
        self.stream = stream
        self.lost = lost
        self.random = random.Random(f"{stream.bot} {seed}")
        self.followers = {}
        self.accepted = []
        self.over = {}
        self.decisions = 0
        self.unanswered = 0

    async def play(self, count=1):
        """Play until so many games are over and everything that was sent is answered."""
        while len(self.over) < count or self.unanswered:
            message = await self.stream.next()
            assert message is not None, f"the stream ended: {self.stream.seen[-1:]}"
            await self.take(message)
        return self.over

    async def take(self, message):
        body = message.WhichOneof("body")
        if body == "seated":
            self.seated(message.seated.game)
        elif body == "decision":
            await self.decide(message.decision)
        elif body == "accepted":
            self.unanswered -= 1
            self.accepted.append(message.accepted)
            if message.accepted.HasField("next_decision"):
                await self.decide(message.accepted.next_decision)
        elif body == "game_over":
            over = message.game_over
            if over.game_id in self.followers and over.events:
                self.followers[over.game_id].take(over)
            self.over[over.game_id] = over
        else:
            assert body in NEWS, message

    def seated(self, game):
        self.followers.setdefault(game.game_id, Follower(game))

    def learn(self, decision):
        follower = self.followers[decision.game_id]
        follower.take(decision)
        follower.check(decision)
        return follower

    async def decide(self, decision):
        self.decisions += 1
        self.learn(decision)
        if self.lost:
            return
        self.unanswered += 1
        await self.stream.act(decision, [self.random.choice(decision.legal_actions)])


async def play_by_calls(client, game_id, seat, *, wants=(), seed=0):
    """Play a seat by unary calls alone; the GameOver."""
    chooser, follower = random.Random(f"{seat} {seed}"), None
    follower = Follower((await client.game("GetGame", game_id=game_id)).game)
    accepted = []
    while True:
        found = await client.game(
            "GetDecision",
            game_id=game_id,
            seat=seat,
            wait=Duration(seconds=20),
            wants=wants,
            event_count=follower.count,
        )
        following = found
        while following.HasField("decision"):
            decision = following.decision
            if decision.seat != seat:
                break
            follower.take(decision)
            follower.check(decision)
            following = await client.game(
                "SubmitActions",
                game_id=game_id,
                decision_id=decision.decision_id,
                actions=[chooser.choice(decision.legal_actions)],
                wants=wants,
                event_count=follower.count,
            )
            accepted.append(following.accepted)
        if following.HasField("game_over"):
            follower.take(following.game_over)
            return following.game_over, accepted


def local_secret(data):
    return (Path(data) / "token").read_text().strip()


@asynccontextmanager
async def in_process_arena(redis_url, data):
    """An arena in this process, with sockets of its own; a client of it."""
    settings = Settings(port=0, data=Path(data), redis=redis_url)
    async with serve.open_arena(settings) as opened:
        async with connected_client(f"127.0.0.1:{opened.port}", local_secret(data)) as entered:
            yield entered
        await wait_for_no_streams(redis_url)


async def wait_for_no_streams(redis_url):
    """Wait until the arena has seen all its streams end; a store that is gone is not asked."""
    with suppress(redis.ConnectionError), raw_client(redis_url) as client:
        async with asyncio.timeout(PATIENCE):
            while _streams(client):  # noqa: ASYNC110 - nobody rings for it
                await asyncio.sleep(0.02)


def _streams(client):
    """The streams that the store knows of; a retired bot's place is held by none."""
    holders = [client.get(each) for each in client.scan_iter(keys.presence("*"))]
    return [each for each in holders if each not in (None, presence.RETIRED.encode())]
