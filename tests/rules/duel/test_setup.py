"""The board and the set-up (D-3, D-4)."""

import json
from collections import Counter

import pytest
from himeji import rules
from himeji.rules.chance import Keyed, Recorded, seeded
from himeji.rules.errors import IllegalAction

from tests.rules.duel.conftest import clan, do, goods, load, offers, pending, show, told

LAYOUTS = ("random", "first-game")


def begin(seed=1, layout="random"):
    return rules.new_game("duel", 2, seed=seed, options={"layout": layout})


def position(game):
    return json.loads(game.to_json())


@pytest.mark.rule("D-3.1", "D-3.2")
@pytest.mark.parametrize(
    ("location", "slots"),
    [
        ("L1", ("A1", "A2")),
        ("L2", ("A3", "D_MID")),
        ("L3", ("A4", "D_MID")),
        ("L4", ("A5", "D_LEFT")),
        ("L5", ("A5", "A6")),
        ("L6", ("A6", "D_RIGHT")),
    ],
)
def test_a_location_lies_between_two_action_slots(first_turn, location, slots):
    start = first_turn(swap=0)
    tile = start["locations"][location]["tile"].split("-")[1]
    colour = next(c for c in ("coral", "black", "white") if c != tile)
    game = do(load(start), f"place {colour} {location}")
    assert [text for text in offers(game) if text.startswith("decline")] == [
        f"decline {slot}" for slot in slots
    ]


@pytest.mark.rule("D-3.3")
@pytest.mark.parametrize(("food", "columns"), [(1, ""), (2, "123"), (4, "123"), (5, "123456")])
def test_stone_columns_cost_two_food_and_plant_columns_five(first_turn, food, columns):
    step = {"step": "garden", "seat": 0, "discount": 0, "optional": True}
    game = load(pending(first_turn(food=food, seal=2), step))
    assert offers(game) == ["done", *[f"garden G{column}" for column in columns]]


@pytest.mark.rule("D-3.3")
def test_the_icons_of_the_gardens_are_the_printed_ones():
    tables = rules.ruleset("duel").tables
    printed = [(1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 0, 1, 0)]
    printed += [(2, 0, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 1)]
    assert tables.column_icons == printed
    assert tables.column_spaces == 2


@pytest.mark.rule("D-3.4")
def test_the_basic_yard_takes_five_seals_and_the_elite_yard_three(first_turn):
    start = first_turn(iron=7, seal=2)
    pending(start, {"step": "training", "seat": 0, "discount": 0, "optional": True})
    start["clans"][0]["yard_seals"] = {"basic": 2, "elite": 1}
    start["clans"][1]["yard_seals"] = {"basic": 2, "elite": 1}
    assert offers(load(start)) == ["done", "train basic", "train elite"]
    start["clans"][1]["yard_seals"] = {"basic": 3, "elite": 1}
    assert offers(load(start)) == ["done", "train elite"]
    start["clans"][1]["yard_seals"] = {"basic": 2, "elite": 2}
    assert offers(load(start)) == ["done", "train basic"]


@pytest.mark.rule("D-3.5")
@pytest.mark.parametrize(("space", "level"), [(0, 0), (1, 1), (3, 1), (4, 2), (6, 2), (7, 3)])
def test_a_flag_counts_by_the_level_of_the_courtier(first_turn, space, level):
    start = first_turn()
    start["clans"][0] |= {"courtier": space, "path": "left" if space else None}
    start["clans"][1] |= {"path": "right" if space else None}
    start["clans"][0]["garden_seals"]["G1"] = 1
    assert load(start).breakdown()[0]["flags"] == level


@pytest.mark.rule("D-3.6", "D-7.1")
def test_points_have_no_limit_of_forty(first_turn):
    start = first_turn(vp=123)
    assert load(start).scores()[0] == 123


@pytest.mark.rule("D-3.7")
@pytest.mark.parametrize(
    ("place", "colour", "good"),
    [("white L1", "coral", "food"), ("white L2", "black", "iron"), ("coral L3", "white", "pearl")],
)
def test_a_zone_pays_its_printed_reward(first_turn, place, colour, good):
    start = first_turn()
    game = do(load(start), f"place {place}")
    assert goods(game)[good] == 1
    assert f"seat 0: the {colour} zone shines" in told(game)


# --- set-up -----------------------------------------------------------------------------------


@pytest.mark.rule("D-4.1", "D-4.3", "D-4.5", "D-4.6", "D-4.7")
def test_the_first_game_has_its_fixed_layout_and_the_rest_stays_random():
    first, second = (position(begin(seed, "first-game")) for seed in (1, 2))
    for key in ("activation", "locations", "gardens", "yards", "paths"):
        assert first[key] == second[key]
    assert first["activation"] == {
        "A1": "activation-courtier",
        "A2": "activation-trade",
        "A3": "activation-improve",
        "A4": "activation-training",
        "A5": "activation-garden",
        "A6": "activation-lantern",
    }
    colours = [place["tile"].split("-")[1] for place in first["locations"].values()]
    assert colours == ["coral", "black", "white", "white", "black", "coral"]
    components = rules.ruleset("duel").tables
    stone = [components.of(components.numbers[t]).faces for t in first["gardens"].values()]
    shown = [faces[0].text for faces in stone[:3]] + [faces[1].text for faces in stone[3:]]
    assert shown == ["1 any", "1 pearl", "lantern-card", "1 swap", "3 vp", "lantern any"]
    assert first["yards"] == {"basic": "basic-1", "elite": "elite-1"}
    for key in ("decks", "lantern_cards", "start_cards"):
        assert first[key] != second[key]


@pytest.mark.rule("D-4.1")
def test_the_layout_is_random_unless_an_option_says_otherwise():
    assert rules.new_game("duel", 2, seed=1).options == {"layout": "random"}
    layouts = {json.dumps(position(begin(seed))["activation"]) for seed in range(20)}
    assert len(layouts) > 10


@pytest.mark.rule("D-4.2")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_decks_are_three_dozens_of_one_shuffle_with_their_tops_shown(layout):
    start = position(begin(3, layout))
    tops = [deck["top"] for deck in start["decks"].values()]
    assert [deck["below"] for deck in start["decks"].values()] == [11, 11, 11]
    assert len({*tops, *start["unseen_cards"]}) == 36
    kinds = Counter(top.split("-")[0] for seed in range(60) for top in _tops(begin(seed, layout)))
    assert len(kinds) == 3, "every kind of card comes up"


def _tops(game):
    return [deck["top"] for deck in position(game)["decks"].values()]


@pytest.mark.rule("D-4.2")
def test_all_36_cards_are_ranked_once_and_cut_into_three_blocks():
    key = seeded(5).key
    game = rules.new_game("duel", 2, chance=Keyed(key))
    names = game.tables.names
    cards = list(range(1, 37))
    ranked = []
    while cards:  # the published way to shuffle: the lowest digest first
        ranked.append(Keyed(key).draw("duel/influence", cards, names, 0))
        cards.remove(ranked[-1])
    blocks = [ranked[:12], ranked[12:24], ranked[24:]]
    assert game.tops == [block[0] for block in blocks]
    for deck, times in ((2, 5), (0, 12), (1, 2), (2, 4)):
        for _ in range(times):
            game.reveal_top(deck, "D-4.2")
            blocks[deck].pop(0)
            assert game.tops[deck] == (blocks[deck][0] if blocks[deck] else 0)
    assert sorted(game.unseen) == sorted(c for block in blocks for c in block[1:])


@pytest.mark.rule("D-4.2")
def test_what_one_deck_shows_does_not_depend_on_what_was_bought_elsewhere():
    one, other = begin(9), begin(9)
    for _ in range(6):
        one.reveal_top(0, "D-4.2")
    one.reveal_top(2, "D-4.2")
    other.reveal_top(2, "D-4.2")
    assert one.tops[2] == other.tops[2]


@pytest.mark.rule("D-4.3", "D-4.6", "D-4.7", "D-4.5")
def test_a_random_layout_uses_every_tile_at_most_once_and_all_of_them_sometimes():
    seen = Counter()
    for seed in range(80):
        start = position(begin(seed))
        social = [tile for path in start["paths"].values() for tile in path.values()]
        tiles = [*start["gardens"].values(), *start["yards"].values(), *social]
        assert len(set(tiles)) == len(tiles) == 12
        assert len(set(start["activation"].values())) == 6
        assert len({place["tile"] for place in start["locations"].values()}) == 6
        assert start["yards"]["basic"].startswith("basic")
        assert start["yards"]["elite"].startswith("elite")
        seen.update(tiles)
    assert len(seen) == 8 + 8 + 6


@pytest.mark.rule("D-4.4")
def test_three_lantern_cards_are_revealed():
    start = position(begin(2))
    assert len(start["lantern_cards"]) == 3
    assert len(start["lantern_deck"]) == 12
    assert len({*start["lantern_cards"], *start["lantern_deck"]}) == 15


@pytest.mark.rule("D-4.8")
def test_only_the_top_tile_of_a_stack_of_merchandise_shows():
    for name, stack in position(begin(2))["merchandise"].items():
        assert stack["top"].startswith(name)
        assert len(stack["below"]) == 2
    tops = {position(begin(seed))["merchandise"]["common"]["top"] for seed in range(30)}
    assert len(tops) == 3


@pytest.mark.rule("D-4.9", "D-4.10")
def test_everybody_begins_with_nothing_and_six_tokens_the_courtiers_at_the_gate():
    game = begin(1)
    for seat in (0, 1):
        held = clan(game, seat)
        assert goods(game, seat) == {}
        assert held["tokens"] == {"coral": 2, "black": 2, "white": 2}
        assert (held["courtier"], held["path"]) == (0, None)
        assert sum(held["garden_seals"].values()) + sum(held["yard_seals"].values()) == 0
    assert game.tables.clan_seals == 8


@pytest.mark.rule("D-4.10")
def test_chance_decides_who_begins_and_the_other_picks_first():
    starters = Counter()
    for seed in range(60):
        game = begin(seed)
        starter = position(game)["starter"]
        starters[starter] += 1
        assert game.to_move == 1 - starter
        assert offers(game) == ["pick start card 1", "pick start card 2", "pick start card 3"]
        do(game, "pick start card 2")
        assert game.to_move == starter
        assert offers(game) == ["pick start card 1", "pick start card 3"]
        do(game, "pick start card 1")
        assert game.to_move == starter, "the starting player has the first turn"
        assert position(game)["start_cards"] == []
    assert min(starters.values()) > 15


@pytest.mark.rule("D-4.10")
def test_a_start_card_gives_its_gains_and_its_back_joins_a_zone():
    game = begin(1)
    card = position(game)["start_cards"][0]
    seat = game.to_move
    do(game, "pick start card 1")
    component = game.tables.of(game.tables.numbers[card])
    expected = Counter()
    for effect in component.gives:
        amount, good = effect.text.split()
        expected[good] += int(amount)
    assert goods(game, seat) == dict(expected)
    colour = ("coral", "black", "white")[component.colour]
    assert clan(game, seat)["zones"][colour] == [card]


@pytest.mark.rule("D-4.10")
def test_a_start_card_that_was_picked_is_refused_with_its_reason():
    game = do(begin(1), "pick start card 2")
    with pytest.raises(IllegalAction) as refusal:
        do(game, "pick start card 2")
    assert refusal.value.rule == "D-4.10"
    assert "that start card is taken" in str(refusal.value)


def test_the_slots_of_chance_have_names_that_anybody_can_verify():
    recorded = Recorded(seeded(3))
    rules.new_game("duel", 2, chance=recorded)
    slots = Counter(slot for slot, _ in recorded.results)
    assert slots == {
        "duel/influence": 3,
        "duel/basic-yard": 1,
        "duel/elite-yard": 1,
        "duel/lantern": 3,
        "duel/activation": 6,
        "duel/location": 6,
        "duel/social": 4,
        "duel/garden": 6,
        "duel/common": 1,
        "duel/luxury": 1,
        "duel/starting-player": 1,
        "duel/start": 3,
    }


def test_the_first_turn_of_these_tests_is_a_position(first_turn):
    start = first_turn("weapon-05", "flag-01", "flag-02", food=3)
    show(start, "D_MID", "origami-02")
    game = load(start)
    assert game.to_move == 0
    assert goods(game) == {"food": 3}
