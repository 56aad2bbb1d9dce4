"""The rule ids that the pages in docs/rules define."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "rules"
PARAGRAPH = re.compile(r"^(?:- )?\*\*([A-Z]+-\d+(?:\.\d+)?)\*\*", re.MULTILINE)
SECTION = re.compile(r"^## (\d+)\. ", re.MULTILINE)


def rules_of(page: str) -> set[str]:
    """Every paragraph's id, and a section's own where it has no paragraphs (B-8)."""
    ids = set(PARAGRAPH.findall(page))
    books = {rule.partition("-")[0] for rule in ids}
    sections = {f"{book}-{number}" for book in books for number in SECTION.findall(page)}
    return ids | {s for s in sections if not any(rule.startswith(f"{s}.") for rule in ids)}


def all_rules() -> set[str]:
    """The ids of all pages."""
    return {rule for page in PAGES.glob("*.md") for rule in rules_of(page.read_text())}
