"""House bots: processes that come and go with the arena, and play with whoever invites them."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from himeji.rules.errors import StoreUnavailable
from himeji_sdk import Client
from himeji_server.launch import house_bots
from himeji_server.launch.house_bots import HouseBot
from himeji_server.launch.supervisor import RestartPolicy
from himeji_server.startup_errors import StartRefusedError
from structlog.testing import capture_logs

from tests.server.process_tree import children_of, words_of

PATIENCE = 120.0


def house_pids(arena):
    """The house bots of an arena: its children that run the SDK."""
    return [pid for pid in children_of(arena.process.pid) if "himeji_sdk" in words_of(pid)]


@pytest.fixture
def open_house(start_arena, wait_until, tmp_path):
    """Open an arena with a house bot; the arena, and the bot's process."""

    def start(*options, port="0", env=None):
        data = str(tmp_path / "data")
        arena = start_arena("--port", port, "--data", data, *options, env=env).opened()
        wait_until(lambda: house_pids(arena), "the house bot runs")
        return arena, house_pids(arena)[0]

    return start


def client_of(arena):
    return Client(arena.address, Path(arena.facts["token"]).read_text().strip(), patience=PATIENCE)


def is_there(client):
    """The house bot plays: it has its stream, and was not taken from it."""
    game = client.create_game(seats=["local/me", "house/random"])
    return play_to_the_end(client.join(game, bot="local/me")).reason == "finished"


def play_to_the_end(mine):
    while (asked := mine.decision(wait=PATIENCE)) is not None:
        mine.submit(asked.legal[0])
    assert mine.end is not None, "nobody plays"
    return mine.end


@pytest.mark.long
def test_in_development_mode_the_standard_bots_wait_for_invitations(open_house):
    arena, _ = open_house(env={"HIMEJI_HOUSE": ""})
    assert arena.facts["house"] == "house/random, house/greedy, house/planner"
    with client_of(arena) as client:
        for bot in house_bots.STANDARD:
            game = client.create_game("duel", seats=["local/me", f"house/{bot}"])
            assert play_to_the_end(client.join(game, bot="local/me")).reason == "finished"
            seats = client.replay(game.game_id).message.game.seats
            assert [seat.house for seat in seats] == [False, True]


def test_a_house_bot_takes_every_seat_that_is_meant_for_it(open_house):
    arena, _ = open_house("--house", "random")
    with client_of(arena) as client:
        game = client.create_game(seats=["house/random", "local/me", "house/random"])
        assert play_to_the_end(client.join(game, bot="local/me")).reason == "finished"


@pytest.mark.long
def test_a_house_bot_that_dies_is_started_again_and_its_games_go_on(open_house, wait_until):
    arena, pid = open_house("--house", "random")
    with client_of(arena) as client:
        game = client.create_game(seats=["local/me", "house/random"])
        mine = client.join(game, bot="local/me")
        mine.submit(mine.decision(wait=PATIENCE).legal[0])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: house_pids(arena) not in ([], [pid]), "another one runs")
        assert play_to_the_end(mine).reason == "finished"
    assert arena.stop() == 0
    assert "house bot is not running" in arena.errors


def test_an_invitation_waits_until_the_house_bot_is_there(open_house, start_arena, tmp_path):
    data = str(tmp_path / "data")
    empty = start_arena("--port", "0", "--data", data, "--house", "none").opened()
    assert "house" not in empty.facts
    with client_of(empty) as client:
        game = client.create_game(seats=["local/me", "house/random"])
        client.join(game, bot="local/me")
    assert empty.stop() == 0
    arena, _ = open_house("--house", "random")
    with client_of(arena) as client:
        assert play_to_the_end(client.game(game.game_id, seat=0)).reason == "finished"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_house_bot_stops_with_its_arena_without_a_word(open_house, is_alive, number):
    arena, pid = open_house("--house", "random")
    with client_of(arena) as client:  # it is really there, not only on its way
        client.join(client.create_game(seats=["", "house/random"]), bot="local/me").decision(
            PATIENCE
        )
    assert arena.stop(number) == 0
    assert not is_alive(pid)
    assert "house bot" not in arena.errors
    assert "Traceback" not in arena.errors


def test_a_killed_arena_leaves_no_house_bot(open_house, is_alive, wait_until):
    arena, pid = open_house("--house", "random")
    arena.process.kill()
    wait_until(lambda: not is_alive(pid), "the house bot is gone")


@pytest.mark.long
def test_of_two_arenas_on_one_redis_one_keeps_a_house_bot_until_it_is_gone(
    start_redis, start_arena, wait_until, tmp_path
):
    redis = start_redis("--appendonly", "yes")
    options = ("--port", "0", "--redis", redis.url, "--house", "random")
    arenas = [start_arena(*options, "--data", str(tmp_path / name)).opened() for name in "ab"]
    wait_until(lambda: any(map(house_pids, arenas)), "the house bot runs")
    keeper, other = sorted(arenas, key=house_pids, reverse=True)
    wait_until(lambda: "another arena runs it" in other.errors, "the other arena waits")
    with client_of(other) as client:
        assert is_there(client)
        assert house_pids(other) == []
        assert len(house_pids(keeper)) == 1
        keeper.process.kill()
        wait_until(lambda: house_pids(other), "the other arena has taken over")
        assert is_there(client)
        assert len(house_pids(other)) == 1
    assert other.stop() == 0
    said = keeper.errors + other.errors
    assert "house bot says" not in said, "a stream was taken over"
    assert said.count("another arena runs it") == 1


def test_what_a_house_bot_prints_is_in_the_log(open_house, wait_until, tmp_path):
    package = tmp_path / "talks-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: talks\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[himeji.bots]\ntalks = talks:choose\n")
    (tmp_path / "talks.py").write_text(
        "import sys\nsys.stdout.buffer.write(b'hello \\xff\\n')\n"
        "def choose(game, legal):\n    return legal[0]\n"
    )
    arena, _ = open_house("--house", "talks", env={"PYTHONPATH": str(tmp_path)})
    wait_until(lambda: "hello \N{REPLACEMENT CHARACTER}" in arena.errors, "the bot is heard")


def test_the_token_of_a_house_bot_is_not_on_its_command_line(open_house):
    _, pid = open_house("--house", "random")
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    environment = Path(f"/proc/{pid}/environ")
    token = dict(each.split(b"=", 1) for each in environment.read_bytes().split(b"\0") if each)[
        b"HIMEJI_TOKEN"
    ]
    assert token.startswith(b"himeji_house")
    assert token not in command
    assert environment.stat().st_mode & 0o077 == 0, "only this user can read it"


def test_a_ranked_arena_has_no_house_bots_unless_asked(start_arena, tmp_path):
    arena = start_arena(
        "--port", "0", "--data", str(tmp_path), "--ranked", env={"HIMEJI_HOUSE": ""}
    ).opened()
    assert house_pids(arena) == []
    assert house_bots.parse_house_bots(None, dev=False) == ()


def test_an_unknown_house_bot_is_refused_in_one_sentence(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--house", "random,nobody")
    assert arena.ended() == 1
    assert arena.errors.startswith("Error: there is no bot 'nobody' for the house (there are: ")
    assert arena.errors.count("\n") == 1


def test_the_setting_is_a_list_or_none():
    assert house_bots.parse_house_bots(None, dev=True) == ("random", "greedy", "planner")
    assert house_bots.parse_house_bots("none", dev=True) == ()
    assert house_bots.parse_house_bots(" random , random,", dev=True) == ("random",)
    with pytest.raises(StartRefusedError, match="there is no bot 'x'"):
        house_bots.parse_house_bots("x", dev=True)


class FakeLeases:
    """Leases that this arena has, unless `elsewhere` says that another one has them."""

    def __init__(self):
        self.elsewhere = False
        self.held = set()
        self.missed = asyncio.Event()
        """Set when somebody asked twice in vain: once who kept the bot, once who waits for it."""
        self._misses = 0

    async def acquire(self, name, _holder, _milliseconds):
        if not self.elsewhere:
            self.held.add(name)
            return True
        self._misses += 1
        if self._misses == 2:
            self.missed.set()
        return False

    async def release(self, name, _holder):
        self.held.discard(name)


class ShortLivedBot(HouseBot):
    """A bot that prints a line and ends at once, or that runs `code`."""

    def __init__(self, token, lives, code=""):
        self.leases = FakeLeases()
        accounts = SimpleNamespace(issue_house_token=token)
        super().__init__("a", accounts, self.leases, "127.0.0.1:1")
        self._code = code
        self._left = lives
        self.spawned = []
        self.alive = asyncio.Event()
        self.enough = asyncio.Event()

    def _spawn(self, token):
        self._left -= 1
        if self._left == 0:
            self.enough.set()
        code = f"import sys; print({'a' + token!r}); sys.exit(3)"
        command = [sys.executable, "-I", "-S", "-c", self._code or code]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.spawned.append(process)
        self.alive.set()
        return process


async def logged_in(lives, token):
    """What is logged while a bot that ends at once is started so many times."""
    bot = ShortLivedBot(token, lives)
    with capture_logs() as logged:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            group.create_task(bot.keep_running())
            await bot.enough.wait()
            await bot.stop()
    return logged


async def test_a_bot_whose_lease_another_arena_got_is_ended_and_waits(monkeypatch):
    monkeypatch.setattr(house_bots, "LEASE_POLL_SECONDS", 0.01)

    async def token(_bot, _description):
        return SimpleNamespace(secret="-s")

    bot = ShortLivedBot(token, 2, "import time; time.sleep(600)")
    with capture_logs() as logged:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            group.create_task(bot.keep_running())
            await bot.alive.wait()
            bot.leases.elsewhere = True
            await bot.leases.missed.wait()
            assert [process.poll() for process in bot.spawned] == [-signal.SIGTERM]
            bot.leases.elsewhere = False
            await bot.enough.wait()
            assert bot.leases.held == {"house/a"}
            await bot.stop()
    assert bot.leases.held == set(), "the next arena need not wait"
    assert [each["event"] for each in logged] == [
        "house bot is not running",
        "house bot waits",
        "house bot runs again",
    ]


async def test_a_bot_that_ends_at_once_is_restarted_ever_more_slowly_and_its_output_logged(
    monkeypatch,
):
    monkeypatch.setattr(house_bots, "RESTARTS", RestartPolicy(first_delay=0.01))

    async def token(_bot, _description):
        return SimpleNamespace(secret="-s")

    logged = await logged_in(5, token)
    waits = [each["wait_s"] for each in logged if each["event"] == "house bot is not running"]
    assert waits == [0.01, 0.02, 0.04, 0.08]
    said = {(each["bot"], each["line"]) for each in logged if each["event"] == "house bot says"}
    assert said == {("house/a", "a-s")}


async def test_a_store_that_is_away_is_waited_for(monkeypatch):
    monkeypatch.setattr(house_bots, "RESTARTS", RestartPolicy(first_delay=0.01))
    tries = []

    async def token(_bot, _description):
        tries.append(1)
        if len(tries) < 3:
            raise StoreUnavailable("the store does not answer")
        return SimpleNamespace(secret="-s")

    logged = await logged_in(1, token)
    reasons = [each["why"] for each in logged if each["event"] == "house bot is not running"]
    assert reasons == ["the store does not answer"] * 2
