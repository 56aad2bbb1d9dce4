"""Playing in-process: bots against each other, each with a mirror of its own."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from himeji import rules
from himeji.rules import Game, Mirror

from himeji_sdk._bot import AnyBot, End, Player, Question, Start, bot_factory
from himeji_sdk._replay.replay import Replay
from himeji_sdk._replay.writer import write_replay
from himeji_sdk._time_limit import TimeLimit, time_limit


@dataclass(frozen=True)
class Played:
    """A game that was played to its end."""

    game: Game
    """The game itself, at its end: events, breakdown and all."""

    seed: int
    """The same seed and the same answers give the same game."""

    actions: tuple[int, ...]

    names: tuple[str, ...]
    """Who sat where."""

    @property
    def scores(self) -> list[int]:
        """Points per seat; a rival's are the last."""
        return self.game.scores()

    @property
    def ranking(self) -> list[int]:
        """Rank per seat, 1 is best, equal ranks are shared."""
        return self.game.ranking()

    def replay(self) -> Replay:
        """The game as a replay, of the same form as those of an arena."""
        return Replay(write_replay(self.game, rules.seeded(self.seed), self.names, self.actions))


class _LocalSeat:
    """A player with its own mirror, which is fed nothing but the game's events."""

    def __init__(self, player: Player, mirror: Mirror, limit: TimeLimit) -> None:
        self.player = player
        self._mirror = mirror
        self._limit = limit
        self._event_count = 0

    def answer(self, game: Game, seat: int) -> int:
        """The player's action in this position; raises BotFault."""
        events = game.events_since(self._event_count)
        self._mirror.feed(events)
        self._event_count += len(events)
        question = Question(self._mirror.game.clone(), seat, game.legal())
        return self._limit.ask(self.player, question)


def play(  # noqa: PLR0913 - every option has a value that works
    bots: Sequence[AnyBot],
    *,
    ruleset: str = "base",
    seed: int | None = None,
    options: Mapping[str, str] | None = None,
    limit: float | None = None,
    watch: Callable[[Game], None] | None = None,
) -> Played:
    """Play one game in this process, a bot per seat; raises BotFault for a bot's mistake.

    Without a seed every game is another one; `Played.seed` tells which it was. With a limit, a bot
    that takes longer than so many seconds for one choice is a mistake, too (it is asked in a thread
    of its own, which nobody can stop). `watch` is called with the game before the first choice and
    after each one; it must not play in it.
    """
    seed = secrets.randbits(63) if seed is None else seed
    game = rules.new_game(ruleset, len(bots), seed=seed, options=options)
    factories = [bot_factory(bot) for bot in bots]
    names = tuple(each.name for each in factories)
    with time_limit(limit) as answers:
        seats = [
            _LocalSeat(each.new_player(), _mirror(game, seed, seat), answers)
            for seat, each in enumerate(factories)
        ]
        for seat, each in enumerate(seats):
            each.player.start(Start(ruleset, seat, names, dict(game.options)))
        actions = _play(game, seats, watch or (lambda _game: None))
    scores, ranks = tuple(game.scores()), tuple(game.ranking())
    for seat, each in enumerate(seats):
        each.player.end(End(seat, "finished", scores, ranks))
    return Played(game, seed, actions, names)


def _play(game: Game, seats: list[_LocalSeat], watch: Callable[[Game], None]) -> tuple[int, ...]:
    """Ask and apply until the game is over; returns all actions."""
    actions: list[int] = []
    watch(game)
    while game.to_move is not None:
        actions.append(seats[game.to_move].answer(game, game.to_move))
        game.apply(actions[-1])
        watch(game)
    return tuple(actions)


def _mirror(game: Game, seed: int, seat: int) -> Mirror:
    """A seat's mirror; the chance in it is repeatable by the seed, and unrelated to the game's."""
    digest = hashlib.sha256(f"himeji/mirror/{seed}/{seat}".encode()).digest()
    own_seed = int.from_bytes(digest[:12], "big")
    return Mirror(game.ruleset.name, game.seats, game.options, own_seed)
