"""Snapshots of standings, and the replacement of standings by recomputed ones.

Recomputed rows are prepared beside the live ones, a slice at a time, and put in their place by one
script, which compares the head of the ladder first. So standings are never replaced in part, and
nothing is replaced by what was computed from an old log.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from himeji_server.store import keys, replies
from himeji_server.store.accounts import REMEMBERED_SECONDS
from himeji_server.store.client import Store
from himeji_server.store.commands import Argument
from himeji_server.store.pipelining import Script
from himeji_server.store.standings import PendingVoid, RepairRecord, StandingsHead

_TAKE: Final = Script("take_snapshot")
_REPLACE: Final = Script("replace_standings")
_ROWS_AT_ONCE: Final = 100
_PREPARED_SECONDS: Final = 3_600
_ROWS: Final = "rows"


class ReplaceStatus(StrEnum):
    """What became of recomputed standings."""

    OK = "ok"
    CONFLICT = "conflict"
    """The ladder has changed since."""

    INCOMPLETE = "incomplete"
    """The prepared rows have expired."""


@dataclass(frozen=True)
class Replacement:
    """Recomputed standings of a season, which are prepared under a mark."""

    ladder: str
    season: int
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    snapshots: dict[int, int] = field(default_factory=dict)
    """How many rows each prepared snapshot has, by its sequence."""


class SnapshotStore:
    """The snapshots of the standings of all ladders."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def sequences(self, ladder: str, season: int) -> list[int]:
        """After which sequences there are snapshots, ascending."""
        key = keys.standings_snapshots(ladder, season)
        return [int(each) for each in await self._store.call("ZRANGE", key, 0, -1)]

    async def rows(self, ladder: str, season: int, sequence: int) -> dict[str, str]:
        """The rows of a snapshot by their names."""
        key = keys.standings_snapshot(ladder, season, sequence)
        return replies.text_fields(await self._store.call("HGETALL", key))

    async def take(self, ladder: str, head: StandingsHead, superseded: Sequence[int]) -> bool:
        """Copy the rows as they are, and remove old snapshots; False if the ladder has changed."""
        touched = [keys.standings_head(ladder), keys.standings_rows(ladder, head.season)]
        touched.append(keys.standings_snapshots(ladder, head.season))
        touched += [
            keys.standings_snapshot(ladder, head.season, each)
            for each in (head.sequence, *superseded)
        ]
        return bool(await self._store.run(_TAKE, touched, *head, *superseded))

    async def prepare(self, replacement: Replacement, rows: Mapping[str, str]) -> None:
        """Write some of the recomputed rows; they expire unless they are put in place."""
        await self._prepare(replacement, _ROWS, rows)

    async def prepare_snapshot(
        self, replacement: Replacement, sequence: int, rows: Mapping[str, str]
    ) -> None:
        """Write a recomputed snapshot."""
        await self._prepare(replacement, str(sequence), rows)
        replacement.snapshots[sequence] = len(rows)

    async def _prepare(self, replacement: Replacement, part: str, rows: Mapping[str, str]) -> None:
        key = keys.prepared_standings(replacement.ladder, replacement.mark, part)
        texts = [text for row in rows.items() for text in row]
        for start in range(0, len(texts), 2 * _ROWS_AT_ONCE):
            await self._store.call("HSET", key, *texts[start : start + 2 * _ROWS_AT_ONCE])
        await self._store.call("EXPIRE", key, _PREPARED_SECONDS)

    async def replace(  # noqa: PLR0913 - all of it is written in one step
        self,
        replacement: Replacement,
        head: StandingsHead,
        row_count: int,
        *,
        first: int,
        voids: Sequence[PendingVoid] = (),
        repair: RepairRecord | None = None,
    ) -> ReplaceStatus:
        """Put the prepared rows in place, and the snapshots for those from `first` on."""
        ladder, season, mark = replacement.ladder, replacement.season, replacement.mark
        repair = repair or RepairRecord(0, b"", "")
        removed = [each for each in await self.sequences(ladder, season) if each >= first]
        touched = [keys.standings_head(ladder), keys.standings_rows(ladder, season)]
        touched += [keys.pending_voids(ladder), keys.standings_repair(ladder, repair.mark)]
        touched.append(keys.standings_snapshots(ladder, season))
        touched.append(keys.prepared_standings(ladder, mark, _ROWS))
        touched += [keys.standings_snapshot(ladder, season, each) for each in removed]
        for each in replacement.snapshots:
            touched.append(keys.prepared_standings(ladder, mark, str(each)))
            touched.append(keys.standings_snapshot(ladder, season, each))
        facts: list[Argument] = [*head, row_count, repair.games, repair.differences]
        facts += [REMEMBERED_SECONDS, first]
        facts += [len(voids), *(each.game_id for each in voids), len(removed), *removed]
        facts.append(len(replacement.snapshots))
        facts += [number for snapshot in replacement.snapshots.items() for number in snapshot]
        return ReplaceStatus(replies.text(await self._store.run(_REPLACE, touched, *facts)))
