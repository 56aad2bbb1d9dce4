"""Which bots are connected, in which games they have a seat, and notifications of changes.

The presence of a bot expires when its process dies and nobody renews it.
"""

import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from himeji_server.store import game_sets, keys, notifications, replies
from himeji_server.store.client import Store
from himeji_server.store.notifications import (
    BotNotification,
    BotNotificationKind,
    GameNotification,
)
from himeji_server.store.pipelining import Script

PRESENT_SECONDS: Final = 15
"""How long a bot counts as connected after its stream last renewed its presence."""

RETIRED: Final = "retired"
"""Takes the place of a retired bot's stream; no stream has this id."""

_RENEW: Final = Script("renew_presence")
_DELETE_IF_EQUAL: Final = Script("delete_if_equal")


def new_stream(version: int) -> str:
    """The id of a new stream that plays this version of its bot."""
    return f"{version}.{secrets.token_hex(8)}"


def version_of(stream: str) -> int:
    """The version of its bot that a stream plays."""
    return int(stream.partition(".")[0])


class Presence:
    """The streams and games of bots, shared by all processes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def connect(self, bot: str, stream: str) -> None:
        """Make this the stream of the bot; any other one is notified that it was taken over."""
        await self._store.call("SET", keys.presence(bot), stream, "EX", PRESENT_SECONDS)
        await self._notify(BotNotificationKind.STREAM_OPENED, bot, stream)

    async def disconnect_retired(self, bot: str) -> None:
        """End the streams of a retired bot, as if another one had taken over."""
        await self.connect(bot, RETIRED)

    async def renew(self, bot: str, stream: str) -> str:
        """Renew the presence of a stream; returns the bot's stream, which may be another by now."""
        holder = await self._store.run(_RENEW, [keys.presence(bot)], stream, PRESENT_SECONDS)
        return replies.text(holder)

    async def holder(self, bot: str) -> str:
        """The stream that the bot has, "" if it has none."""
        found = replies.text(await self._store.call("GET", keys.presence(bot)) or b"")
        return "" if found == RETIRED else found

    async def disconnect(self, bot: str, stream: str) -> None:
        """End the presence of a stream, unless another one took over."""
        await self._store.run(_DELETE_IF_EQUAL, [keys.presence(bot)], stream)

    async def add_game(self, bot: str, game_id: str) -> None:
        """Note a game of the bot. Done before it takes the seat: a game too many is harmless."""
        await self._store.call("SADD", keys.games_of(bot), game_id)

    async def remove_game(self, bot: str, game_id: str) -> None:
        """Forget a game of the bot."""
        await self._store.call("SREM", keys.games_of(bot), game_id)

    async def games_of(self, bot: str) -> list[str]:
        """The games in which the bot has, or had, a seat and whose end nobody noted yet."""
        return sorted(replies.texts(await self._store.call("SMEMBERS", keys.games_of(bot))))

    async def add_invitation(self, bot: str, game_id: str, limit: int) -> None:
        """Keep an invitation for a bot, unless as many as the limit are kept."""
        await game_sets.add(self._store, keys.invitations(bot), game_id, limit)

    async def remove_invitation(self, bot: str, game_id: str) -> None:
        """Forget an invitation: it was accepted, or the game does not wait any more."""
        await game_sets.remove(self._store, keys.invitations(bot), game_id)

    async def invitations(self, bot: str) -> list[str]:
        """The games that wait for the bot, the oldest first."""
        return list(await game_sets.members(self._store, keys.invitations(bot)))

    async def forget_bot(self, bot: str) -> None:
        """Forget a bot that is deleted: its stream, and the invitations that it got."""
        await self._store.call("DEL", keys.presence(bot))
        await self._store.call("DEL", keys.games_of(bot))
        await self._store.call("DEL", keys.invitations(bot))

    async def notify_seated(self, bot: str, game_id: str) -> None:
        """Notify the bot's stream, at whichever process, of a seat that it has or may take."""
        await self._notify(BotNotificationKind.SEATED, bot, game_id)

    async def _notify(self, kind: BotNotificationKind, bot: str, subject: str) -> None:
        await notifications.publish(self._store, BotNotification(kind, bot, subject))

    async def subscribe(
        self, game_channels: Sequence[str]
    ) -> AsyncGenerator[GameNotification | BotNotification | None, None]:
        """Notifications of all bots, and of games on these channels; None if some may be lost."""
        subscription = self._store.subscribe(keys.BOT_CHANNEL, sharded=game_channels)
        async with aclosing(subscription) as messages:
            async for message in messages:
                if message is None:
                    yield None
                elif (notification := notifications.parse(*message)) is not None:
                    yield notification
