"""Bots are removed from their queues by calls while server processes are killed: none hangs.

In each round some bots wait in a queue, each is removed by a LeaveLadder that is repeated until it
is answered, and meanwhile a server process is killed, or all of them: in two of three rounds as
soon as the first bot is out, before its stream can be told, else at a random moment. The run of
each bot has to end by itself.
"""

import contextlib
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import grpc
from himeji.rules.errors import HimejiError
from himeji.v1 import ladder_service_pb2 as ladders, ladder_service_pb2_grpc
from himeji_bots.random import RandomBot
from himeji_sdk import run
from himeji_sdk.connection import credentials, proxy_options
from himeji_server.store import keys

from loadtest.arena import POLL_SECONDS
from tests.programs.ladder_chaos.scenario import LADDER, TIMEOUT
from tests.server.process_tree import workers_of
from tests.server.redis_client import raw_client

BOTS = 8
"""Bots of one owner, which a ladder never pairs: nothing but the leave ends their runs."""

LATEST_KILL_SECONDS = 0.05
"""A leave takes some milliseconds, so most kills hit within one or just beside it."""


class LeaveRounds:
    """One arena of two server processes, and bots in threads of this process."""

    def __init__(self, supervisor_pid, address, redis_url, token):
        self.violations = []
        self.counts = Counter()
        self._supervisor_pid, self._address, self._token = supervisor_pid, address, token
        # Channels with equal options share a connection, but a leave must come to either process,
        # whichever has the streams.
        self._options = [("grpc.use_local_subchannel_pool", 1), *proxy_options(address)]
        self._redis_url = redis_url
        self._redis = raw_client(redis_url, decode_responses=True)
        self._chance = random.Random(18)
        logging.getLogger("himeji_sdk").setLevel(logging.ERROR)  # every kill is a warning

    def play(self, rounds, say):
        """Play so many rounds; stops at the first one with a violation."""
        for number in range(1, rounds + 1):
            self._round(at_random=number % 3 == 0)
            if self.violations:
                return
            if number % 25 == 0 or number == rounds:
                say(f"{number} of {rounds} rounds: {dict(self.counts)}")

    def _round(self, *, at_random):
        self._wait_for(lambda: len(self._workers()) == 2, "two server processes")
        bots = {f"local/leaver-{number}": self._start(number) for number in range(BOTS)}
        self._wait_for(lambda: self._tickets() == bots.keys(), "all tickets")
        leaving = [threading.Thread(target=self._leave, args=(bot,)) for bot in bots]
        victims = self._victims()
        with contextlib.nullcontext() if at_random else self._killer(victims):
            for thread in leaving:
                thread.start()
            if at_random:
                time.sleep(self._chance.uniform(0, LATEST_KILL_SECONDS))
                for pid in victims:
                    os.kill(pid, signal.SIGKILL)
        self.counts["killed"] += len(victims)
        for thread in (*leaving, *bots.values()):
            thread.join(TIMEOUT)
        hanging = [bot for bot, thread in bots.items() if thread.is_alive()]
        if hanging:
            self.violations.append(f"{', '.join(hanging)} did not stop; queued: {self._tickets()}")
        self.counts["removed"] += len(bots)

    def _start(self, number):
        def play():
            try:
                run(
                    RandomBot(),
                    self._address,
                    self._token,
                    name=f"leaver-{number}",
                    ladders=[LADDER],
                    invitations=False,
                    patience=TIMEOUT,
                )
            except HimejiError as error:
                self.violations.append(f"leaver-{number} failed: {error}")

        thread = threading.Thread(target=play, daemon=True)
        thread.start()
        return thread

    def _leave(self, bot):
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            try:
                with grpc.insecure_channel(self._address, options=self._options) as channel:
                    leave = ladder_service_pb2_grpc.LadderServiceStub(channel).LeaveLadder
                    request = ladders.LeaveLadderRequest(bot=bot)
                    leave(request, metadata=credentials(self._token), timeout=TIMEOUT)
            except grpc.RpcError:
                self.counts["leaves repeated"] += 1
                time.sleep(POLL_SECONDS)
            else:
                return
        self.violations.append(f"{bot} cannot leave")

    def _victims(self):
        """One server process or, in a quarter of the rounds, both."""
        workers = self._workers()
        self._chance.shuffle(workers)
        return workers[: 2 if self._chance.random() < 0.25 else 1]

    @contextlib.contextmanager
    def _killer(self, victims):
        """A process that kills them when the first bot is out; the block ends after that."""
        facts = (self._redis_url, keys.tickets(LADDER), BOTS, *victims)
        command = [sys.executable, "-m", f"{__package__}.kill_at_removal", *map(str, facts)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killer:
            try:
                assert killer.stdout.readline(), "it is ready"
                yield
                killer.wait(TIMEOUT)
            finally:
                killer.kill()

    def _workers(self):
        return list(workers_of(self._supervisor_pid))

    def _tickets(self):
        return set(self._redis.hkeys(keys.tickets(LADDER)))

    def _wait_for(self, holds, what):
        until = time.monotonic() + TIMEOUT
        while not holds():
            if time.monotonic() > until:
                raise TimeoutError(f"waited for {what} in vain")
            time.sleep(POLL_SECONDS)
