"""Convergence, short: ratings find the order of known strengths; `make ladder-sim` does more."""

import pytest
from himeji_server.ladder.rating import updated

from tests.programs.ladder_sim.accuracy import correlation, measure
from tests.programs.ladder_sim.rating_systems import SYSTEMS, Himeji


@pytest.fixture(scope="module", params=[2, 4], ids=lambda seats: f"{seats} seats")
def report(request):
    return measure(SYSTEMS, runs=3, seats=request.param, milestones=(10, 40))


def test_ratings_find_the_order_of_strengths(report):
    assert report.correlation("Himeji", 10) > 0.65
    assert report.correlation("Himeji", 40) > 0.9


def test_ratings_are_ahead_of_elo_and_level_with_trueskill(report):
    assert report.correlation("Himeji", 40) > report.correlation("Elo", 40)
    assert report.correlation("Himeji", 40) > report.correlation("TrueSkill", 40) - 0.03


def test_uncertainty_means_what_it_says(report):
    assert 0.85 < report.coverage("Himeji", 40) <= 1.0


def test_slow_bots_meet_fast_ones_as_often_as_blind_pairing_would_have_it(report):
    assert report.mixing() > 0.9


def test_the_measurement_screams_if_wins_count_as_losses():
    class UpsideDown(Himeji):
        def rate(self, players, ranks):
            after = updated([self.rating(name) for name in players], [-rank for rank in ranks])
            self.ratings.update(zip(players, after, strict=True))

    report = measure({"Himeji": UpsideDown}, runs=1, seats=2, milestones=(20,))
    assert report.correlation("Himeji", 20) < -0.5


def test_correlation_is_that_of_ranks():
    assert correlation([1, 5, 9], [10, 11, 900]) == pytest.approx(1)
    assert correlation([1, 5, 9], [3, 2, 1]) == pytest.approx(-1)
