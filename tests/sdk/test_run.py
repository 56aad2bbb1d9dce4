"""Bots online: whole games over one stream, and nothing that can go wrong costs a choice."""

import json
import logging
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from himeji.rules.errors import Forbidden, InvalidToken, TakenOver, Unavailable
from himeji.v1.game_service_pb2 import LogCause
from himeji_bots.random import RandomBot
from himeji_sdk import BotFault, run
from himeji_sdk._online.run_options import RunOptions

from tests.sdk.conftest import endpoint_of
from tests.sdk.test_client import free_target

HIMEJI = str(Path(sys.executable).parent / "himeji")
HOUSE = ["house/random"]
TIMEOUT_SECONDS = 120.0


class BackgroundRun:
    """A run in a thread of its own."""

    def __init__(self, *arguments, **options):
        self._arguments, self._options = arguments, options
        self.ends, self.error = [], None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self.ends = run(*self._arguments, **self._options)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def ended(self):
        self._thread.join(TIMEOUT_SECONDS)
        assert not self._thread.is_alive(), "the run does not end"
        if self.error is not None:
            raise self.error
        return self.ends


class Gate(RandomBot):
    """Waits once, at its fourth question, until the test lets it go on."""

    def __init__(self):
        super().__init__(seed=5)
        self.reached, self.open = threading.Event(), threading.Event()
        self.questions = Counter()

    def choose(self, game, legal):
        self.questions[game.to_json()] += 1
        if len(self.questions) == 4:
            self.reached.set()
            assert self.open.wait(TIMEOUT_SECONDS)
        return super().choose(game, legal)


@pytest.fixture
def lines(caplog):
    """What the runner said, a line each."""
    caplog.set_level(logging.INFO, "himeji_sdk")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_whole_game_against_the_house(endpoint, name, lines):
    (end,) = run(RandomBot(1), endpoint.target, endpoint.token, name=name, against=HOUSE)
    assert end.reason == "finished"
    assert len(end.scores) == 2
    with endpoint.client() as client:
        assert len(list(client.replay(end.game_id).verify())) == 8
    assert f"playing as {name} at {endpoint.target}" in lines()
    assert any(line.startswith(f"game {end.game_id}: over (finished), ") for line in lines())


def test_several_games_at_once_each_with_an_object_of_its_own(endpoint, name):
    made = []

    class Counted(RandomBot):
        def __init__(self):
            super().__init__()
            made.append(self)
            self.told = []

        def on_start(self, start):
            self.told.append(start)

        def on_end(self, end):
            self.told.append(end)

    ends = run(
        Counted, endpoint.target, endpoint.token, name=name, against=HOUSE, games=5, at_once=3
    )
    assert len({end.game_id for end in ends}) == 5
    assert len(made) == 5
    for bot in made:
        start, end = bot.told
        assert start.game_id == end.game_id
        assert start.seats[start.seat] == name
    assert {end.seat for end in ends} == {0, 1}, "the seats change from game to game"


def test_an_object_is_asked_one_question_at_a_time(endpoint, name):
    class Alone(RandomBot):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

        def choose(self, game, legal):
            assert self.lock.acquire(blocking=False), "asked while thinking"
            try:
                return super().choose(game, legal)
            finally:
                self.lock.release()

    ends = run(
        Alone(), endpoint.target, endpoint.token, name=name, against=HOUSE, games=4, at_once=4
    )
    assert [end.reason for end in ends] == ["finished"] * 4


def test_games_of_three_and_four_seats(endpoint, new_name):
    for others in (2, 3):
        (end,) = run(
            RandomBot(3), endpoint.target, endpoint.token, name=new_name(), against=HOUSE * others
        )
        assert len(end.ranks) == others + 1


def test_a_bot_is_invited_by_somebody_else(endpoint, new_name):
    host, guest = new_name(), new_name()
    invited = BackgroundRun(
        RandomBot(1), endpoint.target, endpoint.token, name=guest, invitations=True, games=1
    )
    (end,) = run(RandomBot(2), endpoint.target, endpoint.token, name=host, against=[guest])
    assert [each.game_id for each in invited.ended()] == [end.game_id]


def test_a_bot_that_wants_no_invitations_is_not_seated(endpoint, new_name):
    me, guest = new_name(), new_name()
    bystander = BackgroundRun(RandomBot(1), endpoint.target, endpoint.token, name=guest, games=1)
    with endpoint.client() as client:
        game = client.create_game(seats=[me, guest])
        host = client.join(game, bot=me)
        assert host.decision(wait=1) is None
        assert host.end is None
        # A seat that it takes by itself it plays all the same.
        client.join(game, seat=1, bot=guest)
        while host.end is None:
            asked = host.decision(wait=1)
            if asked is not None:
                host.submit(asked.legal[0])
    assert [end.game_id for end in bystander.ended()] == [game.game_id]


def test_who_names_owners_accepts_invitations_of_theirs_and_of_its_own(endpoint, new_name):
    host, guest = new_name(), new_name()
    invited = BackgroundRun(
        RandomBot(1),
        endpoint.target,
        endpoint.token,
        name=guest,
        invitations_from=["somebody-else"],
        games=1,
    )
    (end,) = run(RandomBot(2), endpoint.target, endpoint.token, name=host, against=[guest])
    assert [each.game_id for each in invited.ended()] == [end.game_id]


def test_the_owners_whose_invitations_are_accepted_are_sent_to_the_arena():
    options = RunOptions(
        name="local/bot",
        version=0,
        games=None,
        invitations=False,
        invitations_from=("ada", "eve"),
        patience=1,
        limit=None,
        resign_on_fault=False,
    )
    hello = options.hello("test", ())
    assert hello.accept_invitations
    assert list(hello.invitations_from) == ["ada", "eve"]
    assert not replace(options, invitations_from=()).hello("test", ()).accept_invitations


def test_one_bot_may_have_two_seats_of_a_game(endpoint, name):
    both = BackgroundRun(
        RandomBot(1), endpoint.target, endpoint.token, name=name, invitations=True, games=2
    )
    with endpoint.client() as client:
        client.create_game(seats=[name, name])
    one, two = both.ended()
    assert one.game_id == two.game_id
    assert {one.seat, two.seat} == {0, 1}


@pytest.mark.long
@pytest.mark.parametrize("open_at", ["before", "after"])
def test_a_killed_arena_costs_neither_the_game_nor_the_running_choice(  # noqa: PLR0917
    start_arena, tmp_path, name, wait_until, lines, open_at
):
    data = str(tmp_path / "data")
    arena = start_arena("--port", "0", "--data", data, "--house", "random").opened()
    endpoint, bot = endpoint_of(arena), Gate()
    running = BackgroundRun(bot, endpoint.target, endpoint.token, name=name, against=HOUSE)
    assert bot.reached.wait(TIMEOUT_SECONDS)
    arena.process.kill()
    arena.ended()
    if open_at == "before":  # the answer is there while there is nobody to send it to
        wait_until(lambda: any("no connection" in line for line in lines()), "it is noticed")
        bot.open.set()
    port = endpoint.target.rpartition(":")[2]
    start_arena("--port", port, "--data", data, "--house", "random").opened()
    wait_until(lambda: any("playing again" in line for line in lines()), "it is back")
    bot.open.set()
    (end,) = running.ended()
    assert end.reason == "finished"
    assert set(bot.questions.values()) == {1}, "no question was asked twice"
    with endpoint.client() as client:
        list(client.replay(end.game_id).verify())


def test_an_arena_that_stops_in_good_order_is_resumed_too(start_arena, tmp_path, name):
    data = str(tmp_path / "data")
    arena = start_arena("--port", "0", "--data", data, "--house", "random").opened()
    endpoint, bot = endpoint_of(arena), Gate()
    running = BackgroundRun(bot, endpoint.target, endpoint.token, name=name, against=HOUSE)
    assert bot.reached.wait(TIMEOUT_SECONDS)
    assert arena.stop() == 0
    bot.open.set()
    port = endpoint.target.rpartition(":")[2]
    start_arena("--port", port, "--data", data, "--house", "random").opened()
    assert running.ended()[0].reason == "finished"


def test_a_newer_process_takes_over_and_the_older_one_says_so_and_stops(
    endpoint, name, lines, wait_until
):
    older = BackgroundRun(
        RandomBot(1), endpoint.target, endpoint.token, name=name, against=[name + "-x"]
    )
    wait_until(lambda: any("seats of" in line for line in lines()), "the older one is seated")
    newer = BackgroundRun(RandomBot(2), endpoint.target, endpoint.token, name=name, games=1)
    with pytest.raises(TakenOver, match="another process plays this bot"):
        older.ended()
    with endpoint.client() as client:  # the newer one has its games
        (game_id,) = {line.split()[1].rstrip(":") for line in lines() if "seats of" in line}
        other = client.join(game_id, bot=name + "-x")
        while other.end is None:
            asked = other.decision(wait=1)
            if asked is not None:
                other.submit(asked.legal[0])
    assert newer.ended()[0].game_id == game_id


def test_a_bad_token_ends_the_run_in_one_line(endpoint):
    with pytest.raises(InvalidToken) as refused:
        run(RandomBot(), endpoint.target, "himeji_wrong")
    assert "--token-file" in refused.value.message
    assert "\n" not in refused.value.message


def test_an_arena_that_is_not_there_ends_the_run_in_one_line():
    target = free_target()
    with pytest.raises(Unavailable, match=f"nothing answers at {target}.*himeji serve"):
        run(RandomBot(), target, "himeji_any", patience=0.5)


def test_a_bot_of_somebody_else_is_refused(endpoint):
    with pytest.raises(Forbidden, match="nobody/bot is a bot of another owner"):
        run(RandomBot(), endpoint.target, endpoint.token, name="nobody/bot")


def test_a_bot_without_a_name_is_named_like_its_class(endpoint, lines):
    class MyVeryOwnBot3(RandomBot):
        name = ""

    run(MyVeryOwnBot3, endpoint.target, endpoint.token, against=HOUSE)
    assert f"playing as local/my-very-own-bot3 at {endpoint.target}" in lines()


def test_a_crash_stops_the_run_with_a_report_and_leaves_the_question_open(endpoint, name):
    class Crashes(RandomBot):
        asked = 0

        def choose(self, game, legal):
            self.asked += 1
            if self.asked == 3:
                raise ArithmeticError("I am lost")
            return super().choose(game, legal)

    with pytest.raises(BotFault) as caught:
        run(Crashes(), endpoint.target, endpoint.token, name=name, against=HOUSE)
    fault = caught.value
    assert "ArithmeticError: I am lost" in fault.sentence
    assert "BRIDGE" in str(fault)
    assert fault.game_id
    # The author mends it and starts again: the game goes on where it was.
    (end,) = run(RandomBot(), endpoint.target, endpoint.token, name=name, games=1)
    assert end.game_id == fault.game_id
    assert end.reason == "finished"


def test_an_illegal_answer_is_never_sent(endpoint, name):
    with pytest.raises(BotFault) as caught:
        run(lambda _game, _legal: 3, endpoint.target, endpoint.token, name=name, against=HOUSE)
    assert caught.value.rule == "B-6.3"
    with endpoint.client() as client:
        seats = client.replay(caught.value.game_id).message.game.seats
    assert [seat.strikes for seat in seats] == [0, 0]


def test_a_faulty_bot_may_give_its_games_up_and_play_on(endpoint, name, lines):
    class Moody(RandomBot):
        games = 0

        def on_start(self, start):
            Moody.games += 1
            self.bad = Moody.games == 1

        def choose(self, game, legal):
            return None if self.bad else super().choose(game, legal)

    ends = run(
        Moody,
        endpoint.target,
        endpoint.token,
        name=name,
        against=HOUSE,
        games=2,
        resign_on_fault=True,
    )
    assert [end.reason for end in ends] == ["outlasted", "finished"]
    assert ends[0].rank == 2
    assert any("which is no action id" in line for line in lines())


class Hangs(RandomBot):
    """Never answers its first question."""

    def __init__(self):
        super().__init__(seed=3)
        self.asked, self.open = 0, threading.Event()

    def choose(self, game, legal):
        self.asked += 1
        if self.asked == 1:
            self.open.wait(TIMEOUT_SECONDS)
        return super().choose(game, legal)


def test_a_hang_beyond_the_limit_stops_the_run_with_a_report_and_leaves_the_question_open(
    endpoint, name
):
    bot = Hangs()
    with pytest.raises(BotFault) as caught:
        run(bot, endpoint.target, endpoint.token, name=name, against=HOUSE, limit=0.5)
    bot.open.set()
    fault = caught.value
    assert fault.kind == "hung"
    assert f"{name} has not answered for" in fault.sentence
    assert "self.open.wait(TIMEOUT_SECONDS)" in str(fault)
    assert "BRIDGE" in str(fault)
    assert fault.rule.startswith("B-")
    (end,) = run(RandomBot(), endpoint.target, endpoint.token, name=name, games=1)
    assert end.game_id == fault.game_id


def test_a_bot_that_hangs_in_one_game_gives_it_up_and_plays_the_others(endpoint, name, lines):
    stuck, release = [], threading.Event()

    class HangsOnce(RandomBot):
        def choose(self, game, legal):
            if not stuck:
                stuck.append(self)
                release.wait(TIMEOUT_SECONDS)
            return super().choose(game, legal)

    ends = run(
        HangsOnce,
        endpoint.target,
        endpoint.token,
        name=name,
        against=HOUSE,
        games=2,
        limit=2.0,
        resign_on_fault=True,
    )
    release.set()
    assert [end.reason for end in ends] == ["outlasted", "finished"]
    assert any("has not answered for" in line for line in lines())


def test_a_bot_that_outlasts_its_clock_is_reported_and_the_run_ends(endpoint, name, lines):
    bot = Hangs()
    running = BackgroundRun(bot, endpoint.target, endpoint.token, name=name, games=1)
    with endpoint.client() as client:
        game = client.create_game(seats=[name, "house/random"], clock=(2, 0))
        client.join(game, seat=0, bot=name)
        (end,) = running.ended()
    bot.open.set()
    assert end.rank == 2
    reports = [line for line in lines() if "has not answered for" in line]
    assert len(reports) == 1
    assert "BRIDGE" in reports[0]


WAITS = """
import pathlib, time
from himeji_sdk import Bot

HERE = pathlib.Path(__file__).parent

class Waits(Bot):
    def choose(self, game, legal):
        if not (HERE / "go").exists():
            (HERE / "thinking").touch()
        while not (HERE / "go").exists():
            time.sleep(0.01)
        return legal[0]
"""


def waiting_bot(folder, endpoint, name):
    """`himeji run` with a bot that thinks until the file `go` is there."""
    (folder / "waits.py").write_text(WAITS)
    command = [HIMEJI, "run", str(folder / "waits.py"), "--target", endpoint.target]
    command += [
        "--token-file",
        str(endpoint.token_file),
        "--name",
        name,
        "--against",
        "house/random",
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(process, words):
    """What a process says on standard error until it says these words."""
    said = ""
    while words not in said:
        line = process.stderr.readline()
        assert line, f"it ended after: {said}"
        said += line
    return said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_bot_after_its_current_decision(
    endpoint, name, tmp_path, wait_until, number
):
    process = waiting_bot(tmp_path, endpoint, name)
    wait_until((tmp_path / "thinking").exists, "the bot thinks")
    process.send_signal(number)
    errors = read_until(process, "stopping after the current decision")
    (tmp_path / "go").touch()
    output, rest = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, rest
    assert output == "0 games over, first in 0\n"
    assert "Traceback" not in rest
    game_id = next(line.split()[1].rstrip(":") for line in errors.splitlines() if "seats" in line)
    with endpoint.client() as client:
        log = client.replay(game_id).message.log
    mine = [entry for entry in log if entry.cause == LogCause.LOG_CAUSE_ANSWER and entry.seat == 0]
    assert len(mine) == 1, "the decision under way was answered, and no other one"


def test_a_second_signal_stops_a_bot_at_once(endpoint, name, tmp_path, wait_until):
    process = waiting_bot(tmp_path, endpoint, name)
    wait_until((tmp_path / "thinking").exists, "the bot thinks")
    process.send_signal(signal.SIGINT)
    read_until(process, "stopping after the current decision")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 1


def test_the_commands_run_fetch_and_verify(endpoint, name, tmp_path):
    common = ["--target", endpoint.target, "--token-file", str(endpoint.token_file)]
    told = subprocess.run(
        [HIMEJI, "run", "random", *common, "--name", name, "--against", "house/random", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    (end,) = json.loads(told.stdout)
    assert end["reason"] == "finished"
    file = tmp_path / "replay.json"
    subprocess.run([HIMEJI, "replay", end["game_id"], *common, "--save", str(file)], check=True)
    printed = subprocess.run(
        [HIMEJI, "replay", end["game_id"], *common], capture_output=True, text=True, check=True
    )
    assert json.loads(printed.stdout) == json.loads(file.read_text())
    verified = subprocess.run(
        [HIMEJI, "verify", str(file)], capture_output=True, text=True, check=True
    )
    assert verified.stdout.endswith("the replay is true\n")
    assert verified.stdout.count("ok     ") == 8


def test_what_a_bot_prints_online_is_not_mixed_into_json(endpoint, name, tmp_path):
    (tmp_path / "talks.py").write_text(
        "print('imported')\ndef choose(game, legal):\n    print('hello')\n    return legal[0]\n"
    )
    command = [HIMEJI, "run", str(tmp_path / "talks.py"), "--target", endpoint.target]
    command += [
        "--token-file",
        str(endpoint.token_file),
        "--name",
        name,
        "--against",
        "house/random",
    ]
    told = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)[0]["reason"] == "finished"
    assert {"imported", "hello"} <= set(told.stderr.splitlines())


def test_a_bad_token_on_the_command_line_is_one_line(endpoint, tmp_path):
    (tmp_path / "token").write_text("himeji_wrong")
    told = subprocess.run(
        [HIMEJI, "run", "random", "--target", endpoint.target, "--token-file", tmp_path / "token"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr.startswith(f"Error: {endpoint.target} does not take this token")
    assert told.stderr.count("\n") == 1
