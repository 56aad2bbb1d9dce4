"""Games in the store: one hash and one log each, changed by one script that compares and sets."""

import asyncio
import secrets
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.v1.game_pb2 import Game

from himeji_server import metrics
from himeji_server.store import keys
from himeji_server.store.client import Script, Store
from himeji_server.store.cluster import slot_of
from himeji_server.store.sending import Argument

WAITING: Final = "waiting"
PLAYING: Final = "playing"
OVER: Final = "over"

_COMMIT: Final = Script("notify", "commit")
_SIT: Final = Script("notify", "take_seat")
_STAND_UP: Final = Script("notify", "leave_seats")
_HEAR: Final = Script("subscribe")
_CREATE: Final = Script("create_game")
_STRIKE: Final = Script("count_strike")
_VOID: Final = Script("notify", "void_game")
_COMPACT: Final = Script("compact_game")

COMPACT_AFTER: Final = 60_000
"""Milliseconds after its end that a game is kept as it was: spectators are still reading it."""
TRIES: Final = 5


class Entry(NamedTuple):
    """One entry of a log: what happened in the words of the chain, and the clock's part."""

    version: int
    text: str
    time: int
    charged: int
    added: int
    left: int
    stop: int  # why an answer went no further
    refusal: str = ""  # of the action at which it stopped: the rule, a space, and why in words


class Snapshot(NamedTuple):
    """The position that a log led to at a version: whoever replays it must come to the same."""

    version: int
    position: bytes


@dataclass(slots=True)
class StoredSeat:
    """What the store knows of a seat."""

    bot: str = ""
    bot_version: int = 0
    entropy: bytes = b""
    left: int = 0
    strikes: int = 0
    lost: int = 0  # the end reason, 0 while the seat plays
    lost_at: int = 0  # the version at which it was lost

    def with_left(self, left: int) -> "StoredSeat":
        """The same with so much on its clock."""
        return StoredSeat(
            *(self.bot, self.bot_version, self.entropy, left),
            *(self.strikes, self.lost, self.lost_at),
        )


@dataclass(slots=True)
class StoredGame:
    """A game as the store has it, with the part of its log that was asked for."""

    header: Game
    secret: bytes
    state: str
    version: int
    decision: int
    seat: int
    asked: int
    chain: bytes
    snapshot: Snapshot | None
    seats: list[StoredSeat]
    result: bytes
    created: int
    started: int
    ended: int
    creator: str = ""
    expires: int = 0  # when it is cancelled if it still waits
    log: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class Commit:
    """A change of a game, complete but for the time, which is the store's."""

    game_id: str
    expected_state: str
    expected_version: int
    expected_chain: bytes
    chain: bytes
    entry: str
    snapshot: bytes  # the position, or nothing
    state: str
    next_seat: int
    new_decision: bool = True
    clock_seat: int = -1
    answered: int = 0
    clock: str = ""  # "", "running" or "fallen"
    result: bytes = b""
    stop: int = 0
    refusal: str = ""  # as in the entry
    fields: Mapping[str, Argument] = field(default_factory=dict)


class CommitReply(NamedTuple):
    """What became of a commit; only "ok" changed anything."""

    status: str  # ok, conflict, state, fallen, running
    version: int = 0
    time: int = 0
    charged: int = 0
    added: int = 0
    left: int = 0

    @property
    def ok(self) -> bool:
        """Whether it was committed."""
        return self.status == "ok"


@dataclass(frozen=True)
class SeatRequest:
    """Who takes a seat."""

    bot: str
    bot_version: int
    entropy: bytes
    request_id: str


class GameStore:
    """The games of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._process = secrets.token_hex(4)  # what bells know this process by

    async def create(
        self, header: Game, secret: bytes, chain: bytes, patience: int, creator: str = ""
    ) -> int:
        """Store a new game; the time of its creation. Storing the same game again is harmless.

        After `patience` milliseconds something is due if it still waits.
        """
        game_id = header.game_id
        timed = header.HasField("clock")
        bank = header.clock.bank.ToMilliseconds()
        increment: Argument = header.clock.increment.ToMilliseconds() if timed else ""
        seats = len(header.seats)
        fields: list[Argument] = ["header", header.SerializeToString(), "secret", secret]
        fields += ["chain", chain, "seats", seats, "increment", increment, "creator", creator]
        for seat in range(seats):
            fields += [f"left{seat}", bank]
        bucket = keys.bucket_of(game_id)
        names = [keys.game(game_id), keys.index(bucket), keys.timers(bucket)]
        return int(await self._store.run(_CREATE, names, game_id, patience, *fields))

    async def load(self, game_id: str) -> StoredGame:
        """A game, with its log; raises UnknownGame."""
        for _ in range(TRIES):
            found = await self._load(game_id)
            if found is not None:
                return found
        raise StoreUnavailable("the game changes too fast, try again")

    async def _load(self, game_id: str) -> StoredGame | None:
        """A game; None if it was made smaller between its head and its log."""
        fields, stream = await self._read(game_id, "-")
        game = _stored(fields)
        packed = fields.get("log")
        if packed is not None:
            lines = zlib.decompress(packed).decode().split("\n")
            game.log = [_entry(n, line, game.created) for n, line in enumerate(lines, start=1)]
            return game
        game.log = _entries(game, stream)
        return None if game.state == OVER and not game.log and game.version else game

    async def head(self, game_id: str) -> StoredGame:
        """A game without its log; raises UnknownGame."""
        return _stored(_fields(game_id, await self._store.call("HGETALL", keys.game(game_id))))

    async def load_since(self, known: StoredGame) -> StoredGame:
        """A game that is known, with what its log has after that; raises UnknownGame.

        A game that was made smaller meanwhile has no such log any more.
        """
        fields, stream = await self._read(known.header.game_id, f"({known.version}-0")
        game = _stored(fields, known.header)
        game.log = _entries(game, stream)
        return game

    async def _read(self, game_id: str, since: str) -> tuple[Mapping[str, bytes], Sequence[Any]]:
        """The fields of a game, and then the entries of its log from an id on."""
        head, stream = await asyncio.gather(
            self._store.call("HGETALL", keys.game(game_id)),
            self._store.call("XRANGE", keys.log(game_id), since, "+"),
        )
        return _fields(game_id, head), stream

    def commit(self, commit: Commit, then: Callable[[CommitReply | Exception], None]) -> None:
        """Commit a change if the game still stands where the change began."""
        game_id = commit.game_id
        extra: list[Argument] = [part for pair in commit.fields.items() for part in pair]
        stop: Argument = f"{commit.stop} {commit.refusal}" if commit.refusal else commit.stop
        arguments: list[Argument] = [
            *(game_id, commit.expected_state, commit.expected_version, commit.expected_chain),
            *(commit.chain, _kept(commit.entry), commit.snapshot),
            *(commit.clock_seat, commit.answered, commit.next_seat),
            *("new" if commit.new_decision else "same", commit.clock, commit.state),
            *(commit.result, keys.bells_of(game_id), stop, COMPACT_AFTER, self._process, *extra),
        ]

        def answered(answer: Any) -> None:
            then(answer if isinstance(answer, Exception) else _outcome(commit, answer))

        self._store.start(_COMMIT, keys.of_commit(game_id), arguments, answered)

    async def sit(self, game_id: str, seats: Sequence[int], sitter: SeatRequest) -> tuple[str, int]:
        """Put a bot on the first open one of the seats.

        The answer is ("ok", seat), ("again", seat) for a repeated request, or why not and -1.
        """
        answer = await self._store.run(
            _SIT,
            [keys.game(game_id), keys.timers(keys.bucket_of(game_id))],
            *(game_id, ",".join(map(str, seats)), sitter.bot, sitter.bot_version),
            *(sitter.entropy, sitter.request_id, keys.bells_of(game_id)),
        )
        status = bytes(answer[0]).decode()
        return status, int(answer[1]) if status in ("ok", "again") else -1

    async def stand_up(self, game_id: str, seats: Sequence[int], bot: str) -> str:
        """Open seats of a bot again in a game that waits; "ok", or why not (see the script)."""
        words = (game_id, ",".join(map(str, seats)), bot, keys.bells_of(game_id))
        return bytes(await self._store.run(_STAND_UP, [keys.game(game_id)], *words)).decode()

    async def strike(self, game_id: str, decision: int, seat: int, answer: str, limit: int) -> int:
        """Count an illegal answer to the open decision; the strikes, -1 if it is not open.

        `answer` tells one answer from others: the same one again does not count again.
        """
        names = [keys.game(game_id), keys.timers(keys.bucket_of(game_id))]
        return int(await self._store.run(_STRIKE, names, game_id, decision, seat, answer, limit))

    async def void(
        self, game_id: str, expected_chain: bytes, chain: bytes, words: str, result: bytes
    ) -> None:
        """End a game whose log was lost in part, unless it is over."""
        await self._store.run(
            _VOID,
            keys.of_commit(game_id),
            *(game_id, expected_chain, chain, words, result, keys.bells_of(game_id), self._process),
        )

    async def compact(self, game: StoredGame) -> None:
        """Make a game smaller that is over and whose log is whole."""
        game_id = game.header.game_id
        names = keys.of_commit(game_id)[:3]
        entries = [_words_and_times(each, game.created) for each in game.log]
        packed = zlib.compress("\n".join(entries).encode(), level=9)
        await self._store.run(_COMPACT, names, game_id, game.chain, packed)

    async def heads(self, game_ids: Sequence[str]) -> list[tuple[int, bytes] | None]:
        """Version and chain of each game, 0 and nothing for one that does not exist.

        None for one whose node does not answer.
        """
        asked = [
            self._store.call("HMGET", keys.game(each), "version", "chain") for each in game_ids
        ]
        heads = await asyncio.gather(*asked, return_exceptions=True)
        return [
            None if isinstance(head, BaseException) else (int(head[0] or 0), head[1] or b"")
            for head in heads
        ]

    async def hear(self, game_id: str, *, on: bool = True) -> None:
        """Have the bells of a game rung at this process from now on, or no more."""
        await self._store.run(_HEAR, [keys.game(game_id)], self._process, int(on))

    @property
    def bells(self) -> list[str]:
        """The channels on which this process hears of games."""
        return [keys.bells(bucket, self._process) for bucket in range(keys.BUCKETS)]

    def moved(self, since: int, game_ids: Iterable[str]) -> tuple[int, list[str]]:
        """Those of the games that another node of the store has since a point; the point now."""
        now, slots = self._store.moved(since)
        buckets = {n for n in range(keys.BUCKETS) if slots and slot_of(keys.timers(n)) in slots}
        return now, [each for each in game_ids if buckets and keys.bucket_of(each) in buckets]

    async def forget_timer(self, game_id: str) -> None:
        """Nothing is due for a game any more: there is no such game."""
        await self._store.call("ZREM", keys.timers(keys.bucket_of(game_id)), game_id)

    async def due(self, now: int, most: int) -> list[str]:
        """Games for which something is due, at most so many of each bucket."""
        found = await asyncio.gather(
            *(
                self._store.call("ZRANGEBYSCORE", keys.timers(n), "-inf", now, "LIMIT", 0, most)
                for n in range(keys.BUCKETS)
            )
        )
        return [bytes(game_id).decode() for games in found for game_id in games]

    async def newest(self, before: str) -> AsyncIterator[tuple[str, str]]:
        """Ids of games, the newest first, each with the place after which the list goes on.

        Every bucket is asked for a page at a time, and the pages are merged.
        """
        most, place = "+inf", before
        if before:
            most = f"{before.partition(' ')[0]}"
        page = 20
        while True:
            rows = await asyncio.gather(
                *(
                    self._store.call(
                        *("ZREVRANGEBYSCORE", keys.index(n), most, "-inf", "WITHSCORES"),
                        *("LIMIT", 0, page),
                    )
                    for n in range(keys.BUCKETS)
                )
            )
            found = sorted(
                (
                    f"{int(float(row[i + 1])):015} {bytes(row[i]).decode()}"
                    for row in rows
                    for i in range(0, len(row), 2)
                ),
                reverse=True,
            )
            # From the oldest time of a full page on there may be others that were not asked for.
            full = [f"{int(float(row[-1])):015}" for row in rows if len(row) == 2 * page]
            sure = [each for each in found if not full or each[:15] > max(full)]
            news = [each for each in sure if not place or each < place]
            for each in news:
                place = each
                yield each[16:], each
            if not full:
                return
            if not news:
                page *= 2
            else:
                most = str(int(place[:15]))

    async def now(self) -> int:
        """The store's time in milliseconds."""
        seconds, micros = await self._store.call("TIME")
        return int(seconds) * 1000 + int(micros) // 1000


def _outcome(commit: Commit, answer: Sequence[Any]) -> CommitReply | UnknownGame:
    status: str = answer[0].decode()
    metrics.committed(status, decision=commit.answered > 0)
    if status == "ok":
        return CommitReply(status, *answer[1:])
    if status == "missing":
        return UnknownGame(f"there is no game {commit.game_id}", {"game_id": commit.game_id})
    return CommitReply(status)


def _fields(game_id: str, flat: Sequence[bytes]) -> dict[str, bytes]:
    if not flat:
        raise UnknownGame(f"there is no game {game_id}", {"game_id": game_id})
    return {key.decode(): value for key, value in zip(flat[::2], flat[1::2], strict=True)}


def _number(fields: Mapping[str, bytes], name: str) -> int:
    return int(fields.get(name, b"0"))


def _stored(fields: Mapping[str, bytes], header: Game | None = None) -> StoredGame:
    seats = range(_number(fields, "seats"))
    return StoredGame(
        header=header or Game.FromString(fields["header"]),
        secret=fields["secret"],
        state=fields["state"].decode(),
        version=_number(fields, "version"),
        decision=_number(fields, "decision"),
        seat=int(fields.get("seat", b"-1")),
        asked=_number(fields, "asked"),
        chain=fields["chain"],
        snapshot=_snapshot(fields.get("position", b"")),
        seats=[_seat(fields, seat) for seat in seats],
        result=fields.get("result", b""),
        created=_number(fields, "created"),
        started=_number(fields, "started"),
        ended=_number(fields, "ended"),
        creator=fields.get("creator", b"").decode(),
        expires=_number(fields, "expires"),
    )


def _snapshot(text: bytes) -> Snapshot | None:
    version, _, position = text.partition(b" ")
    return Snapshot(int(version) if version.isdigit() else 0, position) if text else None


def _seat(fields: Mapping[str, bytes], seat: int) -> StoredSeat:
    lost, _, lost_at = fields.get(f"lost{seat}", b"0 0").decode().partition(" ")
    return StoredSeat(
        bot=fields.get(f"bot{seat}", b"").decode(),
        bot_version=_number(fields, f"botversion{seat}"),
        entropy=fields.get(f"entropy{seat}", b""),
        left=_number(fields, f"left{seat}"),
        strikes=_number(fields, f"strikes{seat}"),
        lost=int(lost),
        lost_at=int(lost_at),
    )


def _kept(text: str) -> str:
    """The words of an entry as they are kept: its version is its id."""
    return text.partition(" ")[2]


def _words_and_times(entry: Entry, created: int) -> str:
    """An entry as it stands in the log; commit.lua writes the same."""
    times = (entry.time - created, entry.charged, entry.added, entry.left, entry.stop)
    return " ".join([_kept(entry.text), *map(str, times), entry.refusal]).rstrip()


def _entries(game: StoredGame, stream: Sequence[Any]) -> list[Entry]:
    """The entries of a log; it was read after the head, so it may be longer than that knows."""
    entries = (_streamed(raw, game.created) for raw in stream)
    return [each for each in entries if each.version <= game.version]


def _streamed(raw: Sequence[Any], created: int) -> Entry:
    identity, fields = raw
    version = int(bytes(identity).partition(b"-")[0])
    return _entry(version, bytes(fields[1]).decode(errors="replace"), created)


def _entry(version: int, line: str, created: int) -> Entry:
    """An entry of a log; what makes no sense in it is found by whoever replays it."""
    parts = line.split(" ", 9)
    try:
        since, charged, added, left, stop = map(int, parts[4:9])
    except ValueError:
        since = charged = added = left = stop = 0
    text = " ".join([str(version), *parts[:4]])
    refusal = parts[9] if len(parts) > 9 else ""
    return Entry(version, text, created + since, charged, added, left, stop, refusal)
