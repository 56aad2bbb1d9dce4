"""The option `--weights`: how many users of each kind take part."""

from __future__ import annotations

from typing import Final

KINDS: Final = ("stream", "unary", "spectator", "ladder", "newcomer")
STANDARD: Final = "stream=4,unary=2,spectator=1,ladder=2,newcomer=1"


def parse(text: str) -> dict[str, int]:
    """Weights by kind, 0 for kinds that are not named; raises ValueError with a message."""
    weights = dict.fromkeys(KINDS, 0)
    for part in text.split(","):
        kind, _, number = part.strip().partition("=")
        if kind not in weights:
            raise ValueError(f"{kind!r} is not a kind of user: choose from {', '.join(KINDS)}")
        if not number.isdecimal():
            raise ValueError(f"{part.strip()!r} is not a weight: write {kind}=1")
        weights[kind] = int(number)
    if not any(weights.values()):
        raise ValueError("all weights are 0: at least one must be positive")
    return weights
