"""What of the SDK is public: `__all__` says it, docs/api documents it, all else is private."""

import importlib
import pkgutil
import re
from pathlib import Path

import himeji_sdk
import pytest

PUBLIC = (
    "himeji_sdk",
    "himeji_sdk.connection",
    "himeji_sdk.doctor",
    "himeji_sdk.match",
    "himeji_sdk.rl",
)
SHOWN = ("himeji_sdk.template",)
"""Public to be read and copied: `himeji new` writes it. It has no page of its own."""

PAGES = Path(__file__).parents[2] / "docs" / "api"


def documented(module):
    """The names that a page of docs/api has a heading for."""
    page = (PAGES / f"{module}.md").read_text(encoding="utf-8")
    return re.findall(r"^## (?:class )?(\w+)", page, re.MULTILINE)


def modules():
    """Every module of the SDK, by its dotted path."""
    found = pkgutil.walk_packages(himeji_sdk.__path__, "himeji_sdk.")
    return ["himeji_sdk", *(each.name for each in found)]


@pytest.mark.parametrize("module", PUBLIC)
def test_all_and_the_page_name_the_same_things(module):
    assert documented(module) == importlib.import_module(module).__all__


def test_there_is_a_page_for_every_public_module_and_for_no_other():
    assert {path.stem for path in PAGES.glob("himeji_sdk*.md")} == set(PUBLIC)


@pytest.mark.parametrize("module", modules())
def test_a_module_is_public_by_the_list_or_private_by_an_underscore(module):
    private = any(part.startswith("_") for part in module.split("."))
    assert private != (module in (*PUBLIC, *SHOWN))


@pytest.mark.parametrize("module", PUBLIC)
def test_what_a_public_module_offers_is_there_and_named_without_underscore(module):
    loaded = importlib.import_module(module)
    assert all(hasattr(loaded, name) and not name.startswith("_") for name in loaded.__all__)


@pytest.mark.parametrize("module", PUBLIC)
def test_what_a_public_module_defines_itself_is_offered_or_private(module):
    loaded = importlib.import_module(module)
    own = {
        name
        for name, value in vars(loaded).items()
        if getattr(value, "__module__", "") == module and not name.startswith("_")
    }
    assert own <= set(loaded.__all__)


def test_no_two_classes_of_the_sdk_have_the_same_name():
    sources = Path(himeji_sdk.__file__).parent.rglob("*.py")
    names = [
        name
        for source in sources
        for name in re.findall(r"^\s*class (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(names) == sorted(set(names))
