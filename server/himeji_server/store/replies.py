"""Reading replies of Redis: bytes, and flat lists where Redis has fields with values (RESP2)."""

from collections.abc import Iterable, Sequence
from enum import StrEnum


class AppendStatus(StrEnum):
    """What became of an entry that is appended once, if the log is as its writer saw it."""

    OK = "ok"
    REPEATED = "repeated"
    CONFLICT = "conflict"


def text(reply: bytes) -> str:
    return reply.decode()


def texts(replies: Iterable[bytes]) -> list[str]:
    """Decode a list of strings."""
    return [each.decode() for each in replies]


def fields(flat: Sequence[bytes]) -> dict[str, bytes]:
    """Pair the fields of a hash, or of an entry of a stream, with their values."""
    return {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}


def text_fields(flat: Sequence[bytes]) -> dict[str, str]:
    """Pair the fields of a hash with their values, and decode these."""
    return {name: value.decode() for name, value in fields(flat).items()}


def milliseconds(reply: Sequence[bytes]) -> int:
    """Convert the reply to TIME."""
    seconds, micros = reply
    return int(seconds) * 1000 + int(micros) // 1000
