"""The actions of solitaire cards, and the choices that they leave to the player (S-6, S-7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from himeji.rules.castle.constants import (
    AT_GATE,
    CARD_MOVED,
    COURTIER_PLACES,
    DAIMYO_FLOOR,
    FLOOR_OF_PLACE,
    GARDENER,
    GARDENS,
    IN_DOMAIN,
    IN_ROOM,
    MEMBER_MOVED,
    MEMBERS,
    ON_DAIMYO_FLOOR,
    OUT_OF_GAME,
    PLACE_NAMES,
    ROOMS,
    WARRIOR,
    YARDS,
)
from himeji.rules.castle.courtiers import draw_castle_card, move_courtier, pile_of
from himeji.rules.castle.solo.constants import RIVAL_CLIMBER, RIVAL_GARDEN, RIVAL_ROOM
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import INFLUENCE, VP
from himeji.rules.effects import Effect
from himeji.rules.game import Step

PLAYER: Final = 0  # the seat that chooses for the rival; the rival is the clan after it
EITHER_KIND: Final = -1


class RivalAction(Effect):
    """An action of a solitaire card; if it is impossible, the round number in VP instead."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text, code, 0)

    def start(self, game: Any, seat: int, rule: str) -> None:
        """Do it, if it is possible (S-5)."""
        if self.possible(game, seat):
            self.do(game, seat)
        else:
            game.gain(seat, VP, game.round, "S-5")

    def possible(self, game: Any, rival: int) -> bool:
        """Whether it can be done."""
        return True

    def do(self, game: Any, rival: int) -> None:
        """Do it, or ask the player how."""
        raise NotImplementedError


class RivalGain(RivalAction):
    """Coins or VP: always possible."""

    def __init__(self, good: int, amount: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.good = good
        self.amount = amount

    def do(self, game: CastleGame, rival: int) -> None:
        game.gain(rival, self.good, self.amount, "S-6")


class RivalInfluence(RivalAction):
    """Steps on the Passage of Time; checkpoints are free (S-2), a shortened move counts."""

    def __init__(self, amount: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.amount = amount

    def possible(self, game: CastleGame, rival: int) -> bool:
        """Not on the last position."""
        return game.has(rival, INFLUENCE) < game.tables.last_position

    def do(self, game: CastleGame, rival: int) -> None:
        for _ in range(self.amount):
            if game.has(rival, INFLUENCE) < game.tables.last_position:
                game.step_on(rival)


class RivalGardener(RivalAction):
    """A gardener on the lowest-point garden of a kind that the rival does not hold."""

    def __init__(self, kind: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.kind = kind  # 0 plant, 1 stone, -1 either

    def gardens(self, game: CastleGame, rival: int) -> list[int]:
        """All such gardens with the fewest points."""
        held = game.gardeners[rival]
        free = [
            garden
            for garden in range(GARDENS)
            if not held >> garden & 1 and self.kind in (EITHER_KIND, garden & 1)
        ]
        if not free:
            return []
        points = [game.tables.of(game.gardens[garden]).points for garden in free]
        return [garden for garden, worth in zip(free, points, strict=True) if worth == min(points)]

    def possible(self, game: CastleGame, rival: int) -> bool:
        """A gardener is left, and a garden."""
        left = game.gardeners[rival].bit_count() < MEMBERS
        return left and bool(self.gardens(game, rival))

    def do(self, game: CastleGame, rival: int) -> None:
        """Place it; of equal gardens the player chooses one (S-7)."""
        lowest = self.gardens(game, rival)
        if len(lowest) == 1:
            _plant(game, lowest[0])
        else:
            game.stack.append(RivalGarden(PLAYER, sum([1 << garden for garden in lowest])))


def _plant(game: CastleGame, garden: int) -> None:
    game.gardeners[game.seats] |= 1 << garden
    game.note(MEMBER_MOVED, game.seats, GARDENER, garden, "S-6")


class RivalChoice(Step):
    """A choice that the rival's turn leaves to the player; nothing else is pending meanwhile."""


class RivalGarden(RivalChoice):
    """Equal gardens: the player chooses the one for the rival's gardener (S-7)."""

    def __init__(self, seat: int, gardens: int) -> None:
        super().__init__(seat, "S-7")
        self.gardens = gardens  # bit mask

    def fault(self, game: CastleGame) -> str:
        held = game.gardeners[game.seats]
        free = self.gardens and not held & self.gardens and held.bit_count() < MEMBERS
        return "" if free else "the rival cannot place a gardener there (S-6)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return [RIVAL_GARDEN + garden for garden in range(GARDENS) if self.gardens >> garden & 1]

    def question(self, game: CastleGame) -> str:
        """Ask for the garden."""
        return "choose a garden for the rival's gardener"

    def resolve(self, game: CastleGame, action: int) -> None:
        _plant(game, action - RIVAL_GARDEN)


class RivalWarrior(RivalAction):
    """A warrior in the yard of an iron cost."""

    def __init__(self, iron: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.iron = iron

    def possible(self, game: CastleGame, rival: int) -> bool:
        """A warrior is left, and there is such a yard."""
        left = game.members_out(rival, WARRIOR) < MEMBERS
        return left and self.iron in game.tables.yard_iron

    def do(self, game: CastleGame, rival: int) -> None:
        yard = game.tables.yard_iron.index(self.iron)
        game.warriors[rival * YARDS + yard] += 1
        game.note(MEMBER_MOVED, rival, WARRIOR, yard, "S-6")


class RivalAudience(RivalAction):
    """A courtier to the Gate."""

    def possible(self, game: CastleGame, rival: int) -> bool:
        """A courtier is left."""
        return game.courtiers[rival * COURTIER_PLACES + IN_DOMAIN] > 0

    def do(self, game: CastleGame, rival: int) -> None:
        move_courtier(game, rival, IN_DOMAIN, AT_GATE, "S-6")


class RivalClimb(RivalAction):
    """The lowest courtier up one floor or two."""

    def __init__(self, floors: int, text: str, code: int) -> None:
        super().__init__(text, code)
        self.floors = floors

    def possible(self, game: CastleGame, rival: int) -> bool:
        """If the lowest cannot climb that far, no other can."""
        return can_climb(game, self.floors)

    def do(self, game: CastleGame, rival: int) -> None:
        """Climb; of equal courtiers the player chooses one (S-7)."""
        lowest = lowest_places(game)
        if len(lowest) == 1:
            _climb(game, lowest[0], self.floors)
        else:
            game.stack.append(RivalClimber(PLAYER, self.floors))


def lowest_places(game: CastleGame) -> list[int]:
    """Where the rival's lowest courtiers on the board are."""
    at = game.seats * COURTIER_PLACES
    places = [place for place in range(AT_GATE, COURTIER_PLACES) if game.courtiers[at + place]]
    if not places:
        return []
    lowest = min([FLOOR_OF_PLACE[place] for place in places])
    return [place for place in places if FLOOR_OF_PLACE[place] == lowest]


def can_climb(game: CastleGame, floors: int) -> bool:
    """Whether the rival's lowest courtier can go up so many floors."""
    lowest = lowest_places(game)
    return bool(lowest) and FLOOR_OF_PLACE[lowest[0]] + floors <= DAIMYO_FLOOR


def _climb(game: CastleGame, start: int, floors: int) -> None:
    """Up to the daimyo floor, or to a room that the player chooses (S-7)."""
    if FLOOR_OF_PLACE[start] + floors < DAIMYO_FLOOR:
        game.stack.append(RivalRoom(PLAYER, start, floors))
        return
    move_courtier(game, game.seats, start, ON_DAIMYO_FLOOR, "S-6")
    if 0 in game.slots:
        game.slots[game.slots.index(0)] = game.seats + 1


class RivalClimber(RivalChoice):
    """Equal courtiers: the player chooses the one that climbs (S-7)."""

    def __init__(self, seat: int, floors: int) -> None:
        super().__init__(seat, "S-7")
        self.floors = floors

    def fault(self, game: CastleGame) -> str:
        several = can_climb(game, self.floors) and len(lowest_places(game)) > 1
        return "" if several else "no two equal courtiers of the rival can climb (S-6)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The rooms of the floor that hold one."""
        return [RIVAL_CLIMBER + place - IN_ROOM for place in lowest_places(game)]

    def question(self, game: CastleGame) -> str:
        """Ask for the courtier."""
        return "choose the rival's courtier that climbs"

    def resolve(self, game: CastleGame, action: int) -> None:
        _climb(game, action - RIVAL_CLIMBER + IN_ROOM, self.floors)


class RivalRoom(RivalChoice):
    """The player chooses the room where the rival's climb ends; its card leaves the game (S-7)."""

    def __init__(self, seat: int, start: int, floors: int) -> None:
        super().__init__(seat, "S-7")
        self.start = start
        self.floors = floors

    def fault(self, game: CastleGame) -> str:
        stands = self.start >= AT_GATE and game.courtiers[game.seats * COURTIER_PLACES + self.start]
        ends_below = FLOOR_OF_PLACE[self.start] + self.floors < DAIMYO_FLOOR
        if stands and ends_below and self.floors > 0:
            return ""
        return f"no courtier of the rival climbs from {PLACE_NAMES[self.start]} to a room (S-6)"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The rooms of the floor."""
        floor = FLOOR_OF_PLACE[self.start] + self.floors
        rooms = [room for room in range(ROOMS) if FLOOR_OF_PLACE[IN_ROOM + room] == floor]
        return [RIVAL_ROOM + room for room in rooms]

    def question(self, game: CastleGame) -> str:
        """Ask for the room."""
        return f"choose the room for the rival's courtier from {PLACE_NAMES[self.start]}"

    def resolve(self, game: CastleGame, action: int) -> None:
        """It goes there, and a new card comes, as long as the deck lasts."""
        room = action - RIVAL_ROOM
        move_courtier(game, game.seats, self.start, IN_ROOM + room, "S-6")
        pile = pile_of(room)
        if game.unseen[pile]:
            game.note(CARD_MOVED, game.seats, game.rooms[room], OUT_OF_GAME, "S-7")
            game.rooms[room] = draw_castle_card(game, pile, "S-7")
