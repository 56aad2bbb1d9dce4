"""How many of each kind of user: the text form of `--weights`."""

from __future__ import annotations

from typing import Final

KINDS: Final = ("stream", "unary", "spectator", "ladder", "newcomer")
STANDARD: Final = "stream=4,unary=2,spectator=1,ladder=2,newcomer=1"


def parse(text: str) -> dict[str, int]:
    """Read weights; kinds that are not named have none. Raises ValueError with a sentence."""
    weights = dict.fromkeys(KINDS, 0)
    for part in text.split(","):
        kind, _, number = part.strip().partition("=")
        if kind not in weights:
            raise ValueError(f"{kind!r} is no kind of user: there are {', '.join(KINDS)}")
        if not number.isdecimal():
            raise ValueError(f"{part.strip()!r} is no weight: write {kind}=1")
        weights[kind] = int(number)
    if not any(weights.values()):
        raise ValueError("all weights are 0: somebody has to come")
    return weights
