"""The arena under fuzz: accounts with every kind of token, and games in every state."""

import base64
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import grpc
from himeji import rules
from himeji.v1 import account_service_pb2 as accounts, game_service_pb2 as games
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_MANAGE, SCOPE_PLAY, SCOPE_READ
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.game_pb2 import SeatPlan
from himeji.v1.game_service_pb2_grpc import GameServiceStub

from loadtest.arena import STOP_TIMEOUT, clean_environment
from tests.programs.wire_fuzz.server import DIGEST
from tests.server.redis_client import raw_client

PLAYERS = 40
CURSORS = (
    *("", "x", "0", "1", "3", "-1", "1e9", "999999999", "9" * 18, "9" * 30, "9" * 300),
    *("1,2", ",".join(["7"] * 13), ",".join(["9" * 11] * 13), ",", "base-2p=3"),
    *(
        "base",
        "local/player-3",
        "house",
        "local/",
        "/",
        "00" * 12,
        "ff" * 40,
        "\ud800",
        "\u0663",
        "\x00",
    ),
    *(None, 7, [], {}),
)
"""What a page token may hold."""

SCOPES = ((SCOPE_READ,), (SCOPE_PLAY,), (SCOPE_MANAGE,), (SCOPE_ADMIN,))
CALL_SECONDS = 60


class Memory(NamedTuple):
    """Resident memory of the server process, and what Redis uses, in bytes."""

    server: int
    redis: int


class FuzzedArena:
    """A running arena and what is known of it."""

    def __init__(self, process, log, facts):
        self.address = f"127.0.0.1:{facts['grpc']}"
        self.token = facts["token"]
        self._process = process
        self._log = log
        self._redis = raw_client(facts["redis"])

    def check(self):
        """Raise if the process has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the arena ended: {self.log[-3000:]}")

    @property
    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    def memory(self):
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        used = self._redis.info("memory")["used_memory"]
        return Memory(pages * os.sysconf("SC_PAGE_SIZE"), used)


@contextlib.contextmanager
def running_arena(*options):
    """An arena, for a `with` block; the options are those of server.py."""
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        log = Path(folder) / "log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.programs.wire_fuzz.server", folder, *options],
                env=clean_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            facts = process.stdout.readline()
            if not facts:
                raise RuntimeError(f"the arena does not start: {log.read_text()[-3000:]}")
            yield FuzzedArena(process, log, json.loads(facts))
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(STOP_TIMEOUT)


class Population(NamedTuple):
    """Tokens of callers, and values that exist by the names of the fields that may carry them."""

    tokens: list[str]
    disposable_tokens: list[str]
    """For calls that end the token that they are made with."""

    players: list[str]
    known: dict[str, list]


def populate(arena):
    """Fill the arena: owners, bots, tokens, games that wait, are played and are over."""
    with grpc.insecure_channel(arena.address) as channel:
        call = _Caller(channel, arena.token)
        players = [f"local/player-{n}" for n in range(PLAYERS)]
        for bot in players:
            call.accounts("CreateBot", bot=bot)
        tokens = ["", "himeji_nonsense", arena.token, arena.token, arena.token, arena.token]
        made = [call.accounts("CreateToken", owner="local", scopes=each) for each in SCOPES]
        tokens += [each.secret for each in made]
        every = [scope for scopes in SCOPES for scope in scopes]
        made = [call.accounts("CreateToken", owner="local", scopes=every) for _ in range(20)]
        disposable = [each.secret for each in made]
        spare = call.accounts("CreateToken", owner="local", scopes=[SCOPE_READ]).token.token_id
        call.accounts("CreateOwner", owner="stranger")
        game_ids = [call.new_game(name, players) for name in sorted(rules.RULESETS) for _ in "abc"]
        game_ids += [call.waiting_game() for _ in range(3)]
        call.games("Resign", game_id=game_ids[0])
    known = {
        "game_id": game_ids,
        "bot": [*players, "local/spare", "stranger/bot", "house/greedy"],
        "name": [*players, "local", "difficulty", "hard"],
        "owner": ["local", "stranger", "house", "admin"],
        "token_id": [spare],
        "ruleset": sorted(rules.RULESETS),
        "ladder": ["base-2p", "base-4p", "duel", "solo-hard"],
        "revision": [each.revision for each in rules.RULESETS.values()],
        "decision_id": [1, 2, 3],
        "actions": list(range(40)),
        "seat": [0, 1, 2, 3],
        "seats": [2, 3],
        "protocol_version": [1],
        "event_count": [0, 5],
        "page_token": [_page_token(each) for each in CURSORS],
    }
    return Population(tokens, disposable, players, known)


def _page_token(cursor):
    return base64.urlsafe_b64encode(json.dumps([DIGEST, cursor]).encode()).decode()


class _Caller:
    """Calls by name."""

    def __init__(self, channel, token):
        self._accounts, self._games = AccountServiceStub(channel), GameServiceStub(channel)
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._random = random.Random(1)

    def accounts(self, method, **fields):
        request = getattr(accounts, f"{method}Request")(**fields)
        stub = getattr(self._accounts, method)
        return stub(request, metadata=self._metadata, timeout=CALL_SECONDS)

    def games(self, method, **fields):
        request = getattr(games, f"{method}Request")(**fields)
        stub = getattr(self._games, method)
        return stub(request, metadata=self._metadata, timeout=CALL_SECONDS)

    def waiting_game(self):
        return self.games("CreateGame", ruleset="base", seats=[SeatPlan()] * 2).game.game_id

    def new_game(self, ruleset, players):
        """A game that has begun."""
        seats = min(rules.ruleset(ruleset).seat_counts)
        made = self.games("CreateGame", ruleset=ruleset, seats=[SeatPlan()] * seats, untimed=True)
        game_id = made.game.game_id
        for bot in self._random.sample(players, seats):
            self.games("JoinGame", game_id=game_id, bot=bot)
        return game_id
