"""The worker actions as icons, GARDENER (B-4.6) and WARRIOR (B-4.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.constants import (
    COURTIER,
    GARDENER,
    GARDENS,
    MEMBER_MOVED,
    MEMBERS,
    PLANT,
    TRAIN,
    WARRIOR,
    WORKER,
    WORKER_NAMES,
    YARD_OF_TILE,
    YARD_TILE,
    YARD_TILE_NAMES,
    YARDS,
)
from himeji.rules.castle.courtiers import Courtier
from himeji.rules.castle.icons import Offer
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import DONE, FOOD, IRON
from himeji.rules.effects import Effect
from himeji.rules.game import Step

NO_MEMBER: Final = 1  # blocked: no member left in the domain
PRICE: Final = 2  # blocked: too little to pay with
TAKEN: Final = 3  # blocked: a gardener of the clan is there
NOT_OFFERED: Final = 4  # blocked: the space offers other worker actions


class Worker(Effect):
    """A worker action as an icon."""

    def __init__(self, worker: int, code: int, order: int) -> None:
        super().__init__(WORKER_NAMES[worker], code, order)
        self.worker = worker

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask what its owner does with it."""
        game.stack.append(worker_step(seat, self.worker))


def worker_step(seat: int, worker: int) -> Step:
    """The decision of a worker action."""
    if worker == COURTIER:
        return Courtier(seat, audience=True, climb=True)
    return Gardener(seat) if worker == GARDENER else Warrior(seat)


class ChooseWorker(Step):
    """Outside the Walls: one of two worker actions, or none (B-3.4)."""

    def __init__(self, seat: int, workers: tuple[int, ...]) -> None:
        super().__init__(seat, "B-3.4")
        self.workers = workers  # ascending

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, WORKER + COURTIER, WORKER + GARDENER, WORKER + WARRIOR)

    def blocked(self, game: CastleGame, action: int) -> int:
        """The two that the space offers."""
        return 0 if action == DONE or action - WORKER in self.workers else NOT_OFFERED

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        names = " or ".join([WORKER_NAMES[worker] for worker in self.workers])
        return f"that side offers {names}", "B-3.4"

    def question(self, game: CastleGame) -> str:
        return "choose a worker action of Outside the Walls"

    def resolve(self, game: CastleGame, action: int) -> None:
        if action != DONE:
            game.stack.append(worker_step(self.seat, action - WORKER))


# --- GARDENER (B-4.6) -------------------------------------------------------------------------

_GARDEN_CHOICES: Final = (DONE, *range(PLANT, PLANT + GARDENS))


class Gardener(Step):
    """Place a gardener in a garden without one of the own clan, or none (B-4.6)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-4.6")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return _GARDEN_CHOICES

    def blocked(self, game: CastleGame, action: int) -> int:
        """A gardener at home, none in that garden, and its food."""
        if action == DONE:
            return 0
        garden = action - PLANT
        mask = game.gardeners[self.seat]
        if mask >> garden & 1:
            return TAKEN
        if game.has(self.seat, FOOD) < game.tables.of(game.gardens[garden]).food:
            return PRICE
        return NO_MEMBER if mask.bit_count() == MEMBERS else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        garden = action - PLANT
        if block == TAKEN:
            return f"a gardener of seat {self.seat} is there already", "B-4.6"
        if block == NO_MEMBER:
            return f"seat {self.seat} has no gardener left in its domain", "B-4.6"
        price = game.tables.of(game.gardens[garden]).food
        held = game.has(self.seat, FOOD)
        return f"it costs {price} food, seat {self.seat} has {held}", "B-4.6"

    def question(self, game: CastleGame) -> str:
        """Ask for the garden."""
        return "place a gardener"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Pay, place, then offer the garden's effect."""
        if action == DONE:
            return
        garden = action - PLANT
        card = game.gardens[garden]
        game.pay(self.seat, FOOD, game.tables.of(card).food, "B-4.6")
        game.gardeners[self.seat] |= 1 << garden
        game.note(MEMBER_MOVED, self.seat, GARDENER, garden, "B-4.6")
        game.stack.append(Offer(self.seat, card, 0, "B-4.6"))


# --- WARRIOR (B-4.7) --------------------------------------------------------------------------

_YARD_CHOICES: Final = (DONE, *range(TRAIN, TRAIN + YARDS))


class Warrior(Step):
    """Place a warrior in a yard, or none (B-4.7)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-4.7")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return _YARD_CHOICES

    def blocked(self, game: CastleGame, action: int) -> int:
        """A warrior at home, and the yard's iron."""
        if action == DONE:
            return 0
        if game.has(self.seat, IRON) < game.tables.yard_iron[action - TRAIN]:
            return PRICE
        return NO_MEMBER if game.members_out(self.seat, WARRIOR) == MEMBERS else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        if block == NO_MEMBER:
            return f"seat {self.seat} has no warrior left in its domain", "B-4.7"
        price = game.tables.yard_iron[action - TRAIN]
        held = game.has(self.seat, IRON)
        return f"it costs {price} iron, seat {self.seat} has {held}", "B-4.7"

    def question(self, game: CastleGame) -> str:
        """Ask for the yard."""
        return "place a warrior"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Pay, place, then offer the yard's tiles."""
        if action == DONE:
            return
        yard = action - TRAIN
        game.pay(self.seat, IRON, game.tables.yard_iron[yard], "B-4.7")
        game.warriors[self.seat * YARDS + yard] += 1
        game.note(MEMBER_MOVED, self.seat, WARRIOR, yard, "B-4.7")
        mask = sum(1 << slot for slot, home in enumerate(YARD_OF_TILE) if home == yard)
        game.stack.append(YardTiles(self.seat, mask))


class YardTiles(Step):
    """The tiles of the yard: each once, in any order, each optional (B-4.7)."""

    def __init__(self, seat: int, tiles: int) -> None:
        super().__init__(seat, "B-4.7")
        self.tiles = tiles  # bit mask

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """The tiles that are left."""
        tiles = [YARD_TILE + slot for slot in range(len(YARD_OF_TILE)) if self.tiles >> slot & 1]
        return (DONE, *tiles)

    def question(self, game: CastleGame) -> str:
        """Ask for a tile."""
        return "use a tile of the yard"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Use one; the others stay on offer."""
        if action == DONE:
            return
        slot = action - YARD_TILE
        rest = self.tiles & ~(1 << slot)
        if rest:
            game.stack.append(YardTiles(self.seat, rest))
        yard_effect(game, slot).start(game, self.seat, "B-4.7")


def yard_effect(game: CastleGame, slot: int) -> Effect:
    """The face of the tile in a yard slot that lies up."""
    faces = game.tables.of(game.yard_tiles[slot]).faces
    return faces[0] if YARD_TILE_NAMES[slot].endswith("blue") else faces[1]
