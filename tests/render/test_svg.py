"""The drawing for pages and notebooks."""

import re
from xml.etree import ElementTree as ET

from himeji import render, rules
from himeji.render.canvas import width_of
from himeji.rules.chance import seeded
from himeji.rules.constants import COLOUR_NAMES

from tests.rules.playing import every_castle_table

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('x')</script>&\\\"]]>\\u0000\\ufffe"


def parsed(game):
    return ET.fromstring(render.svg(game))


def titles(root):
    return [found.text for found in root.iter(f"{SVG}title")]


def words(root):
    return [found.text or "" for found in root.iter(f"{SVG}text")]


@every_castle_table
def test_every_position_is_a_picture_with_a_size(walk, table):
    for seed in range(2):
        for game in walk(table, seed):
            root = parsed(game)
            assert root.tag == f"{SVG}svg"
            width, height = root.get("width"), root.get("height")
            assert root.get("viewBox") == f"0 0 {width} {height}"
            assert float(width) > 1000
            assert float(height) > 1000


def test_a_screen_reader_finds_what_the_picture_shows(walk):
    for game in walk(3, seed=1, every=25):
        root = parsed(game)
        assert root.get("role") == "img"
        assert root.get("aria-label") == root[0].text
        assert root[0].tag == f"{SVG}title"
        assert "base" in root[0].text
        assert root[1].tag == f"{SVG}desc"
        for seat, score in enumerate(game.scores()):
            assert f"seat {seat}: {score} point" in root[1].text


def test_the_picture_needs_nothing_from_outside_and_runs_nothing(crowd):
    drawn = render.svg(crowd)
    addresses = set(re.findall(r"https?://[^\"' ]+", drawn))
    assert addresses == {"http://www.w3.org/2000/svg"}
    tags = {found.tag.removeprefix(SVG) for found in ET.fromstring(drawn).iter()}
    assert tags <= {"svg", "g", "title", "desc", "rect", "circle", "path", "text"}
    names = {name for found in ET.fromstring(drawn).iter() for name in found.attrib}
    assert not {name for name in names if name.startswith("on") or "href" in name or name == "id"}


def test_a_picture_depends_on_the_position_alone(walk):
    for game in walk(2, seed=5, every=20):
        again = rules.loads(game.dumps())
        assert render.svg(again) == render.svg(game)


def beyond_the_base(game):
    """Components that expansions and the rival have in play."""
    return [card for section in game.rules.sections for card, _ in section.places(game)]


def components_in_play(game):
    lanterns = [card for area in game.lanterns for card in area]
    tables = (*game.rooms, *game.gardens, *game.yard_tiles, *game.tiles, *game.pairs)
    numbers = (*tables, *lanterns, game.daimyo, *game.action_card, *beyond_the_base(game))
    return {game.tables.of(number).id for number in numbers if number}


@every_castle_table
def test_every_component_in_play_is_named(walk, table):
    for game in walk(table, seed=4, every=15):
        root = parsed(game)
        named = {text.split(" ")[0] for text in (*words(root), *titles(root))}
        assert components_in_play(game) <= named


def dice_of(game):
    found = []
    for colour in game.rules.colours:
        values = (game.left[colour], *game.centre[colour], game.right[colour])
        rows = [game.domain_dice[seat * 4 + colour] for seat in range(game.clans)]
        found += [f"{COLOUR_NAMES[colour]} {value}" for value in (*values, *rows) if value]
    lying = [die for space in game.spaces for die in space] + [game.hand] * bool(game.hand)
    return sorted(found + [f"{COLOUR_NAMES[die >> 3]} {die & 7}" for die in lying])


@every_castle_table
def test_every_die_is_drawn_once(walk, table):
    for game in walk(table, seed=8):
        shown = [title for title in titles(parsed(game)) if re.fullmatch(r"[a-z]+ [1-6]", title)]
        assert sorted(title for title in shown if not title.startswith("seat")) == dice_of(game)


def test_the_question_is_written(walk):
    for game in walk(2, seed=1):
        shown = " ".join(words(parsed(game)))
        if not game.over:
            assert f"eat {game.to_move} is asked to {game.stack[-1].question(game)}" in shown


@every_castle_table
def test_no_text_is_cut_off_in_play(walk, table):
    for seed in range(2):
        for game in walk(table, seed):
            assert not [text for text in words(parsed(game)) if "…" in text]


def boxes(element, x=0.0, y=0.0):
    """Every text of a picture as (left, top, right, bottom, text), in pixels."""
    moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.tag == f"{SVG}text":
        size = float(element.get("font-size", 12))
        width = width_of(element.text, size, bold=element.get("font-weight") == "bold")
        shift = {"middle": width / 2, "end": width}.get(element.get("text-anchor"), 0)
        left, low = x + float(element.get("x")) - shift, y + float(element.get("y"))
        yield left, low - size * 0.7, left + width, low, element.text
    for child in element:
        yield from boxes(child, x, y)


def overlapping(found):
    """Pairs of texts that run into each other; numbers on dice may lie under another die."""
    long = [box for box in found if len(box[4]) > 1]
    for at, (left, top, right, bottom, text) in enumerate(long):
        for other in long[at + 1 :]:
            if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                yield text, other[4]


@every_castle_table
def test_no_text_runs_into_another_or_off_the_sheet(walk, table):
    for game in walk(table, seed=9, every=25):
        root = parsed(game)
        found = list(boxes(root))
        assert list(overlapping(found)) == []
        assert max(box[2] for box in found) < float(root.get("width"))
        assert max(box[3] for box in found) < float(root.get("height"))


def test_a_crowded_board_stays_readable(crowd):
    assert list(overlapping(list(boxes(parsed(crowd))))) == []


def test_hostile_names_stay_text(edition):
    changes = [(f'id = "{kind}', f'id = "{HOSTILE}{kind}') for kind in ("daimyo-", "yard-tile-")]
    changes.append(('id = "die-tile-coral', f'id = "{HOSTILE}die-tile-coral'))
    drawn = render.svg(edition(*changes).begin(2, seeded(1), {}))
    assert "<script" not in drawn
    assert "\x00" not in drawn
    assert "\ufffe" not in drawn
    root = ET.fromstring(drawn)
    assert not list(root.iter(f"{SVG}script"))
    assert [
        title for title in titles(root) if title.startswith("<script>alert('x')</script>&\"]]>")
    ]


def test_a_reconstructed_component_is_marked_where_it_is_shown_and_explained(edition):
    made_up = [
        (f'"1 {good}"\nsource = "bga-log"', f'"1 {good}"\nsource = "reconstructed"')
        for good in ("coin", "food", "vp", "pearl")
    ]
    game = edition(*made_up).begin(2, seeded(1), {})
    while game.drafting:
        game.apply(game.legal()[0])
    root = parsed(game)
    shown = [*words(root), *titles(root)]
    assert "† reconstructed, in whole or in part: the true one is not public" in shown
    for number in (*game.rooms, *game.tiles, *game.lanterns[0], *game.lanterns[1]):
        component = game.tables.of(number)
        name = f"{component.id} †" if component.reconstructed else component.id
        assert name in shown
        assert component.reconstructed is (component.id not in shown)
    assert "†" not in render.svg(rules.new_game("base", seats=2, seed=1))


def test_the_picture_of_the_documentation_is_up_to_date_and_small(documented):
    drawn = documented["PICTURE"].read_bytes()
    assert len(drawn) <= 150_000
    assert drawn.decode() == render.svg(documented["position"]()), "run python docs/images/make.py"
