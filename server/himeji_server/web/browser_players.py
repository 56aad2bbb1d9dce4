"""People who play in a browser: a browser that takes a seat becomes a guest of the arena.

Its session is a token like any other, bound to the guest's bot and good for playing. Only the
browser has the secret, in a cookie that scripts cannot read and that is not sent with requests of
other sites. When all names of guests are given, a new guest gets the name of another one, whose
cookie then counts as none, and whose games end.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Final

from himeji.rules.errors import (
    Forbidden,
    InvalidToken,
    Refused,
    StoreUnavailable,
    UnknownGame,
)
from himeji.v1.account_service_pb2 import SCOPE_PLAY
from starlette.requests import Request
from starlette.responses import Response

from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.guests import LIFETIME_MS, GuestName
from himeji_server.games.use_cases import GameUseCases
from himeji_server.names import GUEST
from himeji_server.store.game_records import WAITING

COOKIE: Final = "himeji_guest"
_TRIES: Final = 20
_PAUSE_SECONDS: Final = 0.05


class BrowserPlayers:
    """The browsers that are registered as guests."""

    def __init__(self, accounts: Accounts, use_cases: GameUseCases, *, dev: bool) -> None:
        self._tokens = accounts.tokens
        self._guests = accounts.guests
        self._use_cases = use_cases
        self.allowed = dev
        """Whether browsers may play: only in development mode, which has guests."""

    async def find(self, request: Request) -> Caller | None:
        """The guest that a browser is registered as, or None."""
        secret = request.cookies.get(COOKIE)
        if not secret:
            return None
        try:
            # Without the cache: the name of a guest who has gone may be somebody else's at once.
            caller = await self._tokens.verify(secret)
        except InvalidToken:
            return None
        is_guest = caller.owner == GUEST and caller.bot and caller.has_scope(SCOPE_PLAY)
        return caller if is_guest else None

    async def require(self, request: Request) -> Caller:
        """The guest that a browser is registered as; raises Forbidden if it is none."""
        caller = await self.find(request)
        if caller is None:
            raise Forbidden("this browser has no seat: take one first")
        return caller

    async def register(self, address: str) -> tuple[Caller, str]:
        """Register a new guest; returns it with the secret for the browser's cookie."""
        if not self.allowed:
            raise Forbidden("people play at arenas in development mode (himeji serve --dev)")
        await self._guests.count(address)
        for _ in range(_TRIES):
            name = await self._choose_name()
            token_id = await self._guests.take(name)
            if token_id is not None:
                await self._end_games(str(name.bot))
                issued = await self._guests.give(name, token_id)
                if issued is not None:
                    return await self._tokens.verify(issued.secret), issued.secret
            # Somebody else was quicker. A pause of any length, lest they meet at every name.
            await asyncio.sleep(_PAUSE_SECONDS * random.random())  # noqa: S311 - no secret
        raise StoreUnavailable("too many new guests at the same moment, try again")

    async def _choose_name(self) -> GuestName:
        """The name of whoever has been away longest, of those in a game only if all are."""
        names = await self._guests.longest_idle_first()
        for name in names:
            if not name.last_use or not await self._use_cases.unfinished_games(str(name.bot)):
                return name
        return names[0]

    async def _end_games(self, bot: str) -> None:
        """End the games of a guest who has gone: others shall not wait for it."""
        guest = Caller(GUEST, "", frozenset(), bot)
        for view in await self._use_cases.unfinished_games(bot):
            with contextlib.suppress(Refused, UnknownGame):  # it has ended or begun meanwhile
                if view.stored.state == WAITING and view.stored.creator.owner == GUEST:
                    await self._use_cases.cancel(view.game_id)
                await self._use_cases.resign(guest, view.game_id, None)
        for game_id in await self._use_cases.games_of(bot):
            await self._use_cases.forget_game(bot, game_id)
        for game_id in await self._use_cases.invitations(bot):
            await self._use_cases.forget_invitation(bot, game_id)


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
