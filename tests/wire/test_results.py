"""Results as messages: ranks are shared, and a lost seat ranks behind all others."""

from types import SimpleNamespace

from himeji.v1.game_pb2 import EndReason
from himeji.wire.results import result

RESIGNED, TIMEOUT = EndReason.END_REASON_RESIGNED, EndReason.END_REASON_TIMEOUT
FINISHED = EndReason.END_REASON_FINISHED


def game(scores, ranking):
    return SimpleNamespace(
        scores=lambda: scores,
        ranking=lambda: ranking,
        breakdown=lambda: [{"play": score} for score in scores],
        ruleset=SimpleNamespace(scoring_rule=lambda name: f"rule of {name}"),
    )


def ranks(*arguments):
    return [seat.rank for seat in result(*arguments).seats]


def test_equal_ranks_are_shared():
    assert ranks(game([9, 9, 5], [1, 1, 3]), FINISHED, {}) == [1, 1, 3]


def test_a_lost_seat_ranks_last_however_many_points_it_has():
    assert ranks(game([50, 9, 9], [1, 2, 2]), FINISHED, {0: (RESIGNED, 7)}) == [3, 1, 1]


def test_of_two_lost_seats_the_one_lost_earlier_ranks_last():
    lost = {0: (RESIGNED, 7), 2: (TIMEOUT, 5)}
    message = result(game([50, 9, 60], [2, 3, 1]), FINISHED, lost)
    assert [seat.rank for seat in message.seats] == [2, 1, 3]
    assert [seat.end_reason for seat in message.seats] == [RESIGNED, FINISHED, TIMEOUT]


def test_a_game_that_was_stopped_has_no_ranks():
    stopped = EndReason.END_REASON_NO_CONTEST
    assert not result(game([1, 2], [2, 1]), stopped, {}).seats
    assert not result(None, EndReason.END_REASON_CANCELLED, {}).seats
