"""The kinds of Locust users: bots that play through the SDK's blocking client, and spectators."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from typing import Any, Final, TypeVar

import gevent
import grpc
from gevent.event import Event
from himeji import rules
from himeji.rules import Game
from himeji.rules.errors import HimejiError, UnknownLadder
from himeji.v1.account_service_pb2 import (
    CreateBotRequest,
    CreateOwnerRequest,
)
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.wire.errors import from_rpc_error
from himeji_bots.random import RandomBot
from himeji_sdk import Client, End, LadderClient, OnlineGame, connection, run
from locust import User, task
from locust.env import Environment

from loadtest.interceptors import GAME, RequestMetrics

WAIT_SECONDS: Final = 20.0
"""How long one call waits for a decision."""

IDLE_SECONDS: Final = 1.0
"""Pause of a user who found nothing to do, or got an error."""

MAX_SNAPSHOTS: Final = 60
"""Snapshots of a game that a spectator reads before choosing another game."""

_Answer = TypeVar("_Answer")


class LoadBot(RandomBot):
    """Plays at random after a pause, and calls back when a game is over."""

    def __init__(self, think: float, on_end: Callable[[End], None] | None = None) -> None:
        super().__init__()
        self._think = think
        self._on_end = on_end

    def choose(self, game: Game, legal: list[int]) -> int:
        if self._think:
            time.sleep(random.uniform(0, 2 * self._think))  # noqa: S311 - no secret
        return super().choose(game, legal)

    def on_end(self, end: End) -> None:
        if self._on_end is not None:
            self._on_end(end)


class ArenaUser(User):
    """What all kinds of users share: the arena, the ruleset and the metrics."""

    abstract = True
    metrics: RequestMetrics
    """Set by the locustfile, once for the whole process."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        options: Any = environment.parsed_options
        self.target = connection.find_target(options.host)
        self.ruleset: str = options.ruleset
        self.think: float = options.think
        counts = rules.ruleset(self.ruleset).seat_counts
        self.seats = 2 if 2 in counts else counts[0]
        self._is_set_up = False

    @task
    def run_once(self) -> None:
        """Run `act`; the interceptors have counted the error if there was one."""
        try:
            if not self._is_set_up:
                self.set_up()
                self._is_set_up = True
            self.act()
        except HimejiError:
            gevent.sleep(IDLE_SECONDS)

    def on_stop(self) -> None:
        if self._is_set_up:
            self.tear_down()

    def set_up(self) -> None:
        """Runs once, before the first `act`."""

    def act(self) -> None:
        """Runs again and again."""
        raise NotImplementedError

    def tear_down(self) -> None:
        """Runs once, at the end."""

    def count_game(self, name: str, since: float, end: End | None) -> None:
        """Report a game; one that did not end by the rules is a failure."""
        reason = "unfinished" if end is None else end.reason
        if reason == "finished":
            self.metrics.succeeded(GAME, name, since)
        else:
            self.metrics.failed(GAME, name, since, reason)


class StreamPlayer(ArenaUser):
    """A bot for each seat, each with a connection and a stream that stay open."""

    def set_up(self) -> None:
        self._client = Client(self.target)
        owner = self._client.who_am_i().owner
        self._names = [f"{owner}/{unique_name()}" for _ in range(self.seats)]
        self._ends: list[End] = []
        self._game_over = Event()
        self._runs = [gevent.spawn(self._run, name) for name in self._names]

    def tear_down(self) -> None:
        gevent.killall(self._runs, timeout=WAIT_SECONDS)
        self._client.close()

    def _run(self, name: str) -> None:
        run(LoadBot(self.think, self._ended), self.target, name=name)

    def _ended(self, end: End) -> None:
        self._ends.append(end)
        self._game_over.set()

    def act(self) -> None:
        self._ends.clear()
        since = time.perf_counter()
        game = self._client.create_game(self.ruleset, seats=self.seats)
        for seat, name in enumerate(self._names):
            self._client.join(game, seat=seat, bot=name)
        while len(self._ends) < self.seats:
            self._game_over.clear()
            done = gevent.wait([self._game_over, *self._runs], count=1)
            for each in done:
                if each is not self._game_over:
                    each.get()  # raises the error that ended a bot
        self.count_game("stream", since, self._ends[0])


class UnaryPlayer(ArenaUser):
    """A bot for each seat that plays by unary calls."""

    def set_up(self) -> None:
        self._clients = [Client(self.target) for _ in range(self.seats)]
        owner = self._clients[0].who_am_i().owner
        self._names = [f"{owner}/{unique_name()}" for _ in range(self.seats)]

    def tear_down(self) -> None:
        for client in self._clients:
            client.close()

    def act(self) -> None:
        since = time.perf_counter()
        game = self._clients[0].create_game(self.ruleset, seats=self.seats)
        seats = [
            client.join(game, seat=seat, bot=self._names[seat])
            for seat, client in enumerate(self._clients)
        ]
        plays = [gevent.spawn(self._play, seat) for seat in seats]
        try:
            gevent.joinall(plays, raise_error=True)
        finally:
            gevent.killall(plays)
        self.count_game("unary", since, seats[0].end)

    def _play(self, seat: OnlineGame) -> None:
        bot = LoadBot(self.think)
        while seat.end is None:
            decision = seat.decision(wait=WAIT_SECONDS)
            if decision is not None:
                seat.submit(bot.choose(decision.game, decision.legal))


class Spectator(ArenaUser):
    """Watches a random live game for a while."""

    def set_up(self) -> None:
        self._client = Client(self.target)

    def tear_down(self) -> None:
        self._client.close()

    def act(self) -> None:
        games = self._client.games()
        if not games:
            gevent.sleep(IDLE_SECONDS)
            return
        snapshots = random.choice(games).watch()  # noqa: S311 - no secret
        for _, snapshot in zip(range(MAX_SNAPSHOTS), snapshots, strict=False):
            if snapshot.end is not None:
                break
        snapshots.close()  # type: ignore[attr-defined]


class Newcomer(ArenaUser):
    """Registers an owner and a bot, and plays a first game with the bot on all seats."""

    def act(self) -> None:
        secret, bot = register(self.target)
        since = time.perf_counter()
        with Client(self.target, secret) as client:
            client.who_am_i()
            game = client.create_game(self.ruleset, seats=self.seats)
            for seat in range(self.seats):
                client.join(game, seat=seat, bot=bot)
            ends = run(LoadBot(self.think), self.target, secret, name=bot, games=1)
        self.count_game("newcomer", since, ends[0] if ends else None)


class LadderBot(ArenaUser):
    """A registered bot that enters a ladder, plays one game and reads the standings."""

    def set_up(self) -> None:
        self._secret, self._bot = register(self.target)
        with LadderClient(self.target) as ladders:
            found = [
                each
                for each in ladders.pages("ListLadders", "ladders")
                if each.ruleset == self.ruleset
            ]
        if not found:
            raise UnknownLadder(f"no ladder here plays {self.ruleset}")
        self._ladder = min(found, key=lambda each: (each.seats != self.seats, each.name)).name

    def act(self) -> None:
        since = time.perf_counter()
        bot = LoadBot(self.think)
        ends = run(bot, self.target, self._secret, name=self._bot, ladders=[self._ladder], games=1)
        self.count_game("ladder", since, ends[0] if ends else None)
        with LadderClient(self.target) as ladders:
            ladders.call("GetStandings", ladder=self._ladder)


KINDS: Final[dict[str, type[ArenaUser]]] = {
    "stream": StreamPlayer,
    "unary": UnaryPlayer,
    "spectator": Spectator,
    "ladder": LadderBot,
    "newcomer": Newcomer,
}
"""By the names of the option `--weights`."""


def unique_name() -> str:
    """A name for a new owner or bot."""
    return f"load-{uuid.uuid4().hex[:12]}"


def register(target: str) -> tuple[str, str]:
    """Register an owner with a bot; returns the secret and the bot's name.

    An administrator registers it: strangers may register only a few owners a day.
    """
    owner = unique_name()
    administrator = connection.credentials(connection.find_token())
    with connection.channel(target) as channel:
        stub = AccountServiceStub(channel)
        new = CreateOwnerRequest(request_id=str(uuid.uuid4()), owner=owner)
        secret = _call(
            lambda: stub.CreateOwner(new, metadata=administrator, timeout=WAIT_SECONDS)
        ).secret
        bot = CreateBotRequest(request_id=str(uuid.uuid4()), bot=f"{owner}/bot")
        metadata = connection.credentials(secret)
        _call(lambda: stub.CreateBot(bot, metadata=metadata, timeout=WAIT_SECONDS))
    return secret, bot.bot


def _call(call: Callable[[], _Answer]) -> _Answer:
    """Make a call and raise gRPC errors as those of the SDK."""
    try:
        return call()
    except grpc.RpcError as error:
        raise from_rpc_error(error) from None
