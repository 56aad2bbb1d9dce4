"""The events of the castle family: for each kind its name, what its numbers mean, and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from himeji.rules import events
from himeji.rules.castle.constants import (
    CARD_MOVED,
    COURTIER,
    COURTIER_PLACES,
    DIE_PLACE_NAMES,
    DIE_PLACED,
    DIE_TAKEN,
    EFFECT,
    GARDEN_NAMES,
    GARDENER,
    INFLUENCE_MOVED,
    MEMBER_MOVED,
    PLACE_NAMES,
    ROUND_BEGAN,
    TURN_ORDER_PILE,
    TURN_ORDER_SET,
    WORKER_NAMES,
)
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.description import EventKind, numbered
from himeji.rules.events import COMMON_EVENTS, UNUSED, EventWords, Scene
from himeji.rules.game import DRAW, EVENT_KINDS, ROLL, Record

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset


def _drawn(scene: Scene, pile: int, card: int) -> str:
    if pile == TURN_ORDER_PILE:
        return f"{scene.who(card)} is next in turn order"
    return f"{scene.card(card)} is drawn from the pile {scene.rules.pile_names[pile]}"


def _space(scene: Scene, number: int) -> str:
    name: str = scene.rules.tables.spaces[number].name
    return name


def tell_member(who: str, member: int, place: int) -> str:
    """Where a courtier, gardener or warrior goes."""
    if member == COURTIER:
        start, end = divmod(place, COURTIER_PLACES)
        return f"{who}: a courtier goes from {PLACE_NAMES[start]} to {PLACE_NAMES[end]}"
    where = GARDEN_NAMES[place] if member == GARDENER else f"yard-{place + 1}"
    return f"{who}: a {WORKER_NAMES[member]} goes to {where}"


_WHERE: Final = ("is the action card", "shines in the Lantern Area", "leaves the game")


def _card(scene: Scene, who: str, card: int, shines: int) -> str:
    return f"{who}: {scene.card(card)} {_WHERE[shines]}"


def _die(die: int) -> str:
    return f"{COLOUR_NAMES[die >> 3]} {die & 7}"


BASE_EVENTS: Final[Mapping[int, EventWords]] = {
    **COMMON_EVENTS,
    ROLL: EventWords(
        EVENT_KINDS[ROLL],
        "A die was rolled.",
        "its colour: {colours}",
        "its value, 1 to 6",
        lambda _, __, colour, value: f"a {COLOUR_NAMES[colour]} die shows {value}",
    ),
    DRAW: EventWords(
        EVENT_KINDS[DRAW],
        "Something was drawn from a pile that nobody had seen.",
        "the pile: {piles}",
        "the number of the component; from the pile turn-order a clan",
        lambda scene, _, pile, card: _drawn(scene, pile, card),
    ),
    DIE_TAKEN: EventWords(
        "die-taken",
        "A clan took a die from a bridge.",
        "the die: colour * 8 + value; {colours}",
        "its place on the bridge: {sides}",
        lambda _, who, die, side: f"{who} takes {_die(die)} from the {DIE_PLACE_NAMES[side]}",
    ),
    DIE_PLACED: EventWords(
        "die-placed",
        "A clan placed the die it had taken.",
        "the die: colour * 8 + value; {colours}",
        "the space: {spaces}",
        lambda scene, who, die, space: f"{who} places {_die(die)} on {_space(scene, space)}",
    ),
    MEMBER_MOVED: EventWords(
        "member-moved",
        "A member of a clan went somewhere.",
        "the kind of member: {members}",
        "where: of a gardener the garden ({gardens}), of a warrior the yard, from 0, of a courtier "
        "the place it left * 8 + the place it went to ({places})",
        lambda _, who, member, place: tell_member(who, member, place),
    ),
    CARD_MOVED: EventWords(
        "card-moved",
        "A card or tile came to a clan, or left the game because of it.",
        "the number of the card",
        "where: 0 the domain, 1 the Lantern Area, 2 out of the game",
        _card,
    ),
    INFLUENCE_MOVED: EventWords(
        "influence-moved",
        "An influence marker went one step.",
        "its position now",
        UNUSED,
        lambda _, who, position, __: f"{who}: influence goes to {position}",
    ),
    ROUND_BEGAN: EventWords(
        "round-began",
        "A round began; its dice are rolled next.",
        "the round, from 1",
        UNUSED,
        lambda _, __, number, ___: f"round {number} begins",
    ),
    TURN_ORDER_SET: EventWords(
        "turn-order-set",
        "A clan got its place in the turn order.",
        "the place, from 0",
        UNUSED,
        lambda _, who, place, __: f"{who} is number {place + 1} in turn order",
    ),
    EFFECT: EventWords(
        "effect",
        "A seat performed a row of a card, or a garden.",
        "the number of the card",
        "its row, from 0",
        lambda scene, who, card, row: f"{who} uses {scene.card(card)}, row {row + 1}",
    ),
}


def describe_events(rules: CastleRuleset) -> list[EventKind]:
    """Every kind of event, ascending, with the meaning of its numbers."""
    return events.describe_events(rules, rules.events, _lists(rules))


def tell(rules: CastleRuleset, record: Record, seats: int) -> str:
    """An event of a game with so many seats, in words."""
    return events.tell(rules, rules.events, record, seats)


def _lists(rules: CastleRuleset) -> dict[str, str]:
    return {
        "colours": numbered(COLOUR_NAMES, rules.colours),
        "piles": numbered(rules.pile_names, sorted(rules.pile_names)),
        "sides": numbered(DIE_PLACE_NAMES),
        "spaces": numbered([space.name for space in rules.tables.spaces]),
        "members": numbered(rules.tables.members),
        "gardens": numbered(GARDEN_NAMES),
        "places": numbered(PLACE_NAMES),
    }
