"""GARDENER and WARRIOR: their prices, their places and the optional effects (B-4.6, B-4.7)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

TO_GARDENER = ("take coral right", "place outside-left", "do gardener")
TO_WARRIOR = ("take coral right", "place outside-right", "do warrior")
GARDENS = {  # food, then what the garden gives
    "coral plant": "garden-plant-1",  # 5: 4 coins for any castle row
    "coral stone": "garden-stone-6",  # 1: 2 any
    "black plant": "garden-plant-2",  # 4: 3 coins for GARDENER
    "black stone": "garden-stone-7",  # 1: 3 coins
    "white plant": "garden-plant-5",  # 3: 4 coins for a domain row
    "white stone": "garden-stone-8",  # 2: 2 seals
}
YARD_TILES = {
    "yard-1 blue": "yard-tile-2",  # WARRIOR
    "yard-1 yellow": "yard-tile-6",  # 5 coins
    "yard-2 blue": "yard-tile-3",  # GARDENER
    "yard-3 yellow": "yard-tile-8",  # 2 VP
}


@pytest.fixture
def grounds(first_turn):
    """Seat 0 before its first turn; the coral die on the right is a 5, Outside costs nothing."""

    def build(seats=2):
        position = first_turn(seats)
        centre = [3] * (seats - 1)
        position["bridges"]["coral"] = {"left": 1, "centre": centre, "right": 5}
        position["gardens"] = dict(GARDENS)
        position["yard_tiles"] = dict(YARD_TILES)
        return position

    return build


def refusal(game, text):
    """The rule that forbids an action; nothing changes by asking."""
    before = game.to_json()
    with pytest.raises(IllegalAction) as caught:
        game.apply(rules.action_id("base", text))
    assert game.to_json() == before
    return caught.value.rule


# --- B-4.6: GARDENER --------------------------------------------------------------------------


@pytest.mark.rule("B-4.6")
@pytest.mark.parametrize(
    ("garden", "food"),
    list(zip(GARDENS, (5, 1, 4, 1, 3, 2), strict=True)),
)
def test_a_gardener_costs_the_food_of_its_garden(grounds, load, do, clan, *, garden, food):
    position = grounds()
    position["clans"][0]["food"] = 7
    game = load(position)
    do(game, *TO_GARDENER, f"garden {garden}")
    assert clan(game, 0)["food"] == 7 - food
    assert clan(game, 0)["gardeners"] == [garden]


@pytest.mark.rule("B-4.6")
def test_only_gardens_whose_food_is_in_hand_are_offered(grounds, load, do, offers):
    position = grounds()
    position["clans"][0]["food"] = 2
    game = load(position)
    do(game, *TO_GARDENER)
    assert offers(game) == {
        "done",
        "garden coral stone",
        "garden black stone",
        "garden white stone",
    }
    assert refusal(game, "garden white plant") == "B-4.6"


@pytest.mark.rule("B-4.6", "B-2.7")
def test_gardener_may_be_declined(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["food"] = 7
    game = load(position)
    do(game, *TO_GARDENER, "done")
    assert clan(game, 0)["gardeners"] == []
    assert clan(game, 0)["food"] == 7
    assert game.to_move == 1


@pytest.mark.rule("B-4.6")
def test_a_garden_holds_one_gardener_of_a_clan(grounds, load, do, offers):
    position = grounds()
    position["clans"][0] |= {"food": 7, "gardeners": ["coral stone"]}
    game = load(position)
    do(game, *TO_GARDENER)
    assert "garden coral stone" not in offers(game)
    assert refusal(game, "garden coral stone") == "B-4.6"


@pytest.mark.rule("B-4.6")
def test_gardeners_of_several_clans_may_stand_in_one_garden(grounds, load, do, clan):
    position = grounds(4)
    position["clans"][0]["food"] = 1
    for seat in (1, 2, 3):
        position["clans"][seat]["gardeners"] = ["coral stone"]
    game = load(position)
    do(game, *TO_GARDENER, "garden coral stone")
    assert all(clan(game, seat)["gardeners"] == ["coral stone"] for seat in range(4))


@pytest.mark.rule("B-4.6")
def test_a_clan_with_all_gardeners_out_places_no_sixth(grounds, load, do, clan):
    position = grounds()
    position["clans"][0] |= {"food": 7, "coin": 4, "gardeners": list(GARDENS)[:5]}
    game = load(position)
    do(game, *TO_GARDENER)
    assert game.to_move == 1  # nothing could be answered but to decline
    assert len(clan(game, 0)["gardeners"]) == 5


@pytest.mark.rule("B-4.6")
def test_without_a_gardener_left_a_garden_is_refused_by_its_rule(grounds, load, do):
    position = grounds()
    position["clans"][0] |= {"food": 7, "seal": 1, "gardeners": list(GARDENS)[:5]}
    game = load(position)
    do(game, *TO_GARDENER)
    assert refusal(game, "garden white stone") == "B-4.6"


@pytest.mark.rule("B-4.6", "B-3.6")
def test_the_gardener_that_leaves_is_the_leftmost_and_uncovers_the_next_cell(
    grounds, load, do, clan
):
    position = grounds()
    position["bridges"]["black"] = {"left": 1, "centre": [4], "right": 6}
    position["clans"][0]["food"] = 1
    game = load(position)
    do(game, *TO_GARDENER, "garden black stone", "done")
    do(game, "take white right", "place well")
    do(game, "take black right", "place domain-black")
    assert clan(game, 0)["iron"] == 2


@pytest.mark.rule("B-4.6")
def test_the_effect_of_the_garden_follows_its_gardener(grounds, load, do, offers, clan):
    position = grounds()
    position["clans"][0]["food"] = 1
    game = load(position)
    do(game, *TO_GARDENER, "garden black stone")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert clan(game, 0)["coin"] == 3


@pytest.mark.rule("B-4.6", "B-2.7")
def test_the_effect_of_a_garden_may_be_declined(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["food"] = 1
    game = load(position)
    do(game, *TO_GARDENER, "garden black stone", "done")
    assert clan(game, 0)["gardeners"] == ["black stone"]
    assert clan(game, 0)["coin"] == 0
    assert game.to_move == 1


@pytest.mark.rule("B-4.6")
def test_an_effect_of_any_is_chosen_unit_by_unit(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["food"] = 1
    game = load(position)
    do(game, *TO_GARDENER, "garden coral stone", "perform", "choose iron", "choose pearl")
    held = clan(game, 0)
    assert (held["food"], held["iron"], held["pearl"]) == (0, 1, 1)


@pytest.mark.rule("B-4.6")
def test_seals_of_a_garden_are_gained(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["food"] = 2
    game = load(position)
    do(game, *TO_GARDENER, "garden white stone", "perform")
    assert clan(game, 0)["seal"] == 2


@pytest.mark.rule("B-4.6")
def test_a_plant_garden_takes_its_coins_before_it_gives(grounds, load, do, offers, clan):
    position = grounds()
    position["clans"][0] |= {"food": 5, "coin": 4}
    game = load(position)
    do(game, *TO_GARDENER, "garden coral plant", "perform")
    assert clan(game, 0)["coin"] == 0
    assert any(text.startswith("row ") for text in offers(game))


@pytest.mark.rule("B-4.6")
def test_a_garden_whose_coins_are_missing_may_be_planted_without_its_effect(
    grounds, load, do, clan
):
    position = grounds()
    position["clans"][0] |= {"food": 5, "coin": 3}
    game = load(position)
    do(game, *TO_GARDENER, "garden coral plant")
    assert clan(game, 0)["gardeners"] == ["coral plant"]
    assert clan(game, 0)["coin"] == 3
    assert game.to_move == 1


@pytest.mark.rule("B-4.6", "B-6.3")
def test_a_missing_coin_for_a_garden_may_come_from_a_seal(grounds, load, do, offers, clan):
    position = grounds()
    position["clans"][0] |= {"food": 5, "coin": 3, "seal": 1}
    game = load(position)
    do(game, *TO_GARDENER, "garden coral plant")
    assert "perform" not in offers(game)
    do(game, "exchange 1 seal for 1 coin", "perform")
    assert (clan(game, 0)["coin"], clan(game, 0)["seal"]) == (0, 0)


@pytest.mark.rule("B-4.6")
@pytest.mark.parametrize(
    ("card", "next_answer"),
    [
        ("garden-plant-2", "garden black stone"),
        ("garden-plant-3", "audience"),
        ("garden-plant-4", "train yard-3"),
    ],
)
def test_a_garden_may_grant_a_worker_action_for_three_coins(
    grounds, load, do, offers, clan, *, card, next_answer
):
    position = grounds()
    position["gardens"]["black plant"] = card
    position["clans"][0] |= {"food": 5, "coin": 5, "iron": 1}
    game = load(position)
    do(game, *TO_GARDENER, "garden black plant", "perform")
    assert clan(game, 0)["coin"] == 2
    assert next_answer in offers(game)


@pytest.mark.rule("B-4.6")
def test_a_gardener_granted_by_a_garden_pays_its_own_food(grounds, load, do, clan):
    position = grounds()
    position["clans"][0] |= {"food": 5, "coin": 3}
    game = load(position)
    do(game, *TO_GARDENER, "garden black plant", "perform", "garden black stone", "perform")
    assert clan(game, 0)["gardeners"] == ["black plant", "black stone"]
    assert (clan(game, 0)["food"], clan(game, 0)["coin"]) == (0, 3)


@pytest.mark.rule("B-4.6", "B-5.5")
def test_a_garden_may_grant_a_domain_row_for_four_coins(grounds, load, do, clan):
    position = grounds()
    position["clans"][0] |= {"food": 3, "coin": 4}
    game = load(position)
    do(game, *TO_GARDENER, "garden white plant", "perform", "domain-row white")
    assert (clan(game, 0)["coin"], clan(game, 0)["pearl"]) == (0, 1)


@pytest.mark.rule("B-4.6")
def test_the_effect_of_a_garden_needs_no_die_on_its_bridge_when_it_is_planted(
    grounds, load, do, clan
):
    position = grounds()
    position["bridges"]["black"] = {"left": None, "centre": [], "right": None}
    position["spaces"]["well"] = ["black 1", "black 4", "black 6", "white 3"]
    position["bridges"]["white"] = {"left": 2, "centre": [], "right": 2}
    position["turn"] = 5
    position["clans"][0]["food"] = 1
    game = load(position)
    do(game, *TO_GARDENER, "garden black stone", "perform")
    assert clan(game, 0)["coin"] == 3


# --- B-4.7: WARRIOR ---------------------------------------------------------------------------


@pytest.mark.rule("B-4.7")
@pytest.mark.parametrize(("yard", "iron"), [("yard-1", 5), ("yard-2", 3), ("yard-3", 1)])
def test_a_warrior_costs_the_iron_of_its_yard(grounds, load, do, clan, *, yard, iron):
    position = grounds()
    position["clans"][0]["iron"] = 7
    game = load(position)
    do(game, *TO_WARRIOR, f"train {yard}")
    assert clan(game, 0)["iron"] == 7 - iron
    assert clan(game, 0)["warriors"] == {"yard-1": 0, "yard-2": 0, "yard-3": 0} | {yard: 1}


@pytest.mark.rule("B-4.7")
def test_only_yards_whose_iron_is_in_hand_are_offered(grounds, load, do, offers):
    position = grounds()
    position["clans"][0]["iron"] = 4
    game = load(position)
    do(game, *TO_WARRIOR)
    assert offers(game) == {"done", "train yard-2", "train yard-3"}
    assert refusal(game, "train yard-1") == "B-4.7"


@pytest.mark.rule("B-4.7", "B-2.7")
def test_warrior_may_be_declined(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["iron"] = 7
    game = load(position)
    do(game, *TO_WARRIOR, "done")
    assert clan(game, 0)["iron"] == 7
    assert sum(clan(game, 0)["warriors"].values()) == 0
    assert game.to_move == 1


@pytest.mark.rule("B-4.7")
def test_a_yard_holds_several_warriors_of_a_clan(grounds, load, do, clan):
    position = grounds()
    position["clans"][0] |= {"iron": 1, "warriors": {"yard-1": 0, "yard-2": 0, "yard-3": 4}}
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-3")
    assert clan(game, 0)["warriors"]["yard-3"] == 5


@pytest.mark.rule("B-4.7")
def test_warriors_of_several_clans_may_stand_in_one_yard(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["iron"] = 5
    position["clans"][1]["warriors"]["yard-1"] = 2
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1")
    assert (clan(game, 0)["warriors"]["yard-1"], clan(game, 1)["warriors"]["yard-1"]) == (1, 2)


@pytest.mark.rule("B-4.7")
def test_a_clan_with_all_warriors_out_places_no_sixth(grounds, load, do):
    position = grounds()
    position["clans"][0] |= {"iron": 7, "warriors": {"yard-1": 1, "yard-2": 2, "yard-3": 2}}
    game = load(position)
    do(game, *TO_WARRIOR)
    assert game.to_move == 1


@pytest.mark.rule("B-4.7")
def test_without_a_warrior_left_a_yard_is_refused_by_its_rule(grounds, load, do):
    position = grounds()
    position["clans"][0] |= {"iron": 7, "warriors": {"yard-1": 5, "yard-2": 0, "yard-3": 0}}
    position["clans"][0]["seal"] = 1
    game = load(position)
    do(game, *TO_WARRIOR)
    assert refusal(game, "train yard-3") == "B-4.7"


@pytest.mark.rule("B-4.7", "B-3.6")
def test_the_warrior_that_leaves_is_the_leftmost_and_uncovers_the_next_cell(
    grounds, load, do, clan
):
    position = grounds()
    position["bridges"]["white"] = {"left": 1, "centre": [4], "right": 6}
    position["clans"][0]["iron"] = 1
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-3", "done")
    do(game, "take black right", "place well")
    do(game, "take white right", "place domain-white")
    assert clan(game, 0)["pearl"] == 2


@pytest.mark.rule("B-4.7")
def test_the_first_yard_offers_both_of_its_tiles(grounds, load, do, offers):
    position = grounds()
    position["clans"][0]["iron"] = 5
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1")
    assert offers(game) == {"done", "yard tile yard-1 blue", "yard tile yard-1 yellow"}


@pytest.mark.rule("B-4.7")
@pytest.mark.parametrize(("yard", "tile"), [("yard-2", "yard-2 blue"), ("yard-3", "yard-3 yellow")])
def test_the_other_yards_offer_their_only_tile(grounds, load, do, offers, *, yard, tile):
    position = grounds()
    position["clans"][0]["iron"] = 3
    game = load(position)
    do(game, *TO_WARRIOR, f"train {yard}")
    assert offers(game) == {"done", f"yard tile {tile}"}


@pytest.mark.rule("B-4.7", "B-2.8")
@pytest.mark.parametrize("first", ["blue", "yellow"])
def test_the_tiles_of_a_yard_are_used_in_any_order(grounds, load, do, offers, first):
    position = grounds()
    position["yard_tiles"]["yard-1 blue"] = "yard-tile-1"  # COURTIER
    position["clans"][0]["iron"] = 5
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1", f"yard tile yard-1 {first}")
    second = "yellow" if first == "blue" else "blue"
    assert offers(game) == {"done", f"yard tile yard-1 {second}"}


@pytest.mark.rule("B-4.7", "B-2.8")
def test_coins_of_the_yellow_tile_may_pay_for_the_blue_one(grounds, load, do, clan):
    position = grounds()
    position["yard_tiles"]["yard-1 blue"] = "yard-tile-1"  # COURTIER
    position["clans"][0]["iron"] = 5
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1", "yard tile yard-1 yellow", "yard tile yard-1 blue")
    do(game, "audience")
    assert clan(game, 0)["coin"] == 3
    assert clan(game, 0)["courtiers"]["gate"] == 1


@pytest.mark.rule("B-4.7", "B-2.7")
def test_each_tile_of_a_yard_may_be_declined_alone(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["iron"] = 5
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1", "yard tile yard-1 yellow", "done")
    assert clan(game, 0)["coin"] == 5
    assert clan(game, 0)["warriors"]["yard-1"] == 1
    assert game.to_move == 1


@pytest.mark.rule("B-4.7", "B-2.7")
def test_all_tiles_of_a_yard_may_be_declined(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["iron"] = 5
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1", "done")
    assert clan(game, 0)["coin"] == 0
    assert clan(game, 0)["warriors"]["yard-1"] == 1
    assert game.to_move == 1


@pytest.mark.rule("B-4.7")
def test_a_tile_is_used_once_for_each_warrior_placed(grounds, load, do, clan):
    position = grounds()
    position["clans"][0]["iron"] = 1
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-3", "yard tile yard-3 yellow")
    assert clan(game, 0)["vp"] == 2
    assert game.to_move == 1


@pytest.mark.rule("B-4.7")
def test_a_warrior_granted_by_a_tile_uses_the_tiles_of_its_own_yard(
    grounds, load, do, offers, clan
):
    position = grounds()
    position["clans"][0]["iron"] = 6
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-1", "yard tile yard-1 blue", "train yard-3")
    assert offers(game) == {"done", "yard tile yard-3 yellow"}
    do(game, "yard tile yard-3 yellow")
    assert offers(game) == {"done", "yard tile yard-1 yellow"}
    assert clan(game, 0)["warriors"] == {"yard-1": 1, "yard-2": 0, "yard-3": 1}
    assert clan(game, 0)["vp"] == 2


YELLOW = [
    ("yard-tile-1", "pearl", 3),
    ("yard-tile-2", "influence", 2),
    ("yard-tile-3", "food", 3),
    ("yard-tile-5", "seal", 2),
    ("yard-tile-6", "coin", 5),
    ("yard-tile-8", "vp", 2),
]


@pytest.mark.rule("B-4.7", "B-1.5")
@pytest.mark.parametrize(("tile", "good", "amount"), YELLOW)
def test_the_yellow_face_of_a_tile_is_gained(grounds, load, do, clan, *, tile, good, amount):
    position = grounds()
    spare = iter(sorted({f"yard-tile-{n}" for n in range(1, 9)} - {tile}))
    position["yard_tiles"] = {slot: next(spare) for slot in YARD_TILES} | {"yard-3 yellow": tile}
    position["clans"][0]["iron"] = 1
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-3", "yard tile yard-3 yellow")
    assert clan(game, 0)[good] == amount


@pytest.mark.rule("B-4.7", "B-1.5")
def test_the_blue_face_of_a_tile_is_used_in_a_blue_place(grounds, load, do, offers, clan):
    position = grounds()
    position["clans"][0] |= {"iron": 3, "food": 1}
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-2", "yard tile yard-2 blue")
    assert offers(game) == {"done", "garden coral stone", "garden black stone"}
    assert clan(game, 0)["food"] == 1


@pytest.mark.rule("B-1.5", "B-4.6", "B-4.7")
def test_gardens_and_yard_tiles_stay_when_they_are_used(grounds, load, do):
    position = grounds()
    position["clans"][0] |= {"iron": 3, "food": 1}
    game = load(position)
    do(game, *TO_WARRIOR, "train yard-2", "yard tile yard-2 blue", "garden black stone", "perform")
    after = json.loads(game.to_json())
    assert after["gardens"] == GARDENS
    assert after["yard_tiles"] == YARD_TILES
