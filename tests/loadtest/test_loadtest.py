"""`make loadtest` against real arenas: it measures what bots do, and fails when it should."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji.rules.errors import RateLimited
from himeji.v1.account_service_pb2 import SCOPE_PLAY, CreateTokenRequest
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import Decision
from himeji.v1.play_service_pb2 import Rejected
from himeji_sdk import connection

from loadtest import interceptors, user_weights
from loadtest.__main__ import main
from loadtest.arena import ArenaFailedError, temporary_arena
from loadtest.interceptors import RequestMetrics, reason_of, without_prefix
from tests.server.process_tree import children_of, words_of

ROOT = Path(__file__).parents[2]
TIMEOUT = 280.0
pytestmark = pytest.mark.timeout(300)
FEW = "stream=1,unary=1,spectator=1,ladder=2,newcomer=1"
MANY = "stream=6,unary=2,spectator=1,ladder=2,newcomer=1"
"""More waiting bots than gevent has threads for by default."""


@pytest.fixture
def start(tmp_path):
    """Starts load tests, and ends those that go on."""
    with contextlib.ExitStack() as stack:

        def started(*options):
            load = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "loadtest", "--out", str(tmp_path), *options],
                    cwd=ROOT,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
            stack.callback(load.terminate)
            return load

        yield started


def below(pid, name):
    """Processes below a process whose command line has a word."""
    found = []
    for child in children_of(pid):
        found += [child] if name in words_of(child) else below(child, name)
    return found


@pytest.mark.long
@pytest.mark.parametrize(("workers", "weights", "users"), [("0", MANY, "12"), ("2", FEW, "6")])
def test_every_kind_of_user_plays_and_is_measured(start, tmp_path, workers, weights, users):
    load = start(
        *("--users", users, "--games", "4", "--seconds", "200", "--think", "0"),
        *("--ruleset", "duel", "--weights", weights, "--workers", workers, "--spawn-rate", "20"),
    )
    output, _ = load.communicate(timeout=TIMEOUT)
    assert load.returncode == 0, output
    found = json.loads((tmp_path / "summary.json").read_text())
    measured = {(each["kind"], each["name"]): each["count"] for each in found["events"]}
    assert measured["decision", "stream"] > 10
    assert measured["decision", "unary"] > 10
    for method in ("AccountService/CreateOwner", "GameService/CreateGame", "GameService/ListGames"):
        assert measured["rpc", method], method
    assert ("stream", "PlayService/Play act") in measured
    assert sum(count for (kind, _), count in measured.items() if kind == "game") >= 4
    assert found["failures"] == found["faults"] == []
    assert "<html" in (tmp_path / "report.html").read_text()
    assert "decision" in output


@pytest.mark.long
def test_a_load_whose_arena_is_killed_fails_and_says_why(start):
    load = start("--users", "2", "--seconds", "60", "--weights", "stream=1")
    deadline = time.monotonic() + TIMEOUT
    while not below(load.pid, "locust"):  # then the arena is open
        assert time.monotonic() < deadline, "Locust was not started"
        time.sleep(0.05)
    arena, *_ = below(load.pid, "serve")
    os.kill(arena, signal.SIGKILL)
    output, _ = load.communicate(timeout=TIMEOUT)
    assert load.returncode == 1
    assert "the arena ended by itself with exit code -9" in output


@pytest.mark.long
def test_a_refusal_fails_the_load_by_its_reason(tmp_path):
    # With a token that may only play no owner can be registered: newcomers are refused.
    with temporary_arena(tmp_path / "arena.log") as arena:
        secret = arena.token_file.read_text(encoding="utf-8").strip()
        request = CreateTokenRequest(scopes=[SCOPE_PLAY])
        with connection.channel(arena.target) as channel:
            stub, metadata = AccountServiceStub(channel), connection.credentials(secret)
            made = stub.CreateToken(request, metadata=metadata, timeout=TIMEOUT)
        load = subprocess.run(
            [
                *(sys.executable, "-m", "loadtest", "--target", arena.target),
                *("--out", str(tmp_path), "--users", "1", "--seconds", "3"),
                *("--weights", "newcomer=1"),
            ],
            cwd=ROOT,
            env=os.environ | {"HIMEJI_TOKEN": made.secret},
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    assert load.returncode == 1
    assert "AccountService/CreateOwner: FORBIDDEN" in load.stdout, load.stdout


def test_an_arena_that_cannot_open_is_reported_with_its_own_words(tmp_path):
    with (
        pytest.raises(ArenaFailedError, match="does not answer"),
        temporary_arena(tmp_path / "arena.log", "--redis", "redis://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("stream=1,crowd=2", "'crowd' is not a kind of user"),
        ("stream=much", "'stream=much' is not a weight"),
        ("stream=0", "all weights are 0"),
    ],
)
def test_weights_that_make_no_sense_are_refused_before_anything_starts(text, why):
    result = CliRunner().invoke(main, ["--weights", text])
    assert result.exit_code == 2
    assert why in result.output


def test_the_standard_weights_name_every_kind():
    assert all(user_weights.parse(user_weights.STANDARD).values())


def test_the_time_of_a_decision_ends_with_the_next_question_of_the_same_game():
    fired = []
    metrics = RequestMetrics(lambda **event: fired.append(event))
    metrics.decision_received(Decision(game_id="a", decision_id=1), "stream")
    metrics.answer_sent("a", 1)
    metrics.decision_received(Decision(game_id="b", decision_id=2), "stream")
    metrics.decision_received(
        Decision(game_id="a", decision_id=1), "stream"
    )  # sent again after a reconnect
    assert not fired
    metrics.decision_received(Decision(game_id="a", decision_id=2), "stream")
    assert [event["request_type"] for event in fired] == [interceptors.DECISION]
    metrics.answer_sent("a", 2)
    metrics.decision_received(
        Decision(game_id="a", decision_id=5), "stream"
    )  # others have answered since
    assert len(fired) == 1


def test_failures_are_named_as_the_contract_names_them():
    assert reason_of(RateLimited("wait")) == "RATE_LIMITED"
    name = ErrorReason.Name(ErrorReason.ERROR_REASON_RATE_LIMITED)
    assert without_prefix(name) == "RATE_LIMITED"


def test_a_seating_that_another_seat_called_off_is_no_failure_but_a_late_answer_is():
    fired = []
    playing = interceptors.PlayInterceptor(RequestMetrics(lambda **event: fired.append(event)))
    rejected = Rejected(game_id="a", reason=ErrorReason.ERROR_REASON_GAME_ENDED)
    playing._rejected("Play", rejected, {})
    assert fired.pop()["exception"] is None
    rejected.decision_id = 3
    playing._rejected("Play", rejected, {"a": 0.0})
    assert str(fired.pop()["exception"]) == "GAME_ENDED"
