"""The actions: buying, garden, training, courtier, trade, lantern, improve, Well (D-6)."""

import json

import pytest
from himeji.rules.errors import IllegalAction

from tests.rules.duel.conftest import (
    clan,
    display,
    do,
    exhaust,
    give,
    goods,
    load,
    offers,
    pending,
    show,
    told,
)


def refused(game, text):
    with pytest.raises(IllegalAction) as refusal:
        do(game, text)
    return str(refusal.value), refusal.value.rule


def step(kind, **fields):
    return {"step": kind, "seat": 0, **fields}


def priced(kind, discount=0, *, optional=False):
    return step(kind, discount=discount, optional=optional)


def beside(slot):
    """The pending choice of one action that is left of two."""
    return step("adjacent", slots=[slot])


# --- buying -----------------------------------------------------------------------------------


@pytest.mark.rule("D-6.1")
@pytest.mark.parametrize(
    ("card", "held", "paid"),
    [
        ("flag-02", {"coin": 2, "seal": 1}, {"seal": 1}),
        ("origami-03", {"coin": 2, "seal": 3}, {"coin": 2, "seal": 1}),
        ("weapon-04", {"coin": 2}, {}),
        ("weapon-04", {"seal": 2}, {}),
        ("weapon-04", {"coin": 1, "seal": 1}, {}),
    ],
)
def test_flags_cost_coins_origami_seals_and_weapons_a_mix(first_turn, card, held, paid):
    game = load(pending(first_turn(card, **held), beside("D_LEFT")))
    do(game, "do D_LEFT")
    if "perform" not in offers(game):
        (only,) = offers(game)
        do(game, only)
    assert goods(game) == paid
    assert clan(game)["cards"] == [card]
    assert json.loads(game.to_json())["decks"]["D_LEFT"]["below"] == 10


@pytest.mark.rule("D-6.1")
def test_the_mix_for_a_weapon_is_the_buyers_choice(first_turn):
    start = pending(
        first_turn("weapon-05", coin=3, seal=3, food=7, iron=7, pearl=7), beside("D_LEFT")
    )
    game = do(load(start), "do D_LEFT")
    assert offers(game) == [
        "pay 3 coins",
        "pay 2 coins 1 seal",
        "pay 1 coin 2 seals",
        "pay 3 seals",
    ]
    do(game, "pay 1 coin 2 seals")
    assert clan(game)["coin"] == 2
    assert clan(game)["seal"] == 1


@pytest.mark.rule("D-6.1", "D-7.1")
def test_seals_that_a_mix_needs_cannot_be_exchanged_while_it_is_paid(first_turn):
    start = pending(first_turn("weapon-05", coin=2, seal=2), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT")
    assert offers(game) == ["pay 2 coins 1 seal", "pay 1 coin 2 seals"]
    reason, rule = refused(game, "exchange 2 seals for 1 food")
    assert "those seals are needed for what is being paid" in reason
    assert rule == "D-7.1"
    reason, _ = refused(game, "pay 3 seals")
    assert "seat 0 has 2 coins and 2 seals" in reason


@pytest.mark.rule("D-6.1")
def test_a_card_that_cannot_be_paid_is_not_bought(first_turn):
    game = load(pending(first_turn("flag-02", coin=1, seal=2), beside("D_LEFT")))
    reason, rule = refused(game, "do D_LEFT")
    assert "flag-02: it costs 2 coins, seat 0 has 1" in reason
    assert rule == "D-6.1"


@pytest.mark.rule("D-6.1")
def test_the_scroll_may_be_skipped_and_that_gives_no_well(first_turn):
    game = do(load(pending(first_turn("flag-05", coin=1), beside("D_LEFT"))), "do D_LEFT")
    assert offers(game) == ["done", "perform"]
    do(game, "done")
    assert goods(game) == {}
    assert game.to_move == 1


@pytest.mark.rule("D-6.1")
def test_a_scroll_with_a_cost_is_paid_before_it_is_done(first_turn):
    start = pending(first_turn("weapon-01", coin=1, food=1, pearl=2), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT", "perform")
    assert offers(game) == ["pay 1 food", "pay 1 pearl"]
    do(game, "pay 1 pearl")
    assert goods(game) == {"food": 1, "pearl": 1, "seal": 3}


@pytest.mark.rule("D-6.1")
def test_a_scroll_whose_cost_is_missing_cannot_be_done(first_turn):
    start = pending(
        first_turn("flag-02", coin=2, food=7, iron=7, pearl=7), step("scroll", card="flag-08")
    )
    give(start, 0, "flag-08")
    start["clans"][0]["seal"] = 0
    start["clans"][0] |= {"coin": 2}
    start["pending"].insert(0, beside("D_LEFT"))
    game = load(start)
    assert offers(game) == ["decline D_LEFT", "do D_LEFT"], "the scroll was skipped by itself"


@pytest.mark.rule("D-6.1")
def test_the_next_card_shows_before_the_scroll_is_done(first_turn):
    start = pending(first_turn("flag-07", "flag-01", "flag-02", coin=3, food=1), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT")
    top = json.loads(game.to_json())["decks"]["D_LEFT"]["top"]
    assert top not in (None, "flag-07")
    do(game, "perform")
    assert "trade for D_MID" in offers(game)


@pytest.mark.rule("D-6.1", "D-3.6")
def test_an_empty_deck_gives_a_benefit_of_the_well_instead(first_turn):
    start = pending(first_turn(coin=5, seal=5), beside("D_LEFT"))
    exhaust(start, "D_LEFT")
    game = load(start)
    reason, rule = refused(game, "do D_LEFT")
    assert "the deck D_LEFT is empty" in reason
    assert rule == "D-6.1"
    do(game, "decline D_LEFT", "choose vp")
    assert goods(game)["vp"] == 1


def rules_of_actions(game):
    return [event.rule for event in game.events_since(0) if event.kind == "action"]


WELL = [
    "done",
    *["choose food", "choose iron", "choose pearl", "choose coin", "choose seal"],
    *["choose swap tile", "choose vp"],
]


@pytest.mark.rule("D-6.1", "D-6.2", "D-6.3", "D-6.4", "D-6.8")
@pytest.mark.parametrize("rule", ["D-6.2", "D-6.3", "D-6.4"])
def test_a_reward_that_buys_gives_the_well_of_an_empty_deck_for_nothing(first_turn, rule):
    start = pending(first_turn(coin=3), step("choose-card", rule=rule, free=False))
    exhaust(start, "D_MID")
    game = load(start)
    assert offers(game) == ["done", "card D_LEFT", "well of an empty deck"]
    do(game, "well of an empty deck")
    assert offers(game) == WELL
    do(game, "choose vp")
    assert goods(game) == {"coin": 3, "vp": 1}, "nothing is paid"
    assert clan(game)["cards"] == []
    assert rules_of_actions(game) == [rule, "D-6.1"]
    assert game.to_move == 1, "one benefit"


@pytest.mark.rule("D-6.1", "D-6.2", "D-6.3", "D-6.4")
@pytest.mark.parametrize(
    ("kind", "answers", "left"),
    [
        ("garden", ["garden G4"], {"iron": 5, "pearl": 5}),
        ("training", ["train basic", "reward 2"], {"food": 5, "iron": 3, "pearl": 5}),
        ("training", ["train elite", "reward 2"], {"food": 5, "pearl": 5}),
        ("climb", ["climb left 1"], {"food": 5, "iron": 5, "pearl": 3}),
    ],
)
def test_every_tile_that_buys_grants_the_well_of_an_empty_deck(first_turn, kind, answers, left):
    start = pending(first_turn(food=5, iron=5, pearl=5), priced(kind))
    exhaust(start, "D_LEFT", "D_MID", "D_RIGHT")
    start["options"]["layout"] = "random"
    start["gardens"] |= {"G1": "garden-7", "G4": "garden-5"}
    start["yards"] = {"basic": "basic-4", "elite": "elite-2"}
    start["paths"]["left"]["grey"] = "social-4"
    start["clans"][0] |= {"path": "left", "courtier": 3}
    start["clans"][1]["path"] = "right"
    game = do(load(start), *answers)
    assert offers(game) == ["done", "well of an empty deck"]
    do(game, "well of an empty deck", "choose vp")
    assert goods(game) == left | {"vp": 1}


@pytest.mark.rule("D-6.1", "D-6.3")
def test_the_free_card_may_be_the_well_of_an_empty_deck(first_turn):
    start = pending(first_turn(), step("choose-card", rule="D-6.3", free=True))
    exhaust(start, "D_LEFT", "D_RIGHT")
    game = load(start)
    assert offers(game) == ["done", "card D_MID", "well of an empty deck"]
    do(game, "well of an empty deck", "choose coin")
    assert goods(game) == {"coin": 1}
    assert clan(game)["cards"] == []


@pytest.mark.rule("D-6.1", "D-6.5")
def test_trade_pays_its_resource_for_the_well_of_an_empty_deck(first_turn):
    start = pending(first_turn(iron=1, food=1, coin=2), priced("trade"))
    exhaust(start, "D_RIGHT")
    game = do(load(start), "well of an empty deck")
    assert offers(game) == ["pay 1 food", "pay 1 iron"]
    do(game, "pay 1 food")
    assert offers(game) == WELL
    do(game, "choose vp")
    assert goods(game) == {"iron": 1, "coin": 2, "vp": 1}, "no price of a card is paid"
    assert rules_of_actions(game) == ["D-6.5", "D-6.5", "D-6.1"]
    assert game.to_move == 1, "one benefit"


@pytest.mark.rule("D-6.1", "D-6.9")
def test_a_free_trade_offers_the_well_of_an_empty_deck_just_the_same(first_turn):
    start = pending(first_turn(), priced("trade", 1, optional=True))
    exhaust(start, "D_LEFT")
    game = load(start)
    assert offers(game) == ["done", "well of an empty deck"], "for no resource"
    do(game, "well of an empty deck", "choose swap tile")
    assert goods(game) == {"swap": 1}


@pytest.mark.rule("D-6.1", "D-5.5")
def test_with_all_decks_empty_the_well_is_one_thing_that_trade_can_do(first_turn):
    start = pending(first_turn(pearl=1), beside("A2"))
    exhaust(start, "D_LEFT", "D_MID", "D_RIGHT")
    assert start["unseen_cards"] == []
    game = load(start)
    assert offers(game) == ["decline A2", "do A2"]
    do(game, "do A2")
    assert goods(game) == {}, "the only trade left is made, its pearl is paid"
    assert offers(game) == WELL
    start["clans"][0]["pearl"] = 0
    assert offers(load(start)) == WELL, "trade is impossible without a resource and is declined"


@pytest.mark.rule("D-6.1")
@pytest.mark.parametrize(
    "asked", [priced("trade"), step("choose-card", rule="D-6.2", free=False)], ids=["trade", "buy"]
)
def test_the_well_of_a_deck_needs_an_empty_deck(first_turn, asked):
    start = pending(first_turn(food=2, coin=1), asked)
    reason, rule = refused(load(start), "well of an empty deck")
    assert "tried “well of an empty deck”: no deck is empty; legal are" in reason
    assert rule == "D-6.1"


@pytest.mark.rule("D-6.1", "D-6.5")
def test_the_card_of_an_empty_deck_is_refused_and_its_well_needs_the_resource(first_turn):
    start = pending(first_turn(seal=2), priced("trade", optional=True))
    exhaust(start, "D_LEFT")
    game = load(start)
    reason, _ = refused(game, "trade for D_LEFT")
    assert "the deck D_LEFT is empty" in reason
    reason, rule = refused(game, "well of an empty deck")
    assert "it costs 1 of any resource, seat 0 has 0" in reason
    assert rule == "D-6.5"
    start["pending"] = [step("choose-card", rule="D-6.2", free=False)]
    reason, rule = refused(load(start), "card D_LEFT")
    assert "the deck D_LEFT is empty" in reason
    assert rule == "D-6.1"


@pytest.mark.rule("D-6.1")
def test_several_effects_of_a_scroll_whose_order_changes_nothing_are_not_ordered(first_turn):
    start = pending(first_turn("origami-04", seal=1), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT", "perform")
    do(game, "choose vp")
    assert offers(game) == ["lantern card 1", "lantern card 2", "lantern card 3"]


# --- garden -----------------------------------------------------------------------------------


@pytest.mark.rule("D-6.2")
def test_a_garden_takes_food_and_a_seal_and_pays_its_tile(first_turn):
    game = do(load(pending(first_turn(food=7), priced("garden"))), "garden G5")
    assert goods(game) == {"food": 2, "vp": 3}
    assert clan(game)["garden_seals"]["G5"] == 1


@pytest.mark.rule("D-6.2")
def test_both_spaces_of_a_column_may_belong_to_one_seat_but_no_third_fits(first_turn):
    start = pending(first_turn(food=2), priced("garden", optional=True))
    start["clans"][0]["garden_seals"]["G1"] = 1
    assert "garden G1" in offers(load(start))
    start["clans"][1]["garden_seals"]["G1"] = 1
    game = load(start)
    reason, rule = refused(game, "garden G1")
    assert "G1 has no empty space" in reason
    assert rule == "D-6.2"


@pytest.mark.rule("D-6.2", "D-7.1")
def test_the_ninth_clan_seal_does_not_exist(first_turn):
    start = pending(first_turn(food=7, seal=2), priced("garden", optional=True))
    start["clans"][0]["garden_seals"] |= {"G1": 2, "G2": 2, "G3": 1}
    start["clans"][0]["yard_seals"] = {"basic": 2, "elite": 1}
    game = load(start)
    assert offers(game) == ["done"]
    assert "seat 0 has placed all its 8 Clan Seals" in refused(game, "garden G4")[0]


@pytest.mark.rule("D-6.2")
def test_too_little_food_is_refused_with_the_price(first_turn):
    game = load(pending(first_turn(food=4, seal=2), priced("garden")))
    assert "it costs 5 food, seat 0 has 4" in refused(game, "garden G4")[0]


# --- training ---------------------------------------------------------------------------------


@pytest.mark.rule("D-6.3")
@pytest.mark.parametrize(("yard", "iron"), [("basic", 2), ("elite", 5)])
def test_training_takes_iron_and_a_seal_and_gives_one_of_two_rewards(first_turn, yard, iron):
    start = pending(first_turn(iron=iron, seal=2), priced("training"))
    game = do(load(start), f"train {yard}")
    assert clan(game)["iron"] == 0
    assert clan(game)["yard_seals"][yard] == 1
    assert offers(game) == ["reward 1", "reward 2"]


@pytest.mark.rule("D-6.3")
def test_only_one_reward_of_the_yard_is_gained(first_turn):
    game = do(load(pending(first_turn(iron=2), priced("training"))), "reward 2")
    assert goods(game) == {"vp": 2}
    assert game.to_move == 1


@pytest.mark.rule("D-6.3")
def test_a_full_yard_and_too_little_iron_are_refused(first_turn):
    start = pending(first_turn(iron=2), priced("training", optional=True))
    game = load(start)
    assert "it costs 5 iron, seat 0 has 2" in refused(game, "train elite")[0]
    start["clans"][1]["yard_seals"]["basic"] = 5
    start["clans"][0] |= {"iron": 7}
    game = load(start)
    assert "the basic yard has no empty space" in refused(game, "train basic")[0]


# --- courtier ---------------------------------------------------------------------------------


@pytest.mark.rule("D-6.4")
def test_two_pearls_buy_one_space_and_five_buy_two(first_turn):
    start = pending(first_turn(pearl=7), priced("climb"))
    assert offers(load(start)) == ["climb left 1", "climb left 2", "climb right 1", "climb right 2"]
    one, two = do(load(start), "climb left 1"), do(load(start), "climb left 2")
    assert (clan(one)["pearl"], clan(one)["courtier"]) == (5, 1)
    assert (clan(two)["pearl"], clan(two)["courtier"]) == (2, 2)


@pytest.mark.rule("D-6.4")
def test_the_first_move_of_the_game_picks_both_paths_for_good(first_turn):
    game = do(load(pending(first_turn(pearl=7), priced("climb"))), "climb right 1")
    assert clan(game, 0)["path"] == "right"
    assert clan(game, 1)["path"] == "left"
    start = pending(first_turn(pearl=7, seal=2), priced("climb"))
    start["clans"][0] |= {"path": "right", "courtier": 0}
    start["clans"][1] |= {"path": "left", "courtier": 3}
    game = load(start)
    assert offers(game) == ["climb right 1", "climb right 2"]
    reason, rule = refused(game, "climb left 1")
    assert "the path of seat 0 is the right one" in reason
    assert rule == "D-6.4"


@pytest.mark.rule("D-6.4")
def test_only_the_space_where_the_move_ends_pays_and_some_are_blank(first_turn):
    start = pending(first_turn(pearl=7), priced("climb"))
    assert goods(do(load(start), "climb left 1")) == {"pearl": 5, "coin": 2}
    assert goods(do(load(start), "climb left 2")) == {"pearl": 2}
    start["clans"][0] |= {"path": "left", "courtier": 1, "pearl": 5}
    start["clans"][1]["path"] = "right"
    assert goods(do(load(start), "climb left 2")) == {"iron": 2}


@pytest.mark.rule("D-6.4")
def test_nothing_is_above_the_top_space_which_improves_a_card(first_turn):
    start = pending(first_turn(pearl=7, seal=2), priced("climb"))
    start["clans"][0] |= {"path": "left", "courtier": 6}
    start["clans"][1]["path"] = "right"
    give(start, 0, "flag-06")
    game = load(start)
    assert offers(game) == ["climb left 1"]
    assert "only 1 of 7 spaces lie above the courtier" in refused(game, "climb left 2")[0]
    do(game, "climb left 1")
    assert offers(game) == ["done", "improve flag-06"]


@pytest.mark.rule("D-6.4")
def test_too_few_pearls_are_refused_with_the_price(first_turn):
    game = load(pending(first_turn(pearl=4, seal=2), priced("climb")))
    assert offers(game) == ["climb left 1", "climb right 1"]
    assert "it costs 5 pearl, seat 0 has 4" in refused(game, "climb left 2")[0]


# --- trade ------------------------------------------------------------------------------------


@pytest.mark.rule("D-6.5")
def test_trade_offers_cards_and_both_stacks(first_turn):
    start = pending(
        first_turn("flag-01", "weapon-01", "origami-01", food=3, iron=2, coin=1), priced("trade")
    )
    game = load(start)
    assert offers(game) == [
        "trade for D_LEFT",
        "trade for D_MID",
        "trade for common",
        "trade for luxury",
    ]
    reason, rule = refused(game, "trade for D_RIGHT")
    assert "origami-01: it costs 1 seal, seat 0 has 0" in reason
    assert rule == "D-6.5"


@pytest.mark.rule("D-6.5")
def test_a_card_by_trade_costs_one_resource_and_its_price(first_turn):
    start = pending(first_turn("flag-05", food=1, iron=1, coin=1), priced("trade"))
    game = do(load(start), "trade for D_LEFT", "pay 1 iron")
    assert goods(game) == {"food": 1}
    assert offers(game) == ["done", "perform"]


@pytest.mark.rule("D-6.5")
def test_the_units_may_be_of_different_resources(first_turn):
    start = pending(first_turn(food=2, iron=2, pearl=2), priced("trade"))
    game = do(load(start), "trade for luxury")
    assert offers(game) == [
        "pay 2 food 2 iron 1 pearl",
        "pay 2 food 1 iron 2 pearl",
        "pay 1 food 2 iron 2 pearl",
    ]
    assert "seat 0 has 2 food, 2 iron, 2 pearl" in refused(game, "pay 5 food")[0]
    tile = json.loads(game.to_json())["merchandise"]["luxury"]["top"]
    do(game, "pay 2 food 1 iron 2 pearl")
    assert goods(game) == {"iron": 1}
    assert clan(game)["merchandise"] == [tile]


@pytest.mark.rule("D-6.5")
def test_a_common_tile_costs_two_and_the_next_one_shows(first_turn):
    start = pending(first_turn(food=2, seal=2), priced("trade"))
    before = start["merchandise"]["common"]
    game = do(load(start), "trade for common", "pay 2 food")
    after = json.loads(game.to_json())["merchandise"]["common"]
    assert after["top"] in before["below"]
    assert len(after["below"]) == 1


@pytest.mark.rule("D-6.5")
def test_a_sold_out_stack_cannot_be_chosen(first_turn):
    start = pending(first_turn(food=7, seal=2), priced("trade"))
    start["merchandise"]["luxury"] = {"top": None, "below": []}
    start["clans"][1]["merchandise"] = ["luxury-1", "luxury-2", "luxury-3"]
    game = load(start)
    reason, rule = refused(game, "trade for luxury")
    assert "the luxury tiles are sold out" in reason
    assert rule == "D-6.5"
    assert "it costs" not in reason


@pytest.mark.rule("D-6.5")
def test_too_few_resources_are_refused_with_the_price(first_turn):
    game = load(pending(first_turn(food=2, iron=2, seal=2), priced("trade")))
    reason, _ = refused(game, "trade for luxury")
    assert "it costs 5 of any resource, seat 0 has 4" in reason


# --- lantern and improve ----------------------------------------------------------------------


@pytest.mark.rule("D-6.6")
def test_lantern_activates_one_own_zone(first_turn):
    game = load(pending(first_turn(), step("choose-zone")))
    assert offers(game) == ["lantern coral", "lantern black", "lantern white"]
    do(game, "lantern black")
    assert goods(game) == {"iron": 1, "coin": 1}


@pytest.mark.rule("D-6.7")
def test_improve_turns_up_to_two_own_cards(first_turn):
    start = pending(first_turn(), beside("A3"))
    give(start, 0, "flag-01", "weapon-02", "origami-05")
    give(start, 1, "flag-06")
    game = do(load(start), "do A3")
    assert offers(game) == ["improve flag-01", "improve weapon-02", "improve origami-05"]
    do(game, "improve weapon-02")
    assert offers(game) == ["done", "improve flag-01", "improve origami-05"]
    do(game, "improve flag-01")
    assert clan(game)["improved"] == ["flag-01", "weapon-02"]
    assert clan(game)["cards"] == ["origami-05"]
    assert game.to_move == 1


@pytest.mark.rule("D-6.7")
def test_one_card_is_enough_and_none_makes_it_impossible(first_turn):
    start = pending(first_turn(), beside("A3"))
    give(start, 0, "flag-01", "flag-02")
    game = do(load(start), "do A3", "improve flag-02", "done")
    assert clan(game)["improved"] == ["flag-02"]
    bare = load(pending(first_turn(seal=2), beside("A3")))
    reason, rule = refused(bare, "do A3")
    assert "nothing can be done with improve now" in reason
    assert rule == "D-6.7"


# --- the Well ---------------------------------------------------------------------------------


@pytest.mark.rule("D-6.8")
@pytest.mark.parametrize(
    ("benefit", "gained"),
    [
        ("choose food", {"food": 1}),
        ("choose iron", {"iron": 1}),
        ("choose pearl", {"pearl": 1}),
        ("choose coin", {"coin": 1}),
        ("choose seal", {"seal": 1}),
        ("choose swap tile", {"swap": 1}),
        ("choose vp", {"vp": 1}),
        ("done", {}),
    ],
)
def test_the_well_gives_one_benefit_or_none(first_turn, benefit, gained):
    game = do(load(pending(first_turn(), step("well", amount=1, rule="D-5.5"))), benefit)
    assert goods(game) == gained
    assert game.to_move == 1


@pytest.mark.rule("D-6.8", "D-7.1")
def test_the_well_offers_no_third_swap_tile(first_turn):
    game = load(pending(first_turn(swap=2), step("well", amount=1, rule="D-5.5")))
    assert "choose swap tile" not in offers(game)
    reason, rule = refused(game, "choose swap tile")
    assert "seat 0 holds 2 swap tiles already" in reason
    assert rule == "D-7.1"


@pytest.mark.rule("D-6.8")
def test_two_benefits_may_be_alike(first_turn):
    start = pending(first_turn("weapon-12", coin=1), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT", "perform", "choose vp", "choose vp")
    assert goods(game) == {"vp": 2}


# --- discounts --------------------------------------------------------------------------------


@pytest.mark.rule("D-6.9")
@pytest.mark.parametrize(
    ("kind", "good", "cheap", "dear"),
    [
        ("garden", "food", "garden G1", "garden G4"),
        ("training", "iron", "train basic", "train elite"),
        ("climb", "pearl", "climb left 1", "climb left 2"),
    ],
)
def test_a_discount_lowers_the_price_to_1_or_4(first_turn, kind, good, cheap, dear):
    start = pending(first_turn(**{good: 4}, seal=2), priced(kind, 1, optional=True))
    for answer, left in ((cheap, 3), (dear, 0)):
        game = do(load(start), answer)
        assert f"seat 0 pays {4 - left} {good}" in " ".join(told(game))
    start["clans"][0][good] = 0
    assert offers(load(start)) == ["done"]


@pytest.mark.rule("D-6.9")
def test_a_discounted_trade_costs_nothing_one_or_four(first_turn):
    start = pending(first_turn("flag-05", coin=1), priced("trade", 1, optional=True))
    show(start, "D_MID", "flag-08")
    show(start, "D_RIGHT", "flag-09")
    assert offers(load(start)) == ["done", "trade for D_LEFT"], "a card for no resource"
    start["clans"][0] |= {"coin": 0, "food": 4}
    game = load(start)
    assert offers(game) == ["done", "trade for common", "trade for luxury"]
    assert goods(do(game, "trade for luxury")) == {}


@pytest.mark.rule("D-6.9", "D-6.1")
def test_an_action_that_an_icon_grants_may_be_left_undone(first_turn):
    start = pending(first_turn("flag-02", coin=2, seal=1, food=4), beside("D_LEFT"))
    game = do(load(start), "do D_LEFT", "perform")
    assert offers(game) == ["done", *[f"garden G{n}" for n in range(1, 7)]]
    do(game, "done")
    assert goods(game) == {"food": 4}, "the seal is paid, no Well is gained"


# --- icons that point elsewhere ---------------------------------------------------------------


@pytest.mark.rule("D-6.3", "D-6.1")
def test_a_free_card_is_taken_without_its_price(first_turn):
    start = pending(
        first_turn("flag-09", "weapon-05", "origami-02"),
        step("choose-card", rule="D-6.3", free=True),
    )
    game = load(start)
    assert offers(game) == ["done", "card D_LEFT", "card D_MID", "card D_RIGHT"]
    do(game, "card D_MID")
    assert clan(game)["cards"] == ["weapon-05"]
    assert offers(game) == ["done", "perform"]


@pytest.mark.rule("D-6.4", "D-6.1")
def test_buying_as_a_reward_is_optional_and_costs_the_price(first_turn):
    start = pending(
        first_turn("flag-01", "weapon-05", "origami-02", coin=1, seal=2),
        step("choose-card", rule="D-6.4", free=False),
    )
    game = load(start)
    assert offers(game) == ["done", "card D_LEFT", "card D_MID"]
    assert "origami-02: it costs 3 seals, seat 0 has 2" in refused(game, "card D_RIGHT")[0]
    do(game, "card D_LEFT", "done")
    assert goods(game) == {"seal": 2}


@pytest.mark.rule("D-6.1", "D-8.3")
def test_a_zone_of_a_printed_colour_is_activated_at_once(first_turn):
    start = pending(first_turn(pearl=5), priced("climb"))
    start["clans"][0] |= {"path": "left", "courtier": 4}
    start["clans"][1]["path"] = "right"
    display(start, "lantern-coral-iron", "lantern-white-food", "lantern-black-points")
    game = do(load(start), "climb left 2")
    assert goods(game) == {"iron": 1, "coin": 1}, "the black zone"
