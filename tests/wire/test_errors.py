"""Errors on the wire: one row per class, and the same class comes out at the other end."""

import re
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from himeji.rules import errors
from himeji.rules.errors import HimejiError
from himeji.v1.errors_pb2 import ErrorReason
from himeji.wire.errors import (
    RETRY_AFTER,
    STATUS_CODES,
    STATUS_DETAILS,
    from_rpc_error,
    from_status,
    to_status,
)

PROTO = Path(__file__).parents[2] / "proto" / "himeji" / "v1" / "errors.proto"


def every_class(root=HimejiError):
    """Every class of the core; the server's own, if it is loaded, come out as one of these."""
    core = [each for each in root.__subclasses__() if each.__module__.startswith("himeji.")]
    return [root, *(found for each in core for found in every_class(each))]


def sample(kind):
    """An error of the class, with a sentence and a fact."""
    if kind is errors.IllegalAction:
        return kind("no room on the bridge", action=4, rule="B-2.1", legal=[1, 2, 30])
    if kind is errors.ImpossiblePosition:
        return kind(["seat 1 has 9 courtiers", "round 4 of 3"])
    if kind is errors.InternalFault:
        return kind("0123abcd")
    return kind("that does not work", {"what": "the thing"})


class FailedCall(grpc.RpcError):
    """What a client is given for a failed call."""

    def __init__(self, code, details, trailing=()):
        self.parts = (code, details, trailing)

    def code(self):
        return self.parts[0]

    def details(self):
        return self.parts[1]

    def trailing_metadata(self):
        return self.parts[2]


def test_every_class_of_the_tree_has_a_row_and_no_other_has_one():
    assert set(STATUS_CODES) == set(every_class())


def test_reasons_are_unique_and_are_the_values_of_the_contract():
    reasons = [each.reason for each in every_class()]
    assert len(reasons) == len(set(reasons))
    assert {f"ERROR_REASON_{reason}" for reason in reasons} == set(ErrorReason.keys())


def test_the_statuses_are_those_that_the_contract_promises():
    row = re.compile(r"Status: (\w+)\.(?:(?!Status:).)*?ERROR_REASON_(\w+) = ", re.DOTALL)
    said = {reason: code for code, reason in row.findall(PROTO.read_text())}
    assert said.pop("UNSPECIFIED") == "none"
    known = {each.reason: code.name for each, code in STATUS_CODES.items()}
    assert known.pop("UNSPECIFIED") == "UNKNOWN"
    assert said == known


@pytest.mark.parametrize("kind", every_class())
def test_an_error_comes_out_as_it_went_in(kind):
    sent = sample(kind)
    status = to_status(sent)
    trailing = [("x-other", "text"), (STATUS_DETAILS, status.SerializeToString())]
    got = from_rpc_error(FailedCall(STATUS_CODES[kind], sent.message, trailing))
    assert type(got) is kind
    assert got.message == sent.message
    assert got.details.items() >= sent.details.items()
    own = {key: value for key, value in vars(sent).items() if key not in {"message", "details"}}
    assert {key: getattr(got, key) for key in own} == own


@pytest.mark.parametrize("kind", [errors.StoreUnavailable, errors.RateLimited])
def test_what_may_be_tried_again_says_when(kind):
    status = to_status(kind("later", {RETRY_AFTER: "2500"}))
    retry = error_details_pb2.RetryInfo()
    assert status.details[1].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 2500
    assert from_status(status).details[RETRY_AFTER] == "2500"
    assert from_status(to_status(kind("later"))).details[RETRY_AFTER] == "1000"


def test_what_need_not_be_tried_again_says_nothing_of_when():
    assert len(to_status(errors.GameEnded("over")).details) == 1


def test_after_draining_another_process_answers_at_once():
    assert len(to_status(errors.Draining("stopping")).details) == 1


def test_a_wrong_field_is_named_in_a_bad_request():
    status = to_status(errors.InvalidRequest("seats has to be 2 to 4", {"field": "seats"}))
    found = error_details_pb2.BadRequest()
    assert status.details[1].Unpack(found)
    (violation,) = found.field_violations
    assert (violation.field, violation.description) == ("seats", "seats has to be 2 to 4")


def test_a_long_error_still_fits_into_trailing_metadata():
    reasons = [f"reason {number} with some words in it" for number in range(2000)]
    status = to_status(errors.ImpossiblePosition(reasons))
    assert status.ByteSize() < 6_000
    assert from_status(status).reasons == tuple(reasons[: len(from_status(status).reasons)])
    legal = to_status(errors.IllegalAction("no", action=1, rule="", legal=range(5000)))
    assert legal.ByteSize() < 4_000
    assert from_status(legal).legal == ()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, errors.Unavailable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, errors.DeadlineExceeded),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.LimitExceeded),
        (grpc.StatusCode.FAILED_PRECONDITION, errors.Refused),
        (grpc.StatusCode.UNIMPLEMENTED, errors.Unsupported),
        (grpc.StatusCode.UNKNOWN, HimejiError),
        (grpc.StatusCode.CANCELLED, errors.Unavailable),
    ],
)
def test_a_status_without_our_details_becomes_the_base_class_of_its_code(code, kind):
    got = from_rpc_error(FailedCall(code, "said by something else"))
    assert type(got) is kind
    assert got.message == "said by something else"


def test_a_reason_from_the_future_keeps_its_name_and_facts():
    status = status_pb2.Status(code=grpc.StatusCode.NOT_FOUND.value[0], message="no such season")
    info = error_details_pb2.ErrorInfo(reason="UNKNOWN_SEASON", domain="himeji")
    info.metadata["season"] = "7"
    status.details.add().Pack(info)
    got = from_status(status)
    assert type(got) is errors.NotFound
    assert got.details == {"reason": "UNKNOWN_SEASON", "season": "7"}


def test_a_reason_of_another_domain_is_not_taken_for_ours():
    status = status_pb2.Status(code=grpc.StatusCode.UNAVAILABLE.value[0])
    info = error_details_pb2.ErrorInfo(reason="GAME_ENDED", domain="googleapis.com")
    status.details.add().Pack(info)
    assert type(from_status(status)) is errors.Unavailable


@pytest.mark.parametrize("kind", [errors.IllegalAction, errors.ImpossiblePosition])
def test_an_error_without_its_facts_becomes_its_parent(kind):
    status = to_status(sample(kind))
    del status.details[1:]
    bare = error_details_pb2.ErrorInfo(reason=kind.reason, domain="himeji")
    status.details[0].Pack(bare)
    assert type(from_status(status)) is kind.__mro__[1]


def test_details_that_are_no_status_are_left_aside():
    trailing = [(STATUS_DETAILS, b"\xff\xff")]
    got = from_rpc_error(FailedCall(grpc.StatusCode.NOT_FOUND, "gone", trailing))
    assert (type(got), got.message) == (errors.NotFound, "gone")
