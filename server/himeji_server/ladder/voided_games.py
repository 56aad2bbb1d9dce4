"""Voided games: noted at once, and taken out of the standings by a recomputation.

A void is noted in the store with who asked for it and why; from then on it stands. The standings
count the game until they were recomputed without it, which takes seconds or, for an old game of a
long season, a minute. If the process that does that dies, the leader of the ladder loop goes on.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

import structlog
from himeji.rules.errors import StoreUnavailable
from himeji.v1.admin_service_pb2 import AuditKind

from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.recomputation_jobs import Job, JobKind, Step
from himeji_server.store import StoreRefusedError
from himeji_server.store.audit import AuditRecord
from himeji_server.store.ladder import LadderStore
from himeji_server.store.leases import new_holder
from himeji_server.store.standings import PendingVoid

RunJob = Callable[[Job], AsyncGenerator[Step, None]]

LEASE_MS: Final = 10_000
"""Longer than a worker process takes to start and to read a page; it is renewed with each."""

POLL_SECONDS: Final = 0.1
RETRY_SECONDS: Final = 5.0

_log = structlog.get_logger(__name__)


class VoidedGames:
    """Notes voids and applies them to the standings."""

    def __init__(
        self, ladders: Ladders, store: LadderStore, run_job: RunJob, interval: int
    ) -> None:
        """`interval` is the number of results between two snapshots."""
        self._ladders = ladders
        self._store = store
        self._run_job = run_job
        self._interval = interval
        self._holder = new_holder()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._retry_at: dict[str, float] = {}

    async def note(self, ladder: str, void: PendingVoid) -> None:
        """Note a void, durably. Idempotent."""
        await self._store.standings.note_void(ladder, void)
        await self.audit(ladder, void.game_id, void.actor, void.explanation)

    async def audit(self, ladder: str, game_id: str, actor: str, explanation: str) -> None:
        """Write a void into the audit log, once for each game."""
        kind, message = AuditKind.AUDIT_KIND_ADJUDICATION, f"voided: {explanation}"
        record = AuditRecord(kind, message, actor, game_id, ladder)
        await self._store.audit.append(record, f"voided {game_id}")

    async def wait_applied(self, ladder: str, seconds: float) -> bool:
        """Apply the pending voids of a ladder; False if that takes longer and goes on."""
        task = self._start(ladder)
        await asyncio.wait({task}, timeout=seconds)
        return task.done() and not await self._store.standings.pending_voids(ladder)

    async def resume(self) -> None:
        """Apply in the background what another process left behind."""
        now = time.monotonic()
        names = [each for each in self._ladders.names if self._retry_at.get(each, 0.0) <= now]
        pending = await asyncio.gather(*map(self._store.standings.pending_voids, names))
        for ladder, voids in zip(names, pending, strict=True):
            if voids:
                self._start(ladder)

    async def stop(self) -> None:
        """End the worker processes; the voids stay pending."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, ladder: str) -> asyncio.Task[None]:
        """The task that applies the voids of a ladder: one at a time in a process."""
        task = self._tasks.get(ladder)
        if task is None:
            task = self._tasks[ladder] = asyncio.create_task(self._apply(ladder))
            task.add_done_callback(lambda _: self._tasks.pop(ladder))
        return task

    async def _apply(self, ladder: str) -> None:
        try:
            while voids := await self._store.standings.pending_voids(ladder):
                if not await self._acquire(ladder):
                    await asyncio.sleep(POLL_SECONDS)
                    continue
                for void in voids:  # the process that noted it may have died before
                    await self.audit(ladder, void.game_id, void.actor, void.explanation)
                async with aclosing(self._run_job(self._job(ladder))) as steps:
                    async for _ in steps:
                        await self._acquire(ladder)
        except (StoreUnavailable, StoreRefusedError):
            self._retry_later(ladder)
            _log.warning("cannot apply voids: the store does not answer", ladder=ladder)
        except Exception:  # noqa: BLE001 - a defect here must not end the arena
            self._retry_later(ladder)
            _log.exception("cannot apply voids", ladder=ladder)
        finally:
            await self._store.leases.release(_lease(ladder), self._holder)

    def _job(self, ladder: str) -> Job:
        return Job(JobKind.APPLY_VOIDS, ladder, self._interval)

    async def _acquire(self, ladder: str) -> bool:
        """Acquire or renew the lease, which keeps others from the same work and guards nothing."""
        return await self._store.leases.acquire(_lease(ladder), self._holder, LEASE_MS)

    def _retry_later(self, ladder: str) -> None:
        self._retry_at[ladder] = time.monotonic() + RETRY_SECONDS


def _lease(ladder: str) -> str:
    return f"voids:{ladder}"
