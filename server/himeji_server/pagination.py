"""Pages of a list: how many to give, and where the next page goes on.

A page token holds the place after which the list goes on, and a digest of the question, so that
a token is refused where the question has changed. It is no secret and no promise.
"""

import base64
import binascii
import hashlib
import json
from typing import Final

from himeji.rules.errors import InvalidRequest

STANDARD_SIZE: Final = 50
LARGEST_SIZE: Final = 500
_LONGEST_TOKEN: Final = 500


def size(wanted: int) -> int:
    """How many entries a page gets; raises InvalidRequest for less than none."""
    if wanted < 0:
        raise InvalidRequest("page_size is less than 0", {"field": "page_size"})
    return min(wanted, LARGEST_SIZE) or STANDARD_SIZE


def token(place: str, *question: object) -> str:
    """The token that asks for what comes after a place, for one question."""
    return base64.urlsafe_b64encode(json.dumps([_digest(question), place]).encode()).decode()


def place(page_token: str, *question: object) -> str:
    """The place in a token, "" for the first page; raises InvalidRequest."""
    if not page_token:
        return ""
    try:
        raw = base64.urlsafe_b64decode(page_token[:_LONGEST_TOKEN].encode())
        digest, found = json.loads(raw)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        digest, found = None, None
    if digest != _digest(question) or not isinstance(found, str):
        raise InvalidRequest(
            "the page token is not one of this list, or belongs to another question",
            {"field": "page_token"},
        )
    return found


def _digest(question: tuple[object, ...]) -> str:
    return hashlib.sha256(json.dumps(question).encode()).hexdigest()[:16]
