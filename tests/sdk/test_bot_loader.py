"""Bots by name: installed ones, and those in a file of one's own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji.rules.errors import InvalidRequest
from himeji_bots.random import RandomBot
from himeji_sdk import _cli as cli, play
from himeji_sdk._bot import bot_factory
from himeji_sdk._bot_loader import find_bot, load_bot

HIMEJI = str(Path(sys.executable).parent / "himeji")


def write(path, text):
    path.write_text(text)
    return str(path)


CLASS = """
from himeji_sdk import Bot
class {}(Bot):
    def choose(self, game, legal):
        return legal[0]
"""
FUNCTION = """
def choose(game, legal):
    return legal[-1]
"""


def test_an_installed_bot_is_found_by_its_name():
    assert load_bot("random") is RandomBot


def test_the_command_lists_the_installed_bots():
    told = subprocess.run([HIMEJI, "bots"], capture_output=True, text=True, check=True)
    assert "random" in told.stdout
    as_json = CliRunner().invoke(cli.main, ["bots", "--json"]).output
    assert {"name": "random", "class": "himeji_bots.random:RandomBot"} in json.loads(as_json)


def test_a_file_with_one_bot_is_enough(tmp_path):
    bot = load_bot(write(tmp_path / "mine.py", CLASS.format("Mine")))
    assert bot.__name__ == "Mine"
    assert play([bot, bot], seed=1).game.over


def test_a_file_with_a_function_is_enough(tmp_path):
    bot = load_bot(write(tmp_path / "f.py", FUNCTION))
    assert play([bot, bot], seed=1).game.over


def test_a_file_may_import_what_lies_beside_it(tmp_path):
    write(tmp_path / "beside_the_bot.py", FUNCTION)
    bot = load_bot(write(tmp_path / "f.py", "from beside_the_bot import choose\n"))
    assert play([bot, bot], seed=1).game.over


def test_one_of_several_bots_is_chosen_by_name(tmp_path):
    file = write(tmp_path / "two.py", CLASS.format("One") + CLASS.format("Two"))
    assert load_bot(f"{file}:Two").__name__ == "Two"
    with pytest.raises(InvalidRequest, match=r"several bots \(One, Two\)"):
        load_bot(file)


@pytest.mark.parametrize("text", ["mine", "mine.py", "mine:Mine", "mine.py:Mine"])
def test_a_file_is_found_without_its_ending_too(tmp_path, monkeypatch, text):
    write(tmp_path / "mine.py", CLASS.format("Mine"))
    monkeypatch.chdir(tmp_path)
    assert load_bot(text).__name__ == "Mine"


def test_an_installed_bot_comes_before_a_file_of_the_same_name(tmp_path, monkeypatch):
    write(tmp_path / "random.py", CLASS.format("Mine"))
    monkeypatch.chdir(tmp_path)
    assert load_bot("random") is RandomBot


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\ny = x + z\n", "NameError: name 'z' is not defined (mine.py, line 2)"),
        ("def choose(game, legal)\n", "SyntaxError: expected ':' (mine.py, line 1)"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line_that_says_where(tmp_path, text, sentence):
    with pytest.raises(InvalidRequest) as refused:
        load_bot(write(tmp_path / "mine.py", text))
    assert refused.value.message.endswith(sentence)


def test_a_module_and_a_name_are_a_bot():
    assert load_bot("himeji_bots.random:RandomBot") is RandomBot


OPTIONS = """
from himeji_sdk import Bot
class Choosy(Bot):
    def __init__(self, place: int = 0, seed: int | None = None, mood: str = ""):
        if place > 9:
            raise ValueError("there are ten places")
        self.told = (place, seed, mood)
    def choose(self, game, legal):
        return legal[0]
"""


def test_a_bot_has_the_options_that_its_constructor_takes(tmp_path):
    file = write(tmp_path / "choosy.py", OPTIONS)
    bot = load_bot(f"{file}:place=3,mood=blue")
    assert play([bot, bot], seed=1).game.over
    assert bot_factory(bot).make().told == (3, None, "blue")
    assert bot_factory(load_bot(f"{file}:Choosy:seed=7")).make().told == (0, 7, "")
    assert bot_factory(bot).name == f"{file}:place=3,mood=blue"


def test_a_wish_is_heard_if_the_bot_has_the_option_and_its_name_did_not_say_it(tmp_path):
    file = write(tmp_path / "choosy.py", OPTIONS)
    found = find_bot(f"{file}:place=3")
    assert bot_factory(found.bot(seed=5, place=4, colour=6)).make().told == (3, 5, "")
    function = find_bot(write(tmp_path / "f.py", FUNCTION))
    assert function.bot(seed=5) is function.target


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("colour=1", "has no option 'colour' (it has: place, seed, mood)"),
        ("place=10", "there are ten places"),
        ("place=1,2", "options are written key=value, '2' is not"),
    ],
)
def test_an_option_that_a_bot_does_not_take_is_refused(tmp_path, options, sentence):
    file = write(tmp_path / "choosy.py", OPTIONS)
    with pytest.raises(InvalidRequest) as refused:
        load_bot(f"{file}:{options}")
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nobody", "there is no bot 'nobody' (there are: "),
        ("nowhere.py", "there is no file nowhere.py"),
        ("himeji_bots.random:Nobody", "himeji_bots.random has no Nobody"),
        ("nowhere:Nobody", "nowhere cannot be imported: ModuleNotFoundError"),
        ("himeji_bots.random:__doc__", "is no bot"),
    ],
)
def test_what_is_no_bot_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InvalidRequest) as refused:
        load_bot(text)
    assert sentence in refused.value.message


def test_an_unknown_bot_on_the_command_line_is_one_line():
    told = CliRunner().invoke(cli.main, ["run", "nobody"])
    assert told.exit_code == 1
    assert told.stderr.startswith("Error: there is no bot 'nobody'")
    assert told.stderr.count("\n") == 1
