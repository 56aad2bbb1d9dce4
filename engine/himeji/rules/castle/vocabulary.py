"""The vocabulary of the castle family: every icon as a word with a frozen number."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.castle.constants import FIRST, PART_NAMES, WORKER_NAMES
from himeji.rules.castle.gains import GainSeals
from himeji.rules.castle.icons import (
    ANY_FILTER,
    LIGHT_FILTER,
    CastleRow,
    DomainRow,
    LanternIcon,
    WellIcon,
)
from himeji.rules.castle.influence import GainInfluence
from himeji.rules.castle.workers import Worker
from himeji.rules.constants import COIN, GOOD_NAMES, INFLUENCE, RESOURCES, SEAL, VP
from himeji.rules.effects import Effect, Vocabulary
from himeji.rules.gains import Gain, GainAny


def part(name: str) -> int:
    """The action id that takes a part of this name first."""
    return FIRST + PART_NAMES.index(name)


def base_vocabulary() -> Vocabulary:
    """The words of the base game."""
    words = Vocabulary()
    for good in (*RESOURCES, COIN, VP):
        words.word(good, GOOD_NAMES[good], gain_of(good))
    words.word(SEAL, "seal", lambda amount, code: GainSeals(amount, code, part("seal")))
    words.word(
        INFLUENCE, "influence", lambda amount, code: GainInfluence(amount, code, part("influence"))
    )
    words.word(8, "any", lambda amount, code: GainAny(amount, code, part("any")))
    words.word(9, "lantern", lambda _, code: LanternIcon("lantern", code, part("lantern")))
    words.word(10, "well", lambda _, code: WellIcon("well", code, part("well")))
    kinds = {"light": LIGHT_FILTER, "any": ANY_FILTER, "coral": 0, "black": 1, "white": 2}
    for number, (name, kind) in enumerate(kinds.items()):
        words.word(16 + number, f"castle-row {name}", castle_row_of(kind, f"castle-row {name}"))
    words.word(
        21,
        "domain-row",
        lambda _, code: DomainRow("domain-row", code, part("domain-row")),
    )
    for worker, name in enumerate(WORKER_NAMES):
        words.word(11 + worker, name, _worker(worker))
    return words


def _worker(worker: int) -> Callable[[int, int], Effect]:
    return lambda _, code: Worker(worker, code, part(WORKER_NAMES[worker]))


def gain_of(good: int) -> Callable[[int, int], Effect]:
    """A good that is simply taken, in any amount."""
    return lambda amount, code: Gain(good, amount, code, part("gains"))


def castle_row_of(kind: int, text: str) -> Callable[[int, int], Effect]:
    """An icon for a castle row of a kind."""
    return lambda _, code: CastleRow(kind, text, code, part(text))
