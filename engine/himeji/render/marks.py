"""Where actions happen in a picture: the places that carry the words with which actions end.

A picture marks its places by the names that the action table uses, so that a page can show where
"place steward-room-1" or "climb gate steward-room-1" would go, for any ruleset.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from typing import Final

_MARKS: Final = re.compile(r' data-marks="([^"]*)"')


def marks(picture: str) -> frozenset[str]:
    """The names of all places that an SVG of `render.svg` marks."""
    found = (html.unescape(each).split(",") for each in _MARKS.findall(picture))
    return frozenset(mark for several in found for mark in several)


def place_of(text: str, places: Collection[str]) -> str:
    """The place that an action's text means: the longest that it ends with, "" for none."""
    words = text.split(" ")
    endings = (" ".join(words[start:]) for start in range(len(words)))
    return next((each for each in endings if each in places), "")
