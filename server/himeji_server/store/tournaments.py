"""Tournaments: the record of each, its progress, the plan and the games of its rounds, its sums.

Every change compares the version of the tournament and increments it, so that of two that come from
the same state only one is made. The counters are changed together with the game or the plan that
they count: the standings follow from them, however many games there are.

For each state there is an index. A tournament is in that of its new state before it gets it, and in
that of the old one until after it: whoever reads an index compares the state.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from himeji_server import names
from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script
from himeji_server.tasks import in_slices

PLAYED: Final = "played"
"""The counter of the games that are over; all others are of one bot."""

_UPDATE: Final = Script("update_tournament")
_GAMES_AT_ONCE: Final = 500
_AFTER_ALL: Final = "~"  # no position begins with it


class ProgressState(StrEnum):
    """The state of a tournament, in the order in which it passes through them."""

    PLAYING = "playing"
    OVER = "over"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class TournamentRecord:
    """A tournament as it was requested; times are milliseconds."""

    name: str
    title: str
    system: int
    ruleset: str
    seats: int
    options: dict[str, str]
    bank: int
    increment: int
    rounds: int
    bots: list[tuple[str, int]]
    patience: int
    mark: str
    created: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a tournament is."""

    state: ProgressState = ProgressState.PLAYING
    round: int = 1
    ended: int = 0


@dataclass(frozen=True)
class GameRecord:
    """A game of a tournament: planned, being played, or over."""

    game_id: str = ""
    attempt: int = 0
    since: int = 0
    """Since when it waits for a bot."""

    silent: tuple[str, ...] = ()
    """The bots that did not answer when they were seated last."""

    result: str = ""
    """The result as hexadecimal digits, once there is one."""


class TournamentHead(NamedTuple):
    """What changes of a tournament."""

    progress: Progress
    version: int
    """How often the tournament has changed."""


class TournamentStore:
    """The tournaments of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, record: TournamentRecord, now: int) -> TournamentRecord:
        """Store a new tournament, unless its name is taken; returns the one that has the name."""
        new = json.dumps(asdict(replace(record, created=now)))
        await self._store.call("HSETNX", keys.tournament(record.name), "record", new)
        stored = await self.get(record.name) or record
        if stored.mark == record.mark:
            await self.add_to_index(stored, (await self.head(record.name)).progress.state)
        return stored

    async def get(self, name: str) -> TournamentRecord | None:
        """Load a tournament; None if there is none of that name."""
        found = await self._store.call("HGET", keys.tournament(name), "record")
        if not found:
            return None
        fields = json.loads(found)
        fields["bots"] = [(bot, version) for bot, version in fields["bots"]]
        return TournamentRecord(**fields)

    async def head(self, name: str) -> TournamentHead:
        """Load how far a tournament is."""
        found = await self._store.call("HMGET", keys.tournament(name), "progress", "version")
        progress, version = found
        if not progress:
            return TournamentHead(Progress(), int(version or 0))
        fields = json.loads(progress)
        fields["state"] = ProgressState(fields["state"])
        return TournamentHead(Progress(**fields), int(version or 0))

    # --- the index ------------------------------------------------------------------------------

    async def newest(self, states: Sequence[ProgressState], before: str, count: int) -> list[str]:
        """Positions of tournaments in these states, the newest first; "" is before the first.

        A tournament that ends meanwhile is not missed if the states are in the order in which it
        passes through them. When it is read, it may have another state.
        """
        rows = await asyncio.gather(
            *(
                self._store.call(
                    *("ZRANGE", keys.tournaments_in(state), f"({before or _AFTER_ALL}", "-"),
                    *("BYLEX", "REV", "LIMIT", 0, count),
                )
                for state in states
            )
        )
        return sorted({each for row in rows for each in replies.texts(row)}, reverse=True)[:count]

    async def playing(self) -> list[str]:
        """The names of all tournaments that are being played, the newest first."""
        key = keys.tournaments_in(ProgressState.PLAYING)
        positions = replies.texts(await self._store.call("ZREVRANGE", key, 0, -1))
        return [name_at(each) for each in positions]

    async def add_to_index(self, record: TournamentRecord, state: ProgressState) -> None:
        """Add a tournament to those of a state that it has, or is about to have."""
        await self._store.call("ZADD", keys.tournaments_in(state), 0, _position(record))

    async def remove_ended(self, record: TournamentRecord, state: ProgressState) -> None:
        """Have a tournament that has ended in the index of its state only."""
        await self.add_to_index(record, state)
        for other in ProgressState:
            if other is not state:
                await self._store.call("ZREM", keys.tournaments_in(other), _position(record))

    # --- changes --------------------------------------------------------------------------------

    async def save_progress(
        self, record: TournamentRecord, version: int, progress: Progress
    ) -> bool:
        """Save how far a tournament is, unless it has changed; returns whether it was saved."""
        if progress.state is not ProgressState.PLAYING:
            await self.add_to_index(record, progress.state)
        text = json.dumps(asdict(progress))
        saved = await self._update(
            record.name, version, keys.tournament(record.name), ("progress", text)
        )
        state = progress.state if saved else (await self.head(record.name)).progress.state
        if state is not ProgressState.PLAYING:
            await self.remove_ended(record, state)
        return saved

    async def plans(self, name: str, rounds: Sequence[int]) -> list[str]:
        """The plans of rounds, "" for a round without one."""
        if not rounds:
            return []
        fields = [_plan_field(number) for number in rounds]
        found = await self._store.call("HMGET", keys.tournament(name), *fields)
        return [replies.text(each or b"") for each in found]

    async def save_plan(
        self, name: str, version: int, number: int, plan: str, counted: Mapping[str, int]
    ) -> bool:
        """Save the plan of a round, and count it, unless the tournament has changed."""
        key = keys.tournament(name)
        return await self._update(name, version, key, (_plan_field(number), plan), counted)

    async def games(
        self, name: str, number: int, count: int
    ) -> AsyncGenerator[tuple[int, GameRecord], None]:
        """The first so many games of a round, each with its number."""
        for first in range(0, count, _GAMES_AT_ONCE):
            tables = range(first, min(first + _GAMES_AT_ONCE, count))
            fields = [_place(number, table) for table in tables]
            texts = await self._store.call("HMGET", keys.tournament_games(name), *fields)
            async for game in in_slices(zip(tables, map(_parse_game, texts), strict=True)):
                yield game

    async def save_game(
        self,
        name: str,
        version: int,
        place: tuple[int, int],
        game: GameRecord,
        counted: Mapping[str, int],
    ) -> bool:
        """Save a game of a tournament, and count it, unless the tournament has changed."""
        key, text = keys.tournament_games(name), json.dumps(asdict(game))
        return await self._update(name, version, key, (_place(*place), text), counted)

    async def counters(self, name: str) -> dict[str, int]:
        """All counters of a tournament."""
        found = replies.fields(await self._store.call("HGETALL", keys.tournament_counters(name)))
        return {counter: int(count) for counter, count in found.items()}

    async def games_played(self, name: str) -> int:
        """How many games of a tournament are over."""
        return int(await self._store.call("HGET", keys.tournament_counters(name), PLAYED) or 0)

    async def _update(
        self,
        name: str,
        version: int,
        key: str,
        change: tuple[str, str],
        counted: Mapping[str, int] = MappingProxyType({}),
    ) -> bool:
        """Set a field to a value, and count, unless the tournament has changed."""
        touched = [keys.tournament(name), key, keys.tournament_counters(name)]
        added = [part for counter in counted.items() for part in counter]
        return bool(await self._store.run(_UPDATE, touched, version, *change, *added))

    # --- tournaments of older versions ----------------------------------------------------------

    async def to_index(self) -> list[str]:
        """The names of the tournaments that an older version created."""
        return replies.texts(await self._store.call("ZRANGE", keys.TOURNAMENTS_TO_INDEX, 0, -1))

    async def save_counters(self, name: str, counted: Mapping[str, int]) -> None:
        """Count what an older version has played, unless the tournament has changed since."""
        key = keys.tournament(name)
        await self._update(name, 0, key, ("counted", "1"), counted)

    async def is_indexed(self, name: str) -> None:
        """Note that a tournament of an older version is counted and in the index."""
        await self._store.call("ZREM", keys.TOURNAMENTS_TO_INDEX, name)


def name_at(position: str) -> str:
    """The name of the tournament at a position of the index."""
    return position.partition(" ")[2]


def is_position(text: str) -> bool:
    """Whether a text can be a position of the index."""
    return re.fullmatch(rf"[0-9]{{13}} {names.NAME}", text) is not None


def _position(record: TournamentRecord) -> str:
    """The member of a tournament in the index: as text, they are in the order of creation."""
    return f"{record.created:013} {record.name}"


def _plan_field(number: int) -> str:
    return f"plan {number}"


def _place(number: int, table: int) -> str:
    return f"{number}.{table}"


def _parse_game(text: bytes | None) -> GameRecord:
    if not text:
        return _PLANNED
    fields = json.loads(text)
    fields["silent"] = tuple(fields["silent"])
    return GameRecord(**fields)


_PLANNED: Final = GameRecord()
