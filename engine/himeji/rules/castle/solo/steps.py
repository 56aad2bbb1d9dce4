"""Every kind of step that the solitaire rulesets add, by name, with its fields."""

from __future__ import annotations

from himeji.rules.castle.constants import GARDEN_NAMES, PLACE_NAMES
from himeji.rules.castle.solo.rival import RivalActions, RivalGardens
from himeji.rules.castle.solo.rival_actions import RivalClimber, RivalGarden, RivalRoom
from himeji.rules.step_fields import Mask, Name
from himeji.rules.steps import NUMBER, StepKind

SOLO_STEPS: tuple[StepKind, ...] = (
    StepKind("rival-deeds", RivalActions, deeds="effects"),
    StepKind("rival-garden", RivalGarden, seat=NUMBER, gardens=Mask(GARDEN_NAMES)),
    StepKind("rival-climber", RivalClimber, seat=NUMBER, floors=NUMBER),
    StepKind("rival-room", RivalRoom, seat=NUMBER, start=Name(PLACE_NAMES), floors=NUMBER),
    StepKind("rival-gardens", RivalGardens),
)
