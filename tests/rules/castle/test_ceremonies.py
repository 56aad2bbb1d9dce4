"""Matcha: the two faces of each ceremony tile, and what their use costs (M-8)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import ROOM_TILES, lay_rooms, lay_tiles
from tests.rules.castle.matcha_positions import at, both, held, lilies, plain, show, tiles


def offering(acting, number, face, **clan):
    """The game that offers a tile: blue by the own domain, yellow by the gardeners' room."""
    change = clan.pop("change", None)
    if face == "blue":
        clan["seal"] = clan.get("seal", 0) + 1
        laid = tiles(own=number)
        step = {"step": "own-ceremony", "seat": 0}
    else:
        laid = tiles(room=number)
        step = {"step": "offer", "seat": 0, "place": 1, "rule": "M-7.5"}
        step["card"] = f"ceremony-{number:02}"
    return acting(step, change=both(laid, change) if change else laid, **clan)


def using(acting, number, face, **clan):
    """The game after a tile began."""
    game = offering(acting, number, face, **clan)
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


def shown(position):
    """A flower card whose blue curtain is WARRIOR or GEISHA."""
    show(position, flower="flower-3")


@pytest.mark.rule("M-8.1", "M-8.2")
def test_two_effects_of_a_face_come_in_either_order(acting, do, offers):
    position = {"change": both(at(step_1=1), shown), "chasen": 2, "iron": 2, "seal": 1}
    game = using(acting, 1, "blue", **position)
    free = {"exchange 1 seal for 1 coin"}
    assert offers(game) == free | {"first any", "first geisha"}
    do(game, "first any", "choose iron", "walk step-1 step-2", "curtain flower upper")
    do(game, "do warrior")
    assert "train yard-2" in offers(game)  # for 3 iron
    game = using(acting, 1, "blue", **position)
    do(game, "first geisha", "walk step-1 step-2", "curtain flower upper", "do warrior")
    assert "train yard-2" not in offers(game)


@pytest.mark.rule("M-8.1", "B-2.8")
def test_the_order_of_two_effects_is_not_asked_where_it_changes_nothing(acting, do, offers):
    game = using(acting, 1, "blue", coin=2)  # the resource cannot be spent in between
    assert offers(game) == {"choose food", "choose iron", "choose pearl"}
    do(game, "choose food")
    assert offers(game) == {"done", "entrance"}


@pytest.mark.rule("M-8.1", "B-2.8")
def test_coins_and_points_of_a_face_come_before_its_worker_action(acting, offers):
    game = using(acting, 6, "blue", iron=1)
    assert held(game)["coin"] == 2
    assert "train yard-3" in offers(game)


@pytest.mark.rule("M-8.2")
def test_a_dark_castle_row_still_costs_its_own_seal(acting, do, offers):
    game = using(acting, 3, "blue", seal=1)
    rows = {text for text in offers(game) if text.startswith("row")}
    assert len(rows) == 5
    steward = next(text for text in rows if "steward" in text)
    do(game, steward)
    assert held(game)["seal"] == 0
    game = using(acting, 3, "blue")
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


# --- every face, played (M-8.2) -----------------------------------------------------------------

ROOMS = {
    "steward-room-1": "steward-13",  # 2 iron | lantern | dark gardener
    "steward-room-2": "steward-05",  # dark warrior | 1 food, 1 pearl | 1 iron, lantern
    "steward-room-3": "steward-16",  # dark geisha | 2 chasen | 1 influence
    "diplomat-room-1": "diplomat-02",  # dark courtier | 2 influence
    "diplomat-room-2": "diplomat-13",  # dark geisha | 2 chasen, 1 any
}
STONES = {
    "coral stone": "garden-stone-m1",  # 1 food; 2 chasen
    "black stone": "garden-stone-7",  # 1 food; 3 coins
    "white stone": "garden-stone-10",  # 3 food; the Well
}
YARD_TILES = {
    "yard-1 blue": "yard-tile-3",  # GARDENER
    "yard-1 yellow": "yard-tile-6",  # 5 coins
    "yard-2 blue": "yard-tile-8",  # a domain row
    "yard-3 yellow": "yard-tile-2",  # 2 influence
}

FACES = {  # what is chosen, and what it changes; the seal of the own tile goes without saying
    "1 blue": (
        "choose pearl, entrance",
        "pearl +1, coin -2, geishas domain -1, geishas entrance +1",
    ),
    "1 yellow": (
        "activate white stone, activate coral stone",
        "seal +1, food +1, iron +1, chasen +2",
    ),
    "2 blue": (
        "audience",
        "coin -2, courtiers domain -1, courtiers gate +1, influence +1",
    ),
    "2 yellow": ("", "coin +1, seal +1"),
    "3 blue": (
        "row diplomat-room-1 first, audience",
        "coin -1, courtiers domain -1, courtiers gate +1",
    ),
    "3 yellow": (
        "row diplomat-room-1 second, row steward-room-3 middle",
        "influence +2, chasen +2",
    ),
    "4 blue": ("yard tile yard-2 blue, domain-row white, done", "pearl +1"),
    "4 yellow": ("yard tile yard-3 yellow, yard tile yard-1 yellow", "influence +2, coin +5"),
    "5 blue": ("garden black stone, perform", "vp +1, food -1, coin +3"),
    "5 yellow": ("", "vp +4"),
    "6 blue": (
        "train yard-3, yard tile yard-3 yellow",
        "iron -1, warriors yard-3 +1, influence +2, coin +2",
    ),
    "6 yellow": ("", "coin +7"),
    "7 blue": ("walk step-1 step-2", "geishas step-1 -1, geishas step-2 +1"),
    "7 yellow": ("", "seal +2, food +2, iron +2"),
    "8 blue": (
        "climb diplomat-room-1 daimyo, daimyo slot 2",
        "courtiers diplomat-room-1 -1, courtiers daimyo +1, coin +1, chasen +2",
    ),
    "8 yellow": ("", "seal +4"),
    "9 blue": ("row steward-room-1 top", "iron +2"),
    "9 yellow": ("", "coin +4, chasen +2, vp +2"),
    "10 blue": (
        "curtain flower upper, do geisha, entrance",
        "coin -2, geishas domain -1, geishas entrance +1",
    ),
    "10 yellow": ("curtain calligraphy upper, curtain flower lower", "vp +2, coin +4"),
}


def laid_out(position):
    """A board of which everything is known; seat 0 has a Lantern of one coin."""
    lay_rooms(position, tuple(ROOMS.values()))
    lay_tiles(position, ROOM_TILES)
    position["gardens"] |= STONES
    position["yard_tiles"] = dict(YARD_TILES)
    position["daimyo"]["card"] = "daimyo-m3"  # lantern | 2 chasen | 3 coins
    for clan in position["clans"]:
        clan["lantern"] = [card for card in clan["lantern"] if not card.startswith("decree")]
    position["clans"][0]["lantern"] = ["decree-1"]
    lilies("coin", "chasen", "vp")(position)


def numbers(clan, path=""):
    """Every number of a clan by its key."""
    for key, value in clan.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{key} ")
        elif isinstance(value, int):
            yield f"{path}{key}", value


def changed(before, after):
    old, new = dict(numbers(before)), dict(numbers(after))
    return {key: new[key] - old[key] for key in new if new[key] != old[key]}


def two_courtiers(position):
    position["clans"][0]["courtiers"] |= {"domain": 3, "gate": 1, "diplomat-room-1": 1}


@pytest.mark.parametrize(("tile", "script", "result"), [(t, *rest) for t, rest in FACES.items()])
@pytest.mark.rule("M-8.2", "M-8.3")
def test_every_face_gives_just_what_the_table_says(acting, do, tile, script, result):
    number, face = tile.split()
    change = both(laid_out, two_courtiers, at(step_1=1))
    game = offering(acting, int(number), face, change=change, coin=2, food=1, iron=1)
    before = held(game)
    do(game, "perform", *filter(None, script.split(", ")))
    price = {"seal": -1} if face == "blue" else {}
    found = (text.rsplit(" ", 1) for text in result.split(", "))
    assert changed(before, held(game)) == {key: int(amount) for key, amount in found} | price
    assert game.to_move == 1  # nothing is left to choose
