"""Every kind of step of the castle family by name, with its fields."""

from __future__ import annotations

from himeji.rules.castle.constants import (
    GARDEN_NAMES,
    PILE_NAMES,
    PLACE_NAMES,
    ROOMS,
    ROW_NAMES,
    SPACE_NAMES,
    WORKER_NAMES,
    YARD_TILE_NAMES,
)
from himeji.rules.castle.courtiers import Courtier, DaimyoSlot, LightRow, Refill
from himeji.rules.castle.gains import SealsAtCap
from himeji.rules.castle.icons import (
    ActionCardRow,
    ChooseCastleRow,
    ChooseDomainRow,
    Offer,
)
from himeji.rules.castle.influence import Checkpoint
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
    OUTSKIRTS_PILES,
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
from himeji.rules.castle.matcha.setup import PickPairAndTile
from himeji.rules.castle.matcha.spaces import (
    ActivateGardensAndPond,
    GardensAndPondOfSeat,
    OwnCeremony,
)
from himeji.rules.castle.rounds import ActivateGardens, GardensOfSeat, LastExchange, Phase
from himeji.rules.castle.setup import EndOfDraft, PickPair
from himeji.rules.castle.solo.rival import RivalDeeds, RivalGardens
from himeji.rules.castle.solo.rival_actions import RivalClimber, RivalGarden, RivalRoom
from himeji.rules.castle.turn import EnterSpace, PlaceDie, RoomRows, TakeDie
from himeji.rules.castle.workers import ChooseWorker, Gardener, Warrior, YardTiles
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.effect_order import Parts
from himeji.rules.gains import ChooseResource
from himeji.rules.step_fields import Mask, Name, Names
from himeji.rules.steps import FLAG, NUMBER, RULE, StepKind

ROOM = Name(SPACE_NAMES[:ROOMS])
COLOUR = Name(COLOUR_NAMES)
DECK = Name([PILE_NAMES[pile] for pile in OUTSKIRTS_PILES])

STEP_KINDS: tuple[StepKind, ...] = (
    StepKind("take-die", TakeDie, seat=NUMBER),
    StepKind("place-die", PlaceDie, seat=NUMBER),
    StepKind("enter-space", EnterSpace, seat=NUMBER, space=Name(SPACE_NAMES), die="die"),
    StepKind("room-rows", RoomRows, seat=NUMBER, room=ROOM, card="card", rows=Mask(ROW_NAMES)),
    StepKind("parts", Parts, seat=NUMBER, rule=RULE, effects="effects"),
    StepKind("seals-at-cap", SealsAtCap, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("choose-resource", ChooseResource, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("checkpoint", Checkpoint, seat=NUMBER, steps=NUMBER),
    StepKind("choose-castle-row", ChooseCastleRow, seat=NUMBER, icon="icon"),
    StepKind("offer", Offer, seat=NUMBER, card="card", place=NUMBER, rule=RULE),
    StepKind("choose-domain-row", ChooseDomainRow, seat=NUMBER),
    StepKind("action-card-row", ActionCardRow, seat=NUMBER, line=COLOUR),
    StepKind("choose-worker", ChooseWorker, seat=NUMBER, workers=Names(WORKER_NAMES)),
    StepKind("courtier", Courtier, seat=NUMBER, audience=FLAG, climb=FLAG),
    StepKind("gardener", Gardener, seat=NUMBER),
    StepKind("warrior", Warrior, seat=NUMBER),
    StepKind("yard-tiles", YardTiles, seat=NUMBER, tiles=Mask(YARD_TILE_NAMES)),
    StepKind("refill", Refill, room=ROOM),
    StepKind("light-row", LightRow, seat=NUMBER, card="card"),
    StepKind("daimyo-slot", DaimyoSlot, seat=NUMBER),
    StepKind("phase", Phase, number=NUMBER),
    StepKind("gardens-of-seat", GardensOfSeat, seat=NUMBER),
    StepKind("activate-gardens", ActivateGardens, seat=NUMBER, gardens=Mask(GARDEN_NAMES)),
    StepKind("last-exchange", LastExchange, seat=NUMBER),
    StepKind("pick-pair", PickPair, seat=NUMBER),
    StepKind("end-of-draft", EndOfDraft),
)


RIVAL_STEPS: tuple[StepKind, ...] = (
    StepKind("rival-deeds", RivalDeeds, deeds="effects"),
    StepKind("rival-garden", RivalGarden, seat=NUMBER, gardens=Mask(GARDEN_NAMES)),
    StepKind("rival-climber", RivalClimber, seat=NUMBER, floors=NUMBER),
    StepKind("rival-room", RivalRoom, seat=NUMBER, start=Name(PLACE_NAMES), floors=NUMBER),
    StepKind("rival-gardens", RivalGardens),
)


TEA_STEPS: tuple[StepKind, ...] = (
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
    StepKind("choose-action", ChooseAction, seat=NUMBER, workers=Names(WORKER_NAMES)),
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


TEA_RIVAL_STEPS: tuple[StepKind, ...] = (
    StepKind("keep-start", KeepStart, seat=NUMBER, kind=Name(START_KIND_NAMES)),
    StepKind("take-kept", TakeKept, seat=NUMBER),
    StepKind("rival-walk", RivalGeishaWalks, seat=NUMBER, spared=Name(GEISHA_PLACE_NAMES)),
    StepKind("rival-discard", RivalDiscard, seat=NUMBER),
)


def without(kinds: tuple[StepKind, ...], *names: str) -> tuple[StepKind, ...]:
    """The kinds of steps but for some that are never pending."""
    return tuple(kind for kind in kinds if kind.name not in names)
