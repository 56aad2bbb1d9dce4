"""The command `himeji match`: same deals from every seat, on all cores, resumable."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji import rules
from himeji.rules.errors import InvalidRequest
from himeji_sdk._commands.match import match as match_command
from himeji_sdk.match import Fault, GameResult, Group, Match, MatchRunner, Tally
from himeji_sdk.match._match_file import MatchFile
from himeji_sdk.match._report import as_json, print_report
from rich.console import Console

HIMEJI = str(Path(sys.executable).parent / "himeji")

FIRST = "def choose(game, legal):\n    return legal[0]\n"
CRASHES = "def choose(game, legal):\n    raise RuntimeError('no idea')\n"
DIES = "import os\ndef choose(game, legal):\n    print('last words', end='')\n    os._exit(3)\n"
HANGS = """
import os, pathlib, time
def choose(game, legal):
    pathlib.Path({!r}).write_text(str(os.getpid()))
    time.sleep(600)
"""
PRINTS = """
import os
print("imported")
def choose(game, legal):
    print("hello", end="")
    os.write(1, b"beneath ")
    with open("calls", "a") as calls:
        calls.write(".")
    return legal[0]
"""
SLOW = "import time\ndef choose(game, legal):\n    time.sleep(0.01)\n    return legal[0]\n"


def match(*arguments, folder=None):
    cores = () if "--cores" in arguments else ("--cores", 1)  # fewer programs to start
    command = [HIMEJI, "match", *map(str, (*arguments, *cores))]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def found(*arguments, folder=None):
    done = match(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(path, text):
    path.write_text(text)
    return str(path)


# --- groups -------------------------------------------------------------------------------------


def test_in_a_group_every_bot_has_the_same_deal_from_every_seat():
    plan = Match(("random", "random", "random"), seats=3, seed=4)
    assert plan.lineups == [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    group = MatchRunner(plan).play(7)
    assert [game.lineup for game in group.games] == plan.lineups
    assert group.seed == plan.deal(7)
    assert len({plan.deal(number) for number in range(100)}) == 100


def test_the_last_bot_takes_the_seats_that_are_left():
    assert Match(("a", "b"), seats=4).lineups == [
        (0, 1, 1, 1),
        (1, 0, 1, 1),
        (1, 1, 0, 1),
        (1, 1, 1, 0),
    ]


def test_a_group_is_the_same_group_again_for_bots_that_take_a_seed():
    plan = Match(("random", "random"), seed=4)
    assert MatchRunner(plan).play(3) == MatchRunner(plan).play(3)
    assert MatchRunner(plan).play(3) != MatchRunner(replace(plan, seed=5)).play(3)
    first, second = MatchRunner(plan).play(3).games
    assert first.scores != second.scores[::-1]  # each seat of each game rolls dice of its own


def group_of(*games):
    return Group(0, 0, games)


def test_a_score_is_the_share_of_opponents_that_a_bot_came_before():
    plan = Match(("a", "b", "c"), seats=3)
    group = group_of(
        GameResult((0, 1, 2), (9, 5, 1), (1, 2, 3)),
        GameResult((2, 0, 1), (9, 5, 1), (1, 2, 3)),
        GameResult((1, 2, 0), (5, 5, 1), (1, 1, 3)),
    )
    assert plan.group_scores(group) == [3 / 6, 2.5 / 6, 3.5 / 6]


def test_of_two_bots_at_a_larger_table_the_scores_sum_up_to_one():
    plan = Match(("a", "b"), seats=3)
    group = group_of(
        GameResult((0, 1, 1), (9, 5, 1), (1, 2, 3)),
        GameResult((1, 0, 1), (9, 5, 1), (1, 2, 3)),
        GameResult((1, 1, 0), (9, 8, 1), (1, 2, 3)),
    )
    assert plan.group_scores(group) == [0.5, 0.5]
    assert Tally(plan).add(group) == [0.5, 0.5]


def test_a_bot_that_fails_has_lost_to_everybody_and_nobody_else_has():
    plan = Match(("a", "b", "c"), seats=3)
    fault = Fault(1, "b crashed", "b crashed", "")
    group = group_of(*(GameResult((0, 1, 2), fault=fault) for _ in range(3)))
    assert plan.group_scores(group) == [0.75, 0.0, 0.75]


def test_alone_at_the_table_the_better_result_against_the_rival_is_ahead():
    plan = Match(("a", "b", "c"), seats=1)
    fault = Fault(0, "c crashed", "c crashed", "")
    group = group_of(
        GameResult((0,), (30, 40), (2, 1)),
        GameResult((1,), (50, 45), (1, 2)),
        GameResult((2,), fault=fault),
    )
    assert plan.group_scores(group) == [0.5, 1.0, 0.0]


def test_a_single_bot_plays_against_the_rival():
    plan = Match(("a",), seats=1)
    assert plan.group_scores(group_of(GameResult((0,), (30, 40), (2, 1)))) == [0.0]
    assert plan.group_scores(group_of(GameResult((0,), (50, 40), (1, 2)))) == [1.0]


def test_the_points_of_a_rival_are_told_and_nothing_where_there_is_none():
    alone, two = Tally(Match(("a",), seats=1)), Tally(Match(("a", "b")))
    alone.add(group_of(GameResult((0,), (30, 40), (2, 1))))
    alone.add(group_of(GameResult((0,), (50, 45), (1, 2))))
    two.add(group_of(*(GameResult(lineup, (30, 40), (2, 1)) for lineup in ((0, 1), (1, 0)))))
    assert (alone.rival_points, two.rival_points) == (42.5, None)
    assert as_json(Match(("a",), seats=1), alone, None, complete=True)["rival_mean_points"] == 42.5
    told = StringIO()
    print_report(Console(file=told), Match(("a",), seats=1), alone, None)
    assert "mean points of the rival: 42.5" in told.getvalue()


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (Match(("random",)), "two bots at least"),
        (Match(("random",) * 3, seats=2), "3 bots do not fit on 2 seats"),
        (Match(("random", "nobody")), "there is no bot 'nobody'"),
        (Match(("random", "random"), seats=9), "not 9"),
        (Match(("random", "random"), options={"x": "y"}), "no option 'x'"),
    ],
)
def test_a_match_that_cannot_be_played_is_refused_in_one_sentence(plan, sentence):
    with pytest.raises(InvalidRequest, match=sentence):
        plan.check()


# --- the command --------------------------------------------------------------------------------


def test_the_command_prints_a_table():
    done = match("greedy", "random", "--games", 4, "--seed", 1)
    assert done.returncode == 0, done.stderr
    assert "base, 2 seats: 4 games in 2 groups, seed 1" in done.stdout
    assert "greedy" in done.stdout
    assert "100.0%" in done.stdout
    assert done.stderr == ""  # no bar without a terminal


@pytest.mark.long
def test_the_result_does_not_depend_on_the_number_of_cores():
    arguments = ("random", "random", "--games", 12, "--seed", 3)
    one, three = (found(*arguments, "--cores", cores) for cores in (1, 3))
    assert one == three
    assert one["groups"] == 6
    assert one["complete"]


def test_games_are_rounded_up_to_whole_groups():
    assert found("random", "random", "random", "--games", 4, "--seed", 3)["games"] == 6


@pytest.mark.long
def test_the_sequential_test_stops_when_it_knows():
    told = found("greedy", "random", "--sprt", "--elo1", 200, "--seed", 1)
    assert told["sprt"]["verdict"] == "elo1"
    assert told["sprt"]["llr"] >= told["sprt"]["upper"]
    assert told["complete"]
    turned = match("random", "greedy", "--sprt", "--elo1", 200, "--seed", 1)
    assert "random is not stronger" in turned.stdout
    undecided = found("greedy", "random", "--sprt", "--games", 2, "--seed", 1)
    assert undecided["sprt"]["verdict"] == ""
    assert undecided["games"] == 2


def test_a_crash_is_counted_and_reported_with_the_position(tmp_path):
    bad = write(tmp_path / "bad.py", CRASHES)
    told = found("random", bad, "--games", 4, "--seed", 1)
    good, failed = told["standings"]
    assert (good["score"], good["faults"], failed["faults"]) == (1.0, 0, 4)
    assert failed["mean_points"] is None
    fault = told["faults"][0]
    assert fault["bot"] == bad
    assert "RuntimeError: no idea" in fault["sentence"]
    position = rules.from_json(fault["position"])
    assert position.to_move == fault["seat"]
    drawn = match("random", bad, "--games", 2, "--seed", 1).stdout
    assert "RuntimeError: no idea" in drawn
    assert "Legal were:" in drawn


def test_a_process_that_dies_ends_the_match_with_a_sentence(tmp_path):
    done = match("random", write(tmp_path / "dies.py", DIES), "--games", 4, "--cores", 1)
    assert done.returncode == 1
    assert "the process that played group 0 died (exit code 3)" in done.stderr
    assert "Traceback" not in done.stderr
    assert "last words" in done.stderr


def test_what_bots_print_goes_to_standard_error_and_none_of_it_is_lost(tmp_path):
    write(tmp_path / "prints.py", PRINTS)
    done = match("prints", "random", "--games", 2, "--json", folder=tmp_path)
    assert json.loads(done.stdout)["games"] == 2
    assert done.stderr.count("imported") == 2, "by the command that checks it, and to play"
    calls = len((tmp_path / "calls").read_text())
    assert done.stderr.count("hello") == done.stderr.count("beneath") == calls > 0


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_match_is_played_although_nobody_reads_what_it_prints(closed):
    command = f'exec "$0" match random random --games 2 --cores 1 --json {closed}'
    assert subprocess.run(["sh", "-c", command, HIMEJI], check=False).returncode == 0


def test_the_ruleset_may_have_options_and_bots_too():
    told = found("random:seed=5", "random", "--games", 2, "--seed", 1)
    assert told["match"]["bots"] == ["random:seed=5", "random"]
    assert "KEY=VALUE" in match("random", "random", "--option", "x").stderr
    assert "has no option 'x'" in match("random:x=1", "random").stderr


# --- stopping and going on ----------------------------------------------------------------------


def test_a_match_goes_on_where_it_was(tmp_path):
    arguments = ("random", "random", "--seed", 3)
    whole = found(*arguments, "--games", 12)
    state = tmp_path / "match.jsonl"
    found(*arguments, "--games", 6, "--state", state)
    with state.open("a") as file:
        file.write('{"number": 3, "se')  # torn by a crash
    assert found("random", "random", "--games", 12, "--state", state) == whole
    assert len(state.read_text().splitlines()) == 7


def test_a_file_with_another_match_is_left_alone(tmp_path):
    state = tmp_path / "match.jsonl"
    found("random", "random", "--seed", 3, "--games", 2, "--state", state)
    before = state.read_bytes()
    for other in (["random", "greedy"], ["random", "random", "--seed", 4]):
        done = match(*other, "--games", 4, "--state", state)
        assert done.returncode == 1
        assert "the file holds another match: random random" in done.stderr
    assert state.read_bytes() == before


@pytest.mark.parametrize("content", ["", "hello", "hello\n", "[]\n", '{"format": 1}\n'])
def test_a_file_that_is_no_match_is_left_alone(tmp_path, content):
    state = tmp_path / "notes.txt"
    state.write_text(content)
    done = match("random", "random", "--games", 2, "--state", state)
    assert done.returncode == 1
    assert "is no" in done.stderr
    assert "Traceback" not in done.stderr
    assert state.read_text() == content


def test_one_file_is_written_by_one_command(tmp_path):
    state, planned = tmp_path / "match.jsonl", Match(("random", "random"), seed=3)
    first = MatchFile(state)
    first.begin(planned)
    done = match("random", "random", "--seed", 3, "--games", 2, "--state", state)
    assert done.returncode == 1
    assert "another command plays the match in" in done.stderr
    first.close()
    assert found("random", "random", "--games", 2, "--state", state)["games"] == 2


def test_a_command_that_is_killed_leaves_no_process(tmp_path, wait_until, is_alive):
    told = tmp_path / "pid"
    hangs = HANGS.format(str(told))
    command = [HIMEJI, "match", write(tmp_path / "hangs.py", hangs), "random", "--cores", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: told.exists() and told.read_text(), "the bot is asked")
    process.kill()
    process.communicate()
    wait_until(lambda: not is_alive(int(told.read_text())), "the player is gone")


def test_ctrl_c_tells_what_is_known_and_loses_no_group(tmp_path, wait_until):
    slow = write(tmp_path / "slow.py", SLOW)
    state = tmp_path / "match.jsonl"
    command = [HIMEJI, "match", slow, "random", "--games", "1000", "--state", str(state)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(lambda: state.exists() and state.read_text().count("\n") > 1, "a group is over")
    process.send_signal(signal.SIGINT)
    told, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command goes on with" in errors
    assert "Traceback" not in errors
    groups = len(state.read_text().splitlines()) - 1
    assert f"in {groups} groups" in told


def test_ctrl_c_between_the_file_and_the_count_is_too_early(tmp_path, monkeypatch):
    """A group that is in the file is counted, whenever the signal comes."""
    add = MatchFile.add

    def add_and_interrupt(self, group):
        add(self, group)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(MatchFile, "add", add_and_interrupt)
    state = tmp_path / "match.jsonl"
    command = ["random", "random", "--games", "1000", "--cores", "1", "--state", str(state)]
    result = CliRunner().invoke(match_command, command)
    assert result.exit_code == 130
    assert "in 1 groups" in result.output
    assert len(state.read_text().splitlines()) == 2
