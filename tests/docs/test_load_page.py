"""The page docs/load.md against the commands it explains: every option, as it is."""

import re
from pathlib import Path

from loadtest import user_weights
from loadtest.__main__ import main as loadtest
from loadtest.capacity import main as capacity

PAGE = (Path(__file__).parents[2] / "docs" / "load.md").read_text(encoding="utf-8")
LOAD, CAPACITY = PAGE.split("## make capacity")


def options_of(command):
    return {name for option in command.params for name in option.opts}


def named(text):
    return set(re.findall(r"--[a-z][a-z-]+", text))


def test_every_option_of_loadtest_has_a_row_and_no_other():
    rows = set(re.findall(r"^\| `(--[a-z-]+)` \|", LOAD, re.MULTILINE))
    assert rows == options_of(loadtest)


def test_every_option_of_capacity_is_named_and_no_other():
    assert named(CAPACITY) == options_of(capacity) - {"--out"}


def test_every_kind_of_user_is_explained():
    explained = re.findall(r"^\| `([a-z]+)` \|", LOAD.split("| option |")[0], re.MULTILINE)
    assert explained == list(user_weights.KINDS)
