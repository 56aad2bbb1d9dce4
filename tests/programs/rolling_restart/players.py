"""Bots that play through the balancer, by streams and by unary calls, and count what fails."""

import logging
import threading
import time
from collections import Counter

import grpc
from himeji.rules.errors import HimejiError
from himeji_bots.random import RandomBot
from himeji_sdk import Client, connection
from himeji_sdk._bot import bot_factory
from himeji_sdk._online.run_options import RunOptions
from himeji_sdk._online.runner import Runner

from loadtest.arena import POLL_SECONDS

RULESET = "duel"
THINK_SECONDS = 0.02
PAUSE_SECONDS = 0.5
GAME_TIMEOUT = 120.0
"""Seconds after which an unfinished game counts as failed."""


class Counts:
    """What happened in one phase; several threads count."""

    def __init__(self):
        self.by_name = Counter()
        self.failures = []
        self._lock = threading.Lock()

    def add(self, name):
        with self._lock:
            self.by_name[name] += 1

    def add_failure(self, name, why):
        with self._lock:
            self.by_name["failed"] += 1
            self.failures.append(f"{name}: {why}")


class CountingInterceptor(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Counts every call of this process, and every attempt that failed."""

    def __init__(self):
        self.counts = Counts()

    def intercept_unary_unary(self, continuation, details, request):
        call = continuation(details, request)
        self.counts.add("calls" if call.exception() is None else "retried")
        return call

    def intercept_stream_stream(self, continuation, details, requests):
        self.counts.add("streams")
        return self._read(continuation(details, requests))

    def _read(self, call):
        for batch in call:
            for message in batch.messages:
                if message.HasField("accepted"):
                    self.counts.add("answers")
            yield batch


INTERCEPTOR = CountingInterceptor()
connection.intercept(INTERCEPTOR)
# Bots are usually processes with a connection each; here they are threads of one process.
connection._OPTIONS.append(("grpc.use_local_subchannel_pool", 1))
logging.getLogger("himeji_sdk").setLevel(logging.ERROR)  # broken streams are counted, not logged


class ThinkingBot(RandomBot):
    """Plays at random after a short pause, and calls back when a game is over."""

    def __init__(self, on_end=lambda _end: None):
        super().__init__()
        self.on_end = on_end

    def choose(self, game, legal):
        time.sleep(THINK_SECONDS)
        return super().choose(game, legal)


class Players:
    """Pairs of bots that play one game after the other, for a `with` block."""

    def __init__(self, deployment, *, stream_pairs, unary_pairs, retry_seconds):
        self._target, self._token = deployment.target, deployment.token
        self._retry_seconds = retry_seconds
        self._stop = threading.Event()
        INTERCEPTOR.counts = self.counts = Counts()
        pairs = [(self._play_by_streams, number) for number in range(stream_pairs)]
        pairs += [(self._play_by_calls, number) for number in range(unary_pairs)]
        self._threads = [threading.Thread(target=play, args=(n,)) for play, n in pairs]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_games(self, more):
        """Wait until `more` games have ended or failed."""
        goal, until = self._ended() + more, time.monotonic() + GAME_TIMEOUT
        while self._ended() < goal:
            if time.monotonic() > until:
                self.counts.add_failure("games", f"fewer than {more} in {GAME_TIMEOUT} s")
                return
            time.sleep(POLL_SECONDS)

    def _ended(self):
        return self.counts.by_name["games"] + self.counts.by_name["failed"]

    def _client(self):
        return Client(self._target, self._token, patience=self._retry_seconds)

    def _count_game(self, end):
        if end is not None and end.reason == "finished":
            self.counts.add("games")
        else:
            self.counts.add_failure("game", "did not end in time" if end is None else end.reason)

    # --- by streams -----------------------------------------------------------------------------

    def _play_by_streams(self, number):
        pair = StreamPair(self._target, self._token, number, self.counts)
        with pair, self._client() as client:
            while not self._stop.is_set():
                try:
                    self._count_game(pair.play(client))
                except HimejiError as error:
                    self.counts.add_failure("stream pair", error)

    # --- by calls -------------------------------------------------------------------------------

    def _play_by_calls(self, number):
        names = [f"local/calls-{number}-{seat}" for seat in range(2)]
        with self._client() as one, self._client() as other:
            while not self._stop.is_set():
                try:
                    self._play_game((one, other), names)
                except HimejiError as error:
                    self.counts.add_failure("call", f"{error.reason} {error}")
                    # A dead connection is one failure, not one for every iteration.
                    self._stop.wait(PAUSE_SECONDS)

    def _play_game(self, clients, names):
        game = clients[0].create_game(RULESET, seats=2)
        seats = [
            client.join(game.game_id, seat=seat, bot=names[seat])
            for seat, client in enumerate(clients)
        ]
        bot, until = ThinkingBot(), time.monotonic() + GAME_TIMEOUT
        while all(seat.end is None for seat in seats) and time.monotonic() < until:
            for seat in seats:
                decision = seat.decision()
                if decision is not None:
                    seat.submit(bot.choose(decision.game, decision.legal))
        self._count_game(next((seat.end for seat in seats if seat.end), None))


class StreamPair:
    """Two bots in the SDK's runner, each with a stream that stays open."""

    def __init__(self, target, token, number, counts):
        self._names = [f"local/stream-{number}-{seat}" for seat in range(2)]
        self._counts = counts
        self._ends = []
        self._game_over = threading.Semaphore(0)
        self._runners = [self._runner(target, token, name) for name in self._names]
        self._threads = [threading.Thread(target=self._run, args=(r,)) for r in self._runners]

    def _runner(self, target, token, name):
        options = RunOptions(
            version=0,
            name=name,
            games=None,
            invitations=False,
            invitations_from=(),
            patience=GAME_TIMEOUT,
            limit=None,
            resign_on_fault=False,
        )
        return Runner(bot_factory(ThinkingBot(self._ended)), target, token, options)

    def _run(self, runner):
        try:
            runner.run()
        except HimejiError as error:
            self._counts.add_failure("stream", f"{error.reason} {error}")

    def _ended(self, end):
        self._ends.append(end)
        self._game_over.release()

    def play(self, client):
        """Play a game; returns how it ended, or None after GAME_TIMEOUT."""
        self._ends.clear()
        game = client.create_game(RULESET, seats=2)
        for seat, name in enumerate(self._names):
            client.join(game, seat=seat, bot=name)
        ended = [self._game_over.acquire(timeout=GAME_TIMEOUT) for _ in self._names]
        return self._ends[0] if all(ended) else None

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for runner in self._runners:
            runner.stop()
        for thread in self._threads:
            thread.join(GAME_TIMEOUT)
