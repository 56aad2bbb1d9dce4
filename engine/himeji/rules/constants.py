"""The numbers and names that every family shares: goods, colours, sides, and common actions."""

from __future__ import annotations

from typing import Final

# Goods: what a clan holds, at `goods[clan * GOODS + good]`. No family uses all of them.
FOOD: Final = 0
IRON: Final = 1
PEARL: Final = 2
CHASEN: Final = 3
COIN: Final = 4
SEAL: Final = 5
VP: Final = 6
INFLUENCE: Final = 7
SWAP: Final = 8
GOODS: Final = 9
GOOD_NAMES: Final = ("food", "iron", "pearl", "chasen", "coin", "seal", "vp", "influence", "swap")
RESOURCES: Final = (FOOD, IRON, PEARL)
RIVAL_GOODS: Final = (COIN, VP, INFLUENCE)  # what a clan that nobody plays can hold
UNLIMITED: Final = 1 << 30  # the cap of a good without one
_COUNTED: Final = {COIN: "coin", SEAL: "seal", SWAP: "swap tile"}


def count(amount: int, good: int) -> str:
    """So much of a good in words: 1 seal, 2 seals, 2 iron."""
    plural = "s" if amount != 1 and good in _COUNTED else ""
    return f"{amount} {_COUNTED.get(good, GOOD_NAMES[good])}{plural}"


CORAL: Final = 0
BLACK: Final = 1
WHITE: Final = 2
GREEN: Final = 3
COLOUR_NAMES: Final = ("coral", "black", "white", "green")
LEFT: Final = 0
RIGHT: Final = 1
SIDE_NAMES: Final = ("left", "right")

# Actions that mean the same in every family; ids are frozen, a new word takes a new id.
EXCHANGE_COIN: Final = 0
EXCHANGE_RESOURCE: Final = 1  # plus the resource
LAST_EXCHANGE: Final = 4
DONE: Final = 5
PERFORM: Final = 6
CHOOSE: Final = 10  # plus the resource
