"""Final scoring, ties and shared victory (D-9.1)."""

import pytest
from himeji import rules

from tests.rules.duel.conftest import give, load

pytestmark = pytest.mark.rule("D-9.1")
LINES = ("play", "coins and seals", "resources", "flags", "katanas", "kabutos", "cranes")


@pytest.fixture
def finished(first_turn):
    """A finished game in which both seats have what is given."""

    def build(*held, cards=()):
        start = first_turn()
        start |= {"round": 2, "turn": 12, "starter": 0, "over": True, "pending": []}
        for clan in start["clans"]:
            clan["tokens"] = {"coral": 2, "black": 2, "white": 2}
        for seat, name in cards:
            give(start, seat, name, improved=True)
        for clan, more in zip(start["clans"], held, strict=False):
            for key, value in more.items():
                clan[key] = clan[key] | value if isinstance(value, dict) else value
        tiles = [tile for clan in start["clans"] for tile in clan["merchandise"]]
        for stack in start["merchandise"].values():
            left = [tile for tile in (stack["top"], *stack["below"]) if tile not in tiles]
            stack |= {"top": left[0] if left else None, "below": left[1:]}
        return load(start)

    return build


def line(game, name, seat=0):
    return game.breakdown()[seat][name]


def test_the_lines_add_up(finished):
    game = finished({"vp": 7, "coin": 4, "seal": 2, "food": 3, "iron": 7, "pearl": 2})
    assert tuple(game.breakdown()[0]) == LINES
    assert game.scores() == [7 + 1 + 1 + 2, 0]
    assert {rules.ruleset("duel").scoring_rule(name) for name in LINES} == {"D-9.1"}


@pytest.mark.parametrize(
    ("coins", "seals", "points"), [(0, 4, 0), (5, 0, 1), (2, 3, 1), (9, 0, 1), (5, 5, 2)]
)
def test_five_coins_and_seals_together_give_a_point(finished, coins, seals, points):
    assert line(finished({"coin": coins, "seal": seals}), "coins and seals") == points


@pytest.mark.parametrize(("units", "points"), [(0, 0), (2, 0), (3, 1), (6, 1), (7, 2)])
def test_each_resource_gives_one_from_three_units_and_two_for_seven(finished, units, points):
    for good in ("food", "iron", "pearl"):
        assert line(finished({good: units}), "resources") == points
    every = {"food": units, "iron": units, "pearl": units}
    assert line(finished(every), "resources") == 3 * points


def test_flags_count_by_the_level_of_the_courtier(finished):
    climbed = {"path": "left", "courtier": 5, "garden_seals": {"G1": 1, "G4": 1}}
    climbed["merchandise"] = ["luxury-1"]
    game = finished(climbed, {"path": "right"}, cards=[(0, "flag-06")])
    assert line(game, "flags") == (1 + 2 + 3 + 2) * 2


def test_katanas_count_by_own_seals_in_the_basic_yard_alone(finished):
    held = {"yard_seals": {"basic": 3, "elite": 2}, "garden_seals": {"G2": 1}}
    held["merchandise"] = ["common-1"]
    game = finished(held, cards=[(0, "weapon-03")])
    assert line(game, "katanas") == (1 + 1 + 2) * 3
    assert line(game, "katanas", 1) == 0


def test_kabutos_count_by_seals_in_both_yards_those_in_elite_twice(finished):
    held = {"yard_seals": {"basic": 1, "elite": 2}, "garden_seals": {"G5": 2}}
    game = finished(held, cards=[(0, "weapon-04")])
    assert line(game, "kabutos") == (2 + 1) * (1 + 2 * 2)


def test_cranes_multiply_blue_by_white(finished):
    held = {"garden_seals": {"G3": 1, "G6": 2}, "merchandise": ["luxury-2"]}
    game = finished(held, cards=[(0, "origami-03")])
    assert line(game, "cranes") == (2 + 2) * (1 + 2 + 2)


def test_icons_of_the_opponent_do_not_count(finished):
    held = {"garden_seals": {"G6": 1}}
    game = finished(held, {"garden_seals": {"G3": 2}})
    assert [line(game, "cranes", seat) for seat in (0, 1)] == [1, 0]


def test_the_higher_score_wins(finished):
    game = finished({"vp": 3}, {"vp": 4})
    assert game.ranking() == [2, 1]


def test_a_tie_goes_to_the_seat_with_more_clan_seals_placed(finished):
    more = {"vp": 5, "garden_seals": {"G2": 1}, "yard_seals": {"elite": 1}}
    game = finished({"vp": 5, "yard_seals": {"elite": 1}}, more)
    assert game.scores() == [5, 5]
    assert game.ranking() == [2, 1]


def test_then_to_the_higher_courtier(finished):
    game = finished({"path": "left", "courtier": 3}, {"path": "right", "courtier": 2})
    assert game.scores() == [0, 0]
    assert game.ranking() == [1, 2]
    level = finished({"path": "left", "courtier": 4}, {"path": "right", "courtier": 5})
    assert level.ranking() == [2, 1], "the space counts, not the level"


def test_then_victory_is_shared(finished):
    game = finished({"vp": 2, "garden_seals": {"G2": 1}}, {"vp": 2, "garden_seals": {"G2": 1}})
    assert game.ranking() == [1, 1]


def test_the_end_is_told_line_by_line_with_its_rule():
    game = rules.new_game("duel", 2, seed=3)
    while not game.over:
        game.apply(game.legal()[-1])
    scored = [event for event in game.events_since(0) if event.kind == "score"]
    assert len(scored) == 2 * len(LINES)
    assert {event.rule for event in scored} == {"D-9.1"}
    totals = [sum(event.b for event in scored if event.seat == seat) for seat in (0, 1)]
    assert totals == game.scores()
