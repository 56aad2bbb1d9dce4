"""Matcha: GEISHA, the path, the pond, scoring (M-7, M-10, M-11)."""

import json

import pytest
from himeji.rules.errors import IllegalAction

from tests.rules.castle.matcha_positions import (
    at,
    at_places,
    both,
    held,
    lilies,
    plain,
    show,
    tiles,
)

GEISHA = {"step": "geisha", "seat": 0, "entrance": True, "walk": True}
WALK = GEISHA | {"entrance": False}


# --- GEISHA (M-7.1 to M-7.4) --------------------------------------------------------------------


@pytest.mark.rule("M-7.1", "M-7.2", "M-7.3")
def test_entrance_and_walk_once_each_in_any_order(acting, do, offers):
    game = acting(GEISHA, change=at(step_1=1), coin=9, chasen=7)
    do(game, "walk step-1 step-2", "entrance")
    assert held(game)["geishas"] == at_places(step_2=1, entrance=1)
    game = acting(GEISHA, coin=9, chasen=7)
    do(game, "entrance")
    assert offers(game) == {
        "done",
        "walk entrance overlook",
        "walk entrance step-1",
        "walk entrance step-2",
    }


@pytest.mark.rule("M-7.1")
def test_both_halves_are_optional(acting, do):
    game = acting(GEISHA, coin=9, chasen=7)
    do(game, "done")
    assert game.to_move == 1
    assert held(game)["geishas"] == at_places()


@pytest.mark.rule("M-7.2")
def test_the_entrance_costs_two_coins_and_has_no_limit(acting, do):
    game = acting(GEISHA, change=at(entrance=4), coin=2)
    do(game, "entrance")
    assert held(game)["coin"] == 0
    assert held(game)["geishas"]["entrance"] == 5
    game = acting(
        GEISHA, {"step": "choose-resource", "seat": 0, "amount": 1, "rule": "B-2.7"}, coin=1
    )
    do(game, "choose iron")
    assert game.to_move == 1  # nothing could be done, so nothing was asked


@pytest.mark.parametrize(
    ("walk", "price"), [("entrance step-1", 2), ("entrance step-2", 5), ("entrance overlook", 2)]
)
@pytest.mark.rule("M-7.3")
def test_a_step_costs_two_chasen_and_two_steps_five(acting, do, walk, price):
    game = acting(WALK, change=at(entrance=1), chasen=price)
    do(game, f"walk {walk}")
    assert held(game)["chasen"] == 0
    game = acting(WALK, change=at(entrance=1), chasen=price - 1, seal=1)
    with pytest.raises(IllegalAction, match=f"it costs {price} chasen") as refusal:
        do(game, f"walk {walk}")
    assert refusal.value.rule == "M-7.3"


@pytest.mark.rule("M-7.4")
def test_the_path_has_no_way_back_and_no_switching(acting, offers):
    change = at(entrance=1, step_1=1, step_2=1, overlook=1, warriors_room=1)
    game = acting(WALK, change=change, chasen=7)
    rooms = ("gardeners-room", "warriors-room", "courtiers-room")
    assert offers(game) == {
        "done",
        "walk entrance step-1",
        "walk entrance step-2",
        "walk step-1 step-2",
        *[f"walk step-1 {room}" for room in rooms],
        *[f"walk step-2 {room}" for room in rooms],
    }


@pytest.mark.parametrize(
    ("places", "walk"),
    [
        ({"entrance": 1, "overlook": 1}, "walk entrance overlook"),
        ({"step_2": 1, "gardeners_room": 2}, "walk step-2 gardeners-room"),
    ],
)
@pytest.mark.rule("M-7.5", "M-7.6")
def test_a_walk_to_a_place_that_is_full_for_the_clan_is_refused(acting, do, places, walk):
    game = acting(WALK, change=at(**places), chasen=7)
    with pytest.raises(IllegalAction, match="no further geisha of seat 0 fits") as refusal:
        do(game, walk)
    assert refusal.value.rule == "M-7.6"


@pytest.mark.rule("M-7.5")
def test_another_clan_does_not_fill_a_place(acting, offers):
    def taken(position):
        position["clans"][1]["geishas"] |= {"domain": 4, "overlook": 1}

    game = acting(WALK, change=both(at(entrance=1), taken), chasen=2)
    assert "walk entrance overlook" in offers(game)


# --- arriving (M-7.5, M-7.6) --------------------------------------------------------------------


@pytest.mark.rule("M-7.5")
def test_the_overlook_gives_the_three_lilies(acting, do, offers):
    game = acting(WALK, change=both(at(entrance=1), lilies("coin", "chasen", "vp")), chasen=2)
    do(game, "walk entrance overlook")
    assert offers(game) == {"done", "take the water lilies"}  # no coins for the tile
    do(game, "take the water lilies")
    assert (held(game)["coin"], held(game)["chasen"], held(game)["vp"]) == (2, 1, 1)


@pytest.mark.rule("M-7.5", "M-8.3")
def test_or_its_ceremony_tile_for_three_coins(acting, do, offers):
    change = both(at(entrance=1), tiles(overlook=5))
    game = acting(WALK, change=change, chasen=2, coin=3)
    do(game, "walk entrance overlook")
    assert offers(game) == {"done", "take the water lilies", "use the ceremony tile"}
    do(game, "use the ceremony tile")
    assert held(game)["coin"] == 0
    assert held(game)["vp"] == 1  # and a GARDENER, who lacks food


@pytest.mark.rule("M-7.6")
def test_arrival_effects_are_optional(acting, do):
    game = acting(WALK, change=at(entrance=1), chasen=2, coin=9)
    do(game, "walk entrance overlook", "done")
    assert game.to_move == 1
    assert held(game)["coin"] == 9


@pytest.mark.rule("M-7.5", "M-7.6")
def test_step_1_does_the_yellow_curtain_and_then_takes_the_card(acting, do, offers):
    game = acting(WALK, change=at(entrance=1), chasen=2)
    do(game, "walk entrance step-1")
    assert offers(game) == {"take flower card", "take calligraphy card"}
    do(game, "take flower card")
    assert offers(game) == {"done", "perform"}
    assert "flower-1" not in held(game)["lantern"]
    do(game, "perform")
    assert held(game)["coin"] == 4
    assert held(game)["lantern"][-1] == "flower-1"
    assert held(game)["action_card"].startswith("start-action")
    position = json.loads(game.to_json())
    assert position["tea"]["outskirts"]["flower"] not in ("flower-1", *position["decks"]["flower"])
    kinds = [e.kind for e in game.events_since(0) if e.rule in ("M-7.5", "M-7.6")]
    assert kinds[-2:] == ["card-moved", "draw"]  # the next card comes when this one shines


@pytest.mark.rule("M-7.6")
def test_at_step_1_the_card_is_taken_even_if_its_curtain_is_not_performed(acting, do):
    game = acting(WALK, change=at(entrance=1), chasen=2)
    do(game, "walk entrance step-1", "take calligraphy card", "done")
    assert held(game)["lantern"][-1] == "calligraphy-3"
    assert held(game)["vp"] == 0


@pytest.mark.rule("M-7.5")
def test_a_lantern_of_the_curtain_does_not_include_the_card(acting, do):
    def change(position):
        at(entrance=1)(position)
        show(position, calligraphy="calligraphy-1")  # yellow: Lantern; back: 1 seal
        position["clans"][0]["lantern"] = ["decree-1"]  # 1 coin
        for clan in position["clans"][1:]:
            clan["lantern"] = [card for card in clan["lantern"] if card != "decree-1"]

    game = acting(WALK, change=change, chasen=2)
    do(game, "walk entrance step-1", "take calligraphy card", "perform")
    assert (held(game)["coin"], held(game)["seal"]) == (1, 0)
    assert held(game)["lantern"] == ["decree-1", "calligraphy-1"]


@pytest.mark.rule("M-7.5", "M-4.2")
def test_the_backs_of_outskirts_cards_shine_for_a_chasen_and_a_seal(tea, load, do):
    position = tea(2)
    for deck, card in (("flower", "flower-2"), ("calligraphy", "calligraphy-2")):
        position["decks"][deck].remove(card)
    position["clans"][0]["lantern"] = ["flower-2", "calligraphy-2"]
    game = load(position)
    do(game, "take green left", "place outskirts-lower")
    assert (held(game)["chasen"], held(game)["seal"]) == (1, 1)


@pytest.mark.rule("M-7.5", "M-7.6")
def test_the_last_card_of_a_deck_stays(acting, do, offers):
    def change(position):
        at(entrance=1)(position)
        rest, position["decks"]["flower"] = position["decks"]["flower"], []
        position["clans"][1]["lantern"] += rest

    game = acting(WALK, change=change, chasen=2)
    do(game, "walk entrance step-1")
    assert offers(game) == {"take calligraphy card", "choose last flower card"}
    with pytest.raises(IllegalAction, match="the last flower card stays") as refusal:
        do(game, "take flower card")
    assert refusal.value.rule == "M-7.5"
    with pytest.raises(IllegalAction, match="calligraphy card is not the last") as refusal:
        do(game, "choose last calligraphy card")
    assert refusal.value.rule == "M-7.6"
    do(game, "choose last flower card")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert held(game)["coin"] == 4
    assert json.loads(game.to_json())["tea"]["outskirts"]["flower"] == "flower-1"
    assert "flower-1" not in held(game)["lantern"]


@pytest.mark.rule("M-7.5")
def test_of_two_last_cards_one_is_chosen_and_both_stay(acting, do, offers):
    def change(position):
        at(entrance=1)(position)
        for deck in ("flower", "calligraphy"):
            position["clans"][1]["lantern"] += position["decks"][deck]
            position["decks"][deck] = []

    game = acting(WALK, change=change, chasen=2)
    do(game, "walk entrance step-1")
    assert offers(game) == {"choose last flower card", "choose last calligraphy card"}
    before = json.loads(game.to_json())["tea"]["outskirts"]
    do(game, "choose last calligraphy card", "done")
    assert json.loads(game.to_json())["tea"]["outskirts"] == before


@pytest.mark.rule("M-7.5")
def test_step_2_gives_the_blue_curtain_of_either_card_for_its_seal(acting, do, offers):
    game = acting(WALK, change=at(step_1=1), chasen=2, seal=1)
    do(game, "walk step-1 step-2")
    assert plain(offers(game)) == {"done", "curtain flower upper", "curtain calligraphy lower"}
    do(game, "curtain calligraphy lower")
    assert held(game)["seal"] == 0
    assert offers(game) == {"done", "do warrior", "do geisha"}
    game = acting(WALK, change=at(step_1=1), chasen=2)
    do(game, "walk step-1 step-2")
    assert game.to_move == 1  # without a seal nothing is left to choose


@pytest.mark.rule("M-7.5", "M-8.3")
def test_a_room_gives_its_tile_yellow_side_for_nothing(acting, do, offers):
    game = acting(WALK, change=both(at(step_2=1), tiles(room=5)), chasen=2)
    do(game, "walk step-2 gardeners-room")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert held(game)["vp"] == 4


@pytest.mark.rule("M-7.4", "M-7.5")
def test_only_the_place_where_a_walk_ends_gives_its_effect(acting, do, offers):
    game = acting(WALK, change=both(at(step_1=1), tiles(room=6)), chasen=5, seal=1)
    do(game, "walk step-1 gardeners-room")
    assert plain(offers(game)) == {"done", "perform"}


# --- the end of a round, scoring (M-10, M-11) ---------------------------------------------------


@pytest.fixture
def round_end(tea, load):
    """The game when the last turn of a round is over; green says which green die is left."""

    def build(number=1, green=5, change=None, **clan):
        position = tea(2, **clan)
        left = {"coral": 3, "black": None, "white": 4, "green": green}
        gone = []
        for colour, value in left.items():
            position["bridges"][colour] = {"left": value, "centre": [], "right": None}
            gone += [f"{colour} 1"] * (2 if value else 3)
        if not green:
            position["bridges"]["black"] = {"left": 2, "centre": [], "right": 4}
            gone = [die for die in gone if die != "black 1"] + ["black 1"]
        else:
            position["bridges"]["white"]["right"] = 6
            gone.remove("white 1")
        position["spaces"]["well"] = gone
        position |= {"round": number, "turn": 8, "pending": []}
        if change:
            change(position)
        return load(position)

    return build


@pytest.mark.rule("M-10.1", "M-10.2")
def test_gardens_and_pond_come_together_in_the_owners_order(round_end, do, offers):
    def change(position):
        at(overlook=1)(position)
        position["clans"][0]["gardeners"] = ["white stone", "black stone"]
        position["gardens"]["white stone"] = "garden-stone-m1"
        lilies("coin", "chasen", "vp")(position)

    game = round_end(change=change)
    assert offers(game) == {"done", "activate white stone", "activate pond"}
    do(game, "activate pond", "take the water lilies")
    assert (held(game)["coin"], held(game)["vp"]) == (2, 1)
    assert offers(game) == {"done", "activate white stone"}
    do(game, "activate white stone")
    assert held(game)["chasen"] == 3
    assert json.loads(game.to_json())["round"] == 2


@pytest.mark.rule("M-10.2", "M-8.3")
def test_the_pond_offers_the_tile_for_three_coins_again(round_end, do):
    game = round_end(change=both(at(overlook=1), tiles(overlook=6)), coin=3)
    do(game, "activate pond", "use the ceremony tile")
    assert held(game)["coin"] == 2  # and a WARRIOR, who lacks iron


@pytest.mark.parametrize("case", ["no green die", "no geisha", "last round"])
@pytest.mark.rule("M-10.1", "M-10.2")
def test_without_a_green_die_or_a_geisha_or_after_round_3_there_is_no_pond(round_end, case):
    game = round_end(
        number=3 if case == "last round" else 1,
        green=None if case == "no green die" else 5,
        change=None if case == "no geisha" else at(overlook=1),
    )
    assert game.over or "activate pond" not in [
        game.rules.actions.text(action) for action in game.legal()
    ]


@pytest.mark.rule("M-10.3")
def test_the_next_round_clears_the_dice_and_keeps_the_tiles(round_end, tea):
    before, position = tea(2), json.loads(round_end().to_json())
    assert position["round"] == 2
    assert not any(position["spaces"].values())
    for bridge in position["bridges"].values():
        assert bridge["left"]
        assert bridge["right"]
        assert len(bridge["centre"]) == 1
    for kept in ("tea", "yard_tiles", "gardens", "rooms"):
        assert position[kept] == before[kept]


@pytest.mark.rule("M-10.1", "M-10.2")
def test_gardens_and_pond_come_in_the_new_turn_order(round_end, do, offers):
    def change(position):
        at(overlook=1)(position)
        position["clans"][1]["geishas"] |= {"domain": 4, "overlook": 1}
        position["clans"][1]["influence"] = 1

    game = round_end(change=change)
    assert game.to_move == 1
    do(game, "activate pond", "done")
    assert game.to_move == 0
    assert offers(game) == {"done", "activate pond"}


@pytest.mark.rule("M-11.1")
def test_geishas_score_by_their_place_and_rooms_by_own_members(round_end):
    def change(position):
        clan = position["clans"][0]
        clan["geishas"] = at_places(entrance=1, overlook=1, courtiers_room=2, gardeners_room=1)
        clan["courtiers"] |= {"domain": 2, "gate": 2, "steward-room-1": 1}
        clan["gardeners"] = ["coral plant"]
        clan["warriors"] |= {"yard-1": 1}

    game = round_end(number=3, change=change)
    lines = game.breakdown()[0]
    assert lines["geishas"] == 1 + 2 + 2 * (2 * 3) + 2 * 1
    assert lines["warriors"] == game.tables.yard_value[0] * 1  # geishas do not feed it
    game = round_end(number=3, change=at(step_1=2, step_2=3))
    assert game.breakdown()[0]["geishas"] == 2 * 2 + 3 * 3

    def trained(position):
        at(warriors_room=2)(position)
        position["clans"][0]["warriors"] |= {"yard-1": 1, "yard-3": 3}

    game = round_end(number=3, change=trained)
    assert game.breakdown()[0]["geishas"] == 2 * (2 * 4)
    assert game.breakdown()[0]["warriors"] == 0


@pytest.mark.parametrize(("influence", "first"), [(0, 0), (1, 1)])
@pytest.mark.rule("M-11.1", "B-7.5")
def test_a_tie_above_120_points_goes_to_the_one_higher_in_turn_order(round_end, influence, first):
    def even(position):
        for clan in position["clans"]:
            clan["vp"] = 171
        position["clans"][1]["influence"] = influence

    game = round_end(number=3, change=even)
    assert game.scores() == [171, 171]
    assert game.ranking()[first] == 1


@pytest.mark.parametrize(("chasen", "points"), [(2, 0), (3, 1), (6, 1), (7, 2)])
@pytest.mark.rule("M-11.1")
def test_leftover_chasen_score_like_other_resources(round_end, chasen, points):
    game = round_end(number=3, chasen=chasen)
    assert game.breakdown()[0]["resources"] == points
