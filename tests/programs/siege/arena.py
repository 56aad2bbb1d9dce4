"""The arena under siege, as a process with a folder of its own, and the accounts in it."""

import contextlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import grpc
from himeji.v1 import (
    account_service_pb2 as accounts,
    account_service_pb2_grpc,
    game_service_pb2 as games,
    game_service_pb2_grpc,
)
from himeji.v1.game_pb2 import SeatPlan
from himeji_sdk.connection import credentials, proxy_options
from himeji_server.launch import die_with_parent

from loadtest.arena import ANNOUNCEMENT, Arena, clean_environment, stop_process
from tests.programs.siege.arena_server import ADMIN_TOKEN

CALL_SECONDS = 60.0
HONEST_OWNER, HOSTILE_OWNER = "alice", "mallory"
HONEST_BOTS = ("streamer", "player", "visitor")


@dataclass(frozen=True)
class Besieged:
    """A running arena, and what those who use it need to know."""

    arena: Arena
    log: Path
    admin_token: str
    honest_token: str
    hostile_token: str
    """Good for playing alone, as the worst token that a stranger may get."""

    game: str
    """A game that waits for players as long as the arena runs."""

    def log_bytes(self):
        return self.log.stat().st_size

    def log_lines(self, words):
        """How many lines of the log have these words."""
        return sum(words in line for line in self.log.read_text().splitlines())


@contextlib.contextmanager
def running(folder, limits, *, open_registration=False, hostile_bots=1):
    """Run an arena with the changed limits, and its accounts, for a `with` block."""
    log = folder / "arena.log"
    asked = {"folder": str(folder), "limits": dict(limits), "open": open_registration}
    program = [sys.executable, "-m", f"{__package__}.arena_server", json.dumps(asked)]
    with log.open("w") as errors, (folder / ANNOUNCEMENT).open("w") as announcement:
        # In this session, unlike other arenas: Linux weighs nice values inside a session alone.
        process = subprocess.Popen(
            die_with_parent.command(program),
            stdout=announcement,
            stderr=errors,
            text=True,
            env=clean_environment(),
            process_group=0,
        )
    try:
        arena = Arena(process, folder, log)
        admin_token = (folder / ADMIN_TOKEN).read_text().strip()
        with grpc.insecure_channel(arena.target, proxy_options(arena.target)) as channel:
            honest, hostile = create_accounts(channel, admin_token, hostile_bots)
            game = create_game(channel, honest)
        yield Besieged(arena, log, admin_token, honest, hostile, game)
    finally:
        stop_process(process)


def create_accounts(channel, admin_token, hostile_bots):
    """Create both owners with their bots; the tokens of the honest and of the hostile one."""
    stub = account_service_pb2_grpc.AccountServiceStub(channel)

    def call(method, token, **fields):
        request = getattr(accounts, f"{method}Request")(**fields)
        return getattr(stub, method)(request, metadata=credentials(token), timeout=CALL_SECONDS)

    honest, hostile = (
        call("CreateOwner", admin_token, owner=owner).secret
        for owner in (HONEST_OWNER, HOSTILE_OWNER)
    )
    for bot in HONEST_BOTS:
        call("CreateBot", honest, bot=f"{HONEST_OWNER}/{bot}")
    for number in range(hostile_bots):
        call("CreateBot", hostile, bot=hostile_bot(number))
    scopes = [accounts.SCOPE_PLAY]
    play = call("CreateToken", admin_token, owner=HOSTILE_OWNER, scopes=scopes).secret
    return honest, play


def create_game(channel, token):
    stub = game_service_pb2_grpc.GameServiceStub(channel)
    request = games.CreateGameRequest(ruleset="base", seats=[SeatPlan(), SeatPlan()])
    return stub.CreateGame(request, metadata=credentials(token), timeout=CALL_SECONDS).game.game_id


def hostile_bot(number=0):
    """The full name of a bot of the hostile owner."""
    return f"{HOSTILE_OWNER}/bot-{number}"


@contextlib.contextmanager
def temporary_folder():
    """A folder for an arena; the path of Redis's socket in it must be short."""
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        yield Path(folder)
