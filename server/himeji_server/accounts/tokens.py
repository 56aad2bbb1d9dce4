"""Use cases of tokens: verify, create, rotate, revoke and list them.

A secret leaves the arena once, in the answer that issues it; only its digest is stored.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from himeji.rules.errors import (
    Forbidden,
    InvalidRequest,
    InvalidToken,
    LimitExceeded,
    Refused,
    UnknownAccount,
)
from himeji.v1.account_service_pb2 import (
    SCOPE_ADMIN,
    SCOPE_MANAGE,
    SCOPE_PLAY,
    SCOPE_READ,
)

from himeji_server import names, pagination
from himeji_server.accounts import token_format
from himeji_server.accounts.caller import Caller, missing_scope
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.limits import NO_LIMIT, AccountLimits
from himeji_server.processor_shares import pause
from himeji_server.store import Store
from himeji_server.store.accounts import AccountStore
from himeji_server.store.tokens import NewToken, Token, TokenStatus, TokenStore, owner_of
from himeji_server.texts import check_text

OWNERS_SCOPES: Final = (SCOPE_READ, SCOPE_PLAY, SCOPE_MANAGE)
"""The scopes of an owner's first token."""

ALL_SCOPES: Final = (*OWNERS_SCOPES, SCOPE_ADMIN)

LONGEST_LABEL: Final = 80
LONGEST_LIFETIME_MS: Final = 10 * 365 * 24 * 3_600_000
LONGEST_OVERLAP_MS: Final = 7 * 24 * 3_600_000
_LAST_USE_MS: Final = 60_000  # how exactly the last use of a token is recorded
_MOST_ENDED: Final = 100  # tokens of an owner that are revoked or expired, and still listed
_MOST_ARENA_TOKENS: Final = 8  # tokens of the same bot and label, issued by the arena itself


@dataclass(frozen=True)
class IssuedToken:
    """A token with the new secret that was issued for it."""

    token: Token
    secret: str = field(repr=False)


@dataclass(frozen=True)
class TokenRequest:
    """The properties of a token to be issued."""

    owner: str = ""
    bot: str = ""
    scopes: Collection[int] = ()
    label: str = ""
    lifetime_ms: int | None = None


def is_valid(token: Token | None, digest: str, now: int) -> bool:
    """Whether a secret, given by its digest, is valid for a token now."""
    if token is None or token.ended(now):
        return False
    before = token.digest_before if now < token.overlap else ""
    return token_format.digests_equal(digest, token.digest) | token_format.digests_equal(
        digest, before
    )


class Tokens:
    """The tokens of an arena."""

    def __init__(self, store: Store, limits: AccountLimits) -> None:
        self.store = TokenStore(store)
        self._accounts = AccountStore(store)
        self._requests = IdempotencyKeys(self._accounts, limits.request_ids_per_owner)
        self._limits = limits

    async def verify(self, secret: str) -> Caller:
        """The caller with this secret; raises InvalidToken."""
        token_id = token_format.find_id(secret)
        if token_id is None:
            raise InvalidToken(
                "this is not a token (himeji_…): is a part of it missing or mistyped?"
            )
        token, now = await self.store.get_with_time(token_id)
        digest = token_format.digest(secret)
        if token is None or not is_valid(token, digest, now):
            raise InvalidToken("the token is unknown, expired or revoked")
        if now - token.used >= _LAST_USE_MS:
            await self.store.set_used(token_id, now)
        return Caller(token.owner, token_id, frozenset(token.scopes), token.bot, digest)

    async def get(self, token_id: str) -> Token:
        """A token; raises UnknownAccount."""
        token = await self.store.get(token_id) if token_format.is_id(token_id) else None
        if token is None:
            raise UnknownAccount("there is no such token", {"kind": "token", "name": token_id})
        return token

    async def create(
        self, caller: Caller, request: TokenRequest, request_id: str = ""
    ) -> IssuedToken:
        """Create a token for the caller, or for any owner if the caller is an administrator."""
        owner = names.owner_name(request.owner or caller.owner)
        caller.require_scope(SCOPE_MANAGE if owner == caller.owner else SCOPE_ADMIN)
        if request.bot != caller.bot and caller.bot:
            raise Forbidden(f"the token is bound to {caller.bot}, and so are those it creates")
        scopes = _checked_scopes(request.scopes, caller)
        label = check_text(request.label, "label", LONGEST_LABEL)
        lifetime = _checked_lifetime(request.lifetime_ms)
        await self._check_owner_and_bot(owner, request.bot)
        content = ["CreateToken", owner, request.bot, scopes, label, lifetime]
        operation = await self._requests.claim(
            caller.owner, request_id, content, Operation(token_id=token_format.new_id(owner))
        )
        secret = token_format.new_secret(operation.token_id)
        digest = token_format.digest(secret)
        new = NewToken(operation.token_id, digest, request.bot, scopes, label, lifetime)
        most = NO_LIMIT if caller.is_administrator else self._limits.tokens_per_owner
        return await self._create(new, operation.operation_id, secret, most)

    async def rotate(
        self, caller: Caller, token_id: str = "", overlap_ms: int = 0, request_id: str = ""
    ) -> IssuedToken:
        """Give a token of the caller a new secret; the old one stays valid for the overlap."""
        if overlap_ms < 0:
            raise InvalidRequest("the overlap is less than 0", {"field": "overlap"})
        token = await self._managed(caller, token_id or caller.token_id)
        missing = set(token.scopes) - caller.scopes
        if missing:  # with the new secret the caller would gain these scopes
            raise missing_scope([min(missing)])
        content = ["RotateToken", token.token_id, overlap_ms]
        operation = await self._requests.claim(
            caller.owner, request_id, content, Operation(before=token.digest)
        )
        used_old_secret = caller.token_id == token.token_id and caller.digest != token.digest
        if used_old_secret and operation.operation_id != token.mark:
            raise Forbidden("a secret that was rotated out cannot rotate its token again")
        secret = token_format.new_secret(token.token_id)
        status = await self.store.rotate(
            token.token_id,
            operation.operation_id,
            digest=token_format.digest(secret),
            before=operation.before,
            overlap_ms=min(overlap_ms, LONGEST_OVERLAP_MS),
        )
        if status is not TokenStatus.OK:
            raise _changed_since()
        return IssuedToken(await self.get(token.token_id), secret)

    async def revoke(self, caller: Caller, token_id: str, request_id: str = "") -> Token:
        """Revoke a token of the caller, or any token if the caller is an administrator."""
        token = await self._managed(caller, token_id, else_scope=SCOPE_ADMIN)
        content: list[object] = ["RevokeToken", token_id]
        await self._requests.claim(caller.owner, request_id, content, Operation())
        await self.store.revoke(token.token_id)
        return await self.get(token_id)

    async def list_tokens(
        self, caller: Caller, owner: str, page_size: int, page_token: str, *, show_ended: bool
    ) -> tuple[list[Token], str]:
        """A page of the caller's tokens, or of any owner's if the caller is an administrator."""
        owner = names.owner_name(owner or caller.owner)
        caller.require_scope(SCOPE_MANAGE if owner == caller.owner else SCOPE_ADMIN)
        size, query = pagination.size(page_size), ("tokens", owner, show_ended)
        place = pagination.cursor(page_token, *query)
        now = await self.store.now()
        await pause()  # a command for each of them
        found = [
            each
            for each in await self.store.list_by_owner(owner)
            if (show_ended or not each.ended(now))
            and caller.bot in ("", each.bot)
            and (not place or _place(each) < place)
        ]
        more = len(found) > size
        return found[:size], pagination.token(_place(found[size - 1]), *query) if more else ""

    async def issue_for_arena(self, request: TokenRequest) -> IssuedToken:
        """Issue a token for the arena itself; revoke the old ones of the same bot and label."""
        same_use = [
            each.token_id
            for each in await self.store.list_by_owner(request.owner)
            if (each.bot, each.label) == (request.bot, request.label) and not each.revoked
        ]
        for token_id in same_use[_MOST_ARENA_TOKENS - 1 :]:
            await self.store.revoke(token_id)
        return await self.issue_with_id(token_format.new_id(request.owner), request)

    async def issue_with_id(self, token_id: str, request: TokenRequest) -> IssuedToken:
        """Issue a token for the arena itself under an id that is new."""
        secret = token_format.new_secret(token_id)
        digest, scopes = token_format.digest(secret), tuple(sorted(request.scopes))
        lifetime = request.lifetime_ms or 0
        new = NewToken(token_id, digest, request.bot, scopes, request.label, lifetime)
        return await self._create(new, Operation().operation_id, secret, NO_LIMIT)

    async def revoke_all(self, owner: str) -> None:
        """Revoke every token of an owner."""
        for token in await self.store.list_by_owner(owner):
            if not token.revoked:
                await self.store.revoke(token.token_id)

    async def delete_all(self, owner: str) -> None:
        """Revoke every token of an owner, which ends its streams, and delete them."""
        await self.revoke_all(owner)
        for token in await self.store.list_by_owner(owner):
            await self.store.delete(token.token_id)

    async def _create(
        self, new: NewToken, operation_id: str, secret: str, most: int
    ) -> IssuedToken:
        status = await self.store.create(new, operation_id, most)
        if status is TokenStatus.LIMIT:
            raise LimitExceeded(
                f"an owner may have {most} tokens: revoke one that is not needed",
                {"limit": "tokens_per_owner", "allowed": str(most)},
            )
        if status is TokenStatus.MISSING:
            raise names.unknown("owner", owner_of(new.token_id))
        if status is not TokenStatus.OK:
            raise _changed_since()
        await self._delete_old(owner_of(new.token_id))
        return IssuedToken(await self.get(new.token_id), secret)

    async def _delete_old(self, owner: str) -> None:
        """Delete all but the newest ended tokens; else creating and revoking fills the store."""
        now = await self.store.now()
        ended = [each for each in await self.store.list_by_owner(owner) if each.ended(now)]
        for token in ended[_MOST_ENDED:]:
            await self.store.delete(token.token_id)

    async def _managed(self, caller: Caller, token_id: str, else_scope: int | None = None) -> Token:
        """A token that the caller may change; one of another owner needs `else_scope`."""
        if not token_format.is_id(token_id):
            raise InvalidRequest("this is not the id of a token", {"field": "token_id"})
        if owner_of(token_id) == caller.owner:
            caller.require_scope(SCOPE_MANAGE)
        elif else_scope is None:
            raise Forbidden("the token belongs to another owner")
        else:
            caller.require_scope(else_scope)
        token = await self.get(token_id)
        if caller.bot not in ("", token.bot):
            raise Forbidden(f"the token of this call is bound to {caller.bot}")
        return token

    async def _check_owner_and_bot(self, owner: str, bot: str) -> None:
        if await self._accounts.owner(owner) is None:
            raise UnknownAccount(f"there is no owner {owner}", {"kind": "owner", "name": owner})
        if not bot:
            return
        name = names.bot_name(bot)
        if name.owner != owner:
            raise InvalidRequest(f"{bot} is not a bot of {owner}", {"field": "bot"})
        found = await self._accounts.bot(name)
        if found is None:
            raise UnknownAccount(f"there is no bot {bot}", {"kind": "bot", "name": bot})
        if found.retired:
            raise names.retired(str(bot))


def _checked_scopes(scopes: Collection[int], caller: Caller) -> tuple[int, ...]:
    requested = set(scopes)
    if not requested or not requested <= set(ALL_SCOPES):
        raise InvalidRequest(
            "a token needs at least one scope, and known ones", {"field": "scopes"}
        )
    missing = requested - caller.scopes
    if missing:
        raise missing_scope([min(missing)])
    return tuple(sorted(requested))


def _checked_lifetime(lifetime_ms: int | None) -> int:
    if lifetime_ms is None:
        return 0
    if not 0 < lifetime_ms <= LONGEST_LIFETIME_MS:
        raise InvalidRequest(
            "a token lives for a time that is more than 0 and at most 10 years",
            {"field": "lifetime"},
        )
    return lifetime_ms


def _changed_since() -> Refused:
    return Refused("since then the token got another secret, expired or was revoked")


def _place(token: Token) -> str:
    return f"{token.created:015} {token.token_id}"
