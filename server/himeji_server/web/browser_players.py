"""People who play in a browser: a browser that takes a seat becomes a bot of the local owner.

Its session is a token like any other, bound to that bot and good for playing. Only the browser has
the secret, in a cookie that scripts cannot read and that is not sent with requests of other sites.
"""

from __future__ import annotations

import secrets
from typing import Final

from himeji.rules.errors import Forbidden, InvalidToken
from himeji.v1.account_service_pb2 import SCOPE_PLAY, SCOPE_READ
from starlette.requests import Request
from starlette.responses import Response

from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.token_cache import TokenCache
from himeji_server.accounts.tokens import TokenRequest
from himeji_server.names import LOCAL, BotName

COOKIE: Final = "himeji_guest"
PREFIX: Final = "browser-"
MOST: Final = 8
"""Browsers that are registered at the same time; a new one retires the oldest one."""

LIFETIME_MS: Final = 30 * 24 * 3_600_000
_LABEL: Final = "the arena page"
_SCOPES: Final = (SCOPE_READ, SCOPE_PLAY)


class BrowserPlayers:
    """The browsers that are registered as players."""

    def __init__(self, accounts: Accounts, *, dev: bool) -> None:
        self._accounts = accounts
        self._tokens = TokenCache(accounts.tokens)
        self.allowed = dev
        """Whether browsers may play: only in development mode, which has a local owner."""

    async def find(self, request: Request) -> Caller | None:
        """The player that a browser is registered as, or None."""
        secret = request.cookies.get(COOKIE)
        if not secret:
            return None
        try:
            caller = await self._tokens.verify(secret)
        except InvalidToken:
            return None
        return caller if caller.bot and caller.has_scope(SCOPE_PLAY) else None

    async def require(self, request: Request) -> Caller:
        """The player that a browser is registered as; raises Forbidden if it is not."""
        caller = await self.find(request)
        if caller is None:
            raise Forbidden("this browser has no seat: take one first")
        return caller

    async def register(self) -> tuple[Caller, str]:
        """Register a new player; returns it with the secret for the browser's cookie."""
        if not self.allowed:
            raise Forbidden("people play at arenas in development mode (himeji serve --dev)")
        await self._retire_oldest()
        name = BotName(LOCAL, f"{PREFIX}{secrets.token_hex(4)}")
        await self._accounts.bots.ensure(name, "Somebody at a browser")
        issued = await self._accounts.tokens.issue_for_arena(
            TokenRequest(LOCAL, str(name), _SCOPES, _LABEL, LIFETIME_MS)
        )
        return await self._tokens.verify(issued.secret), issued.secret

    async def _retire_oldest(self) -> None:
        """Retire the oldest browsers, so that there is room for one more."""
        bots, _ = await self._accounts.bots.list_bots(LOCAL, 0, "", show_retired=False)
        browsers = [bot for bot in bots if bot.name.short.startswith(PREFIX)]
        browsers.sort(key=lambda bot: bot.created)
        for bot in browsers[: max(0, len(browsers) - MOST + 1)]:
            caller = Caller(LOCAL, "", frozenset(_SCOPES), str(bot.name))
            await self._accounts.bots.retire(caller, str(bot.name))


def set_cookie(response: Response, secret: str) -> None:
    """Store the secret in the browser."""
    response.set_cookie(
        COOKIE,
        secret,
        max_age=LIFETIME_MS // 1000,
        path="/",
        httponly=True,
        samesite="strict",
    )
