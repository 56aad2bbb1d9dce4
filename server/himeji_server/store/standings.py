"""The standings of ladders: a log of rated games, and rows that are computed from it.

The log is the truth. One script appends to it and changes the rows, after comparing the head of the
ladder with the one from which the rows were computed. So no game counts twice, and no row is
computed from an old one.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.commands import Argument
from himeji_server.store.pipelining import Script
from himeji_server.store.replies import AppendStatus

_RATE: Final = Script("rate_game")
_NOTE_VOID: Final = Script("note_void")
_START_SEASON: Final = Script("start_season")
ENTRIES_PER_PAGE: Final = 500
_ENTRIES_AT_ONCE: Final = 100


class StandingsHead(NamedTuple):
    """The version of a ladder's standings; every change names the head that it expects."""

    sequence: int = 0
    season: int = 1
    generation: int = 0
    """How often the standings were replaced by recomputed ones."""


@dataclass(frozen=True)
class SeasonRecord:
    """A season of a ladder; times are milliseconds."""

    number: int
    title: str = ""
    started: int = 0
    ended: int = 0
    first: int = 0
    """The sequence of the last game before the season."""

    last: int = 0
    """The sequence of its last game, once it has ended."""

    mark: str = ""
    """The request that started it."""


class RatedEntry(NamedTuple):
    """An entry of the log: a rated game."""

    sequence: int
    data: bytes


@dataclass(frozen=True)
class PendingVoid:
    """A void game that the standings still count."""

    game_id: str
    season: int
    sequence: int
    actor: str
    """The owner who voided it."""

    explanation: str


@dataclass(frozen=True)
class RepairRecord:
    """What a repair of the standings changed, kept for retries of the request that asked for it."""

    games: int
    differences: bytes
    mark: str
    """The request."""


class StandingsStore:
    """The standings of all ladders of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def head(self, ladder: str) -> StandingsHead:
        """The head of a ladder."""
        found = await self._store.call(
            "HMGET", keys.standings_head(ladder), "sequence", "season", "generation"
        )
        return StandingsHead(
            *(int(value or default) for value, default in zip(found, StandingsHead(), strict=True))
        )

    async def sequence_of(self, ladder: str, game_id: str) -> int:
        """The sequence under which a game was rated, 0 if it was not."""
        return int(await self._store.call("HGET", keys.standings_rated(ladder), game_id) or 0)

    async def sequences_of(self, ladder: str, game_ids: Sequence[str]) -> list[int]:
        """The sequences under which these games were rated; those that were not are left out."""
        if not game_ids:
            return []
        found = await self._store.call("HMGET", keys.standings_rated(ladder), *game_ids)
        return [int(each) for each in found if each]

    async def rate(  # noqa: PLR0913 - all of it is written in one step
        self,
        ladder: str,
        head: StandingsHead,
        game_id: str,
        *,
        entry: bytes,
        rows: Mapping[str, str],
        bots: Iterable[str],
    ) -> tuple[AppendStatus, int]:
        """Add a game with the rows that it changes; the sequence is 0 for a conflict."""
        touched = [keys.standings_head(ladder), keys.standings_log(ladder)]
        touched += [keys.standings_rows(ladder, head.season), keys.standings_rated(ladder)]
        touched += [keys.standings_history(ladder, bot) for bot in sorted(set(bots))]
        flat: list[Argument] = [part for row in rows.items() for part in row]
        status, *sequence = await self._store.run(_RATE, touched, game_id, *head, entry, *flat)
        return AppendStatus(replies.text(status)), int(sequence[0]) if sequence else 0

    async def rows(
        self, ladder: str, season: int, names: Sequence[str] | None = None
    ) -> dict[str, str]:
        """The rows of a season by their names: all, or those of the named that there are."""
        return await self._hash(keys.standings_rows(ladder, season), names)

    async def row_count(self, ladder: str, season: int) -> int:
        """How many rows the standings of a season have."""
        return int(await self._store.call("HLEN", keys.standings_rows(ladder, season)))

    async def starting_means(
        self, ladder: str, season: int, names: Sequence[str] | None = None
    ) -> dict[str, float]:
        """The mean ratings with which versions of bots began a season."""
        found = await self._hash(keys.starting_means(ladder, season), names)
        return {name: float(mean) for name, mean in found.items()}

    async def _hash(self, key: str, names: Sequence[str] | None) -> dict[str, str]:
        if names is None:
            return replies.text_fields(await self._store.call("HGETALL", key))
        if not names:
            return {}
        values = await self._store.call("HMGET", key, *names)
        return {
            name: replies.text(value)
            for name, value in zip(names, values, strict=True)
            if value is not None
        }

    async def repair(self, ladder: str, mark: str) -> RepairRecord | None:
        """What the repair that a request asked for changed; None if it changed nothing."""
        key = keys.standings_repair(ladder, mark)
        games, differences = await self._store.call("HMGET", key, "games", "differences")
        return RepairRecord(int(games), bytes(differences), mark) if games else None

    async def voided(self, ladder: str) -> frozenset[str]:
        """The games that are void, those that the standings still count among them."""
        found = await self._store.call("SMEMBERS", keys.standings_voided(ladder))
        return frozenset(replies.texts(found))

    async def voided_among(self, ladder: str, game_ids: Sequence[str]) -> frozenset[str]:
        """Those of the games that are void."""
        if not game_ids:
            return frozenset()
        key = keys.standings_voided(ladder)
        found = await self._store.call("SMISMEMBER", key, *game_ids)
        return frozenset(each for each, void in zip(game_ids, found, strict=True) if void)

    async def note_void(self, ladder: str, void: PendingVoid) -> None:
        """Note that a rated game is void; the standings count it until they are replaced."""
        touched = [keys.standings_voided(ladder), keys.pending_voids(ladder)]
        await self._store.run(_NOTE_VOID, touched, void.game_id, json.dumps(void.__dict__))

    async def pending_voids(self, ladder: str) -> list[PendingVoid]:
        """The void games that the standings still count, in the order of the log."""
        found = await self._hash(keys.pending_voids(ladder), None)
        voids = [PendingVoid(**json.loads(text)) for text in found.values()]
        return sorted(voids, key=lambda each: each.sequence)

    async def entries_after(
        self, ladder: str, after: int = 0, until: int | None = None
    ) -> list[RatedEntry]:
        """A page of the entries of the log after a sequence, the oldest first."""
        if until is not None and until <= after:
            return []
        last = "+" if until is None else f"{until}-0"
        found = await self._store.call(
            "XRANGE", keys.standings_log(ladder), f"({after}-0", last, "COUNT", ENTRIES_PER_PAGE
        )
        return [_parse_entry(raw) for raw in found]

    async def entries(self, ladder: str, sequences: Iterable[int]) -> list[RatedEntry]:
        """The entries of the log with these sequences; few at a time, so that others run too."""
        log, wanted = keys.standings_log(ladder), [f"{each}-0" for each in sequences]
        found: list[RatedEntry] = []
        for first in range(0, len(wanted), _ENTRIES_AT_ONCE):
            some = wanted[first : first + _ENTRIES_AT_ONCE]
            replied = await asyncio.gather(
                *(self._store.call("XRANGE", log, each, each) for each in some)
            )
            found += [_parse_entry(raw) for entries in replied for raw in entries]
        return found

    async def history_length(self, ladder: str, bot: str) -> int:
        """How many rated games a bot has."""
        return int(await self._store.call("LLEN", keys.standings_history(ladder, bot)))

    async def history(self, ladder: str, bot: str, first: int = 0, last: int = -1) -> list[int]:
        """The sequences of a bot's games by place, from first to last; the last place is -1."""
        found = await self._store.call("LRANGE", keys.standings_history(ladder, bot), first, last)
        return [int(each) for each in found]

    async def seasons(self, ladder: str) -> dict[int, SeasonRecord]:
        """The seasons of a ladder by number; the first exists even if it is not stored yet."""
        found = await self._hash(keys.standings_seasons(ladder), None)
        known = {int(number): SeasonRecord(**json.loads(text)) for number, text in found.items()}
        return {1: SeasonRecord(1)} | known

    async def ensure_first_season(self, ladder: str) -> None:
        """Store that the first season begins now, if there is none."""
        now = replies.milliseconds(await self._store.call("TIME"))
        first = SeasonRecord(1, started=now)
        await self._store.call("HSETNX", keys.standings_seasons(ladder), 1, _dump(first))

    async def start_season(
        self,
        ladder: str,
        head: StandingsHead,
        ended: SeasonRecord,
        begun: SeasonRecord,
        means: Mapping[str, float],
    ) -> bool:
        """End the running season and start the next; False if the ladder has changed since."""
        touched = [keys.standings_head(ladder), keys.standings_seasons(ladder)]
        touched.append(keys.starting_means(ladder, begun.number))
        flat: list[Argument] = [part for name in means for part in (name, repr(means[name]))]
        return bool(
            await self._store.run(_START_SEASON, touched, *head, _dump(ended), _dump(begun), *flat)
        )


def _parse_entry(raw: Any) -> RatedEntry:
    identity, fields = raw
    return RatedEntry(int(bytes(identity).partition(b"-")[0]), replies.fields(fields)["r"])


def _dump(season: SeasonRecord) -> str:
    return json.dumps(season.__dict__)
