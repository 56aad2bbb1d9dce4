"""Limits and free conversions (D-7.1)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.duel.conftest import clan, do, goods, load, offers, pending, told

pytestmark = pytest.mark.rule("D-7.1")


def stow(coins, seals):
    return {"step": "stow", "seat": 0, "coins": coins, "seals": seals}


def refused(game, text):
    with pytest.raises(IllegalAction) as refusal:
        do(game, text)
    return str(refusal.value), refusal.value.rule


def full(first_turn, coin, seal, *steps):
    """A storage with so many pieces, and no room for resources, so that nothing is exchanged."""
    return load(pending(first_turn(coin=coin, seal=seal, food=7, iron=7, pearl=7), *steps))


def test_the_eleventh_piece_is_lost_or_replaces_one_of_the_other_kind(first_turn):
    game = full(first_turn, 6, 4, stow(1, 0))
    assert offers(game) == ["lose the coin", "discard a seal"]
    do(game, "discard a seal")
    assert (clan(game)["coin"], clan(game)["seal"]) == (7, 3)
    assert "seat 0 discards 1 seal" in told(game)
    game = do(full(first_turn, 6, 4, stow(0, 1)), "lose the seal")
    assert (clan(game)["coin"], clan(game)["seal"]) == (6, 4)
    assert "seat 0 has no room for 1 seal" in told(game)


def test_it_is_asked_unit_by_unit(first_turn):
    game = full(first_turn, 5, 5, stow(3, 0))
    do(game, "discard a seal", "lose the coin")
    assert offers(game) == ["lose the coin", "discard a seal"]
    do(game, "discard a seal")
    assert (clan(game)["coin"], clan(game)["seal"]) == (7, 3)


def test_what_fits_is_stored_without_a_question(first_turn):
    game = full(first_turn, 6, 2, stow(3, 0))
    assert (clan(game)["coin"], clan(game)["seal"]) == (8, 2), "two fit, the third is asked for"
    assert offers(game) == ["lose the coin", "discard a seal"]


def test_with_nothing_of_the_other_kind_the_new_piece_is_simply_lost(first_turn):
    game = full(first_turn, 10, 0, stow(2, 0))
    assert game.to_move == 1
    assert clan(game)["coin"] == 10
    assert told(game).count("seat 0 has no room for 1 coin") == 2


def test_with_both_kinds_to_come_their_owner_says_which_comes_first(first_turn):
    game = full(first_turn, 5, 4, stow(1, 1))
    assert offers(game) == ["choose coin", "choose seal"]
    do(game, "choose seal")
    assert offers(game) == ["lose the coin", "discard a seal"]
    game = full(first_turn, 5, 5, stow(1, 1))
    assert offers(game) == ["lose the coin", "lose the seal", "discard a coin", "discard a seal"]
    do(game, "discard a coin", "discard a seal")
    assert (clan(game)["coin"], clan(game)["seal"]) == (5, 5)


def test_a_piece_that_is_not_held_cannot_be_discarded(first_turn):
    game = full(first_turn, 0, 10, stow(1, 1))
    reason, rule = refused(game, "discard a coin")
    assert "seat 0 holds no coin" in reason
    assert rule == "D-7.1"


def test_an_exchange_makes_room_as_well(first_turn):
    game = load(pending(first_turn(coin=6, seal=4), stow(2, 0)))
    do(game, "exchange 2 seals for 1 iron")
    assert goods(game) == {"iron": 1, "coin": 8, "seal": 2}
    assert game.to_move == 1


def test_a_coin_or_seal_of_choice_is_chosen_unit_by_unit(first_turn):
    step = {"step": "choose-piece", "seat": 0, "amount": 2, "rule": "D-6.4"}
    game = load(pending(first_turn(), step))
    assert offers(game) == ["choose coin", "choose seal"]
    do(game, "choose seal", "choose coin")
    assert goods(game) == {"coin": 1, "seal": 1}


def test_a_zone_that_overflows_the_storage_asks(first_turn):
    start = first_turn(coin=10, food=7, iron=6, pearl=7)
    start["lantern_deck"].remove("lantern-black-seals")
    start["clans"][0]["zones"]["black"].append("lantern-black-seals")
    game = do(load(start), "place white L2")
    assert clan(game)["iron"] == 7
    assert offers(game) == ["lose the coin", "lose the seal", "discard a coin"]


@pytest.mark.parametrize("good", ["food", "iron", "pearl"])
def test_resources_beyond_seven_are_lost(first_turn, good):
    step = {"step": "choose-resource", "seat": 0, "amount": 1, "rule": "D-6.2"}
    game = do(load(pending(first_turn(**{good: 7}), step)), f"choose {good}")
    assert goods(game) == {good: 7}
    assert f"seat 0 has no room for 1 {good}" in told(game)


def test_a_third_swap_tile_has_no_effect(first_turn):
    start = pending(
        first_turn("flag-10", swap=2, coin=1), {"step": "adjacent", "seat": 0, "slots": ["D_LEFT"]}
    )
    game = do(load(start), "do D_LEFT", "perform")
    assert goods(game) == {"swap": 2}
    assert "seat 0 has no room for 1 swap tile" in told(game)


# --- exchanging -------------------------------------------------------------------------------


def test_two_seals_buy_any_resource_at_any_own_decision(first_turn):
    game = load(first_turn(seal=3))
    texts = [rules.action_text("duel", action) for action in game.legal()]
    assert texts[:3] == [f"exchange 2 seals for 1 {good}" for good in ("food", "iron", "pearl")]
    do(game, "exchange 2 seals for 1 pearl")
    assert goods(game) == {"pearl": 1, "seal": 1}
    reason, rule = refused(game, "exchange 2 seals for 1 food")
    assert "that costs 2 seals, seat 0 has 1" in reason
    assert rule == "D-7.1"


def test_there_is_no_exchange_of_a_seal_for_a_coin():
    texts = rules.ruleset("duel").actions.texts.values()
    assert not [text for text in texts if "coin" in text and text.startswith("exchange")]


def test_nothing_is_exchanged_into_a_full_resource(first_turn):
    game = load(first_turn(seal=4, food=7))
    reason, rule = refused(game, "exchange 2 seals for 1 food")
    assert "food stands at its cap" in reason
    assert rule == "D-7.1"


def test_nothing_is_exchanged_during_the_set_up():
    start = json.loads(rules.new_game("duel", 2, seed=1).to_json())
    seat = start["pending"][-1]["seat"]
    start["clans"][seat]["seal"] = 4
    game = load(start)
    assert offers(game) == [rules.action_text("duel", action) for action in game.legal()]
    assert "during set-up" in refused(game, "exchange 2 seals for 1 food")[0]


# --- the end ----------------------------------------------------------------------------------


@pytest.fixture
def last_turn(first_turn):
    """The last decision of the last turn: seat 1 has a benefit of the Well to choose."""

    def build(*held):
        start = first_turn()
        start |= {"round": 2, "turn": 12, "starter": 0}
        start["pending"] = [{"step": "well", "seat": 1, "amount": 1, "rule": "D-5.5"}]
        tokens = {"tokens": {"coral": 2, "black": 2, "white": 2}}
        start["clans"] = [clan | tokens | held[n] for n, clan in enumerate(start["clans"])]
        return load(start)

    return build


def test_at_the_end_each_seat_with_two_seals_is_asked_in_turn_order(last_turn):
    game = do(last_turn({"seal": 5}, {"seal": 3}), "choose vp")
    assert game.to_move == 0
    assert offers(game) == ["done"]
    do(game, "exchange 2 seals for 1 food", "exchange 2 seals for 1 food")
    assert game.to_move == 1, "one seal is left: nothing more to ask"
    do(game, "done")
    assert game.over
    assert goods(game, 0) == {"food": 2, "seal": 1}


def test_at_the_end_a_seat_with_fewer_seals_is_not_asked(last_turn):
    assert do(last_turn({"seal": 1}, {"seal": 0}), "choose vp").over


def test_at_the_end_a_seat_without_room_for_resources_is_not_asked(last_turn):
    rich = {"seal": 4, "food": 7, "iron": 7, "pearl": 7}
    assert do(last_turn(rich, {}), "choose vp").over
