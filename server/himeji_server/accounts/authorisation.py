"""Who may call what: one row per RPC; a method without a row is closed to everybody.

A row says what scope a call's token needs. Whether the caller owns the bot, token or game that a
request names is checked in the use cases.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc
import structlog
from himeji.rules.errors import Forbidden, InvalidToken, MissingToken
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_MANAGE, SCOPE_PLAY, SCOPE_READ

from himeji_server.accounts.caller import Caller, current_address, current_caller, set_caller
from himeji_server.accounts.token_cache import TokenCache
from himeji_server.accounts.tokens import Tokens
from himeji_server.limits import Limits
from himeji_server.rate_limits import GuessLimiter, RateLimiter

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"  # generic only in the stubs

METADATA_KEY: Final = "authorization"
_SCHEME: Final = "bearer"
_HEALTH: Final = "/grpc.health.v1.Health/"


@dataclass(frozen=True)
class Access:
    """What a call needs."""

    scopes: tuple[int, ...] = ()
    """A valid token with one of these scopes; if empty, any valid token."""

    public: bool = False
    """No token: the answer is the same for everybody."""

    registration: bool = False
    """No token while registration is open; a token that is sent has to be valid all the same."""


PUBLIC: Final = Access(public=True)
ANY_TOKEN: Final = Access()
READ: Final = Access((SCOPE_READ,))
# A bot must be able to look up what it needs for playing without a second scope.
READ_OR_PLAY: Final = Access((SCOPE_READ, SCOPE_PLAY))
READ_ACCOUNTS: Final = Access((SCOPE_READ, SCOPE_MANAGE, SCOPE_ADMIN))
READ_OR_ADMIN: Final = Access((SCOPE_READ, SCOPE_ADMIN))
PLAY: Final = Access((SCOPE_PLAY,))
MANAGE: Final = Access((SCOPE_MANAGE,))
# MANAGE for the caller's own, ADMIN for those of others; the use case tells them apart.
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
    # These cost computing time, so they count against the rate limit of an owner.
    **_rows(READ_OR_PLAY, _RULES, "NewPosition", "ApplyActions"),
    **_rows(PLAY, "himeji.v1.PlayService", "Play"),
    **_rows(PLAY, _GAMES, "CreateGame", "JoinGame", "GetDecision", "SubmitActions", "Resign"),
    **_rows(PLAY, _GAMES, "CancelGame"),
    **_rows(READ_OR_PLAY, _GAMES, "GetGame", "ListGames", "GetReplay", "WatchGame"),
    **_rows(PUBLIC, _LADDERS, "ListLadders", "GetLadder", "GetStandings"),
    **_rows(READ_OR_PLAY, _LADDERS, "GetHistory", "GetHeadToHead", "WatchResults", "ListSeasons"),
    **_rows(READ_OR_PLAY, _LADDERS, "GetTournament", "ListTournaments"),
    **_rows(READ_OR_ADMIN, _LADDERS, "ListTickets"),
    **_rows(PLAY, _LADDERS, "LeaveLadder"),
    **_rows(ADMIN, _LADDERS, "RecomputeStandings", "StartSeason"),
    **_rows(ADMIN, _LADDERS, "CreateTournament", "CancelTournament"),
    **_rows(ADMIN, "himeji.v1.AdminService", "VoidGame", "ListFlags", "ListAuditEntries"),
    **_rows(ADMIN, "himeji.v1.AdminService", "DeleteOwner"),
    **_rows(ANY_TOKEN, _ACCOUNTS, "WhoAmI"),
    **_rows(REGISTRATION, _ACCOUNTS, "CreateOwner"),
    **_rows(READ_ACCOUNTS, _ACCOUNTS, "GetOwner", "ListOwners"),
    **_rows(READ_ACCOUNTS, _ACCOUNTS, "GetBot", "ListBots", "ListBotVersions"),
    **_rows(MANAGE, _ACCOUNTS, "CreateBot", "RetireBot", "CreateBotVersion", "RotateToken"),
    **_rows(MANAGE_OR_ADMIN, _ACCOUNTS, "CreateToken", "RevokeToken", "ListTokens"),
}


def is_health_check(path: str) -> bool:
    """Whether a method is one of the health service, which has limits of its own."""
    return path.startswith(_HEALTH)


class Authoriser:
    """Authenticates the caller of a call, and applies the access table and the rate limit."""

    def __init__(
        self,
        tokens: Tokens | None = None,
        *,
        open_registration: bool = False,
        limits: Limits | None = None,
    ) -> None:
        """Without `tokens` no token is valid, and only public methods can be called."""
        limits = limits or Limits()
        self._guesses = GuessLimiter(limits)
        self._tokens = TokenCache(tokens, self._guesses) if tokens is not None else None
        self._rate_limiter = RateLimiter(
            "calls_per_second", limits.calls_per_second, limits.calls_at_once
        )
        checks = limits.health_checks_per_second
        self._health_checks = RateLimiter("health_checks_per_second", checks, 2 * checks)
        self._open_registration = open_registration

    async def __call__(self, path: str, context: Context) -> None:
        """Return if the caller may call the method, and set the current caller.

        Raises MissingToken, InvalidToken, Forbidden or RateLimited. A call without a valid token
        takes from the budget of its address before anything is looked up.
        """
        access = ACCESS.get(path)
        secret = None if access is None or access.public else await self._secret(context)
        if secret is None:
            self.limit_address(path)
        if access is None:
            raise Forbidden("this method is closed to everybody")
        open_to_all = access.registration and self._open_registration
        if secret is None and (access.public or open_to_all):
            return
        caller = await self._verify(secret)
        self._rate_limiter.acquire(caller.limit_key)
        if access.scopes and not open_to_all:
            caller.require_scope(*access.scopes)
        set_caller(caller)
        # For the log line that the interceptor writes about the call; neither is a secret.
        structlog.contextvars.bind_contextvars(owner=caller.owner, token=caller.token_id)

    def charge(self, calls: int) -> None:
        """Count further calls for the current caller, whose call costs as much as several."""
        if calls > 0:
            self._rate_limiter.acquire(current_caller().limit_key, calls)

    def limit_address(self, path: str) -> None:
        """Count a call for the address that it came from; raises RateLimited."""
        limiter = self._health_checks if is_health_check(path) else self._rate_limiter
        limiter.acquire(current_address())

    async def _secret(self, context: Context) -> str | None:
        """The secret that the call shows, if any; a malformed one counts as a guess."""
        try:
            return _bearer_secret(context)
        except InvalidToken:
            await self._guesses.wait(current_address())
            raise

    async def _verify(self, secret: str | None) -> Caller:
        if secret is None:
            raise MissingToken("this method needs a token in the metadata `authorization`")
        if self._tokens is None:
            await self._guesses.wait(current_address())
            raise InvalidToken("the token is unknown, expired or revoked")
        return await self._tokens.verify(secret)


def _bearer_secret(context: Context) -> str | None:
    """The secret in the call's metadata, None without one; raises InvalidToken if malformed."""
    metadata = context.invocation_metadata() or ()
    values = [str(value) for key, value in metadata if key == METADATA_KEY and value]
    if not values:
        return None
    scheme, _, secret = values[0].partition(" ")
    if len(values) > 1 or scheme.lower() != _SCHEME:
        raise InvalidToken("the metadata `authorization` has to be one `Bearer` and the token")
    return secret.strip()
