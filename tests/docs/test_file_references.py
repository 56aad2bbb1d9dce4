"""The files that the pages for developers name exist, and speak of what they are named for."""

import re
import subprocess

import pytest

from tests.docs.page_shell import ROOT

PAGES = ("docs/glossary.md", "docs/architecture.md", "CONTRIBUTING.md")
REFERENCE = re.compile(r"`([\w./-]+\.(?:cfg|ini|json|lua|md|proto|py|toml|yaml|yml))`")
ROW = re.compile(r"^\| \*\*(?P<words>[^|]+)\*\* \|.*\| (?P<files>[^|]+) \|$", re.MULTILINE)


def files_of_the_repository():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


FILES = files_of_the_repository()
REFERENCES = [
    (page, reference)
    for page in PAGES
    if (ROOT / page).exists()
    for reference in sorted(set(REFERENCE.findall((ROOT / page).read_text(encoding="utf-8"))))
]
ROWS = [
    (row["words"], REFERENCE.findall(row["files"]))
    for row in ROW.finditer((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
]


def meant_by(reference):
    """The files that a reference may mean: a path from the root, or the end of one."""
    return [name for name in FILES if f"/{name}".endswith(f"/{reference}")]


@pytest.mark.parametrize(("page", "reference"), REFERENCES)
def test_every_file_that_a_page_names_exists(page, reference):
    assert meant_by(reference), f"{page} names {reference}"


def test_the_references_were_found():
    assert {page for page, _ in REFERENCES} >= {"docs/glossary.md", "CONTRIBUTING.md"}
    assert len(ROWS) > 100


def test_every_test_that_a_recipe_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    tests = [ROOT / name for name in FILES if name.startswith("tests/") and name.endswith(".py")]
    defined = re.findall(r"def (test_\w+)", "\n".join(each.read_text("utf-8") for each in tests))
    assert len(named) > 5
    assert named <= set(defined)


@pytest.mark.parametrize(("words", "files"), ROWS)
def test_every_word_of_the_glossary_has_one_file_in_which_it_occurs(words, files):
    assert files, f"{words} has no file"
    for reference in files:
        assert len(meant_by(reference)) == 1, f"{reference} may be {meant_by(reference)}"
    text = "\n".join(f"{each}\n{(ROOT / meant_by(each)[0]).read_text('utf-8')}" for each in files)
    for word in re.findall(r"\w+", words.lower()):
        stem = re.sub(r"(ies|y|s)$", "", word)
        assert stem in text.lower(), f"{files} do not speak of {word!r}"
