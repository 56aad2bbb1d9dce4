"""The pages of the rules, paragraph by paragraph: the words behind the ids that everything cites.

A paragraph begins with its id in bold, as an item of a list or not, and goes on to the next one or
to the next heading. A numbered section without paragraphs is one rule, whose id is the section's.
"""

from __future__ import annotations

from himeji.rules.description import Rule


def paragraphs(page: str) -> list[Rule]:
    """The rules of a page in their order."""
    found: list[tuple[str, list[str]]] = []
    book = ""  # of the ids; empty in what is no rule: the preface, an appendix
    for line in page.splitlines():
        name, text = _paragraph(line)
        if name:
            book = name.partition("-")[0]
            found.append((name, [text]))
        elif line.startswith("#"):
            number = line.removeprefix("## ").partition(".")[0]
            book = book if number.isdecimal() else ""
            found.append((f"{book}-{number}", []))
        elif book:
            found[-1][1].append(line.strip())
    rules = [Rule(name, "\n".join(lines).strip()) for name, lines in found]
    return [rule for rule in rules if rule.text and not _introduces(rule, rules)]


def _paragraph(line: str) -> tuple[str, str]:
    """The id and the first line of a paragraph; both empty if none begins here."""
    name, _, text = line.removeprefix("- ").removeprefix("**").partition("** ")
    book, _, number = name.partition("-")
    in_bold = line.startswith(("- **", "**")) and text
    if in_bold and book.isupper() and number.replace(".", "").isdecimal():
        return name, text
    return "", ""


def _introduces(rule: Rule, rules: list[Rule]) -> bool:
    """Whether it is the introduction of a section that has paragraphs of its own."""
    return any(other.id.startswith(f"{rule.id}.") for other in rules)
