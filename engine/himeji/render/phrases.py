"""The words of components and spaces as a reader says them; unknown words stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.components import AnyComponent
from himeji.rules.effects import Effect

RECONSTRUCTED: Final = "†"
EXPLAINED: Final = f"{RECONSTRUCTED} reconstructed, in whole or in part: the true one is not public"

_WORDS: Final = {
    "vp": "VP",
    "lantern": "Lantern",
    "well": "Well",
    "courtier": "COURTIER",
    "gardener": "GARDENER",
    "warrior": "WARRIOR",
    "geisha": "GEISHA",
    "castle-row light": "a light castle row",
    "castle-row any": "any castle row",
    "castle-row coral": "a coral castle row",
    "castle-row black": "a black castle row",
    "castle-row white": "a white castle row",
    "domain-row": "a domain row",
    "castle-row dark": "a dark castle row",
    "castle-rows light": "2 light castle rows",
    "courtier or geisha": "COURTIER or GEISHA",
    "gardener or geisha": "GARDENER or GEISHA",
    "warrior or geisha": "WARRIOR or GEISHA",
    "lilies": "water lilies",
    "curtain yellow": "a yellow curtain",
    "curtains yellow": "both yellow curtains",
    "curtain blue free": "a free blue curtain",
    "curtains of a card": "both curtains",
    "yard-tile blue": "a blue yard face",
    "yard-tiles yellow": "both yellow yard faces",
    "stone-gardens": "2 stone gardens",
    "geisha-step": "a geisha 1 step",
    "climb-floor": "a courtier 1 floor",
    "rival-geisha entrance": "geisha to the entrance",
    "rival-geisha step-1": "geisha to step 1",
    "rival-geisha step-2": "geisha to step 2",
    "rival-walk": "another geisha 1 step",
    "rival-loses-vp": "VP lost",
    "rival-loses-coins": "all coins lost",
    "rival-influence-back": "influence back",
    "rival-audience": "courtier to the Gate",
    "rival-gardener plant": "gardener: lowest plant garden",
    "rival-gardener stone": "gardener: lowest stone garden",
    "rival-gardener either": "gardener: lowest garden",
    **{f"rival-warrior {iron}": f"warrior: yard of {iron} iron" for iron in (1, 3, 5)},
    "rival-climb 1": "lowest courtier 1 floor up",
    "rival-climb 2": "lowest courtier 2 floors up",
    "rival-coin": "coin",
    "rival-vp": "VP",
    "rival-influence": "influence",
    "swap": "swap tile",
    "improve": "card improved",
    "lantern any": "any Lantern",
    "lantern coral": "coral Lantern",
    "lantern black": "black Lantern",
    "lantern white": "white Lantern",
    "lantern-card": "lantern card",
    "lantern-card activate": "lantern card, its zone",
    "buy": "buy a card",
    "free-card": "a card, free",
    "garden": "GARDEN",
    "training": "TRAINING",
    "trade": "TRADE",
    "garden -1": "GARDEN -1",
    "training -1": "TRAINING -1",
    "courtier -1": "COURTIER -1",
    "trade -1": "TRADE -1",
}
_PLURALS: Final = {
    "coin": "coins",
    "rival-coin": "coins",
    "seal": "seals",
    "pearl": "pearls",
    "point": "points",
    "swap": "swap tiles",
    "improve": "cards improved",
}


def parted(effect: Effect) -> tuple[int, str]:
    """Amount (0: none) and word of an effect."""
    head, _, tail = effect.text.partition(" ")
    return (int(head), tail) if head.isdigit() else (0, effect.text)


def amount(count: int, word: str) -> str:
    """A number of something."""
    named = _WORDS.get(word, word)
    return f"{count} {named if count == 1 else _PLURALS.get(word, named)}"


def phrase(effect: Effect) -> str:
    """An effect as a reader says it."""
    count, word = parted(effect)
    return amount(count, word) if count else _WORDS.get(word, word)


def brief(effect: Effect) -> str:
    """An effect where space is scarce: one of something is only named."""
    count, word = parted(effect)
    return _WORDS.get(word, word) if count == 1 else phrase(effect)


def phrases(effects: Sequence[Effect]) -> str:
    """Several effects that come together."""
    return " + ".join(phrase(effect) for effect in effects)


def name(component: AnyComponent) -> str:
    """The id of a component, marked if it is a reconstruction."""
    return component.id + dagger(reconstructed=component.reconstructed)


def dagger(*, reconstructed: bool) -> str:
    """What stands after a name, value or reward that was reconstructed."""
    return f" {RECONSTRUCTED}" if reconstructed else ""


def spoken(space: str) -> str:
    """The name of a space or place as a heading."""
    return space.replace("-", " ").capitalize()
