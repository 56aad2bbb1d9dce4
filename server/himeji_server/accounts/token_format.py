"""The format of a token's secret, and the digest of it that is stored.

    himeji_ada.5k2r8w0m1xqz_9Qh…(43)…Vb3kT0aZ
           │                │          └ 6 characters: CRC-32 of all before, to detect a typo
           │                └ 43 characters: 256 random bits, the only secret part
           └ the token's id: its owner, a dot, 12 characters

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
_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43
_CHECK_LENGTH: Final = 6
_LONGEST: Final = 200

_ID: Final = rf"{NAME}\.[0-9a-z]{{{_ID_LENGTH}}}"
_TOKEN_ID: Final = re.compile(_ID)
_TEXT: Final = re.compile(
    rf"({PREFIX}({_ID})_[0-9A-Za-z]{{{_SECRET_LENGTH}}})([0-9A-Za-z]{{{_CHECK_LENGTH}}})"
)


def new_id(owner: str) -> str:
    """A random id for a token of an owner."""
    return f"{owner}.{''.join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))}"


def new_secret(token_id: str) -> str:
    """A random secret for a token."""
    body = f"{PREFIX}{token_id}_{_encode(secrets.randbits(SECRET_BITS), _SECRET_LENGTH)}"
    return body + _check(body)


def find_id(secret: str) -> str | None:
    """The token id in a secret; None if the text is not in the format of a secret."""
    found = _TEXT.fullmatch(secret) if len(secret) <= _LONGEST else None
    if found is None or found[3] != _check(found[1]):
        return None
    return found[2]


def is_id(text: str) -> bool:
    """Whether a text has the format of a token id."""
    return len(text) <= _LONGEST and _TOKEN_ID.fullmatch(text) is not None


def digest(secret: str) -> str:
    """The digest that is stored. Secrets are random, so one round of SHA-256 protects them."""
    return hashlib.sha256(secret.encode()).hexdigest()


def digests_equal(one: str, other: str) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def _check(body: str) -> str:
    return _encode(zlib.crc32(body.encode()), _CHECK_LENGTH)


def _encode(number: int, length: int) -> str:
    text = ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        text = _ALPHABET[digit] + text
    return text
