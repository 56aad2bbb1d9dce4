"""Games in Redis: a hash and a log each, changed only by scripts that compare and set.

commit.lua is the one way to change a game that is played. It writes nothing unless the game still
has the state, version and chain that its caller saw, so any number of processes may try at once
and no lock outlives a command. All keys of a game, and the timers, the outbox and the index that a
commit changes with it, share one slot of a Cluster.
"""

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from himeji.rules.errors import StoreUnavailable
from himeji.v1.game_pb2 import Game
from himeji.wire.chain import NOBODY

from himeji_server.store import game_index, keys, replies
from himeji_server.store.client import Store
from himeji_server.store.cluster import slot_of
from himeji_server.store.game_format import (
    SUMMARY_FIELDS,
    new_game_fields,
    pack_log,
    parse_game,
    parse_log,
    parse_summary,
    unpack_log,
)
from himeji_server.store.game_index import GameIndex
from himeji_server.store.game_records import (
    NO_CREATOR,
    OVER,
    Creator,
    SeatRequest,
    SeatStatus,
    StoredGame,
)
from himeji_server.store.game_scripts import (
    COMPACT,
    COUNT_STRIKE,
    CREATE,
    LEAVE_SEATS,
    SUBSCRIBE,
    TAKE_SEAT,
    VOID,
    TakeSeatArguments,
    VoidArguments,
    unknown_game,
)

TRIES: Final = 5


class GameStore:
    """The games of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.index = GameIndex(store)
        self.process = secrets.token_hex(4)
        """The name of this process among the subscribers of games."""

    async def create(
        self,
        header: Game,
        secret: bytes,
        chain: bytes,
        expires_after_ms: int,
        creator: Creator = NO_CREATOR,
    ) -> int:
        """Store a new game, once; returns the time of its creation.

        If it still waits after `expires_after_ms`, its timer is due.
        """
        game_id, bucket = header.game_id, keys.bucket_of(header.game_id)
        fields = new_game_fields(header, secret, chain, creator)
        touched = [keys.game(game_id), keys.game_index(bucket), keys.timers(bucket)]
        flat = [part for field in fields.items() for part in field]
        entries = game_index.changes_of_creation(header)
        created = self._store.run(CREATE, touched, game_id, expires_after_ms, entries, *flat)
        return int(await created)

    async def load(self, game_id: str) -> StoredGame:
        """Load a game with its log; raises UnknownGame."""
        for _ in range(TRIES):
            found = await self._load(game_id)
            if found is not None:
                return found
        raise StoreUnavailable("the game changes too fast, try again")

    async def _load(self, game_id: str) -> StoredGame | None:
        """Load a game; None if it was compacted between reading its hash and its log."""
        fields, stream = await self._read(game_id, "-")
        game = parse_game(fields)
        packed = fields.get("log")
        if packed is not None:
            game.log = unpack_log(packed, game.created)
            return game
        game.log = parse_log(game, stream)
        return None if game.state == OVER and not game.log and game.version else game

    async def head(self, game_id: str) -> StoredGame:
        """Load a game without its log; raises UnknownGame."""
        reply = await self._store.call("HGETALL", keys.game(game_id))
        return parse_game(_fields(game_id, reply))

    async def summaries(self, positions: Sequence[bytes]) -> list[StoredGame | None]:
        """Load games of a list, without log and position; None for one that is gone."""
        ids = map(game_index.game_at, positions)
        found = await asyncio.gather(
            *(self._store.call("HMGET", keys.game(each), *SUMMARY_FIELDS) for each in ids)
        )
        return [parse_summary(values) for values in found]

    async def load_since(self, known: StoredGame) -> StoredGame:
        """Load a game with the entries of its log after a known version; raises UnknownGame.

        A game that was compacted meanwhile has no such entries any more.
        """
        fields, stream = await self._read(known.header.game_id, f"({known.version}-0")
        game = parse_game(fields, known.header)
        game.log = parse_log(game, stream)
        return game

    async def _read(self, game_id: str, since: str) -> tuple[Mapping[str, bytes], Sequence[Any]]:
        """Read the fields of a game, and after them the entries of its log from an id on."""
        reply, stream = await asyncio.gather(
            self._store.call("HGETALL", keys.game(game_id)),
            self._store.call("XRANGE", keys.log(game_id), since, "+"),
        )
        return _fields(game_id, reply), stream

    async def take_seat(
        self, game_id: str, seats: Sequence[int], request: SeatRequest
    ) -> tuple[SeatStatus, int]:
        """Give a bot the first open one of the seats; returns that seat, -1 if there is none."""
        arguments = TakeSeatArguments(
            game_id=game_id,
            seats=",".join(map(str, seats)),
            bot=request.bot,
            bot_version=request.bot_version,
            entropy=request.entropy,
            request_id=request.request_id,
            channel=keys.game_channel_prefix(game_id),
            index_changes=game_index.changes_of_seat(request.bot),
        )
        bucket = keys.bucket_of(game_id)
        touched = [keys.game(game_id), keys.timers(bucket), keys.game_index(bucket)]
        status, *seat = await self._store.run(TAKE_SEAT, touched, *arguments)
        return SeatStatus(replies.text(status)), int(seat[0]) if seat else NOBODY

    async def leave_seats(self, game_id: str, seats: Sequence[int], bot: str) -> SeatStatus:
        """Open seats of a bot again in a game that waits."""
        reply = await self._store.run(
            LEAVE_SEATS,
            [keys.game(game_id), keys.game_index(keys.bucket_of(game_id))],
            *(game_id, ",".join(map(str, seats)), bot, keys.game_channel_prefix(game_id)),
            *game_index.changes_of_leaving(bot),
        )
        return SeatStatus(replies.text(reply))

    async def count_strike(
        self, game_id: str, decision: int, seat: int, answer: str, limit: int
    ) -> int:
        """Count an illegal answer to the open decision; returns the strikes, -1 if it is not open.

        `answer` is a digest of the answer: the same one again does not count again.
        """
        touched = [keys.game(game_id), keys.timers(keys.bucket_of(game_id))]
        return int(
            await self._store.run(COUNT_STRIKE, touched, game_id, decision, seat, answer, limit)
        )

    async def void(
        self, header: Game, expected_chain: bytes, chain: bytes, entry: str, result: bytes
    ) -> None:
        """End a game whose log was lost in part, unless it is over; the entry has no version."""
        game_id = header.game_id
        arguments = VoidArguments(
            game_id=game_id,
            expected_chain=expected_chain,
            new_chain=chain,
            entry=entry,
            result=result,
            channel=keys.game_channel_prefix(game_id),
            sender=self.process,
            index_changes=game_index.changes_of_end(header),
        )
        await self._store.run(VOID, keys.of_game(game_id), *arguments)

    async def compact(self, game: StoredGame) -> None:
        """Compress the log of a game that is over and whose log is whole."""
        game_id = game.header.game_id
        touched = keys.of_game(game_id)[:3]
        await self._store.run(COMPACT, touched, game_id, game.chain, pack_log(game))

    async def heads(self, game_ids: Sequence[str]) -> list[tuple[int, bytes] | None]:
        """Version and chain of each game: 0 and nothing if there is no such game.

        None if its node does not answer.
        """
        requests = [
            self._store.call("HMGET", keys.game(each), "version", "chain") for each in game_ids
        ]
        heads = await asyncio.gather(*requests, return_exceptions=True)
        return [
            None if isinstance(head, BaseException) else (int(head[0] or 0), head[1] or b"")
            for head in heads
        ]

    async def subscribe(self, game_id: str) -> None:
        """Have this process notified of changes of a game."""
        await self._store.run(SUBSCRIBE, [keys.game(game_id)], self.process, 1)

    async def unsubscribe(self, game_id: str) -> None:
        """Have this process notified of a game no more."""
        await self._store.run(SUBSCRIBE, [keys.game(game_id)], self.process, 0)

    @property
    def channels(self) -> list[str]:
        """The channels on which this process is notified of games."""
        return [keys.game_channel(bucket, self.process) for bucket in range(keys.BUCKETS)]

    def moved(self, since: int, game_ids: Iterable[str]) -> tuple[int, list[str]]:
        """The games that moved to another node of the Cluster since a point, and the point now."""
        now, slots = self._store.moved_slots(since)
        buckets = {n for n in range(keys.BUCKETS) if slots and slot_of(keys.timers(n)) in slots}
        return now, [each for each in game_ids if buckets and keys.bucket_of(each) in buckets]

    async def remove_timer(self, game_id: str) -> None:
        """Remove the timer of a game for which nothing is to be done."""
        await self._store.call("ZREM", keys.timers(keys.bucket_of(game_id)), game_id)

    async def due(self, now: int, limit: int) -> list[str]:
        """The games whose timers are due, at most this many of each bucket."""
        found = await asyncio.gather(
            *(
                self._store.call("ZRANGEBYSCORE", keys.timers(n), "-inf", now, "LIMIT", 0, limit)
                for n in range(keys.BUCKETS)
            )
        )
        return [game_id for games in found for game_id in replies.texts(games)]

    async def now(self) -> int:
        """The store's time in milliseconds."""
        return replies.milliseconds(await self._store.call("TIME"))


def _fields(game_id: str, reply: Sequence[bytes]) -> dict[str, bytes]:
    if not reply:
        raise unknown_game(game_id)
    return replies.fields(reply)
