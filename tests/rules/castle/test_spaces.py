"""What each space accepts and gives (B-3)."""

import json

import pytest
from himeji import rules
from himeji.rules import Scripted, seeded
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import ROW_TILES, goods, lay_rooms, lay_tiles

CARDS = ["steward-10", "steward-12", "steward-05", "diplomat-05", "diplomat-10"]


@pytest.fixture
def table(first_turn):
    """Seat 0 at its turn of a game of two; every die shows a 6, the goods are those given.

    The rooms hold steward-10, -12, -05 and diplomat-05, -10 beside the tiles above.
    """

    def build(**goods):
        position = first_turn()
        for bridge in position["bridges"].values():
            bridge |= {"left": 6, "centre": [6], "right": 6}
        lay_tiles(position, ROW_TILES)
        lay_rooms(position, CARDS)
        position["clans"][0] |= {"lantern": ["start-resource-8"], **goods}  # food shines
        return position

    return build


def change_card(position, room, card):
    """Lay a card of the deck into a room; the one there goes to the deck."""
    deck = position["decks"][room.split("-")[0]]
    deck[deck.index(card)] = position["rooms"][room]
    position["rooms"][room] = card


# --- B-3.1 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-3.1")
@pytest.mark.parametrize(
    ("colour", "rooms"),
    [("coral", {1, 3}), ("black", {1, 2}), ("white", {2, 3})],
)
def test_a_steward_room_accepts_the_colours_of_its_three_tiles(
    table, load, do, offers, *, colour, rooms
):
    game = load(table())
    do(game, f"take {colour} right")
    accepted = {room for room in (1, 2, 3) if f"place steward-room-{room}" in offers(game)}
    assert accepted == rooms


@pytest.mark.rule("B-3.1")
def test_a_die_whose_colour_no_tile_of_the_room_shows_is_refused(table, load, do):
    game = load(table())
    do(game, "take white right")
    with pytest.raises(IllegalAction, match="no tile of that room is white") as refused:
        do(game, "place steward-room-1")
    assert refused.value.rule == "B-3.1"


@pytest.mark.rule("B-3.1")
def test_every_row_beside_a_tile_of_the_dies_colour_may_be_performed_and_no_other(
    table, load, do, offers
):
    game = load(table())
    do(game, "take white right", "place steward-room-3")
    assert offers(game) == {"done", "row steward-room-3 bottom"}  # the top row costs a seal
    game = load(table(seal=1))
    do(game, "take white right", "place steward-room-3")
    rows = {offer for offer in offers(game) if offer.startswith("row")}
    assert rows == {"row steward-room-3 top", "row steward-room-3 bottom"}
    with pytest.raises(IllegalAction) as refused:
        do(game, "row steward-room-3 middle")
    assert refused.value.rule == "B-3.1"


@pytest.mark.rule("B-3.1", "B-2.8")
@pytest.mark.parametrize("rows", [("top", "bottom"), ("bottom", "top")])
def test_matching_rows_are_performed_once_each_in_any_order(table, load, do, offers, rows):
    game = load(table(seal=2, iron=1))
    do(game, "take white right", "place steward-room-3")
    for row in rows:
        assert f"row steward-room-3 {row}" in offers(game)
        do(game, f"row steward-room-3 {row}", *(["done"] if row == "top" else []))
    assert game.to_move == 1
    assert goods(game) == {"seal": 1, "iron": 2, "food": 1, "coin": 3}


@pytest.mark.rule("B-3.1", "B-2.7")
def test_a_matching_row_may_be_left_after_another_was_performed(table, load, do):
    game = load(table(seal=1))
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 top")
    do(game, "choose iron", "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 3, "seal": 2, "iron": 1}


@pytest.mark.rule("B-3.1")
def test_the_room_is_of_the_colour_of_its_tiles_not_of_the_die_that_lies_there(
    first_turn, load, do
):
    position = first_turn(3)
    lay_tiles(position, ROW_TILES)
    position["bridges"]["coral"] |= {"left": 2, "centre": [2], "right": 2}
    position["bridges"]["black"] |= {"left": 6, "centre": [6, 6], "right": 6}
    position["bridges"]["white"] |= {"left": 6, "centre": [6, 6], "right": 6}
    position["spaces"]["steward-room-1"] = ["coral 2"]
    position["turn"] = 2
    stacked, refused = load(position), load(position)
    do(stacked, "take black right", "place steward-room-1")
    do(refused, "take white right")
    with pytest.raises(IllegalAction, match="no tile of that room is white"):
        do(refused, "place steward-room-1")


def climb_into_the_own_room(position, do, next_card="steward-15"):
    """A coral die on steward-10: its dark row lets a courtier climb into that very room."""
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    chance = Scripted([rules.ruleset("base").tables.numbers[next_card]], seeded(1))
    game = rules.from_json(position, chance=chance)
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 middle")
    do(game, "climb gate steward-room-1", "row 3 of the card taken", "done")
    return game


@pytest.mark.rule("B-3.1", "B-4.4")
def test_a_card_that_left_the_room_still_gives_its_remaining_matching_row(table, do, offers):
    game = climb_into_the_own_room(table(seal=2, pearl=2), do)
    position = json.loads(game.to_json())
    assert position["rooms"]["steward-room-1"] == "steward-15"
    assert position["clans"][0]["action_card"] == "steward-10"
    assert offers(game) == {"done", "row 1 of the card taken", "exchange 1 seal for 1 coin"}
    do(game, "row 1 of the card taken", "choose pearl")
    assert goods(game) == {"coin": 3, "seal": 2, "pearl": 1, "iron": 1, "food": 1}


@pytest.mark.rule("B-3.1", "B-4.4")
def test_the_new_card_of_the_room_gives_nothing_to_the_die_that_lies_there(table, do, offers):
    game = climb_into_the_own_room(table(seal=2, pearl=2), do)
    with pytest.raises(IllegalAction):
        do(game, "row steward-room-1 top")  # that names a row of the new card
    do(game, "row 1 of the card taken", "choose pearl")
    assert game.to_move == 1  # steward-15 would have given influence and pearl
    assert goods(game).get("influence", 0) == 0
    assert "take coral right" in offers(game)


@pytest.mark.rule("B-3.1", "B-2.7")
def test_the_remaining_row_of_a_card_that_left_may_be_left(table, do):
    game = climb_into_the_own_room(table(seal=2, pearl=2), do)
    do(game, "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 3, "seal": 1, "iron": 1, "food": 1}


@pytest.mark.rule("B-3.1", "B-4.4")
def test_a_dark_row_performed_last_leaves_nothing_to_the_new_card(table, load, do):
    position = table(seal=1, pearl=2)
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    position["clans"][0]["coin"] = 0
    game = load(position)
    do(game, "take coral right", "place steward-room-1", "row steward-room-1 top")
    do(game, "choose iron", "row steward-room-1 middle", "climb gate steward-room-1")
    do(game, "row 3 of the card taken", "done")  # the audience is left
    assert game.to_move == 1


@pytest.mark.rule("B-3.1", "B-4.7")
def test_the_remaining_row_is_kept_when_a_yard_tile_lets_the_courtier_take_the_card(
    table, load, do, offers
):
    position = table(seal=1, iron=5, pearl=2)
    position["yard_tiles"] |= {"yard-1 blue": "yard-tile-1", "yard-1 yellow": "yard-tile-8"}
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    game = load(position)
    do(game, "take white right", "place steward-room-3", "row steward-room-3 top", "train yard-1")
    do(game, "yard tile yard-1 blue", "climb gate steward-room-3", "row 2 of the card taken")
    do(game, "done", "done")  # neither an audience nor the yellow tile
    assert json.loads(game.to_json())["clans"][0]["action_card"] == "steward-05"
    assert offers(game) == {"done", "row 3 of the card taken"}


# --- B-3.2 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-3.2")
@pytest.mark.parametrize(
    ("colour", "room", "row"),
    [("coral", 1, "first"), ("white", 1, "second"), ("black", 2, "first"), ("coral", 2, "second")],
)
def test_the_upper_tile_of_a_diplomat_room_lights_the_first_row_the_lower_one_the_second(
    table, load, do, offers, *, colour, room, row
):
    game = load(table())
    do(game, f"take {colour} right", f"place diplomat-room-{room}")
    assert offers(game) == {"done", f"row diplomat-room-{room} {row}"}


@pytest.mark.rule("B-3.2")
def test_a_diplomat_room_refuses_a_colour_that_neither_tile_shows(table, load, do, offers):
    game = load(table())
    do(game, "take black right")
    assert "place diplomat-room-2" in offers(game)
    with pytest.raises(IllegalAction, match="no tile of that room is black"):
        do(game, "place diplomat-room-1")


@pytest.mark.rule("B-3.2", "B-3.1")
def test_a_diplomat_card_that_left_gives_no_row_of_the_new_card(table, load, do):
    position = table(pearl=5)
    change_card(position, "diplomat-room-1", "diplomat-02")
    position["clans"][0]["courtiers"] |= {"domain": 4, "gate": 1}
    game = load(position)
    do(game, "take coral right", "place diplomat-room-1", "row diplomat-room-1 first")
    do(game, "climb gate diplomat-room-1", "done")  # its only light row, then no audience
    assert game.to_move == 1
    assert json.loads(game.to_json())["clans"][0]["action_card"] == "diplomat-02"
    assert goods(game) == {"coin": 2, "influence": 2}


# --- B-3.3 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-3.3")
def test_a_light_row_is_a_gain_without_a_price(table, load, do):
    game = load(table())
    do(game, "take white right", "place steward-room-2", "row steward-room-2 middle")
    assert goods(game) == {"coin": 3, "seal": 1, "vp": 1}


@pytest.mark.rule("B-3.3")
def test_a_dark_row_of_a_steward_grants_its_worker_action_for_1_seal(table, load, do, offers):
    game = load(table(seal=1, iron=1))
    do(game, "take white right", "place steward-room-3", "row steward-room-3 top")
    assert goods(game) == {"coin": 3, "iron": 1}
    assert offers(game) == {"done", "train yard-3"}
    paid = [(event.b, event.rule) for event in game.events_since(0) if event.kind == "pay"]
    assert paid == [(1, "B-3.3")]


@pytest.mark.rule("B-3.3", "B-2.7")
def test_the_seal_of_a_dark_row_is_paid_even_if_the_worker_action_is_left(table, load, do):
    game = load(table(seal=1, iron=1))
    do(game, "take white right", "place steward-room-3", "row steward-room-3 top", "done", "done")
    assert game.to_move == 1
    assert goods(game) == {"coin": 3, "iron": 1}


@pytest.mark.rule("B-3.3")
def test_a_dark_row_of_a_steward_is_refused_without_a_seal(table, load, do):
    game = load(table())
    do(game, "take white right", "place steward-room-3")
    with pytest.raises(IllegalAction, match="it costs 1 seal, seat 0 has 0") as refused:
        do(game, "row steward-room-3 top")
    assert refused.value.rule == "B-3.3"


@pytest.mark.rule("B-3.3")
def test_a_seal_gained_by_one_row_pays_for_the_dark_row(table, load, do, offers):
    game = load(table())
    do(game, "take coral right", "place steward-room-1")
    assert "row steward-room-1 middle" not in offers(game)
    do(game, "row steward-room-1 top", "choose iron")
    assert "row steward-room-1 middle" in offers(game)


@pytest.mark.rule("B-3.3")
def test_a_dark_row_of_a_diplomat_is_free(table, load, do, offers):
    game = load(table(iron=1))
    do(game, "take coral right", "place diplomat-room-1", "row diplomat-room-1 first")
    assert offers(game) == {"done", "train yard-3"}
    assert not [event for event in game.events_since(0) if event.kind == "pay"]


@pytest.mark.rule("B-3.3")
@pytest.mark.parametrize(
    ("card", "worker_offer"),
    [("diplomat-02", "audience"), ("diplomat-06", "train yard-3"), ("diplomat-11", "garden")],
)
def test_a_dark_row_grants_the_worker_action_that_it_shows(
    table, load, do, offers, *, card, worker_offer
):
    position = table(coin=2, iron=1, food=7)
    room, colour, row = (
        ("1", "coral", "first") if card != "diplomat-11" else ("2", "coral", "second")
    )
    change_card(position, f"diplomat-room-{room}", card)
    game = load(position)
    do(
        game,
        f"take {colour} right",
        f"place diplomat-room-{room}",
        f"row diplomat-room-{room} {row}",
    )
    assert {offer[: len(worker_offer)] for offer in offers(game)} == {"done", worker_offer}


# --- B-3.4 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-3.4")
@pytest.mark.parametrize("colour", ["coral", "black", "white"])
@pytest.mark.parametrize(("side", "worker"), [("left", "gardener"), ("right", "warrior")])
def test_outside_the_walls_offers_a_courtier_or_the_worker_of_its_side_to_any_colour(
    table, load, do, offers, *, colour, side, worker
):
    game = load(table())
    do(game, f"take {colour} right", f"place outside-{side}")
    assert offers(game) == {"done", "do courtier", f"do {worker}"}


@pytest.mark.rule("B-3.4")
@pytest.mark.parametrize(("side", "worker"), [("left", "warrior"), ("right", "gardener")])
def test_outside_the_walls_refuses_the_worker_of_the_other_side(table, load, do, side, worker):
    game = load(table(food=7, iron=7))
    do(game, "take coral right", f"place outside-{side}")
    with pytest.raises(IllegalAction) as refused:
        do(game, f"do {worker}")
    assert refused.value.rule == "B-3.4"


@pytest.mark.rule("B-3.4")
def test_outside_the_walls_grants_one_worker_action(table, load, do):
    game = load(table(coin=9, iron=1))
    do(game, "take coral right", "place outside-right", "do courtier", "audience")
    assert game.to_move == 1  # no pearl to climb, and no warrior after the courtier
    game = load(table(coin=9, iron=1))
    do(game, "take coral right", "place outside-right", "do warrior", "done")
    assert game.to_move == 1


# --- B-3.5 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-3.5")
@pytest.mark.parametrize("colour", ["coral", "black", "white"])
def test_the_well_gives_1_seal_and_the_rewards_of_both_tiles_to_any_colour(table, load, do, colour):
    position = table()
    position["tiles"] |= {"11": "die-tile-black-iron", "2": "die-tile-black-coin"}
    game = load(position)
    do(game, f"take {colour} right", "place well")
    assert goods(game) == {"coin": 5 + 1, "seal": 1, "iron": 1}
    assert game.to_move == 1


@pytest.mark.rule("B-3.5")
def test_two_equal_tiles_of_the_well_give_both_rewards(table, load, do):
    position = table()
    position["tiles"] |= {"11": "die-tile-black-any", "8": "die-tile-black-coin"}
    position["tiles"] |= {"12": "die-tile-white-any", "6": "die-tile-white-coin"}
    game = load(position)
    do(game, "take coral right", "place well", "choose food", "choose iron")
    assert goods(game) == {"coin": 5, "seal": 1, "food": 1, "iron": 1}


@pytest.mark.rule("B-3.5")
def test_the_gains_of_the_well_cite_it(table, load, do):
    game = load(table())
    do(game, "take coral right", "place well")
    gains = [event.rule for event in game.events_since(0) if event.kind == "gain"]
    assert gains == ["B-2.5", "B-3.5", "B-3.5", "B-3.5"]


# --- B-3.6 --------------------------------------------------------------------------------------

COLOURS = ["coral", "black", "white"]


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize("colour", COLOURS)
def test_a_die_goes_only_on_the_domain_row_of_its_colour(table, load, do, offers, colour):
    game = load(table(seal=1))
    do(game, f"take {colour} right")
    assert {offer for offer in offers(game) if "domain" in offer} == {f"place domain-{colour}"}
    other = COLOURS[COLOURS.index(colour) - 1]
    with pytest.raises(IllegalAction, match=f"a {colour} die goes on the {colour} row") as refused:
        do(game, f"place domain-{other}")
    assert refused.value.rule == "B-3.6"


@pytest.mark.rule("B-3.6")
def test_each_domain_row_holds_a_die_of_its_own(table, load, do):
    position = table()
    position["bridges"]["coral"]["centre"] = []
    position["bridges"]["white"]["centre"] = []
    position["turn"] = 3
    position["clans"][0]["dice"] |= {"coral": 1, "white": 6}
    game = load(position)
    do(game, "take black right", "place domain-black")
    assert json.loads(game.to_json())["clans"][0]["dice"] == {"coral": 1, "black": 6, "white": 6}


@pytest.mark.rule("B-3.6", "B-7.2")
def test_in_the_next_round_the_domain_rows_are_free_again(first_turn, do, offers):
    position = first_turn()
    position["bridges"] = {
        "coral": {"left": None, "centre": [], "right": 6},
        "black": {"left": 2, "centre": [], "right": 6},
        "white": {"left": None, "centre": [], "right": 6},
    }
    position["spaces"]["well"] = ["coral 1", "black 1", "white 1", "white 1"]
    position["clans"][0]["dice"]["coral"] = 6
    position |= {"turn": 6, "pending": [{"step": "take-die", "seat": 1}]}
    game = rules.from_json(position, chance=Scripted([6] * 9))
    do(game, "take black right", "place well", "take coral right")
    assert game.to_move == 0
    assert "place domain-coral" in offers(game)


VISIBLE = {
    "coral": [
        {"food": 1},
        {"food": 2},
        {"food": 3},
        {"food": 3, "coin": 2},
        {"food": 4, "coin": 2},
        {"food": 4, "coin": 2, "seal": 1},
    ],
    "black": [  # the Lantern Area gives 1 food
        {"iron": 1},
        {"iron": 2},
        {"iron": 3},
        {"iron": 3, "food": 1},
        {"iron": 4, "food": 1},
        {"iron": 4, "food": 1, "coin": 2},
    ],
    "white": [
        {"pearl": 1},
        {"pearl": 2},
        {"pearl": 3},
        {"pearl": 3, "seal": 1},
        {"pearl": 4, "seal": 1},
        {"pearl": 4, "seal": 1, "food": 1},
    ],
}


def send(clan, colour, gone):
    """Let members of the row of that colour leave the domain, by one way or another."""
    if colour == "coral":
        places = ["gate", "gate", "steward-room-2", "diplomat-room-1", "daimyo"][:gone]
        clan["courtiers"]["domain"] = 5 - gone
        for place in places:
            clan["courtiers"][place] += 1
    elif colour == "black":
        gardens = ["coral plant", "coral stone", "black plant", "white plant", "white stone"]
        clan["gardeners"] = gardens[:gone]
    else:
        clan["warriors"] = {"yard-1": gone // 2, "yard-2": 0, "yard-3": gone - gone // 2}


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("gone", range(6))
def test_the_first_cell_and_one_more_for_each_member_gone_are_visible(
    table, load, do, offers, *, colour, gone
):
    position = table()
    send(position["clans"][0], colour, gone)
    game = load(position)
    do(game, f"take {colour} right", f"place domain-{colour}")
    while "perform" not in offers(game):
        game.apply(game.legal()[-1])
    assert goods(game) == VISIBLE[colour][gone]


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize("colour", COLOURS)
def test_members_of_the_other_rows_uncover_nothing(table, load, do, colour):
    position = table()
    for other in COLOURS:
        if other != colour:
            send(position["clans"][0], other, 5)
    game = load(position)
    do(game, f"take {colour} right", f"place domain-{colour}")
    assert goods(game) == VISIBLE[colour][0]


@pytest.mark.rule("B-3.6", "B-2.7")
def test_the_visible_rewards_come_first_then_the_action_card_may_be_used(table, load, do, offers):
    game = load(table())
    do(game, "take coral right", "place domain-coral")
    assert goods(game) == {"food": 1}
    assert offers(game) == {"done", "perform"}
    do(game, "done")
    assert game.to_move == 1


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(
    ("card", "offer"), [("1a", "audience"), ("2b", "train yard-3"), ("3a", "garden coral stone")]
)
def test_a_starting_action_card_serves_all_three_rows(
    table, load, do, offers, *, colour, card, offer
):
    position = table(food=6, iron=6, coin=6)
    position["clans"][0]["action_card"] = f"start-action-{card}"
    position["clans"][1]["action_card"] = "start-action-2a"
    game = load(position)
    do(game, f"take {colour} right", f"place domain-{colour}", "perform")
    assert offer in offers(game)


@pytest.fixture
def domain_card(table, load, do):
    """The game after the die of a colour was placed on the domain whose action card is given."""

    def play(card, colour, **held):
        position = table(**held)
        for deck in position["decks"].values():
            if card in deck:
                deck.remove(card)
        position["clans"][0]["action_card"] = card
        game = load(position)
        do(game, f"take {colour} right", f"place domain-{colour}")
        return game

    return play


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize(
    ("colour", "gained"),
    [
        ("coral", {"food": 1, "iron": 2}),  # top of steward-13
        ("black", {"iron": 1, "food": 1}),  # middle: Lantern
    ],
)
def test_coral_uses_the_top_row_of_a_steward_card_and_black_the_middle_one(
    domain_card, do, colour, gained
):
    game = domain_card("steward-13", colour)
    do(game, "perform")
    assert goods(game) == gained


@pytest.mark.rule("B-3.6", "B-3.3")
def test_white_uses_the_bottom_row_and_a_dark_one_still_costs_its_seal(domain_card, do, offers):
    game = domain_card("steward-13", "white", seal=1, food=3)
    do(game, "perform")
    assert goods(game) == {"pearl": 1, "food": 3}
    assert "garden white stone" in offers(game)


@pytest.mark.rule("B-3.6", "B-3.3")
def test_a_dark_row_of_a_steward_in_the_domain_is_not_offered_without_a_seal(domain_card):
    assert domain_card("steward-13", "white", food=3).to_move == 1


@pytest.mark.rule("B-3.6")
@pytest.mark.parametrize(
    ("card", "colour", "wide"),
    [
        ("diplomat-02", "coral", False),
        ("diplomat-02", "black", True),
        ("diplomat-02", "white", True),
        ("diplomat-11", "coral", True),
        ("diplomat-11", "black", True),
        ("diplomat-11", "white", False),
    ],
)
def test_a_wide_row_of_a_diplomat_card_serves_both_lines_it_covers(
    domain_card, do, card, colour, wide
):
    game = domain_card(card, colour, coin=2, food=6)
    do(game, "perform")
    influence = {"diplomat-02": 2, "diplomat-11": 1}[card] if wide else 0
    assert goods(game).get("influence", 0) == influence
    assert game.to_move == int(wide)  # the narrow row is a worker action, which asks


@pytest.mark.rule("B-3.6")
def test_visible_rewards_pay_for_the_row_of_the_action_card(table, load, do, offers):
    position = table(food=3)
    position["decks"]["steward"].remove("steward-13")
    position["clans"][0]["action_card"] = "steward-13"
    send(position["clans"][0], "white", 3)
    game = load(position)
    do(game, "take white right", "place domain-white")
    assert "perform" in offers(game)


@pytest.mark.rule("B-3.6")
def test_the_gains_of_a_domain_row_cite_it(table, load, do):
    game = load(table())
    do(game, "take coral right", "place domain-coral")
    gains = [event.rule for event in game.events_since(0) if event.kind == "gain"]
    assert gains == ["B-3.6"]
