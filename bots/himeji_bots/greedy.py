"""The greedy bot: it looks one decision ahead and takes what promises most.

It plays each legal action on a copy and asks for an estimate of the final points. It never thinks
about what others will do, nor about its own next decision.
"""

from himeji.rules import Game
from himeji_sdk import Bot

from himeji_bots.evaluation import estimate, lead


class GreedyBot(Bot):
    """Takes the action after which it is farthest ahead, the first of them if several are."""

    name = "greedy"

    def choose(self, game: Game, legal: list[int]) -> int:
        """Try every action on a copy."""
        seat = game.to_move
        assert seat is not None  # noqa: S101 - only a seat that moves is asked

        def promise(action: int) -> float:
            after = game.clone()
            after.apply(action)
            return lead(estimate(after), seat)

        return max(legal, key=promise)
