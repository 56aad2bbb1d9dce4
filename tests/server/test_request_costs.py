"""No request holds the event loop for long: the largest of every RPC, on an arena full of data.

Compared is processor time of the loop's thread with that of the longest request that the loop runs
by design, in the same run; the best of three tries counts.
"""

import pytest

from tests.programs.bench import requests
from tests.server import dear_requests
from tests.server.largest_requests import request_types

STORED = 150
MOST_HELD = 6
"""Times the baseline, which takes about 3 ms: what this test is to find takes hundreds."""


@pytest.fixture(scope="module")
def costs():
    return requests.measure(STORED)


def test_no_request_holds_the_event_loop_for_long(costs):
    baseline = costs[dear_requests.baseline().name]["hold_ms"]
    held = {name: each["hold_ms"] / baseline for name, each in costs.items()}
    assert {name: ratio for name, ratio in held.items() if ratio > MOST_HELD} == {}


def test_every_method_is_measured(costs):
    measured = {name.partition(":")[0] for name in costs}
    assert measured == {path.rpartition("/")[2] for path in request_types()}


def test_the_dear_requests_are_valid(costs):
    """A refusal would be cheap, and the test above would say nothing."""
    filled = {request.name for request in dear_requests.filled_requests()}
    refused = {name: each["status"] for name, each in costs.items() if name not in filled}
    refused = {name: status for name, status in refused.items() if status != "OK"}
    assert refused == {"CreateTournament: 64 bots": "ALREADY_EXISTS"}  # since it is made thrice
