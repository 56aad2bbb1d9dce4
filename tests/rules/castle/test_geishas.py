"""Matcha: GEISHA, the path, ceremony tiles, the pond, scoring (M-7, M-8, M-10, M-11)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.castle.tea_table import held, show

GEISHA = {"step": "geisha", "seat": 0, "entrance": True, "walk": True}
WALK = GEISHA | {"entrance": False}


def at(**places):
    """A change that puts seat 0's geishas there; names with an underscore for the dash."""

    def change(position):
        found = {place.replace("_", "-"): number for place, number in places.items()}
        position["clans"][0]["geishas"] |= {"domain": 5 - sum(found.values())} | found

    return change


def both(*changes):
    def change(position):
        for each in changes:
            each(position)

    return change


def tiles(**places):
    """A change that lays ceremony tiles: `own`, `overlook`, `room` (the gardeners')."""

    def change(position):
        homes = position["tea"]["ceremonies"]
        slots = {"own": (position["clans"][0], "ceremony"), "overlook": (homes, "overlook")}
        slots["room"] = (homes, "gardeners-room")
        for place, number in places.items():
            table, key = slots[place]
            swap(position, table[key], f"ceremony-{number:02}")
            table[key] = f"ceremony-{number:02}"

    return change


def swap(position, old, new):
    """Where the new tile lay, the old one lies now."""
    homes = position["tea"]["ceremonies"]
    for place, tile in homes.items():
        if tile == new:
            homes[place] = old
    for clan in position["clans"]:
        if clan["ceremony"] == new:
            clan["ceremony"] = old


def lilies(*names):
    def change(position):
        position["tea"]["lilies"] = [f"lily-{name}" for name in names]

    return change


def plain(texts):
    return {text for text in texts if not text.startswith("exchange")}


# --- GEISHA (M-7.1 to M-7.4) --------------------------------------------------------------------


@pytest.mark.rule("M-7.1", "M-7.2", "M-7.3")
def test_entrance_and_walk_once_each_in_any_order(acting, do, offers):
    game = acting(GEISHA, change=at(step_1=1), coin=9, chasen=7)
    do(game, "walk step-1 step-2", "entrance")
    assert held(game)["geishas"] == at_places(step_2=1, entrance=1)
    game = acting(GEISHA, coin=9, chasen=7)
    do(game, "entrance")
    assert offers(game) == {
        "done",
        "walk entrance overlook",
        "walk entrance step-1",
        "walk entrance step-2",
    }


def at_places(**places):
    found = {place.replace("_", "-"): number for place, number in places.items()}
    empty = dict.fromkeys(["overlook", "step-1", "step-2", "entrance"], 0)
    rooms = {f"{kind}s-room": 0 for kind in ("gardener", "warrior", "courtier")}
    return {"domain": 5 - sum(places.values())} | empty | rooms | found


@pytest.mark.rule("M-7.1")
def test_both_halves_are_optional(acting, do):
    game = acting(GEISHA, coin=9, chasen=7)
    do(game, "done")
    assert game.to_move == 1
    assert held(game)["geishas"] == at_places()


@pytest.mark.rule("M-7.2")
def test_the_entrance_costs_two_coins_and_has_no_limit(acting, do):
    game = acting(GEISHA, change=at(entrance=4), coin=2)
    do(game, "entrance")
    assert held(game)["coin"] == 0
    assert held(game)["geishas"]["entrance"] == 5
    game = acting(
        GEISHA, {"step": "choose-resource", "seat": 0, "amount": 1, "rule": "B-2.7"}, coin=1
    )
    do(game, "choose iron")
    assert game.to_move == 1  # nothing could be done, so nothing was asked


@pytest.mark.parametrize(
    ("walk", "price"), [("entrance step-1", 2), ("entrance step-2", 5), ("entrance overlook", 2)]
)
@pytest.mark.rule("M-7.3")
def test_a_step_costs_two_chasen_and_two_steps_five(acting, do, walk, price):
    game = acting(WALK, change=at(entrance=1), chasen=price)
    do(game, f"walk {walk}")
    assert held(game)["chasen"] == 0
    game = acting(WALK, change=at(entrance=1), chasen=price - 1, seal=1)
    with pytest.raises(IllegalAction, match=f"it costs {price} chasen") as refusal:
        do(game, f"walk {walk}")
    assert refusal.value.rule == "M-7.3"


@pytest.mark.rule("M-7.4")
def test_the_path_has_no_way_back_and_no_switching(acting, offers):
    change = at(entrance=1, step_1=1, step_2=1, overlook=1, warriors_room=1)
    game = acting(WALK, change=change, chasen=7)
    rooms = ("gardeners-room", "warriors-room", "courtiers-room")
    assert offers(game) == {
        "done",
        "walk entrance step-1",
        "walk entrance step-2",
        "walk step-1 step-2",
        *[f"walk step-1 {room}" for room in rooms],
        *[f"walk step-2 {room}" for room in rooms],
    }


@pytest.mark.parametrize(
    ("places", "walk"),
    [
        ({"entrance": 1, "overlook": 1}, "walk entrance overlook"),
        ({"step_2": 1, "gardeners_room": 2}, "walk step-2 gardeners-room"),
    ],
)
@pytest.mark.rule("M-7.5", "M-7.6")
def test_a_walk_to_a_place_that_is_full_for_the_clan_is_refused(acting, do, places, walk):
    game = acting(WALK, change=at(**places), chasen=7)
    with pytest.raises(IllegalAction, match="no further geisha of seat 0 fits") as refusal:
        do(game, walk)
    assert refusal.value.rule == "M-7.6"


@pytest.mark.rule("M-7.5")
def test_another_clan_does_not_fill_a_place(acting, offers):
    def taken(position):
        position["clans"][1]["geishas"] |= {"domain": 4, "overlook": 1}

    game = acting(WALK, change=both(at(entrance=1), taken), chasen=2)
    assert "walk entrance overlook" in offers(game)


# --- arriving (M-7.5, M-7.6) --------------------------------------------------------------------


@pytest.mark.rule("M-7.5")
def test_the_overlook_gives_the_three_lilies(acting, do, offers):
    game = acting(WALK, change=both(at(entrance=1), lilies("coin", "chasen", "vp")), chasen=2)
    do(game, "walk entrance overlook")
    assert offers(game) == {"done", "take the water lilies"}  # no coins for the tile
    do(game, "take the water lilies")
    assert (held(game)["coin"], held(game)["chasen"], held(game)["vp"]) == (2, 1, 1)


@pytest.mark.rule("M-7.5", "M-8.3")
def test_or_its_ceremony_tile_for_three_coins(acting, do, offers):
    change = both(at(entrance=1), tiles(overlook=5))
    game = acting(WALK, change=change, chasen=2, coin=3)
    do(game, "walk entrance overlook")
    assert offers(game) == {"done", "take the water lilies", "use the ceremony tile"}
    do(game, "use the ceremony tile")
    assert held(game)["coin"] == 0
    assert offers(game) == {"first gains", "first gardener"}  # GARDENER + 1 VP in either order


@pytest.mark.rule("M-7.6")
def test_arrival_effects_are_optional(acting, do):
    game = acting(WALK, change=at(entrance=1), chasen=2, coin=9)
    do(game, "walk entrance overlook", "done")
    assert game.to_move == 1
    assert held(game)["coin"] == 9


@pytest.mark.rule("M-7.5", "M-7.6")
def test_step_1_does_the_yellow_curtain_and_then_takes_the_card(acting, do, offers):
    game = acting(WALK, change=at(entrance=1), chasen=2)
    do(game, "walk entrance step-1")
    assert offers(game) == {"take flower card", "take calligraphy card"}
    do(game, "take flower card")
    assert offers(game) == {"done", "perform"}
    assert "flower-1" not in held(game)["lantern"]
    do(game, "perform")
    assert held(game)["coin"] == 4
    assert held(game)["lantern"][-1] == "flower-1"
    assert held(game)["action_card"].startswith("start-action")
    position = json.loads(game.to_json())
    assert position["tea"]["outskirts"]["flower"] not in ("flower-1", *position["decks"]["flower"])


@pytest.mark.rule("M-7.6")
def test_at_step_1_the_card_is_taken_even_if_its_curtain_is_not_performed(acting, do):
    game = acting(WALK, change=at(entrance=1), chasen=2)
    do(game, "walk entrance step-1", "take calligraphy card", "done")
    assert held(game)["lantern"][-1] == "calligraphy-3"
    assert held(game)["vp"] == 0


@pytest.mark.rule("M-7.5")
def test_a_lantern_of_the_curtain_does_not_include_the_card(acting, do):
    def change(position):
        at(entrance=1)(position)
        show(position, calligraphy="calligraphy-1")  # yellow: Lantern; back: 1 seal
        position["clans"][0]["lantern"] = ["decree-1"]  # 1 coin
        for clan in position["clans"][1:]:
            clan["lantern"] = [card for card in clan["lantern"] if card != "decree-1"]

    game = acting(WALK, change=change, chasen=2)
    do(game, "walk entrance step-1", "take calligraphy card", "perform")
    assert (held(game)["coin"], held(game)["seal"]) == (1, 0)
    assert held(game)["lantern"] == ["decree-1", "calligraphy-1"]


@pytest.mark.rule("M-7.5", "M-7.6")
def test_the_last_card_of_a_deck_stays(acting, do, offers):
    def change(position):
        at(entrance=1)(position)
        rest, position["decks"]["flower"] = position["decks"]["flower"], []
        position["clans"][1]["lantern"] += rest

    game = acting(WALK, change=change, chasen=2)
    do(game, "walk entrance step-1", "take flower card")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert held(game)["coin"] == 4
    assert json.loads(game.to_json())["tea"]["outskirts"]["flower"] == "flower-1"


@pytest.mark.rule("M-7.5")
def test_step_2_gives_the_blue_curtain_of_either_card_for_its_seal(acting, do, offers):
    game = acting(WALK, change=at(step_1=1), chasen=2, seal=1)
    do(game, "walk step-1 step-2")
    assert plain(offers(game)) == {"done", "curtain flower upper", "curtain calligraphy lower"}
    do(game, "curtain calligraphy lower")
    assert held(game)["seal"] == 0
    assert offers(game) == {"done", "do warrior", "do geisha"}
    game = acting(WALK, change=at(step_1=1), chasen=2)
    do(game, "walk step-1 step-2")
    assert game.to_move == 1  # without a seal nothing is left to choose


@pytest.mark.rule("M-7.5", "M-8.3")
def test_a_room_gives_its_tile_yellow_side_for_nothing(acting, do, offers):
    game = acting(WALK, change=both(at(step_2=1), tiles(room=5)), chasen=2)
    do(game, "walk step-2 gardeners-room")
    assert offers(game) == {"done", "perform"}
    do(game, "perform")
    assert held(game)["vp"] == 4


@pytest.mark.rule("M-7.4", "M-7.5")
def test_only_the_place_where_a_walk_ends_gives_its_effect(acting, do, offers):
    game = acting(WALK, change=both(at(step_1=1), tiles(room=6)), chasen=5, seal=1)
    do(game, "walk step-1 gardeners-room")
    assert plain(offers(game)) == {"done", "perform"}


# --- ceremony tiles (M-8) -----------------------------------------------------------------------


def using(acting, number, face, **clan):
    """The game after a tile began: blue by the own domain, yellow by the gardeners' room."""
    change = clan.pop("change", None)
    if face == "blue":
        clan["seal"] = clan.get("seal", 0) + 1
        laid = tiles(own=number)
        step = {"step": "own-ceremony", "seat": 0}
    else:
        laid = tiles(room=number)
        step = {"step": "offer", "seat": 0, "place": 1, "rule": "M-7.5"}
        step["card"] = f"ceremony-{number:02}"
    game = acting(step, change=both(laid, change) if change else laid, **clan)
    game.apply(rules.action_id("matcha", "perform"))
    return game


@pytest.mark.rule("M-8.1", "M-8.2")
def test_every_face_is_as_in_the_table():
    tables = rules.ruleset("matcha").tables
    faces = [
        [" + ".join(effect.text for effect in row.gives) for row in tables.of(number).rows]
        for number in tables.kinds["ceremony"]
    ]
    assert faces == [
        ["geisha + 1 any", "stone-gardens"],
        ["courtier + 1 influence", "lantern + 1 seal"],
        ["castle-row dark + 1 coin", "castle-rows light"],
        ["yard-tile blue", "yard-tiles yellow"],
        ["gardener + 1 vp", "4 vp"],
        ["warrior + 2 coin", "7 coin"],
        ["geisha-step", "well + well"],
        ["climb-floor", "4 seal"],
        ["castle-row any", "lilies + lilies"],
        ["curtain blue free", "curtains yellow"],
    ]


@pytest.mark.rule("M-8.3")
def test_the_own_tile_costs_a_seal(acting):
    game = using(acting, 6, "blue")
    assert held(game)["seal"] == 0


@pytest.mark.rule("M-8.1", "M-8.2")
def test_two_effects_of_a_face_come_in_either_order(acting, do, offers):
    game = using(acting, 1, "blue", coin=2)
    assert offers(game) == {"first any", "first geisha"}
    do(game, "first geisha", "entrance")
    assert offers(game) == {"choose food", "choose iron", "choose pearl"}


@pytest.mark.rule("M-8.2")
def test_a_dark_castle_row_still_costs_its_own_seal(acting, do, offers):
    game = using(acting, 3, "blue", seal=1)
    do(game, "first castle-row dark")
    rows = {text for text in offers(game) if text.startswith("row")}
    assert len(rows) == 5
    steward = next(text for text in rows if "steward" in text)
    do(game, steward)
    assert held(game)["seal"] == 0
    game = using(acting, 3, "blue")
    do(game, "first castle-row dark")
    assert {text.split()[1][:8] for text in offers(game) if text.startswith("row")} == {"diplomat"}
    light = next(
        n for n in range(13) if f"row {ROWS[n]}" not in rows and not ROWS[n].startswith("diplomat")
    )
    with pytest.raises(IllegalAction, match="shows a dark one"):
        do(game, f"row {ROWS[light]}")


ROWS = [
    *[f"steward-room-{n} {place}" for n in (1, 2, 3) for place in ("top", "middle", "bottom")],
    *[f"diplomat-room-{n} {place}" for n in (1, 2) for place in ("first", "second")],
]


@pytest.mark.rule("M-8.2")
def test_two_light_castle_rows_come_from_two_different_cards(acting, do, offers):
    game = using(acting, 3, "yellow")
    first = sorted(text for text in offers(game) if text.startswith("row steward-room-1"))
    assert len(first) == 2
    room = first[0].split()[1]
    do(game, first[0])
    while not any(text.startswith("row") for text in offers(game)):
        game.apply(game.legal()[-1])
    assert not [text for text in offers(game) if room in text]
    with pytest.raises(IllegalAction, match="performed already"):
        do(game, first[1])
    second = next(text for text in offers(game) if text.startswith("row"))
    do(game, second)
    assert not any(text.startswith("row") for text in offers(game))


@pytest.mark.rule("M-8.2")
def test_one_of_the_two_blue_yard_faces_or_both_yellow_ones(acting, do, offers):
    def faces(position):
        names = ("yard-tile-1", "yard-tile-2", "yard-tile-3", "yard-tile-4")
        position["yard_tiles"] = dict(zip(position["yard_tiles"], names, strict=True))

    game = using(acting, 4, "blue", change=faces)
    assert offers(game) == {"done", "yard tile yard-1 blue", "yard tile yard-2 blue"}
    do(game, "yard tile yard-2 blue")
    assert not [text for text in offers(game) if text.startswith("yard tile")]
    game = using(acting, 4, "yellow", change=faces)
    assert offers(game) == {"done", "yard tile yard-1 yellow", "yard tile yard-3 yellow"}
    do(game, "yard tile yard-1 yellow")
    while "yard tile yard-3 yellow" not in offers(game):
        game.apply(game.legal()[-1])
    assert "yard tile yard-1 yellow" not in offers(game)


@pytest.mark.rule("M-8.2")
def test_two_different_stone_gardens_give_their_rewards_without_a_gardener(
    acting,
    do,
    offers,
):
    def stones(position):
        names = ("garden-stone-m1", "garden-stone-7", "garden-stone-8")
        homes = [garden for garden in position["gardens"] if garden.endswith("stone")]
        position["gardens"] |= dict(zip(homes, names, strict=True))

    game = using(acting, 1, "yellow", change=stones)
    assert offers(game) == {"done", *(f"activate {c} stone" for c in ("coral", "black", "white"))}
    do(game, "activate coral stone")
    assert held(game)["chasen"] == 2
    with pytest.raises(IllegalAction, match="used already"):
        do(game, "activate coral stone")
    with pytest.raises(IllegalAction, match="plant"):
        do(game, "activate coral plant")
    do(game, "activate black stone")
    assert held(game)["coin"] == 3  # garden-stone-7
    assert not [text for text in offers(game) if text.startswith("activate")]


@pytest.mark.rule("M-8.2")
def test_a_geisha_in_the_garden_goes_one_step_without_chasen(acting, do, offers):
    game = using(acting, 7, "blue", change=at(entrance=1, step_2=1))
    rooms = ("gardeners-room", "warriors-room", "courtiers-room")
    assert offers(game) == {
        "done",
        "walk entrance overlook",
        "walk entrance step-1",
        *(f"walk step-2 {room}" for room in rooms),
    }
    with pytest.raises(IllegalAction, match="one step"):
        do(game, "walk entrance step-2")
    do(game, "walk entrance step-1")
    assert offers(game) == {"take flower card", "take calligraphy card"}


@pytest.mark.rule("M-8.2")
def test_the_well_twice_gives_two_seals_and_no_coins_from_a_die(acting):
    game = using(acting, 7, "yellow")
    while game.to_move == 0 and game.stack[-1].rule in ("B-5.2", "M-7.5", "B-6.3"):
        game.apply(game.legal()[-1])
    assert held(game)["seal"] >= 2


@pytest.mark.rule("M-8.2")
def test_a_courtier_climbs_one_floor_without_pearl(acting, do, offers):
    def courtiers(position):
        position["clans"][0]["courtiers"] |= {"domain": 3, "gate": 1, "diplomat-room-1": 1}

    game = using(acting, 8, "blue", change=courtiers)
    stewards = {f"climb gate steward-room-{n}" for n in (1, 2, 3)}
    assert offers(game) == {"done", *stewards, "climb diplomat-room-1 daimyo"}
    with pytest.raises(IllegalAction, match="one floor"):
        do(game, "climb gate diplomat-room-1")
    room = json.loads(game.to_json())["rooms"]["steward-room-2"]
    do(game, "climb gate steward-room-2")
    assert held(game)["action_card"] == room


@pytest.mark.parametrize(
    ("number", "good", "amount"), [(5, "vp", 4), (6, "coin", 7), (8, "seal", 4)]
)
@pytest.mark.rule("M-8.2")
def test_simple_faces_give_what_they_show(acting, number, good, amount):
    assert held(using(acting, number, "yellow"))[good] == amount


@pytest.mark.rule("M-8.2")
def test_all_three_lilies_twice(acting):
    game = using(acting, 9, "yellow", change=lilies("coin", "chasen", "vp"))
    assert (held(game)["coin"], held(game)["chasen"], held(game)["vp"]) == (4, 2, 2)


@pytest.mark.rule("M-8.2")
def test_one_blue_curtain_without_its_seal_and_both_yellow_ones(acting, do, offers):
    game = using(acting, 10, "blue")
    assert offers(game) == {"done", "curtain flower upper", "curtain calligraphy lower"}
    do(game, "curtain flower upper")
    assert offers(game) == {"done", "do gardener", "do geisha"}
    game = using(acting, 10, "yellow")
    assert offers(game) == {"done", "curtain flower lower", "curtain calligraphy upper"}
    do(game, "curtain flower lower", "curtain calligraphy upper")
    assert (held(game)["coin"], held(game)["vp"]) == (4, 2)


@pytest.mark.rule("M-5.3")
def test_both_curtains_of_one_card_and_the_blue_one_costs_its_seal(acting, do, offers):
    effect = {"step": "parts", "seat": 0, "rule": "M-5.3", "effects": ["curtains of a card"]}
    game = acting(effect, seal=1)
    assert len(plain(offers(game))) == 5
    do(game, "curtain flower lower")
    assert plain(offers(game)) == {"done", "curtain flower upper"}
    do(game, "curtain flower upper")
    assert held(game)["seal"] == 0


# --- the end of a round, scoring (M-10, M-11) ---------------------------------------------------


@pytest.fixture
def round_end(tea, load):
    """The game when the last turn of a round is over; green says which green die is left."""

    def build(number=1, green=5, change=None, **clan):
        position = tea(2, **clan)
        left = {"coral": 3, "black": None, "white": 4, "green": green}
        gone = []
        for colour, value in left.items():
            position["bridges"][colour] = {"left": value, "centre": [], "right": None}
            gone += [f"{colour} 1"] * (2 if value else 3)
        if not green:
            position["bridges"]["black"] = {"left": 2, "centre": [], "right": 4}
            gone = [die for die in gone if die != "black 1"] + ["black 1"]
        else:
            position["bridges"]["white"]["right"] = 6
            gone.remove("white 1")
        position["spaces"]["well"] = gone
        position |= {"round": number, "turn": 8, "pending": []}
        if change:
            change(position)
        return load(position)

    return build


@pytest.mark.rule("M-10.1", "M-10.2")
def test_gardens_and_pond_come_together_in_the_owners_order(round_end, do, offers):
    def change(position):
        at(overlook=1)(position)
        position["clans"][0]["gardeners"] = ["white stone", "black stone"]
        position["gardens"]["white stone"] = "garden-stone-m1"
        lilies("coin", "chasen", "vp")(position)

    game = round_end(change=change)
    assert offers(game) == {"done", "activate white stone", "activate pond"}
    do(game, "activate pond", "take the water lilies")
    assert (held(game)["coin"], held(game)["vp"]) == (2, 1)
    assert offers(game) == {"done", "activate white stone"}
    do(game, "activate white stone")
    assert held(game)["chasen"] == 3
    assert json.loads(game.to_json())["round"] == 2


@pytest.mark.rule("M-10.2", "M-8.3")
def test_the_pond_offers_the_tile_for_three_coins_again(round_end, do, offers):
    game = round_end(change=both(at(overlook=1), tiles(overlook=6)), coin=3)
    do(game, "activate pond", "use the ceremony tile")
    assert held(game)["coin"] == 0
    assert offers(game) == {"first gains", "first warrior"}


@pytest.mark.parametrize("case", ["no green die", "no geisha", "last round"])
@pytest.mark.rule("M-10.1", "M-10.2")
def test_without_a_green_die_or_a_geisha_or_after_round_3_there_is_no_pond(round_end, case):
    game = round_end(
        number=3 if case == "last round" else 1,
        green=None if case == "no green die" else 5,
        change=None if case == "no geisha" else at(overlook=1),
    )
    assert game.over or "activate pond" not in [
        game.rules.actions.text(action) for action in game.legal()
    ]


@pytest.mark.rule("M-10.3")
def test_the_next_round_clears_the_dice_and_keeps_the_tiles(round_end):
    game = round_end()
    position = json.loads(game.to_json())
    assert position["round"] == 2
    assert not any(position["spaces"].values())
    for bridge in position["bridges"].values():
        assert bridge["left"]
        assert bridge["right"]
        assert len(bridge["centre"]) == 1
    assert position["tea"]["outskirts"] == {"flower": "flower-1", "calligraphy": "calligraphy-3"}


@pytest.mark.rule("M-11.1")
def test_geishas_score_by_their_place_and_rooms_by_own_members(round_end):
    def change(position):
        clan = position["clans"][0]
        clan["geishas"] = at_places(entrance=1, overlook=1, courtiers_room=2, gardeners_room=1)
        clan["courtiers"] |= {"domain": 2, "gate": 2, "steward-room-1": 1}
        clan["gardeners"] = ["coral plant"]
        clan["warriors"] |= {"yard-1": 1}

    game = round_end(number=3, change=change)
    lines = game.breakdown()[0]
    assert lines["geishas"] == 1 + 2 + 2 * (2 * 3) + 2 * 1
    assert lines["warriors"] == game.tables.yard_value[0] * 1  # geishas do not feed it
    game = round_end(number=3, change=at(step_1=2, step_2=3))
    assert game.breakdown()[0]["geishas"] == 2 * 2 + 3 * 3


@pytest.mark.parametrize(("chasen", "points"), [(2, 0), (3, 1), (6, 1), (7, 2)])
@pytest.mark.rule("M-11.1")
def test_leftover_chasen_score_like_other_resources(round_end, chasen, points):
    game = round_end(number=3, chasen=chasen)
    assert game.breakdown()[0]["resources"] == points
