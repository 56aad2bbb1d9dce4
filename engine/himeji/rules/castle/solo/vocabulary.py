"""The actions of solitaire cards as words, each with a frozen number (S-6)."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.castle.solo.rival_actions import (
    EITHER_KIND,
    RivalAudience,
    RivalClimb,
    RivalGain,
    RivalGardener,
    RivalInfluence,
    RivalWarrior,
)
from himeji.rules.constants import COIN, GOOD_NAMES, VP
from himeji.rules.effects import Effect, Vocabulary


def add_solo_words(words: Vocabulary) -> Vocabulary:
    """Add the actions of solitaire cards (S-6)."""
    for number, good in enumerate((COIN, VP)):
        words.word(48 + number, f"rival-{GOOD_NAMES[good]}", _rival_gain(good))
    words.word(
        50,
        "rival-influence",
        lambda amount, code: RivalInfluence(amount, f"{amount} rival-influence", code),
    )
    words.word(51, "rival-audience", lambda _, code: RivalAudience("rival-audience", code))
    for kind, name in enumerate(("plant", "stone", "either")):
        words.word(52 + kind, f"rival-gardener {name}", _rival_gardener(kind, name))
    for number, iron in enumerate((1, 3, 5)):
        words.word(55 + number, f"rival-warrior {iron}", _rival_warrior(iron))
    for floors in (1, 2):
        words.word(57 + floors, f"rival-climb {floors}", _rival_climb(floors))
    return words


def _rival_warrior(iron: int) -> Callable[[int, int], Effect]:
    return lambda _, code: RivalWarrior(iron, f"rival-warrior {iron}", code)


def _rival_climb(floors: int) -> Callable[[int, int], Effect]:
    return lambda _, code: RivalClimb(floors, f"rival-climb {floors}", code)


def _rival_gain(good: int) -> Callable[[int, int], Effect]:
    return lambda n, code: RivalGain(good, n, f"{n} rival-{GOOD_NAMES[good]}", code)


def _rival_gardener(kind: int, name: str) -> Callable[[int, int], Effect]:
    wanted = EITHER_KIND if name == "either" else kind
    return lambda _, code: RivalGardener(wanted, f"rival-gardener {name}", code)
