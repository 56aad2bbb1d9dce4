"""The API reference is what the docstrings say, and their examples are true."""

import ast
import doctest
import importlib
import importlib.util

import pytest

from tests.docs.page_shell import ROOT

FOLDER = ROOT / "docs" / "api"


def load_maker():
    spec = importlib.util.spec_from_file_location("make_api", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = load_maker()


def test_the_pages_are_fresh():
    made = MAKE.pages()
    assert {page.name for page in FOLDER.glob("*.md")} == set(made)
    for name, text in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"{name} is stale: make docs"


@pytest.mark.parametrize("module", MAKE.PAGES)
def test_everything_that_a_module_offers_is_on_its_page(module):
    offered = getattr(importlib.import_module(module), "__all__", None)
    told = [entry.name for entry in MAKE.entries(module)]
    if offered is not None:
        assert told == list(offered)
    for entry in MAKE.entries(module):
        assert entry.text or isinstance(entry.node, ast.AnnAssign), f"{entry.name} has no docstring"


@pytest.mark.parametrize("module", MAKE.PAGES)
def test_the_examples_of_a_module_are_true(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0
    assert tried or "```pycon" not in MAKE.page(module)


def test_what_a_docstring_says_is_what_the_page_says():
    page = MAKE.page("himeji_sdk")
    assert "- `submit(*actions: int) -> Receipt`: Answer the open decision" in page
    assert "- `legal: list[int]`" in page
    assert "## play" in page
    assert "_own_seed" not in page
