"""Setting a game up (B-1)."""

import json
import random

import pytest
from himeji import rules
from himeji.rules import Scripted, seeded
from himeji.rules.errors import IllegalAction, InvalidRequest

DIAMOND_STEWARDS = {"steward-01", "steward-03", "steward-06", "steward-08", "steward-11"}
DIAMONDS = DIAMOND_STEWARDS | {"steward-14", "diplomat-01", "diplomat-09", "diplomat-12"}
ROOM_SLOTS = {
    "steward-room-1": ("diamond-1", "3", "8"),
    "steward-room-2": ("diamond-2", "4", "9"),
    "steward-room-3": ("diamond-3", "5", "10"),
    "diplomat-room-1": ("1", "6"),
    "diplomat-room-2": ("2", "7"),
}
CASTLE = ["steward-02", "steward-04", "steward-07", "diplomat-02", "diplomat-05"]
ALL_COURTIERS = ["steward-02", "steward-09", "steward-10", "diplomat-02", "diplomat-03"]
SLOTS = ["diamond-1", "diamond-2", "diamond-3", *[str(number) for number in range(1, 13)]]


def opening(seats=2, seed=1):
    """A game before its first pick, as JSON."""
    return json.loads(rules.new_game("base", seats, seed=seed).to_json())


def dealt(*cards, seats=2):
    """A game whose first draws are these cards: stewards, diplomats, the daimyo, die tiles."""
    numbers = rules.ruleset("base").tables.numbers
    script = [numbers[card] for card in cards]
    return rules.new_game("base", seats, chance=Scripted(script, seeded(1)))


def tiles_of(*deals):
    """The tiles that lie after these draws of tiles, given as words such as "coral-food"."""
    drawn = [f"die-tile-{tile}" for deal in deals for tile in deal.split()]
    game = dealt(*CASTLE, "daimyo-01", *drawn)
    laid = json.loads(game.to_json())["tiles"]
    return {slot: tile.removeprefix("die-tile-") for slot, tile in laid.items()}


def colour(tile):
    return tile.split("-")[2]


def castle_cards(position):
    return [
        *position["rooms"].values(),
        *position["decks"]["steward"],
        *position["decks"]["diplomat"],
    ]


# --- B-1.1 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.1")
@pytest.mark.parametrize("seats", [0, 1, 5])
def test_other_numbers_of_seats_than_two_three_and_four_are_refused(seats):
    with pytest.raises(InvalidRequest, match="2, 3, 4 seats"):
        rules.new_game("base", seats, seed=1)


@pytest.mark.rule("B-1.1")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_colour_has_one_die_more_than_there_are_seats(seats):
    bridges = opening(seats)["bridges"]
    assert list(bridges) == ["coral", "black", "white"]
    for bridge in bridges.values():
        assert len([bridge["left"], *bridge["centre"], bridge["right"]]) == seats + 1


# --- B-1.2 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.2")
def test_with_two_seats_the_diamond_cards_leave_both_decks():
    cards = castle_cards(opening(2))
    assert len(cards) == len(set(cards)) == 9 + 9
    assert not DIAMONDS & set(cards)


@pytest.mark.rule("B-1.2")
@pytest.mark.parametrize("seats", [3, 4])
def test_with_more_than_two_seats_every_castle_card_is_in_play(seats):
    cards = castle_cards(opening(seats))
    assert len(cards) == len(set(cards)) == 15 + 12
    assert set(cards) > DIAMONDS


@pytest.mark.rule("B-1.2")
def test_three_stewards_and_two_diplomats_lie_face_up_one_in_each_room():
    kinds = {room: card[:-3] for room, card in opening()["rooms"].items()}
    assert kinds == {room: room.split("-")[0] for room in ROOM_SLOTS}


@pytest.mark.rule("B-1.2")
def test_the_castle_decks_are_shuffled():
    assert len({tuple(opening(3, seed)["rooms"].values()) for seed in range(20)}) > 15


@pytest.mark.rule("B-1.2")
def test_castle_cards_are_dealt_again_when_all_five_dark_rows_grant_the_same_action():
    again = ["steward-10", "steward-04", "steward-07", "diplomat-03", "diplomat-05"]
    position = json.loads(dealt(*ALL_COURTIERS, *again).to_json())
    assert list(position["rooms"].values()) == again  # two returned cards came up again
    assert len(set(castle_cards(position))) == 9 + 9  # and the others are back in their decks


@pytest.mark.rule("B-1.2")
def test_castle_cards_are_dealt_as_often_as_all_dark_rows_are_the_same():
    gardeners = ["steward-07", "steward-12", "steward-13", "diplomat-07", "diplomat-08"]
    game = dealt(*ALL_COURTIERS, *gardeners, *CASTLE)
    assert list(json.loads(game.to_json())["rooms"].values()) == CASTLE


@pytest.mark.rule("B-1.2")
def test_one_other_dark_row_is_enough_to_keep_the_castle_cards():
    cards = [*ALL_COURTIERS[:4], "diplomat-05"]
    assert list(json.loads(dealt(*cards).to_json())["rooms"].values()) == cards


# --- B-1.3 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.3")
def test_one_of_the_nine_daimyo_cards_is_in_the_game_and_the_rest_are_out():
    games = [rules.new_game("base", 2, seed=seed).to_json() for seed in range(60)]
    assert all(game.count("daimyo-0") == 1 for game in games)
    assert len({json.loads(game)["daimyo"]["card"] for game in games}) == 9


# --- B-1.4 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.4")
def test_the_three_diamond_spaces_hold_one_tile_of_each_colour():
    seen = set()
    for seed in range(40):
        tiles = opening(seed=seed)["tiles"]
        seen.add(tuple(colour(tiles[f"diamond-{number}"]) for number in (1, 2, 3)))
    assert all(set(colours) == {"coral", "black", "white"} for colours in seen)
    assert len(seen) == 6


@pytest.mark.rule("B-1.4", "B-8")
def test_each_of_the_fifteen_tiles_lies_on_one_space():
    for seed in range(40):
        tiles = opening(seed=seed)["tiles"]
        assert list(tiles) == SLOTS
        assert len(set(tiles.values())) == 15


@pytest.mark.rule("B-1.4")
def test_a_room_never_has_tiles_of_one_colour_only():
    for seed in range(150):
        tiles = opening(seed=seed)["tiles"]
        for slots in ROOM_SLOTS.values():
            assert len({colour(tiles[slot]) for slot in slots}) > 1, (seed, slots)


# In these deals the diamonds are coral, black, white; spaces 1 to 12 follow.
DIAMOND_TILES = "coral-food black-food white-food "
FITTING = DIAMOND_TILES + (
    "coral-iron black-iron coral-pearl black-pearl white-iron white-pearl "
    "coral-any black-any white-any black-coin coral-coin white-coin"
)


@pytest.mark.rule("B-1.4")
def test_tiles_that_no_space_refuses_are_laid_in_the_order_of_the_numbers():
    assert list(tiles_of(FITTING).items()) == list(zip(SLOTS, FITTING.split(), strict=True))


@pytest.mark.rule("B-1.4")
def test_the_spaces_one_to_five_accept_a_tile_of_the_colour_beside_it():
    laid = tiles_of(FITTING)
    assert (laid["diamond-1"], laid["3"]) == ("coral-food", "coral-pearl")
    assert (laid["diamond-2"], laid["4"]) == ("black-food", "black-pearl")
    assert (laid["diamond-3"], laid["5"]) == ("white-food", "white-iron")


@pytest.mark.rule("B-1.4")
def test_a_refused_tile_goes_to_the_next_number_and_a_new_one_is_drawn_for_the_space():
    laid = tiles_of(
        DIAMOND_TILES
        + "coral-iron black-iron coral-pearl black-pearl white-iron "
        + "coral-any white-pearl black-any white-any black-coin coral-coin white-coin"
    )
    assert laid["7"] == "coral-any"  # room 1 of the diplomats would have been coral only
    assert laid["6"] == "white-pearl"
    assert [laid[slot] for slot in ("8", "9", "10")] == ["black-any", "white-any", "black-coin"]


@pytest.mark.rule("B-1.4")
def test_a_refused_tile_passes_every_number_that_refuses_it_or_is_not_free():
    laid = tiles_of(
        DIAMOND_TILES
        + "coral-iron coral-pearl coral-any black-pearl white-iron "
        + "coral-coin "  # refused by 6, 7 and 8: to 9
        + "white-pearl black-iron black-any "
        + "white-any "  # 9 is not free, 10 refuses: to 11
        + "black-coin white-coin"
    )
    assert laid["9"] == "coral-coin"
    assert [laid[slot] for slot in ("6", "7", "8")] == ["white-pearl", "black-iron", "black-any"]
    assert [laid[slot] for slot in ("10", "11", "12")] == ["black-coin", "white-any", "white-coin"]


@pytest.mark.rule("B-1.4")
def test_all_tiles_are_dealt_again_when_no_number_accepts_one():
    dead_end = DIAMOND_TILES + (
        "coral-iron black-iron coral-pearl black-pearl white-iron black-any "
        "coral-any black-coin coral-coin "
        "white-pearl white-any white-coin"  # 10 refuses all three, 11 and 12 take two of them
    )
    assert list(tiles_of(dead_end, FITTING).values()) == FITTING.split()


# --- B-1.5 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.5")
def test_a_plant_and_a_stone_garden_lie_under_each_bridge():
    for seed in range(20):
        gardens = opening(seed=seed)["gardens"]
        assert len(set(gardens.values())) == 6
        for colour_name in ("coral", "black", "white"):
            assert gardens[f"{colour_name} plant"].startswith("garden-plant-")
            assert gardens[f"{colour_name} stone"].startswith("garden-stone-")


@pytest.mark.rule("B-1.5")
def test_yard_one_has_a_blue_and_a_yellow_tile_yard_two_a_blue_and_yard_three_a_yellow_one():
    tiles = opening()["yard_tiles"]
    assert list(tiles) == ["yard-1 blue", "yard-1 yellow", "yard-2 blue", "yard-3 yellow"]
    assert len(set(tiles.values())) == 4


@pytest.mark.rule("B-1.5")
def test_any_yard_tile_may_come_up_with_either_face():
    tiles = [opening(seed=seed)["yard_tiles"] for seed in range(60)]
    for slot in ("yard-1 blue", "yard-1 yellow", "yard-2 blue", "yard-3 yellow"):
        assert len({laid[slot] for laid in tiles}) == 8


@pytest.mark.rule("B-1.4", "B-1.5")
def test_gardens_and_tiles_stay_for_the_whole_game():
    game = rules.new_game("base", 3, seed=3)
    before, dice = json.loads(game.to_json()), random.Random(3)
    while not game.over:
        game.apply(dice.choice(game.legal()))
    after = json.loads(game.to_json())
    for key in ("gardens", "yard_tiles", "tiles"):
        assert after[key] == before[key]


# --- B-1.6 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.6")
def test_the_markers_start_on_position_0_and_the_top_one_is_first_in_turn_order():
    for seed in range(10):
        position = opening(4, seed)
        assert [clan["influence"] for clan in position["clans"]] == [0, 0, 0, 0]
        assert position["markers"] == position["turn_order"][::-1]  # later lies higher


@pytest.mark.rule("B-1.6")
def test_the_first_stack_of_markers_is_random():
    assert len({tuple(opening(3, seed)["markers"]) for seed in range(60)}) == 6


# --- B-1.7 --------------------------------------------------------------------------------------


@pytest.fixture
def draft():
    """A draft of two seats at its first pick, with the pairs named in the test."""

    def build(*pairs):
        position = opening(2)
        position["turn_order"], position["markers"] = [0, 1], [1, 0]
        position["pending"] = [
            {"step": "end-of-draft"},
            {"step": "pick-pair", "seat": 0},
            {"step": "pick-pair", "seat": 1},
        ]
        position["pairs"] = [
            {"resource": f"start-resource-{resource}", "action": f"start-action-{action}"}
            for resource, action in pairs
        ]
        return position

    return build


@pytest.mark.rule("B-1.7")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_one_pair_more_than_seats_is_laid_out(seats):
    pairs = opening(seats)["pairs"]
    assert len(pairs) == seats + 1
    assert len({pair["resource"] for pair in pairs}) == seats + 1
    assert len({pair["action"] for pair in pairs}) == seats + 1


@pytest.mark.rule("B-1.7")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_seats_pick_in_reverse_turn_order(seats):
    for seed in range(5):
        game = rules.new_game("base", seats, seed=seed)
        order, asked = opening(seats, seed)["turn_order"], []
        while json.loads(game.to_json())["set_up"]:
            if game.to_move not in asked:
                asked.append(game.to_move)
            game.apply(game.legal()[0])
        assert asked == order[::-1]


@pytest.mark.rule("B-1.7")
def test_the_action_card_goes_to_the_domain_and_the_resource_card_to_the_lantern_area(
    draft, load, do, clan
):
    game = load(draft((3, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 2")
    assert clan(game, 1)["action_card"] == "start-action-2a"
    assert clan(game, 1)["lantern"] == ["start-resource-6"]


@pytest.mark.rule("B-1.7")
def test_the_gains_of_the_resource_card_are_taken_at_once(draft, load, do, clan):
    game = load(draft((3, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 2")
    held = clan(game, 1)
    goods = [held[good] for good in ("food", "iron", "pearl", "coin", "seal", "vp", "influence")]
    assert goods == [1, 2, 1, 3, 1, 0, 0]


@pytest.mark.rule("B-1.7")
@pytest.mark.parametrize(("resource", "decree"), [(1, 1), (4, 2), (7, 3)])
def test_the_decree_that_the_resource_card_names_joins_the_lantern_area(
    draft, load, do, clan, *, resource, decree
):
    game = load(draft((resource, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 1")
    assert clan(game, 1)["lantern"] == [f"start-resource-{resource}", f"decree-{decree}"]


@pytest.mark.rule("B-1.7")
def test_any_resource_of_a_starting_card_is_chosen_now_and_unit_by_unit(
    draft, load, do, offers, clan
):
    game = load(draft((2, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 1")
    assert game.to_move == 1
    assert offers(game) == {"choose food", "choose iron", "choose pearl"}
    do(game, "choose food", "choose pearl")
    assert [clan(game, 1)[good] for good in ("food", "iron", "pearl")] == [1, 0, 1]
    assert game.to_move == 0


@pytest.mark.rule("B-1.7")
def test_a_pair_that_was_picked_is_refused_to_the_next_seat(draft, load, do):
    game = load(draft((3, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 2")
    with pytest.raises(IllegalAction, match="that pair is taken") as refused:
        do(game, "pick pair 2")
    assert refused.value.rule == "B-1.7"


@pytest.mark.rule("B-1.7")
def test_the_pair_left_over_leaves_the_game(draft, load, do):
    game = load(draft((3, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 2", "pick pair 3")
    assert json.loads(game.to_json())["pairs"] == []
    assert "start-resource-3" not in game.to_json()
    assert "start-action-1a" not in game.to_json()


@pytest.mark.rule("B-1.7", "B-2.1")
def test_after_the_draft_the_seat_first_in_turn_order_takes_a_die(draft, load, do, offers):
    game = load(draft((3, "1a"), (6, "2a"), (8, "3a")))
    do(game, "pick pair 2", "pick pair 3")
    assert game.to_move == 0
    assert "take coral left" in offers(game)


@pytest.mark.rule("B-1.7")
def test_the_dice_of_round_1_lie_on_the_bridges_before_the_first_pick(offers):
    game = rules.new_game("base", 2, seed=5)
    dice = json.loads(game.to_json())["bridges"]
    assert all(bridge["left"] and bridge["right"] for bridge in dice.values())
    while "take coral left" not in offers(game):
        game.apply(next(action for action in game.legal() if action > 4))
    assert json.loads(game.to_json())["bridges"] == dice


# --- B-1.8 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_clan_starts_with_nothing_and_fifteen_members_in_its_domain(seats):
    for clan in opening(seats)["clans"]:
        assert {clan[good] for good in ("food", "iron", "pearl", "coin", "seal", "vp")} == {0}
        assert clan["courtiers"].pop("domain") == 5
        assert set(clan["courtiers"].values()) == set(clan["warriors"].values()) == {0}
        assert clan["gardeners"] == []


@pytest.mark.rule("B-1.8")
def test_five_gardeners_and_five_warriors_wait_in_the_domain(first_turn, load, do, offers):
    position = first_turn()
    position["bridges"]["coral"]["right"] = position["bridges"]["black"]["right"] = 6
    position["clans"][0] |= {"food": 7, "iron": 7}
    position["clans"][0]["gardeners"] = ["coral plant", "coral stone", "black plant", "black stone"]
    position["clans"][0]["warriors"] = {"yard-1": 0, "yard-2": 0, "yard-3": 4}
    fifth_gardener, fifth_warrior = load(position), load(position)
    do(fifth_gardener, "take coral right", "place outside-left", "do gardener")
    assert "garden white stone" in offers(fifth_gardener)
    do(fifth_warrior, "take coral right", "place outside-right", "do warrior")
    assert "train yard-3" in offers(fifth_warrior)
    position["clans"][0]["gardeners"].append("white plant")
    position["clans"][0]["warriors"]["yard-1"] = 1
    sixth_gardener, sixth_warrior = load(position), load(position)
    do(sixth_gardener, "take coral right", "place outside-left", "do gardener")
    do(sixth_warrior, "take coral right", "place outside-right", "do warrior")
    assert sixth_gardener.to_move == sixth_warrior.to_move == 1  # nobody is left to send


# --- events -------------------------------------------------------------------------------------


@pytest.mark.rule("B-1.2", "B-1.3", "B-1.4", "B-1.5", "B-1.6", "B-1.7", "B-2.2")
def test_every_draw_of_the_set_up_cites_its_paragraph():
    events = rules.new_game("base", 3, seed=1).events_since(0)
    draws = [event.rule for event in events if event.kind == "draw"]
    assert {rule: draws.count(rule) for rule in draws} == {
        "B-1.2": 5,
        "B-1.3": 1,
        "B-1.4": 15,
        "B-1.5": 6 + 4,
        "B-1.6": 3,
        "B-1.7": 4 + 4,
    }
    assert [event.rule for event in events if event.kind == "roll"] == ["B-2.2"] * 12
