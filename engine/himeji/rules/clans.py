"""Games of clans that hold goods: what they gain, pay and exchange, and how they are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from himeji.rules.chance import Chance
from himeji.rules.constants import (
    COIN,
    DONE,
    EXCHANGE_COIN,
    EXCHANGE_RESOURCE,
    GOOD_NAMES,
    GOODS,
    LAST_EXCHANGE,
    SEAL,
    count,
)
from himeji.rules.game import GAIN, LOST, PAY, Game, Step

if TYPE_CHECKING:
    from himeji.rules.ruleset import Ruleset


class ClanGame(Game):
    """A game whose clans hold goods; seals may be exchanged at every decision of one's own."""

    def __init__(
        self, ruleset: Ruleset, seats: int, clans: int, chance: Chance, caps: list[int]
    ) -> None:
        super().__init__(ruleset, seats, chance)
        self.clans = clans  # seats, and the rival where there is one
        self.caps = caps  # by good
        self.drafting = True  # the set-up is not over: no exchanges yet
        self.goods: list[int] = [0] * (clans * GOODS)  # clan * GOODS + good

    # --- goods --------------------------------------------------------------------------------

    def has(self, seat: int, good: int) -> int:
        """How much of a good the seat holds."""
        return self.goods[seat * GOODS + good]

    def gain(self, seat: int, good: int, amount: int, rule: str) -> None:
        """Take a gain; what goes beyond the cap is lost."""
        at = seat * GOODS + good
        held = self.goods[at]
        room = self.caps[good] - held
        taken = min(amount, room)
        self.goods[at] = held + taken
        if self.log is not None:
            self.log.append((GAIN, seat, good, taken, rule))
            if taken < amount:
                self.log.append((LOST, seat, good, amount - taken, self.ruleset.cap_rule))

    def pay(self, seat: int, good: int, amount: int, rule: str) -> None:
        """Pay what was checked to be there."""
        if amount:
            self.goods[seat * GOODS + good] -= amount
            if self.log is not None:
                self.log.append((PAY, seat, good, amount, rule))

    # --- exchanges ----------------------------------------------------------------------------

    def spare_seals(self, step: Step) -> int:
        """How many seals may be exchanged at this decision: all, unless it needs some."""
        return self.goods[step.seat * GOODS + SEAL]

    def free_answers(self, step: Step) -> list[int]:
        """Exchanges of seals, open at every decision of the seat's own."""
        seals = self.spare_seals(step)
        if seals < self.ruleset.least_exchange or self.drafting:
            return []
        answers = [EXCHANGE_COIN] if self.ruleset.least_exchange == 1 else []
        if seals >= 2:
            at = step.seat * GOODS
            answers += [
                EXCHANGE_RESOURCE + good
                for good in self.ruleset.exchanges
                if self.goods[at + good] < self.caps[good]
            ]
        return answers

    def free_answer(self, seat: int, action: int) -> bool:
        """Exchange 1 seal for 1 coin, or 2 seals for 1 resource."""
        if action > LAST_EXCHANGE:
            return False
        rule = self.ruleset.exchange_rule
        if action == EXCHANGE_COIN:
            self.pay(seat, SEAL, 1, rule)
            self.gain(seat, COIN, 1, rule)
        else:
            self.pay(seat, SEAL, 2, rule)
            self.gain(seat, action - EXCHANGE_RESOURCE, 1, rule)
        return True

    def free_answer_rule(self, action: int) -> str:
        """The paragraph on exchanges."""
        return self.ruleset.exchange_rule if action <= LAST_EXCHANGE else ""

    def explain_free_answer(self, step: Step, action: int) -> tuple[str, str] | None:
        """Why seals cannot be exchanged like that now."""
        if action > LAST_EXCHANGE:
            return None
        rule = self.ruleset.exchange_rule
        if self.drafting:
            return "seals cannot be exchanged during set-up", rule
        price = 1 if action == EXCHANGE_COIN else 2
        seals = self.has(step.seat, SEAL)
        if seals < price:
            return f"that costs {count(price, SEAL)}, seat {step.seat} has {seals}", rule
        if self.spare_seals(step) < price:
            return "those seals are needed for what is being paid", rule
        return f"{GOOD_NAMES[action - EXCHANGE_RESOURCE]} stands at its cap", rule

    # --- results ------------------------------------------------------------------------------

    def breakdown(self) -> list[dict[str, int]]:
        """Points per clan by scoring line, as they would count if the game ended now."""
        lines = self.ruleset.scoring
        return [
            {line.name: line.points(self, clan) for line in lines} for clan in range(self.clans)
        ]

    def scores(self) -> list[int]:
        """Victory points per clan; the rival, where there is one, is the last."""
        lines = self.ruleset.scoring
        return [sum([line.points(self, clan) for line in lines]) for clan in range(self.clans)]

    def tie_break(self, clan: int) -> tuple[int, ...]:
        """What decides between equal scores, the most important first; more is better."""
        raise NotImplementedError

    def ranking(self) -> list[int]:
        """Rank per clan, 1 is best; clans that nothing tells apart share a rank."""
        scores = self.scores()
        standings = [(scores[clan], *self.tie_break(clan)) for clan in range(self.clans)]
        return [1 + sum([other > mine for other in standings]) for mine in standings]


class FinalExchange(Step):
    """Exchange seals for the last time, until done or nothing can be exchanged any more."""

    def candidates(self, game: Any) -> Sequence[int]:
        """Done, as long as an exchange is possible."""
        return (DONE,) if game.free_answers(self) else ()

    def question(self, game: Any) -> str:
        return "exchange the last seals, or be done"

    def run(self, game: Any) -> None:
        """Nothing can be exchanged."""

    def resolve(self, game: Any, action: int) -> None:
        """Done."""
