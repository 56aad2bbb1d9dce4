"""The random bot: any legal action, each as likely as the other.

The weakest bot there is, and the shortest: copy this file to begin a bot of your own.
"""

import random

from himeji.rules import Game
from himeji_sdk import Bot


class RandomBot(Bot):
    """Plays at random; with a seed, the same games again."""

    name = "random"

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret

    def choose(self, game: Game, legal: list[int]) -> int:
        """Take any legal action."""
        return self._random.choice(legal)
