"""Questions from the middle of random games, for checks that need no whole game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from himeji import rules

from himeji_sdk._bot import BotFactory, Player, Question, Start
from himeji_sdk.doctor._settings import Settings

QUESTIONS: Final = 5


def start_player(bot: BotFactory, settings: Settings, number: int) -> Player:
    """The bot in seat 0 of such a game, after its `on_start`; raises BotFault."""
    player, names = bot.new_player(), ("other",) * _seats(settings)
    player.start(Start(settings.ruleset, 0, names, settings.options, _game_id(number)))
    return player


def questions(
    settings: Settings, number: int, first: int = 0, time_left: float | None = None
) -> Iterator[Question]:
    """A few questions to seat 0 of a game that is played at random, from the `first` one on."""
    rng = random.Random(number)  # noqa: S311 - a game, no secret
    seed = 1000 + number
    game = rules.new_game(settings.ruleset, _seats(settings), seed=seed, options=settings.options)
    asked = 0
    while not game.over and asked < first + QUESTIONS:
        if game.to_move == 0:
            if asked >= first:
                yield Question(game.resample(rng), 0, game.legal(), _game_id(number), time_left)
            asked += 1
        game.apply(rng.choice(game.legal()))


def _seats(settings: Settings) -> int:
    return max(rules.ruleset(settings.ruleset).seat_counts)


def _game_id(number: int) -> str:
    return f"doctor-{number}"
