"""RulesService: the rules as data, and the engine as a forward model. Nothing is stored."""

# ruff: noqa: N802 - methods are named as the contract names them

from collections.abc import Iterable
from typing import Final, TypedDict

from himeji import rules
from himeji.rules.errors import InvalidRequest, UnknownRuleset
from himeji.rules.game import Game
from himeji.v1.game_pb2 import Event, Want
from himeji.v1.position_pb2 import Position
from himeji.v1.rules_service_pb2 import (
    ApplyActionsRequest,
    ApplyActionsResponse,
    GetRulesetRequest,
    GetRulesetResponse,
    ListRulesetsRequest,
    ListRulesetsResponse,
    NewPositionRequest,
    NewPositionResponse,
    Ruleset,
)
from himeji.wire.events import to_events, told_events
from himeji.wire.positions import from_options, to_position
from himeji.wire.results import FINISHED, result
from himeji.wire.rulesets import to_ruleset

from himeji_server import pagination
from himeji_server.accounts.authorisation import Context
from himeji_server.rpc import forward_model

SERVICE: Final = "himeji.v1.RulesService"


class RulesService:
    """Serves every ruleset that the engine plays."""

    def __init__(self) -> None:
        # A revision never changes, so the messages are built once.
        self._rulesets = {name: to_ruleset(each) for name, each in sorted(rules.RULESETS.items())}

    async def ListRulesets(
        self, request: ListRulesetsRequest, _context: Context
    ) -> ListRulesetsResponse:
        size, after = pagination.size(request.page_size), pagination.cursor(request.page_token)
        names = [name for name in self._rulesets if name > after]
        summaries = [self._rulesets[name].summary for name in names[:size]]
        next_page_token = pagination.token(names[size - 1]) if len(names) > size else ""
        return ListRulesetsResponse(rulesets=summaries, next_page_token=next_page_token)

    async def GetRuleset(self, request: GetRulesetRequest, _context: Context) -> GetRulesetResponse:
        return GetRulesetResponse(ruleset=self._find(request.ruleset, request.revision))

    async def NewPosition(
        self, request: NewPositionRequest, _context: Context
    ) -> NewPositionResponse:
        name = _required(request.ruleset)
        seed = request.seed if request.HasField("seed") else forward_model.new_seed()
        game = forward_model.new_game(name, request.seats, from_options(request.options), seed)
        return NewPositionResponse(seed=seed, **_position_fields(game, request.wants))

    async def ApplyActions(
        self, request: ApplyActionsRequest, _context: Context
    ) -> ApplyActionsResponse:
        if not request.HasField("position"):
            raise InvalidRequest("the request has no position", {"field": "position"})
        seed = request.seed if request.HasField("seed") else forward_model.new_seed()
        game = forward_model.read(request.position, seed)
        outcome = forward_model.play(game, request.actions, stop_at_chance=request.stop_at_chance)
        return ApplyActionsResponse(
            seed=seed,
            played=outcome.played,
            stop=outcome.stop,
            rule=outcome.refusal.details.get("rule", "") if outcome.refusal else "",
            message=outcome.refusal.message if outcome.refusal else "",
            result=result(game, FINISHED, {}) if game.over else None,
            **_position_fields(game, request.wants),
        )

    def _find(self, name: str, revision: str) -> Ruleset:
        """The ruleset of that name; raises UnknownRuleset if it has another revision."""
        found = self._rulesets[rules.ruleset(_required(name)).name]
        if revision not in ("", found.summary.revision):
            raise UnknownRuleset(
                f"{name} is played here in revision {found.summary.revision}, not {revision}",
                {"ruleset": name, "revision": revision},
            )
        return found


def _required(name: str) -> str:
    if not name:
        raise InvalidRequest("the request names no ruleset", {"field": "ruleset"})
    return name


class _PositionFields(TypedDict):
    """The fields that both responses of the forward model have."""

    position: Position
    legal_actions: list[int]
    action_texts: list[str]
    events: list[Event]


def _position_fields(game: Game, wants: Iterable[int]) -> _PositionFields:
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
