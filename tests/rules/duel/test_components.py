"""The data file of Duel: what it says, and how its faults are refused when it is read."""

from pathlib import Path

import pytest
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES
from himeji.rules.datafile import SOURCES, packaged
from himeji.rules.duel.board import DUEL_BOARD
from himeji.rules.duel.components import load
from himeji.rules.duel.constants import ICON_NAMES
from himeji.rules.duel.description import price_text
from himeji.rules.duel.duel import duel_ruleset
from himeji.rules.duel.invariants import DUEL_BOX
from himeji.rules.duel.vocabulary import duel_vocabulary
from himeji.rules.errors import BadComponents

FILE = "broken.toml"
COPY = Path(__file__).with_name("influence_cards.txt")
WORDS = {
    "lantern any": "activate any lantern",
    "lantern-card": "Lantern card",
    "lantern-card activate": "Lantern card, then activate its zone",
    "1 well": "Well",
    "2 well": "Well x2",
    "1 improve": "improve 1",
    "2 improve": "improve 2",
    "1 swap": "1 swap tile",
    "garden -1": "Garden −1 food",  # noqa: RUF001 - as in the copy
    "training -1": "Training −1 iron",  # noqa: RUF001
    "courtier -1": "Courtier −1 pearl",  # noqa: RUF001
    "trade -1": "Trade −1",  # noqa: RUF001
    "garden": "Garden",
    "training": "Training",
    "courtier": "Courtier",
    "trade": "Trade",
    **{f"{n} vp": f"{n} VP" for n in range(1, 5)},
    **{f"{n} {good}": f"{n} {good}s" for n in (2, 3) for good in ("coin", "seal")},
}
ICONS = {"blue crane": "blue"}


def read(text):
    return load(FILE, text, duel_vocabulary().parse, DUEL_BOARD, DUEL_BOX)


@pytest.fixture(scope="module")
def text():
    return packaged("duel.toml")


@pytest.fixture(scope="module")
def tables(text):
    return read(text)


def of_kind(tables, kind):
    return {tables.names[number]: tables.of(number) for number in tables.kinds[kind]}


# --- what it says -----------------------------------------------------------------------------


@pytest.mark.rule("D-8.1", "D-8.2")
def test_every_influence_card_is_as_in_the_book(tables):
    lines = [line for line in COPY.read_text().splitlines() if not line.startswith("#")]
    assert [in_words(card) for card in of_kind(tables, "influence-card").values()] == lines


def in_words(card):
    scroll = " + ".join(WORDS.get(effect.text, effect.text) for effect in card.gives)
    if card.cost.amount:
        scroll = f"{price_text(card.cost)} → {scroll}"
    shown = [(number, ICON_NAMES[icon]) for icon, number in enumerate(card.icons) if number]
    words = [
        f"{number} {ICONS.get(icon, icon)}" + "s" * (number > 1 and icon not in ICONS)
        for number, icon in shown
    ]
    front = card.source == "reconstructed" or "reconstructed: price, scroll" in card.note
    source = "X" if front else "K"
    known = "k" if source == "K" and card.reconstructed else source
    return " | ".join([card.id, str(card.price.amount), scroll, " + ".join(reversed(words)), known])


@pytest.mark.rule("D-6.1")
def test_each_kind_of_card_has_its_currency(tables):
    for name, card in of_kind(tables, "influence-card").items():
        paid = {"flag": "coin", "weapon": "coin/seal", "origami": "seal"}[name.split("-")[0]]
        assert price_text(card.price).rstrip("s").endswith(paid)


def test_the_lantern_cards_give_what_their_zone_does_not_print(tables):
    found = {colour: set() for colour in COLOUR_NAMES[:3]}
    for card in of_kind(tables, "lantern-card").values():
        assert card.amount == 1
        found[COLOUR_NAMES[card.colour]].add(GOOD_NAMES[card.good])
    assert found == {
        "coral": {"iron", "pearl", "coin", "seal", "vp"},
        "black": {"food", "pearl", "coin", "seal", "vp"},
        "white": {"food", "iron", "coin", "seal", "vp"},
    }


def test_the_start_cards_give_four_things_and_shine(tables):
    found = {
        name: ([effect.text for effect in card.gives], COLOUR_NAMES[card.colour], card.good)
        for name, card in of_kind(tables, "start-card").items()
    }
    coin, seal = GOOD_NAMES.index("coin"), GOOD_NAMES.index("seal")
    assert found == {
        "start-white-seal": (["1 swap", "1 food", "1 iron", "2 coin"], "white", seal),
        "start-black-coin": (["1 swap", "2 pearl", "3 seal"], "black", coin),
        "start-coral-seal": (["1 swap", "1 iron", "1 pearl", "2 coin"], "coral", seal),
        "start-black-seal": (["1 swap", "1 food", "1 pearl", "2 coin"], "black", seal),
        "start-coral-coin": (["1 swap", "2 iron", "3 seal"], "coral", coin),
        "start-white-coin": (["1 swap", "2 food", "3 seal"], "white", coin),
    }


def test_gardens_and_yards_pay_what_is_known_of_them(tables):
    gardens = [[face.text for face in t.faces] for t in of_kind(tables, "garden-tile").values()]
    stone, plant = zip(*gardens, strict=True)
    assert sorted(stone) == sorted(
        ["1 vp", "1 iron", "1 pearl", "lantern-card", "1 any", "1 coin/seal", "2 coin", "2 seal"]
    )
    zones = [f"lantern {zone}" for zone in ("any", "coral", "black", "white")]
    assert sorted(plant) == sorted(["3 vp", "buy", "1 swap", "1 improve", *zones])
    yards = {
        name: [face.text for face in tile.faces]
        for kind in ("basic-yard", "elite-yard")
        for name, tile in of_kind(tables, kind).items()
    }
    assert yards == {
        "basic-1": ["lantern-card", "2 vp"],
        "basic-2": ["2 coin/seal", "1 swap"],
        "basic-3": ["2 seal", "1 improve"],
        "basic-4": ["1 any", "buy"],
        "elite-1": ["courtier -1", "2 improve"],
        "elite-2": ["garden -1", "free-card"],
        "elite-3": ["trade -1", "lantern any"],
        "elite-4": ["lantern-card activate", "4 vp"],
    }


def test_the_social_tiles_pay_what_is_known_of_them(tables):
    faces = {
        name: [" ".join(effect.text for effect in space) for space in tile.spaces]
        for name, tile in of_kind(tables, "social-tile").items()
    }
    assert sorted(spaces[:3] for spaces in faces.values()) == sorted(
        [
            ["2 coin", "", "2 iron"],
            ["2 coin/seal", "", "lantern-card"],
            ["2 coin/seal", "2 food", ""],
            ["lantern-card", "2 iron", ""],
            ["2 seal", "2 pearl", ""],
            ["lantern-card", "", "2 vp"],
        ]
    )
    assert sorted(spaces[3:] for spaces in faces.values()) == sorted(
        [
            ["1 swap", "", "lantern black"],
            ["2 vp", "buy", ""],
            ["buy", "", "1 improve"],
            ["2 vp", "", "lantern coral"],
            ["buy", "lantern white", ""],
            ["1 swap", "1 improve", ""],
        ]
    )
    assert [effect.text for effect in tables.top_reward] == ["1 improve"]


def test_the_merchandise_carries_its_icons(tables):
    found = [
        t.icons
        for kind in ("common", "luxury")
        for t in of_kind(tables, f"{kind}-merchandise").values()
    ]
    assert found == [
        (0, 1, 0, 0, 0),
        (0, 0, 0, 1, 0),
        (1, 0, 0, 0, 0),
        (3, 0, 0, 0, 0),
        (0, 0, 0, 2, 0),
        (0, 1, 1, 0, 0),
    ]


@pytest.mark.rule("D-3.3", "D-3.4", "D-3.5", "D-3.7", "D-6.5", "D-7.1", "D-9.1")
def test_the_board_prints_the_numbers_of_the_rules(tables):
    assert tables.column_food == [2, 2, 2, 5, 5, 5]
    assert (tables.yard_iron, tables.yard_spaces) == ([2, 5], [5, 3])
    assert tables.climb_pearl[1:] == [2, 5]
    assert (tables.trade_card, tables.trade_tile) == (1, [2, 5])
    assert [GOOD_NAMES[good] for good in tables.zone_good] == ["food", "iron", "pearl"]
    caps = {GOOD_NAMES[n]: cap for n, cap in enumerate(tables.caps) if cap < 100}
    assert caps == {"food": 7, "iron": 7, "pearl": 7, "coin": 10, "seal": 10, "swap": 2}
    assert (tables.storage, tables.clan_seals) == (10, 8)
    assert tables.level_points == [0, 1, 2, 3]
    assert (tables.katana_points, tables.kabuto_points) == ([1, 0], [1, 2])
    assert tables.resource_points == [0, 0, 0, 1, 1, 1, 1, 2]


def test_every_component_names_its_source_and_reconstructions_are_labelled(tables):
    assert all(each.source in SOURCES for each in tables.components)
    made_up = [each.id for each in tables.components if each.reconstructed]
    assert len([name for name in made_up if name[:4] in ("flag", "weap", "orig")]) == 23
    assert len([name for name in made_up if name.startswith("lantern")]) == 3
    assert len([name for name in made_up if name.startswith("start")]) == 4
    assert {"common-3", "luxury-3", "basic-3", "basic-4", "elite-4"} <= set(made_up)
    assert "flag-01" not in made_up


def test_a_face_is_replaced_without_code(text):
    changed = text.replace('scroll = ["2 seal"]', 'scroll = ["1 vp", "lantern any"]', 1)
    ruleset = duel_ruleset(lambda _: changed)
    assert ruleset.revision != duel_ruleset().revision
    card = ruleset.tables.of(ruleset.tables.numbers["flag-05"])
    assert [effect.text for effect in card.gives] == ["1 vp", "lantern any"]


# --- how faults are refused -------------------------------------------------------------------

FAULTS = {
    "a stated count": ("lantern-card = 15", "lantern-card = 14", "counts: lantern-card: 14 stated"),
    "an id twice": ('id = "garden-2"', 'id = "garden-1"', "garden-1: id: two entries"),
    "an id out of place": (
        'id = "flag-02"',
        'id = "flag-99"',
        "flag-99: id: expected the id flag-02",
    ),
    "an unknown key": ('action = "trade"', 'action = "trade"\nmoon = 1', "moon: unknown key"),
    "an unknown kind": ("[gardens]", "[[moon]]\nid = 1\n\n[gardens]", "moon: unknown kind"),
    "an unknown effect": ('stone = "1 vp"', 'stone = "1 moon"', "stone: unknown effect '1 moon'"),
    "a misspelt effect": ('"2 improve"]', '"improve"]', "unknown effect 'improve'"),
    "a price in another currency": ('price = "1 coin"', 'price = "1 seal"', "is paid in coin"),
    "a price too high": ('price = "1 coin"', 'price = "6 coin"', "price: expected 1 to 5"),
    "a cost in nothing": ('cost = "1 any"', 'cost = "1 moon"', "cost: expected 1 to 5"),
    "no scroll": ('scroll = ["2 seal"]', "scroll = []", "scroll: expected at least one"),
    "no icons": ("icons = { flag = 2 }", "icons = {}", "icons: expected at least one"),
    "an unknown icon": ("icons = { flag = 2 }", "icons = { moon = 2 }", "icons: moon: unknown key"),
    "a colour": ('colour = "coral"', 'colour = "green"', "colour: expected one of coral"),
    "a reward that is no good": (
        'reward = "1 iron"',
        'reward = "1 any"',
        "reward: expected a number",
    ),
    "an action": ('action = "trade"', 'action = "sleep"', "action: expected one of garden"),
    "a source": ('source = "rulebook"', 'source = "hearsay"', "source: expected one of"),
    "two spaces": ('light = ["2 coin", "", ', "light = [", "light: expected 3 spaces"),
    "slots": ('slots = ["A1", "A2"]', 'slots = ["A1", "A1"]', "L1: slots: expected two"),
    "a location": ('id = "L2"', 'id = "L3"', "id: expected one of L2"),
    "a zone": (
        'colour = "black"\nreward = "1 iron"\nsource = "rulebook"\n\n[[zone]]',
        'colour = "white"\nreward = "1 iron"\nsource = "rulebook"\n\n[[zone]]',
        "expected black",
    ),
    "a garden column": ('garden = "plant"', 'garden = "stone"', "garden: expected one of plant"),
    "levels": ("flag-by-level = [0, 1, 2, 3]", "flag-by-level = [0, 1]", "flag-by-level: expected"),
    "yards": ("kabuto-by-yard = [1, 2]", "kabuto-by-yard = [1]", "kabuto-by-yard: expected"),
    "a first game": (
        'A1 = "activation-courtier"',
        'A1 = "garden-1"',
        "'garden-1' is no activation",
    ),
    "a first game twice": ('G1 = "garden-5"', 'G1 = "garden-3"', "garden-tile: a tile lies in two"),
    "a missing table": ("[trade]", "[trading]", "trade: missing"),
    "coins per point": (
        "coins-and-seals-per-point = 5",
        "coins-and-seals-per-point = 0",
        "at least 1",
    ),
    "resource points": (
        "resource = [0, 0, 0, 1, 1, 1, 1, 2]",
        "resource = [0]",
        "resource: expected",
    ),
    "the box: icons": ("icons = { flag = 2 }", "icons = { katana = 2 }", "flags carry flags"),
    "the box: suits of tiles": (
        'colour = "coral"\nsource = "rulebook"\n\n[[location-tile]]',
        'colour = "white"\nsource = "rulebook"\n\n[[location-tile]]',
        "the location tiles are 2 of each colour",
    ),
    "the box: adjacency": (
        'slots = ["A3", "D_MID"]',
        'slots = ["A3", "D_LEFT"]',
        "every slot serves",
    ),
    "the box: blanks": (
        'light = ["2 coin", "", "2 iron"]',
        'light = ["2 coin", "", ""]',
        "one blank",
    ),
    "the box: actions": ('action = "trade"', 'action = "garden"', "six different actions"),
    "the box: lanterns": (
        'colour = "coral"\nreward = "1 iron"',
        'colour = "black"\nreward = "1 iron"',
        "the lantern cards are 5 of each colour",
    ),
    "the box: start cards": (
        'colour = "white"\nreward = "1 seal"\nsource = "rulebook"\nnote = "yellow',
        'colour = "black"\nreward = "1 seal"\nsource = "rulebook"\nnote = "yellow',
        "the start cards are 2 of each colour",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_file_entry_and_key(text, fault):
    old, new, named = FAULTS[fault]
    assert old in text
    with pytest.raises(BadComponents) as refusal:
        read(text.replace(old, new, 1))
    assert str(refusal.value).startswith(f"{FILE}: ")
    assert named in str(refusal.value), str(refusal.value)
