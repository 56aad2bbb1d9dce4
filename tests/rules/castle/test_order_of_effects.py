"""What may be skipped, what may not, and who chooses the order (B-2.7, B-2.8)."""

import json

import pytest
from himeji import rules
from himeji.rules.chance import seeded
from himeji.wire.positions import from_position, to_position

from tests.rules.castle.boards import ROW_TILES, goods, lay_rooms, lay_tiles

CARDS = ["steward-10", "steward-05", "steward-04", "diplomat-05", "diplomat-10"]
GARDENS = ["plant-3", "stone-7", "plant-5", "stone-9", "plant-4", "stone-10"]
YARD_TILES = {"yard-1 blue": 7, "yard-1 yellow": 1, "yard-2 blue": 8, "yard-3 yellow": 4}


@pytest.fixture
def table(first_turn):
    """Seat 0 at its turn of a game of two; every die shows a 6, the goods are those given.

    Rooms: steward-10, -05, -04, diplomat-05, -10. Its Lantern Area shows food.
    """

    def build(**goods):
        position = first_turn()
        for bridge in position["bridges"].values():
            bridge |= {"left": 6, "centre": [6], "right": 6}
        lay_tiles(position, ROW_TILES)
        lay_rooms(position, CARDS)
        position["gardens"] = {
            name: f"garden-{card}" for name, card in zip(position["gardens"], GARDENS, strict=True)
        }
        position["yard_tiles"] = {slot: f"yard-tile-{n}" for slot, n in YARD_TILES.items()}
        position["clans"][0] |= {"lantern": ["start-resource-8"], **goods}
        return position

    return build


def swap_tiles(position, one, other):
    tiles = position["tiles"]
    tiles[one], tiles[other] = tiles[other], tiles[one]


# --- B-2.7: skippable as a whole ------------------------------------------------------------------


@pytest.mark.rule("B-2.7", "B-3.1")
def test_a_castle_row_may_be_skipped(table, load, do):
    game = load(table())
    do(game, "take white right", "place steward-room-2", "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 3}


@pytest.mark.rule("B-2.7", "B-3.6")
def test_the_action_card_row_of_a_domain_may_be_skipped(table, load, do):
    game = load(table(food=6))
    do(game, "take coral right", "place domain-coral", "done")
    assert game.to_move == 1
    assert goods(game) == {"food": 7}


@pytest.mark.rule("B-2.7", "B-3.4")
def test_the_worker_action_of_outside_the_walls_may_be_skipped(table, load, do):
    game = load(table(food=7, coin=7))
    do(game, "take coral right", "place outside-left", "done")
    assert game.to_move == 1


@pytest.mark.rule("B-2.7")
@pytest.mark.parametrize(
    ("space", "worker"),
    [("outside-left", "courtier"), ("outside-left", "gardener"), ("outside-right", "warrior")],
)
def test_each_worker_action_may_be_skipped_once_it_was_chosen(table, load, do, space, worker):
    game = load(table(food=7, iron=7, pearl=7, coin=7))
    do(game, "take coral right", f"place {space}", f"do {worker}", "done")
    assert game.to_move == 1
    assert goods(game) == {"food": 7, "iron": 7, "pearl": 7, "coin": 8}


@pytest.mark.rule("B-2.7", "B-4.1")
def test_the_climb_may_be_skipped_after_the_audience(table, load, do):
    game = load(table(pearl=7, coin=7))
    do(game, "take coral right", "place outside-left", "do courtier", "audience", "done")
    assert game.to_move == 1
    assert goods(game) == {"pearl": 7, "coin": 6}


@pytest.mark.rule("B-2.7", "B-4.1")
def test_the_audience_may_be_skipped_after_the_climb(table, load, do):
    position = table(pearl=2, coin=7)
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    game = load(position)
    do(game, "take coral right", "place outside-left", "do courtier")
    do(game, "climb gate steward-room-2", "row 2 of the card taken", "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 8, "food": 1, "pearl": 1}


@pytest.mark.rule("B-2.7", "B-4.6")
def test_the_effect_of_a_garden_may_be_skipped(table, load, do, offers):
    game = load(table(food=1))
    do(game, "take coral right", "place outside-left", "do gardener", "garden coral stone")
    assert offers(game) == {"done", "perform"}
    do(game, "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 1}  # the garden would give 3 coins


@pytest.mark.rule("B-2.7", "B-4.7")
@pytest.mark.parametrize("used", [[], ["yard-1 yellow"]])
def test_each_yard_tile_effect_may_be_skipped(table, load, do, used):
    game = load(table(iron=5))
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-1")
    do(game, *[f"yard tile {tile}" for tile in used], "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 1, **({"pearl": 3} if used else {})}


@pytest.mark.rule("B-2.7", "B-5.4")
def test_a_castle_row_icon_may_be_skipped(table, load, do, offers):
    game = load(table(iron=5))
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-1")
    do(game, "yard tile yard-1 blue")
    assert "row steward-room-2 middle" in offers(game)
    do(game, "done", "done")
    assert game.to_move == 1


@pytest.mark.rule("B-2.7", "B-5.5")
def test_a_domain_row_icon_may_be_skipped(table, load, do, offers):
    game = load(table(iron=3))
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-2")
    do(game, "yard tile yard-2 blue")
    assert "domain-row coral" in offers(game)
    do(game, "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 1}


@pytest.mark.rule("B-2.7", "B-6.2")
def test_a_checkpoint_may_be_declined(table, load, do):
    position = table(influence=5, seal=5)
    position["clans"][0]["lantern"] = ["start-action-1a"]
    game = load(position)
    do(game, "take coral left", "place outside-left", "stop before the checkpoint", "done")
    assert goods(game) == {"influence": 5, "seal": 5, "coin": 1}


# --- B-2.7: not skippable -------------------------------------------------------------------------


@pytest.mark.rule("B-2.7", "B-2.5")
def test_the_coins_of_a_placement_are_not_asked_for(table, load, do, offers):
    game = load(table(seal=1))
    do(game, "take coral right", "place outside-left")
    assert goods(game) == {"coin": 1, "seal": 1}
    assert offers(game) == {"done", "do courtier", "do gardener", "exchange 1 seal for 1 coin"}


@pytest.mark.rule("B-2.7", "B-5.1")
def test_the_lantern_cannot_be_skipped(table, load, do, offers):
    position = table(seal=1)
    position["clans"][0]["lantern"] = ["start-resource-8", "start-action-1a", "decree-2"]
    game = load(position)
    do(game, "take coral left", "place outside-left")
    assert "done" in offers(game)  # to the worker action
    assert goods(game) == {"coin": 1, "seal": 2, "influence": 1, "food": 1}


@pytest.mark.rule("B-2.7", "B-3.5")
def test_the_well_cannot_be_skipped(table, load, do):
    game = load(table())
    do(game, "take coral right", "place well")
    assert goods(game) == {"coin": 7, "seal": 1}


@pytest.mark.rule("B-2.7", "B-3.6")
def test_the_visible_rewards_of_a_domain_row_cannot_be_skipped(table, load, do):
    position = table()
    position["clans"][0]["warriors"]["yard-3"] = 3
    game = load(position)
    do(game, "take white right", "place domain-white")
    assert goods(game) == {"pearl": 3, "seal": 1}


@pytest.mark.rule("B-2.7", "B-4.4")
def test_the_light_row_of_the_card_taken_cannot_be_skipped(table, load, do, offers):
    position = table(pearl=2)
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    game = load(position)
    do(game, "take coral right", "place outside-left", "do courtier", "climb gate steward-room-1")
    assert offers(game) == {"row 1 of the card taken", "row 3 of the card taken"}


@pytest.mark.rule("B-2.7", "B-4.5")
def test_the_daimyo_slot_cannot_be_skipped(table, load, do, offers):
    position = table(pearl=2)
    position["clans"][0]["courtiers"] |= {"domain": 4, "diplomat-room-1": 1}
    game = load(position)
    do(
        game,
        "take coral right",
        "place outside-left",
        "do courtier",
        "climb diplomat-room-1 daimyo",
    )
    assert offers(game) == {f"daimyo slot {slot}" for slot in (1, 2, 3)}


# --- B-2.7: inside a unit -------------------------------------------------------------------------


@pytest.mark.rule("B-2.7")
def test_inside_a_row_all_gains_are_taken(table, load, do):
    game = load(table())
    do(game, "take white right", "place steward-room-2", "row steward-room-2 middle")
    assert goods(game) == {"coin": 3, "food": 1, "pearl": 1}
    assert game.to_move == 1


@pytest.mark.rule("B-2.7")
def test_a_row_that_was_begun_cannot_be_left_half_done(table, load, do, offers):
    game = load(table())
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 top")
    rest = {"choose food", "choose iron", "choose pearl"}
    assert offers(game) == rest | {"exchange 1 seal for 1 coin"}


@pytest.mark.rule("B-2.7", "B-6.1")
def test_inside_a_row_the_part_beyond_a_cap_is_lost_and_the_other_gained(table, load, do):
    game = load(table(food=7))
    do(game, "take white right", "place steward-room-2", "row steward-room-2 middle")
    assert goods(game) == {"coin": 3, "food": 7, "pearl": 1}


# --- B-2.8: the owner's order ---------------------------------------------------------------------


@pytest.mark.rule("B-2.8", "B-3.1")
def test_matching_rows_are_performed_in_the_owners_order(table, load, do, offers):
    game = load(table(seal=1))
    do(game, "take coral right", "place steward-room-1")
    rows = {offer for offer in offers(game) if offer.startswith("row")}
    assert rows == {"row steward-room-1 top", "row steward-room-1 middle"}


@pytest.mark.rule("B-2.8", "B-4.7")
@pytest.mark.parametrize(("first", "second"), [("blue", "yellow"), ("yellow", "blue")])
def test_yard_tiles_are_used_in_the_owners_order(table, load, do, offers, *, first, second):
    game = load(table(iron=5))
    do(game, "take coral right", "place outside-right", "do warrior", "train yard-1")
    assert offers(game) == {"done", "yard tile yard-1 blue", "yard tile yard-1 yellow"}
    do(game, f"yard tile yard-1 {first}")
    if first == "blue":
        do(game, "done")
    assert offers(game) == {"done", f"yard tile yard-1 {second}"}


@pytest.mark.rule("B-2.8", "B-5.1", "B-6.2")
@pytest.mark.parametrize(("first", "position_after"), [("seal", 6), ("influence", 5)])
def test_lantern_icons_come_in_the_owners_order(table, load, do, first, position_after):
    position = table(influence=5)
    position["clans"][0]["lantern"] = ["start-action-1a", "decree-2"]
    game = load(position)
    do(game, "take coral left", "place outside-left", f"first {first}")
    if first == "seal":  # it came in time to pay for the checkpoint
        do(game, "pay the checkpoint")
    assert goods(game).get("influence") == position_after


@pytest.mark.rule("B-2.8", "B-7.2")
@pytest.mark.parametrize("first", ["coral stone", "black stone"])
def test_gardens_are_activated_in_the_owners_order(table, load, do, offers, first):
    position = table()
    position["bridges"] = {
        "coral": {"left": 1, "centre": [], "right": 6},
        "black": {"left": 2, "centre": [], "right": None},
        "white": {"left": 3, "centre": [], "right": None},
    }
    position["spaces"]["well"] = ["coral 1", "black 1", "black 2", "white 1", "white 2"]
    position |= {"turn": 6, "pending": [{"step": "take-die", "seat": 1}]}
    position["clans"][0]["gardeners"] = ["coral stone", "black stone"]
    game = load(position)
    do(game, "take coral right", "place well")
    gardens = {"activate coral stone", "activate black stone"}
    assert offers(game) == {"done", *gardens}
    do(game, f"activate {first}")
    if first == "black stone":
        do(game, "done")  # its castle row
    assert offers(game) == {"done", *gardens} - {f"activate {first}"}


def same_in_every_form(game):
    """The position, after its round trips; a row of the action card waits in it."""
    position = json.loads(game.to_json())
    assert "action-card-row" in [step["step"] for step in position["pending"]]
    packed, message = rules.loads(game.dumps()), from_position(to_position(game), seeded(1))
    assert packed.to_json() == message.to_json() == game.to_json()
    return position


# --- B-2.8: an order that can matter is asked -----------------------------------------------------

CHECKPOINT = {"pay the checkpoint", "stop before the checkpoint"}
EXCHANGE = "exchange 1 seal for 1 coin"


def before_the_checkpoint(position, icons=("start-action-1a",), **goods):
    """The marker of seat 0 stands before the first checkpoint, its Lantern Area shows icons."""
    position["clans"][0] |= {"influence": 5, "lantern": list(icons), **goods}
    for card in icons:
        for deck in position["decks"].values():
            if card in deck:
                deck.remove(card)
    return position


@pytest.mark.rule("B-2.8", "B-6.2")
def test_a_seal_and_influence_before_a_checkpoint_are_ordered(table, load, do, offers):
    game = load(before_the_checkpoint(table(), ["start-action-1a", "decree-2"]))
    do(game, "take coral left", "place outside-left")
    assert offers(game) == {"first seal", "first influence"}
    do(game, "first seal")
    assert offers(game) == CHECKPOINT | {EXCHANGE}


@pytest.mark.rule("B-2.8", "B-6.2")
def test_plain_gains_are_taken_before_an_order_is_asked(table, load, do, offers):
    icons = ["start-resource-8", "start-action-1a", "decree-2", "decree-1"]
    game = load(before_the_checkpoint(table(), icons))
    do(game, "take coral left", "place outside-left")
    assert goods(game) == {"coin": 2, "food": 1, "influence": 5}
    assert offers(game) == {"first seal", "first influence"}


@pytest.mark.rule("B-2.8", "B-6.2", "B-6.1")
def test_a_checkpoint_that_makes_room_for_a_seal_is_ordered(table, load, do, offers):
    game = load(before_the_checkpoint(table(), ["start-action-1a", "decree-2"], seal=5))
    do(game, "take coral left", "place outside-left")
    assert {"first seal", "first influence"} <= offers(game)
    do(game, "first influence", "pay the checkpoint")
    assert goods(game)["seal"] == 5  # none was lost
    assert "go on" not in offers(game)


@pytest.mark.rule("B-2.8", "B-6.2")
@pytest.mark.parametrize("seals", [1, 4])
def test_seals_that_pay_the_checkpoint_anyway_and_fit_are_not_ordered(
    table, load, do, offers, seals
):
    game = load(before_the_checkpoint(table(), ["start-action-1a", "decree-2"], seal=seals))
    do(game, "take coral left", "place outside-left")
    assert offers(game) >= CHECKPOINT
    assert not [text for text in offers(game) if text.startswith("first")]


@pytest.mark.rule("B-2.8", "B-5.1", "B-6.2")
@pytest.mark.parametrize(("first", "after"), [("seal", 6), ("lantern", 5)])
def test_a_lantern_with_influence_beside_a_seal_is_ordered(
    table, load, do, offers, *, first, after
):
    position = before_the_checkpoint(table())
    position["clans"][0]["warriors"]["yard-3"] = 5
    game = load(position)
    do(game, "take white right", "place domain-white")
    assert offers(game) == {"first seal", "first lantern"}
    assert goods(game)["pearl"] == 4
    game = load(same_in_every_form(game))
    do(game, f"first {first}")
    if first == "seal":
        do(game, "pay the checkpoint")
    assert goods(game)["influence"] == after


@pytest.mark.rule("B-2.8", "B-6.2")
def test_an_any_beside_parts_that_are_ordered_waits_for_them(table, load, do, offers):
    position = table(influence=5, seal=0)
    position["clans"][0]["lantern"] = ["start-action-1a"]
    step = {"step": "parts", "seat": 0, "rule": "B-5.1"}
    position["pending"].append({**step, "effects": ["1 any", "1 influence", "1 seal", "1 coin"]})
    game = load(position)
    assert offers(game) == {"first seal", "first influence"}
    do(game, "first seal", "pay the checkpoint")
    assert offers(game) == {"choose food", "choose iron", "choose pearl"}


@pytest.mark.rule("B-2.8", "B-4.7")
def test_a_worker_action_beside_a_resource_that_it_could_spend_is_ordered(table, load, do, offers):
    position = table(iron=2)
    step = {"step": "parts", "seat": 0, "rule": "B-5.1"}
    position["pending"].append({**step, "effects": ["warrior", "1 iron", "1 vp"]})
    game = load(position)
    assert goods(game)["vp"] == 1
    assert offers(game) == {"first gains", "first warrior"}
    do(game, "first gains")
    assert "train yard-2" in offers(game)


@pytest.mark.rule("B-2.8", "B-4.7")
def test_a_worker_action_beside_a_resource_that_it_cannot_spend_is_not_ordered(table, load, offers):
    position = table()
    step = {"step": "parts", "seat": 0, "rule": "B-5.1"}
    position["pending"].append({**step, "effects": ["warrior", "1 food"]})
    game = load(position)
    assert goods(game) == {"food": 1}
    assert "take coral left" in offers(game)


# --- B-2.8: when no order is asked ----------------------------------------------------------------


@pytest.mark.rule("B-2.8")
@pytest.mark.parametrize(
    ("take", "place", "row", "gained"),
    [
        ("black", "steward-room-2", "bottom", {"coin": 3, "iron": 1, "food": 1}),  # and a Lantern
        ("coral", "steward-room-3", "middle", {"coin": 3 + 1 + 2, "seal": 1}),  # and the Well
        ("black", "diplomat-room-2", "first", {"coin": 2 + 2, "food": 1}),  # and a Lantern
    ],
)
def test_gains_beside_the_lantern_and_the_well_are_taken_at_once(
    table, load, do, *, take, place, row, gained
):
    game = load(table())
    do(game, f"take {take} right", f"place {place}", f"row {place} {row}")
    assert goods(game) == gained
    assert game.to_move == 1


@pytest.mark.rule("B-2.8")
def test_gains_come_first_then_seals_then_any(table, load, do, offers):
    position = table()
    swap_tiles(position, "11", "1")  # an any tile beside the coin tile
    game = load(position)
    do(game, "take coral right", "place well")
    assert goods(game) == {"coin": 6, "seal": 1}
    assert offers(game) == {"choose food", "choose iron", "choose pearl", EXCHANGE}


@pytest.mark.rule("B-2.8", "B-6.3")
def test_a_seal_that_would_be_lost_is_asked_about_before_an_any_is_chosen(table, load, do, offers):
    game = load(table(seal=5))
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 top")
    assert "go on" in offers(game)
    do(game, EXCHANGE)
    assert goods(game) == {"coin": 4, "seal": 5}
    assert "choose food" in offers(game)


@pytest.mark.rule("B-2.8", "B-6.2")
def test_influence_far_from_a_checkpoint_needs_no_order(table, load, do, offers):
    position = table()
    icons = ["start-resource-8", "start-action-1a", "decree-2"]
    position["clans"][0]["lantern"] = icons
    game = load(position)
    do(game, "take coral left", "place outside-left")
    assert goods(game) == {"coin": 1, "food": 1, "seal": 1, "influence": 1}
    assert "do courtier" in offers(game)


@pytest.mark.rule("B-2.8", "B-5.1")
def test_lantern_icons_that_are_plain_gains_are_taken_together(table, load, do):
    position = table()
    lantern = ["start-resource-8", "decree-1", "decree-3", "steward-02", "diplomat-02"]
    position["decks"]["steward"].remove("steward-02")
    position["decks"]["diplomat"].remove("diplomat-02")
    position["clans"][0]["lantern"] = lantern
    game = load(position)
    do(game, "take coral left", "place outside-left", "done")
    assert goods(game) == {"coin": 1 + 2, "food": 1, "vp": 2}


@pytest.mark.rule("B-2.8")
def test_a_single_icon_is_not_asked_about(table, load, do, offers):
    position = table()
    position["clans"][0]["lantern"] = ["start-action-1a"]
    game = load(position)
    do(game, "take coral left", "place outside-left")
    assert goods(game) == {"coin": 1, "influence": 1}
    assert "do courtier" in offers(game)


@pytest.mark.rule("B-2.8", "B-3.6")
def test_visible_rewards_that_are_plain_gains_are_taken_together(table, load, do, offers):
    position = table()
    position["clans"][0]["courtiers"] |= {"domain": 1, "gate": 4}
    game = load(position)
    do(game, "take coral right", "place domain-coral")
    assert goods(game) == {"food": 4, "coin": 2}
    assert offers(game) == {"done", "perform"}


@pytest.mark.rule("B-2.8")
def test_the_lantern_is_over_before_the_rows_of_the_room_are_asked(table, load, do, offers):
    position = table()
    position["clans"][0]["lantern"] = ["start-resource-8", "decree-2"]
    game = load(position)
    do(game, "take coral left", "place steward-room-1")
    assert "row steward-room-1 middle" in offers(game)  # the seal has come
