"""Tokens in the store: what they are good for and the digests of their secrets, never a secret.

A token's id begins with its owner's name, so it is found in the owner's slot without an index.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from himeji_server.store import keys
from himeji_server.store.accounts import fields
from himeji_server.store.client import Script, Store

_CREATE: Final = Script("create_token")
_ROTATE: Final = Script("rotate_token")
_REVOKE: Final = Script("revoke_token")


@dataclass(frozen=True)
class Token:
    """A token, without its secret. Times are in milliseconds, 0 where there is none."""

    token_id: str
    bot: str
    scopes: tuple[int, ...]
    label: str
    created: int
    expires: int = 0
    revoked: int = 0
    overlap: int = 0
    used: int = 0
    mark: str = ""
    """The request that gave it its present secret."""

    digest: str = field(default="", repr=False)
    digest_before: str = field(default="", repr=False)

    @property
    def owner(self) -> str:
        """The owner it belongs to."""
        return owner_of(self.token_id)

    def ended(self, now: int) -> bool:
        """Whether it works no more, with any secret."""
        return bool(self.revoked) or 0 < self.expires <= now


@dataclass(frozen=True)
class NewToken:
    """A token to be created."""

    token_id: str
    digest: str = field(repr=False)
    bot: str
    scopes: tuple[int, ...]
    label: str
    lifetime_ms: int  # 0: no end


def owner_of(token_id: str) -> str:
    """The owner of a token, by its id."""
    return token_id.partition(".")[0]


def scopes_text(scopes: Iterable[int]) -> str:
    """Scopes as they are stored."""
    return ",".join(map(str, sorted(scopes)))


class TokenStore:
    """The tokens of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: list[Callable[[str], None]] = []

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call this with the id of a token whenever this process changes it or hears of it."""
        self._listeners.append(listener)

    def _changed(self, token_id: str) -> None:
        for listener in self._listeners:
            listener(token_id)

    async def create(self, new: NewToken, mark: str, most: int) -> str:
        """Create a token; "ok", "limit" or "changed" (see the script)."""
        owner = owner_of(new.token_id)
        answer = await self._store.run(
            _CREATE,
            [keys.tokens(owner), keys.live_tokens(owner), keys.token(owner, new.token_id)],
            *(mark, new.token_id, new.digest, new.bot, scopes_text(new.scopes), new.label),
            *(new.lifetime_ms or "", most, keys.TOKEN_BELL),
        )
        self._changed(new.token_id)
        return bytes(answer).decode()

    async def rotate(
        self, token_id: str, mark: str, *, digest: str, before: str, overlap_ms: int
    ) -> str:
        """Give a token a new secret; "ok", "missing" or "changed" (see the script)."""
        answer = await self._store.run(
            _ROTATE,
            [keys.token(owner_of(token_id), token_id)],
            *(mark, token_id, digest, before, overlap_ms, keys.TOKEN_BELL),
        )
        self._changed(token_id)
        return bytes(answer).decode()

    async def revoke(self, token_id: str) -> bool:
        """End a token; whether it exists."""
        owner = owner_of(token_id)
        listed = [keys.token(owner, token_id), keys.live_tokens(owner)]
        answer = await self._store.run(_REVOKE, listed, token_id, keys.TOKEN_BELL)
        self._changed(token_id)
        return bytes(answer) == b"ok"

    async def get(self, token_id: str) -> Token | None:
        """A token."""
        key = keys.token(owner_of(token_id), token_id)
        return _token(token_id, await self._store.call("HGETALL", key))

    async def get_now(self, token_id: str) -> tuple[Token | None, int]:
        """A token and the store's time."""
        token, now = await asyncio.gather(self.get(token_id), self.now())
        return token, now

    async def of_owner(self, owner: str) -> list[Token]:
        """All tokens of an owner, the newest first."""
        ids = [bytes(each).decode() for each in await self._store.call(*_newest_first(owner))]
        found = await asyncio.gather(*(self.get(token_id) for token_id in ids))
        return [each for each in found if each is not None]

    async def forget(self, token_id: str) -> None:
        """Remove a token for good; done in this order it can be done again after a crash."""
        owner = owner_of(token_id)
        await self._store.call("DEL", keys.token(owner, token_id))
        await self._store.call("ZREM", keys.live_tokens(owner), token_id)
        await self._store.call("ZREM", keys.tokens(owner), token_id)
        self._changed(token_id)

    async def note_use(self, token_id: str, now: int) -> None:
        """Note when a token was used."""
        await self._store.call("HSET", keys.token(owner_of(token_id), token_id), "used", now)

    async def now(self) -> int:
        """The store's time in milliseconds."""
        seconds, micros = await self._store.call("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    async def changes(self) -> AsyncGenerator[str, None]:
        """The ids of tokens as they change. A bell, no promise."""
        async with aclosing(self._store.subscribe(keys.TOKEN_BELL)) as bells:
            async for bell in bells:
                if bell is not None:
                    self._changed(bell[1])
                    yield bell[1]


def _newest_first(owner: str) -> tuple[str, str, int, int]:
    return "ZREVRANGE", keys.tokens(owner), 0, -1


def _token(token_id: str, answer: Any) -> Token | None:
    found = fields(answer)
    if "digest" not in found:
        return None

    def time(name: str) -> int:
        return int(found.get(name, 0))

    return Token(
        token_id=token_id,
        bot=found["bot"],
        scopes=tuple(int(each) for each in found["scopes"].split(",")),
        label=found["label"],
        created=time("created"),
        expires=time("expires"),
        revoked=time("revoked"),
        overlap=time("overlap"),
        used=time("used"),
        mark=found.get("mark", ""),
        digest=found["digest"],
        digest_before=found.get("before", ""),
    )
