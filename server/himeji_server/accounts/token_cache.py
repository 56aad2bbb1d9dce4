"""Tokens that were good a moment ago: most calls need not ask the store who calls.

What is remembered lives for a second at most, and goes at once when this process changes the token
or hears of its change. So a revocation works here immediately and elsewhere within a second, even
if its bell is missed.
"""

import time
from collections.abc import Callable
from typing import Final

from himeji_server.accounts import token_format
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.tokens import Tokens

SECONDS: Final = 1.0
_MOST: Final = 10_000


class TokenCache:
    """The callers of the last second."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = tokens
        self._clock = clock
        self._known: dict[str, tuple[Caller, float]] = {}  # by the digest of the secret
        self._changes = 0
        tokens.store.on_change(self._forget)

    async def verify(self, secret: str) -> Caller:
        """Who shows this secret; raises InvalidToken."""
        digest, now = token_format.digest(secret), self._clock()
        known = self._known.get(digest)
        if known is not None and now < known[1]:
            return known[0]
        changes = self._changes
        caller = await self._tokens.verify(secret)
        if changes == self._changes:  # else the answer may be older than the change
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[digest] = (caller, now + SECONDS)
        return caller

    def _forget(self, token_id: str) -> None:
        self._changes += 1
        self._known = {k: each for k, each in self._known.items() if each[0].token_id != token_id}
