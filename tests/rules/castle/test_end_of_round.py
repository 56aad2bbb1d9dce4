"""The end of a round: new turn order, gardens, new dice, and the end of the game (B-7.1 to B-7.3).

Every test plays the last turn of a round from a hand-made position.
"""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import lay_rooms

LAST_TURN = ("take white right", "place outside-right", "done")
ROOMS = {
    "steward-room-1": "steward-13",  # 2 iron | lantern | dark gardener
    "steward-room-2": "steward-07",  # 1 influence | dark gardener | 2 food
    "steward-room-3": "steward-09",  # 1 coin, well | dark courtier | 2 food
    "diplomat-room-1": "diplomat-02",  # dark courtier | 2 influence
    "diplomat-room-2": "diplomat-10",  # 2 coin, lantern | dark warrior
}
GARDENS = {
    "coral plant": "garden-plant-1",  # 4 coins for any castle row
    "coral stone": "garden-stone-9",  # a light castle row
    "black plant": "garden-plant-2",  # 3 coins for GARDENER
    "black stone": "garden-stone-7",  # 1 food to plant; 3 coins
    "white plant": "garden-plant-5",  # 4 coins for a domain row
    "white stone": "garden-stone-8",  # 2 food to plant; 2 seals
}
COLOURS = ("coral", "black", "white")


def bridge(dice):
    """A bridge with that many dice."""
    if dice == 0:
        return {"left": None, "centre": [], "right": None}
    if dice == 1:
        return {"left": None, "centre": [], "right": 2}
    return {"left": 1, "centre": [1] * (dice - 2), "right": 2}


@pytest.fixture
def last_turn(first_turn):
    """The last turn of a round is open; it will leave `left` dice on the bridges.

    The last seat in turn order has to move, and the white die on the right is a 5.
    """

    def build(seats=2, *, number=1, left=(1, 1, 1)):
        position = first_turn(seats)
        position["round"] = number
        position["turn"] = 3 * seats
        position["pending"] = [{"step": "take-die", "seat": seats - 1}]
        position["gardens"] = dict(GARDENS)
        laid = []
        for colour, dice in zip(COLOURS, left, strict=True):
            position["bridges"][colour] = bridge(dice)
            laid += [f"{colour} 4"] * (seats + 1 - dice)
        position["bridges"]["white"] = {
            "left": 1 if left[2] else None,
            "centre": [2] * (left[2] - 1),
            "right": 5,
        }
        laid.remove("white 4")
        position["spaces"]["well"] = laid
        if seats == 2:
            lay_rooms(position, tuple(ROOMS.values()))
        return position

    return build


def now(game):
    return json.loads(game.to_json())


def refusal(game, text):
    before = game.to_json()
    with pytest.raises(IllegalAction) as caught:
        game.apply(rules.action_id("base", text))
    assert game.to_json() == before
    return caught.value.rule


def stand(position, influence, markers):
    """Put the influence markers on their positions; `markers` lists them bottom to top."""
    for clan, steps in zip(position["clans"], influence, strict=True):
        clan["influence"] = steps
    position["markers"] = markers


# --- B-7.1: new turn order --------------------------------------------------------------------


@pytest.mark.rule("B-7.1")
def test_the_farthest_marker_comes_first(last_turn, load, do):
    position = last_turn(3)
    stand(position, [1, 4, 2], [0, 2, 1])
    game = load(position)
    do(game, *LAST_TURN)
    assert now(game)["turn_order"] == [1, 2, 0]
    assert game.to_move == 1


@pytest.mark.rule("B-7.1")
@pytest.mark.parametrize(
    ("markers", "order"),
    [([2, 0, 3, 1], [1, 0, 2, 3]), ([0, 3, 2, 1], [1, 2, 0, 3]), ([1, 3, 0, 2], [1, 2, 0, 3])],
)
def test_on_one_space_the_higher_marker_comes_first(last_turn, load, do, markers, order):
    position = last_turn(4)
    stand(position, [3, 5, 3, 0], markers)
    game = load(position)
    do(game, *LAST_TURN)
    assert now(game)["turn_order"] == order


@pytest.mark.rule("B-7.1")
def test_markers_that_never_moved_keep_the_order_of_their_stack(last_turn, load, do):
    position = last_turn(4)
    stand(position, [0, 0, 0, 0], [3, 1, 0, 2])
    game = load(position)
    do(game, *LAST_TURN)
    assert now(game)["turn_order"] == [2, 0, 1, 3]


@pytest.mark.rule("B-7.1", "B-6.2")
def test_a_marker_that_joins_others_in_the_last_turn_lies_on_top_of_them(last_turn, load, do):
    position = last_turn()
    position["yard_tiles"]["yard-3 yellow"] = "yard-tile-2"  # 2 influence
    position["yard_tiles"]["yard-1 blue"] = "yard-tile-1"
    stand(position, [2, 0], [1, 0])
    position["clans"][1]["iron"] = 1
    game = load(position)
    do(game, "take white right", "place outside-right", "do warrior", "train yard-3")
    do(game, "yard tile yard-3 yellow")
    assert now(game)["markers"] == [0, 1]
    assert now(game)["turn_order"] == [1, 0]


@pytest.mark.rule("B-7.1", "B-2.1")
def test_the_new_order_holds_for_all_three_turns_of_the_next_round(last_turn, load):
    position = last_turn(3)
    stand(position, [1, 4, 2], [0, 2, 1])
    game = load(position)
    movers = []
    while len(movers) < 10:
        texts = [rules.action_text("base", action) for action in game.legal()]
        if texts[-1].startswith("take "):
            movers.append(game.to_move)
        answer = "place well" if "place well" in texts else texts[-1]
        game.apply(rules.action_id("base", answer))
    assert movers == [2, 1, 2, 0, 1, 2, 0, 1, 2, 0]


# --- B-7.2: the gardens -----------------------------------------------------------------------


@pytest.mark.rule("B-7.2")
@pytest.mark.parametrize("number", [1, 2])
def test_after_rounds_one_and_two_a_seat_may_activate_its_gardens(
    last_turn, load, do, offers, clan, *, number
):
    position = last_turn(number=number)
    position["clans"][0]["gardeners"] = ["black stone"]
    game = load(position)
    do(game, *LAST_TURN)
    assert game.to_move == 0
    assert offers(game) == {"done", "activate black stone"}
    do(game, "activate black stone")
    assert clan(game, 0)["coin"] == 3


@pytest.mark.rule("B-7.2")
def test_only_gardens_whose_bridge_still_holds_a_die_are_activated(last_turn, load, do, offers):
    position = last_turn(left=(0, 1, 2))
    position["clans"][0] |= {"gardeners": ["coral stone", "black stone", "white stone"]}
    game = load(position)
    do(game, *LAST_TURN)
    assert offers(game) == {"done", "activate black stone", "activate white stone"}
    assert refusal(game, "activate coral stone") == "B-7.2"


@pytest.mark.rule("B-7.2")
def test_a_bridge_emptied_by_the_last_turn_gives_its_gardens_nothing(last_turn, load, do, offers):
    position = last_turn(left=(2, 1, 0))
    position["clans"][0] |= {"gardeners": ["coral stone", "white stone"]}
    game = load(position)
    do(game, *LAST_TURN)
    assert offers(game) == {"done", "activate coral stone"}


@pytest.mark.rule("B-7.2", "B-2.4")
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_lone_die_on_either_end_keeps_the_gardens_of_its_bridge(
    last_turn, load, do, offers, side
):
    position = last_turn(left=(1, 1, 1))
    position["bridges"]["coral"] = {"left": None, "centre": [], "right": None} | {side: 3}
    position["clans"][0]["gardeners"] = ["coral stone"]
    game = load(position)
    do(game, *LAST_TURN)
    assert "activate coral stone" in offers(game)


@pytest.mark.rule("B-7.2")
def test_a_bridge_with_three_dice_activates_a_garden_once(last_turn, load, do, clan):
    position = last_turn(left=(0, 3, 0))
    position["clans"][0]["gardeners"] = ["black stone"]
    game = load(position)
    do(game, *LAST_TURN, "activate black stone")
    assert clan(game, 0)["coin"] == 3
    assert now(game)["round"] == 2


@pytest.mark.rule("B-7.2")
def test_both_gardens_of_a_bridge_are_activated(last_turn, load, do, offers):
    position = last_turn()
    position["clans"][0] |= {"gardeners": ["black plant", "black stone"], "coin": 3}
    game = load(position)
    do(game, *LAST_TURN)
    assert offers(game) == {"done", "activate black plant", "activate black stone"}


@pytest.mark.rule("B-7.2")
def test_gardens_are_activated_in_the_new_turn_order(last_turn, load, do, offers):
    position = last_turn(3)
    stand(position, [0, 2, 5], [0, 1, 2])
    for clan in position["clans"]:
        clan["gardeners"] = ["black stone"]
    game = load(position)
    do(game, *LAST_TURN)
    asked = []
    while "activate black stone" in offers(game):
        asked.append(game.to_move)
        do(game, "done")
    assert asked == [2, 1, 0]
    assert now(game)["round"] == 2


@pytest.mark.rule("B-7.2", "B-2.8")
@pytest.mark.parametrize("first", ["black stone", "white stone"])
def test_a_seat_activates_its_gardens_in_its_own_order(last_turn, load, do, offers, first):
    position = last_turn()
    position["clans"][0]["gardeners"] = ["black stone", "white stone"]
    game = load(position)
    do(game, *LAST_TURN, f"activate {first}")
    assert f"activate {first}" not in offers(game)
    second = "white stone" if first == "black stone" else "black stone"
    assert {"done", f"activate {second}"} <= offers(game)


@pytest.mark.rule("B-7.2", "B-2.7")
def test_each_garden_is_optional(last_turn, load, do, clan):
    position = last_turn()
    position["clans"][0]["gardeners"] = ["black stone", "white stone"]
    game = load(position)
    do(game, *LAST_TURN, "activate white stone", "done")
    assert (clan(game, 0)["seal"], clan(game, 0)["coin"]) == (2, 0)
    assert now(game)["round"] == 2


@pytest.mark.rule("B-7.2", "B-2.7")
def test_all_gardens_may_be_declined(last_turn, load, do, clan):
    position = last_turn()
    position["clans"][0]["gardeners"] = ["black stone", "white stone"]
    game = load(position)
    do(game, *LAST_TURN, "done")
    assert (clan(game, 0)["seal"], clan(game, 0)["coin"]) == (0, 0)
    assert now(game)["round"] == 2


@pytest.mark.rule("B-7.2")
def test_a_garden_activated_is_not_activated_again(last_turn, load, do):
    position = last_turn()
    position["clans"][0]["gardeners"] = ["black stone", "white stone"]
    game = load(position)
    do(game, *LAST_TURN, "activate white stone")
    assert refusal(game, "activate white stone") == "B-7.2"


@pytest.mark.rule("B-7.2")
def test_a_plant_garden_still_costs_its_coins_at_the_end_of_a_round(
    last_turn, load, do, offers, clan
):
    position = last_turn()
    position["clans"][0] |= {"gardeners": ["white plant", "black stone"], "coin": 3}
    game = load(position)
    do(game, *LAST_TURN)
    assert offers(game) == {"done", "activate black stone"}
    assert refusal(game, "activate white plant") == "B-7.2"
    do(game, "activate black stone", "activate white plant", "domain-row coral")
    assert (clan(game, 0)["coin"], clan(game, 0)["food"]) == (2, 1)


@pytest.mark.rule("B-7.2")
def test_gardeners_of_several_clans_all_get_the_effect_of_one_garden(last_turn, load, do, clan):
    position = last_turn()
    for held in position["clans"]:
        held["gardeners"] = ["black stone"]
    game = load(position)
    do(game, *LAST_TURN, "activate black stone", "activate black stone")
    assert (clan(game, 0)["coin"], clan(game, 1)["coin"]) == (3, 3)


@pytest.mark.rule("B-7.2")
def test_a_gardener_placed_in_the_step_gives_only_its_placement_effect(
    last_turn, load, do, offers, clan
):
    position = last_turn()
    position["clans"][0] |= {"gardeners": ["black plant", "white stone"], "coin": 3, "food": 1}
    game = load(position)
    do(game, *LAST_TURN, "activate black plant", "garden black stone")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert clan(game, 0)["coin"] == 3
    assert offers(game) == {"done", "activate white stone"}
    assert refusal(game, "activate black stone") == "B-7.2"


@pytest.mark.rule("B-7.2")
def test_a_placement_effect_declined_in_the_step_does_not_come_back(last_turn, load, do, clan):
    position = last_turn()
    position["clans"][0] |= {"gardeners": ["black plant"], "coin": 3, "food": 1}
    game = load(position)
    do(game, *LAST_TURN, "activate black plant", "garden black stone", "done")
    assert clan(game, 0)["gardeners"] == ["black plant", "black stone"]
    assert clan(game, 0)["coin"] == 0
    assert now(game)["round"] == 2


@pytest.mark.rule("B-7.2", "B-4.6")
def test_a_gardener_placed_in_the_step_has_its_effect_under_an_empty_bridge_too(
    last_turn, load, do, clan
):
    position = last_turn(left=(0, 1, 2))
    position["gardens"] |= {"coral stone": "garden-stone-7", "black stone": "garden-stone-9"}
    position["clans"][0] |= {"gardeners": ["black plant"], "coin": 3, "food": 1}
    game = load(position)
    do(game, *LAST_TURN, "activate black plant", "garden coral stone", "perform")
    assert clan(game, 0)["coin"] == 3


@pytest.mark.rule("B-7.2")
def test_the_dice_lie_where_they_are_until_all_gardens_are_done(last_turn, load, do):
    position = last_turn()
    position["clans"][0]["gardeners"] = ["black stone"]
    game = load(position)
    do(game, *LAST_TURN)
    assert now(game)["round"] == 1
    assert now(game)["spaces"]["outside-right"] == ["white 5"]
    do(game, "activate black stone")
    assert now(game)["round"] == 2
    assert now(game)["spaces"]["outside-right"] == []


@pytest.mark.rule("B-7.2", "B-2.2")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_then_all_dice_return_and_are_laid_out_ascending(last_turn, load, do, seats):
    position = last_turn(seats)
    position["spaces"]["well"].remove("coral 4")
    position["clans"][0]["dice"]["coral"] = 4
    game = load(position)
    do(game, *LAST_TURN)
    after = now(game)
    assert all(dice == [] for dice in after["spaces"].values())
    assert all(d is None for clan in after["clans"] for d in clan["dice"].values())
    for laid in after["bridges"].values():
        dice = [laid["left"], *laid["centre"], laid["right"]]
        assert len(dice) == seats + 1
        assert dice == sorted(dice)


@pytest.mark.rule("B-7.2", "B-2.2")
def test_the_dice_of_the_next_round_are_rolled_anew(last_turn, load, do):
    laid = set()
    for seed in range(8):
        game = load(last_turn(), seed=seed)
        do(game, *LAST_TURN)
        laid.add(json.dumps(now(game)["bridges"]))
    assert len(laid) > 1


@pytest.mark.rule("B-7.2", "B-7.1")
def test_influence_gained_in_the_step_does_not_change_the_order_already_set(
    last_turn, load, do, clan
):
    position = last_turn()
    stand(position, [0, 1], [0, 1])
    position["clans"][0]["gardeners"] = ["coral stone"]
    game = load(position)
    do(game, *LAST_TURN, "activate coral stone", "row diplomat-room-1 second")
    assert clan(game, 0)["influence"] == 2
    assert now(game)["turn_order"] == [1, 0]
    assert game.to_move == 1
    assert now(game)["markers"] == [1, 0]


@pytest.mark.rule("B-7.2", "B-7.1")
def test_influence_gained_in_the_step_does_not_change_who_activates_next(last_turn, load, do):
    position = last_turn(3)
    stand(position, [3, 2, 1], [2, 1, 0])
    position["gardens"]["coral stone"] = "garden-stone-9"
    position["rooms"]["diplomat-room-1"] = "diplomat-06"  # 2 influence in its light row
    position["decks"]["diplomat"].remove("diplomat-06")
    position["decks"]["diplomat"].append("diplomat-10")
    for held in position["clans"]:
        held["gardeners"] = ["coral stone"]
    game = load(position)
    do(game, *LAST_TURN)
    asked = []
    for _ in range(3):
        asked.append(game.to_move)
        do(game, "activate coral stone", "row diplomat-room-1 second")
    assert asked == [0, 1, 2]
    assert now(game)["turn_order"] == [0, 1, 2]


@pytest.mark.rule("B-7.2")
def test_a_seat_without_gardens_is_not_asked(last_turn, load, do, offers):
    game = load(last_turn())
    do(game, *LAST_TURN)
    assert now(game)["round"] == 2
    assert all(text.startswith("take ") for text in offers(game))


@pytest.mark.rule("B-7.2", "B-5.5")
def test_a_domain_row_in_the_step_works_on_a_row_that_holds_a_die(last_turn, load, do, clan):
    position = last_turn()
    position["spaces"]["well"].remove("coral 4")
    position["clans"][0] |= {"gardeners": ["white plant"], "coin": 4}
    position["clans"][0]["dice"]["coral"] = 4
    game = load(position)
    do(game, *LAST_TURN, "activate white plant", "domain-row coral")
    assert clan(game, 0)["food"] == 1


@pytest.mark.rule("B-7.2", "B-4.1")
def test_a_castle_row_in_the_step_may_lead_to_a_climb(last_turn, load, do, offers, clan):
    position = last_turn()
    position["clans"][0] |= {"gardeners": ["coral plant", "black stone"], "coin": 6, "pearl": 2}
    game = load(position)
    do(game, *LAST_TURN, "activate coral plant", "row diplomat-room-1 first")
    do(game, "audience", "climb gate steward-room-1", "row 1 of the card taken")
    assert clan(game, 0)["iron"] == 2
    assert offers(game) == {"done", "activate black stone"}


# --- B-7.3: the end of the game ---------------------------------------------------------------


@pytest.mark.rule("B-7.3")
def test_after_round_three_no_garden_is_activated(last_turn, load, do):
    position = last_turn(number=3)
    position["clans"][0]["gardeners"] = ["black stone"]
    position["clans"][1]["gardeners"] = ["white stone"]
    game = load(position)
    do(game, *LAST_TURN)
    assert game.over
    assert game.legal() == []
    assert game.to_move is None


@pytest.mark.rule("B-7.3", "B-7.1")
def test_after_round_three_the_turn_order_is_set_once_more(last_turn, load, do):
    position = last_turn(3, number=3)
    stand(position, [1, 4, 2], [0, 2, 1])
    game = load(position)
    do(game, *LAST_TURN)
    assert now(game)["turn_order"] == [1, 2, 0]


@pytest.mark.rule("B-7.3", "B-2.1")
def test_after_rounds_one_and_two_the_game_goes_on(last_turn, load, do):
    for number in (1, 2):
        game = load(last_turn(number=number))
        do(game, *LAST_TURN)
        assert not game.over
        assert now(game)["round"] == number + 1


@pytest.mark.rule("B-7.3", "B-7.4")
def test_the_game_ends_with_scores_for_every_seat(last_turn, load, do):
    position = last_turn(number=3)
    position["clans"][0]["vp"] = 4
    position["clans"][1]["vp"] = 9
    game = load(position)
    do(game, *LAST_TURN)
    assert game.scores() == [4, 9]


@pytest.mark.rule("B-6.3", "B-7.3")
def test_the_last_exchange_is_asked_in_the_order_of_the_last_markers(last_turn, load, do, offers):
    position = last_turn(3, number=3)
    stand(position, [1, 4, 2], [0, 2, 1])
    for held in position["clans"]:
        held["seal"] = 1
    game = load(position)
    do(game, *LAST_TURN)
    asked = []
    while not game.over:
        asked.append(game.to_move)
        assert offers(game) == {"done", "exchange 1 seal for 1 coin"}
        do(game, "done")
    assert asked == [1, 2, 0]


@pytest.mark.rule("B-6.3")
def test_a_seat_without_a_seal_is_not_asked_for_the_last_exchange(last_turn, load, do):
    position = last_turn(3, number=3)
    position["clans"][1]["seal"] = 1
    game = load(position)
    do(game, *LAST_TURN)
    assert game.to_move == 1
    do(game, "done")
    assert game.over


@pytest.mark.rule("B-6.3")
def test_the_last_exchange_goes_on_until_no_seal_is_left(last_turn, load, do, offers, clan):
    position = last_turn(number=3)
    position["clans"][0]["seal"] = 4
    game = load(position)
    do(game, *LAST_TURN, "exchange 1 seal for 1 coin", "exchange 2 seals for 1 food")
    assert not game.over
    assert offers(game) == {"done", "exchange 1 seal for 1 coin"}
    do(game, "exchange 1 seal for 1 coin")
    assert game.over
    held = clan(game, 0)
    assert (held["seal"], held["coin"], held["food"]) == (0, 2, 1)


@pytest.mark.rule("B-6.3")
def test_the_last_exchange_ends_when_its_seat_says_done(last_turn, load, do, clan):
    position = last_turn(number=3)
    position["clans"][0]["seal"] = 4
    game = load(position)
    do(game, *LAST_TURN, "exchange 1 seal for 1 coin", "done")
    assert game.over
    assert clan(game, 0)["seal"] == 3


@pytest.mark.rule("B-6.3")
def test_there_is_no_last_exchange_after_rounds_one_and_two(last_turn, load, do, offers):
    position = last_turn()
    position["clans"][0]["seal"] = 2
    game = load(position)
    do(game, *LAST_TURN)
    assert any(text.startswith("take ") for text in offers(game))


@pytest.mark.rule("B-6.3", "B-7.4")
def test_seals_exchanged_last_count_as_what_they_became(last_turn, load, do):
    position = last_turn(number=3)
    position["clans"][0] |= {"seal": 2, "pearl": 2}
    game = load(position)
    do(game, *LAST_TURN, "exchange 2 seals for 1 pearl")
    assert game.scores()[0] == 1
