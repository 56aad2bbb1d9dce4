"""Tables of ladders in the store: a log of rated games, and rows that follow from it.

The log is the truth. Rows are changed together with it, by one script that compares first, so
that no game counts twice and none is computed from an old row.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from himeji_server.store import keys
from himeji_server.store.client import Script, Store
from himeji_server.store.replies import pairs
from himeji_server.store.sending import Argument

_RATE: Final = Script("rate_game")
_REPLACE: Final = Script("replace_standings")
_START: Final = Script("start_season")
ENTRIES_AT_ONCE: Final = 500


class StandingsHead(NamedTuple):
    """Where a ladder stands; whoever changes it names where it stood."""

    sequence: int = 0
    season: int = 1
    generation: int = 0
    """Counts how often the table was replaced."""


@dataclass(frozen=True)
class SeasonRecord:
    """A season as the store has it."""

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
    """A rated game as the log has it."""

    sequence: int
    data: bytes


class StandingsStore:
    """The tables of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def head(self, ladder: str) -> StandingsHead:
        """Where a ladder stands."""
        found = await self._store.call(
            "HMGET", keys.board_head(ladder), "sequence", "season", "generation"
        )
        return StandingsHead(
            *(
                int(value or standard)
                for value, standard in zip(found, StandingsHead(), strict=True)
            )
        )

    async def sequence_of(self, ladder: str, game_id: str) -> int:
        """The sequence under which a game was rated, 0 if it was not."""
        return int(await self._store.call("HGET", keys.board_rated(ladder), game_id) or 0)

    async def rate(  # noqa: PLR0913 - all of it is written in one step
        self,
        ladder: str,
        head: StandingsHead,
        game_id: str,
        *,
        entry: bytes,
        rows: Mapping[str, str],
        bots: Iterable[str],
    ) -> tuple[str, int]:
        """Add a game: ("ok" or "again", its sequence), or ("conflict", 0)."""
        names = [keys.board_head(ladder), keys.board_log(ladder)]
        names += [keys.board_rows(ladder, head.season), keys.board_rated(ladder)]
        names += [keys.board_history(ladder, bot) for bot in sorted(set(bots))]
        written: list[Argument] = [part for row in rows.items() for part in row]
        answer = await self._store.run(_RATE, names, game_id, *head, entry, *written)
        return bytes(answer[0]).decode(), int(answer[1]) if len(answer) > 1 else 0

    async def rows(
        self, ladder: str, season: int, names: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Rows of a table by their names; all of them, or those that are there of the named."""
        return await self._hash(keys.board_rows(ladder, season), names)

    async def row_count(self, ladder: str, season: int) -> int:
        """How many rows a table has."""
        return int(await self._store.call("HLEN", keys.board_rows(ladder, season)))

    async def start(
        self, ladder: str, season: int, names: Sequence[str] | None = None
    ) -> dict[str, float]:
        """The means with which versions began a season."""
        found = await self._hash(keys.board_start(ladder, season), names)
        return {name: float(mean) for name, mean in found.items()}

    async def _hash(self, key: str, names: Sequence[str] | None) -> dict[str, str]:
        if names is None:
            found = pairs(await self._store.call("HGETALL", key))
            return {name: value.decode() for name, value in found.items()}
        if not names:
            return {}
        values = await self._store.call("HMGET", key, *names)
        return {
            name: bytes(value).decode()
            for name, value in zip(names, values, strict=True)
            if value is not None
        }

    async def replace(
        self,
        ladder: str,
        head: StandingsHead,
        rows: Mapping[str, str],
        *,
        season: int,
        voided: str = "",
    ) -> bool:
        """Put a computed table in place of the live one; False if the ladder has moved on."""
        names = [keys.board_head(ladder), keys.board_rows(ladder, season)]
        names.append(keys.board_voided(ladder))
        written: list[Argument] = [part for row in rows.items() for part in row]
        return bool(await self._store.run(_REPLACE, names, *head, voided, *written))

    async def voided(self, ladder: str) -> frozenset[str]:
        """The games that were taken out of the ratings."""
        found = await self._store.call("SMEMBERS", keys.board_voided(ladder))
        return frozenset(bytes(game_id).decode() for game_id in found)

    async def log(self, ladder: str, after: int = 0, until: int | None = None) -> list[RatedEntry]:
        """Entries of the log after a sequence, the oldest first, not all of them at once."""
        if until is not None and until <= after:
            return []
        last = "+" if until is None else f"{until}-0"
        found = await self._store.call(
            "XRANGE", keys.board_log(ladder), f"({after}-0", last, "COUNT", ENTRIES_AT_ONCE
        )
        return [_entry(raw) for raw in found]

    async def entries(self, ladder: str, sequences: Iterable[int]) -> list[RatedEntry]:
        """Single entries of the log."""
        found = await asyncio.gather(
            *(
                self._store.call("XRANGE", keys.board_log(ladder), f"{each}-0", f"{each}-0")
                for each in sequences
            )
        )
        return [_entry(raw) for entries in found for raw in entries]

    async def history(self, ladder: str, bot: str, first: int = 0, last: int = -1) -> list[int]:
        """The sequences of a bot's games by their places, the oldest first; -1 is the newest."""
        found = await self._store.call("LRANGE", keys.board_history(ladder, bot), first, last)
        return [int(each) for each in found]

    async def seasons(self, ladder: str) -> dict[int, SeasonRecord]:
        """The seasons of a ladder; the first one may not be noted yet."""
        found = await self._hash(keys.board_seasons(ladder), None)
        known = {int(number): SeasonRecord(**json.loads(text)) for number, text in found.items()}
        return {1: SeasonRecord(1)} | known

    async def open(self, ladder: str) -> None:
        """Note when the first season began, if nothing is noted."""
        seconds, _ = await self._store.call("TIME")
        first = SeasonRecord(1, started=int(seconds) * 1000)
        await self._store.call("HSETNX", keys.board_seasons(ladder), 1, _written(first))

    async def start_season(
        self,
        ladder: str,
        head: StandingsHead,
        ended: SeasonRecord,
        begun: SeasonRecord,
        start: Mapping[str, float],
    ) -> bool:
        """End the running season and start the next; False if the ladder has moved on."""
        names = [keys.board_head(ladder), keys.board_seasons(ladder)]
        names.append(keys.board_start(ladder, begun.number))
        means: list[Argument] = [part for name in start for part in (name, repr(start[name]))]
        return bool(
            await self._store.run(_START, names, *head, _written(ended), _written(begun), *means)
        )


def _entry(raw: Any) -> RatedEntry:
    identity, fields = raw
    return RatedEntry(int(bytes(identity).partition(b"-")[0]), pairs(fields)["r"])


def _written(season: SeasonRecord) -> str:
    return json.dumps(season.__dict__)
