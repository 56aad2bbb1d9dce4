"""Every kind of step that Matcha adds, by name, with its fields."""

from __future__ import annotations

from himeji.rules.castle.constants import GARDEN_NAMES, ROOMS, SPACE_NAMES, YARD_TILE_NAMES
from himeji.rules.castle.matcha.ceremonies import (
    ChooseAction,
    FreeClimb,
    LightRows,
    OneYardTile,
    StoneGardens,
)
from himeji.rules.castle.matcha.constants import (
    CURTAIN_NAMES,
    GEISHA_PLACE_NAMES,
    MATCHA_WORKER_NAMES,
    OUTSKIRTS_DECK_NAMES,
    START_KIND_NAMES,
)
from himeji.rules.castle.matcha.curtains import LIMIT_NAMES, Curtains
from himeji.rules.castle.matcha.geishas import (
    ChooseOutskirtsCard,
    FreeWalk,
    Geisha,
    Overlook,
    TakeOutskirtsCard,
)
from himeji.rules.castle.matcha.rival import KeepStart, RivalDiscard, RivalGeishaWalks, TakeKept
from himeji.rules.castle.matcha.rounds import ActivateGardensAndPond, GardensAndPondOfSeat
from himeji.rules.castle.matcha.setup import PickPairAndTile
from himeji.rules.castle.matcha.spaces import OwnCeremony
from himeji.rules.step_fields import Mask, Name, Names
from himeji.rules.steps import FLAG, NUMBER, RULE, StepKind

DECK = Name(OUTSKIRTS_DECK_NAMES)

MATCHA_STEPS: tuple[StepKind, ...] = (
    StepKind("geisha", Geisha, seat=NUMBER, entrance=FLAG, walk=FLAG),
    StepKind("free-walk", FreeWalk, seat=NUMBER),
    StepKind("overlook", Overlook, seat=NUMBER),
    StepKind("choose-outskirts-card", ChooseOutskirtsCard, seat=NUMBER),
    StepKind("take-outskirts-card", TakeOutskirtsCard, seat=NUMBER, deck=DECK, card="card"),
    StepKind(
        "curtains",
        Curtains,
        seat=NUMBER,
        curtains=Mask(CURTAIN_NAMES),
        limit=Name(LIMIT_NAMES),
        rule=RULE,
        cards="cards",
    ),
    StepKind("own-ceremony", OwnCeremony, seat=NUMBER),
    StepKind("choose-action", ChooseAction, seat=NUMBER, workers=Names(MATCHA_WORKER_NAMES)),
    StepKind("light-rows", LightRows, seat=NUMBER, rooms=Mask(SPACE_NAMES[:ROOMS])),
    StepKind("one-yard-tile", OneYardTile, seat=NUMBER, tiles=Mask(YARD_TILE_NAMES)),
    StepKind("stone-gardens", StoneGardens, seat=NUMBER, gardens=Mask(GARDEN_NAMES)),
    StepKind("free-climb", FreeClimb, seat=NUMBER),
    StepKind("gardens-and-pond-of-seat", GardensAndPondOfSeat, seat=NUMBER),
    StepKind(
        "activate-gardens-and-pond",
        ActivateGardensAndPond,
        seat=NUMBER,
        gardens=Mask(GARDEN_NAMES),
        pond=FLAG,
    ),
    StepKind("pick-pair-and-tile", PickPairAndTile, seat=NUMBER),
)


MATCHA_SOLO_STEPS: tuple[StepKind, ...] = (
    StepKind("keep-start", KeepStart, seat=NUMBER, kind=Name(START_KIND_NAMES)),
    StepKind("take-kept", TakeKept, seat=NUMBER),
    StepKind("rival-walk", RivalGeishaWalks, seat=NUMBER, spared=Name(GEISHA_PLACE_NAMES)),
    StepKind("rival-discard", RivalDiscard, seat=NUMBER),
)
