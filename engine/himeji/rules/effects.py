"""Effects: the words of the data files, each with a frozen number and what it grants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from himeji.rules import description
from himeji.rules.constants import GOOD_NAMES

CODES_PER_WORD: Final = 16  # amounts from 0 to 15
GAINED: Final = (*GOOD_NAMES, "any", "coin/seal")


# The scope of an effect: what it may change or depend on, as bits. An order can matter only where
# the scopes of two parts meet (B-2.8); see effect_order.py.
FREE_SCOPE: Final = 0  # VP, and coins where they have no cap: to have them first is never worse
GOODS_SCOPE: Final = 1  # other goods, *any* among them: they meet an open scope only
SEALS_SCOPE: Final = 2  # seals: a checkpoint may cost them
STEPS_SCOPE: Final = 4  # influence: a checkpoint may stop it
OPEN_SCOPE: Final = 8  # worker actions and icons that point elsewhere may spend and gain anything


class Effect:
    """A word of the vocabulary with its amount: what an icon grants. Shared and never changed."""

    def __init__(
        self, text: str, code: int, order: int, *, plain: bool = False, scope: int = OPEN_SCOPE
    ) -> None:
        self.text = text
        self.code = code  # the word and its amount in one number, frozen like action ids
        self.order = order  # the action id that takes this part first
        self.plain = plain  # a gain that asks nothing
        self.own_scope = scope

    def scope(self, game: Any, seat: int) -> int:
        """What it may change or depend on; an icon that stands for others has theirs."""
        return self.own_scope

    def start(self, game: Any, seat: int, rule: str) -> None:
        """Grant it to the seat: at once, or by pushing the steps that ask."""
        raise NotImplementedError


Parse = Callable[[str], Effect]


class Vocabulary:
    """The words of a ruleset: texts such as "2 food" to effects, and codes to effects."""

    def __init__(self) -> None:
        self._words: dict[str, tuple[int, Callable[[int, int], Effect]]] = {}
        self._effects: dict[str, Effect] = {}
        self._by_code: dict[int, Effect] = {}

    def word(self, number: int, text: str, make: Callable[[int, int], Effect]) -> None:
        """Add a word; `make(amount, code)` builds its effect."""
        self._words[text] = (number, make)

    def parse(self, text: str) -> Effect:
        """The effect that a text names, always the same object."""
        if text in self._effects:
            return self._effects[text]
        amount, word = 0, text
        head, _, tail = text.partition(" ")
        if head.isdecimal():
            amount, word = int(head), tail
        if word not in self._words or amount >= CODES_PER_WORD or text.startswith("0"):
            raise ValueError(f"unknown effect {text!r}")
        number, make = self._words[word]
        effect = make(amount, number * CODES_PER_WORD + amount)
        if effect.text != text:
            raise ValueError(f"unknown effect {text!r}, did you mean {effect.text!r}?")
        self._effects[text] = effect
        self._by_code[effect.code] = effect
        return effect

    def effect(self, code: int) -> Effect:
        """The effect with that code; it must have been parsed before."""
        if code not in self._by_code:
            raise ValueError(f"unknown effect code {code}")
        return self._by_code[code]

    def describe(self) -> dict[str, int]:
        """Every effect that the components use, with its code."""
        return {text: effect.code for text, effect in sorted(self._effects.items())}


def describe_effect(effect: Effect) -> description.DescribedEffect:
    """A word of the vocabulary, taken apart: goods that come in numbers are a gain."""
    head, _, tail = effect.text.partition(" ")
    if head.isdecimal() and tail in GAINED:
        return description.DescribedEffect("gain", tail, int(head))
    if head.isdecimal():
        return description.DescribedEffect(tail, "", int(head))
    if tail.startswith("-"):
        return description.DescribedEffect(head, "discount", int(tail[1:]))
    return description.DescribedEffect(head, tail)


def describe_face(name: str, effects: Sequence[Effect]) -> description.Face:
    """Effects that are read together: a side, a row or a slot."""
    text = ", ".join(effect.text for effect in effects)
    return description.Face(name, text, tuple(describe_effect(effect) for effect in effects))
