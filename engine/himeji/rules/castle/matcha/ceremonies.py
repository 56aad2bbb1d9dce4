"""The icons that Matcha adds, above all those of the ceremony tiles (M-8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.castle.components import Row
from himeji.rules.castle.constants import (
    ACTIVATE,
    BLUE_TILES,
    CLIMB,
    CLIMBS,
    COURTIER_PLACES,
    EFFECT,
    FLOOR_OF_PLACE,
    GARDENS,
    PLACE_NAMES,
    ROW,
    ROW_PLACE,
    ROW_ROOM,
    WORKER,
    YARD_TILE,
    YARD_TILE_NAMES,
)
from himeji.rules.castle.courtiers import arrive, move_courtier, must_wait
from himeji.rules.castle.icons import perform, price_refusal
from himeji.rules.castle.matcha.constants import GEISHA, MATCHA_WORKER_NAMES
from himeji.rules.castle.matcha.geishas import Geisha
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.workers import NOT_OFFERED, ChooseWorker, YardTiles, yard_effect
from himeji.rules.constants import DONE
from himeji.rules.effects import Effect
from himeji.rules.game import Step

PRICE: Final = 1  # blocked: the price cannot be paid
NO_CARD: Final = 2  # blocked: the room waits for its next card
DARK: Final = 3  # blocked: the row is dark
USED: Final = 4  # blocked: a row of that card, or that garden, was used
NO_MEMBER: Final = 5  # blocked: no courtier there
FAR: Final = 6  # blocked: two floors, one is free
KIND: Final = 7  # blocked: not a stone garden


class WorkerOrGeisha(Effect):
    """One of the worker actions of the base game, or GEISHA."""

    def __init__(self, worker: int, text: str, code: int, order: int) -> None:
        super().__init__(text, code, order)
        self.worker = worker

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        game.stack.append(ChooseAction(seat, (self.worker, GEISHA)))


class ChooseAction(ChooseWorker):
    """A worker action or GEISHA, or none (M-5.3)."""

    def __init__(self, seat: int, workers: tuple[int, ...]) -> None:
        super().__init__(seat, workers)
        self.rule = "M-5.3"

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, WORKER, WORKER + 1, WORKER + 2, WORKER + GEISHA)

    def blocked(self, game: CastleGame, action: int) -> int:
        """The two that the icon shows."""
        return 0 if action == DONE or action - WORKER in self.workers else NOT_OFFERED

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        names = " or ".join([MATCHA_WORKER_NAMES[worker] for worker in self.workers])
        return f"the icon offers {names}", "M-5.3"

    def question(self, game: CastleGame) -> str:
        names = " or ".join([MATCHA_WORKER_NAMES[worker].upper() for worker in self.workers])
        return f"choose {names}"

    def resolve(self, game: CastleGame, action: int) -> None:
        if action == WORKER + GEISHA:
            game.stack.append(Geisha(self.seat, entrance=True, walk=True))
        else:
            super().resolve(game, action)


class LightRowsIcon(Effect):
    """Two light castle rows, on two different cards (M-8.2)."""

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask for the first."""
        game.stack.append(LightRows(seat, 0))


class LightRows(Step):
    """A light castle row of a card that was not used yet, or none (M-8.2)."""

    def __init__(self, seat: int, rooms: int) -> None:
        super().__init__(seat, "M-8.2")
        self.rooms = rooms  # bit mask of those used

    def fault(self, game: CastleGame) -> str:
        return "" if self.rooms.bit_count() < 2 else "two rows were performed (M-8.2)"

    def row(self, game: CastleGame, action: int) -> Row:
        """The row that an answer names."""
        number = action - ROW
        return game.tables.of(game.rooms[ROW_ROOM[number]]).rows[ROW_PLACE[number]]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        """Any of the thirteen rows."""
        return (DONE, *range(ROW, ROW + len(ROW_ROOM)))

    def blocked(self, game: CastleGame, action: int) -> int:
        """Light, and of another card."""
        if action == DONE:
            return 0
        room = ROW_ROOM[action - ROW]
        if game.rooms[room] == 0:
            return NO_CARD
        if self.rooms >> room & 1:
            return USED
        return DARK if self.row(game, action).dark else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Say which of the conditions fails."""
        if block == NO_CARD:
            return "the room waits for its next card", "B-4.4"
        if block == USED:
            return "a row of that card was performed already", "M-8.2"
        return "that row is dark, the tile shows light ones", "M-8.2"

    def question(self, game: CastleGame) -> str:
        """Ask for the row."""
        return f"choose a light castle row ({2 - self.rooms.bit_count()} to come)"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform it; then one of another card."""
        if action == DONE:
            return
        used = self.rooms | 1 << ROW_ROOM[action - ROW]
        if used.bit_count() < 2:
            game.stack.append(LightRows(self.seat, used))
        perform(game, self.seat, self.row(game, action), "M-8.2")


class YardTilesIcon(Effect):
    """One blue yard face in play, or both yellow ones, without iron or warrior (M-8.2)."""

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        blue = sum([1 << slot for slot in BLUE_TILES])
        if self.text == "yard-tile blue":
            game.stack.append(OneYardTile(seat, blue))
        else:
            game.stack.append(YardTiles(seat, (1 << len(YARD_TILE_NAMES)) - 1 - blue))


class OneYardTile(YardTiles):
    """One of the yard tiles, or none (M-8.2)."""

    def __init__(self, seat: int, tiles: int) -> None:
        super().__init__(seat, tiles)
        self.rule = "M-8.2"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Use it; the others are not on offer any more."""
        if action != DONE:
            yard_effect(game, action - YARD_TILE).start(game, self.seat, "M-8.2")


class StoneGardensIcon(Effect):
    """The rewards of two different stone gardens in play, no gardener needed (M-8.2)."""

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask for the first."""
        game.stack.append(StoneGardens(seat, 0))


class StoneGardens(Step):
    """A stone garden that was not used yet, or none (M-8.2)."""

    def __init__(self, seat: int, gardens: int) -> None:
        super().__init__(seat, "M-8.2")
        self.gardens = gardens  # bit mask of those used

    def fault(self, game: CastleGame) -> str:
        return "" if self.gardens.bit_count() < 2 else "two gardens were used (M-8.2)"

    def row(self, game: CastleGame, action: int) -> Row:
        """The face of the garden that an answer names."""
        return game.tables.of(game.gardens[action - ACTIVATE]).rows[0]

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, *range(ACTIVATE, ACTIVATE + GARDENS))

    def blocked(self, game: CastleGame, action: int) -> int:
        """A stone garden, another one, and its price."""
        if action == DONE:
            return 0
        garden = action - ACTIVATE
        if garden % 2 == 0:
            return KIND
        if self.gardens >> garden & 1:
            return USED
        row = self.row(game, action)
        return PRICE if game.has(self.seat, row.cost_good) < row.cost else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        if block == PRICE:
            return price_refusal(game, self.seat, self.row(game, action)), "M-8.2"
        return ("a plant garden" if block == KIND else "that garden was used already"), "M-8.2"

    def question(self, game: CastleGame) -> str:
        """Ask for a garden."""
        return f"choose a stone garden ({2 - self.gardens.bit_count()} to come)"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Perform it; then another one."""
        if action == DONE:
            return
        used = self.gardens | 1 << action - ACTIVATE
        if used.bit_count() < 2:
            game.stack.append(StoneGardens(self.seat, used))
        game.note(EFFECT, self.seat, game.gardens[action - ACTIVATE], 0, "M-8.2")
        perform(game, self.seat, self.row(game, action), "M-8.2")


class ClimbIcon(Effect):
    """The climb of COURTIER by one floor, without pearl (M-8.2)."""

    def start(self, game: CastleGame, seat: int, rule: str) -> None:
        """Ask for the courtier."""
        game.stack.append(FreeClimb(seat))


class FreeClimb(Step):
    """A courtier climbs one floor for nothing, or none does (M-8.2)."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "M-8.2")

    def candidates(self, game: CastleGame) -> Sequence[int]:
        return (DONE, *range(CLIMB, CLIMB + len(CLIMBS)))

    def blocked(self, game: CastleGame, action: int) -> int:
        """One floor, from where a courtier is."""
        if action == DONE:
            return 0
        start, end = CLIMBS[action - CLIMB]
        if FLOOR_OF_PLACE[end] - FLOOR_OF_PLACE[start] > 1:
            return FAR
        if game.courtiers[self.seat * COURTIER_PLACES + start] == 0:
            return NO_MEMBER
        return NO_CARD if must_wait(game, end) else 0

    def explain(self, game: CastleGame, action: int, block: int) -> tuple[str, str]:
        """Too far, or nobody there."""
        if block == FAR:
            return "the tile gives one floor", "M-8.2"
        if block == NO_CARD:
            return "a room waits for its next card", "B-4.4"
        start = PLACE_NAMES[CLIMBS[action - CLIMB][0]]
        return f"seat {self.seat} has no courtier at {start}", "M-8.2"

    def question(self, game: CastleGame) -> str:
        """Ask for the climb."""
        return "climb one floor without pearl"

    def resolve(self, game: CastleGame, action: int) -> None:
        """Climb, and meet what is there (B-4.4, B-4.5)."""
        if action != DONE:
            start, end = CLIMBS[action - CLIMB]
            move_courtier(game, self.seat, start, end, "M-8.2")
            arrive(game, self.seat, end)
