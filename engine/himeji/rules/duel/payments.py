"""Payments that leave a choice: any resources, or coins and seals in any mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.clans import ClanGame
from himeji.rules.constants import COIN, FOOD, GOODS, IRON, PEARL, SEAL, count
from himeji.rules.duel.components import ANY_PIECE, ANY_RESOURCE, Price
from himeji.rules.duel.constants import (
    ANY_PAYMENTS,
    MOST_PAID,
    PAY_ANY,
    PAY_PIECES,
    PAYING_ANY,
    PAYING_PIECES,
    PIECE_PAYMENTS,
)
from himeji.rules.game import Step

TOO_LITTLE: Final = 1  # blocked: not so much of something is held


def affordable(game: ClanGame, seat: int, price: Price) -> bool:
    """Whether a seat can pay a price now."""
    at = seat * GOODS
    if price.good == ANY_PIECE:
        return game.goods[at + COIN] + game.goods[at + SEAL] >= price.amount
    if price.good == ANY_RESOURCE:
        return resources_held(game, seat) >= price.amount
    return game.goods[at + price.good] >= price.amount


def pay_price(game: ClanGame, seat: int, price: Price, rule: str) -> None:
    """Pay a price that is affordable, or ask what it is paid with."""
    if price.good == ANY_PIECE:
        game.stack.append(PayPieces(seat, price.amount, rule))
    elif price.good == ANY_RESOURCE:
        game.stack.append(PayResources(seat, price.amount, rule))
    else:
        game.pay(seat, price.good, price.amount, rule)


def lack(game: ClanGame, seat: int, price: Price) -> str:
    """The sentence for a price that cannot be paid."""
    at = seat * GOODS
    if price.good == ANY_PIECE:
        held = game.goods[at + COIN] + game.goods[at + SEAL]
        return f"it costs {price.amount} coins or seals, seat {seat} has {held}"
    if price.good == ANY_RESOURCE:
        held = resources_held(game, seat)
        return f"it costs {price.amount} of any resource, seat {seat} has {held}"
    held = game.goods[at + price.good]
    return f"it costs {count(price.amount, price.good)}, seat {seat} has {held}"


def resources_held(game: ClanGame, seat: int) -> int:
    """Units of food, iron and pearl together."""
    at = seat * GOODS
    return game.goods[at + FOOD] + game.goods[at + IRON] + game.goods[at + PEARL]


class PayPieces(Step):
    """Pay coins and seals in any mix (D-6.1)."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: ClanGame) -> str:
        if not 1 <= self.amount <= MOST_PAID:
            return f"a payment in any mix is 1 to {MOST_PAID} pieces"
        price = Price(self.amount, ANY_PIECE)
        return "" if affordable(game, self.seat, price) else lack(game, self.seat, price)

    def candidates(self, game: ClanGame) -> Sequence[int]:
        """Every mix of that amount."""
        return PAYING_PIECES[self.amount]

    def blocked(self, game: ClanGame, action: int) -> int:
        """The pieces must be held."""
        coins, seals = PIECE_PAYMENTS[action - PAY_PIECES]
        at = self.seat * GOODS
        held = coins <= game.goods[at + COIN] and seals <= game.goods[at + SEAL]
        return 0 if held else TOO_LITTLE

    def explain(self, game: ClanGame, action: int, block: int) -> tuple[str, str]:
        coins, seals = game.has(self.seat, COIN), game.has(self.seat, SEAL)
        held = f"{count(coins, COIN)} and {count(seals, SEAL)}"
        return f"seat {self.seat} has {held}", self.rule

    def question(self, game: ClanGame) -> str:
        """Ask for the mix."""
        return f"pay {self.amount} in coins and seals"

    def resolve(self, game: ClanGame, action: int) -> None:
        coins, seals = PIECE_PAYMENTS[action - PAY_PIECES]
        game.pay(self.seat, COIN, coins, self.rule)
        game.pay(self.seat, SEAL, seals, self.rule)


class PayResources(Step):
    """Pay resources of any kinds (D-6.5)."""

    def __init__(self, seat: int, amount: int, rule: str) -> None:
        super().__init__(seat, rule)
        self.amount = amount

    def fault(self, game: ClanGame) -> str:
        if not 1 <= self.amount <= MOST_PAID:
            return f"a payment in any resources is 1 to {MOST_PAID} units"
        price = Price(self.amount, ANY_RESOURCE)
        return "" if affordable(game, self.seat, price) else lack(game, self.seat, price)

    def candidates(self, game: ClanGame) -> Sequence[int]:
        """Every sum of that amount."""
        return PAYING_ANY[self.amount]

    def blocked(self, game: ClanGame, action: int) -> int:
        """The units must be held."""
        food, iron, pearl = ANY_PAYMENTS[action - PAY_ANY]
        at, goods = self.seat * GOODS, game.goods
        if food <= goods[at + FOOD] and iron <= goods[at + IRON] and pearl <= goods[at + PEARL]:
            return 0
        return TOO_LITTLE

    def explain(self, game: ClanGame, action: int, block: int) -> tuple[str, str]:
        held = ", ".join([count(game.has(self.seat, good), good) for good in (FOOD, IRON, PEARL)])
        return f"seat {self.seat} has {held}", self.rule

    def question(self, game: ClanGame) -> str:
        """Ask for the units."""
        return f"pay {self.amount} of any resource"

    def resolve(self, game: ClanGame, action: int) -> None:
        food, iron, pearl = ANY_PAYMENTS[action - PAY_ANY]
        game.pay(self.seat, FOOD, food, self.rule)
        game.pay(self.seat, IRON, iron, self.rule)
        game.pay(self.seat, PEARL, pearl, self.rule)
