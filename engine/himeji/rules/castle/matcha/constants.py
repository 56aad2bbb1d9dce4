"""The numbers of Matcha and their names, beside those of the castle family."""

from __future__ import annotations

from typing import Final

from himeji.rules.castle.constants import DOMAIN_SPACE, SPACE_NAMES, WORKER_NAMES
from himeji.rules.constants import GREEN

# Spaces for dice: after the three domain rows of the base game comes the green one.
GREEN_DOMAIN_SPACE: Final = DOMAIN_SPACE + GREEN
MATCHA_SPACE_NAMES: Final = (
    *SPACE_NAMES,
    "domain-green",
    "tea-fields-left",
    "tea-fields-right",
    "outskirts-upper",
    "outskirts-lower",
)
OUTSKIRTS_UPPER: Final = 14

# Where a geisha may be, at `geishas[seat * GEISHA_PLACES + place]`; 0 is the domain again.
AT_ENTRANCE: Final = 1
ON_OVERLOOK: Final = 2
ON_STEP_1: Final = 3
ON_STEP_2: Final = 4
TEA_ROOMS: Final = (5, 6, 7)
GEISHA_PLACES: Final = 8
GEISHA_PLACE_NAMES: Final = (
    "domain",
    "entrance",
    "overlook",
    "step-1",
    "step-2",
    "gardeners-room",
    "warriors-room",
    "courtiers-room",
)
GEISHA: Final = 3
GEISHA_NAME: Final = "geisha"
MATCHA_WORKER_NAMES: Final = (*WORKER_NAMES, GEISHA_NAME)

# Piles.
FLOWER_PILE: Final = 11
CALLIGRAPHY_PILE: Final = 12
LILY_PILE: Final = 13
CEREMONY_PILE: Final = 14
MATCHA_PILE_NAMES: Final = {
    FLOWER_PILE: "flower",
    CALLIGRAPHY_PILE: "calligraphy",
    LILY_PILE: "lily",
    CEREMONY_PILE: "ceremony",
}
OUTSKIRTS_PILES: Final = (FLOWER_PILE, CALLIGRAPHY_PILE)
OUTSKIRTS_DECK_NAMES: Final = ("flower", "calligraphy")
CURTAIN_NAMES: Final = (
    "flower upper",
    "flower lower",
    "calligraphy upper",
    "calligraphy lower",
)
LILIES_IN_POND: Final = 3

# Actions: 144 to 169 are Matcha's, 170 to 181 choices for the rival, 192 to 207 parts,
# 208 and up what came later.
ENTRANCE: Final = 144
WALK: Final = 145  # plus the walk, as listed in WALKS
POND: Final = 155
LILIES: Final = 156
CEREMONY: Final = 157
CURTAIN: Final = 158  # plus the curtain
OUTSKIRTS_CARD: Final = 162  # plus the deck
KEEP: Final = 164  # plus 2 * kind of starting component + which
RIVAL_WALK: Final = 170  # plus the walk
RIVAL_DISCARD: Final = 180  # plus the deck
FIRST_OF_MATCHA: Final = 192  # plus the word of a part that Matcha adds
LAST_OUTSKIRTS_CARD: Final = 208  # plus the deck; the card is chosen and not taken
MATCHA_PART_NAMES: Final = (
    "geisha",
    "courtier or geisha",
    "gardener or geisha",
    "warrior or geisha",
    "lilies",
    "castle-row dark",
    "castle-rows light",
    "curtain yellow",
    "curtains yellow",
    "curtain blue free",
    "curtains of a card",
    "yard-tile blue",
    "yard-tiles yellow",
    "stone-gardens",
    "geisha-step",
    "climb-floor",
)
START_KIND_NAMES: Final = ("resource", "action", "tile")
WALKS: Final = (
    (AT_ENTRANCE, ON_OVERLOOK, 1),
    (AT_ENTRANCE, ON_STEP_1, 1),
    (ON_STEP_1, ON_STEP_2, 1),
    *[(ON_STEP_2, room, 1) for room in TEA_ROOMS],
    (AT_ENTRANCE, ON_STEP_2, 2),
    *[(ON_STEP_1, room, 2) for room in TEA_ROOMS],
)
"""Every walk as (from, to, steps) in places of a geisha, in the order of action ids (M-7.4)."""
