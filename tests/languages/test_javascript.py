"""The bot for Node plays whole games against a real arena."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.languages import bot_checks
from tests.rules.test_chance import node

FOLDER = "docs/examples/javascript"
BOT = bot_checks.ROOT / FOLDER / "bot.mjs"
MODULES = Path(sys.prefix) / "javascript" / "node_modules"
CUT_AFTER = 5_000
"""Bytes after which the connection is cut, in the middle of a game of about 15,000."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the bot needs of a clone, with its packages installed as the page says."""
    assert MODULES.is_dir(), "the packages of the bot for Node are missing: run `make setup`"
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(bot_checks.ROOT / "proto", root / "proto")
    # After following the page, the packages are there already.
    shutil.copytree(BOT.parent, root / FOLDER, ignore=shutil.ignore_patterns("node_modules"))
    (root / FOLDER / "node_modules").symlink_to(MODULES)
    return root


@pytest.fixture
def command(clone: Path) -> list[str]:
    return [node(), str(clone / FOLDER / "bot.mjs")]


def test_it_plays_a_whole_game_against_the_house(command, endpoint):
    bot_checks.plays_a_whole_game(command, endpoint.target, endpoint)


def test_it_comes_back_when_the_line_breaks_and_finishes_its_game(
    command, endpoint, breaking_connection
):
    bot_checks.comes_back_to_a_game(command, breaking_connection(CUT_AFTER), endpoint)


def test_it_says_what_is_wrong_with_a_token(command, endpoint):
    bot_checks.says_what_is_wrong_with_a_token(command, endpoint)


def test_it_is_short_and_uses_nothing_but_the_contract():
    assert bot_checks.lines_of_code(BOT) < 160
    imported = set(re.findall(r'from "([^"]+)"', BOT.read_text(encoding="utf-8")))
    packages = {name for name in imported if not name.startswith("node:")}
    package = json.loads((BOT.parent / "package.json").read_text(encoding="utf-8"))
    assert packages == set(package["dependencies"]) == {"@grpc/grpc-js", "@grpc/proto-loader"}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", each) for each in package["dependencies"].values())


def test_the_commands_of_the_page_are_those_that_are_used_here(clone, endpoint):
    install, play = bot_checks.commands("JavaScript")
    assert install.startswith(f"npm install --prefix {FOLDER} --")
    makefile = (bot_checks.ROOT / "Makefile").read_text(encoding="utf-8")
    assert install.partition(f"{FOLDER} ")[2] in makefile
    done = subprocess.run(
        ["sh", "-ec", play],
        cwd=clone,
        env=os.environ
        | {
            "HIMEJI_TARGET": endpoint.target,
            "HIMEJI_TOKEN_FILE": str(endpoint.token_file),
            "PATH": str(Path(node()).parent) + os.pathsep + os.environ["PATH"],
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=bot_checks.TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert bot_checks.OVER.fullmatch(done.stdout)
