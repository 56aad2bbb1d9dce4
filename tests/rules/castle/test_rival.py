"""Solitaire: the rival's start, its turn, the actions of its cards, its round end (S-1 to S-9)."""

import json
import re
from itertools import pairwise, takewhile

import pytest
from himeji import rules
from himeji.rules.castle.solo.solo import solo_ruleset
from himeji.rules.chance import seeded
from himeji.rules.datafile import packaged
from himeji.rules.errors import BadComponents, ImpossiblePosition

RIVAL = 1
CARDS = [f"solitaire-{number}" for number in range(1, 10)]


def rest(cards):
    return [card for card in CARDS if card not in cards]


def turned(game):
    """The cards that were turned over to their actions."""
    return [game.tables.names[e.a] for e in events(game, "solitaire-read") if e.b == 0]


def first_card(game, number):
    """The card that chance puts on top of the deck of a round, by its published slot."""
    cards, names = game.tables.kinds["solitaire"], game.tables.names
    return names[game.chance.draw(f"solo/round-{number}/solitaire", cards, names, 0)]


def bridge(game, colour):
    return json.loads(game.to_json())["bridges"][colour]


def offered(game):
    return [game.rules.actions.text(action) for action in game.legal()]


def events(game, kind, seat=RIVAL):
    return [event for event in game.events_since(0) if (event.kind, event.seat) == (kind, seat)]


# --- set-up (S-1, S-2) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difficulty", "points", "order", "influence"),
    [("easy", 0, [0, 1], 0), ("medium", 3, [1, 0], 1), ("hard", 8, [1, 0], 3)],
)
@pytest.mark.rule("S-1")
def test_the_rival_starts_by_the_difficulty(difficulty, points, order, influence):
    game = rules.ruleset("solo").begin(1, seeded(4), {"difficulty": difficulty})
    position = json.loads(game.to_json())
    start = [event for event in game.events_since(0) if event.rule == "S-1" and event.seat == 1]
    assert [event.b for event in start] == [points] * bool(points)
    before = takewhile(lambda event: event.kind != "round-began", game.events_since(0))
    assert sum(event.kind == "influence-moved" for event in before) == influence
    assert position["turn_order"] == order
    assert position["options"] == {"difficulty": difficulty}


@pytest.mark.rule("S-1")
def test_medium_is_the_standard():
    assert rules.new_game("solo", 1, seed=1).options == {"difficulty": "medium"}


@pytest.mark.rule("S-1", "B-1.6")
def test_on_easy_the_players_marker_lies_on_top():
    game = rules.new_game("solo", 1, seed=1, options={"difficulty": "easy"})
    assert json.loads(game.to_json())["markers"] == [1, 0]


@pytest.mark.rule("S-1")
def test_it_is_set_up_as_for_two_seats_with_one_random_card_of_each_kind():
    for seed in range(20):
        game = rules.new_game("solo", 1, seed=seed, options={"difficulty": "easy"})
        position = json.loads(game.to_json())
        bridges = position["bridges"].values()
        assert all(b["left"] and len(b["centre"]) == 1 and b["right"] for b in bridges)
        drawn = [event.a for event in game.events_since(0) if event.kind == "draw"]
        assert (drawn.count(8), drawn.count(9)) == (1, 1)  # starting resource and action cards
        player = position["clans"][0]
        assert player["action_card"].startswith("start-action")
        assert player["lantern"][0].startswith("start-resource")
        decks = [*position["decks"]["steward"], *position["rooms"].values()]
        diamonds = [c.id for c in game.tables.components if c.diamond]
        assert not set(decks) & set(diamonds)
        assert game.stacking == 1
        assert position["pairs"] == []


@pytest.mark.rule("S-2")
@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda rival: rival.update(food=1), "clans[1].food"),
        (lambda rival: rival.update(seal=1), "clans[1].seal"),
        (lambda rival: rival.update(lantern=["decree-3"]), "clans[1].lantern"),
        (lambda rival: rival["dice"].update(coral=3), "clans[1].dice"),
    ],
)
def test_a_rival_with_goods_cards_or_dice_of_its_own_is_refused(solitaire, spoil, key):
    position = solitaire()
    spoil(position["clans"][RIVAL])
    with pytest.raises(ImpossiblePosition) as refusal:
        rules.from_json(position)
    assert any(reason.startswith(key) and "S-2" in reason for reason in refusal.value.reasons)


# --- the turn (S-3 to S-5) ----------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
@pytest.mark.rule("S-3")
def test_the_top_card_is_visible_from_the_set_up_on_and_turned_over_first(difficulty):
    for seed in range(10):
        game = rules.new_game("solo", 1, seed=seed, options={"difficulty": difficulty})
        drawn = [e for e in game.events_since(0) if (e.kind, e.a) == ("draw", 10)]
        first = first_card(game, 1)
        assert (game.tables.names[drawn[0].b], drawn[0].rule) == (first, "S-3")
        if difficulty == "easy":  # the player begins and sees it
            position = json.loads(game.to_json())
            assert position["solitaire"] == {"top": first, "under": []}
            assert position["decks"]["solitaire"] == rest([first])
        while not turned(game):
            game.apply(game.legal()[-1])
        assert turned(game)[0] == first


@pytest.mark.rule("S-3")
def test_unseen_cards_without_a_visible_one_on_them_are_refused(solitaire):
    position = solitaire()
    position["solitaire"] = {"top": None, "under": CARDS[2:]}
    position["decks"]["solitaire"] = CARDS[:2]
    with pytest.raises(ImpossiblePosition) as refusal:
        rules.from_json(position)
    reason = "solitaire.top: no card lies visible on 2 unseen ones (S-3)"
    assert refusal.value.reasons == (reason,)


@pytest.mark.rule("S-3")
def test_the_top_card_is_turned_over_and_the_next_shows_the_die(rivals_turn):
    game = rivals_turn(["solitaire-9", "solitaire-3"])
    assert [(e.a, e.b) for e in events(game, "die-taken")] == [(5, 1)]  # coral 5, right


@pytest.mark.rule("S-3")
def test_a_card_whose_die_is_not_there_is_turned_over_too(rivals_turn):
    game = rivals_turn(["solitaire-9", "solitaire-1", "solitaire-6"], {"coral": (None, [], 5)})
    assert turned(game) == ["solitaire-9", "solitaire-1"]
    assert events(game, "die-taken")[0].a == 8 + 6


@pytest.mark.rule("S-3")
def test_a_die_of_the_centre_leaves_the_ends_where_they_are(rivals_turn):
    game = rivals_turn(["solitaire-9", "solitaire-8"])
    assert (events(game, "die-taken")[0].a, events(game, "die-taken")[0].b) == (16 + 4, 2)
    assert bridge(game, "white") == {"left": 2, "centre": [], "right": 6}


@pytest.mark.rule("S-3", "B-2.4")
def test_from_an_end_the_centre_slides_as_for_everybody(rivals_turn):
    game = rivals_turn(["solitaire-9", "solitaire-7"])
    assert bridge(game, "white") == {"left": 4, "centre": [], "right": 6}


@pytest.mark.rule("S-3")
def test_unseen_cards_come_before_those_put_under_the_deck(rivals_turn):
    def hidden(position):
        position["decks"]["solitaire"] = ["solitaire-4", "solitaire-6"]
        position["solitaire"]["under"] = [c for c in CARDS[:8] if c[-1] not in "46"]

    game = rivals_turn(["solitaire-9"], change=hidden)
    drawn = [e for e in game.events_since(0) if e.kind == "draw"]
    assert len(drawn) == 1
    assert json.loads(game.to_json())["solitaire"]["top"] == game.tables.names[drawn[0].b]


@pytest.fixture
def blind_deck(monkeypatch):
    """Solo with a deck that looks only at the left end of the coral bridge."""
    text = re.sub('die = ".*"', 'die = "coral left"', packaged("solo.toml"))
    blind = solo_ruleset(lambda name: text if name == "solo.toml" else packaged(name))
    monkeypatch.setitem(rules.RULESETS, "solo", blind)


@pytest.mark.parametrize(
    ("bridges", "die"),
    [
        ({"coral": (None, [], 5)}, (5, 1)),  # coral 5, from the right
        ({"coral": (None, [], None)}, (8 + 1, 0)),  # black 1, from the left
    ],
)
@pytest.mark.rule("S-3", "S-5")
@pytest.mark.usefixtures("blind_deck")
def test_a_deck_read_in_vain_sends_the_left_most_die_of_the_first_bridge_to_the_well(
    rivals_turn, bridges, die
):
    game = rivals_turn(CARDS, bridges)
    assert [(e.a, e.b) for e in events(game, "die-taken")] == [die]
    assert events(game, "die-placed")[0].b == 7  # the Well
    assert turned(game)[: len(CARDS)] == CARDS
    assert json.loads(game.to_json())["solitaire"] == {"top": None, "under": CARDS}


@pytest.mark.rule("S-4")
def test_the_die_goes_to_the_shown_space_and_a_positive_difference_gives_coins(rivals_turn):
    game = rivals_turn(["solitaire-9", "solitaire-6"])  # a 6 on a diplomat room that shows 4
    assert json.loads(game.to_json())["spaces"]["diplomat-room-2"] == ["black 6"]
    first = events(game, "gain")[0]
    assert (first.a, first.b, first.rule) == (4, 2, "S-4")


@pytest.mark.rule("S-4")
def test_an_occupied_space_sends_the_die_to_the_well_without_its_rewards(rivals_turn):
    game = rivals_turn(
        ["solitaire-9", "solitaire-6"],
        {"coral": (2, [], 5)},
        {"diplomat-room-2": "coral 1"},
    )
    position = json.loads(game.to_json())
    assert position["spaces"]["well"] == ["black 6"]
    assert position["clans"][RIVAL]["coin"] == 5
    assert position["clans"][RIVAL]["seal"] == 0


@pytest.mark.rule("S-5")
def test_the_card_that_was_used_stays_on_top_and_used_cards_go_under_in_their_order(rivals_turn):
    cards = ["solitaire-9", "solitaire-1", "solitaire-6"]
    game = rivals_turn(cards, {"coral": (None, [], 5)})
    deck = json.loads(game.to_json())["solitaire"]
    assert deck["top"] == "solitaire-6"
    assert deck["under"] == [*rest(cards), *cards[:2]]


@pytest.mark.rule("S-5")
def test_the_card_on_top_is_the_first_turned_over_in_the_next_turn(rivals_turn, do):
    game = rivals_turn(["solitaire-9", "solitaire-8", "solitaire-4"], {"coral": (2, [], 5)})
    assert turned(game) == ["solitaire-9"]
    before = len(game.events_since(0))
    do(game, "take coral right", "place well")
    while not any(e.kind == "solitaire-read" for e in game.events_since(before)):
        game.apply(game.legal()[-1])
    read = [e for e in game.events_since(before) if e.kind == "solitaire-read"]
    assert (game.tables.names[read[0].a], read[0].b) == ("solitaire-8", 0)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.rule("S-5")
def test_an_impossible_action_gives_the_number_of_the_round_in_vp(rivals_turn, number):
    def no_courtier(position):
        position["round"] = number
        position["clans"][RIVAL]["courtiers"] |= {"domain": 0, "steward-room-1": 5}

    game = rivals_turn(["solitaire-9", "solitaire-4"], change=no_courtier)
    gained = [(e.a, e.b, e.rule) for e in events(game, "gain")]
    assert gained == [(6, number, "S-5"), (6, 2, "S-6")]


# --- the actions (S-6, S-7) ---------------------------------------------------------------------


def points_of(game, card):
    return game.tables.of(game.tables.numbers[card]).points


def lowest(position, kind):
    tables = rules.ruleset("solo").tables
    gardens = {g: c for g, c in position["gardens"].items() if kind in g}
    return min(gardens, key=lambda g: tables.of(tables.numbers[gardens[g]]).points)


def equal_gardens(position):
    """Two plant gardens of equal points that are the lowest of all plants."""
    tables = rules.ruleset("solo").tables
    plants = sorted(
        (card for card in tables.components if card.kind == "garden" and card.plant),
        key=lambda card: card.points,
    )
    pairs = [(a, b) for a, b in pairwise(plants) if a.points == b.points]
    low = pairs[0]
    high = next(card for card in reversed(plants) if card not in low)
    names = ("coral plant", "black plant", "white plant")
    position["gardens"] |= dict(zip(names, [low[0].id, high.id, low[1].id], strict=True))


@pytest.mark.rule("S-7", "S-6")
def test_of_equal_gardens_the_player_chooses_one(rivals_turn, offers, do):
    game = rivals_turn(["solitaire-2", "solitaire-4"], change=equal_gardens)
    assert game.to_move == 0
    assert offers(game) == {"rival gardener coral plant", "rival gardener white plant"}
    do(game, "rival gardener white plant")
    assert json.loads(game.to_json())["clans"][RIVAL]["gardeners"] == ["white plant"]
    assert events(game, "gain")[-1].b == 4  # then the coins of the same card


@pytest.mark.rule("S-6")
def test_no_free_garden_of_the_kind_is_impossible(rivals_turn):
    def all_stones(position):
        stones = ["coral stone", "black stone", "white stone"]
        position["clans"][RIVAL]["gardeners"] = stones

    game = rivals_turn(["solitaire-1", "solitaire-4"], change=all_stones)
    assert [(e.a, e.b, e.rule) for e in events(game, "gain")] == [(6, 1, "S-5")]


@pytest.mark.rule("S-6")
def test_without_a_gardener_in_the_supply_none_is_placed(rivals_turn):
    def five(position):
        gardens = list(position["gardens"])
        position["clans"][RIVAL]["gardeners"] = gardens[:5]

    game = rivals_turn(["solitaire-1", "solitaire-4"], change=five)
    assert events(game, "gain")[-1].rule == "S-5"


@pytest.mark.rule("S-6")
def test_without_a_warrior_in_the_supply_none_is_placed(rivals_turn):
    def five(position):
        position["clans"][RIVAL]["warriors"]["yard-1"] = 5

    game = rivals_turn(["solitaire-5", "solitaire-4"], change=five)
    assert events(game, "gain")[0].rule == "S-5"


@pytest.mark.rule("S-6")
def test_influence_goes_past_checkpoints_for_nothing_and_may_be_shortened(rivals_turn):
    def far(position):
        position["clans"][RIVAL]["influence"] = 19

    def before_checkpoint(position):
        position["clans"][RIVAL]["influence"] = 14
        equal_gardens(position)

    game = rivals_turn(["solitaire-6", "solitaire-4"], change=far)
    while offered(game)[0].startswith("rival"):
        game.apply(game.legal()[0])
    assert events(game, "influence-moved")[-1].a == 20
    assert not [e for e in events(game, "gain") if e.rule == "S-5"]
    game = rivals_turn(["solitaire-6", "solitaire-4"], change=before_checkpoint)
    game.apply(game.legal()[0])
    assert [e.a for e in events(game, "influence-moved")] == [15, 16]


@pytest.mark.rule("S-6")
def test_influence_on_the_last_position_is_impossible(rivals_turn):
    def last(position):
        position["clans"][RIVAL]["influence"] = 20
        equal_gardens(position)

    game = rivals_turn(["solitaire-6", "solitaire-4"], change=last)
    game.apply(game.legal()[0])
    assert events(game, "gain")[-1].rule == "S-5"


@pytest.mark.parametrize(
    ("courtiers", "card"),
    [
        ({"domain": 5}, "solitaire-8"),  # nobody on the board
        ({"domain": 0, "daimyo": 5}, "solitaire-8"),
        ({"domain": 4, "diplomat-room-1": 1}, "solitaire-3"),  # two floors from the second
    ],
)
@pytest.mark.rule("S-6")
def test_a_climb_is_impossible_without_a_courtier_that_can_climb_that_far(
    rivals_turn, courtiers, card
):
    def stand(position):
        everywhere = dict.fromkeys(position["clans"][RIVAL]["courtiers"], 0)
        position["clans"][RIVAL]["courtiers"] = everywhere | courtiers

    game = rivals_turn([card, "solitaire-4"], change=stand)
    assert events(game, "member-moved") == []
    assert events(game, "gain")[0].rule == "S-5"


@pytest.mark.rule("S-7")
def test_the_player_chooses_the_room_and_its_card_leaves_the_game(rivals_turn, offers, do):
    def at_gate(position):
        position["clans"][RIVAL]["courtiers"] |= {"domain": 4, "gate": 1}

    game = rivals_turn(["solitaire-8", "solitaire-4"], change=at_gate)
    assert offers(game) == {f"rival climbs to steward-room-{n}" for n in (1, 2, 3)}
    before = json.loads(game.to_json())
    do(game, "rival climbs to steward-room-2")
    after = json.loads(game.to_json())
    assert after["clans"][RIVAL]["courtiers"]["steward-room-2"] == 1
    gone = before["rooms"]["steward-room-2"]
    assert after["rooms"]["steward-room-2"] in before["decks"]["steward"]
    assert gone not in json.dumps(after)
    assert events(game, "card-moved")[0].b == 2


@pytest.mark.rule("S-7")
def test_with_an_empty_deck_the_card_stays(rivals_turn, do):
    def at_gate(position):
        position["clans"][RIVAL]["courtiers"] |= {"domain": 4, "gate": 1}
        position["decks"]["diplomat"] = []

    game = rivals_turn(["solitaire-3", "solitaire-4"], change=at_gate)
    before = json.loads(game.to_json())["rooms"]
    do(game, "rival climbs to diplomat-room-1")
    assert json.loads(game.to_json())["rooms"] == before
    assert json.loads(game.to_json())["clans"][RIVAL]["courtiers"]["diplomat-room-1"] == 1


@pytest.mark.rule("S-7", "S-6")
def test_of_equal_courtiers_the_player_chooses_the_one_that_climbs(rivals_turn, offers, do):
    def two(position):
        courtiers = {"domain": 2, "steward-room-1": 1, "steward-room-3": 1, "diplomat-room-1": 1}
        position["clans"][RIVAL]["courtiers"] |= courtiers

    game = rivals_turn(["solitaire-8", "solitaire-4"], change=two)
    assert offers(game) == {"rival climbs from steward-room-1", "rival climbs from steward-room-3"}
    do(game, "rival climbs from steward-room-3", "rival climbs to diplomat-room-1")
    found = json.loads(game.to_json())["clans"][RIVAL]["courtiers"]
    assert (found["steward-room-1"], found["steward-room-3"], found["diplomat-room-1"]) == (1, 0, 2)


@pytest.mark.rule("S-7", "B-6.3")
def test_seals_may_be_exchanged_at_a_choice_for_the_rival(rivals_turn, offers):
    def rich(position):
        equal_gardens(position)
        position["clans"][0]["seal"] = 1

    game = rivals_turn(["solitaire-2", "solitaire-4"], change=rich)
    assert "exchange 1 seal for 1 coin" in offers(game)


# --- the end of a round (S-8, S-9) --------------------------------------------------------------


@pytest.fixture
def round_end(solitaire, load):
    """The game right after the last turn of a round: the end of the round runs when it is read."""

    def build(number, influence=0, coins=0, change=None):
        position = solitaire()
        for colour, dice in (("coral", [3]), ("black", [4]), ("white", [5])):
            position["bridges"][colour] = {"left": dice[0], "centre": [], "right": None}
        spaces = {"well": ["coral 1", "coral 1", "black 1", "black 1", "white 1", "white 1"]}
        position["spaces"] |= spaces
        position |= {"round": number, "turn": 6, "pending": []}
        position["clans"][RIVAL] |= {"influence": influence, "coin": coins}
        if change:
            change(position)
        return load(position)

    return build


@pytest.mark.parametrize(
    ("influence", "coins", "number", "points"),
    [
        (1, 11, 1, (3, 2)),
        (0, 11, 1, (2, 1)),
        (1, 11, 2, (6, 2)),
        (0, 14, 3, (6, 4)),
        (0, 4, 2, (0, 4)),
    ],
)
@pytest.mark.rule("S-8")
def test_coins_are_turned_in_by_lots_of_the_new_turn_order(
    round_end, influence, coins, number, points
):
    game = round_end(number, influence, coins)
    points, left = points
    assert sum(e.b for e in events(game, "gain") if e.rule == "S-8") == points
    assert coins - sum(e.b for e in events(game, "pay") if e.rule == "S-8") == left
    kinds = [(e.kind, e.seat) for e in game.events_since(0)][:4]
    assert kinds[:2] == [("turn-order-set", influence), ("turn-order-set", 1 - influence)]
    if points:
        assert kinds[2:] == [("pay", RIVAL), ("gain", RIVAL)]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.rule("S-8")
def test_gardeners_under_a_bridge_with_a_die_give_the_round_number_but_not_after_round_3(
    round_end, number
):
    def planted(position):
        position["clans"][RIVAL]["gardeners"] = ["coral plant", "black stone", "white stone"]
        position["bridges"]["white"] = {"left": None, "centre": [], "right": None}
        position["bridges"]["black"]["right"] = 6
        position["spaces"]["well"] = ["coral 1", "coral 1", "black 1", *["white 1"] * 3]

    game = round_end(number, change=planted)
    points = sum(e.b for e in events(game, "gain") if e.rule == "S-8")
    assert points == (2 * number if number < 3 else 0)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.rule("S-8", "S-3")
def test_the_solitaire_deck_is_shuffled_between_rounds_and_shows_its_top_card(round_end, number):
    game = round_end(number, influence=0)
    position, top = json.loads(game.to_json()), first_card(game, number + 1)
    assert position["round"] == number + 1
    assert position["decks"]["solitaire"] == rest([top])
    assert position["solitaire"] == {"top": top, "under": []}
    told = [e for e in game.events_since(0) if e.kind in ("draw", "round-began")]
    assert [(e.kind, e.rule) for e in told] == [("draw", "S-8"), ("round-began", "B-2.2")]
    assert game.tables.names[told[0].b] == top


@pytest.mark.rule("S-8")
def test_after_the_last_round_nothing_is_shuffled(round_end):
    position = json.loads(round_end(3).to_json())
    assert position["solitaire"] == {"top": "solitaire-9", "under": CARDS[:8]}


@pytest.mark.rule("S-9")
def test_the_rival_scores_like_a_player_without_coins_seals_and_resources(round_end):
    def full(position):
        rival = position["clans"][RIVAL]
        rival |= {"vp": 10, "influence": 15, "gardeners": ["coral plant"]}
        rival["courtiers"] |= {"domain": 2, "gate": 1, "steward-room-1": 1, "daimyo": 1}
        rival["warriors"]["yard-1"] = 1
        position["daimyo"]["slots"] = [1, None, None]

    game = round_end(3, coins=2, change=full)
    assert game.over
    lines = game.breakdown()[RIVAL]
    assert lines["coins and seals"] == lines["resources"] == 0
    assert lines["play"] == 10
    assert lines["passage of time"] == game.tables.track_points[15]
    assert lines["courtiers"] == 1 + 3 + 10
    assert lines["warriors"] == game.tables.yard_value[0] * 2
    assert lines["gardens"] == points_of(game, json.loads(game.to_json())["gardens"]["coral plant"])


@pytest.mark.parametrize(("influence", "winner"), [(0, 0), (1, 1)])
@pytest.mark.rule("S-9", "B-7.5")
def test_a_tie_goes_to_the_one_higher_in_turn_order(round_end, influence, winner):
    def even(position):
        position["clans"][0]["vp"] = position["clans"][1]["vp"] = 30

    game = round_end(3, influence, change=even)
    assert game.scores() == [30, 30]
    assert game.ranking()[winner] == 1


# --- the deck as data ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('die = "coral left"', 'die = "coral up"', "solitaire-1: die"),
        ('spaces = ["well"]', 'spaces = ["moat"]', "solitaire-8: spaces"),
        ('"2 rival-vp"]', '"2 vp"]', "solitaire-9: actions"),
        ('"2 rival-vp"]', '"2 rival-cake"]', "solitaire-9: actions"),
        ("turn-order = 2", "turn-order = 3", "easy: turn-order"),
        ("lots = [3, 5]", "lots = [3]", "rival-coins: lots"),
        ('die = "coral left"', 'die = "green left"', "a bridge that is played with"),
        ("solitaire = 9", "solitaire = 8", "counts: solitaire"),
    ],
)
@pytest.mark.rule("S-3", "S-6")
def test_a_fault_of_the_deck_names_file_entry_and_key(old, new, where):
    text = packaged("solo.toml")
    assert old in text
    text = text.replace(old, new, 1)
    with pytest.raises(BadComponents) as refusal:
        solo_ruleset(lambda name: text if name == "solo.toml" else packaged(name))
    assert "solo.toml" in str(refusal.value)
    assert where in str(refusal.value)


@pytest.mark.rule("S-3")
def test_the_shipped_deck_always_finds_a_die_and_says_that_it_is_a_reconstruction():
    ruleset = rules.ruleset("solo")
    cards = [ruleset.tables.of(n) for n in ruleset.tables.kinds["solitaire"]]
    assert len({(card.colour, card.side) for card in cards}) == 9
    assert all(card.reconstructed for card in cards)


def deck_of(count):
    """Solo with the first cards of the shipped deck alone."""
    before, *entries = packaged("solo.toml").split("[[solitaire]]")
    last, after = entries[-1].split("[[difficulty]]", 1)
    cards = "".join(f"[[solitaire]]{entry}" for entry in [*entries[:-1], last][:count])
    before = before.replace("solitaire = 9", f"solitaire = {count}")
    text = f"{'' if count else 'solitaire = []'}\n{before}{cards}[[difficulty]]{after}"
    return solo_ruleset(lambda name: text if name == "solo.toml" else packaged(name))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.rule("S-3")
def test_a_replaced_deck_of_few_cards_is_played_to_the_end(count, monkeypatch):
    monkeypatch.setitem(rules.RULESETS, "solo", deck_of(count))
    for seed in range(3):
        game = rules.new_game("solo", 1, seed=seed)
        while not game.over:
            game.apply(game.legal()[-1])
            assert rules.from_json(game.to_json()).to_json() == game.to_json()


@pytest.mark.rule("S-3")
def test_a_replaced_deck_without_cards_is_refused():
    with pytest.raises(BadComponents, match="there is a solitaire card"):
        deck_of(0)
