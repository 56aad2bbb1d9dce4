"""The doctor names each fault of a bot, says what to do about it, and leaves good bots alone."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji_sdk import _cli as cli
from himeji_sdk.doctor import CHECKS, Settings, examine

HIMEJI = str(Path(sys.executable).parent / "himeji")

HEAD = """
import ctypes, os, random, signal, sys, time
from himeji_sdk import Bot

class Examined(Bot):
"""
GOOD = """
    def choose(self, game, legal):
        return max(legal)
"""
ILLEGAL = """
    def choose(self, game, legal):
        return legal[0] if len(legal) < 4 else 0
"""
NO_NUMBER = """
    def choose(self, game, legal):
        return "pass"
"""
CRASHES = """
    def choose(self, game, legal):
        return {}[len(legal)]
"""
HANGS = """
    def choose(self, game, legal):
        while len(legal) > 3:
            time.sleep(0.01)
        return legal[0]
"""
HANGS_BEFORE_THE_GAME = """
    def on_start(self, start):
        while True:
            time.sleep(0.01)

    def choose(self, game, legal):
        return legal[0]
"""
SLOW = """
    def choose(self, game, legal):
        time.sleep(0.06)
        return legal[0]
"""
NEVER_HURRIES = """
    def choose(self, game, legal):
        if self.time_left is not None and self.time_left < 3:
            time.sleep(1.1)
        return max(legal)
"""
RANDOM = """
    def choose(self, game, legal):
        return random.choice(legal)
"""
SETS = """
    def choose(self, game, legal):
        names = {str(action) for action in legal}
        return int(next(iter(names)))
"""
HOARDS = """
    def __init__(self):
        self.seen = []

    def choose(self, game, legal):
        self.seen.append(bytearray(5000))
        return max(legal)
"""
HOARDS_FOR_ALL = """
    seen = {}

    def choose(self, game, legal):
        self.seen[len(self.seen)] = [game] * 500
        return max(legal)
"""
NEEDS_THE_BEGINNING = """
    def choose(self, game, legal):
        if 103 <= legal[0] <= 108:  # a starting pair: the first question of a game
            self.began = True
        return max(legal) if self.began else 0
"""
NEEDS_RANKS = (
    GOOD
    + """
    def on_end(self, end):
        self.best = min(end.ranks)
"""
)
LEAVES = """
    def choose(self, game, legal):
        os._exit(3)
"""
IS_KILLED = """
    def choose(self, game, legal):
        os.kill(os.getpid(), signal.SIGSEGV)
"""


def examined(folder, body, **settings):
    """All findings about a bot, by their checks."""
    file = folder / "mine.py"
    file.write_text(HEAD + body)
    return by_check(Settings(bot=str(file), **({"games": 3} | settings)))


def by_check(settings):
    findings = list(examine(settings))
    assert len({each.check for each in findings}) == len(findings), "each check is told once"
    assert [each.check for each in findings] == [
        check for check in CHECKS if check != "determinism" or settings.deterministic
    ]
    return {each.check: each for each in findings}


def faults(findings):
    return [check for check, finding in findings.items() if finding.verdict == "fault"]


def test_a_good_bot_is_fit_in_every_respect(tmp_path):
    findings = examined(tmp_path, GOOD, deterministic=True)
    assert {finding.verdict for finding in findings.values()} == {"ok"}


@pytest.mark.parametrize("bot", ["random", "himeji_sdk.template:MyBot"])
def test_our_own_bots_are_fit(bot):
    assert faults(by_check(Settings(bot=bot, games=2))) == []


@pytest.mark.parametrize(
    ("body", "settings", "check", "words"),
    [
        (ILLEGAL, {}, "legality", "answered 0, which is not legal"),
        (NO_NUMBER, {}, "legality", "answered 'pass', which is no action id"),
        (CRASHES, {}, "crashes", "KeyError"),
        (LEAVES, {}, "crashes", "exit code 3"),
        (IS_KILLED, {}, "crashes", "SIGSEGV"),
        (HANGS, {"limit": 0.5}, "hangs", "has not answered for"),
        (SLOW, {"clock": (0.5, 0.01)}, "time", "it lost on time after"),
        (
            NEVER_HURRIES,
            {},
            "time",
            r"with 1 s left on its clock it thought for \d+\.\d s, 5 times",
        ),
        (RANDOM, {"deterministic": True}, "determinism", "it answered"),
        (SETS, {"deterministic": True}, "determinism", "it answered"),
        (HOARDS, {}, "memory", "kB more after every game, most of it from mine.py, line 11"),
        (HOARDS_FOR_ALL, {}, "memory", "more after every game"),
        (NEEDS_THE_BEGINNING, {}, "resuming", "after a new start, in the middle of a game"),
        (NEEDS_RANKS, {}, "resuming", "when a game ends without ranks"),
    ],
)
def test_each_fault_is_named_and_nothing_else(tmp_path, body, settings, check, words):
    findings = examined(tmp_path, body, **settings)
    assert faults(findings) == [check]
    assert re.search(words, findings[check].sentence)
    assert findings[check].advice


def test_a_fault_in_a_position_comes_with_the_position_the_legal_actions_and_the_rule(tmp_path):
    finding = examined(tmp_path, ILLEGAL)["legality"]
    assert "(B-" in finding.sentence
    assert "Legal were:" in finding.report
    assert "BRIDGE" in finding.report


def test_a_crash_shows_the_line_of_the_bot_and_none_of_ours(tmp_path):
    report = examined(tmp_path, CRASHES)["crashes"].report
    assert "return {}[len(legal)]" in report
    assert "himeji_sdk" not in report


def test_a_hang_shows_the_line_that_it_is_at(tmp_path):
    assert "time.sleep(0.01)" in examined(tmp_path, HANGS, limit=0.5)["hangs"].report


def test_a_different_choice_is_shown_with_its_position(tmp_path):
    finding = examined(tmp_path, RANDOM, deterministic=True)["determinism"]
    assert "BRIDGE" in finding.report


@pytest.mark.long
def test_a_bot_that_thinks_for_long_but_not_too_long_is_not_taken_for_dead(tmp_path, monkeypatch):
    monkeypatch.setattr("himeji_sdk.doctor._examination.SILENCE_TIMEOUT_SECONDS", 2.0)
    body = """
    def choose(self, game, legal):
        time.sleep(0.03)
        return max(legal)
"""
    assert faults(examined(tmp_path, body, games=1, limit=5.0)) == []


def test_chance_is_no_fault_unless_determinism_is_asked_for(tmp_path):
    assert faults(examined(tmp_path, RANDOM)) == []


@pytest.mark.long
def test_a_bot_that_hangs_where_no_choice_is_asked_is_found_by_its_silence(tmp_path, monkeypatch):
    monkeypatch.setattr("himeji_sdk.doctor._examination.SILENCE_TIMEOUT_SECONDS", 1.0)
    findings = examined(tmp_path, HANGS_BEFORE_THE_GAME, limit=2.0)
    assert faults(findings) == ["hangs"]
    assert "fell silent while playing game 1" in findings["hangs"].sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_like_that\n", "No module named 'nothing_like_that' (mine.py, line 1)"),
        ("def choose(game, legal)\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "SystemExit"),
        ("x = 1\n", "has no choose"),
    ],
)
def test_a_file_that_is_no_bot_is_a_fault_of_loading(tmp_path, text, words):
    file = tmp_path / "mine.py"
    file.write_text(text)
    findings = by_check(Settings(bot=str(file)))
    assert faults(findings) == ["loading"]
    assert words in findings["loading"].sentence


def test_a_bot_is_told_its_clock_and_can_keep_to_it(tmp_path):
    body = """
    def choose(self, game, legal):
        if self.time_left is not None and self.time_left > 4:
            time.sleep(0.15)
        return max(legal)
"""
    # Who took so long for all of its 57 choices would lose on time; and who hurries at last has
    # time to spare, on a machine that is busy too.
    assert faults(examined(tmp_path, body, games=1, clock=(5.0, 0.0))) == []


def test_the_command_tells_faults_and_advice_and_fails(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + CRASHES)
    told = subprocess.run(
        [HIMEJI, "doctor", "mine"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == 1
    lines = told.stdout.splitlines()
    assert lines[0] == "ok     loading      mine is the bot Examined"
    assert lines[2].startswith("FAULT  crashes      Examined crashed (seat 0): KeyError: ")
    assert lines[3].strip() == CHECKS["crashes"]
    assert lines[-1] == "mine is not fit: crashes"
    assert "\x1b" not in told.stdout + told.stderr, "no colours where there is no terminal"


def test_the_command_as_json(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + GOOD)
    told = CliRunner().invoke(
        cli.main, ["doctor", str(tmp_path / "mine.py"), "--games", "1", "--json"]
    )
    facts = json.loads(told.stdout)
    assert told.exit_code == 0
    assert facts["fit"] is True
    assert [each["verdict"] for each in facts["findings"]] == ["ok"] * 7


def test_what_a_bot_prints_does_not_mix_with_the_findings(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + GOOD.replace("return", "print('hello'); return"))
    told = subprocess.run(
        [HIMEJI, "doctor", "mine", "--games", "1", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(told.stdout)["fit"] is True
    assert "hello" in told.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "last", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(600)"]
)
def test_what_a_bot_printed_is_seen_however_its_process_ends(tmp_path, monkeypatch, capfd, last):
    monkeypatch.setattr("himeji_sdk.doctor._examination.SILENCE_TIMEOUT_SECONDS", 4.0)
    start = f"""
    def on_start(self, start):
        print("hello", end="")
        {last}
"""
    assert faults(examined(tmp_path, start + GOOD, limit=1.0))
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "hello")


def test_a_clock_is_two_numbers():
    told = CliRunner().invoke(cli.main, ["doctor", "random", "--clock", "fast"])
    assert told.exit_code == 2
    assert "such as 120+0.5" in told.stderr
