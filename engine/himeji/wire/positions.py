"""Positions of every family as messages and back: a table from family to its translation."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from himeji import rules
from himeji.rules.chance import Chance
from himeji.rules.errors import ImpossiblePosition, InvalidRequest
from himeji.rules.game import Game
from himeji.v1.position_pb2 import OptionValue, Position
from himeji.wire import castle, duel


class Translation(NamedTuple):
    """How a family fills and reads its part of the message."""

    write: Callable[[Any, Position], None]
    read: Callable[[Any, Position, dict[str, str], Chance], Game]


FAMILIES: Final = {
    "castle": Translation(castle.write, castle.read),
    "duel": Translation(duel.write, duel.read),
}


def to_position(game: Game) -> Position:
    """The position of a game as a message."""
    ruleset = game.ruleset
    position = Position(ruleset=ruleset.name, revision=ruleset.revision, seats=game.seats)
    for name in sorted(game.options):
        position.options.add(name=name, value=game.options[name])
    if game.to_move is not None:
        position.to_move = game.to_move
    for step in game.stack:
        kind, arguments = ruleset.step_parts(step)
        pending = position.pending.add(kind=kind + 1, arguments=arguments)
        if step.seat >= 0:
            pending.seat = step.seat
    FAMILIES[ruleset.family].write(game, position)
    return position


def from_position(position: Position, chance: Chance) -> Game:
    """The game of a message; its future comes from the source of chance that is given."""
    ruleset = rules.ruleset(position.ruleset)
    if position.revision:
        ruleset.check_revision(position.revision)
    if position.WhichOneof("family") != ruleset.family:
        raise InvalidRequest(
            f"a position of {ruleset.name} has its part in {ruleset.family}", {"field": "position"}
        )
    try:
        options = from_options(position.options)
        return FAMILIES[ruleset.family].read(ruleset, position, options, chance)
    except ImpossiblePosition as refusal:
        refusal.details["ruleset"] = ruleset.name
        raise


def from_options(values: Iterable[OptionValue]) -> dict[str, str]:
    """The options that are named; raises InvalidRequest if one is named twice."""
    options: dict[str, str] = {}
    for each in values:
        if each.name in options:
            raise InvalidRequest(f"option {each.name} is named twice", {"field": "options"})
        options[each.name] = each.value
    return options
