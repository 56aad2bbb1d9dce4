"""Who may call what: one row per RPC, and a method without a row is closed to everybody.

A row says what kind of token a call needs. Whose bot, token or game it is about is decided where
that is known, in the use cases.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc
import structlog
from himeji.rules.errors import Forbidden, InvalidToken, MissingToken
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_MANAGE, SCOPE_PLAY, SCOPE_READ

from himeji_server.accounts.caller import Caller, set_caller
from himeji_server.accounts.token_cache import TokenCache
from himeji_server.accounts.tokens import Tokens
from himeji_server.limits import Limits
from himeji_server.rate_limits import RateLimiter

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"  # generic in the stubs alone

METADATA_KEY: Final = "authorization"
_SCHEME: Final = "bearer"
_HEALTH: Final = "/grpc.health.v1.Health/"


@dataclass(frozen=True)
class Access:
    """What a caller has to show."""

    scopes: tuple[int, ...] = ()
    """A good token with one of these scopes; without any, every good token will do."""

    public: bool = False
    """Nothing: the answer is the same for everybody."""

    registration: bool = False
    """Nothing while registration is open; a token that is shown has to be good all the same."""


PUBLIC: Final = Access(public=True)
ANY_TOKEN: Final = Access()
READ: Final = Access((SCOPE_READ,))
# What a bot has to look up in order to play must not take a second scope.
READ_OR_PLAY: Final = Access((SCOPE_READ, SCOPE_PLAY))
READ_ACCOUNTS: Final = Access((SCOPE_READ, SCOPE_MANAGE, SCOPE_ADMIN))
READ_OR_ADMIN: Final = Access((SCOPE_READ, SCOPE_ADMIN))
PLAY: Final = Access((SCOPE_PLAY,))
MANAGE: Final = Access((SCOPE_MANAGE,))
# The caller's own with MANAGE, those of others with ADMIN; the use case tells them apart.
MANAGE_OR_ADMIN: Final = Access((SCOPE_MANAGE, SCOPE_ADMIN))
ADMIN: Final = Access((SCOPE_ADMIN,))
REGISTRATION: Final = Access((SCOPE_ADMIN,), registration=True)


def _rows(access: Access, service: str, *methods: str) -> dict[str, Access]:
    return {f"/{service}/{method}": access for method in methods}


_RULES: Final = "himeji.v1.RulesService"
_GAMES: Final = "himeji.v1.GameService"
_LADDERS: Final = "himeji.v1.LadderService"
_ACCOUNTS: Final = "himeji.v1.AccountService"

ACCESS: Final[dict[str, Access]] = {
    **_rows(PUBLIC, "grpc.health.v1.Health", "Check", "Watch"),
    **_rows(PUBLIC, "grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"),
    **_rows(PUBLIC, "grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"),
    **_rows(PUBLIC, _RULES, "ListRulesets", "GetRuleset"),
    # These cost computing time, which is counted by owner.
    **_rows(READ_OR_PLAY, _RULES, "NewPosition", "ApplyActions"),
    **_rows(PLAY, "himeji.v1.PlayService", "Play"),
    **_rows(PLAY, _GAMES, "CreateGame", "JoinGame", "GetDecision", "SubmitActions", "Resign"),
    **_rows(READ_OR_PLAY, _GAMES, "GetGame", "ListGames", "GetReplay", "WatchGame"),
    **_rows(PUBLIC, _LADDERS, "ListLadders", "GetLadder", "GetStandings"),
    **_rows(READ_OR_PLAY, _LADDERS, "GetHistory", "GetHeadToHead", "WatchResults", "ListSeasons"),
    **_rows(READ_OR_PLAY, _LADDERS, "GetTournament", "ListTournaments"),
    **_rows(READ_OR_ADMIN, _LADDERS, "ListTickets"),
    **_rows(PLAY, _LADDERS, "LeaveLadder"),
    **_rows(ADMIN, _LADDERS, "RecomputeStandings", "StartSeason", "VoidGame", "ListFlags"),
    **_rows(ADMIN, _LADDERS, "ListAuditEntries", "CreateTournament", "CancelTournament"),
    **_rows(ANY_TOKEN, _ACCOUNTS, "WhoAmI"),
    **_rows(REGISTRATION, _ACCOUNTS, "CreateOwner"),
    **_rows(READ_ACCOUNTS, _ACCOUNTS, "GetOwner", "ListOwners"),
    **_rows(READ_ACCOUNTS, _ACCOUNTS, "GetBot", "ListBots", "ListBotVersions"),
    **_rows(MANAGE, _ACCOUNTS, "CreateBot", "RetireBot", "CreateBotVersion", "RotateToken"),
    **_rows(MANAGE_OR_ADMIN, _ACCOUNTS, "CreateToken", "RevokeToken", "ListTokens"),
}


class Authoriser:
    """Lets a call pass or not, and says who the caller is."""

    def __init__(
        self,
        tokens: Tokens | None = None,
        *,
        open_registration: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Without tokens none is known, and only what is public is open."""
        limits = limits or Limits()
        self._tokens = TokenCache(tokens) if tokens is not None else None
        self._rates = RateLimiter("calls_per_second", limits.calls_per_second, limits.calls_at_once)
        self._open_registration = open_registration

    async def __call__(self, path: str, context: Context) -> None:
        """Return when the caller may call the method, and set the current caller.

        Raises MissingToken, InvalidToken, Forbidden or RateLimited.
        """
        access = ACCESS.get(path)
        if access is None:
            raise Forbidden("this method is open to nobody")
        if access.public:
            self._count_stranger(path, context)
            return
        free = access.registration and self._open_registration
        secret = _shown(context)
        if secret is None and free:
            self._count_stranger(path, context)
            return
        caller = await self._verified(secret)
        self._rates.take(caller.owner)
        if access.scopes and not free:
            caller.need(*access.scopes)
        set_caller(caller)
        # The line that the guard writes about the call names them; neither is a secret.
        structlog.contextvars.bind_contextvars(owner=caller.owner, token=caller.token_id)

    def _count_stranger(self, path: str, context: Context) -> None:
        """Count a call of nobody in particular by its address; whoever asks for health is free."""
        if not path.startswith(_HEALTH):
            self._rates.take(str(context.peer()).rpartition(":")[0])

    async def _verified(self, secret: str | None) -> Caller:
        if secret is None:
            raise MissingToken("this method needs a token in the metadata `authorization`")
        if self._tokens is None:
            raise InvalidToken("the token is unknown, expired or revoked")
        return await self._tokens.verify(secret)


def _shown(context: Context) -> str | None:
    """The secret that the call carries, None without one; raises InvalidToken for nonsense."""
    metadata = context.invocation_metadata() or ()
    values = [str(value) for key, value in metadata if key == METADATA_KEY and value]
    if not values:
        return None
    scheme, _, secret = values[0].partition(" ")
    if len(values) > 1 or scheme.lower() != _SCHEME:
        raise InvalidToken("the metadata `authorization` has to be one `Bearer` and the token")
    return secret.strip()
