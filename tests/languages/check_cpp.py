"""The bot in C++, built by its own Makefile, plays whole games: `make test-languages`.

It needs Debian's gRPC packages, so the ordinary suite does not collect it by its name.
"""

import os
import subprocess

import pytest

from tests.languages import playing
from tests.languages.test_javascript import BREAKS

FOLDER = playing.ROOT / "docs" / "examples" / "cpp"
BUILDING = 1500
"""Seconds that compiling may take on a slow machine."""


@pytest.fixture(scope="module")
def command() -> list[str]:
    build, _ = playing.commands("C++")
    done = subprocess.run(
        ["sh", "-ec", build],
        cwd=playing.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILDING,
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return [str(FOLDER / "build" / "bot")]


@pytest.mark.timeout(BUILDING + playing.PATIENCE)
def test_it_plays_a_whole_game_against_the_house(command, endpoint):
    playing.plays_a_whole_game(command, endpoint.target, endpoint)


def test_it_comes_back_when_the_line_breaks_and_finishes_its_game(command, endpoint, breaking_line):
    playing.comes_back_to_a_game(command, breaking_line(BREAKS), endpoint)


def test_it_says_what_is_wrong_with_a_token(command, endpoint):
    playing.says_what_is_wrong_with_a_token(command, endpoint)


def test_it_is_short():
    assert playing.lines_of_code(FOLDER / "bot.cpp") < 150


@pytest.mark.usefixtures("command")
def test_the_command_of_the_page_plays(endpoint):
    _, play = playing.commands("C++")
    done = subprocess.run(
        ["sh", "-ec", play],
        cwd=playing.ROOT,
        env=os.environ
        | {"HIMEJI_TARGET": endpoint.target, "HIMEJI_TOKEN_FILE": str(endpoint.token_file)},
        capture_output=True,
        text=True,
        check=False,
        timeout=playing.PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert playing.OVER.fullmatch(done.stdout)
