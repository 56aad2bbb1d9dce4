"""Coins and seals: gaining them, choosing between them, and the limit of the storage (D-7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.constants import COIN, GOOD_NAMES, GOODS, SEAL
from himeji.rules.duel.constants import (
    CHOOSE_COIN,
    CHOOSE_SEAL,
    DISCARD_COIN,
    DISCARD_SEAL,
    DISCARDED,
    LOSE_COIN,
    LOSE_SEAL,
)
from himeji.rules.duel.state import DuelGame
from himeji.rules.effects import GOODS_SCOPE, Effect
from himeji.rules.gains import MOST_AMOUNT, amount_fault
from himeji.rules.game import LOST, Step

RULE: Final = "D-7.1"
NONE_HELD: Final = 1  # blocked: no piece of that kind can be discarded


class GainPieces(Effect):
    """Coins or seals."""

    def __init__(self, good: int, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} {GOOD_NAMES[good]}", code, order, scope=GOODS_SCOPE)
        self.good = good
        self.amount = amount

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        if self.good == COIN:
            stow(game, seat, self.amount, 0, rule)
        else:
            stow(game, seat, 0, self.amount, rule)


class GainEither(Effect):
    """Coins and seals in a mix of the owner's choice, unit by unit."""

    def __init__(self, amount: int, code: int, order: int) -> None:
        super().__init__(f"{amount} coin/seal", code, order, scope=GOODS_SCOPE)
        self.amount = amount

    def start(self, game: DuelGame, seat: int, rule: str) -> None:
        """Ask for the first unit."""
        game.stack.append(ChoosePiece(seat, self.amount, rule))


class ChoosePiece(Step):
    """A coin or a seal, one unit after the other."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: DuelGame) -> str:
        return amount_fault(self.amount)

    def candidates(self, game: DuelGame) -> Sequence[int]:
        return (CHOOSE_COIN, CHOOSE_SEAL)

    def question(self, game: DuelGame) -> str:
        """Ask for one unit."""
        return f"choose a coin or a seal ({self.amount} to come)"

    def resolve(self, game: DuelGame, action: int) -> None:
        """Store the unit, then ask for the next."""
        if self.amount > 1:
            game.stack.append(ChoosePiece(self.seat, self.amount - 1, self.rule))
        stow_chosen(game, self.seat, action, self.rule)


def stow_chosen(game: DuelGame, seat: int, action: int, rule: str) -> None:
    """Store the one piece that an answer chose."""
    if action == CHOOSE_COIN:
        stow(game, seat, 1, 0, rule)
    else:
        stow(game, seat, 0, 1, rule)


def room(game: DuelGame, seat: int) -> int:
    """How many further pieces fit into the storage."""
    at = seat * GOODS
    return game.tables.storage - game.goods[at + COIN] - game.goods[at + SEAL]


def stow(game: DuelGame, seat: int, coins: int, seals: int, rule: str) -> None:
    """Gain coins and seals; ask their owner, if not all of them fit (D-7.1)."""
    if coins + seals > room(game, seat):
        game.stack.append(Stow(seat, coins, seals))
        return
    if coins:
        game.gain(seat, COIN, coins, rule)
    if seals:
        game.gain(seat, SEAL, seals, rule)


class Stow(Step):
    """More pieces than fit: unit by unit, lose the new one or discard one of the other kind."""

    def __init__(self, seat: int, coins: int, seals: int) -> None:
        super().__init__(seat, RULE)
        self.coins = coins
        self.seals = seals

    def fault(self, game: DuelGame) -> str:
        return "" if 0 < self.coins + self.seals < 2 * MOST_AMOUNT else "no icon gives so much"

    def candidates(self, game: DuelGame) -> Sequence[int]:
        """Which comes first, while there is room; then what is lost or discarded."""
        free = room(game, self.seat)
        if free >= self.coins + self.seals:
            return ()
        if free > 0:
            return (CHOOSE_COIN, CHOOSE_SEAL) if self.coins and self.seals else ()
        if not self.seals:
            return (LOSE_COIN, DISCARD_SEAL)
        if not self.coins:
            return (LOSE_SEAL, DISCARD_COIN)
        return (LOSE_COIN, LOSE_SEAL, DISCARD_COIN, DISCARD_SEAL)

    def blocked(self, game: DuelGame, action: int) -> int:
        """A piece that is discarded must be held."""
        if action == DISCARD_COIN:
            return 0 if game.has(self.seat, COIN) else NONE_HELD
        if action == DISCARD_SEAL:
            return 0 if game.has(self.seat, SEAL) else NONE_HELD
        return 0

    def explain(self, game: DuelGame, action: int, block: int) -> tuple[str, str]:
        name = "coin" if action == DISCARD_COIN else "seal"
        return f"seat {self.seat} holds no {name}", RULE

    def question(self, game: DuelGame) -> str:
        """Ask what becomes of the next piece."""
        coming = ["coin"] * self.coins + ["seal"] * self.seals
        return f"make room for what does not fit ({', '.join(coming)} to come)"

    def run(self, game: DuelGame) -> None:
        """All of it fits, or there is room for some of one kind."""
        free = room(game, self.seat)
        coins = min(self.coins, free)
        seals = min(self.seals, free - coins)
        self._go_on(game, coins, seals)
        stow(game, self.seat, coins, seals, RULE)

    def resolve(self, game: DuelGame, action: int) -> None:
        """One piece is stored, lost, or replaces a held one."""
        is_coin = action in (CHOOSE_COIN, LOSE_COIN, DISCARD_SEAL)
        self._go_on(game, int(is_coin), int(not is_coin))
        good, other = (COIN, SEAL) if is_coin else (SEAL, COIN)
        if action in (LOSE_COIN, LOSE_SEAL):
            game.note(LOST, self.seat, good, 1, RULE)
            return
        if action in (DISCARD_COIN, DISCARD_SEAL):
            game.goods[self.seat * GOODS + other] -= 1
            game.note(DISCARDED, self.seat, other, 1, RULE)
        game.gain(self.seat, good, 1, RULE)

    def _go_on(self, game: DuelGame, coins: int, seals: int) -> None:
        """What remains after so many pieces is asked next."""
        coins, seals = self.coins - coins, self.seals - seals
        if coins or seals:
            game.stack.append(Stow(self.seat, coins, seals))
