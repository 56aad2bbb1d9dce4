"""Duel: the points that a seat has, and what its goods, icons, zones and pending steps promise.

All numbers are points at the end of the game. Icons and what they are multiplied by are worth
nothing alone, so both are judged by what the other one may still become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from himeji.rules.constants import COIN, FOOD, GOODS, IRON, PEARL, SEAL, SWAP
from himeji.rules.duel.constants import (
    BLUE_CRANE,
    COLOURS,
    FLAG,
    KABUTO,
    KATANA,
    RETURN,
    SEATS,
    TURNS,
    WHITE_CRANE,
)
from himeji.rules.duel.scoring import by_yard, icons
from himeji.rules.duel.state import DuelGame
from himeji.rules.game import Step

WORTH: Final = (0.9, 0.9, 1.0, 0.0, 0.45, 0.5, 1.0, 0.0, 0.5)
"""What one unit of a good is worth in the middle of a game, by the good."""
RESOURCE: Final = (0.0, 0.8, 1.7, 2.3, 3.0, 3.8, 4.1, 4.3)  # by units held
ENOUGH_TURNS: Final = 4  # so many turns turn all goods into points
LATER_TURN: Final = 2.5  # what a turn adds, goods and icons aside
ACTIVATED: Final = 0.42  # how often a zone pays in a turn
IMPROVED_EACH_TURN: Final = 0.25  # how likely a card is turned over in time
LEVEL_EACH_TURN: Final = 0.16  # how a courtier climbs, in levels
BASIC_EACH_TURN: Final = 0.22
ELITE_EACH_TURN: Final = 0.12
CRANE_EACH_TURN: Final = 0.15  # white cranes that may still come
SEAL_PLACED: Final = 1.2  # beside its icons: it breaks ties and multiplies


def estimate(game: DuelGame) -> list[float]:
    """The points that each seat may end with."""
    return [points + _promise(game, seat) for seat, points in enumerate(game.scores())]


def turns_left(game: DuelGame, seat: int) -> int:
    """Turns that a seat has not begun."""
    begun = (game.turn + int(seat == game.starter)) // SEATS
    rounds = RETURN - game.round + 1
    return rounds * TURNS // SEATS - (0 if game.drafting else begun)


def _promise(game: DuelGame, seat: int) -> float:
    left = turns_left(game, seat)
    total = LATER_TURN * left + min(1.0, left / ENOUGH_TURNS) * _goods(game, seat)
    total += left * ACTIVATED * _zones(game, seat) + _icons(game, seat, left)
    total += SEAL_PLACED * game.seals_placed(seat) * min(1, left)
    for step in game.stack:
        if step.seat == seat:
            total += pending(game, step)
    return total


def _goods(game: DuelGame, seat: int) -> float:
    held = game.goods[seat * GOODS : (seat + 1) * GOODS]
    total = RESOURCE[held[FOOD]] + RESOURCE[held[IRON]] + RESOURCE[held[PEARL]]
    return total + sum(held[good] * WORTH[good] for good in (COIN, SEAL, SWAP))


def _zones(game: DuelGame, seat: int) -> float:
    """What one activation of every zone gives."""
    total = 0.0
    for colour in range(COLOURS):
        total += WORTH[game.tables.zone_good[colour]] * game.tables.zone_amount[colour]
        for number in game.zones[seat * COLOURS + colour]:
            card = game.tables.of(number)
            total += WORTH[card.good] * card.amount
    return total / COLOURS


def _icons(game: DuelGame, seat: int, left: int) -> float:
    """What icons and their multipliers may still become, beside what they score now."""
    hidden = _hidden(game, seat)
    likely = min(0.85, IMPROVED_EACH_TURN * left)
    level, tables = game.level(seat), game.tables
    now = (
        float(tables.level_points[level]),
        float(by_yard(game, seat, tables.katana_points)),
        float(by_yard(game, seat, tables.kabuto_points)),
        float(icons(game, seat, WHITE_CRANE)),
    )
    later = (
        min(3.0, now[0] + LEVEL_EACH_TURN * left),
        now[1] + BASIC_EACH_TURN * left,
        now[2] + (BASIC_EACH_TURN + 2 * ELITE_EACH_TURN) * left,
        now[3] + CRANE_EACH_TURN * left,
    )
    total = 0.0
    for place, icon in enumerate((FLAG, KATANA, KABUTO, BLUE_CRANE)):
        shown = icons(game, seat, icon)
        total += (shown + likely * hidden[icon]) * later[place] - shown * now[place]
    return total


def _hidden(game: DuelGame, seat: int) -> list[int]:
    """Icons of own cards that have not been improved."""
    found, cards = [0] * len(WORTH), game.cards[seat]
    while cards:
        low = cards & -cards
        for icon, number in enumerate(game.tables.of(low.bit_length()).icons):
            found[icon] += number
        cards ^= low
    return found


# --- what still has to be decided ---------------------------------------------------------------

FLAT: Final = {
    "pick-start": 6.0,
    "move-token": 3.5,
    "choose-card": 1.2,
    "take-top": 2.5,
    "scroll": 0.9,
    "scroll-effects": 1.2,
    "improve": 1.6,
    "garden": 2.6,
    "training": 2.6,
    "yard-reward": 1.8,
    "climb": 2.6,
    "trade": 2.2,
    "take-ware": 2.5,
    "choose-zone": 2.0,
    "lantern-card": 1.5,
}
"""Pending steps that are worth about the same everywhere; what they cost is still held."""

COUNTED: Final[Mapping[str, Callable[[Any], float]]] = {
    "adjacent": lambda step: step.slots.bit_count() * 1.4,
    "parts": lambda step: len(step.effects) * 1.0,
    "choose-resource": lambda step: step.amount * 1.0,
    "choose-piece": lambda step: step.amount * 0.5,
    "stow": lambda step: (step.coins + step.seals) * 0.1,
    "pay-pieces": lambda step: step.amount * -0.45,
    "pay-resources": lambda step: step.amount * -0.8,
    "well": lambda step: step.amount * 1.0,
}
"""Pending steps whose worth stands in them."""


def pending(game: DuelGame, step: Step) -> float:
    """What a step is worth to its seat as long as it is still to come."""
    kind = game.rules.codec.name(step)
    count = COUNTED.get(kind)
    return FLAT.get(kind, 0.0) if count is None else count(step)
