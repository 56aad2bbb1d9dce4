"""The texts that Matcha adds: actions, and what steps are."""

from __future__ import annotations

from typing import Final

from himeji.rules.actions import filled
from himeji.rules.castle.constants import PLACE, TAKE, WORKER
from himeji.rules.castle.matcha.constants import (
    CEREMONY,
    CURTAIN,
    CURTAIN_NAMES,
    ENTRANCE,
    FIRST_OF_MATCHA,
    GEISHA,
    GEISHA_PLACE_NAMES,
    GREEN_DOMAIN_SPACE,
    KEEP,
    LAST_OUTSKIRTS_CARD,
    LILIES,
    MATCHA_PART_NAMES,
    MATCHA_SPACE_NAMES,
    OUTSKIRTS_CARD,
    OUTSKIRTS_DECK_NAMES,
    POND,
    RIVAL_DISCARD,
    RIVAL_WALK,
    START_KIND_NAMES,
    WALK,
    WALKS,
)
from himeji.rules.constants import CHASEN, EXCHANGE_RESOURCE, GREEN, SIDE_NAMES


def matcha_texts() -> dict[int, str]:
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
            (PLACE + GREEN_DOMAIN_SPACE, "place {}", MATCHA_SPACE_NAMES[GREEN_DOMAIN_SPACE:]),
            (WALK, "walk {}", walks),
            (CURTAIN, "curtain {}", CURTAIN_NAMES),
            (OUTSKIRTS_CARD, "take {} card", OUTSKIRTS_DECK_NAMES),
            (FIRST_OF_MATCHA, "first {}", MATCHA_PART_NAMES),
            (LAST_OUTSKIRTS_CARD, "choose last {} card", OUTSKIRTS_DECK_NAMES),
        ]
    )


def matcha_solo_texts() -> dict[int, str]:
    """What Matcha adds to the solitaire game."""
    walks = [f"{GEISHA_PLACE_NAMES[start]} {GEISHA_PLACE_NAMES[end]}" for start, end, _ in WALKS]
    kept = [f"{kind} {number}" for kind in START_KIND_NAMES for number in (1, 2)]
    return filled(
        [
            (KEEP, "keep {}", kept),
            (RIVAL_WALK, "rival walks {}", walks),
            (RIVAL_DISCARD, "discard {} card", OUTSKIRTS_DECK_NAMES),
        ]
    )


MATCHA_STEP_TEXTS: Final = {
    "geisha": "Use a half of GEISHA that is still open, or be done (M-7.1).",
    "free-walk": "Move a geisha one step without chasen, or be done (M-8.2).",
    "overlook": "Take the water lilies or use the tile of the overlook, or be done (M-7.5).",
    "choose-outskirts-card": "Choose the outskirts card of path step 1 (M-7.5).",
    "take-outskirts-card": "The card joins the Lantern Area, the next is revealed (M-7.6).",
    "curtains": "Perform a curtain of the outskirts cards, or be done (M-5.3).",
    "own-ceremony": "Use the ceremony tile of the own domain, or be done (M-5.6).",
    "choose-action": "Choose a worker action or GEISHA, or be done (M-5.3).",
    "light-rows": "Choose a light castle row of a card not yet used, or be done (M-8.2).",
    "one-yard-tile": "Use one of the yard tiles, or be done (M-8.2).",
    "stone-gardens": "Choose a stone garden not yet used, or be done (M-8.2).",
    "free-climb": "Climb one floor without pearl, or be done (M-8.2).",
    "gardens-and-pond-of-seat": "Fixes which gardens of a seat are activated, and the pond "
    "(M-10.2).",
    "activate-gardens-and-pond": "Activate one of the gardens or the pond, or be done (M-10.2).",
    "pick-pair-and-tile": "Pick a starting pair with its ceremony tile (M-3.8).",
}
MATCHA_FIELD_TEXTS: Final = {
    "entrance": "whether an entrance is still open",
    "walk": "whether a walk is still open",
    "deck": "the deck",
    "cards": "the cards",
    "curtains": "the curtains on offer",
    "limit": "how many of them",
    "rooms": "the rooms already used",
    "pond": "whether the pond is still to be activated",
}
MATCHA_SOLO_STEP_TEXTS: Final = {
    "keep-start": "Keep one of two starting cards or ceremony tiles (M-12.1).",
    "take-kept": "What was kept comes to the player (M-12.1).",
    "rival-walk": "Choose a step for a geisha of the rival (M-12.5).",
    "rival-discard": "Choose an outskirts card that leaves the game (M-12.4).",
}
MATCHA_SOLO_FIELD_TEXTS: Final = {
    "kind": "what is kept",
    "spared": "where one geisha must stay, the domain for none",
}
