"""The events of Duel: for each kind its name, what its numbers mean, and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from himeji.rules import events
from himeji.rules.constants import COLOUR_NAMES, SIDE_NAMES, count
from himeji.rules.description import EventKind, numbered
from himeji.rules.duel.constants import (
    CARD_IMPROVED,
    COLOURS,
    COLUMN_NAMES,
    COMPONENT_GAINED,
    COURTIER_MOVED,
    DISCARDED,
    LOCATION_NAMES,
    PILE_NAMES,
    ROUND_BEGAN,
    ROUND_NAMES,
    SEAL_PLACED,
    SLOT_NAMES,
    STARTING_PLAYER_PILE,
    TILES_SWAPPED,
    TOKEN_PLACED,
    TOKEN_TAKEN,
    YARD_NAMES,
    ZONE_ACTIVATED,
)
from himeji.rules.events import COMMON_EVENTS, UNUSED, EventWords, Scene, event_names
from himeji.rules.game import DRAW, EVENT_KINDS, ROLL, Record

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset

PLACES: Final = ("the own area", "its Lantern zone", "the store")
SEAL_PLACES: Final = (*COLUMN_NAMES, *[f"the {name} yard" for name in YARD_NAMES])


def _drawn(scene: Scene, pile: int, card: int) -> str:
    if pile == STARTING_PLAYER_PILE:
        return f"{scene.who(card)} is the starting player"
    return f"{scene.card(card)} is drawn from the pile {PILE_NAMES[pile]}"


EVENTS: Final[Mapping[int, EventWords]] = {
    **COMMON_EVENTS,
    ROLL: EventWords(
        EVENT_KINDS[ROLL],
        "A die was rolled: never in this game.",
        UNUSED,
        UNUSED,
        lambda _, __, ___, value: f"a die shows {value}",
    ),
    DRAW: EventWords(
        EVENT_KINDS[DRAW],
        "Something was drawn from a pile that nobody had seen.",
        "the pile: {piles}",
        "the number of the component; from the pile starting-player a seat",
        lambda scene, _, pile, card: _drawn(scene, pile, card),
    ),
    TOKEN_PLACED: EventWords(
        "token-placed",
        "A seat put a token on a Location.",
        "its colour: {colours}",
        "the Location: {locations}",
        lambda _, who, colour, location: (
            f"{who} places {COLOUR_NAMES[colour]} on {LOCATION_NAMES[location]}"
        ),
    ),
    TOKEN_TAKEN: EventWords(
        "token-taken",
        "A seat took the top token of a stack.",
        "its colour: {colours}",
        "the Location: {locations}",
        lambda _, who, colour, location: (
            f"{who} takes {COLOUR_NAMES[colour]} from {LOCATION_NAMES[location]}"
        ),
    ),
    TILES_SWAPPED: EventWords(
        "tiles-swapped",
        "A seat exchanged the positions of two activation tiles.",
        "a slot: {slots}",
        "the other slot",
        lambda _, who, one, other: (
            f"{who} swaps the tiles of {SLOT_NAMES[one]} and {SLOT_NAMES[other]}"
        ),
    ),
    COMPONENT_GAINED: EventWords(
        "component-gained",
        "A card or tile came to a seat.",
        "the number of the component",
        "where it lies: {places}",
        lambda scene, who, card, place: f"{who}: {scene.card(card)} comes to {PLACES[place]}",
    ),
    CARD_IMPROVED: EventWords(
        "card-improved",
        "A seat turned an influence card to its icon side.",
        "the number of the card",
        UNUSED,
        lambda scene, who, card, _: f"{who} improves {scene.card(card)}",
    ),
    SEAL_PLACED: EventWords(
        "seal-placed",
        "A seat placed a Clan Seal.",
        "where: {seal_places}",
        UNUSED,
        lambda _, who, place, __: f"{who} puts a Clan Seal on {SEAL_PLACES[place]}",
    ),
    COURTIER_MOVED: EventWords(
        "courtier-moved",
        "A courtier climbed.",
        "the space it came to, 1 to 7",
        "its path: {sides}",
        lambda _, who, space, side: (
            f"{who}: the courtier climbs to space {space} of the {SIDE_NAMES[side]} path"
        ),
    ),
    DISCARDED: EventWords(
        "discarded",
        "A seat discarded a piece to make room for another.",
        "the good: {goods}",
        "how many",
        lambda _, who, good, amount: f"{who} discards {count(amount, good)}",
    ),
    ROUND_BEGAN: EventWords(
        "round-began",
        "A round began; the seat has the Starting Player marker.",
        "the round: 1 outgoing, 2 return",
        UNUSED,
        lambda _, who, number, __: f"{who} begins the {ROUND_NAMES[number]} round",
    ),
    ZONE_ACTIVATED: EventWords(
        "zone-activated",
        "A Lantern zone of a seat gives what it holds.",
        "its colour: {colours}",
        UNUSED,
        lambda _, who, colour, __: f"{who}: the {COLOUR_NAMES[colour]} zone shines",
    ),
}
EVENT_NAMES: Final = event_names(EVENTS)


def describe_events(rules: DuelRuleset) -> list[EventKind]:
    """Every kind of event, ascending, with the meaning of its numbers."""
    return events.describe_events(rules, EVENTS, _LISTS)


def tell(rules: DuelRuleset, record: Record, seats: int) -> str:
    """An event of a game in words."""
    return events.tell(rules, EVENTS, record, seats)


_LISTS: Final = {
    "colours": numbered(COLOUR_NAMES[:COLOURS]),
    "piles": numbered(PILE_NAMES),
    "slots": numbered(SLOT_NAMES),
    "locations": numbered(LOCATION_NAMES),
    "places": numbered(PLACES),
    "seal_places": numbered(SEAL_PLACES),
    "sides": numbered(SIDE_NAMES),
}
