"""What requests for lists have in common: the page size, page tokens, and filters by an enum.

A page token holds a cursor, after which the next page begins, and a digest of the query, so that
it is refused if the query has changed. It is not secret, and its format may change. A client can
make tokens of its own, so a cursor is checked like everything that comes from outside.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Collection
from typing import Final

from himeji.rules.errors import InvalidRequest

STANDARD_SIZE: Final = 50
LARGEST_SIZE: Final = 500
_LONGEST_TOKEN: Final = 500
_LARGEST_NUMBER: Final = 10**12


def size(requested: int) -> int:
    """The number of entries of a page (0: the standard size); raises InvalidRequest."""
    if requested < 0:
        raise InvalidRequest("page_size is less than 0", {"field": "page_size"})
    return min(requested, LARGEST_SIZE) or STANDARD_SIZE


def check_filter(value: int, known: Collection[int], field: str) -> None:
    """Raise InvalidRequest for a filter by a value that this server does not know.

    It may be one of a newer contract: every answer but a refusal would be wrong.
    """
    if value not in known:
        raise InvalidRequest(f"{value} is no value of {field}", {"field": field})


def token(cursor: str, *query: object) -> str:
    """The page token for what comes after a cursor, for one query."""
    return base64.urlsafe_b64encode(json.dumps([_digest(query), cursor]).encode()).decode()


def cursor(page_token: str, *query: object) -> str:
    """The cursor in a page token, "" for the first page; raises InvalidRequest."""
    if not page_token:
        return ""
    try:
        raw = base64.urlsafe_b64decode(page_token[:_LONGEST_TOKEN].encode())
        digest, found = json.loads(raw)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        digest, found = None, None
    if digest != _digest(query) or not isinstance(found, str) or not found.isascii():
        raise refused()
    return found


def number(text: str) -> int:
    """The number in a cursor; raises InvalidRequest."""
    if not (text.isdecimal() and int(text[:_LONGEST_TOKEN]) < _LARGEST_NUMBER):
        raise refused()
    return int(text)


def refused() -> InvalidRequest:
    """The error for a page token that the server did not make, or made for another query."""
    return InvalidRequest(
        "the page token is not one of this list, or belongs to another query",
        {"field": "page_token"},
    )


def _digest(query: tuple[object, ...]) -> str:
    return hashlib.sha256(json.dumps(query).encode()).hexdigest()[:16]
