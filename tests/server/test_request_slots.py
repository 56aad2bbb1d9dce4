"""The places of requests at work: how long those of rejected ones stay taken."""

import pytest
from himeji_server.accounts.caller import Caller
from himeji_server.limits import Limits
from himeji_server.play.request_slots import RequestSlots

LIMITS = Limits(requests_at_work_per_owner=10, rejections_per_second=5, rejections_at_once=3)


def slots(owner, scopes=()):
    return Caller(owner, "t", frozenset(scopes))


def test_streams_of_an_owner_share_their_places_and_those_of_others_do_not():
    found = RequestSlots(LIMITS)
    first = found.of(slots("ada"))
    assert found.of(slots("ada")) is first
    assert found.of(slots("bob")) is not first


def test_rejections_beyond_a_burst_hold_their_places_ever_longer():
    ada = RequestSlots(LIMITS).of(slots("ada"))
    delays = [ada.delay() for _ in range(5)]
    assert delays == pytest.approx([0, 0, 0, 0.2, 0.4], abs=0.05)
    assert ada.debt_seconds() == pytest.approx(0.4, abs=0.05)


def test_closing_streams_to_free_their_places_leaves_a_debt_of_seconds_at_most():
    ada = RequestSlots(LIMITS).of(slots("ada"))
    delays = [ada.delay() for _ in range(1_000)]
    assert max(delays) <= 10 / 5 + 0.5
    assert ada.debt_seconds() <= 10 / 5 + 0.5
