"""Tournaments in the store: what was asked for, the plan of each round, and its games."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Final

from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.replies import pairs

PLAYING: Final = "playing"
OVER: Final = "over"
CANCELLED: Final = "cancelled"


@dataclass(frozen=True)
class TournamentRecord:
    """A tournament as it was asked for; times are milliseconds."""

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

    state: str = PLAYING
    round: int = 1
    ended: int = 0


@dataclass(frozen=True)
class GameRecord:
    """A game of a tournament: planned, being played, or over."""

    game_id: str = ""
    attempt: int = 0
    since: int = 0
    """Since when a bot is waited for."""

    silent: tuple[str, ...] = ()
    """Who did not answer the last seating."""

    result: str = ""
    """The result as hexadecimal digits, once there is one."""


class TournamentStore:
    """The tournaments of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, record: TournamentRecord, now: int) -> TournamentRecord:
        """Store a new tournament; the one that stands under its name, which may be another."""
        new = json.dumps(asdict(replace(record, created=now)))
        await self._store.call("HSETNX", keys.tournament(record.name), "asked", new)
        await self._store.call("ZADD", keys.TOURNAMENTS, "NX", now, record.name)
        stands = await self.asked(record.name)
        return stands if stands is not None else record

    async def asked(self, name: str) -> TournamentRecord | None:
        """A tournament, None if there is none of that name."""
        found = await self._store.call("HGET", keys.tournament(name), "asked")
        if not found:
            return None
        fields = json.loads(found)
        fields["bots"] = [(bot, version) for bot, version in fields["bots"]]
        return TournamentRecord(**fields)

    async def names(self) -> list[str]:
        """All tournaments, the newest first."""
        found = await self._store.call("ZREVRANGE", keys.TOURNAMENTS, 0, -1)
        return [bytes(name).decode() for name in found]

    async def progress(self, name: str) -> Progress:
        """How far a tournament is."""
        found = await self._store.call("HGET", keys.tournament(name), "progress")
        return Progress(**json.loads(found)) if found else Progress()

    async def advance(self, name: str, progress: Progress) -> None:
        """Note how far a tournament is."""
        text = json.dumps(asdict(progress))
        await self._store.call("HSET", keys.tournament(name), "progress", text)

    async def plan(self, name: str, number: int) -> str:
        """The plan of a round, "" if there is none yet."""
        found = await self._store.call("HGET", keys.tournament(name), f"plan {number}")
        return bytes(found).decode() if found else ""

    async def keep_plan(self, name: str, number: int, plan: str) -> str:
        """Keep the plan of a round; the one that stands, which is the first."""
        await self._store.call("HSETNX", keys.tournament(name), f"plan {number}", plan)
        return await self.plan(name, number)

    async def games(self, name: str) -> dict[tuple[int, int], GameRecord]:
        """The games of a tournament by their round and number."""
        found = pairs(await self._store.call("HGETALL", keys.tournament_games(name)))
        return {_place(key): _game(text) for key, text in found.items()}

    async def keep_game(self, name: str, place: tuple[int, int], game: GameRecord) -> None:
        """Note how a game stands."""
        key = f"{place[0]}.{place[1]}"
        await self._store.call("HSET", keys.tournament_games(name), key, json.dumps(asdict(game)))


def _place(key: str) -> tuple[int, int]:
    number, _, table = key.partition(".")
    return int(number), int(table)


def _game(text: bytes) -> GameRecord:
    fields = json.loads(text)
    fields["silent"] = tuple(fields["silent"])
    return GameRecord(**fields)
