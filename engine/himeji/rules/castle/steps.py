"""Every kind of step of the castle family by name, with its fields."""

from __future__ import annotations

from himeji.rules.castle.constants import (
    GARDEN_NAMES,
    ROOMS,
    ROW_NAMES,
    SPACE_NAMES,
    WORKER_NAMES,
    YARD_TILE_NAMES,
)
from himeji.rules.castle.courtiers import Courtier, DaimyoSlot, LightRow, Refill
from himeji.rules.castle.gains import SealsAtCap
from himeji.rules.castle.icons import ActionCardRow, ChooseCastleRow, ChooseDomainRow, Offer
from himeji.rules.castle.influence import Checkpoint
from himeji.rules.castle.rounds import ActivateGardens, GardensOfSeat, LastExchange, Phase
from himeji.rules.castle.setup import EndOfDraft, PickPair
from himeji.rules.castle.turn import EnterSpace, PlaceDie, RoomRows, TakeDie
from himeji.rules.castle.workers import ChooseWorker, Gardener, Warrior, YardTiles
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.effect_order import EffectOrder
from himeji.rules.gains import ChooseResource
from himeji.rules.step_fields import Mask, Name, Names
from himeji.rules.steps import FLAG, NUMBER, RULE, StepKind

ROOM = Name(SPACE_NAMES[:ROOMS])
COLOUR = Name(COLOUR_NAMES)
STEP_KINDS: tuple[StepKind, ...] = (
    StepKind("take-die", TakeDie, seat=NUMBER),
    StepKind("place-die", PlaceDie, seat=NUMBER),
    StepKind("enter-space", EnterSpace, seat=NUMBER, space="space", die="die"),
    StepKind("room-rows", RoomRows, seat=NUMBER, room=ROOM, card="card", rows=Mask(ROW_NAMES)),
    StepKind("parts", EffectOrder, seat=NUMBER, rule=RULE, effects="effects"),
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


def without(kinds: tuple[StepKind, ...], *names: str) -> tuple[StepKind, ...]:
    """The kinds of steps but for some that are never pending."""
    return tuple(kind for kind in kinds if kind.name not in names)
