"""Questions from the middle of games that others played: for checks that need no whole game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from himeji import rules

from himeji_sdk._bot import Maker, Player, Question, Start
from himeji_sdk.doctor._settings import Wishes

FEW: Final = 5


def seated(bot: Maker, wishes: Wishes, number: int) -> Player:
    """The bot as seat 0 of such a game; raises BotFault."""
    player, names = bot.player(), ("other",) * _seats(wishes)
    player.start(Start(wishes.ruleset, 0, names, wishes.options, _game_id(number)))
    return player


def questions(
    wishes: Wishes, number: int, first: int = 0, time_left: float | None = None
) -> Iterator[Question]:
    """A few questions to seat 0 of a game that is played at random, from the `first` one on."""
    rng = random.Random(number)  # noqa: S311 - a game, no secret
    seed = 1000 + number
    game = rules.new_game(wishes.ruleset, _seats(wishes), seed=seed, options=wishes.options)
    asked = 0
    while not game.over and asked < first + FEW:
        if game.to_move == 0:
            if asked >= first:
                yield Question(game.resample(rng), 0, game.legal(), _game_id(number), time_left)
            asked += 1
        game.apply(rng.choice(game.legal()))


def _seats(wishes: Wishes) -> int:
    """Those of the largest table."""
    return max(rules.ruleset(wishes.ruleset).seat_counts)


def _game_id(number: int) -> str:
    return f"doctor-{number}"
