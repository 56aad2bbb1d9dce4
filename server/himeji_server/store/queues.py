"""The queues of ladders: tickets of bots that wait, and the games in which they were seated."""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from himeji_server.store import keys, notifications, replies
from himeji_server.store.accounts import REMEMBERED_SECONDS
from himeji_server.store.client import Store
from himeji_server.store.notifications import BotNotification, BotNotificationKind
from himeji_server.store.pipelining import Script
from himeji_server.tasks import in_slices

PAIRS_EXPIRE_SECONDS: Final = 2 * 24 * 3600
_READ_AT_ONCE: Final = 500
_ENTER: Final = Script("enter_queue")
_SEAT: Final = Script("seat_bots")
_REMOVE: Final = Script("remove_from_queue")
_RELEASE: Final = Script("release_bots")


@dataclass(frozen=True)
class Ticket:
    """A bot's place in the queue of a ladder."""

    bot: str
    id: str
    version: int
    max_games: int
    """How many games the bot plays at the same time."""

    entered: int
    since: int
    """When its last game was over, or when it entered."""

    seatings: int
    """How often it was seated."""


class SeatingStatus(StrEnum):
    """Whether bots of a queue were seated together, or why not."""

    OK = "ok"
    GONE = "gone"  # a bot has left the queue, or entered again
    FULL = "full"  # a bot plays as many games as it wants
    CAPPED = "capped"  # two bots met as often as they may on one day


class Seating(NamedTuple):
    """What became of an attempt to seat bots, and which of them are the reason."""

    status: SeatingStatus
    bots: tuple[str, ...]


@dataclass(frozen=True)
class Queue:
    """A snapshot of a ladder's queue."""

    tickets: tuple[Ticket, ...]
    load: dict[str, int]
    """How many games each bot is seated in."""


class QueueStore:
    """The queues of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def enter(  # noqa: PLR0913 - what the ticket holds, and how the client put it
        self,
        ladder: str,
        bot: str,
        version: int,
        max_games: int,
        *,
        again: bool = False,
        entry_id: str = "",
    ) -> Ticket | None:
        """Put a bot into a queue; one that is there keeps its place.

        None if the bot was removed by a call and its client only repeats that it entered: it says
        so (`again`), or gives the entry id of the ticket that was removed.
        """
        text = await self._store.run(
            _ENTER,
            [keys.tickets(ladder), keys.removal(ladder, bot)],
            *(bot, secrets.token_hex(8), version, max_games, "again" if again else "", entry_id),
        )
        return _parse_ticket(bot, text) if text else None

    async def remove(self, ladder: str, bot: str) -> bool:
        """Remove a bot by a call, so that its client does not put it back by a retry.

        Returns whether it was in the queue.
        """
        touched = [keys.tickets(ladder), keys.removal(ladder, bot)]
        return bool(await self._store.run(_REMOVE, touched, bot, REMEMBERED_SECONDS))

    async def leave(self, ladder: str, bot: str) -> bool:
        """Remove a bot from a queue; whether it was there."""
        return bool(await self._store.call("HDEL", keys.tickets(ladder), bot))

    async def ladders_of(self, bot: str, ladders: Sequence[str]) -> list[str]:
        """Those of the ladders in whose queues a bot is."""
        found = await asyncio.gather(
            *(self._store.call("HEXISTS", keys.tickets(each), bot) for each in ladders)
        )
        return [each for each, is_there in zip(ladders, found, strict=True) if is_there]

    async def queue(self, ladder: str) -> Queue:
        """All tickets of a queue, the oldest first, and the load of the bots."""
        tickets, load = await asyncio.gather(
            self._store.call("HGETALL", keys.tickets(ladder)),
            self._store.call("HGETALL", keys.load(ladder)),
        )
        found = [_parse_ticket(bot, text) for bot, text in replies.fields(tickets).items()]
        found.sort(key=lambda ticket: (ticket.entered, ticket.id))
        loads = {bot: int(count) for bot, count in replies.fields(load).items()}
        return Queue(tuple(found), loads)

    async def counts(self, ladder: str) -> tuple[int, int]:
        """How many bots are in a queue, and how many games are seated or played."""
        waiting, playing = await asyncio.gather(
            self._store.call("HLEN", keys.tickets(ladder)),
            self._store.call("HLEN", keys.seated(ladder)),
        )
        return int(waiting), int(playing)

    async def tickets(
        self, ladder: str, bots: Sequence[str] | None = None
    ) -> AsyncGenerator[Ticket, None]:
        """The tickets of these bots, or of all, in no order."""
        if bots is None:
            bots = replies.texts(await self._store.call("HKEYS", keys.tickets(ladder)))
        for first in range(0, len(bots), _READ_AT_ONCE):
            some = bots[first : first + _READ_AT_ONCE]
            texts = await self._store.call("HMGET", keys.tickets(ladder), *some)
            async for bot, text in in_slices(zip(some, texts, strict=True)):
                if text:
                    yield _parse_ticket(bot, text)

    async def seated(self, ladder: str, games: Sequence[str]) -> list[str]:
        """Those of these games whose bots are seated, or play."""
        found: list[str] = []
        for first in range(0, len(games), _READ_AT_ONCE):
            some = games[first : first + _READ_AT_ONCE]
            texts = await self._store.call("HMGET", keys.seated(ladder), *some)
            found += [game_id for game_id, text in zip(some, texts, strict=True) if text]
        return found

    async def seat(  # noqa: PLR0913 - each of them is compared or noted in one step
        self,
        ladder: str,
        game_id: str,
        tickets: Sequence[Ticket],
        *,
        answer_ms: int,
        pair_cap: int,
        day: str,
    ) -> Seating:
        """Seat the bots of these tickets together, all or none."""
        status, *bots = replies.texts(
            await self._store.run(
                _SEAT,
                _touched_keys(ladder, day),
                *(game_id, answer_ms, pair_cap, PAIRS_EXPIRE_SECONDS, day),
                *(part for ticket in tickets for part in (ticket.bot, ticket.id)),
            )
        )
        return Seating(SeatingStatus(status), tuple(bots))

    async def release(
        self, ladder: str, game_id: str, *, begun: bool, silent: Iterable[str] = ()
    ) -> bool:
        """Settle a game, so that its bots may be seated again; False if it was settled before.

        Bots that did not answer when they were seated lose their tickets.
        """
        found = await self._store.call("HGET", keys.seated(ladder), game_id)
        day = json.loads(found)["day"] if found else ""
        outcome = "over" if begun else "failed"
        return bool(
            await self._store.run(_RELEASE, _touched_keys(ladder, day), game_id, outcome, *silent)
        )

    async def overdue(self, ladder: str, now: int) -> list[str]:
        """The games whose bots must have answered by now."""
        deadlines = keys.seating_deadlines(ladder)
        return replies.texts(await self._store.call("ZRANGEBYSCORE", deadlines, "-inf", now))

    async def set_deadline(self, ladder: str, game_id: str, when: int) -> None:
        """Set when the bots of a game must have answered, unless all have."""
        await self._store.call("ZADD", keys.seating_deadlines(ladder), "XX", when, game_id)

    async def remove_deadline(self, ladder: str, game_id: str) -> None:
        """Note that all bots of a game have answered."""
        await self._store.call("ZREM", keys.seating_deadlines(ladder), game_id)

    async def house_may_play(self, ladder: str) -> bool:
        """Whether bots of the house may play each other again."""
        return not await self._store.call("EXISTS", keys.house_pause(ladder))

    async def pause_house(self, ladder: str, pause_ms: int) -> None:
        """Let bots of the house not play each other for a while."""
        await self._store.call("SET", keys.house_pause(ladder), 1, "PX", max(1, pause_ms))

    async def notify_left(self, bot: str, ladder: str) -> None:
        """Notify a bot's stream that another call removed the bot from a queue."""
        await self._notify(BotNotificationKind.LEFT_QUEUE, bot, ladder)

    async def notify_closed(self, bot: str, ladder: str) -> None:
        """Notify a bot's stream that the bot was removed from the queue of a closed ladder."""
        await self._notify(BotNotificationKind.LADDER_CLOSED, bot, ladder)

    async def _notify(self, kind: BotNotificationKind, bot: str, ladder: str) -> None:
        await notifications.publish(self._store, BotNotification(kind, bot, ladder))


def _touched_keys(ladder: str, day: str) -> list[str]:
    """The keys of seat_bots.lua and release_bots.lua."""
    return [
        *(keys.tickets(ladder), keys.load(ladder), keys.seated(ladder)),
        *(keys.seating_deadlines(ladder), keys.pair_counts(ladder, day)),
    ]


def _parse_ticket(bot: str, text: bytes) -> Ticket:
    found = json.loads(text)
    numbers = {
        name: int(found[name]) for name in ("version", "max_games", "entered", "since", "seatings")
    }
    return Ticket(bot=bot, id=found["id"], **numbers)
