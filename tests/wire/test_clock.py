"""What a clock is. That the store counts alike is a test of tests/server/test_games.py."""

import pytest
from himeji.rules.errors import InvalidRequest
from himeji.v1 import game_pb2 as pb
from himeji.wire import clock
from himeji.wire.clock import CASUAL, FOR_PEOPLE, LADDER, LONGEST_MS, Clock


@pytest.mark.parametrize("each", [CASUAL, LADDER, *FOR_PEOPLE])
def test_a_standard_clock_is_allowed_and_survives_the_contract(each):
    each.check()
    message = pb.Clock()
    each.write(message)
    assert Clock.from_message(message) == each


@pytest.mark.parametrize(
    "each", [(0, 0), (-1, 0), (LONGEST_MS + 1, 0), (1, -1), (1, LONGEST_MS + 1)]
)
def test_a_clock_without_a_bank_or_longer_than_a_week_is_refused(each):
    with pytest.raises(InvalidRequest, match="up to seven days") as refused:
        Clock(*each).check()
    assert refused.value.details == {"field": "clock"}


def test_the_longest_clock_is_allowed():
    Clock(LONGEST_MS, LONGEST_MS).check()


def test_an_answer_costs_its_time_and_earns_an_increment_for_each_decision():
    assert Clock(1_000, 50).after_answer(1_000, 300, 3) == 850
    assert Clock(1_000, 50).after_answer(300, 300) == 50, "the last millisecond is still in time"


def test_an_increment_does_not_save_a_flag_that_fell_before_the_answer():
    assert Clock(1_000, 500).after_answer(300, 301) == -1


def test_time_runs_from_the_question_and_stops_at_nothing():
    assert clock.time_left(1_000, 5_000, 5_400) == 600
    assert clock.time_left(1_000, 5_000, 9_000) == 0
    assert clock.time_left(1_000, 5_000, 4_000) == 1_000, "the store's time may seem to go back"
    assert clock.deadline(1_000, 5_000) == 6_000


def test_a_flag_fall_says_whether_the_bot_was_there():
    assert clock.flag_fall_reason(connected=True) == pb.END_REASON_TIMEOUT
    assert clock.flag_fall_reason(connected=False) == pb.END_REASON_DISCONNECTED
