"""Free texts of clients that others see: their length, and the characters that they may have.

Control characters can rewrite a terminal, bidirectional controls make a text read as another one,
and invisible characters make two texts look the same, so all of them are refused.
"""

import unicodedata
from typing import Final

from himeji.rules.errors import InvalidRequest

_REFUSED_CATEGORIES: Final = {
    "Cc": "a control character",
    "Cf": "an invisible character",
    "Cn": "not a character of Unicode",
    "Co": "a character of private use",
    "Cs": "half a character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
_INVISIBLE: Final = frozenset(
    map(
        chr,
        # Letters, marks and symbols that show nothing; the emoji selector U+FE0F is not among them.
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xE0100, 0xE01F0),
        ),
    )
)


def check_text(text: str, field: str, longest: int, *, lines: bool = False) -> str:
    """Check a free text; raises InvalidRequest. With `lines`, it may have line feeds.

    Only texts in normal form C are accepted, so that what looks the same is the same.
    """
    if len(text) > longest:
        raise InvalidRequest(
            f"{field} has {len(text)} characters, and {longest} are allowed", {"field": field}
        )
    for place, character in enumerate(text, 1):
        if lines and character == "\n":
            continue
        problem = _problem(character)
        if problem:
            raise InvalidRequest(
                f"character {place} of {field}, U+{ord(character):04X}, is {problem}: leave it out",
                {"field": field},
            )
    if not unicodedata.is_normalized("NFC", text):
        raise InvalidRequest(
            f"{field} is not in Unicode's normal form C (NFC): normalise it", {"field": field}
        )
    return text


def _problem(character: str) -> str:
    """What is wrong with a character; empty if nothing is."""
    if character in _INVISIBLE:
        return _REFUSED_CATEGORIES["Cf"]
    return _REFUSED_CATEGORIES.get(unicodedata.category(character), "")
