"""Open streams and the tokens they were opened with: a stream ends when its secret stops working.

A handler that holds a stream registers it for as long as it is open:

    with streams.watch(current_caller()) as ended:
        ...   # `ended` is an asyncio.Event; once it is set, send Notice TOKEN_REVOKED and raise
        ...   # token_ended(), for which the guard makes the status UNAUTHENTICATED

It is set within two seconds of a revocation by any process, of the token's expiry, and of the end
of the overlap after a rotation. A bell in the store tells at once; since bells can be missed, all
tokens of open streams are looked at every second as well. While the store does not answer, streams
stay open: nothing can be played then either.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Final, NoReturn

from himeji.rules.errors import InvalidToken, StoreUnavailable

from himeji_server.accounts.caller import Caller
from himeji_server.accounts.tokens import opens
from himeji_server.store import StoreRefusedError
from himeji_server.store.tokens import TokenStore

SECONDS_BETWEEN_LOOKS: Final = 1.0


class OpenStreams:
    """The streams that are open in this process."""

    def __init__(self, tokens: TokenStore) -> None:
        self._tokens = tokens
        self._open: defaultdict[str, dict[asyncio.Event, Caller]] = defaultdict(dict)

    @contextmanager
    def watch(self, caller: Caller) -> Iterator[asyncio.Event]:
        """Register a stream; the event is set when the secret it was opened with works no more."""
        ended = asyncio.Event()
        self._open[caller.token_id][ended] = caller
        try:
            yield ended
        finally:
            of_token = self._open[caller.token_id]
            del of_token[ended]
            if not of_token:
                del self._open[caller.token_id]

    async def follow(self) -> None:
        """Keep the events true; returns only by being cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._look())

    async def _listen(self) -> None:
        async with aclosing(self._tokens.changes()) as changes:
            async for token_id in changes:
                await self._check(token_id)

    async def _look(self) -> NoReturn:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            await asyncio.gather(*(self._check(token_id) for token_id in list(self._open)))

    async def _check(self, token_id: str) -> None:
        if token_id not in self._open:
            return
        try:
            token, now = await self._tokens.get_with_time(token_id)
        except (StoreUnavailable, StoreRefusedError):
            return
        for ended, caller in self._open.get(token_id, {}).items():
            if not opens(token, caller.digest, now):
                ended.set()


def token_ended() -> InvalidToken:
    """What to raise when a stream's token has ended."""
    return InvalidToken("the token with which the stream was opened expired or was revoked")
