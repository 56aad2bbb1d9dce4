"""Duel in words and numbers: its components and its kinds of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from himeji.rules import description
from himeji.rules.components import describe_component
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, count
from himeji.rules.duel.components import ANY_PIECE, ANY_RESOURCE, Component, Price
from himeji.rules.duel.constants import (
    ACTION_NAMES,
    FRAME_NAMES,
    ICON_NAMES,
    KIND_NAMES,
    TILE_SPACES,
)
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset

FACE_NAMES: Final = {
    "garden-tile": ("stone", "plant"),
    "basic-yard": ("first", "second"),
    "elite-yard": ("first", "second"),
}


# --- components -------------------------------------------------------------------------------


def describe_components(rules: DuelRuleset) -> list[description.Component]:
    """Every card copy and tile, ascending by number."""
    return [
        describe_component(each, each.kind, _faces(each), _facts(each))
        for each in rules.tables.components
    ]


def _faces(card: Component) -> Iterator[description.Face]:
    """What can be read on a component, front before back."""
    if card.gives:
        yield _scroll(card)
    names = FACE_NAMES.get(card.kind, ())
    for name, face in zip(names, card.faces, strict=True):
        yield describe_face(name, (face,))
    for number, space in enumerate(card.spaces):
        if space:
            frame, place = divmod(number, TILE_SPACES)
            yield describe_face(f"{FRAME_NAMES[frame]}-{place + 1}", space)
    if card.amount:
        gain = description.DescribedEffect("gain", GOOD_NAMES[card.good], card.amount)
        name = "back" if card.gives else "front"
        yield description.Face(name, f"{card.amount} {GOOD_NAMES[card.good]}", (gain,))
    if any(card.icons):
        yield _icons("back" if card.gives else "front", card.icons)
    if card.kind == "activation-tile":
        name = ACTION_NAMES[card.action]
        yield description.Face("front", name, (description.DescribedEffect(name),))
    if card.kind == "location-tile":
        colour = COLOUR_NAMES[card.colour]
        lantern = description.DescribedEffect("lantern", colour)
        yield description.Face("front", f"{colour} lantern", (lantern,))


def _scroll(card: Component) -> description.Face:
    face = describe_face("front", card.gives)
    if not card.cost.amount:
        return face
    cost = description.DescribedEffect("", currency(card.cost), card.cost.amount)
    bought = description.DescribedEffect("pay", costs=(cost,), parts=face.effects)
    return face._replace(text=f"for {price_text(card.cost)}: {face.text}", effects=(bought,))


def _icons(name: str, icons: Sequence[int]) -> description.Face:
    shown = [(number, ICON_NAMES[icon]) for icon, number in enumerate(icons) if number]
    text = ", ".join(f"{number} {icon}{'s' if number > 1 else ''}" for number, icon in shown)
    effects = tuple(description.DescribedEffect("icon", icon, number) for number, icon in shown)
    return description.Face(name, text, effects)


def currency(price: Price) -> str:
    """What a price is paid in."""
    if price.good == ANY_PIECE:
        return "coin/seal"
    return "any" if price.good == ANY_RESOURCE else GOOD_NAMES[price.good]


def price_text(price: Price) -> str:
    """A price in words."""
    if price.good in (ANY_PIECE, ANY_RESOURCE):
        return f"{price.amount} {currency(price)}"
    return count(price.amount, price.good)


def _facts(card: Component) -> Iterator[tuple[str, int]]:
    if card.price.amount:
        yield KIND_NAMES[card.suit], 1
        yield f"price_{currency(card.price).replace('/', '_or_')}", card.price.amount
    if card.amount or card.kind == "location-tile":
        yield COLOUR_NAMES[card.colour], 1


# --- steps ------------------------------------------------------------------------------------

STEP_WORDS: Final = {
    "pick-start": "Pick a start card (D-4.10).",
    "end-of-draft": "The set-up ends, the third start card leaves the game (D-4.10).",
    "move-token": "Place or take a token, or swap two activation tiles before (D-5.2, D-5.3).",
    "adjacent": "Do or decline an action beside the token (D-5.5).",
    "parts": "Choose what comes first of several effects of one scroll.",
    "choose-resource": "Choose one unit of a resource.",
    "choose-piece": "Choose a coin or a seal.",
    "stow": "Lose or discard pieces that the storage has no room for (D-7.1).",
    "pay-pieces": "Pay coins and seals in any mix (D-6.1).",
    "pay-resources": "Pay resources of any kinds (D-6.5).",
    "choose-card": "Choose the top card of a deck or the Well of an empty one, or be done (D-6.1).",
    "take-top": "The top card of a deck comes to the seat that paid it (D-6.1).",
    "scroll": "Do the scroll of the card just bought, or be done (D-6.1).",
    "scroll-effects": "The effects of a scroll that was paid (D-6.1).",
    "improve": "Improve an own influence card, or be done (D-6.7).",
    "garden": "Put a Clan Seal into a garden column, or be done (D-6.2).",
    "training": "Put a Clan Seal on a training yard, or be done (D-6.3).",
    "yard-reward": "Choose a reward of the yard tile (D-6.3).",
    "climb": "Climb with the courtier, or be done (D-6.4).",
    "trade": "Trade resources for a card or a tile, or be done (D-6.5).",
    "take-ware": "The top tile of a stack comes to the seat that paid it (D-6.5).",
    "choose-zone": "Activate an own Lantern zone (D-6.6).",
    "lantern-card": "Take a lantern card (D-8.3).",
    "well": "Choose a benefit of the Well, or be done (D-6.8).",
    "last-exchange": "Exchange seals for the last time, or be done (D-7.1).",
    "end-of-game": "Final scoring (D-9.1).",
}
FIELD_WORDS: Final = {
    "swap": "whether two activation tiles may still be swapped in this turn",
    "slots": "the actions still to be done or declined",
    "rule": "the rule by which it is granted",
    "effects": "the effects",
    "amount": "how many are to come",
    "coins": "coins to come",
    "seals": "seals to come",
    "free": "whether the card is free",
    "deck": "the deck",
    "card": "the card",
    "discount": "by how much the price is lowered",
    "optional": "whether it may be left undone",
    "yard": "the yard",
    "stack": "the stack",
    "shines": "whether the zone of the card is activated at once",
}


def describe_steps(rules: DuelRuleset) -> list[description.DescribedStep]:
    """Every kind of step, ascending, with the meaning of the numbers that describe one."""
    return rules.codec.describe(STEP_WORDS, FIELD_WORDS)
