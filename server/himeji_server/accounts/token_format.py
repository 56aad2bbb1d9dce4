"""The text of a token's secret: made, recognised, and turned into what may be stored.

    himeji_ada.5k2r8w0m1xqz_9Qh…(43)…Vb3kT0aZ
           │                │          └ 6 signs: CRC-32 of all before, to refuse a typo early
           │                └ 43 signs: 256 random bits, the only secret part
           └ the token's id: its owner, a dot, 12 signs

The prefix and the check sum let a scanner recognise a secret that was published by mistake. The
id finds the token; the digest of the whole text, compared in constant time, proves the secret.
"""

import hashlib
import hmac
import re
import secrets
import zlib
from typing import Final

from himeji_server.names import NAME

PREFIX: Final = "himeji_"
SECRET_BITS: Final = 256

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_SIGNS: Final = 12
_SECRET_SIGNS: Final = 43
_CHECK_SIGNS: Final = 6
_LONGEST: Final = 200

_ID: Final = rf"{NAME}\.[0-9a-z]{{{_ID_SIGNS}}}"
_TOKEN_ID: Final = re.compile(_ID)
_TEXT: Final = re.compile(
    rf"({PREFIX}({_ID})_[0-9A-Za-z]{{{_SECRET_SIGNS}}})([0-9A-Za-z]{{{_CHECK_SIGNS}}})"
)


def new_id(owner: str) -> str:
    """An id for a token of an owner."""
    return f"{owner}.{''.join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_SIGNS))}"


def new_secret(token_id: str) -> str:
    """A fresh secret for a token."""
    body = f"{PREFIX}{token_id}_{_written(secrets.randbits(SECRET_BITS), _SECRET_SIGNS)}"
    return body + _check(body)


def id_in(secret: str) -> str | None:
    """The id of the token whose secret this may be; None for what cannot be one."""
    found = _TEXT.fullmatch(secret) if len(secret) <= _LONGEST else None
    if found is None or found[3] != _check(found[1]):
        return None
    return found[2]


def is_id(text: str) -> bool:
    """Whether a text can be the id of a token."""
    return len(text) <= _LONGEST and _TOKEN_ID.fullmatch(text) is not None


def digest(secret: str) -> str:
    """What is stored of a secret. It is random, so one round of SHA-256 hides it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two digests are the same, in a time that does not tell how far they agree."""
    return hmac.compare_digest(one.encode(), other.encode())


def _check(body: str) -> str:
    return _written(zlib.crc32(body.encode()), _CHECK_SIGNS)


def _written(number: int, signs: int) -> str:
    text = ""
    for _ in range(signs):
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text
