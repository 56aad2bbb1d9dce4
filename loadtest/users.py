"""Locust's users: real bots that play through the SDK's blocking client, and who watches them."""

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

from loadtest.measuring import GAME, Measure

WAIT_SECONDS: Final = 20.0
"""How long a decision is waited for in one call."""

REST_SECONDS: Final = 1.0
"""How long a user rests who found nothing to do, or was refused."""

MOST_SIGHTS: Final = 60
"""Moments of a game that a spectator looks at before turning to another one."""

_Answer = TypeVar("_Answer")


class LoadBot(RandomBot):
    """Plays at random, thinks for a while before each answer, and says when a game is over."""

    def __init__(self, think: float, over: Callable[[End], None] | None = None) -> None:
        super().__init__()
        self._think = think
        self._over = over

    def choose(self, game: Game, legal: list[int]) -> int:
        if self._think:
            time.sleep(random.uniform(0, 2 * self._think))  # noqa: S311 - no secret
        return super().choose(game, legal)

    def on_end(self, end: End) -> None:
        if self._over is not None:
            self._over(end)


class Visitor(User):
    """What all users share: where the arena is, what is played, and who measures."""

    abstract = True
    measure: Measure
    """Set once for the whole process, by the locustfile."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        wanted: Any = environment.parsed_options
        self.target = connection.find_target(wanted.host)
        self.ruleset: str = wanted.ruleset
        self.think: float = wanted.think
        counts = rules.ruleset(self.ruleset).seat_counts
        self.seats = 2 if 2 in counts else counts[0]
        self._prepared = False

    @task
    def visit(self) -> None:
        """Do what this user does once; a refusal has been counted where it came in."""
        try:
            if not self._prepared:
                self.prepare()
                self._prepared = True
            self.act()
        except HimejiError:
            gevent.sleep(REST_SECONDS)

    def on_stop(self) -> None:
        if self._prepared:
            self.leave()

    def prepare(self) -> None:
        """What this user does once, before anything else."""

    def act(self) -> None:
        """What this user does again and again."""
        raise NotImplementedError

    def leave(self) -> None:
        """What this user does at last."""

    def finished(self, name: str, since: float, end: End | None) -> None:
        """Count a game; one that did not come to its end by the rules is a failure."""
        reason = "unfinished" if end is None else end.reason
        if reason == "finished":
            self.measure.done(GAME, name, since)
        else:
            self.measure.failed(GAME, name, since, reason)


class StreamPlayer(Visitor):
    """A table of bots, each with a connection and a stream of its own that stay open."""

    def prepare(self) -> None:
        self._client = Client(self.target)
        owner = self._client.who_am_i().owner
        self._names = [f"{owner}/{fresh_name()}" for _ in range(self.seats)]
        self._ends: list[End] = []
        self._over = Event()
        self._runs = [gevent.spawn(self._run, name) for name in self._names]

    def leave(self) -> None:
        gevent.killall(self._runs, timeout=WAIT_SECONDS)
        self._client.close()

    def _run(self, name: str) -> None:
        run(LoadBot(self.think, self._ended), self.target, name=name)

    def _ended(self, end: End) -> None:
        self._ends.append(end)
        self._over.set()

    def act(self) -> None:
        self._ends.clear()
        since = time.perf_counter()
        game = self._client.create_game(self.ruleset, seats=self.seats)
        for seat, name in enumerate(self._names):
            self._client.join(game, seat=seat, bot=name)
        while len(self._ends) < self.seats:
            self._over.clear()
            gone = gevent.wait([self._over, *self._runs], count=1)
            for each in gone:
                if each is not self._over:
                    each.get()  # raises what ended a bot's run
        self.finished("stream", since, self._ends[0])


class UnaryPlayer(Visitor):
    """A table of bots that hold the loop themselves, by single calls."""

    def prepare(self) -> None:
        self._clients = [Client(self.target) for _ in range(self.seats)]
        owner = self._clients[0].who_am_i().owner
        self._names = [f"{owner}/{fresh_name()}" for _ in range(self.seats)]

    def leave(self) -> None:
        for client in self._clients:
            client.close()

    def act(self) -> None:
        since = time.perf_counter()
        game = self._clients[0].create_game(self.ruleset, seats=self.seats)
        hands = [
            client.join(game, seat=seat, bot=self._names[seat])
            for seat, client in enumerate(self._clients)
        ]
        plays = [gevent.spawn(self._play, hand) for hand in hands]
        try:
            gevent.joinall(plays, raise_error=True)
        finally:
            gevent.killall(plays)
        self.finished("unary", since, hands[0].end)

    def _play(self, hand: OnlineGame) -> None:
        bot = LoadBot(self.think)
        while hand.end is None:
            asked = hand.decision(wait=WAIT_SECONDS)
            if asked is not None:
                hand.submit(bot.choose(asked.game, asked.legal))


class Spectator(Visitor):
    """Looks for games that are played and watches one for a while."""

    def prepare(self) -> None:
        self._client = Client(self.target)

    def leave(self) -> None:
        self._client.close()

    def act(self) -> None:
        games = self._client.games()
        if not games:
            gevent.sleep(REST_SECONDS)
            return
        seen = random.choice(games).watch()  # noqa: S311 - no secret
        for _, sight in zip(range(MOST_SIGHTS), seen, strict=False):
            if sight.end is not None:
                break
        seen.close()  # type: ignore[attr-defined]


class Newcomer(Visitor):
    """Registers, makes a bot, and plays a first game with it on all seats."""

    def act(self) -> None:
        secret, bot = register(self.target)
        since = time.perf_counter()
        with Client(self.target, secret) as client:
            client.who_am_i()
            game = client.create_game(self.ruleset, seats=self.seats)
            for seat in range(self.seats):
                client.join(game, seat=seat, bot=bot)
            ends = run(LoadBot(self.think), self.target, secret, name=bot, games=1)
        self.finished("newcomer", since, ends[0] if ends else None)


class LadderBot(Visitor):
    """A registered bot that enters a ladder, plays whom it is paired with, and reads the table."""

    def prepare(self) -> None:
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
        self.finished("ladder", since, ends[0] if ends else None)
        with LadderClient(self.target) as ladders:
            ladders.call("GetStandings", ladder=self._ladder)


KINDS: Final[dict[str, type[Visitor]]] = {
    "stream": StreamPlayer,
    "unary": UnaryPlayer,
    "spectator": Spectator,
    "ladder": LadderBot,
    "newcomer": Newcomer,
}
"""The users by the names that `--weights` has."""


def fresh_name() -> str:
    """A name that nothing has yet."""
    return f"load-{uuid.uuid4().hex[:12]}"


def register(target: str) -> tuple[str, str]:
    """Register an owner with a bot, as a stranger; the secret, and the bot's name."""
    owner = fresh_name()
    with connection.channel(target) as channel:
        stub = AccountServiceStub(channel)
        new = CreateOwnerRequest(request_id=str(uuid.uuid4()), owner=owner)
        secret = _answered(lambda: stub.CreateOwner(new, timeout=WAIT_SECONDS)).secret
        bot = CreateBotRequest(request_id=str(uuid.uuid4()), bot=f"{owner}/bot")
        shown = connection.credentials(secret)
        _answered(lambda: stub.CreateBot(bot, metadata=shown, timeout=WAIT_SECONDS))
    return secret, bot.bot


def _answered(call: Callable[[], _Answer]) -> _Answer:
    """Make a call; raises what the arena refuses."""
    try:
        return call()
    except grpc.RpcError as error:
        raise from_rpc_error(error) from None
