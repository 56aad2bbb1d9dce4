"""`himeji new`, `play` and `show`: a bot's first games, as people and as programs see them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji import rules
from himeji_bots.random import RandomBot
from himeji_sdk import Replay, _cli as cli, play
from himeji_sdk._bot_loader import load_bot
from himeji_sdk._terminal_view import MAX_LINES

from tests.sdk.terminal import CLEARED, Terminal, plain
from tests.sdk.test_verify import Writer

HIMEJI = str(Path(sys.executable).parent / "himeji")
RIGHT, LEFT, HOME, END = "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F"


def himeji(*arguments, **options):
    return CliRunner().invoke(cli.main, arguments, **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own, to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def played():
    return play([RandomBot(1), RandomBot(2)], seed=8)


@pytest.fixture
def file(played, tmp_path):
    path = tmp_path / "game.json"
    played.replay().save(path)
    return str(path)


# --- new ----------------------------------------------------------------------------------------


def test_new_writes_a_bot_that_plays_and_tests_itself(folder):
    told = himeji("new", "my_first")
    assert told.exit_code == 0
    assert told.stdout.startswith("wrote my_first.py: one bot and its test.")
    assert "himeji play my_first greedy --watch" in told.stdout
    bot = load_bot("my_first")
    assert (bot.__name__, bot.name) == ("MyFirst", "my_first")
    tested = subprocess.run(
        [sys.executable, "my_first.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert tested.stdout == "my_first plays whole games with 2, 3 and 4 seats\n"


def test_the_file_is_found_by_pytest(folder):
    himeji("new", "mine")
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mine.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in told.stdout


@pytest.mark.usefixtures("folder")
def test_every_command_that_new_advises_exists():
    lines = himeji("new", "mine").stdout.splitlines()[1:]
    commands = [line.split()[1] for line in lines if line.split()[0] == "himeji"]
    assert set(commands) <= set(cli.main.list_commands(None))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("random", "there is an installed bot 'random' already"),
        ("My-Bot", "is no name for a bot"),
        ("class", "is no name for a bot"),
        ("../x", "is no name for a bot"),
        ("taken", "taken.py exists already"),
    ],
)
def test_new_overwrites_nothing_and_refuses_in_one_line(folder, name, sentence):
    (folder / "taken.py").write_text("precious")
    told = himeji("new", name)
    assert told.exit_code == 1
    assert sentence in told.stderr
    assert told.stderr.count("\n") == 1
    assert [each.read_text() for each in folder.iterdir()] == ["precious"]


# --- play ---------------------------------------------------------------------------------------


def test_play_tells_points_and_ranks():
    told = himeji("play", "random", "random", "--seed", "3")
    assert told.exit_code == 0
    assert told.stdout.count("│ random │") == 2
    assert "the same deal again: --seed 3" in told.stdout
    assert "\x1b" not in told.stdout


def test_play_as_json_is_the_game_and_its_seed_gives_it_again():
    told = himeji("play", "himeji_sdk.template:MyBot", "himeji_sdk.template:MyBot", "--json")
    (facts,) = json.loads(told.stdout)
    assert facts["bots"] == ["mybot", "mybot"]
    game = rules.new_game("base", 2, seed=facts["seed"])
    for action in facts["actions"]:
        game.apply(action)
    assert (game.scores(), game.ranking()) == (facts["scores"], facts["ranking"])
    assert [sum(each.values()) for each in facts["breakdown"]] == facts["scores"]


def test_several_games_count_their_seeds_up_and_are_summed_up():
    as_json = himeji("play", "random", "random", "--seed", "5", "--games", "3", "--json")
    assert [each["seed"] for each in json.loads(as_json.stdout)] == [5, 6, 7]
    told = himeji("play", "random", "random", "--seed", "5", "--games", "3")
    assert "of 3" in told.stdout
    assert "--seed 5 --games 3" in told.stdout


@pytest.mark.usefixtures("folder")
def test_a_saved_game_can_be_verified():
    told = himeji("play", "random", "random", "random", "--save", "g.json")
    assert "himeji show g.json" in told.stdout
    assert himeji("verify", "g.json").stdout.endswith("the replay is true\n")


def test_a_bots_mistake_is_a_report_and_a_failure(folder):
    (folder / "bad.py").write_text("def choose(game, legal):\n    return 3\n")
    told = himeji("play", "bad", "random", "--seed", "1")
    assert told.exit_code == 1
    assert "answered 3, which is not legal" in told.stderr
    assert "Legal were:" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_bot_that_hangs_is_reported_by_the_limit(folder):
    (folder / "stuck.py").write_text("import time\ndef choose(game, legal):\n    time.sleep(600)\n")
    told = subprocess.run(
        [HIMEJI, "play", "stuck", "random", "--limit", "0.3"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert told.returncode == 1
    assert "has not answered for" in told.stderr
    assert "time.sleep(600)" in told.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["random"], 1, "base is played by 2, 3, 4 seats, not 1"),
        (["random", "random", "--ruleset", "bass"], 1, "bass"),
        (["random", "random", "--option", "a=b"], 1, "base has no option 'a'"),
        (["random", "random", "--option", "a"], 2, "NAME=VALUE"),
        (["random", "random", "--games", "2", "--save", "x"], 2, "--save writes one game"),
        ([], 2, "Missing argument"),
    ],
)
def test_what_cannot_be_played_is_said_in_one_sentence(arguments, code, sentence):
    told = himeji("play", *arguments)
    assert told.exit_code == code
    assert sentence in told.stderr


def test_what_bots_print_is_not_mixed_into_json(folder):
    (folder / "talks.py").write_text(
        "import os\nprint('imported')\n"
        "def choose(game, legal):\n    print('hello')\n    os.system('echo beneath')\n"
        "    return legal[0]\n"
    )
    command = [HIMEJI, "play", "talks", "random"]
    told = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)[0]["bots"][1] == "random"
    assert told.stderr.startswith("imported\nhello\nbeneath\n")
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("imported\nhello\nbeneath\n")


def test_what_a_bot_printed_is_there_before_the_game_is_over(folder):
    (folder / "talks.py").write_text(
        "import os\ndef choose(game, legal):\n    print('hello', end='')\n    os._exit(3)\n"
    )
    command = [HIMEJI, "play", "talks", "random"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (3, "hello", "")
    command.append("--json")
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (3, "", "hello")


def test_watching_without_a_terminal_is_plain_text_without_waits():
    told = himeji("play", "random", "random", "--seed", "3", "--watch", "--delay", "1000")
    assert told.exit_code == 0
    assert told.stdout.count("BRIDGE") > 40
    assert "\x1b" not in told.stdout


def test_watching_in_a_terminal_draws_each_board_over_the_one_before_in_colour():
    command = [HIMEJI, "play", "random", "random", "--seed", "3", "--watch", "--delay", "0"]
    with Terminal(command) as terminal:
        said, code = terminal.rest()
    assert code == 0
    boards = said.split(CLEARED)
    assert boards[0] == ""
    assert len(boards) > 40
    assert all(plain(board).count("BRIDGE") == 1 for board in boards[1:])
    assert "\x1b[" in boards[1], "colours"
    assert "your terminal has" not in said
    assert "ends as number 1" in plain(boards[-1])


def test_colours_can_be_declined():
    command = ["env", "NO_COLOR=1", HIMEJI, "play", "random", "random", "--watch", "--delay", "0"]
    with Terminal(command) as terminal:
        said, _ = terminal.rest()
    boards = said.partition("┏")[0].replace(CLEARED, "")
    assert boards.count("BRIDGE") > 40
    assert "\x1b" not in boards


def test_a_terminal_that_is_too_small_is_told_so():
    command = [HIMEJI, "play", "random", "random", "--seed", "3", "--watch", "--delay", "0"]
    with Terminal(command, lines=30) as terminal:
        said, _ = terminal.rest()
    assert "(your terminal has 30 lines, the whole board needs" in said


def test_many_games_have_a_progress_bar_in_a_terminal_alone():
    command = [HIMEJI, "play", "random", "random", "--games", "30"]
    with Terminal(command) as terminal:
        said, _ = terminal.rest()
    assert "playing" in said
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "playing" not in piped.stdout + piped.stderr


# --- show ---------------------------------------------------------------------------------------


def test_show_lists_every_step_where_there_is_no_terminal(played, file):
    lines = himeji("show", file).stdout.splitlines()
    assert lines[0] == "base: seat 0 random, seat 1 random"
    assert lines[1].split() == ["0", "the", "game", "begins"]
    steps = lines[2 : 2 + len(played.actions)]
    for number, (line, action) in enumerate(zip(steps, played.actions, strict=True), start=1):
        assert line.startswith(f"{number:>5}  seat ")
        assert line.endswith(f": {rules.action_text('base', action)}")
    assert lines[-2].startswith(f"seat 0: {played.scores[0]} points")


def test_one_step_is_the_position_after_so_many_actions(played, file):
    game = rules.new_game("base", 2, seed=8)
    for action in played.actions[:20]:
        game.apply(action)
    (step,) = json.loads(himeji("show", file, "--step", "20", "--json").stdout)["steps"]
    assert step["position"] == json.loads(game.to_json())
    assert step["action"] == played.actions[19]
    drawn = himeji("show", file, "--step", "20").stdout
    assert drawn.count("BRIDGE") == 1
    assert f"step 20: {step['title']}" in drawn


def test_the_whole_game_as_json(played, file):
    facts = json.loads(himeji("show", file, "--json").stdout)
    assert [step["action"] for step in facts["steps"]] == [None, *played.actions]
    assert facts["scores"] == played.scores
    told = [line for step in facts["steps"] for line in step["happened"]]
    assert len(told) == len(played.game.log)


def test_a_drawing_is_written_as_svg(file, tmp_path):
    target = tmp_path / "a.svg"
    told = himeji("show", file, "--step", "5", "--svg", str(target))
    assert told.stdout.startswith(f"{target}: step 5, ")
    assert target.read_text().startswith("<svg")
    assert himeji("show", file, "--step", "5", "--svg", "-").stdout == target.read_text() + "\n"


def test_a_step_that_is_not_there_is_one_line(played, file):
    told = himeji("show", file, "--step", "5000")
    assert told.exit_code == 1
    assert (
        told.stderr == f"Error: the game has steps 0 to {len(played.actions)}, and no step 5000\n"
    )


def test_keys_step_through_the_game_in_a_terminal(played, file):
    last = len(played.actions)
    with Terminal([HIMEJI, "show", file]) as terminal:
        assert CLEARED in terminal.until("q quit")
        for key, step in [(RIGHT, 1), (" ", 2), (LEFT, 1), (END, last), (RIGHT, last), ("g", 0)]:
            terminal.type(key)
            board = plain(terminal.until("q quit"))
            assert f"step {step} of {last}: " in board
            assert board.count("BRIDGE") == 1
        terminal.type(LEFT)
        assert f"step 0 of {last}: the game begins" in plain(terminal.until("q quit"))
        terminal.type("q")
        assert terminal.rest()[1] == 0


def test_a_lost_seat_a_stand_in_and_an_open_end_are_shown():
    writer = Writer(3).play(9).lose(1).play(40)
    for slot, drawn in writer.chance.results:
        writer.message.chance.add(slot=slot, result=drawn)
    titles = [moment.title for moment in Replay(writer.message).moments()]
    assert titles[10] == "seat 1 is lost: resigned"
    assert any(title.startswith("the stand-in: ") for title in titles)


def test_a_replay_that_contradicts_itself_is_one_line(played, tmp_path):
    replay = played.replay()
    replay.message.log[10].actions[0] = 0
    replay.save(tmp_path / "bad.json")
    told = himeji("show", str(tmp_path / "bad.json"))
    assert told.exit_code == 1
    assert told.stderr.startswith("Error: the replay contradicts itself: seat ")


def test_at_most_the_newest_lines_stand_below_a_board(file):
    drawn = himeji("show", file, "--step", "0").stdout.splitlines()
    marks = next(number for number, line in enumerate(drawn) if line.startswith("[5] a die"))
    assert len(drawn) - marks - 1 == MAX_LINES
