"""Matcha: set-up, rounds, the new spaces, chasen (M-3 to M-6)."""

import json
from collections import Counter

import pytest
from himeji import rules
from himeji.rules.castle.matcha.matcha import matcha_ruleset
from himeji.rules.chance import Scripted, seeded
from himeji.rules.datafile import packaged
from himeji.rules.errors import BadComponents, IllegalAction, ImpossiblePosition

from tests.rules.castle.matcha_positions import at, held
from tests.rules.playing import finish, policy

TEA_SPACES = ("tea-fields-left", "tea-fields-right", "outskirts-upper", "outskirts-lower")
SEATS = pytest.mark.parametrize("seats", [2, 3, 4])


def set_die(position, colour, value):
    """The right die of a bridge."""
    bridge = position["bridges"][colour]
    bridge["left"], bridge["centre"], bridge["right"] = 1, [1] * len(bridge["centre"]), value


# --- set-up (M-3) -------------------------------------------------------------------------------


@pytest.mark.rule("M-3.1")
def test_the_expansion_is_shuffled_into_the_decks():
    kinds = rules.ruleset("matcha").tables.kinds
    counts = {kind: len(cards) for kind, cards in kinds.items()}
    tables = rules.ruleset("matcha").tables
    plants = sum(tables.of(card).plant for card in kinds["garden"])
    assert (counts["steward"], counts["diplomat"], counts["daimyo"]) == (18, 15, 12)
    assert (plants, counts["garden"] - plants) == (8, 8)
    assert (counts["start-action"], counts["start-resource"], counts["yard-tile"]) == (8, 12, 12)
    seen = {
        tile
        for seed in range(30)
        for tile in json.loads(rules.new_game("matcha", 2, seed=seed).to_json())[
            "yard_tiles"
        ].values()
    }
    assert {"yard-tile-m1", "yard-tile-m2", "yard-tile-m3", "yard-tile-m4"} <= seen


@pytest.mark.rule("M-3.2", "B-1.2")
def test_five_cards_with_the_geisha_action_are_dealt_again():
    geishas = ["steward-16", "steward-17", "steward-18", "diplomat-13", "diplomat-14"]
    kept = [*geishas[:4], "diplomat-02"]
    numbers = rules.ruleset("matcha").tables.numbers
    script = [numbers[card] for card in (*geishas, *kept)]
    game = rules.new_game("matcha", 2, chance=Scripted(script, seeded(1)))
    position = json.loads(game.to_json())
    assert list(position["rooms"].values()) == kept
    assert position["deal"] == 2


@SEATS
@pytest.mark.rule("M-3.3", "M-4.1")
def test_there_are_players_plus_one_green_dice_sorted_like_the_others(seats):
    bridge = json.loads(rules.new_game("matcha", seats, seed=5).to_json())["bridges"]["green"]
    dice = [bridge["left"], *bridge["centre"], bridge["right"]]
    assert len(dice) == seats + 1
    assert dice == sorted(dice)


@SEATS
@pytest.mark.rule("M-3.4", "M-3.6")
def test_three_lilies_lie_in_the_pond_and_tiles_in_rooms_overlook_and_below_pairs(seats):
    game = rules.new_game("matcha", seats, seed=5)
    tea = json.loads(game.to_json())["tea"]
    assert len(set(tea["lilies"])) == 3
    tiles = [*tea["ceremonies"].values(), *tea["offered"]]
    assert len(tiles) == len(set(tiles)) == 4 + seats + 1
    assert list(tea["ceremonies"]) == [
        "gardeners-room",
        "warriors-room",
        "courtiers-room",
        "overlook",
    ]


@SEATS
@pytest.mark.rule("M-3.5")
def test_the_outskirts_decks_lie_face_up_and_without_diamonds_for_two(seats):
    game = rules.new_game("matcha", seats, seed=5)
    position = json.loads(game.to_json())
    for deck in ("flower", "calligraphy"):
        cards = [position["tea"]["outskirts"][deck], *position["decks"][deck]]
        assert len(cards) == (8 if seats > 2 else 6)
        diamonds = [c for c in cards if game.tables.of(game.tables.numbers[c]).diamond]
        assert len(diamonds) == (2 if seats > 2 else 0)


@pytest.mark.rule("M-3.7")
def test_every_clan_has_five_geishas_at_home_and_no_chasen():
    for clan in json.loads(rules.new_game("matcha", 3, seed=5).to_json())["clans"]:
        assert clan["geishas"]["domain"] == 5
        assert clan["chasen"] == 0


@pytest.mark.rule("M-3.8", "M-3.2")
def test_a_pair_is_taken_with_its_tile_in_reverse_turn_order():
    game = rules.new_game("matcha", 3, seed=5)
    position = json.loads(game.to_json())
    assert game.to_move == position["turn_order"][-1]
    tile = position["tea"]["offered"][1]
    mover = game.to_move
    game.apply(rules.action_id("matcha", "pick pair 2"))
    after = json.loads(game.to_json())
    assert after["clans"][mover]["ceremony"] == tile
    assert after["tea"]["offered"][1] is None
    finish(game, policy(1))
    assert json.loads(game.to_json())["clans"][mover]["ceremony"] == tile
    assert json.loads(game.to_json())["tea"]["offered"] == []


# --- rounds (M-4) -------------------------------------------------------------------------------


@SEATS
@pytest.mark.rule("M-4.1")
def test_a_round_has_four_turns_each_and_leaves_four_dice(seats):
    game = rules.new_game("matcha", seats, seed=2)
    finish(game, policy(2))
    events = game.events_since(0)
    starts = [n for n, event in enumerate(events) if event.kind == "round-began"]
    assert len(starts) == 3
    for start, end in zip(starts, [*starts[1:], len(events)], strict=True):
        taken = [e.seat for e in events[start:end] if e.kind == "die-taken"]
        assert Counter(taken) == dict.fromkeys(range(seats), 4)
        rolled = [e for e in events[start:end] if e.kind == "roll"]
        assert len(rolled) - len(taken) == 4


@pytest.mark.rule("M-4.2")
def test_a_green_die_from_the_left_pays_the_lantern(tea, load, do):
    position = tea(coin=5)
    position["clans"][0]["lantern"] = ["start-resource-10"]
    for other in position["clans"][1:]:
        other["lantern"] = [card for card in other["lantern"] if card != "start-resource-10"]
    game = load(position)
    do(game, "take green left", "place well")
    assert [e.b for e in game.events_since(0) if (e.kind, e.rule, e.a) == ("gain", "B-5.1", 3)] == [
        1
    ]


@pytest.mark.rule("M-4.3")
def test_green_dice_never_go_to_the_castle_or_to_another_row(tea, load, do, offers):
    game = load(tea(coin=9))
    do(game, "take green right")
    spaces = {text.removeprefix("place ") for text in offers(game) if text.startswith("place")}
    assert spaces == {"well", "outside-left", "outside-right", "domain-green", *TEA_SPACES}
    with pytest.raises(IllegalAction, match="no tile of that room is green"):
        do(game, "place steward-room-1")
    with pytest.raises(IllegalAction, match="green die goes on the green row"):
        do(game, "place domain-coral")


@pytest.mark.rule("M-4.3", "M-5.1")
def test_no_other_die_goes_to_the_green_row_but_any_to_the_new_spaces(tea, load, do, offers):
    for colour in ("coral", "black", "white"):
        game = load(tea(coin=9))
        do(game, f"take {colour} right")
        assert "place domain-green" not in offers(game)
        assert {f"place {space}" for space in TEA_SPACES} <= offers(game)


@pytest.mark.rule("M-4.4")
def test_the_icon_for_a_domain_row_covers_the_three_old_rows(acting, offers):
    game = acting({"step": "choose-domain-row", "seat": 0})
    assert offers(game) == {"done", *(f"domain-row {c}" for c in ("coral", "black", "white"))}


# --- spaces (M-5) -------------------------------------------------------------------------------


@pytest.mark.rule("M-5.1", "M-5.2")
def test_the_spaces_show_their_values_and_take_as_many_dice_as_others():
    spaces = {space.name: space for space in rules.ruleset("matcha").tables.spaces}
    assert [spaces[name].printed for name in TEA_SPACES] == [5, 5, 5, 5]
    assert spaces["domain-green"].printed == 6
    assert [spaces[name].reconstructed for name in TEA_SPACES] == [True, True, True, False]


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.rule("M-5.1", "M-5.2")
def test_two_dice_fit_on_a_new_space_with_three_seats(tea, load, do, offers, seats):
    position = tea(seats, coin=9)
    position["spaces"]["tea-fields-left"] = [f"coral {position['bridges']['coral']['left']}"]
    bridge = position["bridges"]["coral"]
    bridge["left"] = bridge["centre"].pop(0)
    position["turn"] = 2
    game = load(position)
    do(game, "take green right")
    assert ("place tea-fields-left" in offers(game)) is (seats > 2)


@pytest.mark.parametrize(("below", "coins"), [(2, 5), (4, 3), (6, 1)])
@pytest.mark.rule("M-5.2", "B-2.5")
def test_a_second_die_on_a_new_space_compares_with_the_die_below(tea, load, do, below, coins):
    position = tea(3, coin=2)
    position["bridges"]["coral"]["centre"].pop()
    position["spaces"]["outskirts-upper"] = [f"coral {below}"]
    position["turn"] = 2
    set_die(position, "green", 5)
    game = load(position)
    do(game, "take green right", "place outskirts-upper")
    assert held(game)["coin"] == coins


@pytest.mark.parametrize(("value", "coins"), [(6, 3), (5, 2), (3, 0)])
@pytest.mark.rule("M-5.2", "B-2.5")
def test_the_coin_difference_is_that_of_the_base_game(tea, load, do, value, coins):
    position = tea(coin=2)
    set_die(position, "green", value)
    game = load(position)
    do(game, "take green right", "place tea-fields-left")
    assert held(game)["coin"] == coins


@pytest.mark.rule("M-5.1")
def test_the_tea_fields_give_geisha(tea, load, do, offers):
    position = tea(coin=9)
    game = load(position)
    do(game, "take coral right", "place tea-fields-right")
    assert offers(game) == {"done", "entrance"}


@pytest.mark.rule("M-5.3", "M-5.4")
def test_a_die_reads_both_upper_curtains_in_any_order_each_optional(tea, load, do, offers):
    game = load(tea(coin=9, seal=1))
    do(game, "take coral right", "place outskirts-upper")
    assert {t for t in offers(game) if "exchange" not in t} == {
        "done",
        "curtain flower upper",
        "curtain calligraphy upper",
    }
    do(game, "curtain calligraphy upper")  # yellow: 2 VP, free
    assert held(game)["vp"] == 2
    assert {t for t in offers(game) if "exchange" not in t} == {"done", "curtain flower upper"}
    do(game, "curtain flower upper")  # blue: a seal for GARDENER or GEISHA
    assert held(game)["seal"] == 0
    assert offers(game) == {"done", "do gardener", "do geisha"}


@pytest.mark.rule("M-5.3", "M-5.4")
def test_a_die_reads_both_lower_curtains_and_a_blue_one_costs_its_seal(tea, load, do, offers):
    game = load(tea(coin=5))
    do(game, "take coral right", "place outskirts-lower")
    assert offers(game) == {"done", "curtain flower lower"}
    with pytest.raises(IllegalAction, match="1 seal") as refusal:
        do(game, "curtain calligraphy lower")
    assert refusal.value.rule == "M-5.3"
    before = held(game)["coin"]
    do(game, "curtain flower lower")
    assert held(game)["coin"] == before + 4


@pytest.mark.rule("M-5.4", "M-5.3")
def test_flower_cards_are_blue_above_and_calligraphy_cards_yellow_above():
    tables = rules.ruleset("matcha").tables
    for kind, blue in (("flower", 0), ("calligraphy", 1)):
        for number in tables.kinds[kind]:
            rows = tables.of(number).rows
            assert (rows[blue].dark, rows[blue].cost) == (True, 1)
            assert (rows[1 - blue].dark, rows[1 - blue].cost) == (False, 0)


@pytest.mark.rule("M-5.3")
def test_an_icon_for_one_yellow_curtain_gives_one_of_the_two(acting, do, offers):
    effect = {"step": "parts", "seat": 0, "rule": "M-5.3", "effects": ["curtain yellow"]}
    game = acting(effect)
    assert offers(game) == {"done", "curtain flower lower", "curtain calligraphy upper"}
    do(game, "curtain flower lower")
    assert (held(game)["coin"], held(game)["vp"], game.to_move) == (4, 0, 1)


@pytest.mark.parametrize("worker", ["courtier", "gardener", "warrior"])
@pytest.mark.rule("M-5.3")
def test_a_worker_or_geisha_is_one_of_the_two_or_none(acting, do, offers, worker):
    effects = [f"{worker} or geisha"]
    step = {"step": "parts", "seat": 0, "rule": "M-5.3", "effects": effects}
    game = acting(step, coin=2, food=1, iron=1)
    assert offers(game) == {"done", f"do {worker}", "do geisha"}
    do(game, "do geisha", "entrance")
    assert (held(game)["geishas"]["entrance"], game.to_move) == (1, 1)


@pytest.mark.rule("M-5.5")
def test_a_die_leaves_the_cards_where_they_are(tea, load, do):
    game = load(tea(coin=9))
    before = json.loads(game.to_json())["tea"]["outskirts"]
    do(game, "take coral right", "place outskirts-upper", "curtain calligraphy upper")
    assert json.loads(game.to_json())["tea"]["outskirts"] == before


BLUE_THEN_YELLOW = {
    "step": "curtains",
    "seat": 0,
    "cards": ["flower-1", "calligraphy-3"],
    "curtains": ["flower upper", "calligraphy upper"],
    "limit": "each",
    "rule": "M-5.3",
}
WALK_TO_STEP_1 = ("do geisha", "walk entrance step-1")


@pytest.mark.rule("M-5.3", "M-7.6")
def test_a_card_that_leaves_while_a_die_is_read_takes_its_curtain_with_it(acting, do, offers):
    # GEISHA by the blue curtain, whose walk takes the calligraphy card and its 2 VP.
    game = acting(BLUE_THEN_YELLOW, change=at(entrance=1), seal=2, chasen=2)
    do(game, "curtain flower upper", *WALK_TO_STEP_1, "take calligraphy card", "perform", "done")
    assert held(game)["lantern"][-1] == "calligraphy-3"
    assert held(game)["vp"] == 2
    assert offers(game) == {"done", "exchange 1 seal for 1 coin"}
    with pytest.raises(IllegalAction, match="calligraphy-3 has left its deck") as refusal:
        do(game, "curtain calligraphy upper")
    assert refusal.value.rule == "M-5.3"


@pytest.mark.rule("M-5.3", "M-7.6")
def test_the_card_that_comes_gives_nothing_to_the_die_that_lies_there(acting, do):
    game = acting(BLUE_THEN_YELLOW, change=at(entrance=1), seal=1, chasen=2)
    do(game, "curtain flower upper", *WALK_TO_STEP_1, "take calligraphy card", "done")
    assert game.to_move == 1


@pytest.mark.rule("M-5.3", "M-7.6")
def test_the_curtain_of_the_card_that_stays_may_still_be_performed(acting, do, offers):
    game = acting(BLUE_THEN_YELLOW, change=at(entrance=1), seal=1, chasen=2)
    do(game, "curtain flower upper", *WALK_TO_STEP_1, "take flower card", "done")
    assert offers(game) == {"done", "curtain calligraphy upper"}
    do(game, "curtain calligraphy upper")
    assert held(game)["vp"] == 2


@pytest.mark.rule("M-5.3", "M-8.2")
def test_of_both_curtains_of_a_card_the_second_goes_when_the_card_leaves(acting, do):
    effect = {"step": "parts", "seat": 0, "rule": "M-5.3", "effects": ["curtains of a card"]}
    game = acting(effect, change=at(entrance=1), seal=1, chasen=2)
    do(game, "curtain flower upper", *WALK_TO_STEP_1, "take flower card", "perform")
    assert held(game)["coin"] == 4  # its yellow curtain, once
    do(game, "done")  # the entrance
    assert game.to_move == 1


@pytest.mark.parametrize("gone", [0, 1, 3, 5])
@pytest.mark.rule("M-5.6")
def test_the_green_row_gives_its_visible_rewards_then_the_own_tile_for_a_seal(
    tea, load, do, offers, gone
):
    position = tea(coin=6, seal=1)
    position["clans"][0]["geishas"] |= {"domain": 5 - gone, "entrance": gone}
    set_die(position, "green", 6)
    game = load(position)
    do(game, "take green right", "place domain-green")
    if gone >= 4:
        do(game, "choose food")
    assert held(game)["chasen"] == {0: 1, 1: 2, 3: 3, 5: 4}[gone]
    assert held(game)["coin"] == 6 + (2 if gone >= 3 else 0)
    assert {"done", "perform"} <= offers(game)
    do(game, "perform")
    assert held(game)["seal"] == 0


@pytest.mark.rule("M-5.6")
def test_without_a_seal_the_own_tile_is_not_asked_for(tea, load, do):
    position = tea(coin=6)
    set_die(position, "green", 6)
    game = load(position)
    do(game, "take green right", "place domain-green")
    assert game.to_move == 1


# --- chasen (M-6) -------------------------------------------------------------------------------


@pytest.mark.rule("M-6.1")
def test_chasen_beyond_seven_are_lost(acting):
    parts = {"step": "parts", "seat": 0, "rule": "M-6.1", "effects": ["2 chasen", "1 coin"]}
    game = acting(parts, chasen=6)
    assert held(game)["chasen"] == 7
    assert [(e.a, e.b) for e in game.events_since(0) if e.kind == "lost"] == [(3, 1)]


@pytest.mark.rule("M-6.2")
def test_any_never_gives_chasen(acting, offers):
    game = acting({"step": "choose-resource", "seat": 0, "amount": 1, "rule": "M-6.2"})
    assert offers(game) == {"choose food", "choose iron", "choose pearl"}


@pytest.mark.rule("M-6.3")
def test_two_seals_buy_a_chasen_at_any_time_below_the_cap(tea, load, do, offers):
    game = load(tea(seal=5, chasen=6))
    do(game, "exchange 2 seals for 1 chasen")
    assert (held(game)["seal"], held(game)["chasen"]) == (3, 7)
    assert "exchange 2 seals for 1 chasen" not in offers(game)
    with pytest.raises(IllegalAction, match="chasen stands at its cap"):
        do(game, "exchange 2 seals for 1 chasen")
    do(game, "exchange 1 seal for 1 coin", "exchange 2 seals for 1 pearl")
    assert (held(game)["seal"], held(game)["coin"], held(game)["pearl"]) == (0, 1, 1)


# --- positions and data -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "key"),
    [
        (lambda p: p["clans"][0]["geishas"].update(entrance=1), "clans[0].geishas"),
        (
            lambda p: p["clans"][0]["geishas"].update({"domain": 3, "overlook": 2}),
            "clans[0].geishas.overlook",
        ),
        (
            lambda p: p["clans"][0]["geishas"].update({"domain": 2, "warriors-room": 3}),
            "clans[0].geishas.warriors-room",
        ),
        (lambda p: p["clans"][0].update(ceremony=None), "clans[0].ceremony"),
        (lambda p: p["clans"][0].update(ceremony="lily-vp"), "clans[0].ceremony"),
        (lambda p: p["tea"]["lilies"].pop(), "tea.lilies"),
        (lambda p: p["tea"]["ceremonies"].update(overlook=None), "tea.ceremonies.overlook"),
        (lambda p: p["tea"]["outskirts"].pop("flower"), "tea.outskirts.flower"),
        (lambda p: p["tea"].update(offered=["ceremony-01"]), "tea.offered"),
        (lambda p: p["decks"]["flower"].pop(), "flower-"),
        (lambda p: p.pop("tea"), "tea"),
        (lambda p: p["tea"].update(cake=1), "tea.cake"),
    ],
)
@pytest.mark.rule("M-3.7", "M-7.5", "B-8")
def test_an_impossible_position_is_refused_with_the_key(tea, spoil, key):
    position = tea()
    spoil(position)
    with pytest.raises(ImpossiblePosition) as refusal:
        rules.from_json(position)
    assert any(reason.startswith(key) for reason in refusal.value.reasons), refusal.value.reasons


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        (
            'upper = { dark = true, cost = "1 seal", gives = ["geisha"] }',
            'upper = { gives = ["geisha"] }',
            "a blue curtain",
        ),
        ('reward = "1 vp"', 'reward = "1 cake"', "lily-vp: reward"),
        ('offers = ["geisha"]', 'offers = ["lantern"]', "tea-fields-left: offers"),
        ("lily = 8", "lily = 7", "counts: lily"),
        ('id = "overlook"', 'id = "balcony"', "id: expected one of overlook"),
        ('blue = ["geisha", "1 any"]', "blue = []", "ceremony-01: blue"),
    ],
)
@pytest.mark.rule("M-3.1")
def test_a_fault_of_the_data_names_file_entry_and_key(old, new, where):
    text = packaged("matcha.toml")
    assert old in text
    text = text.replace(old, new, 1)
    with pytest.raises(BadComponents) as refusal:
        matcha_ruleset(lambda name: text if name == "matcha.toml" else packaged(name))
    assert "matcha.toml" in str(refusal.value)
    assert where in str(refusal.value)


@pytest.mark.rule("M-3.1")
def test_reconstructed_components_say_so_and_known_ones_do_not():
    told = {each.id: each for each in rules.ruleset("matcha").describe_components()}
    assert told["steward-16"].reconstructed
    assert told["flower-1"].reconstructed
    assert "4 coins" in told["flower-1"].note
    assert told["yard-tile-m1"].reconstructed
    assert "blue_face" in told["yard-tile-m1"].note
    assert told["ceremony-01"].reconstructed
    assert "reconstructed: pairing" in told["ceremony-01"].note
    assert not told["lily-coin"].reconstructed
    assert told["lily-food"].reconstructed
