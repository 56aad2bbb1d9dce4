"""Several things at once: their owner chooses the order, where it can change something (B-2.8).

Most units are goods only, and then nothing is asked. Where a checkpoint, a worker action or an
icon that points elsewhere is among the parts, every order is tried on copies, and the question
is put only if two of its answers lead to different positions. The copies draw from a chance of
their own: what is asked never depends on cards that nobody has seen, and a bot's mirror asks the
same as the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from himeji.rules.chance import Fast
from himeji.rules.constants import DONE, PERFORM
from himeji.rules.effects import (
    FREE_SCOPE,
    GOODS_SCOPE,
    OPEN_SCOPE,
    SEALS_SCOPE,
    STEPS_SCOPE,
    Effect,
)
from himeji.rules.game import Game, Step

MOST_TRIED: Final = 1000  # positions for one answer; an order with more consequences is asked


def grant(game: Game, seat: int, effects: tuple[Effect, ...], rule: str) -> None:
    """Grant effects to a seat: in the order their owner likes, where it can matter."""
    if len(effects) == 1:
        effects[0].start(game, seat, rule)
    elif can_meet(game, seat, effects):
        game.stack.append(EffectOrder(seat, effects, rule))
    else:
        start_all(game, seat, effects, rule)


def can_meet(game: Game, seat: int, effects: tuple[Effect, ...]) -> bool:
    """Whether two parts may change what the other one does.

    Goods meet nothing but an open part, so that most units are decided by fixed numbers.
    """
    fixed = 0
    for effect in effects:
        fixed |= effect.own_scope
    if not fixed & (STEPS_SCOPE | OPEN_SCOPE):
        return False
    steps = seals = -1  # the kinds of part that have them
    for effect in effects:
        scope = effect.scope(game, seat)
        if scope & OPEN_SCOPE:
            return True
        if scope & STEPS_SCOPE:
            if steps not in (-1, effect.order) or seals not in (-1, effect.order):
                return True
            steps = effect.order
        if scope & SEALS_SCOPE:
            if steps not in (-1, effect.order):
                return True
            seals = effect.order
    return False


def start_all(game: Game, seat: int, effects: tuple[Effect, ...], rule: str) -> None:
    """Start parts whose order does not matter: gains, then the others, *any* is asked last."""
    for effect in effects:
        if effect.own_scope == GOODS_SCOPE and not effect.plain:
            effect.start(game, seat, rule)  # it asks, so it is started first to be on top last
    for effect in effects:
        if effect.plain:
            effect.start(game, seat, rule)
    for effect in effects:
        if effect.own_scope != GOODS_SCOPE and not effect.plain:
            effect.start(game, seat, rule)


class EffectOrder(Step):
    """Several things that happen at once: their owner chooses what comes first."""

    def __init__(self, seat: int, effects: tuple[Effect, ...], rule: str) -> None:
        super().__init__(seat, rule)
        self.effects = effects

    def fault(self, game: Game) -> str:
        strange = [effect.text for effect in self.effects if effect.order == 0]
        return f"{', '.join(strange)}: nothing that a seat is granted" if strange else ""

    def candidates(self, game: Game) -> Sequence[int]:
        """One answer for each kind of part whose place in the order can matter."""
        effects = self.effects
        if len(effects) < 2 or not can_meet(game, self.seat, effects):
            return ()
        scopes = [effect.scope(game, self.seat) for effect in effects]
        scope = 0
        for each in scopes:
            scope |= each
        if free_gains(effects, scope):
            return ()
        met = SEALS_SCOPE | STEPS_SCOPE | OPEN_SCOPE
        if scope & OPEN_SCOPE:
            met |= GOODS_SCOPE
        orders: list[int] = []
        for number, effect in enumerate(effects):
            if effect.order not in orders and scopes[number] & met:
                orders.append(effect.order)
        if len(orders) < 2:
            return ()
        orders.sort()
        # On a copy on which orders are being tried, all of them are.
        asked = isinstance(game.stack[0], UnitEnd) or self.matters(game, orders, scope)
        return orders if asked else ()

    def matters(self, game: Game, orders: list[int], scope: int) -> bool:
        """Whether two of the answers lead to different positions once all parts are done."""
        if scope & OPEN_SCOPE and scope & SEALS_SCOPE:
            return True  # what the seals are exchanged for may pay for the other part
        known: set[bytes] = set()
        for order in orders:
            twin = game.clone()
            twin.chance = Fast(0)
            twin.stack = [UnitEnd(self.seat)]
            self.resolve(twin, order)
            twin.advance()
            found = outcomes(twin)
            if not found or (known and found != known):
                return True
            known = found
        return False

    def question(self, game: Game) -> str:
        """Ask for the order."""
        return f"choose what comes first of {', '.join(effect.text for effect in self.effects)}"

    def run(self, game: Game) -> None:
        """No order to choose: what is gained may pay for worker actions, so those come last."""
        effects, seat = self.effects, self.seat
        if not can_meet(game, seat, effects):
            start_all(game, seat, effects, self.rule)
            return
        is_open = [effect.scope(game, seat) & OPEN_SCOPE > 0 for effect in effects]
        gains = free_gains(effects, OPEN_SCOPE if any(is_open) else 0)
        if gains:
            self.take(game, gains)
            return
        closed = [effect for number, effect in enumerate(effects) if not is_open[number]]
        self.resolve(game, (closed or effects)[0].order)

    def resolve(self, game: Game, action: int) -> None:
        """Take the chosen part, the others afterwards."""
        first = next(effect for effect in self.effects if effect.order == action)
        self.take(game, [each for each in self.effects if each.plain] if first.plain else [first])

    def take(self, game: Game, parts: list[Effect]) -> None:
        """Take parts that are done before the others."""
        rest = list(self.effects)
        for effect in parts:
            rest.remove(effect)
        if rest:
            game.stack.append(EffectOrder(self.seat, tuple(rest), self.rule))
        for effect in parts:
            effect.start(game, self.seat, self.rule)


def joint_scope(game: Game, seat: int, effects: tuple[Effect, ...]) -> int:
    """The scope of several effects together."""
    scope = 0
    for effect in effects:
        scope |= effect.scope(game, seat)
    return scope


def free_gains(effects: tuple[Effect, ...], scope: int) -> list[Effect]:
    """The gains that can be taken first whatever else is among the parts."""
    if scope & OPEN_SCOPE:
        return [effect for effect in effects if effect.plain and effect.own_scope == FREE_SCOPE]
    return [effect for effect in effects if effect.plain]


# --- trying orders on copies ----------------------------------------------------------------------


class UnitEnd(Step):
    """The end of the parts: a copy stops here, as two answers are open."""

    def __init__(self, seat: int) -> None:
        super().__init__(seat, "B-2.8")

    def candidates(self, game: Game) -> Sequence[int]:
        return (DONE, PERFORM)


def outcomes(start: Game) -> set[bytes]:
    """Every position in which the parts are done; none if there are too many on the way.

    Exchanges are left out: they stay possible at the next decision.
    """
    found: set[bytes] = set()
    seen: set[bytes] = set()
    todo = [start]
    while todo:
        game = todo.pop()
        stack = game.stack
        game.stack = stack[1:]  # no position knows the end of a unit
        position = game.dumps()
        game.stack = stack
        if position in seen:
            continue
        if len(seen) == MOST_TRIED:
            return set()
        seen.add(position)
        if len(stack) == 1:
            found.add(position)
            continue
        for action in game.answers:
            if game.free_answer_rule(action) == "":
                twin = game.clone()
                twin.play(action)
                todo.append(twin)
    return found
