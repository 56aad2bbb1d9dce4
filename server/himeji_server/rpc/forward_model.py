"""The engine as a stateless forward model: sets games up, and applies actions to positions."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from himeji import rules
from himeji.rules.errors import IllegalAction, InvalidRequest, UnknownAction
from himeji.rules.game import DRAW, ROLL, Game
from himeji.v1.game_pb2 import Event, StopReason, Want
from himeji.v1.position_pb2 import Position
from himeji.v1.rules_service_pb2 import ApplyActionsRequest, ApplyActionsResponse
from himeji.wire.events import to_events, told_events
from himeji.wire.positions import from_position, to_position
from himeji.wire.results import FINISHED, result


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


class PositionFields(TypedDict):
    """The fields that both responses of the forward model have."""

    position: Position
    legal_actions: list[int]
    action_texts: list[str]
    events: list[Event]


def position_fields(game: Game, wants: Iterable[int]) -> PositionFields:
    """What a response says about a game and all its events."""
    contents, legal, records = set(wants), game.legal(), game.log or []
    actions = game.ruleset.actions
    with_texts = Want.WANT_EVENT_TEXTS in contents
    return {
        "position": to_position(game),
        "legal_actions": legal,
        "action_texts": [actions.text(each) for each in legal]
        if Want.WANT_ACTION_TEXTS in contents
        else [],
        "events": told_events(game.ruleset, game.seats, records)
        if with_texts
        else to_events(records),
    }


def apply_actions(request: ApplyActionsRequest) -> ApplyActionsResponse:
    """Answer a request; raises if already its first action is refused."""
    if not request.HasField("position"):
        raise InvalidRequest("the request has no position", {"field": "position"})
    seed = request.seed if request.HasField("seed") else new_seed()
    game = read(request.position, seed)
    outcome = play(game, request.actions, stop_at_chance=request.stop_at_chance)
    return ApplyActionsResponse(
        seed=seed,
        played=outcome.played,
        stop=outcome.stop,
        rule=outcome.refusal.details.get("rule", "") if outcome.refusal else "",
        message=outcome.refusal.message if outcome.refusal else "",
        result=result(game, FINISHED, {}) if game.over else None,
        **position_fields(game, request.wants),
    )


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
