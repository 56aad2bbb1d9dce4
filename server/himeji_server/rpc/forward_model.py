"""The engine as a stateless forward model: sets games up, and applies actions to positions."""

import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from himeji import rules
from himeji.rules.errors import IllegalAction, UnknownAction
from himeji.rules.game import DRAW, ROLL, Game
from himeji.v1.game_pb2 import StopReason
from himeji.v1.position_pb2 import Position
from himeji.wire.positions import from_position


class AppliedActions(NamedTuple):
    """How many actions were applied, and why no more."""

    played: int
    stop: StopReason.ValueType
    refusal: IllegalAction | UnknownAction | None = None


def new_seed() -> int:
    """A random seed; a number of JavaScript holds no more bits."""
    return secrets.randbits(53)


def new_game(ruleset: str, seats: int, options: Mapping[str, str], seed: int) -> Game:
    """Set a game up; 0 seats stands for the smallest number that the ruleset has."""
    fewest = min(rules.ruleset(ruleset).seat_counts)
    return rules.new_game(ruleset, seats or fewest, seed=seed, options=options)


def read(position: Position, seed: int) -> Game:
    """The game of a client's position, with chance from the seed; refuses impossible positions."""
    return from_position(position, rules.seeded(seed))


def play(game: Game, actions: Sequence[int], *, stop_at_chance: bool) -> AppliedActions:
    """Apply actions, each for the seat that is asked; raises if already the first is refused."""
    for played, action in enumerate(actions):
        if game.over and played:
            return AppliedActions(played, StopReason.STOP_REASON_GAME_OVER)
        known = len(game.log or ())
        try:
            game.apply(action)
        except (IllegalAction, UnknownAction) as refusal:
            if not played:
                raise
            return AppliedActions(played, StopReason.STOP_REASON_ILLEGAL_ACTION, refusal)
        if stop_at_chance and played + 1 < len(actions) and _revealed(game, known):
            return AppliedActions(played + 1, StopReason.STOP_REASON_CHANCE_REVEALED)
    return AppliedActions(len(actions), StopReason.STOP_REASON_ALL_PLAYED)


def _revealed(game: Game, known: int) -> bool:
    """Whether events after the first `known` revealed chance, in a game that is not over."""
    return not game.over and any(kind in (ROLL, DRAW) for kind, *_ in (game.log or [])[known:])
