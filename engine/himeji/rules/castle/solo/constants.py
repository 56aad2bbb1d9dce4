"""The numbers of the solitaire rulesets and their names, beside those of the castle family."""

from __future__ import annotations

from typing import Final

SOLITAIRE_PILE: Final = 10
SOLO_PILE_NAMES: Final = {SOLITAIRE_PILE: "solitaire"}

SOLITAIRE_READ: Final = 24  # the event of a solitaire card

# Actions: 128 to 143 are choices for the rival.
RIVAL_GARDEN: Final = 128  # plus the garden
RIVAL_CLIMBER: Final = 134  # plus the room that a courtier of the rival leaves
RIVAL_ROOM: Final = 139  # plus the room that it goes to
