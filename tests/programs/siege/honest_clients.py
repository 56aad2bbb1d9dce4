"""The honest users of an arena under siege, in a process of their own.

A bot plays several games by stream with the SDK; another plays by unary calls; somebody looks at
the page; newcomers connect, open streams, create games and, where they may, register. Each call is
one line in a file of records (records.py), with when it began, how long it took, and why it failed.
"""

import http.client
import itertools
import json
import random
import signal
import sys
import threading
import time
import uuid

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from himeji.v1 import (
    account_service_pb2 as accounts,
    account_service_pb2_grpc,
    game_service_pb2 as games,
    game_service_pb2_grpc,
    play_service_pb2 as play,
    play_service_pb2_grpc,
)
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy
from himeji_sdk import Bot, run
from himeji_sdk.connection import channel, credentials, proxy_options

from loadtest.interceptors import reason_of
from tests.programs.siege.arena import HONEST_OWNER
from tests.programs.siege.page_requests import event_stream
from tests.programs.siege.records import CONNECT, DECISION, PAGE, REGISTER, Recorder

READY = "ready"
DEADLINE = 10.0
"""Seconds after which an honest call has failed."""

STREAM_GAMES = 3
RULESET = "solo"
"""For one seat, so that the time from an answer to the next decision is the arena's alone."""

THINK_SECONDS = 0.03
WARM_UP_SECONDS = 0.5
"""From the first call to the moment from which calls are measured."""


class Failure(Exception):
    """An answer that came, and is not what it should be."""


class Honest:
    """What all honest clients share: the arena, the token, the records."""

    def __init__(self, facts):
        self.target, self.page = facts["target"], facts["page"].removeprefix("http://")
        self.token = facts["token"]
        self.recorder = Recorder(facts["records"])
        self.channel = channel(self.target)
        self.game = ""
        self.stream_games = threading.Semaphore(STREAM_GAMES)
        """Games that the bot that plays by stream has room for."""

    def call(self, method, **fields):
        """Call a method of GameService or AccountService, and record it."""
        module = games if hasattr(games, f"{method}Request") else accounts
        stubs = {
            games: game_service_pb2_grpc.GameServiceStub,
            accounts: account_service_pb2_grpc.AccountServiceStub,
        }
        stub = getattr(stubs[module](self.channel), method)
        request = getattr(module, f"{method}Request")(**fields)
        with self.recorder.timed(method, describe):
            return stub(request, metadata=credentials(self.token), timeout=DEADLINE)

    def repeat(self, pause, action):
        """Do something again and again, in a thread; what fails is in the records."""

        def loop():
            while True:
                try:
                    action()
                except Exception:  # noqa: BLE001 - it is in the records
                    time.sleep(THINK_SECONDS)
                time.sleep(pause)

        threading.Thread(target=loop, daemon=True).start()


def describe(error):
    """Why an honest call failed, in a few words."""
    if isinstance(error, grpc.RpcError):
        return f"{error.code().name} {reason_of(error)}: {(error.details() or '')[:80]}"
    return f"{type(error).__name__}: {str(error)[:100]}"


def new_game(honest, bot):
    """A game of one seat that a bot of the honest owner plays."""
    seats = [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=bot)]
    created = honest.call("CreateGame", ruleset=RULESET, seats=seats, request_id=str(uuid.uuid4()))
    game = created.game.game_id
    honest.call("JoinGame", game_id=game, bot=bot, request_id=str(uuid.uuid4()))
    return game


class UnaryPlayer:
    """Plays one game after the other by unary calls."""

    def __init__(self, honest):
        self._honest, self._decision = honest, None
        self._random = random.Random(1)

    def play_on(self):
        if self._decision is None:
            self._honest.game = new_game(self._honest, f"{HONEST_OWNER}/player")
            found = self._honest.call("GetDecision", game_id=self._honest.game)
            self._decision = found.decision
        answer = self._honest.call(
            "SubmitActions",
            game_id=self._decision.game_id,
            decision_id=self._decision.decision_id,
            actions=[self._random.choice(self._decision.legal_actions)],
        )
        self._decision = answer.decision if answer.WhichOneof("next") == "decision" else None


class PageVisitor:
    """Looks at the page, each time over a new connection."""

    def __init__(self, honest):
        self._honest = honest
        self._paths = itertools.cycle(["/", "/rulesets", "/games", "/api/arena"])

    def look(self):
        with self._honest.recorder.timed(PAGE, describe):
            connection = http.client.HTTPConnection(self._honest.page, timeout=DEADLINE)
            try:
                connection.request("GET", next(self._paths))
                answer = connection.getresponse()
                answer.read()
                if answer.status != http.HTTPStatus.OK:
                    raise Failure(f"HTTP {answer.status}")
            finally:
                connection.close()

    def follow(self):
        """Open an event stream of a game, and read its first event."""
        with self._honest.recorder.timed("event stream", describe):
            connection = http.client.HTTPConnection(self._honest.page, timeout=DEADLINE)
            try:
                connection.request("GET", event_stream(self._honest.game))
                answer = connection.getresponse()
                if answer.status != http.HTTPStatus.OK:
                    raise Failure(f"HTTP {answer.status}")
                for line in answer:
                    if line.startswith(b"event: pause"):
                        raise Failure("no event stream is left")
                    if line.startswith(b"event:"):
                        break
            finally:
                connection.close()


class Newcomer:
    """Comes over a new connection each time."""

    def __init__(self, honest):
        self._honest = honest

    def _channel(self):
        options = [("grpc.use_local_subchannel_pool", 1), *proxy_options(self._honest.target)]
        return grpc.insecure_channel(self._honest.target, options=options)

    def connect(self):
        with self._honest.recorder.timed(CONNECT, describe), self._channel() as opened:
            stub = health_pb2_grpc.HealthStub(opened)
            stub.Check(health_pb2.HealthCheckRequest(), timeout=DEADLINE)

    def open_stream(self):
        """Say Hello, and leave after the Welcome."""
        hello = play.Hello(protocol_version=1, bot=f"{HONEST_OWNER}/visitor")
        welcomed = threading.Event()

        def requests():
            yield play.PlayRequest(messages=[play.ClientMessage(hello=hello)])
            welcomed.wait(DEADLINE)

        with self._honest.recorder.timed("open stream", describe):
            stub = play_service_pb2_grpc.PlayServiceStub(self._honest.channel)
            metadata = credentials(self._honest.token)
            call = stub.Play(requests(), metadata=metadata, timeout=DEADLINE)
            for response in call:
                if any(message.HasField("welcome") for message in response.messages):
                    welcomed.set()
            if not welcomed.is_set():
                raise Failure("no Welcome")

    def play_once(self):
        """Take a seat in a new game, and give it up."""
        game = new_game(self._honest, f"{HONEST_OWNER}/visitor")
        self._honest.call("Resign", game_id=game)

    def register(self):
        with self._honest.recorder.timed(REGISTER, describe), self._channel() as opened:
            stub = account_service_pb2_grpc.AccountServiceStub(opened)
            request = accounts.CreateOwnerRequest(owner=f"newcomer-{uuid.uuid4().hex[:8]}")
            stub.CreateOwner(request, timeout=DEADLINE)


class StreamPlayer(Bot):
    """Answers at random after some thought; the time to its next question is recorded."""

    honest = None

    def __init__(self):
        self._answered = None
        self._random = random.Random(1)

    def on_start(self, start):
        self._answered = None

    def choose(self, game, legal):
        if self._answered is not None:
            self.honest.recorder.record(DECISION, self._answered)
        time.sleep(THINK_SECONDS)
        self._answered = time.monotonic()
        return self._random.choice(legal)

    def on_end(self, end):
        self.honest.stream_games.release()


def next_stream_game(honest):
    """Invite the bot that plays by stream to a game of its own, as soon as it has room."""
    honest.stream_games.acquire()
    name = f"{HONEST_OWNER}/streamer"
    plan = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=name)
    try:
        honest.call("CreateGame", ruleset=RULESET, seats=[plan], request_id=str(uuid.uuid4()))
    except grpc.RpcError:
        honest.stream_games.release()
        raise


def start_clients(honest):
    """Start everybody but the bot that plays by stream; returns when all have had an answer."""
    visitor, newcomer = PageVisitor(honest), Newcomer(honest)
    player = UnaryPlayer(honest)
    player.play_on()
    for action in (newcomer.connect, newcomer.open_stream, visitor.look, visitor.follow):
        action()
    honest.repeat(THINK_SECONDS, player.play_on)
    honest.repeat(THINK_SECONDS, lambda: honest.call("GetGame", game_id=honest.game))
    honest.repeat(THINK_SECONDS, lambda: honest.call("WhoAmI"))
    honest.repeat(0.05, visitor.look)
    honest.repeat(0.5, visitor.follow)
    honest.repeat(0.25, newcomer.connect)
    honest.repeat(0.5, newcomer.open_stream)
    honest.repeat(0.5, newcomer.play_once)


def main():
    """Read the facts from standard input, and go on until SIGTERM.

    Each further line of the input lets a newcomer register, which the arena allows only now and
    then.
    """
    honest = StreamPlayer.honest = Honest(json.loads(sys.stdin.readline()))
    start_clients(honest)
    newcomer = Newcomer(honest)
    honest.repeat(0.0, lambda: sys.stdin.readline() and newcomer.register())
    honest.repeat(0.0, lambda: next_stream_game(honest))
    threading.Timer(WARM_UP_SECONDS, say, [READY]).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    run(StreamPlayer, honest.target, honest.token, name="streamer", invitations=True)


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
