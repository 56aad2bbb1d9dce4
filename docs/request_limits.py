"""Write the table of request limits into docs/limits.md, from the code.

Run `make docs` after a change of a request or of its limits; a test compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

from himeji_server.limits import Limits
from himeji_server.request_limits import FIELDS, MESSAGES

PAGE: Final = Path(__file__).parent / "limits.md"
BEGIN: Final = "| message | its fields, and how long each may be |\n|---|---|\n"


def table() -> str:
    """A row for each message: its fields with their limits."""
    limits = Limits()
    messages: defaultdict[str, list[str]] = defaultdict(list)
    for name, limit in sorted(FIELDS.items()):
        message, _, field = name.rpartition(".")
        messages[message].append(f"`{field}` {getattr(limits, limit):,}")
    for message, limit in MESSAGES.items():
        messages[message] = [f"{getattr(limits, limit):,} bytes in all"]
    rows = sorted(messages.items())
    return "".join(f"| `{message}` | {', '.join(fields)} |\n" for message, fields in rows)


def page() -> str:
    """The page with the table of the code."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition("\n\n")
    return before + begin + table().rstrip("\n") + end + after


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
