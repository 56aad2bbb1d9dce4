"""Clan Seals on the board: gardens (D-6.2) and training yards (D-6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import DONE, FOOD, IRON, count
from himeji.rules.duel.constants import (
    COLUMN_NAMES,
    COLUMNS,
    GARDEN,
    REWARD,
    SEAL_PLACED,
    STONE_COLUMNS,
    TRAIN,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.well import Priced
from himeji.rules.game import Step

FULL: Final = 1  # blocked: no empty space
NO_SEAL: Final = 2  # blocked: no Clan Seal left
PRICE: Final = 3  # blocked: too little to pay with

_COLUMNS: Final = tuple(range(GARDEN, GARDEN + COLUMNS))
_YARDS: Final = (TRAIN, TRAIN + 1)


class Garden(Priced):
    """Put a Clan Seal into a garden column and gain its tile's reward (D-6.2)."""

    def __init__(self, seat: int, discount: int, *, optional: bool) -> None:
        super().__init__(seat, "D-6.2", discount, optional=optional)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return (DONE, *_COLUMNS) if self.optional else _COLUMNS

    def price(self, game: DuelGame, action: int) -> int:
        """Food, less the discount (D-6.9)."""
        return self.lowered(game.tables.column_food[action - GARDEN])

    def blocked(self, game: DuelGame, action: int) -> int:
        """An empty space, a Clan Seal, and the food."""
        if action == DONE:
            return 0
        column = action - GARDEN
        taken = game.garden_seals[column] + game.garden_seals[COLUMNS + column]
        if taken >= game.tables.column_spaces:
            return FULL
        if game.has(self.seat, FOOD) < self.price(game, action):
            return PRICE
        return NO_SEAL if game.seals_placed(self.seat) >= game.tables.clan_seals else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        if block == FULL:
            return f"{COLUMN_NAMES[action - GARDEN]} has no empty space", "D-6.2"
        return explain_seal(game, self.seat, FOOD, self.price(game, action), block), "D-6.2"

    def question(self, game: DuelGame) -> str:
        """Ask for the column."""
        return "put a Clan Seal into a garden"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Pay, place, and gain the reward."""
        if action == DONE:
            return
        column = action - GARDEN
        game.pay(self.seat, FOOD, self.price(game, action), "D-6.2")
        game.garden_seals[self.seat * COLUMNS + column] += 1
        game.note(SEAL_PLACED, self.seat, column, 0, "D-6.2")
        tile = game.tables.of(game.gardens[column])
        tile.faces[int(column >= STONE_COLUMNS)].start(game, self.seat, "D-6.2")


def explain_seal(game: DuelGame, seat: int, good: int, price: int, block: int) -> str:
    """Why a Clan Seal cannot be placed: none is left, or its price cannot be paid."""
    if block == NO_SEAL:
        return f"seat {seat} has placed all its {game.tables.clan_seals} Clan Seals"
    return f"it costs {count(price, good)}, seat {seat} has {game.has(seat, good)}"


class Training(Priced):
    """Put a Clan Seal on a yard tile and gain one of its two rewards (D-6.3)."""

    def __init__(self, seat: int, discount: int, *, optional: bool) -> None:
        super().__init__(seat, "D-6.3", discount, optional=optional)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return (DONE, *_YARDS) if self.optional else _YARDS

    def price(self, game: DuelGame, action: int) -> int:
        """Iron, less the discount (D-6.9)."""
        return self.lowered(game.tables.yard_iron[action - TRAIN])

    def blocked(self, game: DuelGame, action: int) -> int:
        """An empty space, a Clan Seal, and the iron."""
        if action == DONE:
            return 0
        yard = action - TRAIN
        if game.yard_seals[yard] + game.yard_seals[YARDS + yard] >= game.tables.yard_spaces[yard]:
            return FULL
        if game.has(self.seat, IRON) < self.price(game, action):
            return PRICE
        return NO_SEAL if game.seals_placed(self.seat) >= game.tables.clan_seals else 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        if block == FULL:
            return f"the {YARD_NAMES[action - TRAIN]} yard has no empty space", "D-6.3"
        return explain_seal(game, self.seat, IRON, self.price(game, action), block), "D-6.3"

    def question(self, game: DuelGame) -> str:
        """Ask for the yard."""
        return "put a Clan Seal on a training yard"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Pay, place, and ask for the reward."""
        if action == DONE:
            return
        yard = action - TRAIN
        game.pay(self.seat, IRON, self.price(game, action), "D-6.3")
        game.yard_seals[self.seat * YARDS + yard] += 1
        game.note(SEAL_PLACED, self.seat, COLUMNS + yard, 0, "D-6.3")
        game.stack.append(YardReward(self.seat, yard))


class YardReward(Step):
    """One of the two rewards of a yard tile (D-6.3)."""

    def __init__(self, seat: int, yard: int) -> None:
        super().__init__(seat, "D-6.3")
        self.yard = yard

    def fault(self, game: DuelGame) -> str:
        placed = game.yard_seals[self.seat * YARDS + self.yard]
        name = YARD_NAMES[self.yard]
        return "" if placed else f"seat {self.seat} has no Clan Seal in the {name} yard (D-6.3)"

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return (REWARD, REWARD + 1)

    def question(self, game: DuelGame) -> str:
        """Ask for the reward."""
        faces = game.tables.of(game.yards[self.yard]).faces
        return f"choose “{faces[0].text}” or “{faces[1].text}”"

    def resolve(self, game: DuelGame, action: int) -> None:
        tile = game.tables.of(game.yards[self.yard])
        tile.faces[action - REWARD].start(game, self.seat, "D-6.3")
