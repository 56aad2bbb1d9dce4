"""The standings of a season computed anew from the log, page by page.

Invariant: a recomputation holds for one generation of the ladder. When the standings are replaced,
another game may have been taken out, so whoever finds another generation begins anew. Games that
are rated meanwhile only add results: the recomputation goes on where it is.

Only rows are kept in memory, and one page of the log.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from himeji.v1.ladder_service_pb2 import RatedResult, Standing

from himeji_server.ladder.messages import standing_message
from himeji_server.ladder.snapshots import is_kept
from himeji_server.ladder.standings import Standings, StandingsRow
from himeji_server.store.standings import (
    PendingVoid,
    RepairRecord,
    SeasonRecord,
    StandingsHead,
    StandingsStore,
)
from himeji_server.store.standings_replacement import Replacement, ReplaceStatus, SnapshotStore


class Progress(NamedTuple):
    """How many results were read, of how many."""

    done: int
    total: int


class Recomputation:
    """The standings of a season as far as its log was read."""

    def __init__(
        self,
        standings: StandingsStore,
        snapshots: SnapshotStore,
        ladder: str,
        season: int,
        interval: int,
    ) -> None:
        """`interval` is the number of results between two snapshots."""
        self.generation = -1
        """For which it holds; no ladder has this one, so that it has to begin."""
        self.games = 0
        """How many of the results that were read count: games that are out do not."""
        self._store = standings
        self._snapshots = snapshots
        self._ladder = ladder
        self._season = season
        self._interval = interval
        self._voids: Sequence[PendingVoid] = ()

    async def begin(self, voids: Sequence[PendingVoid] = ()) -> None:
        """Begin, or begin anew: before the first result, or at a snapshot before the first void.

        Leaves out what the live standings leave out, and the voids.
        """
        self._voids = voids
        self.generation = (await self._store.head(self._ladder)).generation
        # In this order: a game that is noted as void in between still counts.
        voided = await self._store.voided(self._ladder)
        pending = {each.game_id for each in await self._store.pending_voids(self._ladder)}
        self._out = (voided - pending) | {each.game_id for each in voids}
        season = (await self._store.seasons(self._ladder))[self._season]
        self._first, rows = await self._start(season, voids)
        start = await self._store.starting_means(self._ladder, self._season)
        self._standings = Standings(rows, start)
        self._place, self.games = self._first, 0
        self._replacement = Replacement(self._ladder, self._season)
        self._unprepared = set(rows)
        self._to_compare = set(await self._snapshots.sequences(self._ladder, self._season))
        self._wrong_in_snapshots: set[str] = set()

    async def _start(
        self, season: SeasonRecord, voids: Sequence[PendingVoid]
    ) -> tuple[int, dict[str, StandingsRow]]:
        """After which result to begin, with which rows."""
        found = await self._snapshots.sequences(self._ladder, self._season) if voids else []
        before = [each for each in found if each < min(void.sequence for void in voids)]
        if not before:
            return season.first, {}
        rows = await self._snapshots.rows(self._ladder, self._season, before[-1])
        return before[-1], {name: StandingsRow.from_json(text) for name, text in rows.items()}

    async def advance(
        self, head: StandingsHead, *, prepare: bool
    ) -> AsyncGenerator[Progress, None]:
        """Read the log on to a head of the ladder, and say after every page how far that is.

        `prepare` writes new snapshots on the way.
        """
        last = head.sequence
        if self._season < head.season:
            last = (await self._store.seasons(self._ladder))[self._season].last
        yield self._progress(last)
        while entries := await self._store.entries_after(self._ladder, self._place, until=last):
            for entry in entries:
                self._apply(RatedResult.FromString(entry.data))
                self._place = entry.sequence
                if self._place in self._to_compare and not self._voids:
                    await self._compare_snapshot()
                if prepare and self._is_due(last):
                    rows = self.rows()
                    await self._snapshots.prepare_snapshot(self._replacement, self._place, rows)
            yield self._progress(last)

    async def _compare_snapshot(self) -> None:
        """Note the rows of a snapshot that are wrong: the next void would bring them back."""
        found = await self._snapshots.rows(self._ladder, self._season, self._place)
        rows = self.rows() if found else {}  # it may have been removed meanwhile
        self._wrong_in_snapshots |= {
            name for name in found.keys() | rows.keys() if found.get(name) != rows.get(name)
        }

    def _apply(self, result: RatedResult) -> None:
        if result.game_id not in self._out:
            self.games += 1
            self._unprepared |= {row.name for row in self._standings.apply(result)}

    def _is_due(self, last: int) -> bool:
        """Whether a snapshot is to be taken here that is still kept at the end."""
        return self._place % self._interval == 0 and is_kept(self._place, last, self._interval)

    def _progress(self, last: int) -> Progress:
        return Progress(self._place - self._first, last - self._first)

    def rows(self) -> dict[str, str]:
        """The computed rows as they are stored."""
        return {name: row.to_json() for name, row in self._standings.rows.items()}

    def differences(self, live: dict[str, str]) -> list[Standing]:
        """The computed rows that differ from the live ones, if only in the last digit.

        Or from a snapshot of the live ones.
        """
        rows, wrong = self.rows(), self._wrong_in_snapshots
        out = [
            standing_message(self._standings.rows[name])
            for name in sorted(rows)
            if live.get(name) != rows[name] or name in wrong
        ]
        for name in sorted((live.keys() | wrong) - rows.keys()):
            bot, _, version = name.partition("@")
            out.append(Standing(bot=bot, bot_version=int(version)))
        return out

    async def replace(self, head: StandingsHead, repair: RepairRecord | None = None) -> None:
        """Put what was computed in place of the live standings, unless the ladder has changed.

        Afterwards the ladder is of another generation, or this is to be advanced and tried again.
        """
        rows = self._standings.rows
        texts = {name: rows[name].to_json() for name in self._unprepared}
        await self._snapshots.prepare(self._replacement, texts)
        self._unprepared = set()
        status = await self._snapshots.replace(
            self._replacement,
            head,
            len(rows),
            first=self._first + 1,
            voids=self._voids,
            repair=repair,
        )
        if status is ReplaceStatus.INCOMPLETE:
            self._unprepared = set(rows)
