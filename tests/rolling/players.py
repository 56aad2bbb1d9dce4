"""Bots behind a balancer, by streams and by calls, and what they count about it."""

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

RULESET = "duel"
THINK_SECONDS = 0.02
REST_SECONDS = 0.5
MOST_SECONDS = 120.0
"""After so long a game that does not go on counts as failed."""


class Tally:
    """What happened in one phase."""

    def __init__(self):
        self.counts = Counter()
        self.failures = []
        self._lock = threading.Lock()

    def count(self, what):
        with self._lock:
            self.counts[what] += 1

    def failed(self, what, why):
        with self._lock:
            self.counts["failed"] += 1
            self.failures.append(f"{what}: {why}")


class Wire(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Counts every call that goes out, and each that has to be made again."""

    def __init__(self):
        self.tally = Tally()

    def intercept_unary_unary(self, continuation, details, request):
        call = continuation(details, request)
        self.tally.count("calls" if call.exception() is None else "tried again")
        return call

    def intercept_stream_stream(self, continuation, details, requests):
        self.tally.count("streams")
        return self._read(continuation(details, requests))

    def _read(self, call):
        for message in call:
            if message.HasField("accepted"):
                self.tally.count("answers")
            yield message


WIRE = Wire()
connection.intercept(WIRE)
# Bots are processes of their own, each with a connection; here they are threads of one.
connection._OPTIONS.append(("grpc.use_local_subchannel_pool", 1))
logging.getLogger("himeji_sdk").setLevel(logging.ERROR)  # streams that break are counted


class ThinkingBot(RandomBot):
    """Plays at random, not quite at once, and says when a game is over."""

    def __init__(self, over=lambda _end: None):
        super().__init__()
        self.on_end = over

    def choose(self, game, legal):
        time.sleep(THINK_SECONDS)
        return super().choose(game, legal)


class Players:
    """Tables of bots that play one game after the other until they are told to stop."""

    def __init__(self, site, *, stream_tables, unary_tables, patience):
        self._target, self._token, self._patience = site.target, site.token, patience
        self._stop = threading.Event()
        WIRE.tally = self.tally = Tally()
        tables = [(self._play_by_streams, number) for number in range(stream_tables)]
        tables += [(self._play_by_calls, number) for number in range(unary_tables)]
        self._threads = [threading.Thread(target=play, args=(n,)) for play, n in tables]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for_games(self, more):
        """Wait until so many more games are over, or were given up."""
        goal, until = self._ended() + more, time.monotonic() + MOST_SECONDS
        while self._ended() < goal:
            if time.monotonic() > until:
                self.tally.failed("games", f"fewer than {more} in {MOST_SECONDS} s")
                return
            time.sleep(0.05)

    def _ended(self):
        return self.tally.counts["games"] + self.tally.counts["failed"]

    def _client(self):
        return Client(self._target, self._token, patience=self._patience)

    def _over(self, end):
        if end is not None and end.reason == "finished":
            self.tally.count("games")
        else:
            self.tally.failed("game", "does not go on" if end is None else end.reason)

    # --- by streams -----------------------------------------------------------------------------

    def _play_by_streams(self, number):
        table = StreamTable(self._target, self._token, number, self.tally)
        with table, self._client() as client:
            while not self._stop.is_set():
                try:
                    self._over(table.play(client))
                except HimejiError as error:
                    self.tally.failed("stream table", error)

    # --- by calls -------------------------------------------------------------------------------

    def _play_by_calls(self, number):
        names = [f"local/calls-{number}-{seat}" for seat in range(2)]
        with self._client() as one, self._client() as other:
            while not self._stop.is_set():
                try:
                    self._game((one, other), names)
                except HimejiError as error:
                    self.tally.failed("call", f"{error.reason} {error}")
                    # A dead connection is one thing that failed, not one for every turn of a loop.
                    self._stop.wait(REST_SECONDS)

    def _game(self, clients, names):
        game = clients[0].create_game(RULESET, seats=2)
        hands = [
            client.join(game.game_id, seat=seat, bot=names[seat])
            for seat, client in enumerate(clients)
        ]
        bot, until = ThinkingBot(), time.monotonic() + MOST_SECONDS
        while all(hand.end is None for hand in hands) and time.monotonic() < until:
            for hand in hands:
                asked = hand.decision()
                if asked is not None:
                    hand.submit(bot.choose(asked.game, asked.legal))
        self._over(next((hand.end for hand in hands if hand.end), None))


class StreamTable:
    """Two bots of the SDK's runner, each with a stream that lives as long as it can."""

    def __init__(self, target, token, number, tally):
        self._names = [f"local/stream-{number}-{seat}" for seat in range(2)]
        self._tally = tally
        self._ends = []
        self._over = threading.Semaphore(0)
        self._runners = [self._runner(target, token, name) for name in self._names]
        self._threads = [threading.Thread(target=self._run, args=(r,)) for r in self._runners]

    def _runner(self, target, token, name):
        options = RunOptions(
            name=name,
            games=None,
            invitations=False,
            patience=MOST_SECONDS,
            limit=None,
            resign_on_fault=False,
        )
        return Runner(bot_factory(ThinkingBot(self._ended)), target, token, options)

    def _run(self, runner):
        try:
            runner.run()
        except HimejiError as error:
            self._tally.failed("stream", f"{error.reason} {error}")

    def _ended(self, end):
        self._ends.append(end)
        self._over.release()

    def play(self, client):
        """Play a game; how it ended, None if it does not go on."""
        self._ends.clear()
        game = client.create_game(RULESET, seats=2)
        for seat, name in enumerate(self._names):
            client.join(game, seat=seat, bot=name)
        told = [self._over.acquire(timeout=MOST_SECONDS) for _ in self._names]
        return self._ends[0] if all(told) else None

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for runner in self._runners:
            runner.stop()
        for thread in self._threads:
            thread.join(MOST_SECONDS)
