"""Bots of four strengths: the stronger, the more often one plays the greedy bot's action."""

import random

from himeji_bots.greedy import GreedyBot
from himeji_sdk import Bot


class Fighter(Bot):
    """Plays the greedy bot's action in a share of its decisions, and any in the others."""

    care = 0.0

    def __init__(self):
        self._greedy = GreedyBot()
        self._chance = random.Random()

    def choose(self, game, legal):
        if self._chance.random() < self.care:
            return self._greedy.choose(game, legal)
        return self._chance.choice(legal)


class Level0(Fighter):
    """Takes anything."""


class Level1(Fighter):
    """Takes care now and then."""

    care = 0.25


class Level2(Fighter):
    """Takes care often."""

    care = 0.6


class Level3(Fighter):
    """Takes care always."""

    care = 1.0


LEVELS = (Level0, Level1, Level2, Level3)
