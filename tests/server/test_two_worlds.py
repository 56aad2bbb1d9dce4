"""Nothing that an arena shows depends on a game's key, or on what chance will give."""

import pytest
from himeji import rules

from tests.programs.two_worlds.comparison import compare
from tests.programs.two_worlds.deals import deals, with_last_result_open

pytestmark = pytest.mark.timeout(300)


async def test_two_worlds_that_differ_in_their_keys_show_the_same():
    report = await compare(deals(5, seed=100))
    assert not report.differences, "\n".join(map(str, report.differences[:5]))
    assert report.compared > 200


async def test_planted_leaks_are_found():
    report = await compare(deals(5, seed=200), leaky=True)
    places = {each.place for each in report.differences}
    for leak in (
        "game 0 (base) CreateGame",
        "game 1 (solo) stream decision",
        "game 2 (matcha) GetGame",
        "game 3 (matcha-solo) stream rejected",
        "game 4 (duel) page /games/ID header",
        'metric himeji_calls_total{code="OK",method="dice"}',
    ):
        assert leak in places
    # What does not leak is equal in these worlds, too.
    assert "game 4 (duel) stream decision" not in places
    assert "game 4 (duel) page /games/ID" not in places


@pytest.mark.long
async def test_chance_that_differs_before_the_cut_shows():
    tables = [(each.name, max(each.seat_counts)) for each in rules.RULESETS.values()]
    report = await compare([with_last_result_open(*table, seed=300) for table in tables])
    assert report.differences
