"""Checks that every example bot must pass, whatever its language."""

import re
import secrets
import subprocess
from pathlib import Path

from loadtest.arena import clean_environment
from tests.languages.relay import Relay
from tests.sdk.conftest import Endpoint

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "other-languages.md").read_text(encoding="utf-8")
TIMEOUT = 240
OVER = re.compile(r"game (\w+) is over \((?:END_REASON_)?(\w+)\): (\d+) points, rank ([12])\n")


def run(command: list[str], target: str, token: str) -> subprocess.CompletedProcess[str]:
    """Run a bot as a process against a house bot."""
    return subprocess.run(
        [*command, "house/random", f"local/t-{secrets.token_hex(6)}"],
        env=clean_environment() | {"HIMEJI_TARGET": target, "HIMEJI_TOKEN": token},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )


def plays_a_whole_game(command: list[str], target: str, endpoint: Endpoint) -> None:
    done = run(command, target, endpoint.token)
    assert done.returncode == 0, done.stderr
    over = OVER.fullmatch(done.stdout)
    assert over is not None, done.stdout
    assert over[2].lower() == "finished"
    with endpoint.client() as client:
        replay = client.replay(over[1])
    assert len(list(replay.verify())) == 8
    game = replay.message.game
    assert [seat.strikes for seat in game.seats] == [0, 0]
    mine = game.result.seats[0]
    assert (mine.score, mine.rank) == (int(over[3]), int(over[4]))


def comes_back_to_a_game(command: list[str], relay: Relay, endpoint: Endpoint) -> None:
    plays_a_whole_game(command, relay.address, endpoint)
    assert relay.cuts == 1
    assert relay.connections > 1


def says_what_is_wrong_with_a_token(command: list[str], endpoint: Endpoint) -> None:
    done = run(command, endpoint.target, "wrong")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "token" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def lines_of_code(path: Path) -> int:
    """Lines that are neither empty nor a comment."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(bool(line) and not line.startswith("//") for line in lines)


def commands(language: str) -> list[str]:
    """The commands that the page gives for a language."""
    section = PAGE.partition(f"\n## {language}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\$ (.+)$", section, re.MULTILINE)
