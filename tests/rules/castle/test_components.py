"""The data file of the base box: what it says, and how its faults are refused when it is read."""

from pathlib import Path

import pytest
from himeji.rules.castle.board import BASE_BOARD
from himeji.rules.castle.components import BASE_KINDS, Component, load
from himeji.rules.castle.constants import SPACE_NAMES
from himeji.rules.castle.invariants import BASE_BOX
from himeji.rules.castle.vocabulary import base_vocabulary
from himeji.rules.components import BoxContents
from himeji.rules.constants import COLOUR_NAMES, FOOD, GOOD_NAMES, IRON, PEARL, SEAL
from himeji.rules.datafile import SOURCES, packaged
from himeji.rules.errors import BadComponents

FILE = "broken.toml"
COPY = Path(__file__).with_name("base_box.txt")


CONTENTS = BoxContents(Component, BASE_KINDS, BASE_BOARD, BASE_BOX)


def read(text):
    return load({FILE: text}, base_vocabulary().parse, CONTENTS)


@pytest.fixture(scope="module")
def text():
    return packaged("base.toml")


@pytest.fixture(scope="module")
def tables(text):
    return read(text)


# --- what it says -----------------------------------------------------------------------------


def test_every_printed_fact_is_as_on_the_components(tables):
    lines = [line for line in COPY.read_text().splitlines() if not line.startswith("#")]
    assert list(in_words(tables)) == lines


def in_words(tables):
    for component in tables.components:
        head = component.id + " diamond" * component.diamond
        if component.kind == "garden":
            head += " plant" if component.plant else " stone"
        yield " | ".join([head, *facts(tables, component)])
    for space in tables.spaces:
        offers = [effects(space.offers)] if space.offers else []
        yield " | ".join([f"space {space.name}", f"printed {space.printed}", *offers])
    for yard, tiles in enumerate(("blue + yellow", "blue", "yellow")):
        cost, value = tables.yard_iron[yard], tables.yard_value[yard]
        yield f"yard-{yard + 1} | {cost} iron | value {value} | {tiles}"
    for colour, member in enumerate(("courtier", "gardener", "warrior")):
        cells = " | ".join(cell.text for cell in tables.cells[colour])
        yield f"domain {COLOUR_NAMES[colour]} {member} | {cells}"
    for slot, name in enumerate(tables.slot_names):
        yield f"slot {name} | " + slot_in_words(tables.slot_room[slot], tables.slot_row[slot])


def facts(tables, component):
    if component.kind == "garden":
        yield from (f"{component.food} food", f"{component.points} points")
    if component.kind == "die-tile":
        yield COLOUR_NAMES[component.colour]
    yield from (row_in_words(row) for row in component.rows)
    yield from (effect.text for effect in (*component.slots, *component.faces))
    if component.gives:
        yield effects(component.gives)
    if component.lantern:
        yield f"back {effects(component.lantern)}"
    if component.decree:
        yield tables.names[component.decree]


def effects(them):
    return " + ".join(effect.text for effect in them)


def row_in_words(row):
    price = f"{row.cost} {GOOD_NAMES[row.cost_good]} -> " if row.cost else ""
    wide = f"x{row.lines} " if row.lines > 1 else ""
    return "dark " * row.dark + wide + price + effects(row.gives)


def slot_in_words(room, row):
    if room < 0:
        return "well | " + ("upper", "lower")[row]
    # A diplomat room has two tiles, kept as rows 0 and 1: the first lies at the top.
    rows = ("top", "bottom") if "diplomat" in SPACE_NAMES[room] else ("top", "middle", "bottom")
    return f"{SPACE_NAMES[room]} | {rows[row]}"


@pytest.mark.rule("B-1.2", "B-1.3", "B-1.5", "B-1.7", "B-3.3")
def test_the_box_holds_what_the_rules_count(tables):
    counts = {kind: len(numbers) for kind, numbers in tables.kinds.items()}
    assert counts == {
        "steward": 15,
        "diplomat": 12,
        "daimyo": 9,
        "start-action": 6,
        "start-resource": 9,
        "decree": 3,
        "garden": 10,
        "yard-tile": 8,
        "die-tile": 15,
    }
    castle = [c for c in tables.components if c.kind in ("steward", "diplomat")]
    assert [c.kind for c in castle if not c.diamond].count("steward") == 9
    assert [c.kind for c in castle if not c.diamond].count("diplomat") == 9
    rows = [row for card in castle for row in card.rows]
    assert len([row for row in rows if row.dark]) == 27
    assert len([row for row in rows if not row.dark]) == 2 * 15 + 12
    gardens = [c for c in tables.components if c.kind == "garden"]
    assert sum(c.food for c in gardens) == 29
    assert all(c.points == 2 * c.food - 1 for c in gardens)
    assert all(c.source in SOURCES for c in tables.components)
    assert not any(c.reconstructed for c in tables.components)


@pytest.mark.rule("B-4.2", "B-4.3", "B-6.1", "B-6.2", "B-7.4")
def test_the_board_prints_the_numbers_of_the_rules(tables):
    assert tables.audience_coins == 2
    assert tables.climb_pearl[1:] == [2, 5]
    assert [tables.caps[good] for good in (FOOD, IRON, PEARL, SEAL)] == [7, 7, 7, 5]
    assert tables.last_position == 20
    assert {n: seals for n, seals in enumerate(tables.checkpoint) if seals} == {6: 1, 11: 2, 15: 3}
    seasons = [0] * 6 + [3] * 5 + [6] * 4 + [10, 11, 12, 13, 14, 15]
    assert tables.track_points == seasons
    assert tables.coins_per_point == 5
    assert tables.resource_points == [0, 0, 0, 1, 1, 1, 1, 2]
    assert tables.courtier_points == [1, 3, 6, 10]


# --- how faults are refused -------------------------------------------------------------------

FAULTS = {
    # what is wrong: (the text, what replaces it, the entry and key that the refusal must name)
    "a stated count": ("steward = 15", "steward = 14", "counts: steward: 14 stated, 15 entries"),
    "a count that is missing": ("steward = 15", "", "counts: steward: missing"),
    "a count that is no number": ("steward = 15", 'steward = "15"', "counts: steward: expected a"),
    "an id twice": ('id = "steward-02"', 'id = "steward-01"', "steward-01: id: two entries"),
    "an id twice across kinds": ('id = "decree-1"', 'id = "daimyo-01"', "daimyo-01: id: two"),
    "an entry without id": ('id = "steward-02"\n', "", "steward[1]: id: missing"),
    "an unknown word": ('["2 iron"] }', '["2 irons"] }', "steward-02: rows[2]: gives: unknown"),
    "a word without its amount": ('["2 vp"] }', '["vp"] }', "steward-03: rows[2]: gives: unknown"),
    "an amount that no icon shows": ('["2 any"]', '["99 any"]', "steward-06: rows[2]: gives:"),
    "a lantern that is no effect": ('lantern = "1 coin"', 'lantern = "1 koin"', "lantern: unknown"),
    "an effect with an amount": ('slots = ["lantern"', 'slots = ["2 lantern"', "daimyo-01: slots:"),
    "a misspelt key": ("diamond = true", "diamnd = true", "steward-01: diamnd: unknown key"),
    "a misspelt key of a row": ("{ dark = true", "{ drak = true", "rows[0]: drak: unknown key"),
    "a misspelt key of the track": ("last = 20", "last = 20\nfirst = 0", "track: first: unknown"),
    "a misspelt kind": ("[[decree]]", "[[decrees]]", "counts: decree: 3 stated, 2 entries"),
    "a kind nobody knows": ("[prices]", "[moon]\nfull = 1\n[prices]", "moon: unknown kind"),
    "a kind that is missing": ("[caps]", "[cap]", "caps: missing"),
    "a source that is missing": ('lantern = "1 coin"\nsource = "bga-log"', 'lantern = "1 coin"',
                                 "steward-01: source: missing"),
    "a source nobody knows": ('source = "bga-log"', 'source = "hearsay"', "source: expected one"),
    "a board entry without source": ('printed = 3\narea = "castle"\nsource = "bga-log"',
                                     'printed = 3\narea = "castle"',
                                     "steward-room-1: source: missing"),
    "a number that is negative": ("food = 5", "food = -5", "garden-plant-1: food: expected a"),
    "a number that is a text": ("iron = 5", 'iron = "5"', "yard-1: iron: expected a whole number"),
    "a number that is a truth": ("points = 9", "points = true", "garden-plant-1: points: expected"),
    "a number with a fraction": ("printed = 5", "printed = 5.5", "outside-left: printed: expected"),
    "a flag that is a number": ("diamond = true", "diamond = 1", "steward-01: diamond: expected"),
    "a text that is a number": ('kind = "plant"', "kind = 1", "garden-plant-1: kind: expected a"),
    "a list that is a text": ('slots = ["lantern", "2 iron", "2 seal"]', 'slots = "lantern"',
                              "daimyo-01: slots: expected a list"),
    "a row that is a text": ('rows = [\n  { lines = 3, gives = ["courtier"] },\n]',
                             'rows = ["courtier"]', "start-action-1a: rows[0]: expected a table"),
    "a list with a number": ('gives = ["3 coin"]', "gives = [3]", "garden-stone-7: gives: expec"),
    "a price in iron": ('cost = "4 coin"', 'cost = "4 iron"', "garden-plant-1: cost: expected"),
    "a price of nothing": ('cost = "4 coin"', 'cost = "coin"', "garden-plant-1: cost: expected"),
    "a colour nobody knows": ('colour = "black"', 'colour = "green"', "colour: expected one of"),
    "a garden of no kind": ('kind = "stone"', 'kind = "sand"', "garden-stone-6: kind: expected"),
    "points that do not follow": ("points = 9", "points = 8", "garden-plant-1: points: expected"),
    "two slots of three": ('["lantern", "2 iron", "2 seal"]', '["lantern", "2 iron"]',
                           "daimyo-01: slots: expected 3, found 2"),
    "rows for two lines": ('{ lines = 2, gives = ["3 any"] }', '{ gives = ["3 any"] }',
                           "diplomat-01: rows: cover 2 lines"),
    "a domain row of five": ('["1 food", "1 food", "1 food", "2 coin", "1 food", "1 seal"]',
                             '["1 food", "1 food", "1 food", "2 coin", "1 food"]',
                             "domain-row[0]: cells: expected 6, found 5"),
    "a domain row of another": ('member = "courtier"', 'member = "warrior"',
                                "domain-row[0]: member: expected one of courtier"),
    "a decree that is none": ('decree = "decree-1"', 'decree = "daimyo-01"',
                              "start-resource-1: decree: there is no decree 'daimyo-01'"),
    "a decree given twice": ('decree = "decree-2"', 'decree = "decree-1"',
                             "start-resource-4: decree: decree-1 is named by another"),
    "a space out of place": ('id = "well"', 'id = "pond"', "pond: id: expected one of well"),
    "a space of no area": ('area = "well"', 'area = "sea"', "well: area: expected one of"),
    "a yard's tiles": ('tiles = ["yellow"]', 'tiles = ["blue"]', "yard-3: tiles: expected blue"),
    "a slot in no room": ('room = "well"', 'room = "attic"', "11: room: expected one of"),
    "a slot in no row": ('row = "upper"', 'row = "top"', "11: row: expected one of upper, lower"),
    "a track of another length": ("last = 20", "last = 21", "track: points: expected one for each"),
    "a score for other stores": ("resource = [0, 0,", "resource = [0,", "score: resource: expe"),
    "a score with a text": ("gate = 1", 'gate = "1"', "score: courtier: gate: expected a whole"),
    "a cap that is missing": ("seal = 5\n", "", "caps: seal: missing"),
    "a track without source": ('by position\nsource = "bga-log"', "", "track: source: missing"),
    "prices without source": ('pearl = 5\nsource = "bga-log"', "pearl = 5", "prices: source: miss"),
    "caps without source": ('seal = 5\nsource = "bga-log"', "seal = 5", "caps: source: missing"),
    "scores without source": ('10 }\nsource = "bga-log"', "10 }", "score: source: missing"),
    "a checkpoint past the end": ("entering = 6", "entering = 30", "checkpoints[0]: entering: "),
    "points below zero": ("points = [0,", "points = [-1,", "track: points: "),
    "a slot id twice": ('id = "12"', 'id = "11"', "11: id: two entries"),
    "two slots on one row": ('row = "lower"', 'row = "upper"', "12: row: "),
    "a count of nothing": ("steward = 15", "steward = 15\nmoon = 3", "moon: unknown kind"),
    "a row that gives nothing": ('["2 iron"] }', "[] }", "steward-02: rows[2]: gives: "),
    "a price in odd digits": ('cost = "4 coin"', 'cost = "² coin"', "garden-plant-1: cost: expe"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "named"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_refused_with_file_entry_and_key(text, old, new, named):
    assert old in text, "the fault does not fit the file any more"
    with pytest.raises(BadComponents) as refusal:
        read(text.replace(old, new, 1))
    assert str(refusal.value).startswith(f"{FILE}: ")
    assert named in str(refusal.value)


def test_a_file_that_is_no_toml_is_refused_with_its_line(text):
    with pytest.raises(BadComponents, match=rf"^{FILE}: not a TOML file: .*line 3"):
        read(f"\n\n=\n{text}")


@pytest.mark.parametrize(
    ("kind", "words"),
    [("space", "11 spaces"), ("domain-row", "3 domain rows"), ("yard", "3 yards")],
)
def test_a_board_that_lacks_a_part_is_refused(text, kind, words):
    *blocks, last = text.split(f"[[{kind}]]\n")
    rest = last[last.index("\n[") :]
    count = len(blocks)
    fewer = f"[[{kind}]]\n".join(blocks) + rest
    with pytest.raises(BadComponents, match=rf"^{FILE}: the box: .*{words}"):
        read(fewer.replace(f"\n{kind} = {count}", f"\n{kind} = {count - 1}"))


def test_an_entry_that_is_no_table_is_refused(text):
    start, end = text.index("[[decree]]"), text.index("[[garden]]")
    with pytest.raises(BadComponents, match=rf"^{FILE}: decree"):
        read('decree = ["a", "b", "c"]\n' + text[:start] + text[end:])


# Each breaks one sentence about the whole box, while every single entry stays in order.
DECREE = '[[decree]]\nid = "decree-4"\nlantern = "1 vp"\nsource = "rulebook"\n\n'
BROKEN_BOXES = {
    "6 starting action and 9 starting resource cards, 3 decrees, 8 yard tiles, 11 spaces for dice, "
    "3 domain rows, 3 yards": ("decree = 3", "decree = 4", "[[garden]]", f"{DECREE}[[garden]]"),
    "a steward room has 3 die tiles, a diplomat room and the Well 2": (
        'id = "10"\nroom = "steward-room-3"\nrow = "bottom"',
        'id = "10"\nroom = "diplomat-room-1"\nrow = "middle"',
    ),
    "the die tiles are 5 of each colour": ('colour = "coral"\nreward', 'colour = "black"\nreward'),
    "the die tiles pay each reward three times": ('reward = "1 food"', 'reward = "1 iron"'),
    "steward dark rows: 5 of each worker action, 3 of each without diamonds": (
        'cost = "1 seal", gives = ["courtier"]',
        'cost = "1 seal", gives = ["warrior"]',
    ),
    "diplomat dark rows: 4 of each worker action, 3 of each without diamonds": (
        '{ dark = true, gives = ["courtier"] }',
        '{ dark = true, gives = ["warrior"] }',
    ),
    "a steward has 3 rows, one of them dark for 1 seal": ('cost = "1 seal"', 'cost = "2 seal"'),
    "a diplomat has 2 rows, one of them dark and free": (
        '{ dark = true, gives = ["courtier"] }',
        '{ dark = true, cost = "1 seal", gives = ["courtier"] }',
    ),
    "starting resource backs: 3 food, 3 iron, 3 pearl, one of each with a decree": (
        'lantern = "1 pearl"',
        'lantern = "1 iron"',
    ),
    "5 plant and 5 stone gardens": ('kind = "plant"', 'kind = "stone"'),
    "the first daimyo slot is lantern, Well or light row, 3 cards each": (
        'slots = ["lantern", "2 iron"',
        'slots = ["well", "2 iron"',
    ),
}


@pytest.mark.parametrize("sentence", BASE_BOX)
def test_every_sentence_about_the_box_is_checked(text, sentence):
    edits = BROKEN_BOXES[sentence]
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in text, "the fault does not fit the file any more"
        text = text.replace(old, new, 1)
    with pytest.raises(BadComponents) as refusal:
        read(text)
    assert str(refusal.value) == f"{FILE}: the box: {sentence}: it does not hold"


def test_a_diamond_on_another_card_is_noticed(text):
    moved = text.replace('id = "steward-02"', 'id = "steward-02"\ndiamond = true', 1)
    with pytest.raises(BadComponents, match="3 of each without diamonds"):
        read(moved)
