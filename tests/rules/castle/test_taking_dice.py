"""Taking dice from the bridges (B-2.3, B-2.4)."""

import json

import pytest
from himeji.rules.errors import IllegalAction


@pytest.fixture
def bridge(first_turn):
    """Seat 0 at its turn with 9 coins and one icon in its Lantern Area: 1 pearl.

    The coral bridge holds the dice given, all other coral dice lie in the Well.
    """

    def build(left, centre, right, seats=2):
        position = first_turn(seats)
        placed = seats + 1 - len(centre) - (left is not None) - (right is not None)
        position["bridges"]["coral"] = {"left": left, "centre": centre, "right": right}
        position["spaces"]["well"] = ["coral 1"] * placed
        position["turn"] = placed + 1
        position["clans"][0] |= {"coin": 9, "lantern": ["start-resource-3"]}
        return position

    return build


def coral(game):
    return json.loads(game.to_json())["bridges"]["coral"]


@pytest.mark.rule("B-2.3")
def test_a_turn_begins_with_a_die_from_either_end_of_any_bridge(bridge, load, offers):
    game = load(bridge(1, [3], 5))
    assert offers(game) == {
        f"take {colour} {end}"
        for colour in ("coral", "black", "white")
        for end in ("left", "right")
    }


@pytest.mark.rule("B-2.4")
def test_the_nearest_centre_die_slides_to_the_left_end(bridge, load, do):
    game = load(bridge(1, [2, 3, 4], 6, seats=4))
    do(game, "take coral left")
    assert coral(game) == {"left": 2, "centre": [3, 4], "right": 6}


@pytest.mark.rule("B-2.4")
def test_the_nearest_centre_die_slides_to_the_right_end(bridge, load, do):
    game = load(bridge(1, [2, 3, 4], 6, seats=4))
    do(game, "take coral right")
    assert coral(game) == {"left": 1, "centre": [2, 3], "right": 4}


@pytest.mark.rule("B-2.4")
def test_the_last_centre_die_slides_to_the_end_that_was_taken(bridge, load, do):
    from_left, from_right = load(bridge(1, [3], 5)), load(bridge(1, [3], 5))
    do(from_left, "take coral left")
    do(from_right, "take coral right")
    assert coral(from_left) == {"left": 3, "centre": [], "right": 5}
    assert coral(from_right) == {"left": 1, "centre": [], "right": 3}


@pytest.mark.rule("B-2.4")
def test_a_lone_die_keeps_its_side_of_the_bridge(first_turn, load, do, offers):
    position = first_turn()
    position["bridges"]["coral"] = {"left": 2, "centre": [], "right": 5}
    position["spaces"]["well"] = ["coral 1"]
    position["turn"] = 2
    position["clans"][0]["coin"] = 9
    game = load(position)
    do(game, "take coral left", "place well")
    while "take coral right" not in offers(game):
        game.apply(game.legal()[-1])
    assert "take coral left" not in offers(game)


@pytest.mark.rule("B-2.4")
def test_a_lone_die_on_the_left_stays_on_the_left(bridge, load, do):
    game = load(bridge(2, [], 5))
    do(game, "take coral right")
    assert coral(game) == {"left": 2, "centre": [], "right": None}


@pytest.mark.rule("B-2.4")
def test_a_lone_die_on_the_left_pays_the_lantern(bridge, load, do, clan):
    game = load(bridge(6, [], None))
    do(game, "take coral left", "place domain-coral")
    assert clan(game, 0)["pearl"] == 1


@pytest.mark.rule("B-2.4")
def test_a_lone_die_on_the_right_pays_no_lantern(bridge, load, do, clan):
    game = load(bridge(None, [], 6))
    do(game, "take coral right", "place domain-coral")
    assert clan(game, 0)["pearl"] == 0


@pytest.mark.rule("B-2.4")
def test_a_die_that_slid_to_the_left_end_pays_the_lantern(bridge, load, do, clan):
    game = load(bridge(1, [6], 6))
    do(game, "take coral right", "place well")
    do(game, "take white right", "place well")
    assert coral(game) == {"left": 1, "centre": [], "right": 6}
    do(game, "take coral left", "place well")
    assert clan(game, 0)["pearl"] == 1


@pytest.mark.rule("B-2.4")
@pytest.mark.parametrize(("left", "right", "empty"), [(None, 6, "left"), (6, None, "right")])
def test_an_end_without_a_die_is_refused(bridge, load, do, offers, *, left, right, empty):
    game = load(bridge(left, [], right))
    assert f"take coral {empty}" not in offers(game)
    with pytest.raises(
        IllegalAction, match=f"no die lies at the {empty} end of the coral bridge"
    ) as e:
        do(game, f"take coral {empty}")
    assert e.value.rule == "B-2.4"


@pytest.mark.rule("B-2.4")
def test_a_bridge_may_run_empty(bridge, load, do, offers):
    game = load(bridge(None, [], 6))
    do(game, "take coral right", "place well")
    assert coral(game) == {"left": None, "centre": [], "right": None}
    assert not {"take coral left", "take coral right"} & offers(game)


@pytest.mark.rule("B-2.3")
def test_the_event_of_a_die_taken_cites_the_turn(bridge, load, do):
    game = load(bridge(1, [3], 5))
    do(game, "take coral right")
    taken = [event for event in game.events_since(0) if event.kind == "die-taken"]
    assert [(event.seat, event.rule) for event in taken] == [(0, "B-2.3")]
