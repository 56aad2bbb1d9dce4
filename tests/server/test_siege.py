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

from tests.programs.siege.__main__ import AS_EXPECTED, NOT_DEFENDED, NOT_SHOWN, verdict_of
from tests.programs.siege.attacks import ATTACKS, giant_messages
from tests.programs.siege.measurements import MB, Bounds, Outcome, Phase
from tests.programs.siege.records import DECISION, PAGE, REGISTER, Record, Window

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


def test_a_control_has_to_show_the_symptom_of_its_attack_and_not_that_the_machine_is_busy():
    slow = with_calls(*[Record(DECISION, 1.0, 9_000.0, "")] * 3)
    slow |= with_failure(PAGE, "TimeoutError")
    guessed = {"harm": "5 guesses were looked up"}
    symptom = "guesses were looked up"
    for changed, verdict in (({}, NOT_SHOWN), (slow, NOT_SHOWN), (slow | guessed, AS_EXPECTED)):
        outcome = dataclasses.replace(HARMLESS, **changed)
        assert verdict_of(outcome, Bounds(latency_ratio=15.0), symptom) == verdict


def test_a_symptom_is_found_behind_more_frequent_failures():
    others = [Record(f"call {n}", 2.5, 9.0, "UNAVAILABLE") for n in (1, 1, 2, 2, 3, 3)]
    refused = Record(REGISTER, 2.5, 9.0, "RESOURCE_EXHAUSTED LIMIT_EXCEEDED: 100 owners")
    outcome = dataclasses.replace(HARMLESS, calls_since=Window((*others, refused), 3.0))
    assert outcome.shows("register: RESOURCE_EXHAUSTED LIMIT_EXCEEDED", Bounds())


def test_an_attack_and_its_control_are_judged_by_the_same_bounds():
    loud = dataclasses.replace(HARMLESS, **with_attacks(300, log_bytes=6_000))
    for bounds, verdicts in (
        (Bounds(), (NOT_DEFENDED, AS_EXPECTED)),
        (Bounds(log_ratio=10.0), (AS_EXPECTED, NOT_SHOWN)),
    ):
        found = (verdict_of(loud, bounds), verdict_of(loud, bounds, "the log grew"))
        assert found == verdicts


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_has_a_control_with_a_symptom_that_is_not_latency(name):
    attack = ATTACKS[name]()
    assert attack.control
    assert attack.symptom
    assert "p99" not in attack.symptom


@pytest.mark.parametrize(
    ("name", "told", "reached"),
    [
        ("unread answers", {"answer began": 200}, False),
        ("unread answers", {"answer began": 2_000}, True),
        ("connection flood", {"connections held to the end": 1_000}, False),
        ("connection flood", {"connections held to the end": 3_900}, True),
        ("rapid reset", {"calls reset by us": 30_000, "connection closed": 10}, False),
        ("rapid reset", {"calls reset by us": 30_000, "blocked": 1}, False),
        ("rapid reset", {"calls reset by us": 30_000}, True),
        ("streams of nonsense", {"messages with the marker": 900}, False),
        ("streams of nonsense", {"rejections beyond the rate": 9_000}, True),
        ("streams that do not read", {"streams held to the end": 64}, True),
        ("guessing tokens", {"UNAUTHENTICATED INVALID_TOKEN": 9_000}, True),
        ("log flood", {"lines in the log": 40}, False),
        ("log flood", {"lines in the log": 2_000}, True),
        ("list storm", {"OK": 65}, False),
        ("list storm", {"OK": 65, "a list that one page went through": 1}, True),
        ("slow page clients", {"held to the end": 128}, False),
        ("slow page clients", {"held to the end": 999}, True),
        ("giant messages", {"INVALID_ARGUMENT MESSAGE_TOO_LARGE": 90, "OK": 5}, False),
        ("giant messages", {"INVALID_ARGUMENT MESSAGE_TOO_LARGE": 60, "OK": 40}, True),
        ("recompute under load", {"RESOURCE_EXHAUSTED LIMIT_EXCEEDED": 6}, False),
        ("recompute under load", {"progress": 60}, True),
    ],
)
def test_what_an_attack_reached_is_its_symptom(name, told, reached):
    attack = ATTACKS[name]()
    harm = attack.harm(Counter(told))
    assert (attack.symptom in harm) if reached else harm == ""


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
