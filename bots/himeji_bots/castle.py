"""The castle family: the points that a clan has, and what its goods, members and cards promise.

All numbers are points at the end of the game. They were found by reading the rules, then by
matches of the bots that use them against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Protocol

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import (
    AT_GATE,
    COURTIER,
    COURTIER_PLACES,
    GARDENER,
    GARDENS,
    IN_DOMAIN,
    ON_DAIMYO_FLOOR,
    WARRIOR,
    YARDS,
)
from himeji.rules.castle.matcha.constants import (
    AT_ENTRANCE,
    GEISHA,
    GEISHA_PLACES,
    ON_OVERLOOK,
    ON_STEP_1,
    ON_STEP_2,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.curtains import ONE, ONE_FREE
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import CHASEN, COIN, FOOD, GOODS, INFLUENCE, IRON, LEFT, PEARL, SEAL
from himeji.rules.game import Step

WORTH: Final = {
    "food": 0.9,
    "iron": 0.9,
    "pearl": 1.0,
    "any": 1.1,
    "coin": 0.4,
    "seal": 0.8,
    "vp": 1.0,
    "influence": 0.7,
    "lantern": 2.0,
    "well": 2.0,
    "courtier": 2.5,
    "gardener": 2.5,
    "warrior": 2.5,
    "chasen": 0.9,
    "geisha": 2.5,
}
"""What one unit of an icon is worth in the middle of a game."""

OTHER_ICON: Final = 2.5  # a row of the castle or the domain, and whatever a new box brings
OTHER_STEP: Final = 0.5  # a pending step that is not listed below
RESOURCE: Final = (0.0, 0.9, 1.8, 2.6, 3.3, 3.9, 4.3, 4.5)  # by units held: the last ones fit badly
COINS: Final = 8  # more of them can hardly be spent
LANTERN_EACH_TURN: Final = 0.4  # how often a turn begins at the left end of a bridge
DOMAIN_EACH_TURN: Final = 0.12  # how often a certain row of the domain is used
CLIMBS_EACH_TURN: Final = 0.18  # courtiers that enter the castle
TRAINED_EACH_TURN: Final = 0.2  # value of the warriors that are trained
GATE: Final = 1.2  # a courtier that may still climb
ON_THE_PATH: Final = {AT_ENTRANCE: 1.5, ON_STEP_1: 2.5, ON_STEP_2: 3.0}  # geishas, likewise
MEMBERS_EACH_TURN: Final = 0.2  # of each kind: a room of the tea house counts them
LILIES: Final = 2.5  # what the pond gives
ACTIVATED: Final = 0.5  # how often a bridge still holds a die when a round ends
STEP: Final = 0.25  # a step on the Passage of Time, beside the points of the season
ENOUGH_TURNS: Final = 5  # so many turns turn all goods into points
LATER_TURN: Final = 5.0  # what a turn adds that is not near, goods and members aside
NEAR_TURNS: Final = 3


class Icon(Protocol):
    """What is printed on cards and tiles, by its text: "2 food", "lantern"."""

    @property
    def text(self) -> str:
        """Its amount, if it has one, and its word."""
        ...


def estimate(game: CastleGame) -> list[float]:
    """The points that each clan may end with; a rival's promise nothing more."""
    points: list[float] = [*game.scores()]
    for seat in range(game.seats):
        points[seat] += _promise(game, seat)
    return points


def turns_left(game: CastleGame, clan: int) -> int:
    """Turns that a clan has not begun."""
    begun = 0
    if not game.drafting and clan in game.order:
        place = game.order.index(clan)
        begun = (game.turn + game.clans - 1 - place) // game.clans
    return (game.rules.rounds - game.round + 1) * game.rules.turns - begun


@cache
def worth(icons: tuple[Icon, ...]) -> float:
    """What icons are worth, whoever gets them. Icons are few and shared, so sums are kept."""
    total = 0.0
    for icon in icons:
        head, _, word = icon.text.partition(" ")
        amount, word = (int(head), word) if head.isdecimal() else (1, icon.text)
        total += amount * WORTH.get(word, OTHER_ICON)
    return total


def _promise(game: CastleGame, clan: int) -> float:
    left = turns_left(game, clan)
    total = LATER_TURN * max(0, left - NEAR_TURNS)
    total += min(1.0, left / ENOUGH_TURNS) * _goods(game, clan)
    total += left * _each_turn(game, clan) + _members(game, clan, left)
    if isinstance(game, MatchaGame):
        total += _geishas(game, clan, left)
    for step in game.stack:
        if step.seat == clan:
            total += pending(game, step)
    if game.hand and game.stack[-1].seat == clan:
        total += _hand(game, clan)
    return total


def _goods(game: CastleGame, clan: int) -> float:
    held = game.goods[clan * GOODS : (clan + 1) * GOODS]
    total = RESOURCE[held[FOOD]] + RESOURCE[held[IRON]] + RESOURCE[held[PEARL]]
    total += RESOURCE[held[CHASEN]]
    total += min(COINS, held[COIN]) * WORTH["coin"] + held[SEAL] * WORTH["seal"]
    return total + held[INFLUENCE] * STEP


def _each_turn(game: CastleGame, clan: int) -> float:
    """What the Lantern Area and the domain may give in every turn that is left."""
    domain = 0.0
    for row, cells in enumerate(game.tables.cells):
        domain += worth(cells[: game.members_out(clan, row) + 1])
    return LANTERN_EACH_TURN * _lantern(game, clan) + DOMAIN_EACH_TURN * domain


def _lantern(game: CastleGame, clan: int) -> float:
    total = 0.0
    for card in game.lanterns[clan]:
        total += worth(game.tables.of(card).lantern)
    return total


def _members(game: CastleGame, clan: int, left: int) -> float:
    """Warriors and courtiers multiply each other; gardens work at the end of the rounds."""
    at = clan * COURTIER_PLACES
    inside = sum(game.courtiers[at + AT_GATE + 1 : at + COURTIER_PLACES])
    values = 0
    for yard in range(YARDS):
        values += game.warriors[clan * YARDS + yard] * game.tables.yard_value[yard]
    more_inside, more_values = left * CLIMBS_EACH_TURN, left * TRAINED_EACH_TURN
    total = values * more_inside + inside * more_values
    total += min(1.0, left / ENOUGH_TURNS) * GATE * game.courtiers[at + AT_GATE]
    rounds, mask = game.rules.rounds - game.round, game.gardeners[clan]
    for garden in range(GARDENS if mask and rounds else 0):
        if mask >> garden & 1:
            effect = game.tables.of(game.gardens[garden]).rows[0]
            total += rounds * ACTIVATED * _row(game, clan, effect)
    return total


def _geishas(game: MatchaGame, clan: int, left: int) -> float:
    """Geishas may walk on; in a room they count members, on the overlook they use the pond."""
    at, soon, total = clan * GEISHA_PLACES, min(1.0, left / ENOUGH_TURNS), 0.0
    for place, more in ON_THE_PATH.items():
        total += soon * more * game.geishas[at + place]
    for room in TEA_ROOMS:
        points = game.tea_garden.geisha_points[room]
        total += game.geishas[at + room] * points * left * MEMBERS_EACH_TURN
    rounds = game.rules.rounds - game.round
    return total + rounds * ACTIVATED * LILIES * game.geishas[at + ON_OVERLOOK]


def _hand(game: CastleGame, clan: int) -> float:
    """A die in the hand: its coins, and the Lantern if it came from the left."""
    total = (game.hand & 7) * WORTH["coin"]
    return total + _lantern(game, clan) if game.hand_side == LEFT else total


# --- what still has to be decided ---------------------------------------------------------------


def _row(game: CastleGame, clan: int, row: Row) -> float:
    """A row of a card with its price; never less than leaving it."""
    if game.has(clan, row.cost_good) < row.cost:
        return 0.0
    price = row.cost * WORTH["seal" if row.cost_good == SEAL else "coin"]
    total = -price
    for icon in row.gives:
        worker = _WORKERS.get(icon.text)
        total += worth((icon,)) if worker is None else worker(game, clan)
    return max(0.0, total)


def _courtier(game: CastleGame, clan: int) -> float:
    at = clan * COURTIER_PLACES
    total = 0.0
    if game.has(clan, COIN) >= 2 and game.courtiers[at + IN_DOMAIN]:
        total += 2.5
    if game.has(clan, PEARL) >= 2 and any(game.courtiers[at + AT_GATE : at + ON_DAIMYO_FLOOR]):
        total += 4.5
    return total


def _gardener(game: CastleGame, clan: int) -> float:
    food, best = game.has(clan, FOOD), 0.0
    for garden in range(GARDENS):
        card = game.tables.of(game.gardens[garden])
        if card.food <= food and not game.gardeners[clan] >> garden & 1:
            best = max(best, card.points - card.food * WORTH["food"] * 0.7 + 2.0)
    return best


def _warrior(game: CastleGame, clan: int) -> float:
    at = clan * COURTIER_PLACES
    inside = sum(game.courtiers[at + AT_GATE + 1 : at + COURTIER_PLACES])
    iron, best = game.has(clan, IRON), 0.0
    for yard in range(YARDS):
        if game.tables.yard_iron[yard] <= iron:
            best = max(best, game.tables.yard_value[yard] * (inside + 1.5) + 2.0)
    return best


def _geisha(game: CastleGame, clan: int) -> float:
    if not isinstance(game, MatchaGame):
        return 0.0
    at, chasen, total = clan * GEISHA_PLACES, game.has(clan, CHASEN), 0.0
    if game.has(clan, COIN) >= game.tea_garden.entrance_coins and game.geishas[at + IN_DOMAIN]:
        total += 2.0
    if chasen >= game.tea_garden.walk_chasen[1] and any(game.geishas[at + p] for p in ON_THE_PATH):
        total += 4.0
    return total


_WORKERS: Final[dict[str, Callable[[CastleGame, int], float]]] = {
    "courtier": _courtier,
    "gardener": _gardener,
    "warrior": _warrior,
    "geisha": _geisha,
}
_BY_NUMBER: Final = {
    COURTIER: _courtier,
    GARDENER: _gardener,
    WARRIOR: _warrior,
    GEISHA: _geisha,
}


def _room_rows(game: CastleGame, step: Any) -> float:
    rows = game.tables.of(step.card).rows
    return sum(_row(game, step.seat, row) for n, row in enumerate(rows) if step.rows >> n & 1)


def _enter(game: CastleGame, step: Any) -> float:
    """Look into a copy: what the space will ask when the Lantern is done."""
    twin = game.clone()
    twin.stack = []
    step.run(twin)
    return sum(pending(game, each) for each in twin.stack)


def _choose_worker(game: CastleGame, step: Any) -> float:
    return max(_BY_NUMBER[worker](game, step.seat) for worker in step.workers)


def _curtains(game: CastleGame, step: Any) -> float:
    """The curtains on offer with their prices; where only one may be used, the best."""
    rows = [row for card in step.cards for row in game.tables.of(card).rows]
    worths = [_row(game, step.seat, row) for n, row in enumerate(rows) if step.curtains >> n & 1]
    return max(worths, default=0.0) if step.limit in (ONE, ONE_FREE) else sum(worths)


LOOKED_AT: Final[Mapping[str, Callable[[CastleGame, Any], float]]] = {
    "room-rows": _room_rows,
    "enter-space": _enter,
    "choose-worker": _choose_worker,
    "choose-action": _choose_worker,
    "curtains": _curtains,
    "offer": lambda game, step: _row(game, step.seat, step.row(game)),
    "courtier": lambda game, step: _courtier(game, step.seat),
    "gardener": lambda game, step: _gardener(game, step.seat),
    "warrior": lambda game, step: _warrior(game, step.seat),
    "geisha": lambda game, step: _geisha(game, step.seat),
}
"""Pending steps whose worth depends on the position, by the name of their kind."""

COUNTED: Final[Mapping[str, Callable[[Any], float]]] = {
    "parts": lambda step: worth(step.effects),
    "choose-resource": lambda step: step.amount * WORTH["any"],
    "seals-at-cap": lambda step: step.amount * 0.3,
    "checkpoint": lambda step: step.steps * WORTH["influence"],
    "yard-tiles": lambda step: step.tiles.bit_count() * OTHER_ICON,
    "activate-gardens": lambda step: step.gardens.bit_count() * OTHER_ICON,
    "activate-gardens-and-pond": lambda step: (step.gardens.bit_count() + step.pond) * OTHER_ICON,
}
"""Pending steps whose worth stands in them."""

FLAT: Final = {
    "pick-pair": 13.0,
    "pick-pair-and-tile": 13.0,
    "take-die": 6.5,
    "place-die": 4.0,
    "choose-castle-row": OTHER_ICON,
    "choose-domain-row": OTHER_ICON,
    "light-row": OTHER_ICON,
    "daimyo-slot": OTHER_ICON,
    "action-card-row": OTHER_ICON / 2,
    "overlook": LILIES,
    "choose-outskirts-card": OTHER_ICON,
    "own-ceremony": OTHER_ICON / 2,
    "free-walk": 4.0,
    "free-climb": 4.5,
    "light-rows": OTHER_ICON,
    "one-yard-tile": OTHER_ICON,
    "stone-gardens": OTHER_ICON,
    "rival-garden": 0.0,
    "rival-climber": 0.0,
    "rival-room": 0.0,
    "rival-walk": 0.0,
    "rival-discard": 0.0,
}
"""Pending steps that are worth the same everywhere."""


def pending(game: CastleGame, step: Step) -> float:
    """What a step is worth to its seat as long as it is still to come."""
    kind = game.rules.codec.name(step)
    look = LOOKED_AT.get(kind)
    if look is not None:
        return look(game, step)
    count = COUNTED.get(kind)
    return FLAT.get(kind, OTHER_STEP) if count is None else count(step)
