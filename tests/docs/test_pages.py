"""The pages for users are true: their code runs, their tables are complete."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from himeji import rules
from himeji.rules.ruleset import Ruleset

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES_WITH_CODE = sorted(page.name for page in DOCS.glob("*.md") if "```python" in page.read_text())


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES_WITH_CODE)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: str) -> None:
    code = "\n".join(BLOCK.findall(read(page)))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True)


def test_pages_with_code_are_found() -> None:
    assert {"engine.md", "positions.md"} <= set(PAGES_WITH_CODE)


def first_cells(page: str) -> set[str]:
    cells = re.findall(r"^\| ([^|]+) \|", read(page), re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([\w-]+)`", cell)}


@pytest.mark.parametrize("name", rules.RULESETS)
def test_every_key_of_a_position_is_documented(name: str) -> None:
    seats = rules.ruleset(name).seat_counts[0]
    position = json.loads(rules.new_game(name, seats, seed=1).to_json())
    documented = first_cells("positions.md")
    assert set(position) <= documented
    assert set(position["clans"][0]) <= documented


@pytest.mark.parametrize("name", rules.RULESETS)
def test_every_pending_step_is_documented_with_its_fields(name: str) -> None:
    page = read("positions.md")
    for kind in rules.ruleset(name).codec.kinds:
        fields = ", ".join(f"`{field}`" for field in kind.fields)
        assert f"| `{kind.name}` | {fields + ' ' if fields else ''}|" in page


def test_every_verb_is_on_the_engine_page() -> None:
    page = read("engine.md")
    verbs = "to_move over legal apply clone resample playout scores ranking breakdown dumps to_json"
    for verb in [*verbs.split(), *rules.__all__]:
        if verb not in ("Chance", "Event", "Game", "RULESETS", "ruleset", "seeded"):
            assert verb in page, verb


def test_every_module_of_the_rules_is_on_the_engine_page() -> None:
    page = read("engine.md")
    folder = Path(sys.modules[Ruleset.__module__].__file__ or "").parent
    names = {path.name for path in folder.rglob("*.py")} - {"__init__.py", "errors.py"}
    helpers = {"actions.py", "packing.py", "components.py", "invariants.py"}
    for name in names - helpers:
        assert name in page, name
