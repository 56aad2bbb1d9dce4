"""mybot: a bot for Himeji. Change `choose` and see whether it plays better.

himeji play mybot greedy --watch           a game here, drawn choice by choice
himeji doctor mybot                        is it fit for an arena?
himeji run mybot --against house/greedy    a game online, against the house
python mybot.py                            its test
"""

import random

from himeji.rules import Game

from himeji_sdk import Bot, play

TRIES = 4


class MyBot(Bot):
    """Plays on at random after each action, a few times, and takes the one that ended best."""

    name = "mybot"

    def __init__(self) -> None:
        self._random = random.Random(7)

    def choose(self, game: Game, legal: list[int]) -> int:
        """Answer with one of the legal actions."""
        me = game.to_move
        assert me is not None  # somebody is asked, and it is this bot

        def points(action: int) -> int:
            after = game.clone()
            after.apply(action)
            return sum(after.playout(self._random)[me] for _ in range(TRIES))

        return max(legal, key=points)


def test_it_plays_whole_games_at_every_table() -> None:
    for seats in (2, 3, 4):
        played = play([MyBot] * seats, seed=seats)
        assert played.game.over


if __name__ == "__main__":
    test_it_plays_whole_games_at_every_table()
    print("mybot plays whole games with 2, 3 and 4 seats")
