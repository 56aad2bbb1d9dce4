"""The queues of ladders: tickets of bots that wait, and the games that they are seated in."""

import asyncio
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from himeji_server.store import keys
from himeji_server.store.client import Script, Store
from himeji_server.store.replies import pairs

SECONDS_OF_PAIRS: Final = 2 * 24 * 3600
_ENTER: Final = Script("enter_queue")
_SEAT: Final = Script("seat_bots")
_RELEASE: Final = Script("release_bots")


@dataclass(frozen=True)
class Ticket:
    """A bot's place in the queue of a ladder."""

    bot: str
    id: str
    version: int
    most: int
    """How many games at the same time the bot allows."""

    entered: int
    since: int
    """When its last game was over, or when it entered."""

    seatings: int
    """How often it was seated."""


@dataclass(frozen=True)
class Queue:
    """A ladder's queue at a moment."""

    tickets: tuple[Ticket, ...]
    load: dict[str, int]
    """How many games each bot is seated in."""


class QueueStore:
    """The queues of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def enter(
        self, ladder: str, bot: str, version: int, most: int, *, again: bool = False
    ) -> Ticket | None:
        """Put a bot into a queue; one that is there keeps its place.

        One that was taken out and only says again what it said before is not put in: None.
        """
        names = [keys.tickets(ladder), keys.taken_out(ladder)]
        new, said = secrets.token_hex(8), "again" if again else ""
        text = await self._store.run(_ENTER, names, bot, new, version, most, said)
        return _ticket(bot, text) if text else None

    async def take_out(self, ladder: str, bot: str) -> None:
        """Note that a bot was taken out, for when it says Enter again by itself."""
        await self._store.call("SADD", keys.taken_out(ladder), bot)

    async def leave(self, ladder: str, bot: str) -> bool:
        """Take a bot out of a queue; whether it was there."""
        return bool(await self._store.call("HDEL", keys.tickets(ladder), bot))

    async def ladders_of(self, bot: str, ladders: Sequence[str]) -> list[str]:
        """In which of the queues a bot is."""
        found = await asyncio.gather(
            *(self._store.call("HEXISTS", keys.tickets(each), bot) for each in ladders)
        )
        return [each for each, there in zip(ladders, found, strict=True) if there]

    async def queue(self, ladder: str) -> Queue:
        """Everybody in a queue, the oldest first."""
        tickets, load = await asyncio.gather(
            self._store.call("HGETALL", keys.tickets(ladder)),
            self._store.call("HGETALL", keys.load(ladder)),
        )
        found = [_ticket(bot, text) for bot, text in pairs(tickets).items()]
        found.sort(key=lambda ticket: (ticket.entered, ticket.id))
        return Queue(tuple(found), {bot: int(count) for bot, count in pairs(load).items()})

    async def counts(self, ladder: str) -> tuple[int, int]:
        """How many bots are in a queue, and how many games are seated or being played."""
        waiting, playing = await asyncio.gather(
            self._store.call("HLEN", keys.tickets(ladder)),
            self._store.call("HLEN", keys.seated(ladder)),
        )
        return int(waiting), int(playing)

    async def games(self, ladder: str) -> dict[str, list[str]]:
        """The bots of the games that are seated or being played."""
        found = await self._store.call("HGETALL", keys.seated(ladder))
        return {game_id: _bots(text) for game_id, text in pairs(found).items()}

    async def seat(  # noqa: PLR0913 - each of them is compared or noted in one step
        self,
        ladder: str,
        game_id: str,
        tickets: Sequence[Ticket],
        *,
        answer_ms: int,
        pair_cap: int,
        day: str,
    ) -> tuple[str, ...]:
        """Seat the bots of these tickets together: ("ok",), or why not and who."""
        names = [keys.tickets(ladder), keys.load(ladder), keys.seated(ladder)]
        names += [keys.seatings(ladder), keys.pairs(ladder, day)]
        who = [part for ticket in tickets for part in (ticket.bot, ticket.id)]
        answer = await self._store.run(
            _SEAT, names, game_id, answer_ms, pair_cap, SECONDS_OF_PAIRS, day, *who
        )
        return tuple(bytes(part).decode() for part in answer)

    async def release(
        self, ladder: str, game_id: str, *, begun: bool, silent: Iterable[str] = ()
    ) -> bool:
        """Settle a game, so that its bots may be seated again; False if it was settled before.

        Those who were silent when they were seated lose their tickets.
        """
        found = await self._store.call("HGET", keys.seated(ladder), game_id)
        day = json.loads(found)["day"] if found else ""
        names = [keys.tickets(ladder), keys.load(ladder), keys.seated(ladder)]
        names += [keys.seatings(ladder), keys.pairs(ladder, day)]
        how = "over" if begun else "failed"
        return bool(await self._store.run(_RELEASE, names, game_id, how, *silent))

    async def due(self, ladder: str, now: int) -> list[str]:
        """The games whose seats must have answered by now."""
        found = await self._store.call("ZRANGEBYSCORE", keys.seatings(ladder), "-inf", now)
        return [bytes(game_id).decode() for game_id in found]

    async def look_again(self, ladder: str, game_id: str, when: int) -> None:
        """The seats of a game have until then, if it still is a seating."""
        await self._store.call("ZADD", keys.seatings(ladder), "XX", when, game_id)

    async def begun(self, ladder: str, game_id: str) -> None:
        """All seats of a game have answered."""
        await self._store.call("ZREM", keys.seatings(ladder), game_id)

    async def house_may_play(self, ladder: str) -> bool:
        """Whether the house may play among itself again."""
        return not await self._store.call("EXISTS", keys.pace(ladder))

    async def house_plays(self, ladder: str, pause_ms: int) -> None:
        """The house plays among itself, and then not for a while."""
        await self._store.call("SET", keys.pace(ladder), 1, "PX", max(1, pause_ms))

    async def tell_left(self, bot: str, ladder: str) -> None:
        """A bot was taken out of a queue by another call than its stream's: the stream hears it."""
        await self._store.call("PUBLISH", keys.BOTS_BELL, f"left {bot} {ladder}")

    async def tell_closed(self, bot: str, ladder: str) -> None:
        """A bot was taken out of a queue because the ladder is closed: its stream hears it."""
        await self._store.call("PUBLISH", keys.BOTS_BELL, f"closed {bot} {ladder}")


def _ticket(bot: str, text: bytes) -> Ticket:
    found = json.loads(text)
    numbers = {
        name: int(found[name]) for name in ("version", "most", "entered", "since", "seatings")
    }
    return Ticket(bot=bot, id=found["id"], **numbers)


def _bots(text: bytes) -> list[str]:
    return [each["bot"] for each in json.loads(text)["bots"]]
