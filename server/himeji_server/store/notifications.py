"""What processes publish to each other when a game or a bot changed.

A notification is a hint, never the truth: it may be lost, so whoever subscribes also polls, and
whoever is notified loads what changed from the store.
"""

import asyncio
from enum import StrEnum
from typing import Any, Final, NamedTuple

from himeji_server.store import keys
from himeji_server.store.client import Store


class GameNotification(NamedTuple):
    """A game came to a version; 0 if it changed without a new one."""

    game_id: str
    version: int


class BotNotificationKind(StrEnum):
    """What happened to a bot."""

    STREAM_OPENED = "stream"  # a stream, by its id: any other one of the bot has to end
    SEATED = "seated"  # in a game
    LEFT_QUEUE = "left"  # the queue of a ladder, by another call than its stream's
    LADDER_CLOSED = "closed"  # and the bot was removed from its queue


_KINDS: Final = {kind.value: kind for kind in BotNotificationKind}


class BotNotification(NamedTuple):
    """Something happened to a bot; the subject is a stream, a game or a ladder."""

    kind: BotNotificationKind
    bot: str
    subject: str

    def text(self) -> str:
        """The message on the channel."""
        return " ".join(self)


def publish(store: Store, notification: BotNotification) -> asyncio.Future[Any]:
    """Tell all processes what happened to a bot."""
    return store.call("PUBLISH", keys.BOT_CHANNEL, notification.text())


def parse(channel: str, message: str) -> GameNotification | BotNotification | None:
    """Parse a message of a channel.

    None for nonsense: whoever reaches Redis can publish, and must not be able to stop a process.
    """
    match message.split(" "):
        case [kind, bot, subject] if channel == keys.BOT_CHANNEL and kind in _KINDS:
            return BotNotification(_KINDS[kind], bot, subject)
        case [game_id, version] if channel != keys.BOT_CHANNEL and version.isdecimal():
            return GameNotification(game_id, int(version))
    return None
