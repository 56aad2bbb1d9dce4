"""Money, caps, influence and the exchange of seals (B-6)."""

import json
import random

import pytest
from himeji import rules
from himeji.rules.constants import FOOD, SEAL
from himeji.rules.errors import IllegalAction, ImpossiblePosition

from tests.rules.castle.boards import ROW_TILES, goods, lay_rooms, lay_tiles

CARDS = ["steward-10", "steward-02", "steward-05", "diplomat-02", "diplomat-05"]
RESOURCES = ("food", "iron", "pearl")
TO_COIN = "exchange 1 seal for 1 coin"
TO_RESOURCE = {resource: f"exchange 2 seals for 1 {resource}" for resource in RESOURCES}
EXCHANGES = {TO_COIN, *TO_RESOURCE.values()}


@pytest.fixture
def table(first_turn):
    """Seat 0 at its turn of a game of two; every die shows a 4, the goods are those given.

    Rooms: steward-10, -02, -05, diplomat-02, -05. Its Lantern Area shows food.
    """

    def build(**goods):
        position = first_turn()
        for bridge in position["bridges"].values():
            bridge |= {"left": 4, "centre": [4], "right": 4}
        lay_tiles(position, ROW_TILES)
        lay_rooms(position, CARDS)
        position["clans"][0] |= {"lantern": ["start-resource-8"], **goods}
        return position

    return build


INFLUENCE_2 = ("take white right", "place diplomat-room-1", "row diplomat-room-1 second")
"""Two steps of influence, at no price."""


def exchanges(offered):
    return offered & EXCHANGES


# --- B-6.1 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-6.1")
def test_a_clan_holds_at_most_seven_of_a_resource_and_the_rest_is_lost(table, load, do):
    game = load(table(iron=6))
    do(game, "take black right", "place steward-room-2", "row steward-room-2 bottom")
    assert goods(game) == {"coin": 1, "iron": 7}
    lost = [
        (event.seat, event.b, event.rule) for event in game.events_since(0) if event.kind == "lost"
    ]
    assert lost == [(0, 1, "B-6.1")]


@pytest.mark.rule("B-6.1")
@pytest.mark.parametrize("resource", RESOURCES)
def test_any_may_be_chosen_as_a_resource_that_stands_at_its_cap_and_is_then_lost(
    table, load, do, offers, resource
):
    game = load(table(**{resource: 7}))
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 top")
    assert offers(game) == {TO_COIN, *[f"choose {name}" for name in RESOURCES]}
    do(game, f"choose {resource}")
    assert goods(game)[resource] == 7
    assert [event.b for event in game.events_since(0) if event.kind == "lost"] == [1]


@pytest.mark.rule("B-6.1")
def test_a_clan_holds_at_most_five_seals_and_the_rest_is_lost(table, load, do):
    game = load(table(seal=5))
    do(game, "take coral right", "place well", "go on")
    assert goods(game) == {"coin": 5, "seal": 5}
    lost = [
        (event.a, event.b, event.rule) for event in game.events_since(0) if event.kind == "lost"
    ]
    assert lost == [(SEAL, 1, "B-6.1")]


@pytest.mark.rule("B-6.1")
def test_coins_are_unlimited(table, load, do):
    game = load(table(coin=1000))
    do(game, "take coral right", "place well")
    assert goods(game) == {"coin": 1005, "seal": 1}


@pytest.mark.rule("B-6.1", "B-8")
@pytest.mark.parametrize(
    ("good", "amount"), [*[(r, 8) for r in RESOURCES], ("seal", 6), ("coin", -1)]
)
def test_a_position_beyond_the_caps_or_below_zero_is_impossible(table, load, good, amount):
    with pytest.raises(ImpossiblePosition, match=f"clans.0..{good}"):
        load(table(**{good: amount}))


@pytest.mark.rule("B-6.1", "B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_no_play_goes_below_zero_or_beyond_a_cap(seats):
    game, dice = rules.new_game("base", seats, seed=seats), random.Random(seats)
    while not game.over:
        game.apply(dice.choice(game.legal()))
        for clan in json.loads(game.to_json())["clans"]:
            assert all(0 <= clan[resource] <= 7 for resource in RESOURCES)
            assert 0 <= clan["seal"] <= 5
            assert clan["coin"] >= 0
            assert 0 <= clan["influence"] <= 20


# --- B-6.2 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-6.2")
def test_influence_moves_the_marker_step_by_step(table, load, do):
    game = load(table(influence=2))
    do(game, *INFLUENCE_2)
    steps = [(e.seat, e.a, e.rule) for e in game.events_since(0) if e.kind == "influence-moved"]
    assert steps == [(0, 3, "B-6.2"), (0, 4, "B-6.2")]


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize(("before", "price"), [(5, 1), (10, 2), (14, 3)])
def test_entering_a_checkpoint_costs_its_seals_and_the_marker_goes_on(
    table, load, do, offers, *, before, price
):
    game = load(table(influence=before, seal=4))
    do(game, *INFLUENCE_2)
    assert {"pay the checkpoint", "stop before the checkpoint"} <= offers(game)
    do(game, "pay the checkpoint")
    assert goods(game) == {"influence": before + 2, "seal": 4 - price}
    paid = [(event.b, event.rule) for event in game.events_since(0) if event.kind == "pay"]
    assert paid == [(price, "B-6.2")]


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize(("before", "price"), [(4, 1), (9, 2), (13, 3)])
def test_a_checkpoint_may_be_the_last_step(table, load, do, before, price):
    game = load(table(influence=before, seal=price))
    do(game, *INFLUENCE_2, "pay the checkpoint")
    assert goods(game) == {"influence": before + 2}


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize("before", [5, 10, 14])
def test_a_player_who_will_not_pay_stops_before_it_and_loses_the_remaining_steps(
    table, load, do, before
):
    game = load(table(influence=before, seal=5))
    do(game, *INFLUENCE_2, "stop before the checkpoint")
    assert goods(game) == {"influence": before, "seal": 5}
    assert game.to_move == 1


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize("before", [4, 9, 13])
def test_the_steps_before_a_declined_checkpoint_are_kept(table, load, do, before):
    game = load(table(influence=before, seal=5))
    do(game, *INFLUENCE_2, "stop before the checkpoint")
    assert goods(game)["influence"] == before + 1


@pytest.mark.rule("B-6.2")
def test_a_player_without_seals_stops_before_the_checkpoint_without_being_asked(table, load, do):
    game = load(table(influence=5))
    do(game, *INFLUENCE_2)
    assert goods(game) == {"influence": 5}
    assert game.to_move == 1


@pytest.mark.rule("B-6.2", "B-6.3")
def test_a_player_who_exchanges_the_last_seal_before_a_checkpoint_stops_there(table, load, do):
    game = load(table(influence=5, seal=1))
    do(game, *INFLUENCE_2, TO_COIN)
    assert goods(game) == {"influence": 5, "coin": 1}
    assert game.to_move == 1


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize(("before", "price"), [(10, 2), (14, 3)])
def test_a_checkpoint_that_costs_more_seals_than_are_held_is_refused(
    table, load, do, offers, *, before, price
):
    game = load(table(influence=before, seal=price - 1))
    do(game, *INFLUENCE_2)
    assert "pay the checkpoint" not in offers(game)
    sentence = f"it costs {price} seals, seat 0 has {price - 1}"
    with pytest.raises(IllegalAction, match=sentence) as refused:
        do(game, "pay the checkpoint")
    assert refused.value.rule == "B-6.2"


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize("before", [*range(4), *range(6, 9), *range(11, 13), *range(15, 19)])
def test_between_the_checkpoints_steps_are_free_and_nothing_is_asked(table, load, do, before):
    game = load(table(influence=before, seal=5))
    do(game, *INFLUENCE_2)
    assert goods(game) == {"influence": before + 2, "seal": 5}
    assert game.to_move == 1


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize("before", [19, 20])
def test_position_20_is_the_last(table, load, do, before):
    game = load(table(influence=before))
    do(game, *INFLUENCE_2)
    assert goods(game) == {"influence": 20}


@pytest.mark.rule("B-6.2")
def test_a_marker_that_moved_goes_on_top_of_the_markers_on_its_space(table, load, do):
    position = table(influence=1)
    position["clans"][1]["influence"] = 3
    position["markers"] = [0, 1]
    game = load(position)
    do(game, *INFLUENCE_2)
    assert json.loads(game.to_json())["markers"] == [1, 0]  # later lies higher


@pytest.mark.rule("B-6.2")
@pytest.mark.parametrize(("place", "seals"), [(5, 0), (10, 1), (14, 2), (20, 0)])
def test_a_marker_that_did_not_move_keeps_its_place(table, load, do, place, seals):
    position = table(influence=place, seal=seals)
    position["clans"][1]["influence"] = place
    position["markers"] = [0, 1]
    game = load(position)
    do(game, *INFLUENCE_2, *(["stop before the checkpoint"] if seals else []))
    assert json.loads(game.to_json())["markers"] == [0, 1]


@pytest.mark.rule("B-6.2", "B-7.1")
@pytest.mark.parametrize(("before", "order"), [(1, [1, 0]), (2, [0, 1])])
def test_the_marker_that_came_last_is_first_in_the_next_round(table, load, do, before, order):
    position = table(influence=3)
    position["bridges"] = {
        "coral": {"left": 4, "centre": [], "right": None},
        "black": {"left": 4, "centre": [], "right": None},
        "white": {"left": 4, "centre": [], "right": 4},
    }
    position["spaces"]["well"] = ["coral 1", "coral 1", "black 1", "black 2", "white 1"]
    position["clans"][1]["influence"] = before
    position["markers"] = [1, 0]
    position |= {"turn": 6, "pending": [{"step": "take-die", "seat": 1}]}
    game = load(position)
    if before == 1:
        do(game, *INFLUENCE_2)  # from 1 to 3, onto the marker of seat 0
    else:
        do(game, "take white right", "place well")
    assert json.loads(game.to_json())["turn_order"] == order


# --- B-6.3: exchanges -----------------------------------------------------------------------------


@pytest.mark.rule("B-6.3")
def test_1_seal_buys_1_coin(table, load, do):
    game = load(table(seal=2))
    do(game, TO_COIN)
    assert goods(game) == {"coin": 1, "seal": 1}
    moved = [(e.kind, e.b, e.rule) for e in game.events_since(0) if e.kind in ("pay", "gain")]
    assert moved == [("pay", 1, "B-6.3"), ("gain", 1, "B-6.3")]


@pytest.mark.rule("B-6.3")
@pytest.mark.parametrize("resource", RESOURCES)
def test_2_seals_buy_1_resource(table, load, do, resource):
    game = load(table(seal=3))
    do(game, TO_RESOURCE[resource])
    assert goods(game) == {resource: 1, "seal": 1}


@pytest.mark.rule("B-6.3")
@pytest.mark.parametrize(
    ("seals", "open_now"), [(0, set()), (1, {TO_COIN}), (2, EXCHANGES), (5, EXCHANGES)]
)
def test_only_the_seals_in_hand_can_be_exchanged(table, load, offers, seals, open_now):
    assert exchanges(offers(load(table(seal=seals)))) == open_now


@pytest.mark.rule("B-6.3")
def test_an_exchange_may_be_repeated_and_leaves_the_decision_open(table, load, do, offers):
    game = load(table(seal=5))
    asked = offers(game) - EXCHANGES
    do(game, TO_COIN, TO_RESOURCE["food"], TO_RESOURCE["food"])
    assert goods(game) == {"coin": 1, "food": 2}
    assert game.to_move == 0
    assert offers(game) == asked


@pytest.mark.rule("B-6.3")
def test_an_exchange_without_enough_seals_is_refused(table, load, do):
    game = load(table(seal=1))
    with pytest.raises(IllegalAction, match="that costs 2 seals, seat 0 has 1") as refused:
        do(game, TO_RESOURCE["iron"])
    assert refused.value.rule == "B-6.3"


@pytest.mark.rule("B-6.3")
@pytest.mark.parametrize("resource", RESOURCES)
def test_seals_are_not_exchanged_into_a_resource_that_stands_at_its_cap(
    table, load, do, offers, resource
):
    game = load(table(seal=4, **{resource: 7}))
    assert exchanges(offers(game)) == EXCHANGES - {TO_RESOURCE[resource]}
    with pytest.raises(IllegalAction, match=f"{resource} stands at its cap") as refused:
        do(game, TO_RESOURCE[resource])
    assert refused.value.rule == "B-6.3"


@pytest.mark.rule("B-6.3")
def test_a_resource_just_below_its_cap_may_be_bought_once(table, load, do, offers):
    game = load(table(seal=4, food=6))
    do(game, TO_RESOURCE["food"])
    assert exchanges(offers(game)) == EXCHANGES - {TO_RESOURCE["food"]}


@pytest.mark.rule("B-6.3")
@pytest.mark.parametrize(
    "answers",
    [
        [],
        ["take coral right"],
        ["take coral right", "place steward-room-1"],
        ["take coral right", "place steward-room-1", "row steward-room-1 top"],
        ["take coral right", "place steward-room-1", "row steward-room-1 middle"],
        ["take coral right", "place outside-left"],
        ["take coral right", "place outside-left", "do courtier"],
        ["take coral right", "place outside-left", "do courtier", "audience"],
        ["take coral right", "place outside-left", "do courtier", "climb gate steward-room-1"],
        ["take coral right", "place outside-left", "do courtier", "climb diplomat-room-1 daimyo"],
        ["take coral right", "place outside-left", "do gardener"],
        ["take coral right", "place outside-left", "do gardener", "garden black stone"],
        ["take coral right", "place outside-right", "do warrior"],
        ["take coral right", "place outside-right", "do warrior", "train yard-3"],
        ["take coral right", "place outside-right", "do warrior", "train yard-1"],
        ["take coral right", "place domain-coral"],
        [*INFLUENCE_2],  # the checkpoint
    ],
)
def test_seals_may_be_exchanged_at_any_own_decision(table, load, do, offers, answers):
    position = table(seal=4, coin=6, food=6, iron=6, pearl=6, influence=5)
    position["clans"][0]["courtiers"] |= {"domain": 3, "gate": 1, "diplomat-room-1": 1}
    game = load(position)
    do(game, *answers)
    assert game.to_move == 0
    assert TO_COIN in offers(game)
    seals, coins = goods(game)["seal"], goods(game)["coin"]
    asked = offers(game) - EXCHANGES
    do(game, TO_COIN)
    assert (goods(game)["seal"], goods(game)["coin"]) == (seals - 1, coins + 1)
    assert asked <= offers(game)


@pytest.mark.rule("B-6.3")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_in_every_play_just_the_seat_that_is_asked_may_exchange_what_it_holds(seats, offers):
    game, dice = rules.new_game("base", seats, seed=seats + 10), random.Random(seats)
    while not game.over:
        position = json.loads(game.to_json())
        held = position["clans"][game.to_move]
        expected = {TO_COIN} if held["seal"] else set()
        if held["seal"] > 1:
            expected |= {TO_RESOURCE[name] for name in RESOURCES if held[name] < 7}
        assert exchanges(offers(game)) == (set() if position["set_up"] else expected)
        game.apply(dice.choice(game.legal()))


@pytest.mark.rule("B-6.3")
def test_a_decision_of_another_seat_opens_no_exchange(table, load, do, offers):
    game = load(table(seal=5))
    do(game, "take coral right", "place steward-room-1", "done")
    assert game.to_move == 1
    assert not exchanges(offers(game))
    with pytest.raises(IllegalAction, match="seat 1 has 0") as refused:
        do(game, TO_COIN)
    assert refused.value.rule == "B-6.3"
    assert goods(game)["seal"] == 5


@pytest.mark.rule("B-6.3", "B-1.7")
def test_seals_cannot_be_exchanged_during_set_up(do, offers, clan):
    game = rules.new_game("base", 2, seed=1)
    position = json.loads(game.to_json())
    position["pairs"][0] = {"resource": "start-resource-2", "action": "start-action-1a"}
    position["pairs"][1] = {"resource": "start-resource-3", "action": "start-action-2a"}
    position["pairs"][2] = {"resource": "start-resource-6", "action": "start-action-3a"}
    game = rules.from_json(position, seed=1)
    seat = game.to_move
    do(game, "pick pair 1")
    assert clan(game, seat)["seal"] == 2
    assert not exchanges(offers(game))
    with pytest.raises(IllegalAction, match="seals cannot be exchanged during set-up") as refused:
        do(game, TO_COIN)
    assert refused.value.rule == "B-6.3"


@pytest.mark.rule("B-6.3")
def test_the_first_decision_after_set_up_opens_the_exchange(offers):
    game = rules.new_game("base", 2, seed=1)
    while json.loads(game.to_json())["set_up"]:
        assert not exchanges(offers(game))
        game.apply(game.legal()[0])
    assert exchanges(offers(game))


# --- B-6.3: seals at the cap ----------------------------------------------------------------------


@pytest.mark.rule("B-6.3")
def test_before_seals_are_lost_at_the_cap_their_owner_is_asked(table, load, do, offers):
    game = load(table(seal=5))
    do(game, "take coral right", "place well")
    assert offers(game) == {"go on"} | EXCHANGES
    assert goods(game) == {"coin": 5, "seal": 5}


@pytest.mark.rule("B-6.3")
def test_an_exchange_at_the_cap_makes_room_and_the_seal_is_gained(table, load, do):
    game = load(table(seal=5))
    do(game, "take coral right", "place well", TO_RESOURCE["pearl"])
    assert goods(game) == {"coin": 5, "seal": 4, "pearl": 1}
    assert game.to_move == 1


@pytest.mark.rule("B-6.3")
def test_the_question_at_the_cap_stays_until_nothing_would_be_lost(table, load, do, offers):
    position = table(seal=5, food=3)
    position["gardens"] |= {"black stone": "garden-stone-8"}  # gives 2 seals
    position["clans"][0]["coin"] = 1
    game = load(position)
    do(game, "take coral right", "place outside-left", "do gardener", "garden black stone")
    do(game, "perform", TO_COIN)
    assert "go on" in offers(game)
    do(game, TO_COIN)
    assert goods(game) == {"coin": 2, "seal": 5, "food": 1}
    assert game.to_move == 1


@pytest.mark.rule("B-6.3", "B-6.1")
def test_going_on_gains_what_fits_and_loses_the_rest(table, load, do):
    position = table(seal=4, food=3)
    position["gardens"] |= {"black stone": "garden-stone-8"}
    position["clans"][0]["coin"] = 1
    game = load(position)
    do(game, "take coral right", "place outside-left", "do gardener", "garden black stone")
    do(game, "perform", "go on")
    assert goods(game) == {"seal": 5, "food": 1}


@pytest.mark.rule("B-6.3")
def test_a_gain_of_seals_that_fits_is_not_asked_about(table, load, do):
    game = load(table(seal=4))
    do(game, "take coral right", "place well")
    assert goods(game) == {"coin": 5, "seal": 5}
    assert game.to_move == 1


@pytest.mark.rule("B-6.3")
def test_the_last_part_of_an_order_is_asked_about_too_if_it_would_lose_a_seal(
    table, load, do, offers
):
    game = load(table(seal=5))
    do(game, "take coral right", "place well")
    assert "go on" in offers(game)


@pytest.mark.rule("B-6.3")
def test_a_resource_at_its_cap_is_lost_without_a_question(table, load, do):
    game = load(table(food=7))
    do(game, "take coral left", "place steward-room-1", "done")
    assert goods(game) == {"coin": 1, "food": 7}
    assert [event.a for event in game.events_since(0) if event.kind == "lost"] == [FOOD]


# --- B-6.3: after round 3 -------------------------------------------------------------------------


@pytest.fixture
def last_turn(table):
    """Seat 1 at the last turn of the game; it leads on the Passage of Time."""

    def build(seals):
        position = table()
        position |= {"round": 3, "turn": 6, "pending": [{"step": "take-die", "seat": 1}]}
        position["bridges"] = {
            "coral": {"left": 4, "centre": [], "right": None},
            "black": {"left": 4, "centre": [], "right": None},
            "white": {"left": 4, "centre": [], "right": 4},
        }
        position["spaces"]["well"] = ["coral 1", "coral 1", "black 1", "black 2", "white 1"]
        for clan, held in zip(position["clans"], seals, strict=True):
            clan["seal"] = held
        position["clans"][1]["influence"] = 3
        return position

    return build


@pytest.mark.rule("B-6.3", "B-7.1")
def test_after_round_3_each_seat_that_holds_a_seal_is_asked_in_the_new_turn_order(
    last_turn, load, do, offers
):
    game = load(last_turn([2, 1]))
    do(game, "take white right", "place steward-room-2", "done")
    assert game.to_move == 1
    assert offers(game) == {"done", TO_COIN}
    do(game, "done")
    assert game.to_move == 0
    assert offers(game) == {"done"} | EXCHANGES
    do(game, "done")
    assert game.over


@pytest.mark.rule("B-6.3")
def test_after_round_3_a_seat_is_asked_until_it_holds_no_seal(last_turn, load, do):
    game = load(last_turn([0, 3]))
    do(game, "take white right", "place steward-room-2", "done")
    do(game, TO_RESOURCE["food"])
    assert not game.over
    do(game, TO_COIN)
    assert game.over
    assert goods(game, 1) == {"coin": 1 + 1, "food": 1, "influence": 3}


@pytest.mark.rule("B-6.3")
def test_after_round_3_a_seat_without_seals_is_not_asked(last_turn, load, do):
    game = load(last_turn([0, 0]))
    do(game, "take white right", "place steward-room-2", "done")
    assert game.over
