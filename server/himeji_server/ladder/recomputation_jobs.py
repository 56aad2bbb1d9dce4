"""What is done with recomputed standings: compare them, repair the live ones, apply voids.

A job reads and replays a season's log, which takes a third of a millisecond of processor time for
each result. So jobs run in worker processes (recomputation_worker.py), never in the event loop of a
server process. Any number of them may run at once, and each may die at any moment: the standings
are replaced by one script that compares the head of the ladder.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from himeji.rules.errors import StoreUnavailable
from himeji.v1.ladder_service_pb2 import Standing, StandingDifferences

from himeji_server.ladder.recomputation import Progress, Recomputation
from himeji_server.store.client import Store
from himeji_server.store.standings import RepairRecord, StandingsHead, StandingsStore
from himeji_server.store.standings_replacement import SnapshotStore

MAX_TRIES: Final = 50


class JobKind(StrEnum):
    """What a job does."""

    COMPARE = "compare"
    REPAIR = "repair"
    APPLY_VOIDS = "apply voids"


@dataclass(frozen=True)
class Job:
    """A recomputation of a ladder's standings."""

    kind: JobKind
    ladder: str
    interval: int
    """Results between two snapshots."""

    season: int = 0
    """Which season to compare or repair; voids name theirs."""

    mark: str = ""
    """The request that asks for a repair."""


@dataclass(frozen=True)
class Recomputed:
    """The standings computed from the log, compared with the live ones."""

    games: int
    differences: tuple[Standing, ...]
    repaired: bool


Step = Progress | Recomputed


def run_job(store: Store, job: Job) -> AsyncGenerator[Step, None]:
    """Do the job; say how far it is, and last what was compared."""
    recomputer = _Recomputer(store, job)
    return recomputer.apply_voids() if job.kind is JobKind.APPLY_VOIDS else recomputer.compare()


class _Recomputer:
    def __init__(self, store: Store, job: Job) -> None:
        self._standings = StandingsStore(store)
        self._snapshots = SnapshotStore(store)
        self._job = job

    def _recomputation(self, season: int) -> Recomputation:
        job = self._job
        return Recomputation(self._standings, self._snapshots, job.ladder, season, job.interval)

    async def compare(self) -> AsyncGenerator[Step, None]:
        """Compare the standings with those that follow from the log; a repair replaces them.

        The same request again gets what its repair changed.
        """
        job, repair = self._job, self._job.kind is JobKind.REPAIR
        computation = self._recomputation(job.season)
        for _ in range(MAX_TRIES):
            repaired = await self._standings.repair(job.ladder, job.mark)
            if repaired is not None:
                yield _repaired(repaired)
                return
            head, live = await live_rows(self._standings, job.ladder, job.season)
            if head.generation != computation.generation:
                await computation.begin()
                continue
            async for progress in computation.advance(head, prepare=repair):
                yield progress
            found = computation.differences(live)
            if not repair or not found:
                yield Recomputed(computation.games, tuple(found), repaired=False)
                return
            record = RepairRecord(computation.games, _encoded(found), job.mark)
            await computation.replace(head, record)  # the record tells whether it was in time
        raise _changes_too_fast()

    async def apply_voids(self) -> AsyncGenerator[Step, None]:
        """Take pending voids out of the standings until none is left, one season at a time."""
        ladder = self._job.ladder
        while voids := await self._standings.pending_voids(ladder):
            season = voids[0].season
            computation = self._recomputation(season)
            await computation.begin([each for each in voids if each.season == season])
            for _ in range(MAX_TRIES):
                head = await self._standings.head(ladder)
                if head.generation != computation.generation:
                    break
                async for progress in computation.advance(head, prepare=True):
                    yield progress
                await computation.replace(head)
            else:
                raise _changes_too_fast()


async def live_rows(
    standings: StandingsStore, ladder: str, season: int
) -> tuple[StandingsHead, dict[str, str]]:
    """The live rows, and the head of the log that did not change while they were read."""
    for _ in range(MAX_TRIES):
        before = await standings.head(ladder)
        rows = await standings.rows(ladder, season)
        if await standings.head(ladder) == before:
            return before, rows
    raise _changes_too_fast()


def _repaired(record: RepairRecord) -> Recomputed:
    found = StandingDifferences.FromString(record.differences).standings
    return Recomputed(record.games, tuple(found), repaired=True)


def _encoded(differences: list[Standing]) -> bytes:
    return StandingDifferences(standings=differences).SerializeToString()


def _changes_too_fast() -> StoreUnavailable:
    return StoreUnavailable("the standings change too fast, try again")
