"""Owners, their bots and the versions of the bots in the store; all of one owner in one slot."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from himeji_server.names import BotName
from himeji_server.store import keys
from himeji_server.store.client import Script, Store

REMEMBERED_SECONDS: Final = 24 * 3600
"""How long a request id is remembered."""

_CLAIM: Final = Script("remember_request")
_RESERVE_OWNER: Final = Script("reserve_owner")
_CREATE_OWNER: Final = Script("create_owner")
_CREATE_BOT: Final = Script("create_bot")
_CREATE_VERSION: Final = Script("create_bot_version")
_RETIRE_BOT: Final = Script("retire_bot")


@dataclass(frozen=True)
class Owner:
    """Somebody who has bots."""

    name: str
    display_name: str
    created: int
    house: bool


@dataclass(frozen=True)
class Bot:
    """A player."""

    name: BotName
    description: str
    newest_version: int
    created: int
    retired: int  # 0: it is not


@dataclass(frozen=True)
class BotVersion:
    """A version of a bot."""

    bot: BotName
    number: int
    label: str
    parent: int
    created: int


@dataclass(frozen=True)
class FirstToken:
    """The token that is created together with an owner."""

    token_id: str
    digest: str
    scopes: str


class AccountStore:
    """The owners and bots of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def claim(self, owner: str, request: str, plan: str) -> str:
        """Note what a request is going to make; the plan of the first such request."""
        key = keys.claim(owner, request)
        return bytes(await self._store.run(_CLAIM, [key], plan, REMEMBERED_SECONDS)).decode()

    async def create_owner(
        self, owner: Owner, mark: str, first: FirstToken | None = None, *, if_unused: bool = False
    ) -> str:
        """Create an owner who is on the list; "ok", "exists" or "changed" (see the script)."""
        token = first or FirstToken("", "", "")
        name = owner.name
        answer = await self._store.run(
            _CREATE_OWNER,
            [
                *(keys.owner(name), keys.tokens(name), keys.live_tokens(name)),
                keys.token(name, token.token_id),
            ],
            *(mark, owner.display_name, "1" if owner.house else ""),
            *(token.token_id, token.digest, token.scopes, "unused" if if_unused else ""),
        )
        return bytes(answer).decode()

    async def reserve_owner(self, name: str, most: int) -> bool:
        """Put a name on the list of owners; whether there was room.

        It comes before the owner is created: a name without an owner is passed over by whoever
        lists, an owner without a name on the list would be lost to them.
        """
        listed = [keys.OWNERS, keys.OWNERS_BY_BOT]
        return bool(await self._store.run(_RESERVE_OWNER, listed, name, most))

    async def owner(self, name: str) -> Owner | None:
        """An owner."""
        return _owner(name, await self._store.call("HGETALL", keys.owner(name)))

    async def owner_names(self, after: str, most: int, *, by_bot: bool = False) -> list[str]:
        """The names on the list after one, ascending, or in the order of the names of bots."""
        start = f"({after}{'/' if by_bot else ''}" if after else "-"
        key = keys.OWNERS_BY_BOT if by_bot else keys.OWNERS
        found = await self._store.call("ZRANGEBYLEX", key, start, "+", "LIMIT", 0, most)
        return [bytes(each).decode().removesuffix("/") for each in found]

    async def owners(self, names: Sequence[str]) -> list[Owner]:
        """Those of the named owners that exist."""
        found = await asyncio.gather(*(self.owner(name) for name in names))
        return [each for each in found if each is not None]

    async def create_bot(
        self, name: BotName, description: str, label: str, mark: str, most: tuple[int, int]
    ) -> str:
        """Create a bot; "ok", "exists", or which limit of `most` (active, all) is reached."""
        owner = name.owner
        answer = await self._store.run(
            _CREATE_BOT,
            [
                *(keys.bots(owner), keys.active_bots(owner)),
                *(keys.bot(owner, name.short), keys.bot_versions(owner, name.short)),
            ],
            *(mark, name.short, description, label, *most),
        )
        return bytes(answer).decode()

    async def bot(self, name: BotName) -> Bot | None:
        """A bot."""
        return _bot(name, await self._store.call("HGETALL", keys.bot(name.owner, name.short)))

    async def bots_of(self, owner: str, after: str = "", *, retired: bool) -> list[BotName]:
        """The names of an owner's bots after a short name, ascending; all, or the active ones."""
        if retired:
            found = await self._store.call("ZRANGE", keys.bots(owner), 0, -1)
        else:
            found = await self._store.call("SMEMBERS", keys.active_bots(owner))
        names = sorted(bytes(each).decode() for each in found)
        return [BotName(owner, name) for name in names if name > after]

    async def bots(self, names: Sequence[BotName]) -> list[Bot]:
        """Those of the named bots that exist."""
        found = await asyncio.gather(*(self.bot(name) for name in names))
        return [each for each in found if each is not None]

    async def retire_bot(self, name: BotName) -> bool:
        """Retire a bot; whether it exists."""
        listed = [keys.bot(name.owner, name.short), keys.active_bots(name.owner)]
        return bytes(await self._store.run(_RETIRE_BOT, listed, name.short)) == b"ok"

    async def create_version(
        self, bot: BotName, label: str, mark: str, most: int
    ) -> tuple[str, int]:
        """Create a version; ("ok", number), or "missing", "retired" or "limit" and 0."""
        listed = [keys.bot(bot.owner, bot.short), keys.bot_versions(bot.owner, bot.short)]
        answer = await self._store.run(
            _CREATE_VERSION, [*listed, keys.done(bot.owner, mark)], label, most, REMEMBERED_SECONDS
        )
        status = bytes(answer[0]).decode()
        return status, int(answer[1]) if status == "ok" else 0

    async def versions(self, bot: BotName, first: int, last: int) -> list[BotVersion]:
        """The versions of a bot from one number to another, as far as there are such."""
        key = keys.bot_versions(bot.owner, bot.short)
        found = await self._store.call("LRANGE", key, max(first, 1) - 1, last - 1)
        return [_version(bot, number, raw) for number, raw in enumerate(found, max(first, 1))]


def fields(answer: Any) -> dict[str, str]:
    """A hash as Redis answers it."""
    texts = (bytes(each).decode() for each in answer)
    return dict(zip(texts, texts, strict=True))


def _owner(name: str, answer: Any) -> Owner | None:
    found = fields(answer)
    if "created" not in found:
        return None
    return Owner(name, found["display"], int(found["created"]), found["house"] == "1")


def _bot(name: BotName, answer: Any) -> Bot | None:
    found = fields(answer)
    if "created" not in found:
        return None
    retired = int(found.get("retired", 0))
    newest = int(found["newest"])
    return Bot(name, found["description"], newest, int(found["created"]), retired)


def _version(bot: BotName, number: int, raw: Any) -> BotVersion:
    created, parent, label = bytes(raw).decode().split(" ", 2)
    return BotVersion(bot, number, label, int(parent), int(created))
