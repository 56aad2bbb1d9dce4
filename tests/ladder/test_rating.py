"""Ratings: what a game does to them, and what stays as it is."""

import pytest
from himeji_server.ladder.rating import (
    BEGINNER,
    MEAN,
    REFERENCE,
    UNCERTAINTY,
    Rating,
    carried_over,
    inherited,
    updated,
    updated_alone,
)
from openskill.models import PlackettLuce


def test_a_win_lifts_the_winner_and_both_are_better_known():
    winner, loser = updated([BEGINNER, BEGINNER], [1, 2])
    assert winner.mean > MEAN > loser.mean
    assert winner.mean - MEAN == pytest.approx(MEAN - loser.mean)
    assert winner.uncertainty == loser.uncertainty < UNCERTAINTY


def test_the_order_of_the_seats_does_not_matter():
    before = [Rating(20, 3), Rating(30, 2), Rating(25, 8), Rating(28, 5)]
    ranks = [2, 1, 4, 3]
    straight = updated(before, ranks)
    backwards = updated(before[::-1], ranks[::-1])[::-1]
    assert straight == backwards


def test_a_shared_rank_between_equals_moves_no_mean():
    for after in updated([BEGINNER, BEGINNER], [1, 1]):
        assert after.mean == pytest.approx(MEAN)


def test_an_expected_win_tells_less_than_a_surprise():
    strong, weak = Rating(32, 2), Rating(18, 2)
    expected = updated([strong, weak], [1, 2])[0].mean - strong.mean
    surprise = strong.mean - updated([strong, weak], [2, 1])[0].mean
    assert 0 < expected < surprise / 5


def test_in_a_game_of_four_ranks_order_the_means():
    means = [each.mean for each in updated([BEGINNER] * 4, [3, 1, 4, 2])]
    assert means[1] > means[3] > means[0] > means[2]


def test_every_game_counts_whole_with_any_number_of_seats():
    # openskill's own factor (gamma) would let uncertainty fall more slowly.
    slower = PlackettLuce()
    for seats in (2, 3, 4):
        ranks = list(range(1, seats + 1))
        theirs = slower.rate([[slower.rating()] for _ in ranks], ranks=[*map(float, ranks)])
        for ours, (other,) in zip(updated([BEGINNER] * seats, ranks), theirs, strict=True):
            assert ours.mean == pytest.approx(other.mu)
            assert ours.uncertainty < other.sigma


def test_uncertainty_never_dies_out():
    rating, other = BEGINNER, BEGINNER
    for number in range(3_000):
        rating, other = updated([rating, other], [1, 2] if number % 2 else [2, 1])
    assert 0.5 < rating.uncertainty < 2.0


def test_the_standings_are_ordered_by_a_cautious_estimate():
    lucky, known = Rating(33, 7), Rating(30, 1)
    assert known.conservative > lucky.conservative
    assert BEGINNER.conservative == 0


def test_a_lone_bot_is_rated_against_a_rival_that_stays_where_it_is():
    won = updated_alone(BEGINNER, rank=1, rivals_rank=2)
    lost = updated_alone(BEGINNER, rank=2, rivals_rank=1)
    assert won.mean > REFERENCE.mean > lost.mean
    for _ in range(200):
        won = updated_alone(won, rank=1, rivals_rank=2)
        won = updated_alone(won, rank=2, rivals_rank=1)
    # Who wins every other game is the rival's equal.
    assert won.mean == pytest.approx(REFERENCE.mean, abs=1.5)


def test_a_new_version_begins_at_its_parents_mean_as_unknown_as_a_beginner():
    assert inherited(Rating(31.5, 0.9)) == Rating(31.5, UNCERTAINTY)


def test_a_season_keeps_a_share_of_the_distance_from_a_beginner():
    assert carried_over(Rating(35, 1), 0.5) == Rating(30, UNCERTAINTY)
    assert carried_over(Rating(35, 1), 0) == BEGINNER
    assert carried_over(Rating(35, 1), 1) == Rating(35, UNCERTAINTY)


def test_the_same_games_give_the_same_digits():
    def play():
        ratings = [BEGINNER] * 3
        for number in range(50):
            ratings = updated(ratings, [(number + seat) % 3 + 1 for seat in range(3)])
        return ratings

    assert play() == play()
