"""A cache of verified tokens, so that most calls need no round trip to the store.

Invariant: a revoked token works for at most a second. An entry expires after a second, and is
invalidated at once when this process changes the token or is notified of a change. A verification
that was under way during a change is not cached, because its answer may be older than the change.
"""

import time
from collections.abc import Callable
from typing import Final

from himeji_server.accounts import token_format
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.tokens import Tokens

CACHE_SECONDS: Final = 1.0
_REMEMBER_SECONDS: Final = 3_600.0
_MOST_ENTRIES: Final = 10_000


class TokenCache:
    """The callers whose tokens were verified within the last second."""

    def __init__(self, tokens: Tokens, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = tokens
        self._clock = clock
        self._entries: dict[str, tuple[Caller, float]] = {}  # by the digest of the secret
        self._valid_at: dict[str, float] = {}  # by the digest, the longest ago first
        self._changes = 0
        tokens.store.on_change(self._invalidate)

    async def verify(self, secret: str) -> Caller:
        """The caller with this secret; raises InvalidToken."""
        digest, now = token_format.digest(secret), self._clock()
        entry = self._entries.get(digest)
        if entry is not None and now < entry[1]:
            return entry[0]
        changes = self._changes
        self._valid_at.pop(digest, None)
        caller = await self._tokens.verify(secret)
        self._remember(digest, now)
        if changes == self._changes:
            if len(self._entries) >= _MOST_ENTRIES:
                self._entries.clear()
            self._entries[digest] = (caller, now + CACHE_SECONDS)
        return caller

    def was_valid(self, secret: str) -> bool:
        """Whether the secret was valid within the last hour, so that it is no guess."""
        valid_at = self._valid_at.get(token_format.digest(secret))
        return valid_at is not None and self._clock() - valid_at < _REMEMBER_SECONDS

    def _remember(self, digest: str, now: float) -> None:
        if len(self._valid_at) >= _MOST_ENTRIES:
            del self._valid_at[next(iter(self._valid_at))]
        self._valid_at[digest] = now

    def _invalidate(self, token_id: str) -> None:
        self._changes += 1
        self._entries = {
            k: each for k, each in self._entries.items() if each[0].token_id != token_id
        }
