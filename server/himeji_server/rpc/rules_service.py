"""RulesService: the rules as data, and the engine as a forward model. Nothing is stored."""

# ruff: noqa: N802 - methods are named as the contract names them

from collections.abc import Callable
from typing import Final

from himeji import rules
from himeji.rules.errors import InvalidRequest, UnknownRuleset
from himeji.v1.rules_service_pb2 import (
    ApplyActionsRequest,
    ApplyActionsResponse,
    GetRulesetRequest,
    GetRulesetResponse,
    ListRulesetsRequest,
    ListRulesetsResponse,
    NewPositionRequest,
    NewPositionResponse,
)
from himeji.wire.positions import from_options
from himeji.wire.rulesets import to_ruleset

from himeji_server import pagination
from himeji_server.accounts.authorisation import Context
from himeji_server.accounts.caller import current_caller
from himeji_server.limits import Limits
from himeji_server.rpc import forward_model
from himeji_server.rpc.rules_process import RulesCall
from himeji_server.rpc.rules_workers import RulesWorkers

SERVICE: Final = "himeji.v1.RulesService"
Charge = Callable[[int], None]
"""Takes further calls from the rate limit of the current caller; raises RateLimited."""


class RulesService:
    """Serves every ruleset that the engine plays."""

    def __init__(self, workers: RulesWorkers, charge: Charge, limits: Limits) -> None:
        self._workers, self._charge, self._limits = workers, charge, limits
        # A revision never changes, so the answers are built once: the copy of a ruleset into a
        # message takes 1 ms.
        self._rulesets = {
            name: GetRulesetResponse(ruleset=to_ruleset(each))
            for name, each in sorted(rules.RULESETS.items())
        }

    async def ListRulesets(
        self, request: ListRulesetsRequest, _context: Context
    ) -> ListRulesetsResponse:
        size, after = pagination.size(request.page_size), pagination.cursor(request.page_token)
        names = [name for name in self._rulesets if name > after]
        summaries = [self._rulesets[name].ruleset.summary for name in names[:size]]
        next_page_token = pagination.token(names[size - 1]) if len(names) > size else ""
        return ListRulesetsResponse(rulesets=summaries, next_page_token=next_page_token)

    async def GetRuleset(self, request: GetRulesetRequest, _context: Context) -> GetRulesetResponse:
        return self._find(request.ruleset, request.revision)

    async def NewPosition(
        self, request: NewPositionRequest, _context: Context
    ) -> NewPositionResponse:
        name = _required(request.ruleset)
        seed = request.seed if request.HasField("seed") else forward_model.new_seed()
        game = forward_model.new_game(name, request.seats, from_options(request.options), seed)
        return NewPositionResponse(seed=seed, **forward_model.position_fields(game, request.wants))

    async def ApplyActions(
        self, request: ApplyActionsRequest, _context: Context
    ) -> ApplyActionsResponse:
        count = len(request.actions)
        self._charge((count - 1) // self._limits.actions_per_call)
        if count <= self._limits.inline_actions:
            return forward_model.apply_actions(request)
        raw = request.SerializeToString()
        answer = await self._workers.run(current_caller().limit_key, RulesCall.APPLY_ACTIONS, raw)
        return ApplyActionsResponse.FromString(answer)

    def _find(self, name: str, revision: str) -> GetRulesetResponse:
        """The answer with a ruleset; raises UnknownRuleset if it has another revision."""
        found = self._rulesets[rules.ruleset(_required(name)).name]
        played = found.ruleset.summary.revision
        if revision not in ("", played):
            raise UnknownRuleset(
                f"{name} is played here in revision {played}, not {revision}",
                {"ruleset": name, "revision": revision},
            )
        return found


def _required(name: str) -> str:
    if not name:
        raise InvalidRequest("the request names no ruleset", {"field": "ruleset"})
    return name
