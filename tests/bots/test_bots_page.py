"""The page docs/bots.md is true: its bots and options exist (tests/docs types its commands)."""

import re
from pathlib import Path

from himeji_sdk._bot_loader import installed_bots, load_bot
from himeji_sdk._commands.match import match

PAGE = (Path(__file__).parents[2] / "docs" / "bots.md").read_text(encoding="utf-8")


def test_every_reference_bot_is_on_the_page():
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    own = {name for name, place in installed_bots().items() if place.startswith("himeji_bots.")}
    assert set(rows) == own


def test_every_bot_with_options_on_the_page_can_be_loaded():
    for text in re.findall(r"`((?:mcts|planner):[^`]+)`", PAGE):
        load_bot(text)


def test_every_option_of_the_command_is_on_the_page_and_no_other():
    there = {each for option in match.params for each in option.opts if each.startswith("--")}
    assert set(re.findall(r"(?<![\w-])--[a-z0-9]+", PAGE)) == there
