"""Final scoring, every number computed by hand, and who wins (B-7.4, B-7.5)."""

import pytest

GARDENS = {
    "coral plant": ("garden-plant-1", 9),
    "coral stone": ("garden-stone-6", 1),
    "black plant": ("garden-plant-2", 7),
    "black stone": ("garden-stone-8", 3),
    "white plant": ("garden-plant-5", 5),
    "white stone": ("garden-stone-10", 5),
}
PLACES = (
    *("gate", "steward-room-1", "steward-room-2", "steward-room-3"),
    *("diplomat-room-1", "diplomat-room-2", "daimyo"),
)


@pytest.fixture
def finished(first_turn, load, do):
    """The end of a game in which the clans held what is given, seat by seat.

    The last turn of round 3 is played, and every seat keeps its seals.
    """

    def play(*clans, markers=None):
        seats = max(2, len(clans))
        position = first_turn(seats)
        position |= {"round": 3, "turn": 3 * seats}
        position["pending"] = [{"step": "take-die", "seat": seats - 1}]
        position["gardens"] = {name: card for name, (card, _) in GARDENS.items()}
        lone = {"left": None, "centre": [], "right": 4}
        position["bridges"] = {colour: dict(lone) for colour in ("coral", "black", "white")}
        position["bridges"]["white"] |= {"left": 2, "right": 5}
        position["spaces"]["well"] = ["coral 4"] * seats + ["black 4"] * seats
        position["spaces"]["well"] += ["white 4"] * (seats - 1)
        if markers is not None:
            position["markers"] = markers
        slots = [seat for seat, held in enumerate(clans) for _ in range(held.get("daimyo", 0))]
        position["daimyo"]["slots"] = [*slots, None, None, None][:3]
        for clan, held in zip(position["clans"], clans, strict=False):
            furnish(clan, dict(held))
        game = load(position)
        do(game, "take white right", "place outside-right", "done")
        while not game.over:
            do(game, "done")
        return game

    return play


def furnish(clan, held):
    """Write what a clan holds: goods, courtiers by place, `yards` (1, 2, 3) and `gardens`."""
    for place in PLACES:
        clan["courtiers"][place] = held.pop(place, 0)
    clan["courtiers"]["domain"] = 5 - sum(clan["courtiers"][place] for place in PLACES)
    yards = held.pop("yards", (0, 0, 0))
    clan["warriors"] = dict(zip(("yard-1", "yard-2", "yard-3"), yards, strict=True))
    clan["gardeners"] = held.pop("gardens", [])
    clan |= held


# --- each line of B-7.4 -----------------------------------------------------------------------


@pytest.mark.rule("B-7.4")
def test_an_empty_hand_scores_nothing(finished):
    assert finished().scores() == [0, 0]


@pytest.mark.rule("B-7.4")
def test_points_gained_in_play_count(finished):
    assert finished({"vp": 17}, {"vp": 3}).scores() == [17, 3]


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize(
    ("coins", "seals", "points"),
    [
        *((0, 0, 0), (4, 0, 0), (5, 0, 1), (9, 0, 1), (10, 0, 2), (37, 0, 7)),
        *((0, 4, 0), (0, 5, 1), (3, 2, 1), (4, 5, 1), (5, 5, 2), (8, 1, 1)),
    ],
)
def test_five_coins_and_seals_together_are_a_point_rounded_down(finished, coins, seals, points):
    assert finished({"coin": coins, "seal": seals}).scores()[0] == points


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize("resource", ["food", "iron", "pearl"])
@pytest.mark.parametrize(("held", "points"), list(enumerate((0, 0, 0, 1, 1, 1, 1, 2))))
def test_a_resource_gives_one_point_from_three_units_and_two_at_seven(
    finished, resource, held, points
):
    assert finished({resource: held}).scores()[0] == points


@pytest.mark.rule("B-7.4")
def test_each_resource_counts_for_itself(finished):
    scores = finished({"food": 2, "iron": 2, "pearl": 2}, {"food": 7, "iron": 3, "pearl": 6})
    assert scores.scores() == [0, 4]


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize(
    ("position", "points"),
    [
        *((0, 0), (5, 0), (6, 3), (10, 3), (11, 6), (14, 6)),
        *((15, 10), (16, 11), (17, 12), (18, 13), (19, 14), (20, 15)),
    ],
)
def test_the_passage_of_time_gives_points_by_season(finished, position, points):
    assert finished({"influence": position}).scores()[0] == points


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize(
    ("place", "points"), list(zip(PLACES, (1, 3, 3, 3, 6, 6, 10), strict=True))
)
def test_a_courtier_gives_points_by_its_floor(finished, place, points):
    assert finished({place: 1}).scores()[0] == points


@pytest.mark.rule("B-7.4")
def test_courtiers_in_the_domain_give_nothing_and_each_other_counts(finished):
    assert finished({"gate": 2, "steward-room-2": 1, "diplomat-room-1": 1}).scores()[0] == 11


@pytest.mark.rule("B-7.4", "B-4.5")
def test_a_courtier_on_the_daimyo_floor_without_a_slot_gives_its_ten_points_too(finished):
    game = finished({"daimyo": 3}, {"daimyo": 1})
    assert game.scores() == [30, 10]


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize(("yards", "value"), [((1, 0, 0), 2), ((0, 1, 0), 1), ((0, 0, 1), 1)])
def test_a_warrior_multiplies_the_value_of_its_yard_by_the_courtiers_inside(finished, yards, value):
    inside = {"steward-room-1": 1, "diplomat-room-2": 1, "daimyo": 1}  # 3 + 6 + 10 points
    assert finished({**inside, "yards": yards}).scores()[0] == 19 + 3 * value


@pytest.mark.rule("B-7.4")
def test_the_values_of_all_warriors_are_added_before_they_are_multiplied(finished):
    game = finished({"steward-room-1": 2, "yards": (2, 1, 2)})
    assert game.scores()[0] == 6 + (2 * 2 + 1 + 2) * 2


@pytest.mark.rule("B-7.4")
def test_courtiers_at_the_gate_are_not_inside(finished):
    assert finished({"gate": 5, "yards": (5, 0, 0)}).scores()[0] == 5


@pytest.mark.rule("B-7.4")
def test_warriors_without_a_courtier_inside_give_nothing(finished):
    assert finished({"yards": (2, 2, 1)}).scores()[0] == 0


@pytest.mark.rule("B-7.4")
def test_warriors_count_with_the_courtiers_of_their_own_clan(finished):
    assert finished({"yards": (1, 0, 0)}, {"steward-room-1": 1}).scores() == [0, 3]


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize("garden", GARDENS)
def test_a_garden_gives_its_points_to_its_gardener(finished, garden):
    assert finished({"gardens": [garden]}).scores()[0] == GARDENS[garden][1]


@pytest.mark.rule("B-7.4")
def test_a_garden_gives_its_points_to_every_clan_that_stands_in_it(finished):
    game = finished({"gardens": ["coral plant"]}, {"gardens": ["coral plant", "coral stone"]})
    assert game.scores() == [9, 10]


@pytest.mark.rule("B-7.4")
def test_gardens_give_points_whether_their_bridge_holds_a_die_or_not(first_turn, load, do):
    position = first_turn()
    position |= {"round": 3, "turn": 6, "pending": [{"step": "take-die", "seat": 1}]}
    none = {"left": None, "centre": [], "right": None}
    position["bridges"] = {"coral": none, "black": none, "white": None}
    position["bridges"]["black"] = {"left": 1, "centre": [], "right": None}
    position["bridges"]["white"] = {"left": 2, "centre": [3], "right": 5}
    position["spaces"]["well"] = ["coral 1", "coral 2", "coral 3", "black 1", "black 6"]
    position["gardens"] = {name: card for name, (card, _) in GARDENS.items()}
    position["clans"][0]["gardeners"] = ["coral plant"]
    game = load(position)
    do(game, "take white right", "place outside-right", "done")
    assert game.scores() == [9, 0]


# --- whole scores, computed by hand -----------------------------------------------------------

LINES = (
    *("play", "coins and seals", "resources", "passage of time"),
    *("courtiers", "warriors", "gardens"),
)
HANDS = [
    # (11 + 3) / 5 = 2; food 1, pearl 2; season 6; 1 + 3 + 6 + 10; (4 + 1) x 3; 9 + 3
    (
        {"vp": 12, "coin": 11, "seal": 3, "food": 3, "iron": 2, "pearl": 7, "influence": 13}
        | {"gate": 1, "steward-room-1": 1, "diplomat-room-1": 1, "daimyo": 1}
        | {"yards": (2, 1, 0), "gardens": ["coral plant", "black stone"]},
        (12, 2, 3, 6, 20, 15, 12),
        70,
    ),
    # 29 / 5 = 5; 2 + 2 + 2; 15; 5 x 10; 10 x 5; all gardens but the one of a single point
    (
        {"vp": 40, "coin": 24, "seal": 5, "food": 7, "iron": 7, "pearl": 7, "influence": 20}
        | {"daimyo": 5, "yards": (5, 0, 0)}
        | {"gardens": [garden for garden in GARDENS if garden != "coral stone"]},
        (40, 5, 6, 15, 50, 50, 29),
        195,
    ),
    # 4 / 5 = 0; season 0; 3 + 3; (2 + 1 + 1) x 2
    (
        {"coin": 4, "influence": 5, "steward-room-1": 1, "steward-room-2": 1, "yards": (1, 1, 1)},
        (0, 0, 0, 0, 6, 8, 0),
        14,
    ),
    # food 1; season 3; 6 + 6; no warriors; 5 + 5
    (
        {"vp": 3, "food": 6, "iron": 2, "influence": 6}
        | {"diplomat-room-1": 1, "diplomat-room-2": 1, "gardens": ["white plant", "white stone"]},
        (3, 0, 1, 3, 12, 0, 10),
        29,
    ),
    # 5 / 5 = 1; season 6; 1 + 1 + 6; 4 x 1, the gate is not inside; 1
    (
        {"coin": 5, "influence": 11, "gate": 2, "diplomat-room-2": 1}
        | {"yards": (0, 0, 4), "gardens": ["coral stone"]},
        (0, 1, 0, 6, 8, 4, 1),
        20,
    ),
    # 5 / 5 = 1; 1 + 1 + 1; 10; 3 x 3; (2 + 3) x 3; 7 + 3
    (
        {"vp": 22, "seal": 5, "food": 4, "iron": 5, "pearl": 6, "influence": 15}
        | {"steward-room-3": 3, "yards": (1, 3, 0), "gardens": ["black plant", "black stone"]},
        (22, 1, 3, 10, 9, 15, 10),
        70,
    ),
    # 14 / 5 = 2; food 2; 14; 10 + 10 + 3 + 1 + 1; (2 + 2) x 3
    (
        {"vp": 1, "coin": 14, "food": 7, "influence": 19}
        | {"daimyo": 2, "steward-room-1": 1, "gate": 2, "yards": (1, 0, 2)},
        (1, 2, 2, 14, 25, 12, 0),
        56,
    ),
    # 30 / 5 = 6; three warriors and nobody inside
    ({"vp": 31, "coin": 30, "yards": (3, 0, 0)}, (31, 6, 0, 0, 0, 0, 0), 37),
    # 4 / 5 = 0; iron 1; 11; 4 x 6 + 10; 5 x 5; 9 + 7 + 5
    (
        {"vp": 5, "coin": 3, "seal": 1, "iron": 3, "influence": 16}
        | {"diplomat-room-1": 2, "diplomat-room-2": 2, "daimyo": 1, "yards": (0, 5, 0)}
        | {"gardens": ["coral plant", "black plant", "white plant"]},
        (5, 0, 1, 11, 34, 25, 21),
        97,
    ),
    # 10 / 5 = 2; pearl 1; season 3; 3 + 3 + 6; (4 + 1) x 3; 1 + 3
    (
        {"vp": 8, "coin": 7, "seal": 3, "food": 2, "pearl": 4, "influence": 10}
        | {"steward-room-1": 1, "steward-room-3": 1, "diplomat-room-1": 1}
        | {"yards": (2, 0, 1), "gardens": ["coral stone", "black stone"]},
        (8, 2, 1, 3, 12, 15, 4),
        45,
    ),
    # 19 / 5 = 3; food 1, iron 2; 12; 1 + 10; (2 + 1) x 1; 5
    (
        {"vp": 2, "coin": 15, "seal": 4, "food": 5, "iron": 7, "influence": 17}
        | {"gate": 1, "daimyo": 1, "yards": (1, 1, 0), "gardens": ["white stone"]},
        (2, 3, 3, 12, 11, 3, 5),
        39,
    ),
]


@pytest.mark.rule("B-7.4")
@pytest.mark.parametrize(("held", "lines", "score"), HANDS)
def test_a_whole_score_is_the_sum_of_its_lines(finished, held, lines, score):
    game = finished(held)
    assert game.breakdown()[0] == dict(zip(LINES, lines, strict=True))
    assert game.scores()[0] == score


@pytest.mark.rule("B-7.4", "B-7.5")
def test_four_clans_are_scored_and_ranked_together(finished):
    game = finished(HANDS[0][0], HANDS[2][0], HANDS[3][0], HANDS[4][0])
    assert game.scores() == [70, 14, 29, 20]
    assert game.ranking() == [1, 4, 2, 3]


# --- B-7.5: who wins --------------------------------------------------------------------------


@pytest.mark.rule("B-7.5")
def test_most_points_win_whatever_the_turn_order(finished):
    game = finished({"vp": 10, "influence": 5}, {"vp": 11})
    assert game.ranking() == [2, 1]


@pytest.mark.rule("B-7.5", "B-7.1")
def test_a_tie_goes_to_the_seat_with_the_farther_marker(finished):
    game = finished({"vp": 10, "influence": 1}, {"vp": 10, "influence": 3})
    assert game.scores() == [10, 10]
    assert game.ranking() == [2, 1]


@pytest.mark.rule("B-7.5", "B-7.1")
@pytest.mark.parametrize(("markers", "ranking"), [([0, 1], [2, 1]), ([1, 0], [1, 2])])
def test_a_tie_on_one_space_goes_to_the_higher_marker(finished, markers, ranking):
    game = finished({"vp": 10, "influence": 2}, {"vp": 10, "influence": 2}, markers=markers)
    assert game.ranking() == ranking


@pytest.mark.rule("B-7.5", "B-7.3")
def test_ties_follow_the_order_set_after_round_three_and_not_the_one_played(finished):
    game = finished({"vp": 4}, {"vp": 4}, {"vp": 4}, markers=[0, 1, 2])
    assert game.ranking() == [3, 2, 1]  # round 3 was played in the order 0, 1, 2


@pytest.mark.rule("B-7.5")
def test_all_seats_are_ranked_by_points_and_ties_by_turn_order(finished):
    game = finished(
        {"vp": 20, "influence": 1},
        {"vp": 35},
        {"vp": 20, "influence": 2},
        {"vp": 5, "influence": 4},
    )
    assert game.ranking() == [3, 1, 2, 4]


@pytest.mark.rule("B-7.5")
def test_a_tie_of_all_seats_is_ranked_in_turn_order_alone(finished):
    game = finished(*({"vp": 7, "influence": steps} for steps in (2, 5, 0, 3)))
    assert game.ranking() == [3, 1, 4, 2]


@pytest.mark.rule("B-7.5", "B-7.4")
def test_a_tie_is_one_of_whole_scores_and_not_of_points_in_play(finished):
    game = finished({"vp": 9, "coin": 5, "influence": 0}, {"vp": 10, "influence": 2})
    assert game.scores() == [10, 10]
    assert game.ranking() == [2, 1]
