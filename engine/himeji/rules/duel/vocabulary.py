"""The vocabulary of Duel: every icon as a word with a frozen number."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.constants import COIN, COLOUR_NAMES, GOOD_NAMES, RESOURCES, SEAL, SWAP, VP
from himeji.rules.duel.actions import PRICED, ActionIcon
from himeji.rules.duel.cards import BuyIcon, ImproveIcon
from himeji.rules.duel.constants import ACTION_NAMES, COLOURS, FIRST, PART_NAMES
from himeji.rules.duel.lanterns import ANY_ZONE, LanternCardIcon, LanternIcon
from himeji.rules.duel.storage import GainEither, GainPieces
from himeji.rules.duel.well import WellIcon
from himeji.rules.effects import Effect, Vocabulary
from himeji.rules.gains import Gain, GainAny


def part(name: str) -> int:
    """The action id that takes a part of this name first."""
    return FIRST + PART_NAMES.index(name)


def duel_vocabulary() -> Vocabulary:
    """The words of Duel."""
    words = Vocabulary()
    for good in (*RESOURCES, VP, SWAP):
        words.word(good, GOOD_NAMES[good], _gain(good))
    for good in (COIN, SEAL):
        words.word(good, GOOD_NAMES[good], _pieces(good))
    words.word(9, "any", lambda amount, code: GainAny(amount, code, part("any")))
    words.word(10, "coin/seal", lambda amount, code: GainEither(amount, code, part("coin/seal")))
    for number, zone in enumerate((ANY_ZONE, *range(COLOURS))):
        name = "lantern any" if zone == ANY_ZONE else f"lantern {COLOUR_NAMES[zone]}"
        words.word(11 + number, name, _lantern(zone, name))
    for number, name in enumerate(("lantern-card", "lantern-card activate")):
        words.word(15 + number, name, _lantern_card(name, shines=number == 1))
    words.word(17, "improve", lambda amount, code: ImproveIcon(amount, code, part("improve")))
    for number, name in enumerate(("buy", "free-card")):
        words.word(18 + number, name, _buy(name, free=number == 1))
    words.word(20, "well", lambda amount, code: WellIcon(amount, code, part("well")))
    for action in range(len(PRICED)):
        for discount in (0, 1):
            name = ACTION_NAMES[action] + (f" -{discount}" if discount else "")
            words.word(21 + 2 * action + discount, name, _action(action, discount))
    return words


def _gain(good: int) -> Callable[[int, int], Effect]:
    return lambda amount, code: Gain(good, amount, code, part("gains"))


def _pieces(good: int) -> Callable[[int, int], Effect]:
    return lambda amount, code: GainPieces(good, amount, code, part("pieces"))


def _lantern(zone: int, name: str) -> Callable[[int, int], Effect]:
    return lambda _, code: LanternIcon(zone, name, code, part("lantern"))


def _lantern_card(name: str, *, shines: bool) -> Callable[[int, int], Effect]:
    return lambda _, code: LanternCardIcon(name, code, part("lantern-card"), shines=shines)


def _buy(name: str, *, free: bool) -> Callable[[int, int], Effect]:
    return lambda _, code: BuyIcon(name, code, part(name), free=free)


def _action(action: int, discount: int) -> Callable[[int, int], Effect]:
    return lambda _, code: ActionIcon(action, discount, code, part(ACTION_NAMES[action]))
