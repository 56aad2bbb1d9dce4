"""Every kind of step of Duel by name, with its fields."""

from __future__ import annotations

from himeji.rules.duel.cards import ChooseCard, Improve, Scroll, ScrollEffects, TakeTop
from himeji.rules.duel.constants import DECK_NAMES, SLOT_NAMES, STACK_NAMES, YARD_NAMES
from himeji.rules.duel.courtier import Climb
from himeji.rules.duel.gardens_and_yards import Garden, Training, YardReward
from himeji.rules.duel.lanterns import ChooseZone, TakeLanternCard
from himeji.rules.duel.payments import PayPieces, PayResources
from himeji.rules.duel.rounds import EndOfGame, LastExchange
from himeji.rules.duel.setup import EndOfDraft, PickStart
from himeji.rules.duel.storage import ChoosePiece, Stow
from himeji.rules.duel.trade import TakeWare, Trade
from himeji.rules.duel.turn import Adjacent, MoveToken
from himeji.rules.duel.well import Well
from himeji.rules.effect_order import EffectOrder
from himeji.rules.gains import ChooseResource
from himeji.rules.step_fields import Mask, Name
from himeji.rules.steps import FLAG, NUMBER, RULE, StepKind

DECK = Name(DECK_NAMES)
PRICED_FIELDS = {"seat": NUMBER, "discount": NUMBER, "optional": FLAG}

STEP_KINDS: tuple[StepKind, ...] = (
    StepKind("pick-start", PickStart, seat=NUMBER),
    StepKind("end-of-draft", EndOfDraft),
    StepKind("move-token", MoveToken, seat=NUMBER, swap=FLAG),
    StepKind("adjacent", Adjacent, seat=NUMBER, slots=Mask(SLOT_NAMES)),
    StepKind("parts", EffectOrder, seat=NUMBER, rule=RULE, effects="effects"),
    StepKind("choose-resource", ChooseResource, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("choose-piece", ChoosePiece, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("stow", Stow, seat=NUMBER, coins=NUMBER, seals=NUMBER),
    StepKind("pay-pieces", PayPieces, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("pay-resources", PayResources, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("choose-card", ChooseCard, seat=NUMBER, rule=RULE, free=FLAG),
    StepKind("take-top", TakeTop, seat=NUMBER, deck=DECK),
    StepKind("scroll", Scroll, seat=NUMBER, card="card"),
    StepKind("scroll-effects", ScrollEffects, seat=NUMBER, card="card"),
    StepKind("improve", Improve, seat=NUMBER, amount=NUMBER, optional=FLAG),
    StepKind("garden", Garden, **PRICED_FIELDS),
    StepKind("training", Training, **PRICED_FIELDS),
    StepKind("yard-reward", YardReward, seat=NUMBER, yard=Name(YARD_NAMES)),
    StepKind("climb", Climb, **PRICED_FIELDS),
    StepKind("trade", Trade, **PRICED_FIELDS),
    StepKind("take-ware", TakeWare, seat=NUMBER, stack=Name(STACK_NAMES)),
    StepKind("choose-zone", ChooseZone, seat=NUMBER),
    StepKind("lantern-card", TakeLanternCard, seat=NUMBER, shines=FLAG),
    StepKind("well", Well, seat=NUMBER, amount=NUMBER, rule=RULE),
    StepKind("last-exchange", LastExchange, seat=NUMBER),
    StepKind("end-of-game", EndOfGame),
)
