"""Several things at once: their owner chooses the order, where an order matters."""

from __future__ import annotations

from collections.abc import Sequence

from himeji.rules.effects import Effect
from himeji.rules.game import Game, Step


class EffectOrder(Step):
    """Several things that happen at once: their owner chooses what comes first."""

    def __init__(self, seat: int, effects: tuple[Effect, ...], rule: str) -> None:
        super().__init__(seat, rule)
        self.effects = effects

    def fault(self, game: Game) -> str:
        strange = [effect.text for effect in self.effects if effect.order == 0]
        return f"{', '.join(strange)}: nothing that a seat is granted" if strange else ""

    def candidates(self, game: Game) -> Sequence[int]:
        """One answer for each kind of part; gains that need no order are one part together."""
        effects = self.effects
        if len(effects) < 2:
            return ()
        orders = [effects[0].order]
        for effect in effects:
            if effect.order not in orders:
                orders.append(effect.order)
        if len(orders) == 1:
            return ()
        orders.sort()
        return orders

    def question(self, game: Game) -> str:
        """Ask for the order."""
        return f"choose what comes first of {', '.join(effect.text for effect in self.effects)}"

    def run(self, game: Game) -> None:
        """No order to choose: all parts are alike."""
        if self.effects:
            self.resolve(game, self.effects[0].order)

    def resolve(self, game: Game, action: int) -> None:
        """Take the chosen part, the others afterwards."""
        rest = list(self.effects)
        first = next(effect for effect in rest if effect.order == action)
        if first.plain:
            gains = [effect for effect in rest if effect.plain]
            rest = [effect for effect in rest if not effect.plain]
        else:
            gains = [first]
            rest.remove(first)
        if rest:
            game.stack.append(EffectOrder(self.seat, tuple(rest), self.rule))
        for effect in gains:
            effect.start(game, self.seat, self.rule)


def grant(game: Game, seat: int, effects: tuple[Effect, ...], rule: str) -> None:
    """Grant effects to a seat: a single one at once, several in the order their owner likes."""
    if len(effects) == 1:
        effects[0].start(game, seat, rule)
    elif effects:
        game.stack.append(EffectOrder(seat, effects, rule))
