"""What every position satisfies, and how one that does not is refused (section 8)."""

import json
import random
from collections import Counter

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError, ImpossiblePosition, InvalidRequest

COLOURS = ("coral", "black", "white")
GARDENS = [f"{colour} {kind}" for colour in COLOURS for kind in ("plant", "stone")]
SEEDS = (1, 2, 3)
TABLES = rules.ruleset("base").tables
ROOMS = (*(f"steward-room-{n}" for n in (1, 2, 3)), *(f"diplomat-room-{n}" for n in (1, 2)))


def random_play(seats, seed):
    """Every position of a game of random answers, the game object standing in it.

    Nine times of ten nothing is exchanged or declined, so that play goes deep.
    """
    game = rules.new_game("base", seats, seed=seed)
    answers = random.Random(seed)
    last_refusal = rules.action_id("base", "done")  # ids up to it exchange or decline
    while not game.over:
        yield game
        busy = [action for action in game.legal() if action > last_refusal]
        game.apply(answers.choice(busy if busy and answers.random() < 0.9 else game.legal()))
    yield game


def positions(seats):
    for seed in SEEDS:
        for game in random_play(seats, seed):
            yield json.loads(game.to_json())


def refusals(position):
    """The reasons for which a position is refused."""
    with pytest.raises(ImpossiblePosition) as caught:
        rules.from_json(position, seed=1)
    assert caught.value.reasons
    return caught.value.reasons


def refused(position, *words):
    """Exactly one reason is found, and it has these words."""
    (reason,) = refusals(position)
    for word in words:
        assert word in reason


# --- positions that play reaches --------------------------------------------------------------


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_position_that_random_play_reaches_is_accepted_and_stays_the_same(seats):
    seen = 0
    for seed in SEEDS:
        for game in random_play(seats, seed):
            text = game.to_json()
            again = rules.from_json(text, seed=1)
            assert again.to_json() == text
            assert again.legal() == game.legal()
            assert again.to_move == game.to_move
            seen += 1
    assert seen > 100


@pytest.mark.rule("B-8", "B-1.1")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_dice_on_bridges_on_spaces_and_in_hand_are_always_all_dice(seats):
    for position in positions(seats):
        dice = Counter()
        for colour, bridge in position["bridges"].items():
            ends = [bridge["left"], bridge["right"]]
            dice[colour] += sum(end is not None for end in ends) + len(bridge["centre"])
        laid = [die for stack in position["spaces"].values() for die in stack]
        laid += [position["hand"]["die"]] if position["hand"] else []
        dice.update(die.split()[0] for die in laid)
        for clan in position["clans"]:
            dice.update(colour for colour, die in clan["dice"].items() if die)
        assert dice == dict.fromkeys(COLOURS, seats + 1)


@pytest.mark.rule("B-8", "B-1.8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_members_per_kind_and_seat_always_sum_to_five(seats):
    for position in positions(seats):
        for clan in position["clans"]:
            assert sum(clan["courtiers"].values()) == 5
            assert len(set(clan["gardeners"])) == len(clan["gardeners"]) <= 5
            assert sum(clan["warriors"].values()) <= 5


def laid_out(position):
    """Every card and tile that lies somewhere."""
    for table in ("tiles", "rooms", "gardens", "yard_tiles"):
        yield from position[table].values()
    for deck in position["decks"].values():
        yield from deck
    yield position["daimyo"]["card"]
    for pair in position["pairs"]:
        yield from (pair or {}).values()
    for clan in position["clans"]:
        yield clan["action_card"]
        yield from clan["lantern"]


@pytest.mark.rule("B-8", "B-1.2")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_card_and_tile_is_always_in_exactly_one_place(seats):
    castle_cards = 9 + 9 if seats == 2 else 15 + 12
    for position in positions(seats):
        cards = Counter(card for card in laid_out(position) if card)
        assert set(cards.values()) == {1}
        assert sum(card.startswith(("steward-", "diplomat-")) for card in cards) == castle_cards
        assert sum(card.startswith("die-tile-") for card in cards) == 15


@pytest.mark.rule("B-8", "B-6.1")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_goods_always_stay_between_nothing_and_their_cap(seats):
    for position in positions(seats):
        for clan in position["clans"]:
            assert all(0 <= clan[resource] <= 7 for resource in ("food", "iron", "pearl"))
            assert 0 <= clan["seal"] <= 5
            assert clan["coin"] >= 0
            assert 0 <= clan["influence"] <= 20


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_points_in_play_never_fall(seats):
    for seed in SEEDS:
        before = [0] * seats
        for game in random_play(seats, seed):
            held = [clan["vp"] for clan in json.loads(game.to_json())["clans"]]
            assert all(new >= old for new, old in zip(held, before, strict=True))
            before = held


@pytest.mark.rule("B-8", "B-2.1")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_finished_game_has_had_exactly_nine_turns_per_seat(seats):
    for seed in SEEDS:
        *_, game = random_play(seats, seed)
        turns = Counter(event.seat for event in game.events_since(0) if event.kind == "die-taken")
        assert turns == dict.fromkeys(range(seats), 9)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_game_has_a_legal_action_until_it_is_over_and_none_afterwards(seats):
    for seed in SEEDS:
        for game in random_play(seats, seed):
            assert bool(game.legal()) is not game.over


# --- dice -------------------------------------------------------------------------------------


@pytest.mark.rule("B-8", "B-1.1")
def test_a_position_with_a_die_too_few_is_refused(first_turn):
    position = first_turn()
    position["bridges"]["coral"]["centre"] = []
    reasons = refusals(position)
    assert any("coral dice" in reason for reason in reasons)


@pytest.mark.rule("B-8", "B-1.1")
def test_a_position_with_a_die_too_many_is_refused(first_turn):
    position = first_turn()
    position["spaces"]["well"] = ["black 2"]
    refused(position, "black dice", "3 on the bridge", "1 elsewhere", "B-1.1")


@pytest.mark.rule("B-8", "B-2.3")
def test_a_die_in_hand_that_nobody_has_to_place_is_refused(first_turn):
    position = first_turn()
    position["bridges"]["coral"] = {"left": 3, "centre": [], "right": 5}
    position["hand"] = {"die": "coral 3", "side": "left"}
    reasons = refusals(position)
    assert any("hand" in reason for reason in reasons)


@pytest.mark.rule("B-8", "B-2.3")
def test_a_die_to_be_placed_that_is_not_in_hand_is_refused(first_turn):
    position = first_turn()
    position["bridges"]["coral"] = {"left": 3, "centre": [], "right": 5}
    position["spaces"]["well"] = ["coral 3"]
    position["pending"] = [{"step": "place-die", "seat": 0}]
    refused(position, "hand", "B-2.3")


@pytest.mark.rule("B-8", "B-2.4")
def test_a_bridge_with_centre_dice_and_an_empty_end_is_refused(first_turn):
    position = first_turn()
    position["bridges"]["coral"] = {"left": None, "centre": [3, 3], "right": 5}
    refused(position, "bridges.coral", "B-2.4")


@pytest.mark.rule("B-8", "B-2.2")
@pytest.mark.parametrize(
    "dice", [{"left": 6, "centre": [3], "right": 6}, {"left": 1, "centre": [5], "right": 4}]
)
def test_a_bridge_that_does_not_ascend_is_refused(first_turn, dice):
    position = first_turn()
    position["bridges"]["white"] = dice
    refused(position, "bridges.white", "B-2.2")


@pytest.mark.rule("B-8", "B-2.6")
@pytest.mark.parametrize(("seats", "dice"), [(2, 2), (3, 3), (4, 3)])
def test_more_dice_than_fit_on_a_space_are_refused(first_turn, seats, dice):
    position = stacked(first_turn(seats), seats, dice, "steward-room-1")
    refused(position, "spaces.steward-room-1", f"{dice} dice", "B-2.6")


@pytest.mark.rule("B-2.6", "M-5.2", "S-1")
@pytest.mark.parametrize(
    ("ruleset", "seats", "space", "fit"),
    [
        *(("matcha", 2, "tea-fields-left", 1), ("matcha", 3, "outskirts-lower", 2)),
        *(("solo", 1, "outside-right", 1), ("matcha-solo", 1, "tea-fields-right", 1)),
    ],
)
def test_no_more_dice_fit_on_the_spaces_of_other_rulesets(first_turn, ruleset, seats, space, fit):
    options = {"difficulty": "easy"} if "solo" in ruleset else {}
    position = first_turn(seats, 1, ruleset, **options)
    stacked(position, max(seats, 2), fit + 1, space)
    position["pending"] = [{"step": "take-die", "seat": 0}]
    refused(position, f"spaces.{space}: {fit + 1} dice, {fit} fit (B-2.6)")


@pytest.mark.rule("B-8", "B-2.6")
@pytest.mark.parametrize(("seats", "dice", "space"), [(2, 2, "well"), (4, 4, "well")])
def test_the_well_holds_any_number_of_dice(first_turn, load, seats, dice, space):
    game = load(stacked(first_turn(seats), seats, dice, space))
    assert len(json.loads(game.to_json())["spaces"]["well"]) == dice


@pytest.mark.rule("B-8", "B-2.6")
def test_two_dice_on_a_space_are_accepted_from_three_seats_on(first_turn, load):
    game = load(stacked(first_turn(3), 3, 2, "steward-room-1"))
    assert json.loads(game.to_json())["spaces"]["steward-room-1"] == ["coral 3", "coral 3"]


def stacked(position, seats, dice, space):
    """So many coral dice lie on one space, and the next turn is open."""
    left = [1] * (seats + 1 - dice)
    position["bridges"]["coral"] = {
        "left": left.pop(0) if left else None,
        "right": left.pop() if left else None,
        "centre": left,
    }
    position["spaces"][space] = ["coral 3"] * dice
    position["turn"] = dice + 1
    position["pending"] = [{"step": "take-die", "seat": dice % seats}]
    return position


def tiles_of(position, room, colour):
    """Lay the tiles so that only those of one colour lie beside a room."""
    tiles = position["tiles"]
    fitting = [slot for slot, tile in tiles.items() if f"-{colour}-" in tile]
    free = [slot for slot in fitting if slot not in ROOM_TILES[room]]
    for slot in ROOM_TILES[room]:
        if slot not in fitting:
            other = free.pop()
            tiles[slot], tiles[other] = tiles[other], tiles[slot]
    return position


def lay(position, die, space):
    """One die of the first bridge of its colour lies on a space; the next turn is open."""
    colour = die.split()[0]
    position["bridges"][colour]["centre"].pop()
    position["spaces"][space] = [die]
    position["turn"] = 2
    position["pending"] = [{"step": "take-die", "seat": 0}]
    return position


ROOM_TILES = {
    room: [
        slot for slot, home in zip(TABLES.slot_names, TABLES.slot_room, strict=True) if home == n
    ]
    for n, room in enumerate(ROOMS)
}


@pytest.mark.rule("M-4.3", "B-3.1", "B-3.2")
@pytest.mark.parametrize("table", [("matcha", 2, {}), ("matcha-solo", 1, {"difficulty": "easy"})])
@pytest.mark.parametrize("room", ROOMS)
def test_a_green_die_in_a_room_of_the_castle_is_refused(first_turn, table, room):
    ruleset, seats, options = table
    position = lay(first_turn(seats, 1, ruleset, **options), "green 4", room)
    rule = "B-3.2" if "diplomat" in room else "B-3.1"
    refused(position, f"spaces.{room}", "a green die", "no tile of that room is green", rule)


@pytest.mark.rule("M-4.3")
@pytest.mark.parametrize(
    "space", ["well", "outside-left", "tea-fields-right", "outskirts-upper", "outskirts-lower"]
)
def test_a_green_die_lies_where_green_dice_go(first_turn, load, space):
    position = lay(first_turn(2, 1, "matcha"), "green 4", space)
    assert json.loads(load(position).to_json())["spaces"][space] == ["green 4"]


@pytest.mark.rule("B-3.1", "B-3.2")
@pytest.mark.parametrize("ruleset", ["base", "matcha"])
@pytest.mark.parametrize("room", ["steward-room-2", "diplomat-room-1"])
def test_a_die_in_a_room_without_a_tile_of_its_colour_is_refused(first_turn, load, ruleset, room):
    position = tiles_of(lay(first_turn(2, 1, ruleset), "coral 4", room), room, "black")
    refused(position, f"spaces.{room}", "a coral die", "no tile of that room is coral")
    load(tiles_of(position, room, "coral"))


@pytest.mark.rule("S-2", "S-4")
def test_the_rival_lays_a_die_where_its_card_shows_whatever_the_tiles(solitaire, load):
    position = tiles_of(solitaire(), "steward-room-1", "black")
    shown, other = lay(position, "coral 4", "steward-room-1"), "diplomat-room-2"
    assert load(shown)  # solitaire-1 takes a coral die there
    shown["spaces"] |= {"steward-room-1": [], other: ["coral 4"]}
    refused(tiles_of(shown, other, "white"), f"spaces.{other}", "no tile of that room is coral")


@pytest.mark.rule("B-8", "B-2.1")
def test_a_turn_number_that_does_not_fit_the_dice_is_refused(first_turn):
    position = first_turn()
    position["turn"] = 3
    refused(position, "bridges", "B-2.1")


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("die", ["coral 0", "coral 7", "green 3", "coral", "3", 3, None])
def test_something_that_is_no_die_is_refused(first_turn, die):
    position = first_turn()
    position["spaces"]["well"] = [die]
    assert any("spaces.well" in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("value", [7, -1, "3", 2.5])
def test_a_bridge_with_something_that_is_no_value_of_a_die_is_refused(first_turn, value):
    position = first_turn()
    position["bridges"]["black"]["right"] = value
    assert any("bridges.black.right" in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("value", [7, 0, "3", 3.0, True])
def test_the_centre_of_a_bridge_holds_values_of_dice(first_turn, value):
    position = first_turn()
    position["bridges"]["black"]["centre"] = [value]
    assert any("bridges.black.centre" in reason for reason in refusals(position))


# --- members ----------------------------------------------------------------------------------


@pytest.mark.rule("B-8", "B-1.8")
@pytest.mark.parametrize(("domain", "gate"), [(5, 1), (4, 0), (0, 6)])
def test_a_clan_without_exactly_five_courtiers_is_refused(first_turn, domain, gate):
    position = first_turn()
    position["clans"][1]["courtiers"] |= {"domain": domain, "gate": gate}
    refused(position, "clans[1].courtiers", str(domain + gate), "B-1.8")


@pytest.mark.rule("B-8", "B-1.8")
def test_six_gardeners_are_refused(first_turn):
    position = first_turn()
    position["clans"][0]["gardeners"] = GARDENS
    refused(position, "clans[0].gardeners", "6", "B-1.8")


@pytest.mark.rule("B-8", "B-4.6")
def test_two_gardeners_of_a_clan_in_one_garden_are_refused(first_turn):
    position = first_turn()
    position["clans"][0]["gardeners"] = ["coral plant", "coral plant"]
    refused(position, "clans[0].gardeners", "coral plant", "B-4.6")


@pytest.mark.rule("B-8")
def test_a_gardener_in_a_garden_that_does_not_exist_is_refused(first_turn):
    position = first_turn()
    position["clans"][0]["gardeners"] = ["green plant"]
    refused(position, "clans[0].gardeners", "green plant")


@pytest.mark.rule("B-8", "B-1.8")
def test_six_warriors_are_refused(first_turn):
    position = first_turn()
    position["clans"][0]["warriors"] = {"yard-1": 2, "yard-2": 2, "yard-3": 2}
    refused(position, "clans[0].warriors", "6", "B-1.8")


@pytest.mark.rule("B-8")
def test_a_negative_number_of_members_is_refused(first_turn):
    position = first_turn()
    position["clans"][0]["courtiers"] |= {"gate": -1, "domain": 6}
    refused(position, "clans[0].courtiers.gate", "-1")


@pytest.mark.rule("B-8", "B-4.5")
def test_a_daimyo_slot_of_a_clan_that_is_not_on_the_floor_is_refused(first_turn):
    position = first_turn()
    position["daimyo"]["slots"] = [None, 1, None]
    refused(position, "daimyo.slots", "seat 1", "B-4.5")


@pytest.mark.rule("B-8", "B-4.5")
@pytest.mark.parametrize(
    "slots",
    [[], [None, None], [2, None, None], ["0", None, None], [0.0, None, None], [False, None, None]],
)
def test_daimyo_slots_that_are_not_three_seats_or_nulls_are_refused(first_turn, slots):
    position = first_turn()
    position["daimyo"]["slots"] = slots
    refused(position, "daimyo.slots")


# --- cards and tiles --------------------------------------------------------------------------


@pytest.mark.rule("B-8")
def test_a_card_in_a_room_and_in_its_deck_is_refused(first_turn):
    position = first_turn()
    card = position["rooms"]["steward-room-1"]
    position["decks"]["steward"].append(card)
    refused(position, card, "rooms.steward-room-1", "decks.steward", "B-8")


@pytest.mark.rule("B-8")
def test_a_card_in_two_rooms_is_refused(first_turn):
    position = first_turn()
    lost = position["rooms"]["steward-room-1"]
    position["rooms"]["steward-room-1"] = position["rooms"]["steward-room-2"]
    reasons = refusals(position)
    assert any("two places" in reason for reason in reasons)
    assert any(f"{lost} is nowhere" in reason for reason in reasons)


@pytest.mark.rule("B-8")
def test_one_action_card_in_two_domains_is_refused(first_turn):
    position = first_turn()
    card = position["clans"][0]["action_card"]
    position["clans"][1]["action_card"] = card
    refused(position, card, "clans[0].action_card", "clans[1].action_card")


@pytest.mark.rule("B-8")
def test_a_castle_card_that_is_nowhere_is_refused(first_turn):
    position = first_turn()
    card = position["decks"]["diplomat"].pop()
    refused(position, f"{card} is nowhere", "B-8")


@pytest.mark.rule("B-8", "B-1.2")
@pytest.mark.parametrize(("deck", "card"), [("steward", "steward-01"), ("diplomat", "diplomat-12")])
def test_a_diamond_card_in_a_game_of_two_is_refused(first_turn, deck, card):
    position = first_turn()
    position["decks"][deck].append(card)
    refused(position, card, "B-1.2")


@pytest.mark.rule("B-8", "B-1.2")
def test_a_diplomat_in_a_steward_room_is_refused(first_turn):
    position = first_turn()
    rooms = position["rooms"]
    one, other = rooms["steward-room-1"], rooms["diplomat-room-1"]
    rooms |= {"steward-room-1": other, "diplomat-room-1": one}
    reasons = refusals(position)
    assert any("rooms.steward-room-1" in reason and other in reason for reason in reasons)
    assert any("rooms.diplomat-room-1" in reason and one in reason for reason in reasons)


@pytest.mark.rule("B-8", "B-4.4")
def test_a_room_without_a_card_is_refused_unless_a_card_is_to_come(first_turn):
    position = first_turn()
    position["decks"]["steward"].append(position["rooms"]["steward-room-1"])
    position["rooms"]["steward-room-1"] = None
    refused(position, "rooms.steward-room-1")


@pytest.mark.rule("B-8", "B-1.4")
def test_a_die_tile_in_two_places_is_refused(first_turn):
    position = first_turn()
    position["tiles"]["11"] = position["tiles"]["12"]
    refused(position, position["tiles"]["12"], "two places")


@pytest.mark.rule("B-8", "B-1.4")
def test_a_space_without_its_die_tile_is_refused(first_turn):
    position = first_turn()
    position["tiles"]["7"] = None
    refused(position, "tiles.7")


@pytest.mark.rule("B-8", "B-1.5")
def test_a_stone_garden_in_the_place_of_a_plant_garden_is_refused(first_turn):
    position = first_turn()
    position["gardens"]["coral plant"] = "garden-stone-8"
    refused(position, "gardens.coral plant", "garden-stone-8", "B-1.5")


@pytest.mark.rule("B-8", "B-1.5")
def test_one_garden_under_two_bridges_is_refused(first_turn):
    position = first_turn()
    position["gardens"]["coral stone"] = position["gardens"]["white stone"]
    refused(position, position["gardens"]["white stone"], "two places")


@pytest.mark.rule("B-8", "B-1.5")
def test_one_yard_tile_in_two_yards_is_refused(first_turn):
    position = first_turn()
    position["yard_tiles"]["yard-2 blue"] = position["yard_tiles"]["yard-3 yellow"]
    refused(position, position["yard_tiles"]["yard-3 yellow"], "two places")


@pytest.mark.rule("B-8", "B-1.3")
def test_a_position_without_a_daimyo_card_is_refused(first_turn):
    position = first_turn()
    position["daimyo"]["card"] = None
    refused(position, "daimyo.card", "B-1.3")


@pytest.mark.rule("B-8", "B-1.7")
def test_a_clan_without_an_action_card_after_the_set_up_is_refused(first_turn):
    position = first_turn()
    position["clans"][1]["action_card"] = None
    assert any("clans[1].action_card" in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    ("table", "key", "card"),
    [
        ("tiles", "3", "steward-02"),
        ("rooms", "steward-room-2", "garden-plant-1"),
        ("gardens", "black plant", "yard-tile-1"),
        ("yard_tiles", "yard-2 blue", "die-tile-coral-food"),
        ("daimyo", "card", "diplomat-03"),
        ("rooms", "diplomat-room-1", "no-such-card"),
    ],
)
def test_a_component_of_another_kind_or_of_none_is_refused(first_turn, table, key, card):
    position = first_turn()
    position[table][key] = card
    assert any(f"{table}.{key}" in reason and card in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("decks", "steward"), "steward"),
        (("clans", 0, "lantern"), "start-action or steward"),
        (("tea", "lilies"), "lily"),
        (("solitaire", "under"), "solitaire"),
    ],
)
def test_null_is_no_card_of_a_deck_or_lantern_area(first_turn, path, kind):
    position = first_turn(1, 1, "matcha-solo", difficulty="easy")
    *way, key = path
    cards = position
    for each in way:
        cards = cards[each]
    cards[key] = [*cards[key][1:], None]
    assert any(f"{key}: null is not a {kind}" in reason for reason in refusals(position))


# --- goods ------------------------------------------------------------------------------------


@pytest.mark.rule("B-8", "B-6.1")
@pytest.mark.parametrize(
    ("good", "amount"),
    [
        *(("food", 8), ("iron", 8), ("pearl", 8), ("seal", 6)),
        *(("food", -1), ("iron", -1), ("pearl", -1), ("seal", -1)),
        *(("coin", -1), ("vp", -1), ("influence", -1)),
        *(("coin", (1 << 20) + 1), ("vp", 1 << 30)),
        *(("coin", 1.5), ("coin", "3"), ("coin", True), ("food", [1])),
    ],
)
def test_an_amount_out_of_its_range_is_refused(first_turn, good, amount):
    position = first_turn()
    position["clans"][1][good] = amount
    refused(position, f"clans[1].{good}", repr(amount))


# --- time -------------------------------------------------------------------------------------


@pytest.mark.rule("B-8", "B-2.1")
@pytest.mark.parametrize("number", [0, 4, -1])
def test_a_round_that_does_not_exist_is_refused(first_turn, number):
    position = first_turn()
    position["round"] = number
    refused(position, "round")


@pytest.mark.rule("B-8", "B-2.1")
def test_a_seventh_turn_of_two_seats_is_refused(first_turn):
    position = first_turn()
    position["turn"] = 7
    assert any(reason.startswith("turn") for reason in refusals(position))


@pytest.mark.rule("B-8")
def test_a_finished_game_with_something_to_be_done_is_refused(first_turn):
    position = first_turn()
    position["over"] = True
    assert any("pending" in reason and "over" in reason for reason in refusals(position))


@pytest.mark.rule("B-8", "B-7.3")
def test_a_finished_game_after_its_first_turn_is_refused(first_turn):
    position = first_turn()
    position |= {"over": True, "pending": []}
    assert refusals(position)


@pytest.mark.rule("B-8", "B-7.3")
def test_a_finished_game_after_its_last_turn_is_accepted(first_turn, load):
    position = first_turn()
    position |= {"over": True, "pending": [], "round": 3, "turn": 6}
    lone = {"left": 1, "centre": [], "right": None}
    position["bridges"] = {colour: dict(lone) for colour in COLOURS}
    position["spaces"]["well"] = [f"{colour} 4" for colour in COLOURS for _ in range(2)]
    game = load(position)
    assert game.over
    assert game.legal() == []


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("key", ["turn_order", "markers"])
@pytest.mark.parametrize("seats", [[0, 0], [0], [0, 1, 2], [1, 2], ["0", "1"], [None, 0]])
def test_an_order_that_does_not_name_every_seat_once_is_refused(first_turn, key, seats):
    position = first_turn()
    position[key] = seats
    refused(position, key)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    "step",
    [
        {"step": "no-such-step"},
        {"step": "take-die"},
        {"step": "take-die", "seat": 2},
        {"step": "take-die", "seat": -1},
        {"step": "take-die", "seat": 0, "more": 1},
        {"step": "light-row", "seat": 0, "card": "no-such-card"},
        {"step": "parts", "seat": 0, "effects": ["3 dragons"], "rule": "B-5.1"},
        {"step": "parts", "seat": 0, "effects": ["2 vp"], "rule": "no rule"},
        "take-die",
        None,
    ],
)
def test_a_pending_step_that_cannot_be_one_is_refused(first_turn, step):
    position = first_turn()
    position["pending"].append(step)
    assert any("pending[1]" in reason for reason in refusals(position))


# --- form -------------------------------------------------------------------------------------

KEYS = (
    *("round", "turn", "deal", "set_up", "over", "turn_order", "markers", "bridges", "spaces"),
    *("tiles", "rooms", "decks", "daimyo", "gardens", "yard_tiles", "pairs", "clans", "pending"),
)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_is_named(first_turn, key):
    position = first_turn()
    del position[key]
    assert f"{key}: missing" in refusals(position)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("key", ["food", "seal", "courtiers", "gardeners", "warriors", "lantern"])
def test_a_missing_key_of_a_clan_is_named(first_turn, key):
    position = first_turn()
    del position["clans"][1][key]
    assert f"clans[1].{key}: missing" in refusals(position)


@pytest.mark.rule("B-8")
def test_an_unknown_key_is_named(first_turn):
    position = first_turn()
    position["weather"] = "fine"
    position["clans"][0]["horses"] = 2
    assert set(refusals(position)) == {
        "weather: unknown key",
        "clans[0].horses: unknown key",
    }


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["text", 3.5])
def test_a_value_of_another_type_is_named(first_turn, key, value):
    position = first_turn()
    position[key] = value
    assert any(reason.startswith(key) for reason in refusals(position))


@pytest.mark.rule("B-8")
def test_a_position_with_too_few_clans_is_refused(first_turn):
    position = first_turn()
    position["clans"].pop()
    refused(position, "clans", "2")


@pytest.mark.rule("B-8", "B-1.1")
@pytest.mark.parametrize("seats", [0, 1, 5, "two", None])
def test_a_number_of_seats_that_the_game_does_not_have_is_refused(first_turn, seats):
    position = first_turn()
    position["seats"] = seats
    with pytest.raises(InvalidRequest):
        rules.from_json(position)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{", '{"ruleset": "no-such-ruleset"}', "null", "[" * 100_000]
)
def test_a_text_that_is_no_position_is_refused(text):
    with pytest.raises(HimejiError):
        rules.from_json(text)


# --- all reasons at once ----------------------------------------------------------------------


@pytest.mark.rule("B-8")
def test_everything_that_is_impossible_is_reported_at_once(first_turn):
    position = first_turn()
    position["spaces"]["well"] = ["black 2"]
    position["bridges"]["white"] = {"left": 5, "centre": [2], "right": 6}
    position["clans"][0]["courtiers"]["gate"] = 1
    position["clans"][1]["warriors"]["yard-1"] = 6
    position["clans"][1]["gardeners"] = GARDENS
    position["daimyo"]["slots"] = [0, None, None]
    position["decks"]["steward"].append("steward-01")
    nowhere = position["decks"]["diplomat"].pop()
    position["gardens"]["coral stone"] = position["gardens"]["white stone"]
    position["round"] = 0
    reasons = refusals(position)
    for words in (
        "black dice",
        "bridges.white",
        "clans[0].courtiers",
        "clans[1].warriors",
        "clans[1].gardeners",
        "daimyo.slots",
        "steward-01",
        f"{nowhere} is nowhere",
        "two places",
        "round",
    ):
        assert any(words in reason for reason in reasons), words
    assert len(reasons) == 10


@pytest.mark.rule("B-8")
def test_everything_that_cannot_be_read_is_reported_at_once(first_turn):
    position = first_turn()
    position["clans"][0]["food"] = 8
    position["clans"][1] |= {"seal": 6, "coin": -1}
    position["clans"][1]["gardeners"] = ["green plant"]
    position["tiles"]["11"] = None
    position["rooms"]["steward-room-1"] = "garden-plant-1"
    position["turn_order"] = [1, 1]
    position["weather"] = "fine"
    del position["deal"]
    reasons = refusals(position)
    for words in (
        "clans[0].food",
        "clans[1].seal",
        "clans[1].coin",
        "clans[1].gardeners",
        "tiles.11",
        "rooms.steward-room-1",
        "turn_order",
        "weather",
        "deal",
    ):
        assert any(words in reason for reason in reasons), words
    assert len(reasons) >= 9


@pytest.mark.rule("B-8")
def test_the_message_of_the_refusal_holds_every_reason(first_turn):
    position = first_turn()
    position["clans"][0]["courtiers"]["gate"] = 1
    position["clans"][1]["courtiers"]["gate"] = 1
    with pytest.raises(ImpossiblePosition) as caught:
        rules.from_json(position)
    assert all(reason in str(caught.value) for reason in caught.value.reasons)
    assert len(caught.value.reasons) == 2


@pytest.mark.rule("B-1.7")
def test_a_decree_does_not_shine_before_its_card_is_taken():
    game = rules.new_game("base", 2, seed=1)
    game.play(game.answers[0])
    while "pairs" in (position := json.loads(game.to_json())) and not position["pairs"]:
        game.play(game.answers[0])
    bringer = next(pair for pair in position["pairs"] if pair)
    bringer["resource"] = "start-resource-1"
    position["clans"][game.to_move]["lantern"] = ["decree-1"]
    with pytest.raises(
        ImpossiblePosition, match="decree-1 shines, and start-resource-1"
    ) as refusal:
        rules.from_json(position)
    assert "B-1.7" in str(refusal.value)
