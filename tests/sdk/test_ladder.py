"""The ladder as a bot author meets it: join, be paired, leave, and read the tables."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji.rules.errors import UnknownLadder
from himeji.v1.account_service_pb2 import CreateBotVersionRequest
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.play_service_pb2 import EnteredQueue, LeftQueue, LeftQueueReason
from himeji_sdk import AdminClient, Bot, LadderClient, _cli as cli, connection, run
from himeji_sdk._online.ladder_queues import LadderQueues

from tests.sdk.conftest import endpoint_of
from tests.sdk.terminal import Terminal, plain

HIMEJI = str(Path(sys.executable).parent / "himeji")
TIMEOUT_SECONDS = 120.0
BOT = """
from himeji_sdk import Bot

class Mine(Bot):
    def choose(self, game, legal):
        return legal[0]
"""


class First(Bot):
    """Takes the first action."""

    def choose(self, game, legal):
        return legal[0]


@pytest.fixture
def arena(start_arena, tmp_path):
    data = str(tmp_path / "data")
    return start_arena("--port", "0", "--data", data, "--house", "random").opened()


@pytest.fixture
def endpoint(arena):
    return endpoint_of(arena)


@pytest.fixture
def himeji(endpoint, tmp_path, monkeypatch):
    """Calls the command line: in this process, for each new one takes a second or more."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("HIMEJI_")}
    env = clean | {"HIMEJI_TARGET": endpoint.target, "HIMEJI_TOKEN_FILE": str(endpoint.token_file)}

    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        done = CliRunner().invoke(cli.main, ["ladder", *words], env=env | {"COLUMNS": "160"})
        assert done.exit_code == code, done.output
        return done.stdout if code == 0 else done.stderr

    def start(*words):
        return subprocess.Popen(
            [HIMEJI, "ladder", *words], env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )

    def in_terminal(*words):
        where = ("--target", endpoint.target, "--token-file", str(endpoint.token_file))
        return Terminal([HIMEJI, "ladder", *words, *where], cwd=tmp_path)

    call.start, call.in_terminal = start, in_terminal
    return call


def rated(endpoint, wait_until, games):
    """Wait until so many games of the local owner's bots are in the table; the table by bot."""
    with LadderClient(endpoint.target, endpoint.token) as client:

        def table():
            return {
                each.bot: each
                for each in client.pages("GetStandings", "standings", ladder="base-2p")
            }

        def counted():
            return sum(row.games for bot, row in table().items() if bot.startswith("local/"))

        wait_until(lambda: counted() >= games, f"{games} games are rated")
        return table()


@pytest.fixture
def standard_arena(start_arena, tmp_path):
    data = str(tmp_path / "data")
    return start_arena("--port", "0", "--data", data, env={"HIMEJI_HOUSE": ""}).opened()


def test_the_standard_house_is_enough_for_a_newcomer_at_a_table_of_four(
    standard_arena, wait_until, tmp_path
):
    endpoint = endpoint_of(standard_arena)
    (tmp_path / "mine.py").write_text(BOT)
    words = ("join", "mine.py", "--ladder", "base-4p", "--target", endpoint.target, "--token-file")
    process = subprocess.Popen([HIMEJI, "ladder", *words, str(endpoint.token_file)], cwd=tmp_path)
    try:
        with LadderClient(endpoint.target, endpoint.token) as client:
            ladder = lambda: client.call("GetLadder", ladder="base-4p").ladder  # noqa: E731
            wait_until(lambda: ladder().playing == 1, "the newcomer is seated")
    finally:
        process.kill()
        process.wait()


def test_a_newcomer_plays_its_first_rated_games_by_one_command(
    himeji, endpoint, wait_until, tmp_path
):
    (tmp_path / "mine.py").write_text(f"{BOT}\nprint('imported')\n")
    ends = json.loads(himeji("join", "mine.py", "--games", "2", "--quiet", "--json"))
    assert [end["reason"] for end in ends] == ["finished", "finished"]
    table = rated(endpoint, wait_until, 2)
    assert table["local/mine"].games == 2
    assert table["house/random"].games >= 2
    shown = himeji("standings")
    assert "local/mine" in shown
    assert "base-2p, season 1" in shown
    (first, second) = json.loads(himeji("history", "local/mine", "--json"))
    assert first["result"]["sequence"] > second["result"]["sequence"]
    assert "house/random" in himeji("history", "local/mine")
    (meeting,) = json.loads(himeji("head-to-head", "local/mine", "house/random", "--json"))
    assert meeting["games"] == 2
    assert "base-2p" in himeji("head-to-head", "local/mine", "house/random")
    assert "every digit agrees" in himeji("recompute")
    (recomputed,) = json.loads(himeji("recompute", "--json"))
    assert (int(recomputed["games"]), recomputed["differences"]) == (2, [])
    with himeji.in_terminal("recompute") as terminal:
        said, code = terminal.rest()
    assert code == 0
    assert "2/2" in plain(said), "its progress"
    assert "2 games recomputed, every digit agrees" in plain(said)
    assert json.loads(himeji("leave", "local/mine", "--json")) == {"left": []}
    assert "season 2 has begun" in himeji("season", "start", "--title", "Winter")
    assert [each["title"] for each in json.loads(himeji("season", "list", "--json"))] == [
        "Winter",
        "",
    ]
    assert "Winter" in himeji("season", "list")
    (third,) = json.loads(himeji("season", "start", "--ladder", "base-3p", "--json"))
    assert third["number"] == 2
    assert json.loads(himeji("standings", "--json")) == []
    assert len(json.loads(himeji("standings", "--season", "1", "--json"))) == 2


def test_ladders_are_listed(himeji):
    listed = json.loads(himeji("list", "--json"))
    assert "base-2p" in [each["name"] for each in listed]
    assert "120+0.5 s" in himeji("list")


def test_leaving_lets_the_running_bot_finish_and_stop(himeji, endpoint, wait_until, tmp_path):
    (tmp_path / "mine.py").write_text(BOT)
    process = himeji.start("join", "mine.py", "--at-once", "2")
    try:
        rated(endpoint, wait_until, 1)
        assert himeji("leave", "local/mine").strip() == "left base-2p"
        assert process.wait(TIMEOUT_SECONDS) == 0
        assert "out of all queues" in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()
    assert himeji("leave", "local/mine").strip() == "it was in no queue"
    with LadderClient(endpoint.target, endpoint.token) as client:
        games = client.pages("GetHistory", "entries", bot="local/mine")
    assert games


def test_the_end_of_a_run_takes_the_bot_out_of_its_queues(himeji, endpoint, wait_until, tmp_path):
    (tmp_path / "mine.py").write_text(BOT)
    process = himeji.start("join", "mine.py")
    try:
        rated(endpoint, wait_until, 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 0
    finally:
        process.kill()
        process.stderr.close()
    with LadderClient(endpoint.target, endpoint.token) as client:
        tickets = client.pages("ListTickets", "tickets", ladder="base-2p")
    assert [each.bot for each in tickets] == ["house/random"]


def test_an_unknown_ladder_is_one_sentence(himeji, endpoint):
    with pytest.raises(UnknownLadder, match="there is no ladder nowhere"):
        run(First(), endpoint.target, endpoint.token, ladders=["nowhere"])
    assert "there is no ladder nowhere" in himeji("standings", "--ladder", "nowhere", code=1)


def test_exactly_as_many_games_are_played_as_were_asked_for(endpoint):
    ends = run(
        First, endpoint.target, endpoint.token, name="many", ladders=["base-2p"], games=3, at_once=2
    )
    assert len(ends) == 3
    with LadderClient(endpoint.target, endpoint.token) as client:
        tickets = client.pages("ListTickets", "tickets", ladder="base-2p")
    assert "local/many" not in [each.bot for each in tickets]


def test_an_administrator_voids_a_game_and_reads_of_it(endpoint, wait_until):
    (end,) = run(First, endpoint.target, endpoint.token, ladders=["base-2p"], games=1)
    assert rated(endpoint, wait_until, 1)["local/first"].games == 1
    with AdminClient(endpoint.target, endpoint.token) as client:
        voided = client.call("VoidGame", game_id=end.game_id, explanation="a test").game
        entries = client.pages("ListAuditEntries", "entries")
        assert client.pages("ListFlags", "flags") == []
    assert voided.game_id == end.game_id
    assert "voided: a test" in [each.message for each in entries]
    assert "local/first" not in rated(endpoint, wait_until, 0)


def test_the_table_is_watched(himeji, endpoint):
    watching = himeji.start("standings", "--watch")
    seen = []
    with LadderClient(endpoint.target, endpoint.token) as client:

        def follow():
            for result in client.results("base-2p"):
                seen.append(result)
                return

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        run(First(), endpoint.target, endpoint.token, ladders=["base-2p"], games=1)
        follower.join(TIMEOUT_SECONDS)
    watching.send_signal(signal.SIGINT)
    watching.wait(TIMEOUT_SECONDS)
    watching.stderr.close()
    assert seen


def test_a_tournament_is_created_played_and_shown(himeji, endpoint, wait_until, tmp_path):
    (tmp_path / "mine.py").write_text(BOT)
    player = himeji.start("join", "mine.py")
    try:
        rated(endpoint, wait_until, 1)
        made = himeji("tournament", "create", "cup", "local/mine", "house/random", "--bank", "60")
        assert made.strip() == "cup has begun: 2 games"
        wait_until(lambda: "over" in himeji("tournament", "list"), "the cup is over")
    finally:
        player.send_signal(signal.SIGINT)
        player.wait(TIMEOUT_SECONDS)
        player.stderr.close()
    (found,) = json.loads(himeji("tournament", "show", "cup", "--json"))
    assert [each["games"] for each in found["entrants"]] == [2, 2]
    assert sum(each["points"] for each in found["entrants"]) == 2
    assert "cup, over, 2 of 2 games" in himeji("tournament", "show", "cup")
    assert himeji("tournament", "cancel", "cup").strip() == "cup is over"
    assert "no tournament nope" in himeji("tournament", "show", "nope", code=1)


@pytest.mark.long
def test_an_older_version_plays_a_tournament(himeji, endpoint, wait_until, tmp_path):
    (tmp_path / "mine.py").write_text(BOT)
    newest = himeji.start("join", "mine.py")
    try:
        rated(endpoint, wait_until, 1)
    finally:
        newest.send_signal(signal.SIGINT)
        newest.wait(TIMEOUT_SECONDS)
        newest.stderr.close()
    with connection.channel(endpoint.target) as channel:
        AccountServiceStub(channel).CreateBotVersion(
            CreateBotVersionRequest(bot="local/mine"),
            metadata=connection.credentials(endpoint.token),
        )
    himeji("tournament", "create", "old", "local/mine@1", "house/random", "--bank", "60")
    himeji("tournament", "create", "new", "local/mine", "house/random", "--bank", "60")
    player = himeji.start("join", "mine.py", "--bot-version", "1")
    try:
        wait_until(lambda: "old  over" in himeji("tournament", "list"), "the old one is over")
    finally:
        player.send_signal(signal.SIGINT)
        player.wait(TIMEOUT_SECONDS)
        player.stderr.close()
    assert "new  playing, 0/2" in himeji("tournament", "list"), "version 2 was never there"
    assert "local/mine v2" in himeji("tournament", "show", "new")
    assert "a number from 1" in himeji("tournament", "create", "x", "a/b@0", "a/c", code=2)


def left(reason, ladder=""):
    return LeftQueue(reason=LeftQueueReason.Value(f"LEFT_QUEUE_REASON_{reason}"), ladder=ladder)


def test_only_what_others_said_takes_a_bot_out_for_good():
    queues = LadderQueues(["a", "b"])
    assert [each.leave.ladder for each in queues.pause()] == [""]
    queues.on_left(left("ASKED"))
    assert len(queues.enter()) == 2, "that was the answer to its own request"
    queues.on_left(left("REMOVED", "a"))
    assert [each.enter.ladder for each in queues.enter()] == ["b"]
    assert not queues.left_all
    queues.pause()
    queues.on_left(left("LADDER_CLOSED", "b"))
    assert queues.left_all, "that is no answer to its own request"
    assert not LadderQueues().left_all


def test_a_bot_says_again_only_what_the_arena_has_heard():
    queues = LadderQueues(["a", "b"])
    assert [each.enter.again for each in queues.enter()] == [False, False]
    queues.on_entered(EnteredQueue(ladder="a"))
    assert [each.enter.again for each in queues.enter()] == [True, False]
    ids = {each.enter.entry_id for each in [*queues.enter(), *queues.enter()]}
    assert len(ids) == 1, "by which the arena knows what it has heard"
    assert ids != {each.enter.entry_id for each in LadderQueues(["a"]).enter()}


def test_a_bot_that_was_removed_while_its_own_leave_is_under_way_stays_out():
    queues = LadderQueues(["a"])
    queues.pause()
    queues.on_left(left("REMOVED", "a"))
    assert queues.left_all
