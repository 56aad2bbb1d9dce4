"""What a machine sets in its environment changes no result: neither for users nor for tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import environment
from tests.server.conftest import open_arena

HIMEJI = str(Path(sys.executable).parent / "himeji")
NOWHERE = "http://127.0.0.1:9"  # the port that throws everything away; nobody listens there
ODD = {
    "CI": "perhaps",
    "COLUMNS": "7",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": "/nowhere/roots.pem",
    "GRPC_TRACE": "nothing",
    "GRPC_VERBOSITY": "error",
    "HIMEJI_": "1",
    "HIMEJI_DATA": "",
    "HIMEJI_NONSENSE": "1",
    "HIMEJI_PURE": "no",
    "HIMEJI_TARGET": "",
    "HIMEJI_TOKEN": "",
    "LANG": "tlh_XX.ISO-8859-1",
    "LC_ALL": "xx_NOWHERE",
    "LINES": "2",
    "NODE_OPTIONS": "",
    "NO_COLOR": "1",
    "PIP_INDEX_URL": NOWHERE,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "77",
    "PYTHONUNBUFFERED": "",
    "SSL_CERT_DIR": "/nowhere",
    "SSL_CERT_FILE": "/nowhere/certificates.pem",
    "TERM": "dumb",
    "TZ": "Pacific/Chatham",
    "npm_config_registry": NOWHERE,
}
for way in ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"):
    ODD |= {way: NOWHERE, way.upper(): NOWHERE}

LOCAL = [
    ["play", "greedy", "random:seed=1", "--seed", "3", "--json"],
    ["match", "greedy", "random", "--games", "2", "--seed", "3", "--cores", "1", "--json"],
    ["rulesets", "--json"],
    ["doctor", "greedy", "--games", "1", "--json"],
]


def run(*words, odd=True, **options):
    env = os.environ | (ODD if odd else {})
    done = subprocess.run(
        [HIMEJI, *words], env=env, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def without_times(told):
    """JSON as data; the doctor's sentences say how long a bot took."""
    found = json.loads(told)
    for each in found.get("findings", ()) if isinstance(found, dict) else ():
        del each["sentence"]
    return found


@pytest.mark.parametrize("words", LOCAL, ids=lambda words: words[0])
def test_a_command_tells_the_same_in_an_odd_environment(words, tmp_path):
    plain, odd = (run(*words, odd=odd, cwd=tmp_path) for odd in (False, True))
    assert without_times(odd) == without_times(plain)


@pytest.mark.long
def test_an_arena_and_a_bot_in_an_odd_environment_play_a_game_that_is_true(tmp_path):
    with open_arena(tmp_path, "--house", "random", env=ODD) as arena:
        port = arena.address.rpartition(":")[2]
        run("health", "--port", port)
        there = ["--target", arena.address, "--token-file", arena.facts["token"]]
        ends = json.loads(run("run", "greedy", *there, "--against", "house/random", "--json"))
        run("replay", ends[0]["game_id"], *there, "--save", str(tmp_path / "game.json"))
    assert ends[0]["reason"] == "finished"
    assert run("verify", str(tmp_path / "game.json")).endswith("the replay is true\n")


def test_a_test_sees_nothing_that_a_machine_sets():
    """The next test runs this one in an odd environment."""
    assert environment.matching(os.environ, environment.A_TEST) == dict(os.environ)
    assert "LANG" not in os.environ


def test_the_suite_forgets_an_odd_environment():
    one = f"{__file__}::{test_a_test_sees_nothing_that_a_machine_sets.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", one]
    done = subprocess.run(
        command, env=os.environ | ODD, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
