"""The texts of the action tables of the castle family, block by block."""

from __future__ import annotations

from himeji.rules.actions import Block, filled, spread
from himeji.rules.castle.constants import (
    ACTIVATE,
    AUDIENCE,
    CLIMB,
    CLIMBS,
    DOMAIN_ROW,
    DOMAIN_SPACE,
    FIRST,
    GARDEN_NAMES,
    GO_ON,
    PART_NAMES,
    PAY_CHECKPOINT,
    PICK,
    PILE_NAMES,
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
from himeji.rules.castle.matcha.constants import (
    CEREMONY,
    CURTAIN,
    CURTAIN_NAMES,
    ENTRANCE,
    FIRST_OF_MATCHA,
    GEISHA,
    GEISHA_PLACE_NAMES,
    KEEP,
    LILIES,
    MATCHA_PART_NAMES,
    OUTSKIRTS_CARD,
    OUTSKIRTS_PILES,
    POND,
    RIVAL_DISCARD,
    RIVAL_WALK,
    START_KIND_NAMES,
    WALK,
    WALKS,
)
from himeji.rules.castle.solo.constants import RIVAL_CLIMBER, RIVAL_GARDEN, RIVAL_ROOM
from himeji.rules.constants import (
    CHASEN,
    COLOUR_NAMES,
    EXCHANGE_COIN,
    EXCHANGE_RESOURCE,
    GREEN,
    SIDE_NAMES,
)


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
        (PLACE, "place {}", SPACE_NAMES[: DOMAIN_SPACE + len(colours)]),
        (ROW, "row {}", rows),
        (TAKEN_ROW, "row {} of the card taken", "123"),
        (DOMAIN_ROW, "domain-row {}", colours),
        (WORKER, "do {}", WORKER_NAMES[:3]),
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


def rival_texts() -> dict[int, str]:
    """What a rival adds: the player's choices for it (S-7)."""
    rooms = SPACE_NAMES[:ROOMS]
    return filled(
        [
            (RIVAL_GARDEN, "rival gardener {}", GARDEN_NAMES),
            (RIVAL_CLIMBER, "rival climbs from {}", rooms),
            (RIVAL_ROOM, "rival climbs to {}", rooms),
        ]
    )


def tea_texts() -> dict[int, str]:
    """What Matcha adds to the base game."""
    walks = [f"{GEISHA_PLACE_NAMES[start]} {GEISHA_PLACE_NAMES[end]}" for start, end, _ in WALKS]
    texts = {
        EXCHANGE_RESOURCE + CHASEN: "exchange 2 seals for 1 chasen",
        WORKER + GEISHA: "do geisha",
        ENTRANCE: "entrance",
        POND: "activate pond",
        LILIES: "take the water lilies",
        CEREMONY: "use the ceremony tile",
    }
    return texts | filled(
        [
            (TAKE + 2 * GREEN, "take green {}", SIDE_NAMES),
            (PLACE + DOMAIN_SPACE + GREEN, "place {}", SPACE_NAMES[DOMAIN_SPACE + GREEN :]),
            (WALK, "walk {}", walks),
            (CURTAIN, "curtain {}", CURTAIN_NAMES),
            (OUTSKIRTS_CARD, "take {} card", _decks()),
            (FIRST_OF_MATCHA, "first {}", MATCHA_PART_NAMES),
        ]
    )


def tea_rival_texts() -> dict[int, str]:
    """What Matcha adds to the solitaire game."""
    walks = [f"{GEISHA_PLACE_NAMES[start]} {GEISHA_PLACE_NAMES[end]}" for start, end, _ in WALKS]
    kept = [f"{kind} {number}" for kind in START_KIND_NAMES for number in (1, 2)]
    return filled(
        [
            (KEEP, "keep {}", kept),
            (RIVAL_WALK, "rival walks {}", walks),
            (RIVAL_DISCARD, "discard {} card", _decks()),
        ]
    )


def _decks() -> list[str]:
    return [PILE_NAMES[pile] for pile in OUTSKIRTS_PILES]
