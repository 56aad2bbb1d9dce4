"""Whole turns of the rival, told in words: all that happens, and nothing else (S-1 to S-7)."""

import json

import pytest
from himeji import rules

RIVAL = 1
GATE = "a courtier goes from domain to gate"
UP_1 = ["a courtier goes from gate to steward-room-2", "steward-10 leaves the game"]
UP_2 = ["a courtier goes from gate to diplomat-room-2", "diplomat-04 leaves the game"]
INFLUENCE_2 = ["influence goes to 1", "influence goes to 2"]
DEEDS = {  # of each card, with the gardens below and a courtier at the Gate
    1: [GATE, "a gardener goes to coral stone"],
    2: ["a gardener goes to coral plant", "gains 4 coins"],
    3: [*UP_2, *INFLUENCE_2],
    4: ["a gardener goes to coral stone", *INFLUENCE_2],
    5: ["a warrior goes to yard-1", GATE],
    6: ["a gardener goes to coral plant", *INFLUENCE_2],
    7: ["a warrior goes to yard-2", *UP_1],
    8: [*UP_1, "gains 4 coins"],
    9: [GATE, "gains 2 vp"],
}
GARDENS = {
    "coral plant": "garden-plant-5",  # 5 points
    "coral stone": "garden-stone-7",  # 1
    "black plant": "garden-plant-2",  # 7
    "black stone": "garden-stone-8",  # 3
    "white plant": "garden-plant-1",  # 9
    "white stone": "garden-stone-10",  # 5
}


def laid_out(position):
    """Gardens of known points, one courtier of the rival at the Gate."""
    position["gardens"] = dict(GARDENS)
    position["clans"][RIVAL]["courtiers"] |= {"domain": 4, "gate": 1}


def both(*changes):
    def change(position):
        for each in changes:
            each(position)

    return change


def rival(**facts):
    """A change of the rival's clan; a table is changed where it names a key."""

    def change(position):
        clan = position["clans"][RIVAL]
        for key, value in facts.items():
            clan[key] = clan[key] | value if isinstance(value, dict) else value

    return change


def told(game):
    """What the rival did, without its name."""
    words = [game.rules.tell(record, 1) for record in game.log if record[1] == RIVAL]
    return [text.removeprefix("the rival").removeprefix(":").strip() for text in words]


def placing(die, place, space, coins=0):
    gained = [f"gains {coins} coin{'s' * (coins > 1)}"] if coins else []
    return [f"takes {die} from the {place}", *gained, f"places {die} on {space}"]


# --- the die (S-2, S-3, S-4) --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "placed"),
    [
        (1, placing("coral 2", "left", "steward-room-1")),
        (2, placing("coral 3", "centre", "outside-left")),
        (3, placing("coral 5", "right", "diplomat-room-1", coins=1)),  # no tile there is coral
        (4, placing("black 1", "left", "steward-room-2")),
        (5, placing("black 3", "centre", "outside-right")),
        (6, placing("black 6", "right", "diplomat-room-2", coins=2)),
        (7, placing("white 2", "left", "steward-room-3")),
        (8, placing("white 4", "centre", "well", coins=3)),
        (9, placing("white 6", "right", "outside-left", coins=1)),
    ],
)
@pytest.mark.rule("S-2", "S-3", "S-4")
def test_the_die_of_each_card_is_placed_for_its_coins_alone(rivals_turn, card, placed):
    first = 9 if card != 9 else 2
    game = rivals_turn([f"solitaire-{first}", f"solitaire-{card}"], change=laid_out)
    assert told(game) == [
        f"turns over solitaire-{first}",
        f"takes the die that is shown by solitaire-{card}",
        *placed,
        *DEEDS[first],
    ]
    assert not [event for event in game.events_since(0) if event.seat == 0]


@pytest.mark.rule("S-4")
def test_dice_in_the_well_do_not_occupy_it(rivals_turn):
    bridges = {"coral": (2, [], 5), "black": (1, [], 6)}
    game = rivals_turn(["solitaire-9", "solitaire-8"], bridges, change=laid_out)
    assert told(game)[2:5] == placing("white 4", "centre", "well", coins=3)
    assert json.loads(game.to_json())["spaces"]["well"] == ["coral 1", "black 1", "white 4"]


@pytest.mark.rule("S-1", "B-2.6")
def test_the_player_places_nothing_on_a_die_of_the_rival(rivals_turn, do, offers):
    def rich(position):
        position["clans"][0]["coin"] = 9

    game = rivals_turn(["solitaire-9", "solitaire-1"], change=both(laid_out, rich))
    do(game, "take coral left")
    assert "place steward-room-1" not in offers(game)
    assert "place outside-left" in offers(game)


@pytest.mark.parametrize(("difficulty", "first"), [("easy", 0), ("medium", 1), ("hard", 1)])
@pytest.mark.parametrize("ruleset", ["solo", "matcha-solo"])
@pytest.mark.rule("S-1")
def test_on_medium_and_hard_the_rival_takes_the_first_die(ruleset, difficulty, first):
    game = rules.new_game(ruleset, 1, seed=3, options={"difficulty": difficulty})
    while not any(event.kind == "die-taken" for event in game.events_since(0)):
        game.apply(game.legal()[-1])
    taken = [event.seat for event in game.events_since(0) if event.kind == "die-taken"]
    assert taken == [first]


# --- the actions (S-5, S-6) ---------------------------------------------------------------------


def deeds(game):
    """What the rival did after its die was placed."""
    words = told(game)
    return words[next(n for n, text in enumerate(words) if text.startswith("places")) + 1 :]


@pytest.mark.parametrize("card", DEEDS)
@pytest.mark.rule("S-2", "S-5", "S-6", "S-7")
def test_the_actions_of_each_card_come_top_to_bottom_and_trigger_nothing(rivals_turn, do, card):
    following = 4 if card == 8 else 8
    game = rivals_turn([f"solitaire-{card}", f"solitaire-{following}"], change=laid_out)
    room = {3: "diplomat-room-2", 7: "steward-room-2", 8: "steward-room-2"}.get(card)
    if room:
        do(game, f"rival climbs to {room}")
    assert deeds(game) == DEEDS[card]
    assert game.to_move == 0
    assert {event.kind for event in game.events_since(0) if event.seat == 0} <= {"action"}


@pytest.mark.parametrize(
    ("card", "instead"),
    [
        (1, ["gains 2 vp", "gains 2 vp"]),
        (2, ["gains 2 vp", "gains 4 coins"]),
        (3, ["gains 2 vp", "gains 2 vp"]),
        (4, ["gains 2 vp", "gains 2 vp"]),
        (5, ["gains 2 vp", "gains 2 vp"]),
        (6, ["gains 2 vp", "gains 2 vp"]),
        (7, ["gains 2 vp", "gains 2 vp"]),
        (8, ["gains 2 vp", "gains 4 coins"]),
        (9, ["gains 2 vp", "gains 2 vp"]),
    ],
)
@pytest.mark.rule("S-5", "S-6")
def test_in_round_2_each_impossible_action_of_a_card_gives_2_vp(rivals_turn, card, instead):
    spent = rival(
        courtiers={"domain": 0, "gate": 0, "daimyo": 5},
        gardeners=list(GARDENS)[:5],
        warriors={"yard-1": 5},
        influence=20,
    )
    change = both(laid_out, spent, lambda position: position.update(round=2))
    game = rivals_turn([f"solitaire-{card}", f"solitaire-{4 if card == 8 else 8}"], change=change)
    assert deeds(game) == instead


@pytest.mark.rule("S-3", "S-5")
def test_of_four_cards_turned_over_the_last_two_act_in_the_order_they_were_turned(rivals_turn):
    cards = [f"solitaire-{number}" for number in (6, 8, 1, 9, 4)]
    bridges = {"coral": (None, [], 5), "white": (2, [], None)}  # no die for 8, 1 and 9
    game = rivals_turn(cards, bridges, change=laid_out)
    assert told(game) == [
        *(f"turns over {card}" for card in cards[:4]),
        "takes the die that is shown by solitaire-4",
        *placing("black 1", "left", "steward-room-2"),
        *DEEDS[1],
        *DEEDS[9],
    ]
    deck = json.loads(game.to_json())["solitaire"]
    assert deck["top"] == cards[4]
    assert deck["under"][-4:] == cards[:4]


@pytest.mark.parametrize(
    ("card", "held", "garden"),
    [
        (2, [], "coral plant"),
        (2, ["coral plant"], "black plant"),
        (2, ["coral plant", "black plant"], "white plant"),
        (1, [], "coral stone"),
        (1, ["coral stone"], "black stone"),
        (4, ["coral stone"], "black stone"),
    ],
)
@pytest.mark.rule("S-6")
def test_a_gardener_takes_the_lowest_garden_of_the_kind_that_the_rival_does_not_hold(
    rivals_turn, card, held, garden
):
    def players_gardener(position):
        position["clans"][0]["gardeners"] = [garden]  # does not keep the rival out

    change = both(laid_out, rival(gardeners=held), players_gardener)
    game = rivals_turn([f"solitaire-{card}", "solitaire-8"], change=change)
    assert f"a gardener goes to {garden}" in deeds(game)


@pytest.mark.rule("S-6", "S-7")
def test_a_plant_and_a_stone_garden_of_equal_points_tie_for_either_kind(rivals_turn, do, offers):
    change = both(laid_out, rival(gardeners=["coral stone", "black stone"]))
    game = rivals_turn(["solitaire-4", "solitaire-8"], change=change)
    assert offers(game) == {"rival gardener coral plant", "rival gardener white stone"}
    do(game, "rival gardener white stone")
    assert deeds(game) == ["a gardener goes to white stone", *INFLUENCE_2]


@pytest.mark.parametrize(("iron", "yard"), [(5, "yard-1"), (3, "yard-2"), (1, "yard-3")])
@pytest.mark.rule("S-6")
def test_a_warrior_goes_to_the_yard_of_the_iron_cost_that_is_shown(solitaire, load, iron, yard):
    position = solitaire()
    position["turn"] = 2  # the rival's; the player's turn comes next
    for colour in ("coral", "black"):
        bridge = position["bridges"][colour]
        position["spaces"]["well"].append(f"{colour} {bridge['right']}")
        bridge["right"] = bridge["centre"].pop()
    position["pending"] = [{"step": "rival-deeds", "deeds": [f"rival-warrior {iron}"]}]
    assert told(load(position)) == [f"a warrior goes to {yard}"]


# --- climbs (S-6, S-7) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("card", "courtiers", "choices"),
    [
        (8, {"gate": 1, "steward-room-1": 4}, {f"to steward-room-{n}" for n in (1, 2, 3)}),
        (8, {"steward-room-1": 2, "daimyo": 3}, {"to diplomat-room-1", "to diplomat-room-2"}),
        (3, {"gate": 2, "diplomat-room-1": 3}, {"to diplomat-room-1", "to diplomat-room-2"}),
        (
            3,
            {"steward-room-1": 1, "steward-room-2": 4},
            {"from steward-room-1", "from steward-room-2"},
        ),
        (
            8,
            {"diplomat-room-1": 1, "diplomat-room-2": 4},
            {"from diplomat-room-1", "from diplomat-room-2"},
        ),
    ],
)
@pytest.mark.rule("S-6", "S-7")
def test_the_player_chooses_among_the_lowest_courtiers_and_then_the_room(
    rivals_turn, offers, card, courtiers, choices
):
    change = both(laid_out, rival(courtiers={"domain": 0, "gate": 0} | courtiers))
    game = rivals_turn([f"solitaire-{card}", "solitaire-4"], change=change)
    assert offers(game) == {f"rival climbs {choice}" for choice in choices}


@pytest.mark.parametrize(
    ("card", "start", "slots", "after"),
    [
        (8, "diplomat-room-1", [None, None, None], [1, None, None]),
        (3, "steward-room-1", [0, None, 0], [0, 1, 0]),
        (8, "diplomat-room-1", [0, 0, 0], [0, 0, 0]),
    ],
)
@pytest.mark.rule("S-7", "S-2")
def test_on_the_daimyo_floor_the_first_free_slot_is_taken_if_there_is_one(
    rivals_turn, card, start, slots, after
):
    def taken(position):
        position["daimyo"]["slots"] = slots
        away = sum(slot == 0 for slot in slots)
        position["clans"][0]["courtiers"] |= {"domain": 5 - away, "daimyo": away}

    change = both(laid_out, rival(courtiers={"gate": 0, start: 1}), taken)
    game = rivals_turn([f"solitaire-{card}", "solitaire-4"], change=change)
    last = ["gains 4 coins"] if card == 8 else INFLUENCE_2
    assert deeds(game) == [f"a courtier goes from {start} to daimyo", *last]
    position = json.loads(game.to_json())
    assert position["daimyo"]["slots"] == after
    assert position["clans"][RIVAL]["courtiers"]["daimyo"] == 1
