"""Every paragraph of the rules is shown by a test, and no test cites one that does not exist."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from himeji import rules

from tests.rules.rulebook import PAGES, all_rules, rules_of

TESTS = Path(__file__).parents[1]


@cache
def cited():
    """Rule ids by the test files that cite them with `@pytest.mark.rule`."""
    places = defaultdict(set)
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.rule":
                for argument in node.args:
                    places[ast.literal_eval(argument)].add(path.relative_to(TESTS).as_posix())
    return places


@pytest.mark.parametrize("ruleset", rules.RULESETS)
def test_every_rule_is_cited_by_a_test(ruleset):
    for name in rules.ruleset(ruleset).pages:
        page = PAGES / name
        assert page.exists(), f"{name}, a page of {ruleset}, is not in docs/rules"
        stated = rules_of(page.read_text(encoding="utf-8"))
        assert stated, f"{name} states no rules"
        missing = sorted(stated - cited().keys())
        assert not missing, f"no test cites {', '.join(missing)}"


def test_no_test_cites_a_rule_that_does_not_exist():
    unknown = {rule: sorted(places) for rule, places in cited().items() if rule not in all_rules()}
    assert not unknown, f"cited, but in no page of docs/rules: {unknown}"


def test_no_two_paragraphs_share_an_id():
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for rule in rules_of(text):
            assert text.count(f"**{rule}** ") <= 1, f"{page.name} states {rule} twice"
