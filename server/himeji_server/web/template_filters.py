"""The Jinja environment and its filters: times, clocks, numbers, links to rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Final

from himeji.rules.step_fields import RULE_BOOKS
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from himeji_server.web import plots, schemas

_RULE: Final = re.compile(rf"\b[{RULE_BOOKS}]-\d+(?:\.\d+)*\b")
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*")
_CODE: Final = re.compile(r"`(.+?)`")
_CLOCK: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


def environment() -> Environment:
    """The environment of the templates; everything is escaped unless it is Markup."""
    made = Environment(
        loader=PackageLoader("himeji_server.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "time": time_text,
        "clock": clock_text,
        "decimal": lambda value: f"{value:.1f}",
        "options": options_text,
        "prose": prose,
        "spoken": lambda text: str(text).replace("_", " ").replace("-", " "),
        "by_kind": by_kind,
    }
    made.globals |= {"plots": plots}
    return made


def time_text(text: str) -> Markup:
    """A time for readers, with the exact time in the markup."""
    if not text:
        return Markup("")
    when = datetime.fromisoformat(text)
    return Markup('<time datetime="{}">{}</time>').format(text, f"{when:%Y-%m-%d %H:%M} UTC")


def clock_text(milliseconds: int | None) -> str:
    """The time left on a clock."""
    if milliseconds is None:
        return "untimed"
    seconds = milliseconds // 1000
    for unit, size in _CLOCK[:2]:
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds // 60}:{seconds % 60:02}"


def options_text(options: dict[str, str]) -> str:
    """The options of a game, separated by commas."""
    return ", ".join(f"{name} {value}" for name, value in options.items())


def prose(text: str, ruleset: str) -> Markup:
    """A paragraph of the rules with emphasis, code, and links to the rules that it cites."""
    marked = str(escape(text))
    marked = _BOLD.sub(r"<strong>\1</strong>", marked)
    marked = _CODE.sub(r"<code>\1</code>", marked)
    linked = _RULE.sub(rf'<a href="/rulesets/{escape(ruleset)}#\g<0>">\g<0></a>', marked)
    return Markup(linked)  # noqa: S704 - escaped above, before anything was added


def by_kind(parts: Iterable[schemas.Component]) -> list[tuple[str, list[schemas.Component]]]:
    """Group components or parts of boards by kind, in their order."""
    return [(kind, list(some)) for kind, some in groupby(parts, key=lambda each: each["kind"])]
