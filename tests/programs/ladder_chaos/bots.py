"""Bots of four strengths: the stronger, the more often one plays the greedy bot's action."""

import random

from himeji_bots.greedy import GreedyBot
from himeji_sdk import Bot


class MixedBot(Bot):
    """Plays the greedy bot's action in a share of its decisions, and a random one otherwise."""

    greedy_share = 0.0

    def __init__(self):
        self._greedy = GreedyBot()
        self._random = random.Random()

    def choose(self, game, legal):
        if self._random.random() < self.greedy_share:
            return self._greedy.choose(game, legal)
        return self._random.choice(legal)


class Level0(MixedBot):
    greedy_share = 0.0


class Level1(MixedBot):
    greedy_share = 0.25


class Level2(MixedBot):
    greedy_share = 0.6


class Level3(MixedBot):
    greedy_share = 1.0


LEVELS = (Level0, Level1, Level2, Level3)
