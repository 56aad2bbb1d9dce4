"""Accounts: owners, and through `bots` and `tokens` their bots and tokens.

For the rest of the server:

    caller = current_caller()                            # in a handler (caller.py)
    bot, version = await accounts.bots.resolve_player(caller, request.bot, request.bot_version)
    issued = await accounts.issue_house_token("greedy")  # for the process of a house bot
    with streams.register(caller) as ended: ...          # an open stream (open_streams.py)
"""

import asyncio
from typing import Final

from himeji.rules.errors import Forbidden, InvalidRequest, Refused
from himeji.v1.account_service_pb2 import SCOPE_PLAY, SCOPE_READ

from himeji_server import names, pagination
from himeji_server.accounts import token_format
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller, current_address
from himeji_server.accounts.guests import Guests
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.accounts.tokens import (
    ALL_SCOPES,
    OWNERS_SCOPES,
    IssuedToken,
    TokenRequest,
    Tokens,
)
from himeji_server.limits import NO_LIMIT, AccountLimits
from himeji_server.names import ARENA, GUEST, HOUSE, LOCAL, BotName
from himeji_server.processor_shares import pause
from himeji_server.rate_limits import exceeded
from himeji_server.store import Store
from himeji_server.store.accounts import (
    AccountStore,
    CreateOwnerStatus,
    FirstToken,
    Owner,
    ReserveOwnerStatus,
)
from himeji_server.store.presence import Presence
from himeji_server.store.rate_windows import DAY, MINUTE, RateWindow, RateWindows
from himeji_server.store.tokens import Token, scopes_text
from himeji_server.texts import check_text

LONGEST_DISPLAY_NAME: Final = 80
HOUSE_TOKEN_MS: Final = 7 * 24 * 3_600_000
_SHORTEST_ANONYMOUS_ID: Final = 16


class Accounts:
    """The accounts of an arena."""

    def __init__(
        self, store: Store, limits: AccountLimits | None = None, *, dev: bool = False
    ) -> None:
        """With `dev` there are a local owner, whose bots exist when they first play, and guests."""
        self._limits = limits or AccountLimits()
        self._store = AccountStore(store)
        self._registrations = RateWindows(store, "registrations")
        self.requests = IdempotencyKeys(self._store, self._limits.request_ids_per_owner)
        self._dev = dev
        self.bots = Bots(self._store, Presence(store), self._limits, dev=dev)
        self.tokens = Tokens(store, self._limits)
        self.guests = Guests(store, self.bots, self.tokens, self._limits)

    async def who_am_i(self, caller: Caller) -> tuple[Owner, Token]:
        """The owner and the token behind a call."""
        return await asyncio.gather(self.owner(caller.owner), self.tokens.get(caller.token_id))

    async def create_owner(
        self, caller: Caller | None, name: str, display_name: str = "", request_id: str = ""
    ) -> tuple[Owner, IssuedToken]:
        """Create an owner with a first token; authorisation.py decides who may call this."""
        names.owner_name(name)
        check_text(display_name, "display_name", LONGEST_DISPLAY_NAME)
        names.check_not_reserved(name)
        is_stranger = caller is None or not caller.is_administrator
        if is_stranger:
            await self._count_registration(current_address())
        operation = await self._claim(caller, name, display_name, request_id)
        await self._reserve(name, self._limits.owners if is_stranger else NO_LIMIT)
        secret = token_format.new_secret(operation.token_id)
        first = FirstToken(
            operation.token_id, token_format.digest(secret), scopes_text(OWNERS_SCOPES)
        )
        # An anonymous caller is known by the request id alone: somebody else who learns the id and
        # repeats the request must not get a token that is in use.
        owner = Owner(name, display_name, 0, house=False)
        status = await self._store.create_owner(
            owner, operation.operation_id, first, if_unused=is_stranger
        )
        if status is CreateOwnerStatus.EXISTS:
            raise names.in_use("owner", name)
        # Again: the name may have been released since, with a former owner that had it.
        await self._store.reserve_owner(name, NO_LIMIT)
        if status is not CreateOwnerStatus.OK:
            raise Refused("since then the first token got another secret or was revoked")
        return await self.owner(name), IssuedToken(
            await self.tokens.get(operation.token_id), secret
        )

    async def owner(self, name: str) -> Owner:
        """An owner; raises UnknownAccount."""
        found = await self._store.owner(names.owner_name(name))
        if found is None:
            raise names.unknown("owner", name)
        return found

    async def owners(self, page_size: int, page_token: str) -> tuple[list[Owner], str]:
        """A page of all owners."""
        size, place = pagination.size(page_size), pagination.cursor(page_token, "owners")
        found = await self._store.owner_names(place, size + 1)
        next_page_token = pagination.token(found[size - 1], "owners") if len(found) > size else ""
        await pause()  # a command for each of them
        return await self._store.owners(found[:size]), next_page_token

    async def prepare(self) -> None:
        """Create the arena's own owners, when it opens."""
        await self._make_owner(HOUSE, "The house", house=True)
        if self._dev:
            await self._make_owner(LOCAL, "This machine")
            await self._make_owner(GUEST, "Guests of the page")
        else:  # tokens that development mode left in the same store must not work
            await self.tokens.revoke_all(LOCAL)
            await self.tokens.revoke_all(GUEST)

    async def issue_house_token(self, bot: str, description: str = "") -> IssuedToken:
        """Issue a token for the process of "house/<bot>"; the bot is created if it is missing.

        The token is bound to the bot, good for reading and playing, and expires after a week; the
        process ends then and is restarted with a new token.
        """
        name = names.bot_name(str(BotName(HOUSE, bot)))
        await self.bots.ensure(name, description)
        scopes = (SCOPE_READ, SCOPE_PLAY)
        request = TokenRequest(HOUSE, str(name), scopes, ARENA, HOUSE_TOKEN_MS)
        return await self.tokens.issue_for_arena(request)

    async def issue_full_token(self, owner: str, label: str) -> IssuedToken:
        """Issue a token with all scopes for an owner of the arena's own, created if missing."""
        if owner not in names.ARENA_OWNERS:
            raise Forbidden(f"{owner} is not an owner of the arena's own")
        await self._make_owner(owner, "")
        return await self.tokens.issue_for_arena(TokenRequest(owner, "", ALL_SCOPES, label))

    async def _count_registration(self, address: str) -> None:
        """Count an attempt to register, before anything about it is stored; raises RateLimited."""
        limits = self._limits
        await self._registrations.acquire(
            [
                RateWindow(
                    "registrations_per_minute", limits.registrations_per_minute, MINUTE, address
                ),
                RateWindow("registrations_per_day", limits.registrations_per_day, DAY, address),
                RateWindow(
                    "registrations_in_all_per_day", limits.registrations_in_all_per_day, DAY
                ),
            ]
        )

    async def _claim(
        self, caller: Caller | None, name: str, display_name: str, request_id: str
    ) -> Operation:
        content: list[object] = ["CreateOwner", name, display_name]
        operation = Operation(token_id=token_format.new_id(name))
        if caller is not None:
            return await self.requests.claim(caller.owner, request_id, content, operation)
        if 0 < len(request_id) < _SHORTEST_ANONYMOUS_ID:
            raise InvalidRequest(
                "without a token only the request id tells you from other callers: give it "
                f"{_SHORTEST_ANONYMOUS_ID} characters or more, a random UUID by preference",
                {"field": "request_id"},
            )
        # Kept apart from the requests of the owner: strangers must not make it forget those.
        return await self.requests.claim(f"anonymous/{name}", request_id, content, operation)

    async def _reserve(self, name: str, most: int) -> None:
        status, similar = await self._store.reserve_owner(name, most)
        if status is ReserveOwnerStatus.FULL:
            raise exceeded("owners", most, "this arena has {} owners and takes no more")
        if status is ReserveOwnerStatus.SIMILAR:
            raise names.looks_like("owner", name, similar)

    async def _make_owner(self, name: str, display_name: str, *, house: bool = False) -> None:
        await self._store.reserve_owner(name, NO_LIMIT)
        await self._store.create_owner(Owner(name, display_name, 0, house), ARENA)
