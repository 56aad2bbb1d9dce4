"""The statistics of matches: the sequential test errs as seldom as it says, intervals hold."""

import math
import random

import pytest
from himeji.rules.errors import InvalidRequest
from himeji_sdk.match._sprt import Sprt, elo_of_score, score_of_elo
from himeji_sdk.match._tally import interval

RUNS = 200


def group_scores(rng, mean, alike):
    """Groups of two games that a bot wins with a chance, either one result twice or two."""
    while True:
        first = rng.random() < mean
        second = first if rng.random() < alike else rng.random() < mean
        yield (first + second) / 2


def verdicts(mean, alike):
    rng = random.Random(5)
    found = []
    for _ in range(RUNS):
        test = Sprt(0, 150)
        for score in group_scores(rng, mean, alike):
            test.add(score)
            if test.verdict:
                found.append(test.verdict)
                break
    return found


@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_a_bot_that_is_no_stronger_is_seldom_called_stronger(alike):
    wrong = verdicts(score_of_elo(0), alike).count("elo1")
    assert wrong / RUNS < 0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_a_stronger_bot_is_seldom_called_no_stronger(alike):
    wrong = verdicts(score_of_elo(150), alike).count("elo0")
    assert wrong / RUNS < 0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)


def test_games_of_a_group_are_not_counted_as_if_they_were_independent():
    # The same wins, once in groups that agree and once in groups that do not.
    agree, differ = Sprt(0, 150), Sprt(0, 150)
    for _ in range(10):
        agree.add(1.0)
        agree.add(0.5)
        agree.add(0.0)
        differ.add(0.5)
        differ.add(0.5)
        differ.add(0.5)
    assert differ.llr < agree.llr < 0


def test_the_ratio_is_that_of_the_likeliest_distributions():
    # Two outcomes: the mean alone is the distribution, so the ratio can be written down.
    test, low, high = Sprt(-50, 50), score_of_elo(-50), score_of_elo(50)
    for score in [1.0] * 30 + [0.0] * 20:
        test.add(score)
    by_hand = 30 * math.log(high / low) + 20 * math.log((1 - high) / (1 - low))
    assert test.llr == pytest.approx(by_hand, rel=1e-6)


def test_nothing_is_known_before_the_first_group():
    assert Sprt().llr == 0
    assert Sprt().verdict == ""


@pytest.mark.parametrize("wrong", [{"elo0": 5, "elo1": 5}, {"alpha": 0.0}, {"beta": 0.6}])
def test_a_test_that_cannot_decide_is_refused(wrong):
    with pytest.raises(InvalidRequest):
        Sprt(**wrong)


def test_elo_and_score_say_the_same():
    assert score_of_elo(0) == 0.5
    assert score_of_elo(400) == pytest.approx(10 / 11)
    assert elo_of_score(score_of_elo(-123)) == pytest.approx(-123)
    assert elo_of_score(1.0) == math.inf
    assert elo_of_score(0.0) == -math.inf


@pytest.mark.parametrize("groups", [10, 60])
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.97])
@pytest.mark.parametrize("alike", [0.0, 0.7])
def test_the_interval_holds_the_truth_as_often_as_it_says(groups, mean, alike):
    rng, held, runs = random.Random(9), 0, 1000
    scores = group_scores(rng, mean, alike)
    for _ in range(runs):
        low, high = interval([next(scores) for _ in range(groups)])
        held += low <= mean <= high
    assert held / runs > 0.93


def test_the_interval_follows_the_spread_of_the_groups_not_of_the_games():
    low, high = interval([0.5] * 50)
    wide_low, wide_high = interval([0.0, 1.0] * 25)
    assert high - low < (wide_high - wide_low) / 3


def test_few_groups_that_look_alike_prove_little():
    assert interval([1.0] * 3)[0] < 0.5
    low, high = interval([0.5] * 2)
    assert low < 0.25
    assert high > 0.75
