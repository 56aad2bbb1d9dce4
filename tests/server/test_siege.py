"""The verdicts of `make siege`, and what its attacks send."""

import dataclasses
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet
from himeji_server.rpc import rpc_handlers

from tests.programs.siege.attacks import giant_messages
from tests.programs.siege.measurements import MB, Bounds, Outcome, Phase
from tests.programs.siege.records import DECISION, PAGE, Record, Window

CALLS = tuple(Record(DECISION, 0.0, 10.0, "") for _ in range(100))
PAGES = tuple(Record(PAGE, 0.0, 20.0, "") for _ in range(10))
HARMLESS = Outcome(
    idle=100 * MB,
    after=120 * MB,
    before=Phase(0.0, 1.0, 100 * MB, 1_000),
    attacks=[Phase(1.0, 2.0, 400 * MB, 4_000), Phase(2.0, 3.0, 420 * MB, 4_000)],
    calls_before=Window((*CALLS, *PAGES), 1.0),
    calls_meanwhile=Window((*CALLS, *PAGES), 2.0),
    calls_since=Window((*CALLS, *PAGES), 3.0),
    unanswered=[],
    harm="",
    log_is_bounded=True,
)

ROOT = Path(__file__).parents[2]
SHORT = ["--short", "--tries", "3", "--ratio", "30"]
"""Two attacks and their controls; other tests run beside them, so latency says little."""


def with_calls(*records):
    return {"calls_meanwhile": Window((*CALLS, *PAGES, *records), 2.0)}


def with_failure(kind, text):
    return {"calls_since": Window((*CALLS, *PAGES, Record(kind, 2.5, 9.0, text)), 3.0)}


def with_attacks(*peaks, log_bytes=1_000):
    phases = [Phase(1.0, 2.0, peak * MB, log_bytes, Counter()) for peak in peaks]
    return {"attacks": phases}


@pytest.mark.parametrize("changed", [{}, with_attacks(150, 300, 340)])
def test_an_attack_that_costs_others_little_breaks_no_bound(changed):
    assert dataclasses.replace(HARMLESS, **changed).violations(Bounds()) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (with_failure(DECISION, "UNAVAILABLE"), "decision: UNAVAILABLE"),
        (with_calls(*[Record(DECISION, 1.0, 51.0, "")] * 3), "p99 of calls"),
        (with_calls(Record(PAGE, 1.0, 101.0, "")), "p99 of the page"),
        (with_attacks(457), "memory 457 MB"),
        (with_attacks(300, 457), "memory 457 MB"),
        (with_attacks(300, 347), "the next attack"),
        (with_attacks(300, 347, 394), "the next attack"),
        (with_attacks(300, log_bytes=6_000), "the log grew"),
        ({"unanswered": ["GetGame"]}, "not answered any more"),
        ({"harm": "5 guesses were looked up"}, "5 guesses"),
        ({"calls_meanwhile": Window((), 2.0)}, "p99 of calls"),
    ],
)
def test_each_bound_that_an_attack_breaks_is_named(changed, words):
    broken = dataclasses.replace(HARMLESS, **changed).violations(Bounds())
    assert any(words in each for each in broken), broken


def test_a_window_has_the_calls_that_began_in_it():
    found = [Record(DECISION, at, ms, "") for at, ms in ((0.9, 1), (1.0, 2), (1.9, 3), (2.0, 4))]
    window = Window.of(found, 1.0, 2.0)
    assert [each.ms for each in window.calls] == [2, 3]
    assert window.percentile(0.5) == 2
    assert window.percentile(0.99) == 3


def methods():
    for name, service in rpc_handlers.services().items():
        for method in service.methods:
            yield f"/{name}/{method.name}", method


def test_every_rpc_whose_request_has_a_field_of_any_length_gets_giant_messages():
    attacked = {giant.path for giant in giant_messages.giants()}
    without = {path for path, _ in methods()} - attacked
    assert without == {"/himeji.v1.AccountService/WhoAmI"}, "its request has no field at all"


def test_giant_messages_are_messages_of_the_contract_with_the_field_filled():
    requests = {path: GetMessageClass(method.input_type) for path, method in methods()}
    for giant in giant_messages.giants():
        message = requests[giant.path].FromString(giant.body(2_000, "a-game"))
        assert not UnknownFieldSet(message)
        for field in giant.fields[:-1]:
            message = getattr(message, field.name)
            message = message[0] if field.is_repeated else message
        filled = getattr(message, giant.fields[-1].name)
        assert len(filled) >= 300, f"{giant.path}: {[each.name for each in giant.fields]}"


def test_two_attacks_are_withstood_and_their_controls_are_not():
    program = [sys.executable, "-m", "tests.programs.siege", *SHORT]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as expected (") == 4
