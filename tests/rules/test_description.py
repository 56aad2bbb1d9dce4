"""What a ruleset tells about itself: the text of its rules, its components, its events in words."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from himeji import rules
from himeji.rules.castle.base import base_ruleset
from himeji.rules.datafile import packaged
from himeji.rules.game import ACTION, DRAW, GAIN, OVER, ROLL
from himeji.rules.rulebook import paragraphs

from tests.rules.playing import every_table, finish, policy
from tests.rules.rulebook import PAGES, rules_of

ROOT = Path(__file__).parents[2]
DATA = ROOT / "engine" / "himeji" / "rules" / "data"
SOURCES = sorted((ROOT / "engine" / "himeji").rglob("*.py"))
CITED = re.compile(r"\b([BSMD]-\d+(?:\.\d+)?)\b")
every_ruleset = pytest.mark.parametrize("ruleset", rules.RULESETS.values(), ids=lambda r: r.name)


@pytest.mark.parametrize("page", sorted(path.name for path in DATA.glob("*.md")))
def test_the_page_in_docs_is_the_packaged_text(page):
    packaged_text = (DATA / page).read_text(encoding="utf-8")
    shown = (PAGES / page).read_text(encoding="utf-8")
    assert shown == packaged_text, "the packaged page is the source: run `make docs`"


def test_every_data_file_goes_into_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    files = [path.name for path in DATA.iterdir() if path.is_file()]
    assert {"base.md", "base.toml"} <= set(files)
    assert [name for name in files if not any(fnmatch(name, each) for each in patterns)] == []


@every_ruleset
def test_every_rule_of_the_pages_is_told_once_and_in_their_order(ruleset):
    told = ruleset.describe_rules()
    stated = {rule for page in ruleset.pages for rule in rules_of(packaged(page))}
    assert {rule.id for rule in told} == stated
    assert len(told) == len(stated)
    lines = [line for page in ruleset.pages for line in packaged(page).splitlines()]
    text = "\n".join(line.strip() for line in lines)
    places = [text.index(rule.text) for rule in told]
    assert places == sorted(places)


def test_a_rule_is_told_in_the_words_of_its_page():
    told = {rule.id: rule.text for rule in rules.ruleset("base").describe_rules()}
    assert told["B-4.2"] == (
        "Audience: pay 2 coins, the leftmost courtier of the domain goes to the Gate."
    )
    assert told["B-8"].startswith("Dice on bridges + dice on spaces")


def test_pages_may_wrap_paragraphs_and_have_introductions_and_appendices():
    page = """# A game
Preface with **bold** words.

## 1. Setup
An introduction.

- **X-1.1** First line
  and its second.

**X-1.2** No item of a list.
- an item of it
## 2. Alone
One rule.

## Appendix
- **not a rule** at all
Sources.
"""
    assert paragraphs(page) == [
        ("X-1.1", "First line\nand its second."),
        ("X-1.2", "No item of a list.\n- an item of it"),
        ("X-2", "One rule."),
    ]


def test_every_rule_that_the_engine_cites_can_be_read():
    told = {rule.id for each in rules.RULESETS.values() for rule in each.describe_rules()}
    sections = {rule.partition(".")[0] for rule in told}
    cited = {rule for path in SOURCES for rule in CITED.findall(path.read_text(encoding="utf-8"))}
    assert len(cited) > 30
    assert cited - told - sections == set()


@every_table
def test_every_rule_that_play_cites_can_be_read(table):
    ruleset = rules.ruleset(table.ruleset)
    told = {rule.id for rule in ruleset.describe_rules()}
    for seed in range(6):
        game = table.begin(seed)
        finish(game, policy(seed))
        assert {rule for *_, rule in game.log} <= told
        assert {ruleset.scoring_rule(line) for line in game.breakdown()[0]} <= told


@every_table
def test_every_event_of_play_can_be_told_in_words(table):
    ruleset = rules.ruleset(table.ruleset)
    kinds = {each.kind: each for each in ruleset.describe_events()}
    for seed in range(6):
        game = table.begin(seed)
        finish(game, policy(seed))
        for record in game.log:
            text = ruleset.tell(record, table.seats)
            assert text
            assert not set("{}<>") & set(text)
            if record[1] >= 0:
                rival = record[1] == table.seats
                assert text.startswith("the rival" if rival else f"seat {record[1]}"), text
            assert kinds[record[0]].name == ruleset.event_kinds[record[0]]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ((ACTION, 1, 18, 0, "B-2.3"), "seat 1: take black left"),
        ((ROLL, -1, 0, 4, "B-2.2"), "a coral die shows 4"),
        ((DRAW, -1, 1, 1, "B-4.4"), "steward-01 is drawn from the pile steward"),
        ((DRAW, -1, 0, 1, "B-1.6"), "seat 1 is next in turn order"),
        ((GAIN, 0, 4, 2, "B-2.5"), "seat 0 gains 2 coins"),
        ((GAIN, 2, 4, 1, "B-2.5"), "the rival gains 1 coin"),
        ((OVER, 0, 1, 48, "B-7.5"), "seat 0 ends as number 1 with 48 points"),
        ((16, 0, 2 * 8 + 5, 0, "B-2.3"), "seat 0 takes white 5 from the left"),
        ((17, 0, 3, 7, "B-2.3"), "seat 0 places coral 3 on well"),
        ((18, 0, 0, 1 * 8 + 5, "B-4.3"), "seat 0: a courtier goes from gate to diplomat-room-1"),
        ((18, 0, 1, 3, "B-4.6"), "seat 0: a gardener goes to black stone"),
        ((18, 0, 2, 2, "B-4.7"), "seat 0: a warrior goes to yard-3"),
        ((19, 1, 16, 1, "B-4.4"), "seat 1: diplomat-01 shines in the Lantern Area"),
    ],
)
def test_an_event_reads_like_a_sentence(record, text):
    assert rules.ruleset("base").tell(record, 2) == text


def test_a_component_tells_what_is_known_about_its_source():
    told = {each.id: each for each in rules.ruleset("base").describe_components()}
    card = told["steward-03"]
    assert card.source == "read from records of many finished games on a public game site"
    assert card.note.startswith("sources disagree: ")
    assert card.note.endswith("also in: bglab")
    assert not card.reconstructed


def test_a_reconstructed_component_is_told_as_one():
    text = packaged("base.toml").replace('source = "bga-log"', 'source = "reconstructed"', 1)
    first, second, *_ = base_ruleset(lambda _: text).describe_components()
    assert (first.reconstructed, second.reconstructed) == (True, False)
    assert first.source.startswith("made up here")


@pytest.mark.parametrize("ruleset", rules.RULESETS.values(), ids=lambda each: each.name)
def test_kind_and_number_name_one_part_of_the_board(ruleset):
    named = [
        (part.kind, part.number) for part in ruleset.describe_board() if part.number is not None
    ]
    assert len(named) == len(set(named))
