"""The texts that the solitaire rulesets add: actions, and what steps are."""

from __future__ import annotations

from typing import Final

from himeji.rules.actions import filled
from himeji.rules.castle.constants import GARDEN_NAMES, ROOMS, SPACE_NAMES
from himeji.rules.castle.solo.constants import RIVAL_CLIMBER, RIVAL_GARDEN, RIVAL_ROOM


def solo_texts() -> dict[int, str]:
    """What a rival adds: the player's choices for it (S-7)."""
    rooms = SPACE_NAMES[:ROOMS]
    return filled(
        [
            (RIVAL_GARDEN, "rival gardener {}", GARDEN_NAMES),
            (RIVAL_CLIMBER, "rival climbs from {}", rooms),
            (RIVAL_ROOM, "rival climbs to {}", rooms),
        ]
    )


SOLO_STEP_TEXTS: Final = {
    "rival-deeds": "The actions of the solitaire cards that were turned over (S-5).",
    "rival-garden": "Choose one of equal gardens for the rival's gardener (S-7).",
    "rival-climber": "Choose which of the rival's equal courtiers climbs (S-7).",
    "rival-room": "Choose the room where a climb of the rival ends (S-7).",
    "rival-gardens": "The rival's part of the garden step (S-8).",
}
SOLO_FIELD_TEXTS: Final = {
    "deeds": "the actions still to be done",
    "floors": "how many floors it climbs",
    "start": "where it climbs from",
}
