"""Tournaments: the record of each, its progress, and the plan and the games of its rounds."""

import json
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from himeji_server.store import keys, replies
from himeji_server.store.client import Store


class ProgressState(StrEnum):
    """The state of a tournament."""

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


class TournamentStore:
    """The tournaments of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, record: TournamentRecord, now: int) -> TournamentRecord:
        """Store a new tournament, unless its name is taken; returns the one that has the name."""
        new = json.dumps(asdict(replace(record, created=now)))
        await self._store.call("HSETNX", keys.tournament(record.name), "record", new)
        await self._store.call("ZADD", keys.TOURNAMENTS, "NX", now, record.name)
        stored = await self.get(record.name)
        return stored if stored is not None else record

    async def get(self, name: str) -> TournamentRecord | None:
        """Load a tournament; None if there is none of that name."""
        found = await self._store.call("HGET", keys.tournament(name), "record")
        if not found:
            return None
        fields = json.loads(found)
        fields["bots"] = [(bot, version) for bot, version in fields["bots"]]
        return TournamentRecord(**fields)

    async def names(self) -> list[str]:
        """The names of all tournaments, the newest first."""
        return replies.texts(await self._store.call("ZREVRANGE", keys.TOURNAMENTS, 0, -1))

    async def progress(self, name: str) -> Progress:
        """Load how far a tournament is."""
        found = await self._store.call("HGET", keys.tournament(name), "progress")
        if not found:
            return Progress()
        fields = json.loads(found)
        return Progress(**fields | {"state": ProgressState(fields["state"])})

    async def save_progress(self, name: str, progress: Progress) -> None:
        """Save how far a tournament is."""
        text = json.dumps(asdict(progress))
        await self._store.call("HSET", keys.tournament(name), "progress", text)

    async def plan(self, name: str, number: int) -> str:
        """The plan of a round, "" if there is none yet."""
        found = await self._store.call("HGET", keys.tournament(name), f"plan {number}")
        return replies.text(found or b"")

    async def save_plan(self, name: str, number: int, plan: str) -> str:
        """Save the plan of a round, unless it has one; returns the plan that it has."""
        await self._store.call("HSETNX", keys.tournament(name), f"plan {number}", plan)
        return await self.plan(name, number)

    async def games(self, name: str) -> dict[tuple[int, int], GameRecord]:
        """The games of a tournament by their round and number."""
        found = replies.fields(await self._store.call("HGETALL", keys.tournament_games(name)))
        return {_parse_place(key): _parse_game(text) for key, text in found.items()}

    async def save_game(self, name: str, place: tuple[int, int], game: GameRecord) -> None:
        """Save a game of a tournament."""
        key = f"{place[0]}.{place[1]}"
        await self._store.call("HSET", keys.tournament_games(name), key, json.dumps(asdict(game)))


def _parse_place(key: str) -> tuple[int, int]:
    number, _, table = key.partition(".")
    return int(number), int(table)


def _parse_game(text: bytes) -> GameRecord:
    fields = json.loads(text)
    fields["silent"] = tuple(fields["silent"])
    return GameRecord(**fields)
