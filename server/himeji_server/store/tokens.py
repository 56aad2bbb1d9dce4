"""Tokens: their scopes and the digests of their secrets, never a secret.

The id of a token begins with the name of its owner, so its slot is known without an index.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script

CREATE: Final = Script("create_token")
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
    """The request that gave it its current secret."""

    digest: str = field(default="", repr=False)
    digest_before: str = field(default="", repr=False)

    @property
    def owner(self) -> str:
        """The owner it belongs to."""
        return owner_of(self.token_id)

    def ended(self, now: int) -> bool:
        """Whether it has ended, whatever the secret."""
        return bool(self.revoked) or 0 < self.expires <= now


class TokenStatus(StrEnum):
    """What became of a request to create or to rotate a token."""

    OK = "ok"
    LIMIT = "limit"  # the owner has too many live tokens
    MISSING = "missing"
    CHANGED = "changed"  # it got another secret since, or has ended


@dataclass(frozen=True)
class NewToken:
    """A token to be created."""

    token_id: str
    digest: str = field(repr=False)
    bot: str
    scopes: tuple[int, ...]
    label: str
    lifetime_ms: int  # 0: no end


class CreateArguments(NamedTuple):
    """The arguments of create_token.lua, in its order."""

    mark: str
    token_id: str
    digest: str
    bot: str
    scopes: str
    label: str
    lifetime: int | str
    max_live: int
    channel: str


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
        """Call this with the id of a token whenever it changes, here or (as notified) elsewhere."""
        self._listeners.append(listener)

    def _changed(self, token_id: str) -> None:
        for listener in self._listeners:
            listener(token_id)

    async def create(self, new: NewToken, mark: str, max_live: int) -> TokenStatus:
        """Create a token, once; a repeated request replaces its secret."""
        owner = owner_of(new.token_id)
        arguments = CreateArguments(
            mark=mark,
            token_id=new.token_id,
            digest=new.digest,
            bot=new.bot,
            scopes=scopes_text(new.scopes),
            label=new.label,
            lifetime=new.lifetime_ms or "",
            max_live=max_live,
            channel=keys.TOKEN_CHANNEL,
        )
        touched = [keys.owner(owner), keys.tokens(owner), keys.live_tokens(owner)]
        touched.append(keys.token(owner, new.token_id))
        status = await self._store.run(CREATE, touched, *arguments)
        self._changed(new.token_id)
        return TokenStatus(replies.text(status))

    async def rotate(
        self, token_id: str, mark: str, *, digest: str, before: str, overlap_ms: int
    ) -> TokenStatus:
        """Replace the secret of a token; `before` is the digest of the one that is rotated out."""
        status = await self._store.run(
            _ROTATE,
            [keys.token(owner_of(token_id), token_id)],
            *(mark, token_id, digest, before, overlap_ms, keys.TOKEN_CHANNEL),
        )
        self._changed(token_id)
        return TokenStatus(replies.text(status))

    async def revoke(self, token_id: str) -> bool:
        """Revoke a token; whether it exists."""
        owner = owner_of(token_id)
        touched = [keys.token(owner, token_id), keys.live_tokens(owner)]
        exists = bool(await self._store.run(_REVOKE, touched, token_id, keys.TOKEN_CHANNEL))
        self._changed(token_id)
        return exists

    async def get(self, token_id: str) -> Token | None:
        """Load a token; None if there is none."""
        key = keys.token(owner_of(token_id), token_id)
        return _parse(token_id, await self._store.call("HGETALL", key))

    async def get_with_time(self, token_id: str) -> tuple[Token | None, int]:
        """Load a token, and the store's time with it."""
        token, now = await asyncio.gather(self.get(token_id), self.now())
        return token, now

    async def list_by_owner(self, owner: str) -> list[Token]:
        """All tokens of an owner, the newest first."""
        ids = replies.texts(await self._store.call("ZREVRANGE", keys.tokens(owner), 0, -1))
        found = await asyncio.gather(*(self.get(token_id) for token_id in ids))
        return [each for each in found if each is not None]

    async def delete(self, token_id: str) -> None:
        """Delete a token; in this order, so that it can be repeated after a crash."""
        owner = owner_of(token_id)
        await self._store.call("DEL", keys.token(owner, token_id))
        await self._store.call("ZREM", keys.live_tokens(owner), token_id)
        await self._store.call("ZREM", keys.tokens(owner), token_id)
        self._changed(token_id)

    async def set_used(self, token_id: str, now: int) -> None:
        """Note when a token was used."""
        await self._store.call("HSET", keys.token(owner_of(token_id), token_id), "used", now)

    async def now(self) -> int:
        """The store's time in milliseconds."""
        return replies.milliseconds(await self._store.call("TIME"))

    async def changes(self) -> AsyncGenerator[str, None]:
        """The ids of tokens as they change. Notifications may be lost."""
        async with aclosing(self._store.subscribe(keys.TOKEN_CHANNEL)) as messages:
            async for message in messages:
                if message is not None:
                    _, token_id = message
                    self._changed(token_id)
                    yield token_id


def _parse(token_id: str, reply: Any) -> Token | None:
    found = replies.text_fields(reply)
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
