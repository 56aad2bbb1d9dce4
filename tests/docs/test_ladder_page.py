"""The page about the ladder is true: its commands exist, and its numbers are the code's."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from himeji_sdk._cli import main
from himeji_server.ladder import fair_play, ladders, matchmaker, rating
from himeji_server.ladder.queue_pairing import RECENT_GAMES, Policy

PAGE = (Path(__file__).parents[2] / "docs" / "ladder.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line.strip()
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_can_be_given(command):
    program, *words = shlex.split(command)
    assert program == "himeji"
    group = main
    while hasattr(group, "commands") or hasattr(group, "list_commands"):
        group = group.get_command(None, words.pop(0))
        assert group is not None, command
    group.make_context(command, words)


def test_the_commands_were_found():
    assert len(COMMANDS) >= 15


def test_the_numbers_of_matchmaking_are_those_of_the_code():
    policy = Policy()
    assert f"its share of the last {RECENT_GAMES} games" in TEXT
    assert (
        f"less than half of the best possible one waits up to {policy.patience:g} seconds" in TEXT
    )
    assert policy.least_worth == 0.5
    assert f"- {100 * policy.wide_share:g} of 100 games are **paired without regard" in TEXT
    assert f"and {100 * policy.anchor_share:g} of 100 tables get a **house bot**" in TEXT
    assert f"at most **{policy.pair_cap} times a day**" in TEXT
    assert f"lacks others after {policy.house_after:g} seconds" in TEXT
    assert f"stream has been gone for {matchmaker.DISCONNECTED_MS // 1000} seconds" in TEXT
    pauses = [matchmaker.house_pause(games) // 1000 for games in (0, 1, 10_000)]
    assert pauses == [60, 120, 600]
    assert "rests for 60 seconds, after the next one for 120 and so on up to 10 minutes" in TEXT


def test_the_numbers_of_ratings_are_those_of_the_code():
    assert f"a mean ({rating.MEAN:g} for a beginner) and an uncertainty (25/3)" in TEXT
    assert pytest.approx(25 / 3) == rating.UNCERTAINTY
    assert f"mean − {rating.CAUTION:g} × uncertainty" in TEXT  # noqa: RUF001 - as on the page


def test_the_numbers_of_fair_play_are_those_of_the_code():
    assert (fair_play.RARITY, fair_play.NEARNESS, fair_play.QUICK_TIMES) == (1e-6, 3, 3)
    assert fair_play.QUICK_ENTRIES == 10


def test_the_file_of_ladders_on_the_page_is_one(tmp_path):
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / "ladders.toml"
    file.write_text(block)
    standard = ladders.Ladder("blitz", "base", 2)
    blitz = ladders.read(file)["blitz"]
    assert (blitz.strike_limit, blitz.ready, blitz.trusted, blitz.accepting) == (
        standard.strike_limit,
        standard.ready,
        standard.trusted,
        standard.accepting,
    )
    assert set(tomllib.loads(block)["blitz"]) == set(ladders._KEYS)
