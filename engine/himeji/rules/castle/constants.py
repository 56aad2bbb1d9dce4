"""The numbers of the castle family and their names: goods, colours, spaces, places, actions.

State is kept in flat lists of small numbers. This module is the one place that says which number
means what; everything else uses the names.
"""

from __future__ import annotations

from typing import Final

from himeji.rules.constants import COLOUR_NAMES, SIDE_NAMES

# A die is `colour * 8 + value`, 0 is no die.
CENTRE: Final = 2  # beside LEFT and RIGHT: only a rival takes such a die (S-3)
DIE_PLACE_NAMES: Final = (*SIDE_NAMES, "centre")

# Rooms of the castle, as in `rooms`; spaces for dice continue the same numbers.
STEWARD_ROOMS: Final = (0, 1, 2)
DIPLOMAT_ROOMS: Final = (3, 4)
ROOMS: Final = 5
OUTSIDE_LEFT: Final = 5
OUTSIDE_RIGHT: Final = 6
WELL_SPACE: Final = 7
DOMAIN_SPACE: Final = 8  # plus the colour of the row
BOARD_SPACES: Final = 8  # spaces on the main board; domains are kept per seat
SPACE_NAMES: Final = (
    "steward-room-1",
    "steward-room-2",
    "steward-room-3",
    "diplomat-room-1",
    "diplomat-room-2",
    "outside-left",
    "outside-right",
    "well",
    "domain-coral",
    "domain-black",
    "domain-white",
)
STEWARD_FLOOR: Final = 1
DIPLOMAT_FLOOR: Final = 2
DAIMYO_FLOOR: Final = 3
# Rows of castle cards have one number each: 3 in every steward room, then 2 in every diplomat room.
CASTLE_ROWS: Final = 13
ROW_ROOM: Final = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4)
ROW_PLACE: Final = (0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0, 1)
FIRST_ROW: Final = (0, 3, 6, 9, 11)
ROW_NAMES: Final = ("top", "middle", "bottom")

# Where a courtier may be, at `courtiers[seat * COURTIER_PLACES + place]`.
IN_DOMAIN: Final = 0
AT_GATE: Final = 1
IN_ROOM: Final = 2  # plus the room
ON_DAIMYO_FLOOR: Final = 7
COURTIER_PLACES: Final = 8
FLOOR_OF_PLACE: Final = (-1, 0, 1, 1, 1, 2, 2, 3)
PLACE_NAMES: Final = ("domain", "gate", *SPACE_NAMES[:5], "daimyo")

COURTIER: Final = 0
GARDENER: Final = 1
WARRIOR: Final = 2
WORKER_NAMES: Final = ("courtier", "gardener", "warrior")
MEMBERS: Final = 5  # of each kind
GARDENS: Final = 6  # coral plant, coral stone, black plant, ...
GARDEN_NAMES: Final = tuple(f"{c} {k}" for c in COLOUR_NAMES[:3] for k in ("plant", "stone"))
YARDS: Final = 3
YARD_TILE_NAMES: Final = ("yard-1 blue", "yard-1 yellow", "yard-2 blue", "yard-3 yellow")
YARD_OF_TILE: Final = (0, 0, 1, 2)
BLUE_TILES: Final = (0, 2)
TILE_SLOTS: Final = 15
PAIRS: Final = 5

# Piles that cards are drawn from, as events name them.
PILE_NAMES: Final = (
    "turn-order",
    "steward",
    "diplomat",
    "daimyo",
    "die-tile",
    "plant",
    "stone",
    "yard-tile",
    "start-resource",
    "start-action",
)
PILES: Final = 15  # with those of the expansions, so that lists by pile are equally long everywhere
TURN_ORDER_PILE: Final = 0
STEWARD_PILE: Final = 1
DIPLOMAT_PILE: Final = 2
DAIMYO_PILE: Final = 3
DIE_TILE_PILE: Final = 4
PLANT_PILE: Final = 5
STONE_PILE: Final = 6
YARD_TILE_PILE: Final = 7
START_RESOURCE_PILE: Final = 8
START_ACTION_PILE: Final = 9

# Events of the family, after those that every game has (himeji.rules.game).
DIE_TAKEN: Final = 16
DIE_PLACED: Final = 17
MEMBER_MOVED: Final = 18
CARD_MOVED: Final = 19
INFLUENCE_MOVED: Final = 20
ROUND_BEGAN: Final = 21
TURN_ORDER_SET: Final = 22
EFFECT: Final = 23

# Where a card came to, as CARD_MOVED says it.
TO_DOMAIN: Final = 0
TO_LANTERN: Final = 1
OUT_OF_GAME: Final = 2

# Actions of the family, beside the common ones. Ids are frozen: a new word takes a new id.
# 128 and up are words beyond the base game: solo/constants.py and matcha/constants.py say which.
PAY_CHECKPOINT: Final = 7
STOP: Final = 8
GO_ON: Final = 9
TAKE: Final = 16  # plus 2 * colour + side
PLACE: Final = 24  # plus the space
ROW: Final = 40  # plus the castle row
TAKEN_ROW: Final = 53  # plus the row's place on a castle card that left its room
DOMAIN_ROW: Final = 56  # plus the colour
WORKER: Final = 60  # plus the worker
AUDIENCE: Final = 64
CLIMB: Final = 65  # plus the climb, as listed in CLIMBS
SLOT: Final = 81  # plus the slot
PLANT: Final = 84  # plus the garden
ACTIVATE: Final = 90  # plus the garden
TRAIN: Final = 96  # plus the yard
YARD_TILE: Final = 99  # plus the yard tile's slot
PICK: Final = 103  # plus the pair
FIRST: Final = 108  # plus the word of the part that is taken first

# Parts of several things that happen at once; gains that need no order are one part (B-2.8).
PART_GAINS: Final = 0
PART_NAMES: Final = (
    "gains",
    "any",
    "seal",
    "influence",
    "lantern",
    "well",
    "courtier",
    "gardener",
    "warrior",
    "castle-row light",
    "castle-row any",
    "castle-row coral",
    "castle-row black",
    "castle-row white",
    "domain-row",
)


def _climbs() -> tuple[tuple[int, int], ...]:
    rooms = [IN_ROOM + room for room in range(ROOMS)]
    stewards, diplomats = rooms[:3], rooms[3:]
    return (
        *[(AT_GATE, room) for room in rooms],
        *[(steward, diplomat) for steward in stewards for diplomat in diplomats],
        *[(room, ON_DAIMYO_FLOOR) for room in rooms],
    )


CLIMBS: Final = _climbs()
"""Every climb as (from, to) in places of a courtier, in the order of their action ids."""
