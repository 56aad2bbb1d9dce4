"""Reading replies of Redis: bytes, and flat lists where Redis has fields with values (RESP2)."""

from collections.abc import Iterable, Sequence
from enum import StrEnum


class AppendStatus(StrEnum):
    """What became of an entry that is appended once, if the log is as its writer saw it."""

    OK = "ok"
    REPEATED = "repeated"
    CONFLICT = "conflict"


def text(reply: bytes) -> str:
    """A string."""
    return reply.decode()


def texts(replies: Iterable[bytes]) -> list[str]:
    """Strings."""
    return [each.decode() for each in replies]


def fields(flat: Sequence[bytes]) -> dict[str, bytes]:
    """The fields of a hash or of an entry of a stream."""
    return {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}


def text_fields(flat: Sequence[bytes]) -> dict[str, str]:
    """The fields of a hash whose values are strings."""
    return {name: value.decode() for name, value in fields(flat).items()}


def milliseconds(reply: Sequence[bytes]) -> int:
    """The reply to TIME, in milliseconds."""
    seconds, micros = reply
    return int(seconds) * 1000 + int(micros) // 1000
