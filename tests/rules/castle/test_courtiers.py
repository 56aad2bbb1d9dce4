"""COURTIER: audiences, climbs, and what a courtier meets where it arrives (B-4.1 to B-4.5)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import lay_rooms

TO_COURTIER = ("take coral right", "place outside-left", "do courtier")
ROOMS = {
    "steward-room-1": "steward-13",  # 2 iron | lantern | dark gardener
    "steward-room-2": "steward-05",  # dark warrior | 1 food, 1 pearl | 1 iron, lantern
    "steward-room-3": "steward-15",  # 1 influence | 2 pearl | dark warrior
    "diplomat-room-1": "diplomat-06",  # dark warrior | 2 influence
    "diplomat-room-2": "diplomat-07",  # 2 influence | dark gardener
}
ALL_ROOMS = tuple(ROOMS)


@pytest.fixture
def castle(first_turn):
    """Two seats; the coral die on the right is a 5, so that Outside the Walls costs nothing."""
    position = first_turn()
    position["bridges"]["coral"] = {"left": 1, "centre": [3], "right": 5}
    lay_rooms(position, tuple(ROOMS.values()))
    position["daimyo"] = {"card": "daimyo-02", "slots": [None, None, None]}
    position["clans"][0] |= {"action_card": "start-action-1a", "lantern": ["start-resource-8"]}
    position["clans"][1] |= {"action_card": "start-action-2a", "lantern": ["start-resource-3"]}
    return position


def courtiers(position, seat, **places):
    """Put courtiers of a seat on the board; the others are in the domain."""
    held = {place.replace("_", "-"): count for place, count in places.items()}
    where = dict.fromkeys(("domain", "gate", *ALL_ROOMS, "daimyo"), 0) | held
    where["domain"] = 5 - sum(held.values())
    position["clans"][seat]["courtiers"] = where


def now(game):
    return json.loads(game.to_json())


def refusal(game, text):
    """The rule that forbids an action; nothing changes by asking."""
    before = game.to_json()
    with pytest.raises(IllegalAction) as caught:
        game.apply(rules.action_id("base", text))
    assert game.to_json() == before
    return caught.value.rule


# --- B-4.1: two halves ------------------------------------------------------------------------


@pytest.mark.rule("B-4.1")
def test_courtier_offers_an_audience_and_a_climb_at_once(castle, load, do, offers):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER)
    climbs = {f"climb gate steward-room-{n}" for n in (1, 2, 3)}
    assert offers(game) == {"done", "audience", *climbs}


@pytest.mark.rule("B-4.1", "B-4.3")
def test_a_courtier_that_came_by_the_audience_may_climb_at_once(castle, load, do, clan):
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "audience", "climb gate steward-room-1")
    assert clan(game, 0)["courtiers"]["domain"] == 4
    assert clan(game, 0)["courtiers"]["gate"] == 0
    assert clan(game, 0)["courtiers"]["steward-room-1"] == 1


@pytest.mark.rule("B-4.1")
def test_after_the_audience_another_courtier_may_climb(castle, load, do, clan):
    courtiers(castle, 0, steward_room_2=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "audience", "climb steward-room-2 diplomat-room-1")
    assert clan(game, 0)["courtiers"]["gate"] == 1
    assert clan(game, 0)["courtiers"]["diplomat-room-1"] == 1


@pytest.mark.rule("B-4.1")
def test_after_the_climb_the_audience_is_still_on_offer(castle, load, do, offers, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 1 of the card taken")
    assert offers(game) == {"done", "audience"}
    do(game, "audience")
    assert clan(game, 0)["courtiers"]["gate"] == 1
    assert game.to_move == 1


@pytest.mark.rule("B-4.1", "B-4.4")
def test_the_audience_after_a_climb_comes_after_everything_the_climb_gives(
    castle, load, do, offers, clan
):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1")
    assert "audience" not in offers(game)
    do(game, "row 1 of the card taken")
    assert clan(game, 0)["iron"] == 2
    assert now(game)["rooms"]["steward-room-1"] is not None
    assert "audience" in offers(game)


@pytest.mark.rule("B-4.1")
def test_the_audience_is_given_at_most_once(castle, load, do, offers):
    castle["clans"][0] |= {"coin": 9, "pearl": 7}
    game = load(castle)
    do(game, *TO_COURTIER, "audience")
    assert "audience" not in offers(game)
    assert refusal(game, "audience") == "B-4.1"


@pytest.mark.rule("B-4.1")
def test_there_is_at_most_one_climb(castle, load, do, offers):
    courtiers(castle, 0, gate=2)
    castle["clans"][0] |= {"coin": 9, "pearl": 7}
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 1 of the card taken")
    assert offers(game) == {"done", "audience"}
    assert refusal(game, "climb gate steward-room-2") == "B-4.1"


@pytest.mark.rule("B-4.1")
def test_both_halves_once_end_the_action(castle, load, do):
    courtiers(castle, 0, gate=2)
    castle["clans"][0] |= {"coin": 9, "pearl": 7}
    game = load(castle)
    do(game, *TO_COURTIER, "audience", "climb gate steward-room-1", "row 1 of the card taken")
    assert game.to_move == 1


@pytest.mark.rule("B-4.1", "B-2.7")
def test_the_audience_alone_is_enough(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "audience", "done")
    assert clan(game, 0)["courtiers"]["gate"] == 2
    assert clan(game, 0)["pearl"] == 2
    assert game.to_move == 1


@pytest.mark.rule("B-4.1", "B-2.7")
def test_the_climb_alone_is_enough(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 1 of the card taken", "done")
    assert clan(game, 0)["courtiers"]["domain"] == 4
    assert clan(game, 0)["coin"] == 2
    assert game.to_move == 1


@pytest.mark.rule("B-4.1", "B-2.7")
def test_courtier_may_be_declined_as_a_whole(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "done")
    assert clan(game, 0)["courtiers"]["gate"] == 1
    assert (clan(game, 0)["coin"], clan(game, 0)["pearl"]) == (2, 2)
    assert game.to_move == 1


# --- B-4.2: the audience ----------------------------------------------------------------------


@pytest.mark.rule("B-4.2")
def test_an_audience_costs_two_coins_and_brings_a_courtier_to_the_gate(castle, load, do, clan):
    castle["clans"][0]["coin"] = 3
    game = load(castle)
    do(game, *TO_COURTIER, "audience")
    assert clan(game, 0)["coin"] == 1
    assert clan(game, 0)["courtiers"]["domain"] == 4
    assert clan(game, 0)["courtiers"]["gate"] == 1


@pytest.mark.rule("B-4.2")
def test_one_coin_does_not_buy_an_audience(castle, load, do, offers):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 1, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER)
    assert "audience" not in offers(game)
    assert refusal(game, "audience") == "B-4.2"


@pytest.mark.rule("B-4.2")
def test_there_is_no_audience_without_a_courtier_in_the_domain(castle, load, do, offers):
    courtiers(castle, 0, gate=5)
    castle["clans"][0] |= {"coin": 9, "pearl": 2}
    game = load(castle)
    do(game, *TO_COURTIER)
    assert "audience" not in offers(game)
    assert refusal(game, "audience") == "B-4.2"


@pytest.mark.rule("B-4.2", "B-3.6")
def test_the_courtier_that_leaves_is_the_leftmost_and_uncovers_the_next_cell(
    castle, load, do, clan
):
    castle["clans"][0]["coin"] = 5
    game = load(castle)
    do(game, *TO_COURTIER, "audience")
    do(game, "take black right", "place outside-right", "done")
    do(game, "take coral right", "place domain-coral")
    assert clan(game, 0)["food"] == 2


# --- B-4.3: the climb -------------------------------------------------------------------------

ONE_FLOOR = (
    "gate steward-room-1",
    "gate steward-room-2",
    "gate steward-room-3",
    "steward-room-1 diplomat-room-1",
    "steward-room-3 diplomat-room-2",
    "diplomat-room-1 daimyo",
    "diplomat-room-2 daimyo",
)
TWO_FLOORS = (
    "gate diplomat-room-1",
    "gate diplomat-room-2",
    "steward-room-1 daimyo",
    "steward-room-2 daimyo",
    "steward-room-3 daimyo",
)


@pytest.mark.rule("B-4.3")
@pytest.mark.parametrize(
    ("climb", "price"), [(c, 2) for c in ONE_FLOOR] + [(c, 5) for c in TWO_FLOORS]
)
def test_a_climb_costs_two_pearl_for_one_floor_and_five_for_two(
    castle, load, do, clan, *, climb, price
):
    start, end = climb.split()
    courtiers(castle, 0, **{start.replace("-", "_"): 1})
    castle["clans"][0]["pearl"] = 7
    game = load(castle)
    do(game, *TO_COURTIER, f"climb {climb}")
    assert clan(game, 0)["pearl"] == 7 - price
    assert clan(game, 0)["courtiers"][start] == 0
    assert clan(game, 0)["courtiers"][end] == 1


@pytest.mark.rule("B-4.3")
def test_one_pearl_does_not_buy_a_climb(castle, load, do, offers):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"coin": 2, "pearl": 1}
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", "audience"}
    assert refusal(game, "climb gate steward-room-1") == "B-4.3"


@pytest.mark.rule("B-4.3")
def test_four_pearl_buy_one_floor_and_not_two(castle, load, do, offers):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 4
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", *(f"climb gate steward-room-{n}" for n in (1, 2, 3))}
    assert refusal(game, "climb gate diplomat-room-1") == "B-4.3"


@pytest.mark.rule("B-4.3")
def test_from_the_gate_a_courtier_may_climb_to_any_steward_or_diplomat_room(
    castle, load, do, offers
):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 7
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", *(f"climb gate {room}" for room in ALL_ROOMS)}


@pytest.mark.rule("B-4.3")
def test_from_a_steward_room_a_courtier_may_climb_to_any_diplomat_room_or_the_daimyo(
    castle, load, do, offers
):
    courtiers(castle, 0, steward_room_2=1)
    castle["clans"][0]["pearl"] = 7
    game = load(castle)
    do(game, *TO_COURTIER)
    ends = ("diplomat-room-1", "diplomat-room-2", "daimyo")
    assert offers(game) == {"done", *(f"climb steward-room-2 {end}" for end in ends)}


@pytest.mark.rule("B-4.3")
def test_from_a_diplomat_room_a_courtier_may_only_climb_to_the_daimyo(castle, load, do, offers):
    courtiers(castle, 0, diplomat_room_2=1)
    castle["clans"][0]["pearl"] = 7
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", "climb diplomat-room-2 daimyo"}


@pytest.mark.rule("B-4.3")
def test_a_courtier_in_the_domain_or_on_the_daimyo_floor_does_not_climb(castle, load, do, offers):
    courtiers(castle, 0, daimyo=1)
    castle["daimyo"]["slots"] = [0, None, None]
    castle["clans"][0] |= {"pearl": 7, "coin": 2}
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", "audience"}


@pytest.mark.rule("B-4.3")
def test_courtiers_of_another_clan_are_not_moved(castle, load, do, offers):
    courtiers(castle, 1, gate=2, steward_room_1=1)
    castle["clans"][0] |= {"pearl": 7, "coin": 2}
    game = load(castle)
    do(game, *TO_COURTIER)
    assert offers(game) == {"done", "audience"}


@pytest.mark.rule("B-4.3", "B-4.4")
def test_two_floors_from_the_gate_skip_the_steward_room(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 5
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate diplomat-room-1")
    after = now(game)
    for room in ("steward-room-1", "steward-room-2", "steward-room-3", "diplomat-room-2"):
        assert after["rooms"][room] == ROOMS[room]
    assert after["decks"]["steward"] == castle["decks"]["steward"]
    assert clan(game, 0)["action_card"] == "diplomat-06"
    assert clan(game, 0)["lantern"] == ["start-resource-8", "start-action-1a"]


@pytest.mark.rule("B-4.3", "B-4.5")
def test_two_floors_to_the_daimyo_skip_the_diplomat_room(castle, load, do, clan):
    courtiers(castle, 0, steward_room_1=1)
    castle["clans"][0]["pearl"] = 5
    game = load(castle)
    do(game, *TO_COURTIER, "climb steward-room-1 daimyo", "daimyo slot 3")
    assert now(game)["rooms"] == ROOMS
    assert clan(game, 0)["action_card"] == "start-action-1a"
    assert clan(game, 0)["lantern"] == ["start-resource-8"]
    assert clan(game, 0)["influence"] == 0


# --- B-4.4: arriving in a room ----------------------------------------------------------------


@pytest.fixture
def arrival(castle, load, do):
    """A courtier of seat 0 has just arrived in steward-room-1 and its light row is open."""
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"pearl": 2, "coin": 2}
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1")
    return game


@pytest.mark.rule("B-4.4")
def test_on_arrival_the_old_action_card_goes_to_the_lantern_area(arrival, clan):
    assert clan(arrival, 0)["lantern"] == ["start-resource-8", "start-action-1a"]


@pytest.mark.rule("B-4.4")
def test_on_arrival_the_card_of_the_room_becomes_the_action_card(arrival, clan):
    assert clan(arrival, 0)["action_card"] == "steward-13"


@pytest.mark.rule("B-4.4")
def test_the_back_of_the_old_action_card_already_shines_during_the_light_row(arrival, do, clan):
    do(arrival, "row 2 of the card taken")
    assert clan(arrival, 0)["influence"] == 1
    assert clan(arrival, 0)["food"] == 1


@pytest.mark.rule("B-4.4")
def test_the_card_just_taken_does_not_shine_itself(arrival, do, clan):
    do(arrival, "row 2 of the card taken")
    assert clan(arrival, 0)["coin"] == 2


@pytest.mark.rule("B-4.4")
def test_the_room_is_refilled_only_after_the_light_row(arrival, do, castle):
    assert now(arrival)["rooms"]["steward-room-1"] is None
    assert now(arrival)["decks"]["steward"] == castle["decks"]["steward"]
    do(arrival, "row 2 of the card taken")
    refilled = now(arrival)
    assert refilled["rooms"]["steward-room-1"] in castle["decks"]["steward"]


@pytest.mark.rule("B-4.4")
def test_the_new_card_of_the_room_leaves_its_deck(arrival, do, castle):
    do(arrival, "row 1 of the card taken")
    after = now(arrival)
    expected = set(castle["decks"]["steward"]) - {after["rooms"]["steward-room-1"]}
    assert set(after["decks"]["steward"]) == expected
    assert len(after["decks"]["steward"]) == 5
    assert after["decks"]["diplomat"] == castle["decks"]["diplomat"]


@pytest.mark.rule("B-4.4")
def test_the_other_rooms_keep_their_cards(arrival, do):
    do(arrival, "row 1 of the card taken")
    rooms = now(arrival)["rooms"]
    assert {r: c for r, c in rooms.items() if r != "steward-room-1"} == {
        r: c for r, c in ROOMS.items() if r != "steward-room-1"
    }


@pytest.mark.rule("B-4.4", "B-2.7")
def test_the_light_row_cannot_be_skipped(arrival, offers):
    assert offers(arrival) == {"row 1 of the card taken", "row 2 of the card taken"}
    assert refusal(arrival, "done") == "B-4.4"


@pytest.mark.rule("B-4.4")
def test_the_dark_row_of_the_card_taken_is_not_performed(arrival):
    assert refusal(arrival, "row 3 of the card taken") == "B-4.4"


@pytest.mark.rule("B-4.4")
def test_only_one_light_row_is_performed(arrival, do, offers, clan):
    do(arrival, "row 1 of the card taken")
    assert offers(arrival) == {"done", "audience"}
    assert clan(arrival, 0)["iron"] == 2
    assert clan(arrival, 0)["food"] == 0


@pytest.mark.rule("B-4.4")
def test_a_light_row_gives_everything_that_stands_in_it(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 2
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-2", "row 2 of the card taken")
    assert (clan(game, 0)["food"], clan(game, 0)["pearl"]) == (1, 1)


@pytest.mark.rule("B-4.4")
@pytest.mark.parametrize("room", ["diplomat-room-1", "diplomat-room-2"])
def test_the_only_light_row_of_a_diplomat_is_performed_and_not_asked(castle, load, do, clan, room):
    courtiers(castle, 0, steward_room_1=1)
    castle["clans"][0]["pearl"] = 2
    game = load(castle)
    do(game, *TO_COURTIER, f"climb steward-room-1 {room}")
    assert clan(game, 0)["influence"] == 2
    assert clan(game, 0)["action_card"] == ROOMS[room]
    after = now(game)
    assert after["rooms"][room] in castle["decks"]["diplomat"]
    assert len(after["decks"]["diplomat"]) == 6
    assert after["decks"]["steward"] == castle["decks"]["steward"]


@pytest.mark.rule("B-4.4")
def test_each_arrival_adds_one_card_to_the_lantern_area(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0] |= {"action_card": "diplomat-03", "pearl": 2}
    castle["clans"][0]["lantern"] = ["start-resource-8", "start-action-1a"]
    castle["decks"]["diplomat"].remove("diplomat-03")
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 2 of the card taken")
    assert clan(game, 0)["lantern"] == ["start-resource-8", "start-action-1a", "diplomat-03"]
    assert (clan(game, 0)["food"], clan(game, 0)["influence"], clan(game, 0)["vp"]) == (1, 1, 1)


@pytest.mark.rule("B-4.4")
def test_the_last_card_of_the_deck_still_refills_the_room(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 2
    *gone, last = castle["decks"]["steward"]
    castle["decks"]["steward"] = [last]
    castle["clans"][1]["lantern"] += gone
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 1 of the card taken")
    assert now(game)["rooms"]["steward-room-1"] == last
    assert now(game)["decks"]["steward"] == []
    assert clan(game, 0)["action_card"] == "steward-13"


@pytest.mark.rule("B-4.4")
def test_with_an_empty_deck_no_card_moves_and_the_light_row_is_performed(
    castle, load, do, offers, clan
):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 2
    castle["clans"][1]["lantern"] += castle["decks"]["steward"]
    castle["decks"]["steward"] = []
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1")
    assert offers(game) == {"row steward-room-1 top", "row steward-room-1 middle"}
    assert refusal(game, "row 1 of the card taken") == "B-4.4", "no card was taken"
    assert refusal(game, "row steward-room-1 bottom") == "B-4.4", "that row is dark"
    do(game, "row steward-room-1 top")
    assert clan(game, 0)["iron"] == 2
    assert now(game)["rooms"] == ROOMS
    assert clan(game, 0)["action_card"] == "start-action-1a"
    assert clan(game, 0)["lantern"] == ["start-resource-8"]
    assert clan(game, 0)["courtiers"]["steward-room-1"] == 1


@pytest.mark.rule("B-4.4")
def test_with_an_empty_deck_the_action_card_does_not_shine_in_the_light_row(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 2
    castle["clans"][1]["lantern"] += castle["decks"]["steward"]
    castle["decks"]["steward"] = []
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row steward-room-1 middle")
    assert clan(game, 0)["food"] == 1
    assert clan(game, 0)["influence"] == 0


@pytest.mark.rule("B-4.4")
def test_with_an_empty_diplomat_deck_the_light_row_is_one_of_the_room(castle, load, do, offers):
    courtiers(castle, 0, steward_room_1=1)
    castle["clans"][0] |= {"pearl": 2, "seal": 1}
    castle["clans"][1]["lantern"] += castle["decks"]["diplomat"]
    castle["decks"]["diplomat"] = []
    game = load(castle)
    do(game, *TO_COURTIER, "climb steward-room-1 diplomat-room-1")
    assert offers(game) == {"exchange 1 seal for 1 coin", "row diplomat-room-1 second"}
    assert refusal(game, "row diplomat-room-1 first") == "B-4.4"


@pytest.mark.rule("B-4.4")
def test_an_empty_diplomat_deck_does_not_stop_the_stewards(castle, load, do, clan):
    courtiers(castle, 0, gate=1)
    castle["clans"][0]["pearl"] = 2
    castle["clans"][1]["lantern"] += castle["decks"]["diplomat"]
    castle["decks"]["diplomat"] = []
    game = load(castle)
    do(game, *TO_COURTIER, "climb gate steward-room-1", "row 1 of the card taken")
    assert clan(game, 0)["action_card"] == "steward-13"


# --- B-4.5: the daimyo floor ------------------------------------------------------------------


def to_the_daimyo(position, **goods):
    """A courtier of seat 0 stands in diplomat-room-1 with the pearl for the last floor."""
    courtiers(position, 0, diplomat_room_1=1)
    position["clans"][0] |= {"pearl": 2, **goods}
    return (*TO_COURTIER, "climb diplomat-room-1 daimyo")


@pytest.mark.rule("B-4.5")
def test_the_lantern_of_the_daimyo_floor_comes_before_the_slot(castle, load, do, offers, clan):
    climb = to_the_daimyo(castle)
    game = load(castle)
    do(game, *climb)
    assert clan(game, 0)["food"] == 1
    assert offers(game) == {"daimyo slot 1", "daimyo slot 2", "daimyo slot 3"}


@pytest.mark.rule("B-4.5", "B-5.1")
def test_the_slot_waits_until_all_icons_of_the_lantern_are_done(castle, load, do, offers):
    climb = to_the_daimyo(castle)
    castle["clans"][0]["lantern"] = ["start-resource-4", "decree-2"]
    game = load(castle)
    do(game, *climb)
    assert "daimyo slot 1" in offers(game)


@pytest.mark.rule("B-4.5", "B-2.7")
def test_the_daimyo_slot_cannot_be_skipped(castle, load, do):
    climb = to_the_daimyo(castle)
    game = load(castle)
    do(game, *climb)
    assert refusal(game, "done") == "B-4.5"


@pytest.mark.rule("B-4.5")
def test_the_courtier_stands_on_the_slot_it_chose(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    game = load(castle)
    do(game, *climb, "daimyo slot 2")
    assert now(game)["daimyo"]["slots"] == [None, 0, None]
    assert clan(game, 0)["courtiers"]["daimyo"] == 1


BENEFITS = [
    ("daimyo-01", 2, "iron", 2),
    ("daimyo-01", 3, "seal", 2),
    ("daimyo-02", 2, "food", 3),  # 1 of them from the Lantern
    ("daimyo-02", 3, "vp", 2),
    ("daimyo-05", 2, "pearl", 2),
    ("daimyo-06", 2, "influence", 2),
    ("daimyo-07", 3, "coin", 3),
]


@pytest.mark.rule("B-4.5")
@pytest.mark.parametrize(("card", "slot", "good", "held"), BENEFITS)
def test_a_slot_gives_its_benefit(castle, load, do, clan, *, card, slot, good, held):
    climb = to_the_daimyo(castle)
    castle["daimyo"]["card"] = card
    game = load(castle)
    do(game, *climb, f"daimyo slot {slot}")
    assert clan(game, 0)[good] == held


@pytest.mark.rule("B-4.5", "B-5.1")
def test_a_lantern_slot_gives_the_lantern_a_second_time(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    game = load(castle)
    do(game, *climb, "daimyo slot 1")
    assert clan(game, 0)["food"] == 2


@pytest.mark.rule("B-4.5", "B-5.2")
def test_a_well_slot_gives_the_seal_and_both_tiles(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    castle["daimyo"]["card"] = "daimyo-04"
    game = load(castle)  # the Well shows coral food and black food
    do(game, *climb, "daimyo slot 1")
    assert (clan(game, 0)["seal"], clan(game, 0)["food"]) == (1, 3)


@pytest.mark.rule("B-4.5", "B-5.3")
def test_a_light_row_slot_asks_for_a_light_castle_row(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    castle["daimyo"]["card"] = "daimyo-05"
    game = load(castle)
    do(game, *climb, "daimyo slot 1", "row steward-room-1 top")
    assert clan(game, 0)["iron"] == 2
    assert now(game)["rooms"] == ROOMS


@pytest.mark.rule("B-4.5")
def test_a_taken_slot_is_not_free(castle, load, do, offers):
    climb = to_the_daimyo(castle)
    courtiers(castle, 1, daimyo=1)
    castle["daimyo"]["slots"] = [None, 1, None]
    game = load(castle)
    do(game, *climb)
    assert offers(game) == {"daimyo slot 1", "daimyo slot 3"}
    assert refusal(game, "daimyo slot 2") == "B-4.5"


@pytest.mark.rule("B-4.5")
def test_a_clan_may_stand_on_several_slots(castle, load, do):
    climb = to_the_daimyo(castle)
    courtiers(castle, 0, diplomat_room_1=1, daimyo=1)
    castle["daimyo"]["slots"] = [None, 0, None]
    game = load(castle)
    do(game, *climb, "daimyo slot 3")
    assert now(game)["daimyo"]["slots"] == [None, 0, 0]


@pytest.mark.rule("B-4.5")
def test_the_last_free_slot_is_taken_and_not_asked(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    courtiers(castle, 1, daimyo=2)
    castle["daimyo"]["slots"] = [1, 1, None]
    game = load(castle)
    do(game, *climb)
    assert now(game)["daimyo"]["slots"] == [1, 1, 0]
    assert clan(game, 0)["vp"] == 2


@pytest.mark.rule("B-4.5")
def test_without_a_free_slot_only_the_lantern_is_gained(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    courtiers(castle, 1, daimyo=3)
    castle["daimyo"]["slots"] = [1, 1, 1]
    game = load(castle)
    do(game, *climb)
    assert clan(game, 0)["food"] == 1
    assert (clan(game, 0)["vp"], clan(game, 0)["seal"]) == (0, 0)
    assert clan(game, 0)["courtiers"]["daimyo"] == 1
    assert game.to_move == 1


@pytest.mark.rule("B-4.5", "B-4.4")
def test_on_the_daimyo_floor_no_card_is_taken(castle, load, do, clan):
    climb = to_the_daimyo(castle)
    game = load(castle)
    do(game, *climb, "daimyo slot 3")
    assert now(game)["rooms"] == ROOMS
    assert clan(game, 0)["action_card"] == "start-action-1a"


@pytest.mark.rule("B-4.1", "B-4.5")
def test_after_the_daimyo_slot_the_audience_is_still_on_offer(castle, load, do, offers):
    climb = to_the_daimyo(castle, coin=2)
    game = load(castle)
    do(game, *climb, "daimyo slot 3")
    assert offers(game) == {"done", "audience"}
