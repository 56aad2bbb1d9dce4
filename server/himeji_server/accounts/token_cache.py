"""A cache of verified tokens, so that most calls need no round trip to the store.

Invariant: a revoked token works for at most a second. An entry expires after a second, and is
invalidated at once when this process changes the token or is notified of a change. A verification
that was under way during a change is not cached, because its answer may be older than the change.

Calls that show the same token at the same time share one verification. Unless the token was valid
within the last hour it may be a guess, and waits for its turn (GuessLimiter): whoever has a token
that works is never held up by what others at the same address try.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from himeji.rules.errors import InvalidToken

from himeji_server.accounts import token_format
from himeji_server.accounts.caller import Caller, current_address
from himeji_server.accounts.tokens import Tokens
from himeji_server.rate_limits import GuessLimiter

CACHE_SECONDS: Final = 1.0
REMEMBER_SECONDS: Final = 3_600.0
_MOST_ENTRIES: Final = 10_000


class TokenCache:
    """The callers whose tokens were verified within the last second."""

    def __init__(
        self,
        tokens: Tokens,
        guesses: GuessLimiter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = tokens
        self._guesses = guesses
        self._clock = clock
        # All by the digest of the secret.
        self._entries: dict[str, tuple[Caller, float]] = {}
        self._lookups: dict[str, asyncio.Task[Caller]] = {}
        self._valid_at: dict[str, float] = {}  # the longest ago first
        self._changes = 0
        tokens.store.on_change(self._invalidate)

    async def verify(self, secret: str) -> Caller:
        """The caller with this secret; raises InvalidToken, or RateLimited."""
        digest = token_format.digest(secret)
        entry = self._entries.get(digest)
        if entry is not None and self._clock() < entry[1]:
            return entry[0]
        lookup = self._lookups.get(digest)
        if lookup is None:
            lookup = self._lookups[digest] = asyncio.create_task(self._look_up(secret, digest))
            lookup.add_done_callback(lambda done: self._forget(digest, done))
        # A caller that goes away does not take the others with it.
        return await asyncio.shield(lookup)

    async def _look_up(self, secret: str, digest: str) -> Caller:
        now, changes = self._clock(), self._changes
        guesses = None if self._was_valid(digest, now) else self._guesses
        if guesses is not None:
            await guesses.wait(current_address())
            now, changes = self._clock(), self._changes
        try:
            caller = await self._tokens.verify(secret)
        except InvalidToken:
            self._valid_at.pop(digest, None)
            raise
        if guesses is not None:
            guesses.give_back(current_address())
        self._remember(digest, now)
        if changes == self._changes:
            if len(self._entries) >= _MOST_ENTRIES:
                self._entries.clear()
            self._entries[digest] = (caller, now + CACHE_SECONDS)
        return caller

    def _forget(self, digest: str, done: asyncio.Task[Caller]) -> None:
        if self._lookups.get(digest) is done:
            del self._lookups[digest]
        if not done.cancelled():
            done.exception()  # all who waited for it may have gone

    def _was_valid(self, digest: str, now: float) -> bool:
        valid_at = self._valid_at.get(digest)
        return valid_at is not None and now - valid_at < REMEMBER_SECONDS

    def _remember(self, digest: str, now: float) -> None:
        self._valid_at.pop(digest, None)
        if len(self._valid_at) >= _MOST_ENTRIES:
            del self._valid_at[next(iter(self._valid_at))]
        self._valid_at[digest] = now

    def _invalidate(self, token_id: str) -> None:
        self._changes += 1
        self._lookups.clear()  # calls from now on need an answer that is not older than the change
        self._entries = {
            k: each for k, each in self._entries.items() if each[0].token_id != token_id
        }
