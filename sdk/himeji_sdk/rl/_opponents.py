"""The bots in the other seats of a learner's table."""

from __future__ import annotations

import random
from collections.abc import Sequence

from himeji.rules import Game
from himeji.rules.errors import InvalidRequest

from himeji_sdk._bot import AnyBot, End, Player, Question, Start, bot_factory

LEARNER = "learner"


class Opponents:
    """Bots of any kind, in the order of the seats after the learner's; None: all play at random."""

    def __init__(self, bots: Sequence[AnyBot] | None, count: int) -> None:
        bots = [self._anything] * count if bots is None else bots
        if len(bots) != count:
            raise InvalidRequest(f"there are {count} other seats, and {len(bots)} opponents")
        self._factories = [bot_factory(bot) for bot in bots]
        self._players: dict[int, Player] = {}
        self._random = random.Random(0)  # noqa: S311 - a game, no secret

    def sit(self, game: Game, learner: int, seed: int) -> None:
        """Take the seats of a new game; the seed is for those that play at random."""
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret
        seats = [(learner + place) % game.seats for place in range(game.seats)]
        names = [LEARNER, *[each.name for each in self._factories]]
        table = tuple(names[seats.index(seat)] for seat in range(game.seats))
        self._players = {
            seat: each.new_player() for seat, each in zip(seats[1:], self._factories, strict=True)
        }
        for seat, player in self._players.items():
            player.start(Start(game.ruleset.name, seat, table, dict(game.options)))

    def play_on(self, game: Game) -> None:
        """Play until the learner is asked, or the game is over."""
        while game.to_move in self._players:
            # Nobody is shown what chance will bring: a bot's copy has a future of its own.
            copy = game.resample(self._random)
            question = Question(copy, game.to_move, game.legal())
            game.apply(self._players[game.to_move].answer(question))
        if game.over:
            scores, ranks = tuple(game.scores()), tuple(game.ranking())
            for seat, player in self._players.items():
                player.end(End(seat, "finished", scores, ranks))

    def _anything(self, _: Game, legal: list[int]) -> int:
        return self._random.choice(legal)
