"""Effects that point elsewhere: Lantern, Well, castle rows, domain rows, and their nests (B-5)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import ROOM_TILES, lay_tiles

STEWARDS = {f"steward-{n:02}" for n in (2, 4, 5, 7, 9, 10, 12, 13, 15)}
DIPLOMATS = {f"diplomat-{n:02}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 11)}
ROOMS = {
    "steward-room-1": "steward-13",  # 2 iron | lantern | dark gardener
    "steward-room-2": "steward-05",  # dark warrior | 1 food, 1 pearl | 1 iron, lantern
    "steward-room-3": "steward-09",  # 1 coin, well | dark courtier | 2 food
    "diplomat-room-1": "diplomat-02",  # dark courtier | 2 influence
    "diplomat-room-2": "diplomat-10",  # 2 coin, lantern | dark warrior
}
GARDENS = {
    "coral plant": "garden-plant-1",  # 5 food; 4 coins for any castle row
    "coral stone": "garden-stone-9",  # 2 food; a light castle row
    "black plant": "garden-plant-2",  # 4 food; 3 coins for GARDENER
    "black stone": "garden-stone-7",  # 1 food; 3 coins
    "white plant": "garden-plant-5",  # 3 food; 4 coins for a domain row
    "white stone": "garden-stone-10",  # 3 food; the Well
}
YARD_TILES = {
    "yard-1 blue": "yard-tile-7",  # any castle row
    "yard-1 yellow": "yard-tile-6",  # 5 coins
    "yard-2 blue": "yard-tile-4",  # castle row beside coral
    "yard-3 yellow": "yard-tile-8",  # 2 VP
}
LIGHT = {
    "row steward-room-1 top",
    "row steward-room-1 middle",
    "row steward-room-2 middle",
    "row steward-room-2 bottom",
    "row steward-room-3 top",
    "row steward-room-3 bottom",
    "row diplomat-room-1 second",
    "row diplomat-room-2 first",
}
STEWARD_DARK = {
    "row steward-room-1 bottom",
    "row steward-room-2 top",
    "row steward-room-3 middle",
}
DIPLOMAT_DARK = {"row diplomat-room-1 first", "row diplomat-room-2 second"}
TO_GARDENER = ("take coral right", "place outside-left", "do gardener")
TO_YARD_2 = ("take coral right", "place outside-right", "do warrior", "train yard-2")
TO_LANTERN = ("take coral right", "place steward-room-1", "row steward-room-1 middle")
TO_WELL_ICON = (*TO_GARDENER, "garden white stone", "perform")
TO_LIGHT_ROW = (*TO_GARDENER, "garden coral stone", "perform")
TO_DOMAIN_ROW = (*TO_YARD_2, "yard tile yard-2 blue")


@pytest.fixture
def castle(first_turn):
    """Two seats, seat 0 before its first turn, all cards and tiles as listed above.

    The dice on the right are fives: Outside the Walls they cost and give nothing.
    """
    position = first_turn()
    for bridge in position["bridges"].values():
        bridge |= {"left": 1, "centre": [3], "right": 5}
    lay_tiles(position, ROOM_TILES)
    position["rooms"] = dict(ROOMS)
    position["gardens"] = dict(GARDENS)
    position["yard_tiles"] = dict(YARD_TILES)
    position["daimyo"] = {"card": "daimyo-04", "slots": [None, None, None]}
    position["clans"][0] |= {"action_card": "start-action-1a", "lantern": ["start-resource-8"]}
    position["clans"][1] |= {"action_card": "start-action-2a", "lantern": ["start-resource-3"]}
    deal_decks(position)
    return position


def deal_decks(position):
    """The decks hold the castle cards that lie nowhere else."""
    laid = set(position["rooms"].values())
    for clan in position["clans"]:
        laid |= {clan["action_card"], *clan["lantern"]}
    position["decks"] = {
        "steward": sorted(STEWARDS - laid),
        "diplomat": sorted(DIPLOMATS - laid),
    }


def now(game):
    return json.loads(game.to_json())


def refusal(game, text):
    """The rule that forbids an action; nothing changes by asking."""
    before = game.to_json()
    with pytest.raises(IllegalAction) as caught:
        game.apply(rules.action_id("base", text))
    assert game.to_json() == before
    return caught.value.rule


def rows(texts):
    return {text for text in texts if text.startswith("row ")}


# --- B-5.1: the Lantern -----------------------------------------------------------------------


def shine_seal_and_influence(position):
    """The Lantern Area of seat 0 shows 1 iron, 1 seal and 1 influence."""
    position["clans"][0]["action_card"] = "steward-02"
    position["clans"][0]["lantern"] = ["start-resource-4", "decree-2", "start-action-1a"]
    deal_decks(position)


@pytest.mark.rule("B-5.1")
def test_the_lantern_gives_every_icon_of_the_lantern_area(castle, load, do, clan):
    castle["clans"][0]["lantern"] = [
        *("start-resource-7", "decree-3"),  # 1 food, 1 VP
        *("steward-02", "steward-04", "diplomat-03"),  # 1 coin, 1 coin, 1 VP
    ]
    deal_decks(castle)
    game = load(castle)
    do(game, *TO_LANTERN)
    held = clan(game, 0)
    assert (held["food"], held["vp"], held["coin"]) == (1, 2, 2 + 2)  # 2 coins from the die


@pytest.mark.rule("B-5.1", "B-2.8")
def test_the_owner_orders_the_icons_of_the_lantern(castle, load, do, offers):
    castle["clans"][0] |= {"influence": 5}
    shine_seal_and_influence(castle)
    game = load(castle)
    do(game, *TO_LANTERN)
    assert offers(game) == {"first seal", "first influence"}


@pytest.mark.rule("B-5.1", "B-2.8", "B-6.2")
def test_a_seal_taken_first_pays_the_checkpoint_of_the_same_lantern(castle, load, do, offers, clan):
    castle["clans"][0] |= {"influence": 5}
    shine_seal_and_influence(castle)
    game = load(castle)
    do(game, *TO_LANTERN, "first seal")
    assert {"pay the checkpoint", "stop before the checkpoint"} <= offers(game)
    do(game, "pay the checkpoint")
    assert (clan(game, 0)["influence"], clan(game, 0)["seal"]) == (6, 0)
    assert clan(game, 0)["iron"] == 1


@pytest.mark.rule("B-5.1", "B-2.8", "B-6.2")
def test_influence_taken_first_stops_before_a_checkpoint_that_cannot_be_paid(
    castle, load, do, clan
):
    castle["clans"][0] |= {"influence": 5}
    shine_seal_and_influence(castle)
    game = load(castle)
    do(game, *TO_LANTERN, "first influence")
    assert (clan(game, 0)["influence"], clan(game, 0)["seal"]) == (5, 1)


@pytest.mark.rule("B-5.1")
def test_the_action_card_of_the_domain_does_not_shine(castle, load, do, clan):
    game = load(castle)
    do(game, *TO_LANTERN)
    assert clan(game, 0)["influence"] == 0
    assert clan(game, 0)["food"] == 1


@pytest.mark.rule("B-5.1")
def test_the_lantern_of_one_clan_gives_another_clan_nothing(castle, load, do, clan):
    game = load(castle)
    do(game, *TO_LANTERN)
    assert clan(game, 0)["pearl"] == 0
    assert clan(game, 1)["pearl"] == 0


@pytest.mark.rule("B-5.1")
def test_cards_keep_shining_after_the_lantern(castle, load, do, clan):
    game = load(castle)
    do(game, *TO_LANTERN)
    assert clan(game, 0)["lantern"] == ["start-resource-8"]


# --- B-5.2: the Well as an icon ---------------------------------------------------------------


@pytest.mark.rule("B-5.2")
def test_the_well_icon_gives_a_seal_and_both_tiles_but_no_coins(castle, load, do, clan):
    castle["clans"][0]["food"] = 3
    game = load(castle)
    do(game, *TO_WELL_ICON)
    held = clan(game, 0)
    assert (held["seal"], held["food"], held["iron"], held["coin"]) == (1, 1, 1, 0)


@pytest.mark.rule("B-5.2", "B-2.8")
def test_no_order_is_asked_for_the_parts_of_the_well_icon(castle, load, do, offers):
    castle["tiles"] |= {"11": "die-tile-coral-any", "7": "die-tile-coral-food"}
    castle["clans"][0]["food"] = 3
    game = load(castle)
    do(game, *TO_WELL_ICON)
    assert "choose food" in offers(game)


@pytest.mark.rule("B-5.2")
def test_a_well_tile_of_any_is_chosen(castle, load, do, offers, clan):
    castle["tiles"] |= {"11": "die-tile-coral-any", "7": "die-tile-coral-food"}
    castle["clans"][0]["food"] = 3
    game = load(castle)
    do(game, *TO_WELL_ICON)
    choices = {"choose food", "choose iron", "choose pearl"}
    assert offers(game) == choices | {"exchange 1 seal for 1 coin"}
    do(game, "choose pearl")
    assert (clan(game, 0)["pearl"], clan(game, 0)["iron"], clan(game, 0)["seal"]) == (1, 1, 1)


@pytest.mark.rule("B-5.2")
def test_the_well_icon_puts_no_die_on_the_well(castle, load, do):
    castle["clans"][0]["food"] = 3
    game = load(castle)
    do(game, *TO_WELL_ICON)
    assert now(game)["spaces"]["well"] == []
    assert now(game)["spaces"]["outside-left"] == ["coral 5"]


@pytest.mark.rule("B-5.2", "B-6.3")
def test_at_the_cap_the_seal_of_the_well_icon_is_asked_about(castle, load, do, offers, clan):
    castle["clans"][0] |= {"food": 3, "seal": 5}
    game = load(castle)
    do(game, *TO_WELL_ICON)
    assert "go on" in offers(game)
    do(game, "exchange 1 seal for 1 coin")
    assert (clan(game, 0)["seal"], clan(game, 0)["coin"]) == (5, 1)


@pytest.mark.rule("B-5.2")
def test_a_row_with_the_well_gives_its_other_gains_too(castle, load, do, clan):
    castle["clans"][0]["food"] = 2
    game = load(castle)
    do(game, *TO_LIGHT_ROW, "row steward-room-3 top")
    assert (clan(game, 0)["coin"], clan(game, 0)["seal"], clan(game, 0)["iron"]) == (1, 1, 1)


# --- B-5.3: one light castle row --------------------------------------------------------------


@pytest.mark.rule("B-5.3")
def test_a_light_icon_offers_every_light_row_of_the_five_cards_and_no_dark_one(
    castle, load, do, offers
):
    castle["clans"][0] |= {"food": 2, "seal": 3}
    game = load(castle)
    do(game, *TO_LIGHT_ROW)
    assert rows(offers(game)) == LIGHT


@pytest.mark.rule("B-5.3")
@pytest.mark.parametrize("row", sorted(STEWARD_DARK | DIPLOMAT_DARK))
def test_a_light_icon_refuses_a_dark_row(castle, load, do, row):
    castle["clans"][0] |= {"food": 2, "seal": 3}
    game = load(castle)
    do(game, *TO_LIGHT_ROW)
    assert refusal(game, row) == "B-5.3"


@pytest.mark.rule("B-5.3")
def test_the_card_whose_light_row_an_icon_performs_stays(castle, load, do, clan):
    castle["clans"][0]["food"] = 2
    game = load(castle)
    do(game, *TO_LIGHT_ROW, "row steward-room-1 top")
    assert clan(game, 0)["iron"] == 2
    assert now(game)["rooms"] == ROOMS
    assert clan(game, 0)["action_card"] == "start-action-1a"
    assert clan(game, 0)["lantern"] == ["start-resource-8"]


@pytest.mark.rule("B-5.3")
def test_a_light_icon_performs_one_row_only(castle, load, do):
    castle["clans"][0]["food"] = 2
    game = load(castle)
    do(game, *TO_LIGHT_ROW, "row steward-room-1 top")
    assert game.to_move == 1


@pytest.mark.rule("B-5.3", "B-2.7")
def test_a_light_icon_may_be_declined(castle, load, do, clan):
    castle["clans"][0]["food"] = 2
    game = load(castle)
    do(game, *TO_LIGHT_ROW, "done")
    assert clan(game, 0)["iron"] == 0
    assert game.to_move == 1


@pytest.mark.rule("B-5.3")
def test_a_light_row_of_a_diplomat_counts_too(castle, load, do, clan):
    castle["clans"][0]["food"] = 2
    game = load(castle)
    do(game, *TO_LIGHT_ROW, "row diplomat-room-1 second")
    assert clan(game, 0)["influence"] == 2


@pytest.mark.rule("B-5.3")
def test_the_yellow_face_of_a_yard_tile_may_point_at_a_light_row(castle, load, do, offers):
    castle["yard_tiles"] |= {"yard-3 yellow": "yard-tile-7", "yard-1 blue": "yard-tile-8"}
    castle["clans"][0]["iron"] = 1
    game = load(castle)
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-3")
    do(game, "yard tile yard-3 yellow")
    assert offers(game) == LIGHT | {"done"}


# --- B-5.4: a row beside a colour, any row ----------------------------------------------------

BESIDE = {
    "coral": (
        "yard-tile-4",
        {
            "row steward-room-1 middle",
            "row steward-room-2 middle",
            "row steward-room-3 top",
            "row diplomat-room-2 second",
        },
    ),
    "black": (
        "yard-tile-6",
        {
            "row steward-room-1 bottom",
            "row steward-room-2 top",
            "row steward-room-3 bottom",
            "row diplomat-room-1 first",
        },
    ),
    "white": (
        "yard-tile-5",
        {
            "row steward-room-1 top",
            "row steward-room-2 bottom",
            "row steward-room-3 middle",
            "row diplomat-room-1 second",
            "row diplomat-room-2 first",
        },
    ),
}


@pytest.fixture
def yard_2(castle, load, do):
    """Seat 0 uses a given tile in yard-2 with given goods."""

    def build(tile, **goods):
        spare = next(t for t in ("yard-tile-1", "yard-tile-2") if t != tile)
        slots = {s: spare if t == tile else t for s, t in castle["yard_tiles"].items()}
        castle["yard_tiles"] = slots | {"yard-2 blue": tile}
        castle["clans"][0] |= {"iron": 3, **goods}
        game = load(castle)
        do(game, *TO_YARD_2, "yard tile yard-2 blue")
        return game

    return build


@pytest.mark.rule("B-5.4")
@pytest.mark.parametrize("colour", BESIDE)
def test_an_icon_of_a_colour_offers_the_rows_beside_its_tiles_and_no_others(yard_2, offers, colour):
    tile, expected = BESIDE[colour]
    game = yard_2(tile, seal=1)
    assert rows(offers(game)) == expected


@pytest.mark.rule("B-5.4")
def test_an_icon_of_a_colour_refuses_a_row_beside_another_colour(yard_2):
    game = yard_2("yard-tile-4", seal=1)
    assert refusal(game, "row steward-room-1 top") == "B-5.4"


@pytest.mark.rule("B-5.4")
def test_a_tile_of_the_well_does_not_count_as_a_colour(castle, yard_2, offers):
    # The fifth black tile moves from the Well to a room: only then does its row count.
    castle["tiles"] |= {"12": "die-tile-white-food", "5": "die-tile-black-iron"}
    game = yard_2("yard-tile-6", seal=1)
    assert rows(offers(game)) == BESIDE["black"][1] | {"row steward-room-3 middle"}


@pytest.mark.rule("B-5.4")
def test_the_icon_for_any_castle_row_offers_all_thirteen_rows(yard_2, offers):
    game = yard_2("yard-tile-7", seal=1)
    assert rows(offers(game)) == LIGHT | STEWARD_DARK | DIPLOMAT_DARK
    assert len(rows(offers(game))) == 13


@pytest.mark.rule("B-5.4", "B-3.3")
def test_without_a_seal_an_icon_does_not_offer_the_dark_row_of_a_steward(yard_2, offers):
    game = yard_2("yard-tile-7")
    assert rows(offers(game)) == LIGHT | DIPLOMAT_DARK
    assert refusal(game, "row steward-room-1 bottom") in ("B-5.4", "B-3.3")


@pytest.mark.rule("B-5.4", "B-3.3")
def test_the_dark_row_of_a_steward_still_costs_its_seal_through_an_icon(yard_2, do, offers, clan):
    game = yard_2("yard-tile-5", seal=1, coin=2)
    do(game, "row steward-room-3 middle")
    assert clan(game, 0)["seal"] == 0
    assert offers(game) == {"done", "audience"}


@pytest.mark.rule("B-5.4", "B-3.3")
def test_the_dark_row_of_a_diplomat_is_free_through_an_icon(yard_2, do, offers, clan):
    game = yard_2("yard-tile-6", seal=1, coin=2)
    do(game, "row diplomat-room-1 first")
    assert clan(game, 0)["seal"] == 1
    assert "audience" in offers(game)


@pytest.mark.rule("B-5.4")
def test_an_icon_performs_one_castle_row_and_its_card_stays(yard_2, do, clan):
    game = yard_2("yard-tile-4")
    do(game, "row steward-room-2 middle")
    assert (clan(game, 0)["food"], clan(game, 0)["pearl"]) == (1, 1)
    assert now(game)["rooms"] == ROOMS
    assert game.to_move == 1


@pytest.mark.rule("B-5.4", "B-2.7")
def test_a_castle_row_icon_may_be_declined(yard_2, do, clan):
    game = yard_2("yard-tile-7", seal=1)
    do(game, "done")
    assert clan(game, 0)["seal"] == 1
    assert game.to_move == 1


@pytest.mark.rule("B-5.4")
def test_an_icon_reaches_a_room_that_is_full_of_dice(castle, yard_2, do, clan):
    castle["bridges"]["black"] = {"left": 1, "centre": [], "right": 5}
    castle["bridges"]["white"] = {"left": 1, "centre": [], "right": 5}
    castle["spaces"]["steward-room-1"] = ["black 3"]
    castle["spaces"]["well"] = ["white 3"]
    castle["turn"] = 3
    game = yard_2("yard-tile-5")
    do(game, "row steward-room-1 top")
    assert clan(game, 0)["iron"] == 2


@pytest.mark.rule("B-5.4")
def test_the_first_plant_garden_grants_any_castle_row_for_four_coins(
    castle, load, do, offers, clan
):
    castle["clans"][0] |= {"food": 5, "coin": 4, "seal": 1}
    game = load(castle)
    do(game, *TO_GARDENER, "garden coral plant", "perform")
    assert clan(game, 0)["coin"] == 0
    assert len(rows(offers(game))) == 13


# --- B-5.5: one own domain row ----------------------------------------------------------------


@pytest.mark.rule("B-5.5")
def test_a_domain_row_icon_offers_the_three_rows_of_the_own_domain(yard_2, offers):
    game = yard_2("yard-tile-8")
    expected = {"domain-row coral", "domain-row black", "domain-row white"}
    assert offers(game) == expected | {"done"}


@pytest.mark.rule("B-5.5", "B-3.6")
@pytest.mark.parametrize(
    ("row", "good"), [("coral", "food"), ("black", "iron"), ("white", "pearl")]
)
def test_a_domain_row_icon_gives_the_visible_rewards_without_coins(yard_2, do, clan, row, good):
    game = yard_2("yard-tile-8", coin=3)
    do(game, f"domain-row {row}")
    expected = 2 if row == "white" else 1  # a warrior has just left the white row
    assert clan(game, 0)[good] == expected
    assert clan(game, 0)["coin"] == 3


@pytest.mark.rule("B-5.5", "B-3.6")
def test_a_domain_row_icon_gives_a_reward_for_each_member_that_has_left(castle, yard_2, do, clan):
    held = castle["clans"][0]["courtiers"]
    held |= {"domain": 1, "gate": 4}
    game = yard_2("yard-tile-8")
    do(game, "domain-row coral")
    assert (clan(game, 0)["food"], clan(game, 0)["coin"]) == (4, 2)


@pytest.mark.rule("B-5.5", "B-3.6")
def test_after_the_rewards_the_row_of_the_action_card_is_offered(yard_2, do, offers, clan):
    game = yard_2("yard-tile-8", coin=2)
    do(game, "domain-row black")
    assert offers(game) == {"done", "perform"}
    do(game, "perform", "audience")
    assert clan(game, 0)["courtiers"]["gate"] == 1


@pytest.mark.rule("B-5.5", "B-2.7")
def test_the_row_of_the_action_card_may_be_declined_after_a_domain_row_icon(yard_2, do, clan):
    game = yard_2("yard-tile-8", coin=2)
    do(game, "domain-row black", "done")
    assert clan(game, 0)["courtiers"]["gate"] == 0
    assert game.to_move == 1


@pytest.mark.rule("B-5.5", "B-3.6")
@pytest.mark.parametrize(("row", "iron"), [("coral", 2), ("black", 1), ("white", 0)])
def test_each_domain_row_uses_the_line_of_the_action_card_beside_it(
    castle, yard_2, do, clan, *, row, iron
):
    # steward-13: the top line gives 2 iron, the middle one the Lantern, the bottom one is dark.
    castle["rooms"]["steward-room-1"] = "steward-12"
    castle["clans"][0] |= {"action_card": "steward-13"}
    castle["clans"][0]["lantern"] = ["start-resource-3", "start-action-1a"]
    castle["clans"][1]["lantern"] = ["start-resource-8"]
    deal_decks(castle)
    game = yard_2("yard-tile-8", seal=1)
    do(game, f"domain-row {row}", "perform")
    assert clan(game, 0)["iron"] == iron
    assert clan(game, 0)["seal"] == (0 if row == "white" else 1)


@pytest.mark.rule("B-5.5")
def test_a_domain_row_icon_works_on_a_row_that_holds_a_die(castle, yard_2, do, offers, clan):
    castle["bridges"]["black"] = {"left": 1, "centre": [], "right": 5}
    castle["bridges"]["white"] = {"left": 1, "centre": [], "right": 5}
    castle["clans"][0]["dice"]["black"] = 3
    castle["spaces"]["well"] = ["white 3"]
    castle["turn"] = 3
    game = yard_2("yard-tile-8")
    assert "domain-row black" in offers(game)
    do(game, "domain-row black")
    assert clan(game, 0)["iron"] == 1
    assert clan(game, 0)["dice"]["black"] == 3


@pytest.mark.rule("B-5.5")
def test_a_domain_row_icon_puts_no_die_on_the_row(yard_2, do, clan):
    game = yard_2("yard-tile-8")
    do(game, "domain-row black")
    assert clan(game, 0)["dice"] == {"coral": None, "black": None, "white": None}


@pytest.mark.rule("B-5.5", "B-2.7")
def test_a_domain_row_icon_may_be_declined(yard_2, do, clan):
    game = yard_2("yard-tile-8")
    do(game, "done")
    assert (clan(game, 0)["food"], clan(game, 0)["iron"], clan(game, 0)["pearl"]) == (0, 0, 0)
    assert game.to_move == 1


# --- nests ------------------------------------------------------------------------------------


@pytest.mark.rule("B-4.6", "B-5.4", "B-4.1", "B-4.4", "B-5.1")
def test_a_garden_leads_through_a_castle_row_and_a_courtier_to_the_lantern(castle, load, do, clan):
    castle["clans"][0] |= {"food": 5, "coin": 6, "pearl": 2}
    game = load(castle)
    do(game, *TO_GARDENER, "garden coral plant", "perform", "row diplomat-room-1 first")
    do(game, "audience", "climb gate steward-room-2", "row 3 of the card taken")
    held = clan(game, 0)
    assert (held["coin"], held["pearl"], held["food"]) == (0, 0, 1)
    assert (held["iron"], held["influence"]) == (1, 1)
    assert held["action_card"] == "steward-05"
    assert now(game)["rooms"]["diplomat-room-1"] == "diplomat-02"
    assert now(game)["rooms"]["steward-room-2"] in castle["decks"]["steward"]
    assert game.to_move == 1


@pytest.mark.rule("B-4.7", "B-5.4", "B-5.5", "B-4.6")
def test_after_a_deep_nest_the_other_tile_of_the_yard_is_still_on_offer(
    castle, load, do, offers, clan
):
    castle["clans"][0] |= {"iron": 5, "food": 3, "coin": 4, "seal": 1}
    game = load(castle)
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-1")
    do(game, "yard tile yard-1 blue", "row steward-room-1 bottom")  # dark: GARDENER for a seal
    do(game, "garden white plant", "perform", "domain-row black")  # 4 coins: a domain row
    assert clan(game, 0)["iron"] == 2  # the gardener of this nest has left the black row
    assert offers(game) == {"done", "perform"}
    do(game, "done")
    assert offers(game) == {"done", "yard tile yard-1 yellow"}
    do(game, "yard tile yard-1 yellow")
    assert (clan(game, 0)["coin"], clan(game, 0)["seal"]) == (5, 0)
    assert game.to_move == 1


@pytest.mark.rule("B-4.5", "B-5.3", "B-5.2")
def test_a_daimyo_slot_leads_through_a_light_row_to_the_well(castle, load, do, clan):
    castle["daimyo"]["card"] = "daimyo-05"
    castle["clans"][0]["courtiers"] |= {"domain": 4, "diplomat-room-1": 1}
    castle["clans"][0]["pearl"] = 2
    game = load(castle)
    do(game, "take coral right", "place outside-left", "do courtier")
    do(game, "climb diplomat-room-1 daimyo", "daimyo slot 1", "row steward-room-3 top")
    held = clan(game, 0)
    assert (held["food"], held["iron"], held["seal"], held["coin"]) == (1 + 1, 1, 1, 1)


@pytest.mark.rule("B-4.1", "B-4.4", "B-5.5")
def test_an_action_card_taken_in_a_nest_does_not_change_the_row_that_is_being_performed(
    castle, load, do, clan
):
    castle["clans"][0] |= {"coin": 3, "pearl": 2}
    game = load(castle)
    do(game, "take coral right", "place domain-coral", "perform")  # start-action-1a: COURTIER
    do(game, "audience", "climb gate steward-room-1", "row 1 of the card taken")
    assert clan(game, 0)["action_card"] == "steward-13"
    assert clan(game, 0)["iron"] == 2
    assert game.to_move == 1


@pytest.mark.rule("B-5.3", "B-4.4")
def test_an_icon_meets_the_new_card_once_the_room_is_refilled(castle, load, do, offers):
    castle["yard_tiles"] |= {"yard-1 blue": "yard-tile-1", "yard-1 yellow": "yard-tile-7"}
    castle["clans"][0] |= {"iron": 5, "coin": 2, "pearl": 2}
    castle["clans"][1]["lantern"] += castle["decks"]["steward"][1:]
    castle["decks"]["steward"] = ["steward-02"]  # dark courtier | 1 influence | 2 iron
    game = load(castle)
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-1")
    do(game, "yard tile yard-1 blue", "audience", "climb gate steward-room-1")
    do(game, "row 1 of the card taken", "yard tile yard-1 yellow")
    assert "row steward-room-1 bottom" in offers(game)
    assert "row steward-room-1 top" not in offers(game)
