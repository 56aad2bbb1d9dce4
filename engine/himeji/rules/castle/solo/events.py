"""The event that the solitaire rulesets add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from himeji.rules.castle.solo.constants import SOLITAIRE_READ
from himeji.rules.events import EventWords

_READ: Final = ("turns over", "takes the die that is shown by")

SOLO_EVENTS: Final[Mapping[int, EventWords]] = {
    SOLITAIRE_READ: EventWords(
        "solitaire-read",
        "The rival turned a solitaire card over, or took the die that one shows.",
        "the number of the card",
        "0 it was turned over to its actions, 1 the bridge side on top was used",
        lambda scene, who, card, used: f"{who} {_READ[used]} {scene.card(card)}",
    ),
}
