"""Guests of the page: a fixed number of names that are given to one person after another.

Each person who gets a name is a new version of its bot, so that a name and a version, which is what
a replay has, never mean two people. Of these versions only the last one is kept, lest the store
grow with every visit. Guests do not play for ratings.

Invariant: of the tokens of one name, at most one works in the end. Whoever takes a name over writes
the id of the new token first, then revokes all others, and looks at the id again when the token
exists: if somebody else has taken the name since, the token is revoked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji.v1.account_service_pb2 import SCOPE_PLAY, SCOPE_READ

from himeji_server.accounts import token_format
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.tokens import IssuedToken, TokenRequest, Tokens
from himeji_server.limits import AccountLimits
from himeji_server.names import GUEST, BotName
from himeji_server.store import Store
from himeji_server.store.guests import GuestStore
from himeji_server.store.rate_windows import MINUTE, RateWindow, RateWindows

LIFETIME_MS: Final = 30 * 24 * 3_600_000
_PREFIX: Final = "browser-"
_DESCRIPTION: Final = "Somebody at a browser; each version is somebody else"
_LABEL: Final = "the arena page"
_SCOPES: Final = (SCOPE_READ, SCOPE_PLAY)


@dataclass(frozen=True)
class GuestName:
    """A name for guests, with the token that has it."""

    bot: BotName
    token_id: str = ""
    last_use: int = 0
    """When whoever has the name was last seen, in milliseconds; 0: nobody has it."""


class Guests:
    """The names of guests, and who has them."""

    def __init__(self, store: Store, bots: Bots, tokens: Tokens, limits: AccountLimits) -> None:
        self._store = GuestStore(store)
        self._rate = RateWindows(store, "new guests")
        self._bots = bots
        self._tokens = tokens
        self._limits = limits

    async def count(self, address: str) -> None:
        """Count a new guest from an address; raises RateLimited."""
        limits = self._limits
        await self._rate.acquire(
            [
                RateWindow("guests_per_minute", limits.guests_per_minute, MINUTE, address),
                RateWindow("guests_in_all_per_minute", limits.guests_in_all_per_minute, MINUTE),
            ]
        )

    async def longest_idle_first(self) -> Sequence[GuestName]:
        """All names that can be given: those that nobody has, then by the last use."""
        given, now = await self._store.tokens(), await self._tokens.store.now()
        last_use: dict[str, int] = {}
        for token in await self._tokens.store.list_by_owner(GUEST):
            if not token.ended(now):
                used = max(token.used, token.created)
                last_use[token.bot] = max(used, last_use.get(token.bot, 0))
        numbered = (BotName(GUEST, f"{_PREFIX}{n + 1}") for n in range(self._limits.guests))
        names = [
            GuestName(bot, given.get(bot.short, ""), last_use.get(str(bot), 0)) for bot in numbered
        ]
        return sorted(names, key=lambda each: each.last_use)

    async def take(self, name: GuestName) -> str | None:
        """Take a name away from whoever has it; the id of its next token.

        None if somebody else was quicker.
        """
        token_id = token_format.new_id(GUEST)
        most = self._limits.guests
        if not await self._store.replace(name.bot.short, name.token_id, token_id, most):
            return None
        for token in await self._tokens.store.list_by_owner(GUEST):
            if token.bot == str(name.bot) and not token.revoked:
                await self._tokens.store.revoke(token.token_id)
        return token_id

    async def give(self, name: GuestName, token_id: str) -> IssuedToken | None:
        """Give a name that was taken to somebody new; None if it was taken again since."""
        await self._bots.replace_arena_version(name.bot, _DESCRIPTION)
        request = TokenRequest(GUEST, str(name.bot), _SCOPES, _LABEL, LIFETIME_MS)
        issued = await self._tokens.issue_with_id(token_id, request)
        if (await self._store.tokens()).get(name.bot.short) == token_id:
            return issued
        await self._tokens.store.revoke(token_id)
        return None
