"""The engine as a calculator that keeps nothing: games set up, and actions played in positions."""

import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from himeji import rules
from himeji.rules.errors import IllegalAction, UnknownAction
from himeji.rules.game import DRAW, ROLL, Game
from himeji.v1.game_pb2 import StopReason
from himeji.v1.position_pb2 import Position
from himeji.wire.positions import from_position

from himeji_server.limits import MOST_POSITION_BYTES
from himeji_server.rate_limits import check_actions, too_large


class AppliedActions(NamedTuple):
    """How far actions were played, and why no further."""

    played: int
    stop: StopReason.ValueType
    refusal: IllegalAction | UnknownAction | None = None


def new_seed() -> int:
    """A seed of the server's choice; it fits an int64."""
    return secrets.randbits(63)


def new_game(ruleset: str, seats: int, options: Mapping[str, str], seed: int) -> Game:
    """Set a game up; 0 seats are the fewest that the ruleset is played with."""
    fewest = min(rules.ruleset(ruleset).seat_counts)
    return rules.new_game(ruleset, seats or fewest, seed=seed, options=options)


def read(position: Position, seed: int) -> Game:
    """The game of a position from anywhere, with chance of its own; refuses what cannot be."""
    size = position.ByteSize()
    if size > MOST_POSITION_BYTES:
        raise too_large("position_bytes", "the position has", size, MOST_POSITION_BYTES)
    return from_position(position, rules.seeded(seed))


def play(game: Game, actions: Sequence[int], *, stop_at_chance: bool) -> AppliedActions:
    """Play actions for whichever seats are asked; raises what refuses the first of them."""
    check_actions(len(actions))
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
    """Whether chance was revealed after the events that were known, in a game that goes on."""
    return not game.over and any(kind in (ROLL, DRAW) for kind, *_ in (game.log or [])[known:])
