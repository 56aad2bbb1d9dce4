"""Rounds and turns: swapping tiles, tokens, the Lantern reward, adjacent actions (D-5)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.duel.conftest import clan, do, goods, load, offers, pending, told


def refused(game, text):
    with pytest.raises(IllegalAction) as refusal:
        do(game, text)
    return str(refusal.value), refusal.value.rule


def returning(start, stacks, seat=0, turn=1):
    """The position in the Return round, with these stacks and the rest of the tokens at home."""
    start |= {"round": 2, "turn": turn, "starter": seat if turn % 2 else 1 - seat}
    start["pending"] = [{"step": "move-token", "seat": seat, "swap": True}]
    for name, place in start["locations"].items():
        place["tokens"] = stacks.get(name, [])
    return start


FULL = {
    "L1": ["black", "coral"],
    "L2": ["coral", "white"],
    "L3": ["coral", "black"],
    "L4": ["black", "white"],
    "L5": ["white", "coral"],
    "L6": ["white", "black"],
}


@pytest.fixture
def returned(first_turn):
    """The first turn of the Return round: twelve tokens lie on the Locations."""
    start = returning(first_turn(), FULL)
    for held in start["clans"]:
        held["tokens"] = {"coral": 0, "black": 0, "white": 0}
    return start


# --- rounds -----------------------------------------------------------------------------------


@pytest.mark.rule("D-5.1")
def test_after_twelve_turns_the_marker_passes_and_the_second_player_goes_on():
    game = rules.new_game("duel", 2, seed=4)
    while not game.over:
        game.apply(game.legal()[-1])
    moves = [e for e in game.events_since(0) if e.kind.startswith("token")]
    assert [move.kind for move in moves] == ["token-placed"] * 12 + ["token-taken"] * 12
    first = moves[0].seat
    order = [move.seat for move in moves]
    assert order == [first, 1 - first] * 6 + [1 - first, first] * 6
    assert [event for event in told(game) if "begins the" in event] == [
        f"seat {first} begins the outgoing round",
        f"seat {1 - first} begins the return round",
    ]


# --- swapping ---------------------------------------------------------------------------------


@pytest.mark.rule("D-5.2")
def test_a_swap_tile_exchanges_any_two_activation_tiles_before_the_token(first_turn):
    game = load(first_turn(swap=2))
    assert len([text for text in offers(game) if text.startswith("swap")]) == 15
    do(game, "swap A1 A5")
    tiles = json.loads(game.to_json())["activation"]
    assert (tiles["A1"], tiles["A5"]) == ("activation-garden", "activation-courtier")
    assert goods(game) == {"swap": 1}
    assert game.to_move == 0


@pytest.mark.rule("D-5.2")
def test_tiles_are_swapped_once_per_turn_and_only_before_the_token(first_turn):
    game = do(load(first_turn(swap=2)), "swap A1 A2")
    assert not [text for text in offers(game) if text.startswith("swap")]
    reason, rule = refused(game, "swap A3 A4")
    assert "one swap tile may be used in a turn" in reason
    assert rule == "D-5.2"
    do(game, "place white L1")
    assert not [text for text in offers(game) if text.startswith("swap")]


@pytest.mark.rule("D-5.2")
def test_swapping_is_optional_and_needs_a_swap_tile(first_turn):
    game = load(first_turn())
    reason, rule = refused(game, "swap A1 A2")
    assert "seat 0 has no swap tile" in reason
    assert rule == "D-5.2"
    do(load(first_turn(swap=1)), "place white L1")


# --- tokens -----------------------------------------------------------------------------------


@pytest.mark.rule("D-5.3")
def test_the_first_token_differs_from_the_tile_of_an_empty_location(first_turn):
    game = load(first_turn())
    places = [text for text in offers(game) if text.endswith("L1")]
    assert places == ["place black L1", "place white L1"]
    reason, rule = refused(game, "place coral L1")
    assert "the tile of the empty L1 is coral" in reason
    assert rule == "D-5.3"


@pytest.mark.rule("D-5.3")
def test_later_tokens_differ_from_the_stack_and_the_tile_no_longer_matters(first_turn):
    start = first_turn()
    start["turn"] = 3
    start["locations"]["L1"]["tokens"] = ["black", "white"]
    start["clans"][0]["tokens"] = {"coral": 2, "black": 1, "white": 2}
    start["clans"][1]["tokens"] = {"coral": 2, "black": 2, "white": 1}
    game = load(start)
    assert [text for text in offers(game) if text.endswith("L1")] == ["place coral L1"]
    reason, rule = refused(game, "place white L1")
    assert "a white token lies on L1 already" in reason
    assert rule == "D-5.3"
    do(game, "place coral L1")
    stack = json.loads(game.to_json())["locations"]["L1"]["tokens"]
    assert stack == ["black", "white", "coral"]


@pytest.mark.rule("D-5.3")
def test_only_own_tokens_can_be_placed(first_turn):
    start = first_turn()
    start["turn"] = 5
    start["locations"]["L1"]["tokens"] = ["white"]
    start["locations"]["L2"]["tokens"] = ["white"]
    start["locations"]["L3"]["tokens"] = ["black"]
    start["locations"]["L4"]["tokens"] = ["coral"]
    start["clans"][0]["tokens"] = {"coral": 2, "black": 2, "white": 0}
    start["clans"][1]["tokens"] = {"coral": 1, "black": 1, "white": 2}
    game = load(start)
    assert not [text for text in offers(game) if "white" in text]
    assert "seat 0 has no white token left" in refused(game, "place white L5")[0]


@pytest.mark.rule("D-5.3")
def test_in_the_return_round_the_top_token_of_any_stack_is_taken(returned):
    game = load(returned)
    assert offers(game) == [f"take L{number}" for number in range(1, 7)]
    do(game, "take L4")
    assert clan(game)["tokens"] == {"coral": 0, "black": 0, "white": 1}
    assert json.loads(game.to_json())["locations"]["L4"]["tokens"] == ["black"]
    assert "no answer to this question" in refused(game, "take L4")[0]


@pytest.mark.rule("D-5.3")
def test_an_empty_location_gives_no_token_and_own_lanterns_have_no_limit(returned):
    returned |= {"turn": 11, "starter": 0}
    stacks = {"L1": ["black"], "L2": ["coral"]}
    returning(returned, stacks, turn=11)
    returned["clans"][0]["tokens"] = {"coral": 0, "black": 1, "white": 4}
    returned["clans"][1]["tokens"] = {"coral": 3, "black": 2, "white": 0}
    game = load(returned)
    assert offers(game) == ["take L1", "take L2"]
    reason, rule = refused(game, "take L3")
    assert "no token lies on L3" in reason
    assert rule == "D-5.3"


@pytest.mark.rule("D-5.6")
@pytest.mark.parametrize("seed", range(40))
def test_a_token_can_always_be_placed(seed):
    game = rules.new_game("duel", 2, seed=seed)
    choose = (min, max)[seed % 2]
    while not game.over:
        if game.round == 1 and game.stack[-1].question(game) == "place a token":
            own = {c for c in range(3) if game.tokens[game.to_move * 3 + c]}
            placed = [a - 24 for a in game.legal() if 24 <= a < 42]
            assert {number // 6 for number in placed} == own, "every own colour has a place"
        game.apply(choose(game.legal()))


# --- the Lantern reward -----------------------------------------------------------------------


@pytest.mark.rule("D-5.4")
def test_on_an_empty_location_the_colour_of_the_tile_pays(first_turn):
    game = do(load(first_turn()), "place white L2")
    assert goods(game) == {"iron": 1, "coin": 1}, "printed 1 iron, and the start card's coin"


@pytest.mark.rule("D-5.4")
def test_on_a_stack_the_colour_of_the_covered_token_pays(first_turn):
    start = first_turn()
    start |= {"turn": 2, "pending": [{"step": "move-token", "seat": 1, "swap": True}]}
    start["locations"]["L2"]["tokens"] = ["white"]
    start["clans"][0]["tokens"]["white"] = 1
    game = do(load(start), "place coral L2")
    assert goods(game, 1) == {"pearl": 1, "seal": 1}, "printed 1 pearl, and the start card's seal"


@pytest.mark.rule("D-5.4")
def test_in_the_return_round_the_colour_of_the_token_taken_pays(returned):
    game = do(load(returned), "take L6")
    assert goods(game) == {"iron": 1, "coin": 1}


@pytest.mark.rule("D-5.4")
def test_every_card_of_the_zone_pays_and_other_zones_do_not(first_turn):
    start = first_turn()
    for card in ("lantern-black-food", "lantern-black-seals"):
        start["lantern_deck"].remove(card)
        start["clans"][0]["zones"]["black"].append(card)
    start["lantern_deck"].remove("lantern-white-iron")
    start["clans"][0]["zones"]["white"].append("lantern-white-iron")
    game = do(load(start), "place white L2")
    assert goods(game) == {"food": 1, "iron": 1, "coin": 1, "seal": 1}


# --- the adjacent actions ---------------------------------------------------------------------


@pytest.mark.rule("D-5.5")
def test_both_actions_are_done_in_either_order_one_fully_before_the_other(first_turn):
    start = first_turn("flag-10", food=7, coin=1)
    for order in (("do A5", "do D_LEFT"), ("do D_LEFT", "do A5")):
        game = do(load(start), "place black L4")
        assert offers(game) == ["decline A5", "decline D_LEFT", "do A5", "do D_LEFT"]
        do(game, order[0])
        if order[0] == "do A5":
            do(game, "garden G2")
            assert offers(game) == ["decline D_LEFT", "do D_LEFT"]
        else:
            do(game, "perform")
            assert offers(game) == ["decline A5", "do A5"]
        assert game.to_move == 0


@pytest.mark.rule("D-5.5")
def test_a_declined_action_gives_one_benefit_of_the_well(first_turn):
    game = do(load(first_turn(food=7, coin=3)), "place black L4", "decline A5")
    assert offers(game) == [
        "done",
        "choose food",
        "choose iron",
        "choose pearl",
        "choose coin",
        "choose seal",
        "choose swap tile",
        "choose vp",
    ]
    do(game, "choose vp")
    assert offers(game) == ["decline D_LEFT", "do D_LEFT"]
    do(game, "decline D_LEFT", "choose iron")
    assert goods(game)["vp"] == 1
    assert goods(game)["iron"] == 1
    assert game.to_move == 1, "the turn is over"


@pytest.mark.rule("D-5.5")
def test_an_impossible_action_can_only_be_declined(first_turn):
    game = do(load(first_turn()), "place white L1")
    assert offers(game) == ["decline A1", "decline A2"]
    reason, rule = refused(game, "do A1")
    assert "nothing can be done with courtier now" in reason
    assert rule == "D-6.4"
    reason, rule = refused(game, "do A2")
    assert "nothing can be done with trade now" in reason
    assert rule == "D-6.5"


@pytest.mark.rule("D-5.5")
def test_the_last_impossible_action_declines_itself(first_turn):
    game = do(load(first_turn()), "place white L1", "decline A1", "choose vp")
    assert offers(game)[0] == "done", "trade is impossible, so its Well is asked at once"
    do(game, "choose vp")
    assert goods(game) == {"food": 1, "vp": 2}


@pytest.mark.rule("D-5.5", "D-6.5")
def test_an_action_whose_means_were_exchanged_counts_as_declined(first_turn):
    start = first_turn("origami-03", "origami-02", "origami-12", seal=2, pearl=1)
    start["merchandise"]["common"] = {"top": None, "below": []}
    start["clans"][1]["merchandise"] = ["common-1", "common-2", "common-3"]
    step = {"step": "trade", "seat": 0, "discount": 0, "optional": False}
    game = load(pending(start, step))
    assert offers(game) == ["trade for D_LEFT", "trade for D_RIGHT"]
    do(game, "exchange 2 seals for 1 iron")
    assert "choose vp" in offers(game), "nothing can be bought any more: Well"
