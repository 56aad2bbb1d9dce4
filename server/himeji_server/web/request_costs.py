"""What a request pays in advance: about the milliseconds of work that it makes.

What it takes beyond that is measured and charged to its address as well (processor_shares.py), but
not what is done in a thread, such as drawing.
Measured with compiled rules: a page 3 ms, a ruleset 7 to 12, a drawn board 13 to 20 (in a thread),
the replay of a whole game 10 and more, a list 0.27 for each of its games.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs

from himeji_server.limits import Limits
from himeji_server.pagination import LARGEST_SIZE, STANDARD_SIZE

EVENT: Final = 10
"""The cost of an event: most of a page, with a board that others often drew before."""

_PAGE: Final = 3
_COSTS: Final = (
    (re.compile(r"/static/"), 1),
    (re.compile(r"/(?:api/)?games/[^/]+/replay"), 20),
    (re.compile(r"/api/games/[^/]+/boards/"), 20),
    (re.compile(r"/games/[^/]+/turn$"), 20),
    (re.compile(r"/(?:$|api/arena|bots/|api/bots/)"), 10),
    (re.compile(r"/(?:api/)?rulesets/"), 10),
)
_LIST: Final = re.compile(r"/(?:api/)?games/?$")
_GAMES_PER_MS: Final = 4
_EVENTS: Final = "/events"


def cost_of(path: str, query: bytes) -> int:
    """How much a request pays."""
    if _LIST.match(path):
        return _PAGE + _page_size(query) // _GAMES_PER_MS
    if path == _EVENTS:
        return EVENT * _games_followed(query)
    return next((cost for pattern, cost in _COSTS if pattern.match(path)), _PAGE)


def _games_followed(query: bytes) -> int:
    """How many games an event stream loads; more than allowed are refused unseen."""
    games = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("games", [""])[-1]
    return min(games.count(",") + 1, Limits.games_per_event_stream)


def _page_size(query: bytes) -> int:
    size = parse_qs(query.decode("latin-1")).get("page_size", [""])[0]
    return min(int(size), LARGEST_SIZE) if size.isdecimal() and len(size) < 10 else STANDARD_SIZE
