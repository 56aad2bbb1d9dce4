"""Every rule page lists its decisions in one appendix: the point, the decision, the confidence."""

import re

import pytest
from himeji.rules.datafile import packaged

from tests.rules.rulebook import PAGES, rules_of

HEADING = "## Appendix: decisions where the rules are open"
COLUMNS = ["point", "decision", "confidence"]
CONFIDENCES = {"certain", "high", "medium", "low"}
POINT = re.compile(r"((?:[BSMD]-[\d.]+)(?:, [BSMD]-[\d.]+)*): \S.*")

every_page = pytest.mark.parametrize("name", sorted(page.name for page in PAGES.glob("*.md")))


def appendix(page: str) -> list[str]:
    """The lines below the heading; it must be the last of the page."""
    assert page.count(HEADING) == 1
    return page.partition(HEADING)[2].splitlines()


def rows(page: str) -> list[list[str]]:
    lines = [line for line in appendix(page) if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@every_page
def test_a_page_ends_with_one_table_of_its_decisions(name):
    page = packaged(name)
    assert not [line for line in appendix(page) if line.startswith(("#", "- "))]
    assert not re.search(r"^#+ .*(Notes|Open points)", page, re.MULTILINE)
    head, rule, *decisions = rows(page)
    assert head == COLUMNS
    assert set("".join(rule)) == {"-"}
    assert len(decisions) > 10


@every_page
def test_a_decision_names_a_paragraph_of_its_page_and_how_sure_it_is(name):
    page = packaged(name)
    for point, decision, confidence in rows(page)[2:]:
        named = POINT.fullmatch(point)
        assert named, f"{name}: {point!r} begins with no paragraph"
        assert set(named[1].split(", ")) <= rules_of(page), point
        assert decision
        assert confidence in CONFIDENCES, f"{name}: {point}: {confidence}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("base.md", "B-1.4: which spaces refuse a tile"),
        ("base.md", "B-3.1: the card leaves while its rows are performed"),
        ("solo.md", "S-3: the centre of a bridge"),
        ("matcha.md", "M-8.2: tile 7 blue, the free step of a Geisha"),
        ("matcha.md", "M-3.2: the redeal of castle cards"),
        ("duel.md", "D-6.3: the Influence card icon of elite-2"),
    ],
)
def test_readings_that_widen_or_narrow_a_sentence_of_the_book_are_listed(name, words):
    assert words in [point for point, _, _ in rows(packaged(name))]


@pytest.mark.parametrize("name", ["base.md", "matcha.md"])
def test_an_appendix_is_no_rule(name):
    page = packaged(name)
    assert rules_of(page) == rules_of(page.partition(HEADING)[0])
