"""Open streams by token: a stream ends when the secret it was opened with stops working.

A handler registers its stream for as long as it is open:

    with streams.register(current_caller()) as ended:
        ...   # `ended` is an asyncio.Event; once it is set, send StreamEnd TOKEN_REVOKED and raise
        ...   # token_ended(), which becomes the status UNAUTHENTICATED

Invariant: the event is set within two seconds of a revocation by any process, of the token's
expiry, and of the end of the overlap after a rotation. A notification from the store sets it at
once; because notifications can be lost, the tokens of all open streams are also polled every
second. While the store does not answer, streams stay open: nothing can be played then either.

Everything runs in one event loop. `_check` awaits the store, so it looks the streams up again
afterwards: some may have been closed meanwhile.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Final, NoReturn

from himeji.rules.errors import InvalidToken, StoreUnavailable

from himeji_server.accounts.caller import Caller
from himeji_server.accounts.tokens import is_valid
from himeji_server.store import StoreRefusedError
from himeji_server.store.tokens import TokenStore

POLL_SECONDS: Final = 1.0


class OpenStreams:
    """The streams that are open in this process."""

    def __init__(self, tokens: TokenStore) -> None:
        self._tokens = tokens
        self._open: defaultdict[str, dict[asyncio.Event, Caller]] = defaultdict(dict)

    @contextmanager
    def register(self, caller: Caller) -> Iterator[asyncio.Event]:
        """Register a stream; the event is set when the secret it was opened with stops working."""
        ended = asyncio.Event()
        self._open[caller.token_id][ended] = caller
        try:
            yield ended
        finally:
            same_token = self._open[caller.token_id]
            del same_token[ended]
            if not same_token:
                del self._open[caller.token_id]

    async def monitor(self) -> None:
        """Set the events of streams whose token has ended; returns only by being cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._subscribe())
            group.create_task(self._poll())

    async def _subscribe(self) -> None:
        async with aclosing(self._tokens.changes()) as changes:
            async for token_id in changes:
                await self._check(token_id)

    async def _poll(self) -> NoReturn:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await asyncio.gather(*(self._check(token_id) for token_id in list(self._open)))

    async def _check(self, token_id: str) -> None:
        if token_id not in self._open:
            return
        try:
            token, now = await self._tokens.get_with_time(token_id)
        except (StoreUnavailable, StoreRefusedError):
            return
        for ended, caller in self._open.get(token_id, {}).items():
            if not is_valid(token, caller.digest, now):
                ended.set()


def token_ended() -> InvalidToken:
    """The error to raise when the token of a stream has ended."""
    return InvalidToken("the token with which the stream was opened expired or was revoked")
