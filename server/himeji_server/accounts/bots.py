"""Use cases of bots and their versions."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final

from himeji.rules.errors import HimejiError, InvalidRequest

from himeji_server import names, pagination
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.limits import NO_LIMIT, AccountLimits
from himeji_server.names import LOCAL, BotName
from himeji_server.processor_shares import pause
from himeji_server.rate_limits import exceeded
from himeji_server.store.accounts import (
    AccountStore,
    Bot,
    BotVersion,
    CreateBotStatus,
    CreateVersionStatus,
)
from himeji_server.store.presence import Presence
from himeji_server.texts import check_text

LONGEST_DESCRIPTION: Final = 500
LONGEST_LABEL: Final = 80
_OWNERS_AT_ONCE: Final = 100


class Bots:
    """The bots of an arena."""

    def __init__(
        self, store: AccountStore, presence: Presence, limits: AccountLimits, *, dev: bool
    ) -> None:
        """With `dev`, bots of the local owner are created when they first play."""
        self._store = store
        self._presence = presence
        self._requests = IdempotencyKeys(store, limits.request_ids_per_owner)
        self._limits = limits
        self._dev = dev
        self._played: set[str] = set()  # owners that are recorded as having played, for good

    async def create(
        self, caller: Caller, name: str, description: str, label: str, request_id: str = ""
    ) -> Bot:
        """Create a bot of the caller, with its first version."""
        bot = names.bot_name(name)
        caller.require_bot(bot)
        check_text(description, "description", LONGEST_DESCRIPTION, lines=True)
        check_text(label, "version_label", LONGEST_LABEL)
        content: list[object] = ["CreateBot", name, description, label]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        await self._create(bot, description, label, operation.operation_id, caller)
        # A retry gets the first answer again, even if the bot has changed since.
        return replace(await self._get(bot), newest_version=1, retired=0)

    async def get(self, name: str) -> Bot:
        """A bot; raises UnknownAccount."""
        return await self._get(names.bot_name(name))

    async def list_bots(
        self, owner: str, page_size: int, page_token: str, *, show_retired: bool
    ) -> tuple[list[Bot], str]:
        """A page of the bots of one owner, or of all owners."""
        if owner:
            names.owner_name(owner)
        size, query = pagination.size(page_size), ("bots", owner, show_retired)
        place = pagination.cursor(page_token, *query)
        after = names.bot_name(place, "page_token") if place else None
        found: list[BotName] = []
        async for chunk in self._names_after(after, owner, retired=show_retired):
            found += chunk
            if len(found) > size:
                break
        next_page_token = (
            pagination.token(str(found[size - 1]), *query) if len(found) > size else ""
        )
        await pause()  # a command for each of them
        return await self._store.bots(found[:size]), next_page_token

    async def of_caller(self, caller: Caller) -> list[BotName]:
        """The bots that a caller may act for, retired ones too."""
        found = await self._store.bots_of(caller.owner, retired=True)
        return [bot for bot in found if caller.may_act_for(bot)]

    async def retire(self, caller: Caller, name: str, request_id: str = "") -> Bot:
        """Retire a bot of the caller; its open streams end."""
        bot = names.bot_name(name)
        caller.require_bot(bot)
        await self._requests.claim(caller.owner, request_id, ["RetireBot", name], Operation())
        if not await self._store.retire_bot(bot):
            raise names.unknown("bot", name)
        await self._presence.disconnect_retired(name)
        return await self._get(bot)

    async def create_version(
        self, caller: Caller, name: str, label: str, request_id: str = ""
    ) -> BotVersion:
        """Create the next version of a bot of the caller."""
        bot = names.bot_name(name)
        caller.require_bot(bot)
        check_text(label, "label", LONGEST_LABEL)
        content: list[object] = ["CreateBotVersion", name, label]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        most, most_in_all = self._limits.versions_per_bot, self._limits.versions_per_owner
        if caller.is_administrator:
            most = most_in_all = NO_LIMIT
        status, number = await self._store.create_version(
            bot, label, operation.operation_id, (most, most_in_all)
        )
        refusals: dict[CreateVersionStatus, HimejiError] = {
            CreateVersionStatus.MISSING: names.unknown("bot", name),
            CreateVersionStatus.RETIRED: names.retired(name),
            CreateVersionStatus.LIMIT: exceeded(
                "versions_per_bot", most, "a bot may have {} versions"
            ),
            CreateVersionStatus.TOO_MANY: exceeded(
                "versions_per_owner", most_in_all, "{} versions of your bots were added"
            ),
        }
        if status in refusals:
            raise refusals[status]
        return (await self._store.versions(bot, number, number))[0]

    async def versions(
        self, name: str, page_size: int, page_token: str
    ) -> tuple[list[BotVersion], str]:
        """A page of the versions of a bot, the newest first."""
        bot = await self.get(name)
        size, query = pagination.size(page_size), ("versions", name)
        place = pagination.cursor(page_token, *query)
        last = pagination.number(place) - 1 if place else bot.newest_version
        last = min(last, bot.newest_version)
        first = max(last - size + 1, 1)
        found = await self._store.versions(bot.name, first, last) if last > 0 else []
        # Of a bot whose versions are replaced, the older ones are not there to be listed.
        is_more = bool(found) and found[0].number == first > 1
        next_page_token = pagination.token(str(first), *query) if is_more else ""
        return found[::-1], next_page_token

    async def resolve_player(
        self, caller: Caller, bot: str = "", version: int = 0
    ) -> tuple[str, int]:
        """The bot and version that the caller plays as: those named, or else the token's bot.

        Raises InvalidRequest if there is no name, Forbidden for the bot of another owner,
        UnknownAccount for a bot or version that does not exist, BotRetired for a retired bot.
        """
        full_name = bot or caller.bot
        if not full_name:
            raise InvalidRequest("the token is bound to no bot, so name one", {"field": "bot"})
        name = names.bot_name(full_name)
        caller.require_bot(name)
        if self._dev and name.owner == LOCAL:
            await self._ensure(name, "", caller)
        return await self.version(full_name, version)

    async def version(self, name: str, version: int) -> tuple[str, int]:
        """A bot that plays and one of its versions, the newest for 0.

        Raises UnknownAccount for one that does not exist, BotRetired for a retired bot.
        """
        found = await self.get(name)
        if found.retired:
            raise names.retired(name)
        if not 0 <= version <= found.newest_version:
            raise names.unknown("bot_version", f"{name}@{version}")
        return name, version or found.newest_version

    async def check_active(self, name: str) -> None:
        """Raise BotRetired if the bot is retired."""
        if (await self.get(name)).retired:
            raise names.retired(name)

    async def record_play(self, owner: str) -> None:
        """Record that an owner plays, before it does: from then on it cannot be deleted.

        Raises UnknownAccount for an owner that is deleted: its token may still be in a cache.
        """
        if owner in self._played:
            return
        if not await self._store.record_play(owner):
            raise names.unknown("owner", owner)
        self._played.add(owner)

    async def ensure(self, name: BotName, description: str = "") -> None:
        """Create a bot on behalf of the arena if it is missing; the arena has no quota."""
        await self._ensure(name, description, None)

    async def replace_arena_version(self, name: BotName, description: str) -> None:
        """Create a bot on behalf of the arena, or the next version of one in place of the last."""
        if not await self._store.replace_version(name):
            await self.ensure(name, description)

    async def _ensure(self, name: BotName, description: str, caller: Caller | None) -> None:
        if await self._store.bot(name) is None:
            await self._create(name, description, "", names.ARENA, caller)

    async def _create(
        self, bot: BotName, description: str, label: str, operation_id: str, caller: Caller | None
    ) -> None:
        """Create a bot for a caller, or (None) for the arena."""
        most = (self._limits.bots_per_owner, self._limits.bot_names_per_owner)
        if caller is None or caller.is_administrator:
            most = (NO_LIMIT, NO_LIMIT)
        status = await self._store.create_bot(bot, description, label, operation_id, most)
        active, retired_too = "an owner may have {} bots: retire one", "an owner may have {} bots"
        refusals: dict[CreateBotStatus, HimejiError] = {
            CreateBotStatus.NO_OWNER: names.unknown("owner", bot.owner),
            CreateBotStatus.EXISTS: names.in_use("bot", str(bot)),
            CreateBotStatus.TOO_MANY_ACTIVE: exceeded("bots_per_owner", most[0], active),
            CreateBotStatus.TOO_MANY: exceeded(
                "bot_names_per_owner", most[1], f"{retired_too}, the retired ones counted"
            ),
        }
        if status in refusals:
            raise refusals[status]

    async def _get(self, name: BotName) -> Bot:
        found = await self._store.bot(name)
        if found is None:
            raise names.unknown("bot", str(name))
        return found

    async def _names_after(
        self, after: BotName | None, owner: str, *, retired: bool
    ) -> AsyncIterator[list[BotName]]:
        """Names after a given one, ascending, in chunks: its owner's, then those of next owners."""
        if after is not None:
            yield await self._store.bots_of(after.owner, after.short, retired=retired)
        elif owner:
            yield await self._store.bots_of(owner, retired=retired)
        place = after.owner if after is not None else ""
        while not owner and (
            owners := await self._store.owner_names(place, _OWNERS_AT_ONCE, by_bot=True)
        ):
            chunks = await asyncio.gather(
                *(self._store.bots_of(each, retired=retired) for each in owners)
            )
            yield [name for chunk in chunks for name in chunk]
            place = owners[-1]
