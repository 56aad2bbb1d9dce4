"""The texts of the castle family: its action table, block by block, and what its steps are."""

from __future__ import annotations

from typing import Final

from himeji.rules.actions import Block, spread
from himeji.rules.castle.constants import (
    ACTIVATE,
    AUDIENCE,
    CLIMB,
    CLIMBS,
    DOMAIN_ROW,
    FIRST,
    GARDEN_NAMES,
    GO_ON,
    PART_NAMES,
    PAY_CHECKPOINT,
    PICK,
    PLACE,
    PLACE_NAMES,
    PLANT,
    ROOMS,
    ROW,
    ROW_NAMES,
    SLOT,
    SPACE_NAMES,
    STOP,
    TAKE,
    TAKEN_ROW,
    TRAIN,
    WORKER,
    WORKER_NAMES,
    YARD_TILE,
    YARD_TILE_NAMES,
)
from himeji.rules.constants import COLOUR_NAMES, EXCHANGE_COIN, SIDE_NAMES


def base_texts() -> dict[int, str]:
    """The action table of the base game."""
    rooms = SPACE_NAMES[:ROOMS]
    rows = [f"{room} {name}" for room in rooms[:3] for name in ROW_NAMES]
    # A diplomat card has two rows, which may be wide: they are counted, not placed.
    rows += [f"{room} {name}" for room in rooms[3:] for name in ("first", "second")]
    colours = COLOUR_NAMES[:3]
    climbs = [f"{PLACE_NAMES[start]} {PLACE_NAMES[end]}" for start, end in CLIMBS]
    blocks: list[Block] = [
        (TAKE, "take {}", [f"{colour} {side}" for colour in colours for side in SIDE_NAMES]),
        (PLACE, "place {}", SPACE_NAMES),
        (ROW, "row {}", rows),
        (TAKEN_ROW, "row {} of the card taken", "123"),
        (DOMAIN_ROW, "domain-row {}", colours),
        (WORKER, "do {}", WORKER_NAMES),
        (CLIMB, "climb {}", climbs),
        (SLOT, "daimyo slot {}", "123"),
        (PLANT, "garden {}", GARDEN_NAMES),
        (ACTIVATE, "activate {}", GARDEN_NAMES),
        (TRAIN, "train yard-{}", "123"),
        (YARD_TILE, "yard tile {}", YARD_TILE_NAMES),
        (PICK, "pick pair {}", "12345"),
        (FIRST, "first {}", PART_NAMES),
    ]
    texts = {
        EXCHANGE_COIN: "exchange 1 seal for 1 coin",
        PAY_CHECKPOINT: "pay the checkpoint",
        STOP: "stop before the checkpoint",
        GO_ON: "go on",
        AUDIENCE: "audience",
    }
    return spread(blocks, texts)


STEP_TEXTS: Final = {
    "take-die": "Take a die from the end of a bridge (B-2.3).",
    "place-die": "Place the die in hand (B-2.5).",
    "enter-space": "The effects of the space in which a die was placed (B-2.3).",
    "room-rows": "Perform one of the card's rows beside a tile of the die's colour, "
    "or be done (B-3.1).",
    "parts": "Choose what comes first of several things that happen at once (B-2.8).",
    "seals-at-cap": "Exchange seals or go on, before seals are lost at their cap (B-6.3).",
    "choose-resource": "Choose one unit of a resource.",
    "checkpoint": "Pay the seals of a checkpoint, or stop before it (B-6.2).",
    "choose-castle-row": "Choose a castle row that an icon points at, or be done (B-5.3, B-5.4).",
    "offer": "Perform a row of a card or a garden, or be done (B-2.7).",
    "choose-domain-row": "Choose a row of the own domain, or be done (B-5.5).",
    "action-card-row": "Offers the row of the action card beside a line of the domain (B-3.6).",
    "choose-worker": "Choose a worker action of Outside the Walls, or be done (B-3.4).",
    "courtier": "Use a half of COURTIER that is still open, or be done (B-4.1).",
    "gardener": "Place a gardener, or be done (B-4.6).",
    "warrior": "Place a warrior, or be done (B-4.7).",
    "yard-tiles": "Use one of the yard's tiles, or be done (B-4.7).",
    "refill": "A room gets its next card (B-4.4).",
    "light-row": "Choose a light row of the card of the room that a courtier entered (B-4.4).",
    "daimyo-slot": "Choose a slot of the daimyo card (B-4.5).",
    "phase": "One of the things at the end of a round or of the game (B-7.1 to B-7.3).",
    "gardens-of-seat": "Fixes which gardens of a seat are activated (B-7.2).",
    "activate-gardens": "Activate one of the gardens, or be done (B-7.2).",
    "last-exchange": "Exchange seals for the last time, or be done (B-6.3).",
    "pick-pair": "Pick a starting pair (B-1.7).",
    "end-of-draft": "The set-up ends and the left-over pair leaves the game (B-1.7).",
}
FIELD_TEXTS: Final = {
    "space": "the space",
    "die": "the die",
    "room": "the room",
    "card": "the card",
    "rows": "the rows still to be performed",
    "rule": "the rule by which it is granted",
    "effects": "the effects",
    "amount": "how many are to come",
    "steps": "the steps still to be walked",
    "icon": "the icon",
    "place": "the row of the card, from 0",
    "line": "the line of the domain",
    "workers": "the worker actions on offer",
    "audience": "whether an audience is still open",
    "climb": "whether a climb is still open",
    "tiles": "the tiles still to be used",
    "number": "which one, from 0, in the order in which they happen",
    "gardens": "the gardens: still to be activated, to choose from, or already used",
}
