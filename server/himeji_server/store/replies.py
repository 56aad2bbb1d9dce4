"""Answers of Redis in one form, whichever the client library gives them in."""

from typing import Any


def pairs(flat: Any) -> dict[str, bytes]:
    """The fields of a hash or of a stream's entry."""
    items = flat.items() if isinstance(flat, dict) else zip(flat[::2], flat[1::2], strict=True)
    return {bytes(name).decode(): bytes(value) for name, value in items}
