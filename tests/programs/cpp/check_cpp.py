"""`make test-languages`: build the C++ bot by its own Makefile, and play whole games with it."""

import os
import subprocess

import pytest

from tests.languages import bot_checks
from tests.languages.test_javascript import CUT_AFTER

FOLDER = bot_checks.ROOT / "docs" / "examples" / "cpp"
BUILD_TIMEOUT = 1500
"""Seconds, for slow machines."""


@pytest.fixture(scope="module")
def command() -> list[str]:
    build, _ = bot_checks.commands("C++")
    done = subprocess.run(
        ["sh", "-ec", build],
        cwd=bot_checks.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return [str(FOLDER / "build" / "bot")]


@pytest.mark.timeout(BUILD_TIMEOUT + bot_checks.TIMEOUT)
def test_it_plays_a_whole_game_against_the_house(command, endpoint):
    bot_checks.plays_a_whole_game(command, endpoint.target, endpoint)


def test_it_comes_back_when_the_line_breaks_and_finishes_its_game(
    command, endpoint, breaking_connection
):
    bot_checks.comes_back_to_a_game(command, breaking_connection(CUT_AFTER), endpoint)


def test_it_says_what_is_wrong_with_a_token(command, endpoint):
    bot_checks.says_what_is_wrong_with_a_token(command, endpoint)


def test_it_is_short():
    assert bot_checks.lines_of_code(FOLDER / "bot.cpp") < 160


@pytest.mark.usefixtures("command")
def test_the_command_of_the_page_plays(endpoint):
    _, play = bot_checks.commands("C++")
    done = subprocess.run(
        ["sh", "-ec", play],
        cwd=bot_checks.ROOT,
        env=os.environ
        | {"HIMEJI_TARGET": endpoint.target, "HIMEJI_TOKEN_FILE": str(endpoint.token_file)},
        capture_output=True,
        text=True,
        check=False,
        timeout=bot_checks.TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert bot_checks.OVER.fullmatch(done.stdout)
