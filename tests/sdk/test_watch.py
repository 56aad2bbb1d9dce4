"""Watching a game in an arena: by the handle, and in the terminal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from himeji.rules.errors import UnknownGame
from himeji_bots.random import RandomBot
from himeji_sdk import Client, run

from tests.sdk.conftest import endpoint_of
from tests.sdk.terminal import Terminal, plain
from tests.sdk.test_client import begin, play_on
from tests.sdk.test_run import HOUSE, TIMEOUT_SECONDS, BackgroundRun, Gate

HIMEJI = str(Path(sys.executable).parent / "himeji")


@pytest.fixture
def options(endpoint):
    return ["--target", endpoint.target, "--token-file", str(endpoint.token_file)]


def test_a_spectator_sees_the_whole_game_and_its_end(endpoint, name):
    (end,) = run(RandomBot(1), endpoint.target, endpoint.token, name=name, against=HOUSE)
    with endpoint.client() as client:
        game = client.game(end.game_id)
        assert (game.ruleset, game.bots) == ("base", (name, "house/random"))
        sights = list(game.watch())
        *_, last = game.replay().moments()
    assert sights[-1].game.to_json() == last.game.to_json()
    assert sights[-1].end.scores == end.scores
    assert [sight.end for sight in sights[:-1]] == [None] * (len(sights) - 1)
    told = [line for sight in sights for line in sight.happened]
    assert any(line.startswith("seat 0: pick pair") for line in told)


def test_a_game_is_watched_while_it_is_played(endpoint, new_name):
    with endpoint.client() as client, endpoint.client() as other:
        one, two = begin(client, new_name)
        sights = client.game(one.game_id).watch()
        before = next(sights)
        asked = one.decision()
        assert before.game.to_json() == asked.game.to_json()
        one.submit(asked.legal[0])
        after = next(sights)
        asked.game.apply(asked.legal[0])
        assert after.game.to_json() == asked.game.to_json()
        assert one.game_id in {game.game_id for game in other.games(most=100)}
        play_on(one, two)
        *_, last = sights
        assert last.end.reason == "finished"
        assert one.game_id not in {game.game_id for game in other.games(most=100)}


def test_a_game_that_never_began_shows_its_end_alone(endpoint, name):
    with endpoint.client() as client:
        mine = client.join(client.create_game(), bot=name)
        mine.cancel()
        (sight,) = mine.watch()
    assert sight.game is None
    assert sight.end.reason == "cancelled"


@pytest.mark.long
def test_watching_goes_on_after_the_arena_was_away(start_arena, tmp_path, name):
    data = str(tmp_path / "data")
    arena = start_arena("--port", "0", "--data", data, "--house", "random").opened()
    endpoint, bot = endpoint_of(arena), Gate()
    running = BackgroundRun(bot, endpoint.target, endpoint.token, name=name, against=HOUSE)
    assert bot.reached.wait(TIMEOUT_SECONDS)
    with Client(endpoint.target, endpoint.token, patience=TIMEOUT_SECONDS) as client:
        (game,) = client.games(bot=name)
        sights = game.watch()
        assert next(sights).game is not None
        arena.process.kill()
        arena.ended()
        port = endpoint.target.rpartition(":")[2]
        start_arena("--port", port, "--data", data, "--house", "random").opened()
        bot.open.set()
        *_, last = sights
    assert last.end.scores == running.ended()[0].scores


def test_the_command_draws_the_game_and_tells_the_end(endpoint, name, options):
    (end,) = run(RandomBot(1), endpoint.target, endpoint.token, name=name, against=HOUSE)
    told = subprocess.run(
        [HIMEJI, "watch", end.game_id, *options], capture_output=True, text=True, check=True
    )
    assert "BRIDGE" in told.stdout
    points = " : ".join(map(str, end.scores))
    assert told.stdout.splitlines()[-1] == f"over: finished, {points}"
    with Terminal([HIMEJI, "watch", end.game_id, *options]) as terminal:
        said, code = terminal.rest()
    assert code == 0
    assert f"over: finished, {points}" in plain(said)
    as_json = subprocess.run(
        [HIMEJI, "watch", end.game_id, *options, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    facts = [json.loads(line) for line in as_json.stdout.splitlines()]
    assert facts[-1]["end"]["scores"] == list(end.scores)
    assert facts[-1]["position"]["ruleset"] == "base"


def test_an_unknown_game_is_one_line(endpoint, options):
    told = subprocess.run(
        [HIMEJI, "watch", "nothing", *options], capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    assert told.stderr == "Error: there is no game nothing\n"
    with endpoint.client() as client, pytest.raises(UnknownGame):
        client.game("nothing")


def test_where_nothing_is_played_there_is_nothing_to_watch(start_arena, tmp_path):
    endpoint = endpoint_of(start_arena("--port", "0", "--data", str(tmp_path / "data")).opened())
    told = subprocess.run(
        [HIMEJI, "watch", "--target", endpoint.target, "--token-file", str(endpoint.token_file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr.startswith("Error: no game is being played")
