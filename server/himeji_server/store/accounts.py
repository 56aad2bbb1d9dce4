"""Owners, their bots and the versions of these; all keys of one owner share a slot."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from himeji_server.names import BotName, skeleton
from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script

REMEMBERED_SECONDS: Final = 24 * 3600
"""How long a request id is remembered."""

_REMEMBER_REQUEST: Final = Script("remember_request")
_RESERVE_OWNER: Final = Script("reserve_owner")
CREATE_OWNER: Final = Script("create_owner")
_RECORD_PLAY: Final = Script("record_play")
_BEGIN_DELETION: Final = Script("begin_owner_deletion")
_RELEASE_NAME: Final = Script("release_owner_name")
_CREATE_BOT: Final = Script("create_bot")
_CREATE_VERSION: Final = Script("create_bot_version")
_LIST_VERSIONS: Final = Script("list_bot_versions")
_REPLACE_VERSION: Final = Script("replace_bot_version")
_RETIRE_BOT: Final = Script("retire_bot")


class ReserveOwnerStatus(StrEnum):
    """What became of a request to reserve the name of an owner."""

    OK = "ok"
    FULL = "full"
    SIMILAR = "similar"  # the name looks like that of another owner


class CreateOwnerStatus(StrEnum):
    """What became of a request to create an owner."""

    OK = "ok"
    EXISTS = "exists"
    CHANGED = "changed"  # the request is repeated, and the first token changed since


class DeleteOwnerStatus(StrEnum):
    """Whether an owner can be deleted."""

    OK = "ok"
    MISSING = "missing"
    PLAYED = "played"


class CreateBotStatus(StrEnum):
    """What became of a request to create a bot."""

    OK = "ok"
    NO_OWNER = "no owner"
    EXISTS = "exists"
    TOO_MANY_ACTIVE = "active"
    TOO_MANY = "all"  # with the retired ones


class CreateVersionStatus(StrEnum):
    """What became of a request to create a version of a bot."""

    OK = "ok"
    MISSING = "missing"
    RETIRED = "retired"
    LIMIT = "limit"
    TOO_MANY = "all"  # of all bots of the owner


@dataclass(frozen=True)
class Owner:
    """Somebody who has bots."""

    name: str
    display_name: str
    created: int
    house: bool
    played: bool = False
    """Whether it ever created or joined a game, entered a queue or a tournament."""


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


class CreateOwnerArguments(NamedTuple):
    """The arguments of create_owner.lua, in its order."""

    mark: str
    display_name: str
    house: str
    token_id: str
    digest: str
    scopes: str
    if_unused: str


class AccountStore:
    """The owners and bots of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def remember_request(self, owner: str, request: str, plan: str, most: int) -> str:
        """Store the plan of a request before it is carried out; returns that of the first such.

        Of more than `most` requests of an owner the oldest are forgotten.
        """
        touched = [keys.request_plans(owner), keys.request_times(owner)]
        arguments = (request, plan, most, REMEMBERED_SECONDS)
        return replies.text(await self._store.run(_REMEMBER_REQUEST, touched, *arguments))

    async def create_owner(
        self, owner: Owner, mark: str, first: FirstToken | None = None, *, if_unused: bool = False
    ) -> CreateOwnerStatus:
        """Create an owner whose name is reserved, once; a repeated request replaces the secret.

        With `if_unused` that is done only while the first token was never used.
        """
        token = first or FirstToken("", "", "")
        name = owner.name
        touched = [keys.owner(name), keys.tokens(name), keys.live_tokens(name)]
        touched.append(keys.token(name, token.token_id))
        arguments = CreateOwnerArguments(
            mark=mark,
            display_name=owner.display_name,
            house="1" if owner.house else "",
            token_id=token.token_id,
            digest=token.digest,
            scopes=token.scopes,
            if_unused="unused" if if_unused else "",
        )
        status = await self._store.run(CREATE_OWNER, touched, *arguments)
        return CreateOwnerStatus(replies.text(status))

    async def reserve_owner(self, name: str, max_owners: int) -> tuple[ReserveOwnerStatus, str]:
        """Add a name to the list of owners; returns also the owner that a name looks like.

        Done before the owner is created: listing skips a name without an owner, but would never
        find an owner without a name.
        """
        touched = [keys.OWNERS, keys.OWNERS_BY_BOT, keys.OWNER_SKELETONS]
        status, *similar = await self._store.run(
            _RESERVE_OWNER, touched, name, max_owners, skeleton(name)
        )
        return ReserveOwnerStatus(replies.text(status)), replies.text(similar[0]) if similar else ""

    async def record_play(self, name: str) -> bool:
        """Record that an owner plays, for good; False if there is no such owner."""
        return bool(await self._store.run(_RECORD_PLAY, [keys.owner(name)]))

    async def begin_deletion(self, name: str, mark: str) -> tuple[DeleteOwnerStatus, str]:
        """Begin to delete an owner; returns the mark of the request that began, this or another."""
        status, *begun = await self._store.run(_BEGIN_DELETION, [keys.owner(name)], mark)
        return DeleteOwnerStatus(replies.text(status)), replies.text(begun[0]) if begun else ""

    async def deletion_mark(self, name: str) -> str:
        """The mark of the request that began to delete an owner; "" if none did."""
        return replies.text(await self._store.call("HGET", keys.owner(name), "deleting") or b"")

    async def delete_bot(self, name: BotName) -> None:
        """Delete a bot of an owner that is being deleted; the list of its bots still has it."""
        await self._store.call("DEL", keys.bot(name.owner, name.short))
        await self._store.call("DEL", keys.bot_versions(name.owner, name.short))

    async def delete_owner(self, name: str) -> None:
        """Complete the deletion of an owner, whose bots and tokens are deleted already.

        The owner goes last, so that a deletion that was cut short is found and completed.
        """
        await self._store.call("DEL", keys.bots(name), keys.active_bots(name))
        await self._store.call("DEL", keys.tokens(name), keys.live_tokens(name))
        await self._store.call("DEL", keys.version_count(name))
        touched = [keys.OWNERS, keys.OWNERS_BY_BOT, keys.OWNER_SKELETONS]
        await self._store.run(_RELEASE_NAME, touched, name, skeleton(name))
        await self._store.call("DEL", keys.owner(name))

    async def owner(self, name: str) -> Owner | None:
        """Load an owner; None if there is none."""
        return _parse_owner(name, await self._store.call("HGETALL", keys.owner(name)))

    async def owner_names(self, after: str, limit: int, *, by_bot: bool = False) -> list[str]:
        """A page of the list of owners after a name, in their order or in that of their bots."""
        start = f"({after}{'/' if by_bot else ''}" if after else "-"
        key = keys.OWNERS_BY_BOT if by_bot else keys.OWNERS
        found = await self._store.call("ZRANGEBYLEX", key, start, "+", "LIMIT", 0, limit)
        return [name.removesuffix("/") for name in replies.texts(found)]

    async def owners(self, names: Sequence[str]) -> list[Owner]:
        """Those of the named owners that exist."""
        found = await asyncio.gather(*(self.owner(name) for name in names))
        return [each for each in found if each is not None]

    async def create_bot(
        self, name: BotName, description: str, label: str, mark: str, limits: tuple[int, int]
    ) -> CreateBotStatus:
        """Create a bot, once; the limits are of active bots and of all."""
        owner = name.owner
        status = await self._store.run(
            _CREATE_BOT,
            [
                *(keys.owner(owner), keys.bots(owner), keys.active_bots(owner)),
                *(keys.bot(owner, name.short), keys.bot_versions(owner, name.short)),
            ],
            *(mark, name.short, description, label, *limits),
        )
        return CreateBotStatus(replies.text(status))

    async def bot(self, name: BotName) -> Bot | None:
        """Load a bot; None if there is none."""
        return _parse_bot(name, await self._store.call("HGETALL", keys.bot(name.owner, name.short)))

    async def bots_of(self, owner: str, after: str = "", *, retired: bool) -> list[BotName]:
        """The names of an owner's bots after a short name, ascending; all, or the active ones."""
        if retired:
            found = await self._store.call("ZRANGE", keys.bots(owner), 0, -1)
        else:
            found = await self._store.call("SMEMBERS", keys.active_bots(owner))
        names = sorted(replies.texts(found))
        return [BotName(owner, name) for name in names if name > after]

    async def bots(self, names: Sequence[BotName]) -> list[Bot]:
        """Those of the named bots that exist."""
        found = await asyncio.gather(*(self.bot(name) for name in names))
        return [each for each in found if each is not None]

    async def retire_bot(self, name: BotName) -> bool:
        """Retire a bot; whether it exists."""
        touched = [keys.bot(name.owner, name.short), keys.active_bots(name.owner)]
        return bool(await self._store.run(_RETIRE_BOT, touched, name.short))

    async def create_version(
        self, bot: BotName, label: str, mark: str, limits: tuple[int, int]
    ) -> tuple[CreateVersionStatus, int]:
        """Create a version, once; returns its number, 0 if there is none.

        The limits are of versions of the bot, and of versions of all bots of its owner.
        """
        touched = [keys.bot(bot.owner, bot.short), keys.bot_versions(bot.owner, bot.short)]
        touched += [keys.created_version(bot.owner, mark), keys.version_count(bot.owner)]
        status, *number = await self._store.run(
            _CREATE_VERSION, touched, label, *limits, REMEMBERED_SECONDS
        )
        return CreateVersionStatus(replies.text(status)), int(number[0]) if number else 0

    async def versions(self, bot: BotName, first: int, last: int) -> list[BotVersion]:
        """The versions of a bot from one number to another, as far as they are kept."""
        touched = [keys.bot(bot.owner, bot.short), keys.bot_versions(bot.owner, bot.short)]
        start, found = await self._store.run(_LIST_VERSIONS, touched, first, last)
        return [_parse_version(bot, number, raw) for number, raw in enumerate(found, int(start))]

    async def replace_version(self, bot: BotName) -> bool:
        """Create the next version of a bot and forget those before; whether the bot exists."""
        touched = [keys.bot(bot.owner, bot.short), keys.bot_versions(bot.owner, bot.short)]
        return bool(await self._store.run(_REPLACE_VERSION, touched))


def _parse_owner(name: str, reply: Any) -> Owner | None:
    found = replies.text_fields(reply)
    if "created" not in found or "deleting" in found:
        return None
    return Owner(
        name,
        found["display"],
        int(found["created"]),
        house=found["house"] == "1",
        played="played" in found,
    )


def _parse_bot(name: BotName, reply: Any) -> Bot | None:
    found = replies.text_fields(reply)
    if "created" not in found:
        return None
    retired = int(found.get("retired", 0))
    newest = int(found["newest"])
    return Bot(name, found["description"], newest, int(found["created"]), retired)


def _parse_version(bot: BotName, number: int, raw: Any) -> BotVersion:
    created, parent, label = replies.text(raw).split(" ", 2)
    return BotVersion(bot, number, label, int(parent), int(created))
