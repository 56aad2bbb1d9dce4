"""Which snapshots of the standings are kept."""

import pytest
from himeji_server.ladder.snapshots import superseded

INTERVAL = 10


def season(results, interval=INTERVAL):
    """The snapshots after so many results, one taken after every interval."""
    kept = []
    for newest in range(interval, results + 1, interval):
        gone = superseded(kept, newest, interval)
        kept = [each for each in kept if each not in gone] + [newest]
    return kept


def test_a_hundred_times_the_results_need_a_few_more_snapshots():
    assert len(season(100)) <= 10
    assert len(season(1_000)) <= 30
    assert len(season(100_000)) <= 60


def test_what_is_replayed_is_little_more_than_what_followed_the_game():
    results = 20_000
    kept = [0, *season(results)]
    for game in range(1, results + 1, 7):
        start = max(each for each in kept if each < game)
        followed = results - game
        assert results - start <= followed * 4 / 3 + 2 * INTERVAL


@pytest.mark.parametrize("late", [1, 9])
def test_an_interval_keeps_its_newest_snapshot(late):
    assert superseded([10, 20, 30], 30 + late, INTERVAL) == [30]
    assert superseded([10, 20, 30], 30, INTERVAL) == []
