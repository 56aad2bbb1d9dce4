"""Matcha for one seat: the start, the rival's green dice, its geishas and its losses (M-12)."""

import json
import re
from functools import partial

import pytest
from himeji import rules
from himeji.rules.errors import ImpossiblePosition

from tests.rules.castle.matcha_positions import at, both
from tests.rules.playing import finish, policy

RIVAL = 1
CARDS = [*(f"solitaire-{n}" for n in range(1, 10)), "solitaire-m1", "solitaire-m2", "solitaire-m3"]
geishas = partial(at, RIVAL)


@pytest.fixture
def table(solitaire):
    """A position at the player's first turn, the deck in a known order."""
    return partial(solitaire, ruleset="matcha-solo")


@pytest.fixture
def rivals_turn(rivals_turn):
    """The game after a turn of the rival, or where it waits for a choice of the player."""
    return partial(rivals_turn, ruleset="matcha-solo")


def rival(game):
    return json.loads(game.to_json())["clans"][RIVAL]


def events(game, kind):
    return [e for e in game.events_since(0) if (e.kind, e.seat) == (kind, RIVAL)]


def gains(game):
    return [(e.a, e.b, e.rule) for e in events(game, "gain")]


# --- set-up (M-12.1, M-12.2, M-12.6, M-12.7) ----------------------------------------------------


@pytest.mark.rule("M-12.1")
def test_one_of_two_cards_of_each_kind_and_of_two_tiles_is_kept(do, offers):
    game = rules.new_game("matcha-solo", 1, seed=4, options={"difficulty": "easy"})
    position = json.loads(game.to_json())
    assert len(position["pairs"]) == len(position["tea"]["offered"]) == 2
    assert offers(game) == {"keep resource 1", "keep resource 2"}
    do(game, "keep resource 2")
    assert json.loads(game.to_json())["pairs"][0]["resource"] is None
    assert offers(game) == {"keep action 1", "keep action 2"}
    do(game, "keep action 1")
    assert offers(game) == {"keep tile 1", "keep tile 2"}
    do(game, "keep tile 2")
    player = json.loads(game.to_json())["clans"][0]
    assert player["action_card"] == position["pairs"][0]["action"]
    assert player["lantern"][0] == position["pairs"][1]["resource"]
    assert player["ceremony"] == position["tea"]["offered"][1]
    assert game.has(0, 4) > 0  # its gains were taken


@pytest.mark.rule("M-12.2", "S-3")
def test_one_of_the_twelve_cards_is_visible_after_a_shuffle():
    game = rules.new_game("matcha-solo", 1, seed=4, options={"difficulty": "easy"})
    position = json.loads(game.to_json())
    assert len(position["decks"]["solitaire"]) == 11
    assert sorted([position["solitaire"]["top"], *position["decks"]["solitaire"]]) == CARDS
    assert position["solitaire"]["under"] == []


@pytest.mark.rule("M-12.2", "M-12.6", "M-12.7")
def test_three_cards_join_the_nine_with_green_bridge_sides_and_all_are_marked():
    ruleset = rules.ruleset("matcha-solo")
    cards = [ruleset.tables.of(number) for number in ruleset.tables.kinds["solitaire"]]
    assert [card.id for card in cards] == CARDS
    assert [(card.colour, card.side) for card in cards[9:]] == [(3, 0), (3, 2), (3, 1)]
    tea_fields = [
        ruleset.tables.spaces.index(space)
        for space in ruleset.tables.spaces
        if space.area == "tea-fields"
    ]
    assert [list(card.targets) for card in cards[9:]] == [tea_fields] * 3
    assert len({(card.colour, card.side) for card in cards}) == 12
    assert all(card.reconstructed for card in cards)


@pytest.mark.rule("M-3.3", "M-3.5", "M-3.6", "M-4.1")
def test_one_seat_is_set_up_as_two_and_has_four_turns_a_round():
    game = rules.new_game("matcha-solo", 1, seed=4)
    position = json.loads(game.to_json())
    for bridge in position["bridges"].values():
        assert len([bridge["left"], *bridge["centre"], bridge["right"]]) == 3
    assert [len(position["decks"][deck]) for deck in ("flower", "calligraphy")] == [5, 5]
    tea = position["tea"]
    assert len({*tea["ceremonies"].values(), *tea["offered"]}) == 4 + 2
    finish(game, policy(4))
    taken = [event.seat for event in game.events_since(0) if event.kind == "die-taken"]
    assert (taken.count(0), taken.count(RIVAL)) == (12, 12)


@pytest.mark.rule("M-12.8", "M-11.1")
def test_the_rival_has_five_geishas_and_scores_them_as_a_player_does(table, load):
    assert table(["solitaire-9"])["clans"][RIVAL]["geishas"]["domain"] == 5
    position = table(["solitaire-9"])
    position["clans"][RIVAL]["gardeners"] = ["coral plant", "white stone", "black stone"]
    position["clans"][RIVAL]["courtiers"] |= {"domain": 4, "gate": 1}
    geishas(entrance=1, step_2=1, gardeners_room=2, courtiers_room=1)(position)
    lines = load(position).breakdown()[RIVAL]
    assert lines["geishas"] == 1 + 3 + 2 * (2 * 3) + 2 * 1


# --- the die (M-12.3) ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("placed", "space"),
    [
        ({}, "tea-fields-left"),
        ({"tea-fields-left": "coral 1"}, "tea-fields-right"),
        ({"tea-fields-left": "coral 1", "tea-fields-right": "black 1"}, "well"),
    ],
)
@pytest.mark.rule("M-12.3")
def test_a_green_die_goes_left_else_right_else_to_the_well(rivals_turn, placed, space):
    bridges = {}
    if placed:
        bridges["coral"] = (2, [], 5)
    if len(placed) == 2:
        bridges["black"] = (1, [], 6)
    game = rivals_turn(["solitaire-9", "solitaire-m3"], bridges, placed)
    assert json.loads(game.to_json())["spaces"][space] == ["green 6"]
    assert gains(game)[0] == (
        4,
        6 - (1 if space == "well" else 5),
        "S-4",
    )


# --- geishas (M-12.4, M-12.5, M-12.8, M-12.9) ---------------------------------------------------


@pytest.mark.rule("M-12.5", "M-12.9")
def test_another_geisha_than_the_one_just_placed_goes_one_step(rivals_turn, offers, do):
    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=geishas(step_1=1))
    # One is placed at the entrance and must stay; the one on step 1 goes on.
    assert rival(game)["geishas"]["entrance"] == 1
    assert rival(game)["geishas"]["step-2"] == 1
    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=geishas(entrance=1))
    assert offers(game) == {"rival walks entrance overlook", "rival walks entrance step-1"}
    do(game, "rival walks entrance overlook")
    assert rival(game)["geishas"] | {"domain": 3} == rival(game)["geishas"]
    assert (rival(game)["geishas"]["entrance"], rival(game)["geishas"]["overlook"]) == (1, 1)


@pytest.mark.rule("M-12.4", "M-12.5")
def test_an_impossible_movement_gives_the_round_number(rivals_turn):
    game = rivals_turn(["solitaire-m1", "solitaire-4"])
    # The only geisha on the board was just placed: nobody can walk.
    assert rival(game)["geishas"]["entrance"] == 1
    assert gains(game)[-1] == (6, 1, "S-5")


@pytest.mark.rule("M-12.5", "M-12.2", "M-12.9")
@pytest.mark.parametrize(("held", "lost"), [(8, 3), (2, 2), (0, 0)])
def test_points_are_lost_as_far_as_possible_and_a_loss_of_0_is_possible(rivals_turn, held, lost):
    def points(position):
        position["clans"][RIVAL]["vp"] = held

    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=both(geishas(step_1=1), points))
    assert [(e.a, e.b) for e in events(game, "pay")] == ([(6, lost)] if lost else [])
    assert (6, 1, "S-5") not in gains(game)


@pytest.mark.rule("M-12.5", "M-12.4")
def test_a_geisha_on_step_1_discards_a_card_of_the_players_choice(rivals_turn, offers, do):
    def coins(position):
        position["clans"][RIVAL]["coin"] = 7

    change = both(geishas(overlook=1), coins)
    game = rivals_turn(["solitaire-m2", "solitaire-4"], change=change)
    assert offers(game) == {"discard flower card", "discard calligraphy card"}
    before = json.loads(game.to_json())["tea"]["outskirts"]["flower"]
    do(game, "discard flower card")
    after = json.loads(game.to_json())
    assert after["tea"]["outskirts"]["flower"] != before
    assert before not in json.dumps(after)
    assert rival(game)["geishas"]["step-1"] == 1
    assert rival(game)["coin"] == 0  # all of them
    assert gains(game)[-1] == (6, 1, "S-5")  # no other geisha could walk


@pytest.mark.rule("M-12.4", "M-12.9")
def test_a_walk_to_step_1_discards_a_card_too(rivals_turn, offers, do):
    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=geishas(entrance=1, overlook=1))
    assert offers(game) == {"discard flower card", "discard calligraphy card"}
    do(game, "discard calligraphy card")
    assert rival(game)["geishas"]["step-1"] == 1


@pytest.mark.rule("M-12.4")
def test_the_last_card_of_a_deck_is_never_discarded(rivals_turn):
    def last(position):
        for deck in ("flower", "calligraphy"):
            position["decks"][deck] = []

    game = rivals_turn(["solitaire-m2", "solitaire-4"], change=last)
    assert rival(game)["geishas"]["step-1"] == 1
    assert events(game, "card-moved") == []

    def flower_last(position):
        position["decks"]["flower"] = []

    game = rivals_turn(["solitaire-m2", "solitaire-4"], change=flower_last)
    assert [game.tables.of(e.a).kind for e in events(game, "card-moved")] == ["calligraphy"]


@pytest.mark.rule("M-12.4", "M-12.8")
def test_in_the_tea_house_the_room_worth_most_is_taken_and_ties_are_free(rivals_turn, offers):
    def members(position):
        position["clans"][RIVAL]["gardeners"] = ["coral plant", "coral stone"]
        position["clans"][RIVAL]["warriors"]["yard-1"] = 1

    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=both(geishas(step_2=1), members))
    assert rival(game)["geishas"]["gardeners-room"] == 1

    def equal(position):
        members(position)
        position["clans"][RIVAL]["warriors"]["yard-1"] = 2

    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=both(geishas(step_2=1), equal))
    assert offers(game) == {
        "rival walks step-2 gardeners-room",
        "rival walks step-2 warriors-room",
    }


@pytest.mark.rule("M-12.8")
def test_a_room_with_two_rival_geishas_is_no_target(rivals_turn, offers):
    def members(position):
        position["clans"][RIVAL]["gardeners"] = ["coral plant", "coral stone"]

    change = both(geishas(step_2=1, gardeners_room=2), members)
    game = rivals_turn(["solitaire-m1", "solitaire-4"], change=change)
    assert offers(game) == {"rival walks step-2 warriors-room", "rival walks step-2 courtiers-room"}


@pytest.mark.parametrize(
    ("start", "players", "end", "markers"),
    [(5, 3, 3, [0, 1]), (1, 0, 0, [0, 1]), (0, 0, 0, [1, 0])],
)
@pytest.mark.rule("M-12.5", "M-12.2")
def test_the_marker_goes_back_two_and_ends_on_top_of_a_tie(
    rivals_turn, start, players, end, markers
):
    def influence(position):
        position["clans"][RIVAL]["influence"] = start
        position["clans"][0]["influence"] = players
        position["markers"] = [1, 0]

    game = rivals_turn(["solitaire-m3", "solitaire-4"], change=influence)
    assert rival(game)["influence"] == end
    assert rival(game)["geishas"]["step-2"] == 1
    assert json.loads(game.to_json())["markers"] == markers
    assert (6, 1, "S-5") not in gains(game)


# --- whole turns, told in words (M-12.4, M-12.5, M-12.9) ----------------------------------------


def told(game):
    """What the rival did after its die was placed; of cards that leave, their deck."""
    words = [game.rules.tell(record, 1) for record in game.log if record[1] == RIVAL]
    placed = next(n for n, text in enumerate(words) if " places " in text)
    text = re.sub(r"the rival:? (a geisha goes from )?", "", ", ".join(words[placed + 1 :]))
    return re.sub(r"-\d leaves the game", " leaves", text)


def holding(change, **amounts):
    return both(change, lambda position: position["clans"][RIVAL].update(amounts))


def spent(**amounts):
    """Every geisha stands where its walk ends."""
    return holding(geishas(overlook=1, gardeners_room=2, warriors_room=2), **amounts)


NO_DIE = {"m1": (None, [], 6), "m2": (2, [], 6), "m3": (2, [], None)}
WHOLE_TURNS = [
    ("m1", spent(vp=2), "", "gains 1 vp, pays 3 vp, gains 1 vp"),
    ("m1", spent(), "", "gains 1 vp, pays 1 vp, gains 1 vp"),
    (
        "m1",
        holding(geishas(entrance=1, step_1=1), vp=2),
        "rival walks entrance overlook",
        "domain to entrance, pays 2 vp, entrance to overlook",
    ),
    (
        "m1",  # none is placed, so the one at the entrance may walk
        geishas(entrance=1, gardeners_room=2, warriors_room=2),
        "rival walks entrance overlook",
        "gains 1 vp, pays 1 vp, entrance to overlook",
    ),
    (
        "m2",
        holding(geishas(entrance=1), coin=4),
        "discard flower card, rival walks entrance step-1, discard calligraphy card",
        "domain to step-1, flower leaves, pays 4 coins, entrance to step-1, calligraphy leaves",
    ),
    ("m2", spent(), "", "gains 1 vp, gains 1 vp"),
    (
        "m3",
        holding(geishas(), influence=5),
        "",
        "domain to step-2, influence goes to 4, influence goes to 3",
    ),
    ("m3", spent(), "", "gains 1 vp"),
    (
        "m3 m1",  # the geisha of the first card may walk, that of the second may not
        geishas(),
        "rival walks step-2 warriors-room",
        "domain to step-2, domain to entrance, step-2 to warriors-room",
    ),
    (
        "m3 m1",  # the second card finds no geisha: that of the first may walk, to the last room
        geishas(gardeners_room=2, warriors_room=2),
        "",
        "domain to step-2, gains 1 vp, pays 1 vp, step-2 to courtiers-room",
    ),
    (
        "m1 m2",
        geishas(),
        "discard flower card, rival walks entrance overlook",
        "domain to entrance, gains 1 vp, domain to step-1, flower leaves, entrance to overlook",
    ),
]


@pytest.mark.parametrize(("cards", "change", "script", "deeds"), WHOLE_TURNS)
@pytest.mark.rule("M-12.2", "M-12.4", "M-12.5", "M-12.9")
def test_the_three_cards_do_all_they_say_and_nothing_else(
    rivals_turn, cards, change, script, deeds
):
    turned = cards.split()
    bridges = {"green": NO_DIE[turned[1]]} if len(turned) > 1 else {}
    game = rivals_turn([f"solitaire-{card}" for card in (*turned, "4")], bridges, change=change)
    for text in filter(None, script.split(", ")):
        game.apply(rules.action_id("matcha-solo", text))
    assert told(game) == deeds
    assert "take coral left" in [game.rules.actions.text(action) for action in game.legal()]


# --- the garden step (M-12.10) ------------------------------------------------------------------


@pytest.mark.rule("M-12.10", "S-8")
def test_a_rival_geisha_on_the_overlook_gives_nothing_in_the_garden_step(table, load):
    position = table(["solitaire-9"])
    for colour, value in (("coral", 3), ("black", 4), ("white", 5), ("green", 6)):
        position["bridges"][colour] = {"left": value, "centre": [], "right": None}
    colours = ("coral", "black", "white", "green")
    position["spaces"]["well"] = [f"{c} 1" for c in colours for _ in (1, 2)]
    position |= {"turn": 8, "pending": []}
    position["clans"][RIVAL]["geishas"] |= {"domain": 4, "overlook": 1}
    position["clans"][RIVAL]["gardeners"] = ["coral plant"]
    game = load(position)
    assert [gain for gain in gains(game) if gain[2] == "S-8"] == [(6, 1, "S-8")]


@pytest.mark.rule("M-12.9")
def test_a_choice_that_the_rival_does_not_have_is_refused_in_a_position(table):
    position = table(["solitaire-9"])
    position["pending"] = [{"step": "rival-walk", "seat": 0, "spared": "domain"}]
    with pytest.raises(ImpossiblePosition, match="no choice of walks"):
        rules.from_json(position)
