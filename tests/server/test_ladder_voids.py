"""Voids and recomputations on a real Redis: from snapshots, in worker processes, never in part."""

import asyncio
import json
import subprocess
from contextlib import aclosing

import pytest
from himeji.rules.errors import LimitExceeded, StoreUnavailable
from himeji.v1.admin_service_pb2 import AuditKind
from himeji_server.ladder import administration, voided_games
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.ladder.recomputation import Progress
from himeji_server.ladder.recomputation_jobs import Job, JobKind, run_job
from himeji_server.ladder.recomputation_worker import RecomputationFailedError, run_in_worker
from himeji_server.ladder.standings import Standings
from himeji_server.limits import Limits
from himeji_server.store import keys
from himeji_server.store.standings import PendingVoid
from himeji_server.store.standings_replacement import SnapshotStore

from tests.programs.long_season.results import fill
from tests.server.arena_client import with_timeout
from tests.server.ladder_process import ADMIN, LADDER, LADDERS, ladder_process

A, B = "ann/a", "bob/b"
INTERVAL = 10
LIMITS = Limits(results_between_snapshots=INTERVAL, recomputations=1)


@pytest.fixture
def url(start_redis):
    return start_redis().url


@pytest.fixture
async def process(url):
    async with ladder_process(url, LIMITS) as opened:
        yield opened


async def filled(process, count):
    await fill(process.redis, LADDER, count, bots=6, interval=INTERVAL)


async def note(process, game_id, season=1):
    """Note a void as the process that dies before it applies it."""
    sequence = await process.store.standings.sequence_of(LADDER, game_id)
    void = PendingVoid(game_id, season, sequence, ADMIN.owner, "no")
    await process.store.standings.note_void(LADDER, void)
    return void


async def applied(process):
    """Apply the pending voids; how many results were replayed."""
    steps = run_job(process.redis, Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL))
    return max([step.done async for step in steps], default=0)


async def agrees(process, season=0):
    """Whether the standings and all snapshots follow from the whole log."""
    return (await process.recompute(season=season)).differences == ()


async def snapshots(process, season=1):
    return await process.store.snapshots.sequences(LADDER, season)


# --- snapshots ----------------------------------------------------------------------------------


async def test_the_rater_takes_a_snapshot_after_every_interval(process):
    await filled(process, 8)
    await process.result(A, B)
    assert await snapshots(process) == []
    await process.result(A, B)
    assert await snapshots(process) == [10]
    taken = await process.store.snapshots.rows(LADDER, 1, 10)
    assert taken == await process.store.standings.rows(LADDER, 1)
    await process.result(B, A)
    assert taken == await process.store.snapshots.rows(LADDER, 1, 10)
    assert await agrees(process)


async def test_superseded_snapshots_are_removed(process):
    await filled(process, 399)
    await process.result(A, B)
    pattern = keys.standings_snapshot(LADDER, 1, 0)[:-1] + "*"
    held = await process.redis.call("KEYS", pattern.replace("{", "\\{"))
    assert len(held) == len(await snapshots(process)) < 20


@pytest.mark.parametrize("results", [60, 240])
async def test_a_void_of_a_recent_game_replays_as_little_in_a_long_season(process, results):
    await filled(process, results)
    recent = await process.result(A, B)
    await process.result(A, B)
    await note(process, recent)
    assert await applied(process) == 2
    assert await agrees(process)
    assert (await process.standings())["ann/a@1"].games == 1


async def test_a_void_of_a_recent_game_is_as_cheap_after_the_void_of_an_old_one(process):
    old = await process.result(A, B)
    await filled(process, 200)
    recent = await process.result(A, B)
    before = await snapshots(process)
    await note(process, old)
    assert await applied(process) == 202
    assert await snapshots(process) == before
    assert await agrees(process)
    await note(process, recent)
    assert await applied(process) == 2
    assert await agrees(process)


async def test_a_snapshot_that_was_changed_by_hand_is_found_and_repaired(process):
    await filled(process, 25)
    key = keys.standings_snapshot(LADDER, 1, 10)
    name, text, *_ = await process.redis.call("HGETALL", key)
    bad = json.loads(text) | {"mean": json.loads(text)["mean"] + 1e-12}
    await process.redis.call("HSET", key, name, json.dumps(bad))
    (row,) = (await process.recompute()).differences
    assert f"{row.bot}@{row.bot_version}" == name.decode()
    assert (await process.recompute(repair=True)).repaired
    assert await agrees(process)
    assert await process.redis.call("HGET", key, name) == text
    assert await snapshots(process) == [10, 20]


# --- voids --------------------------------------------------------------------------------------


async def test_standings_that_still_count_a_void_game_say_so(process):
    wrong = await process.result(A, B)
    await process.result(A, B)
    await note(process, wrong)
    assert await process.queries.pending_voids(LADDER, 1) == 1
    assert await process.queries.games_of_season(LADDER, 1) == 2
    assert (await process.standings())["ann/a@1"].games == 2
    assert await agrees(process), "the table that is shown is compared with what it claims to count"
    await applied(process)
    assert await process.queries.pending_voids(LADDER, 1) == 0
    assert await process.queries.games_of_season(LADDER, 1) == 1
    assert await agrees(process)


async def test_a_void_that_takes_long_is_answered_when_it_is_durable(process, monkeypatch):
    monkeypatch.setattr(administration, "APPLY_SECONDS", 0.0)
    wrong = await process.result(A, B)
    assert (await process.administration.void_game(ADMIN, wrong, "no", "")).pending
    entries, _ = await process.administration.list_audit_entries(
        AuditKind.AUDIT_KIND_ADJUDICATION, 0, ""
    )
    assert [each.game_id for each in entries] == [wrong]
    monkeypatch.setattr(administration, "APPLY_SECONDS", 60.0)
    assert not (await process.administration.void_game(ADMIN, wrong, "no", "")).pending
    assert await process.standings() == {}


async def test_the_leader_finishes_a_void_whose_process_died(process, url):
    wrong = await process.result(A, B)
    await note(process, wrong)
    async with ladder_process(url, LIMITS) as other, asyncio.timeout(60):
        while await other.store.standings.pending_voids(LADDER):
            await other.run_once()
            await asyncio.sleep(0.01)
    assert await process.standings() == {}
    entries, _ = await process.administration.list_audit_entries(
        AuditKind.AUDIT_KIND_ADJUDICATION, 0, ""
    )
    assert [(each.game_id, each.actor, each.message) for each in entries] == [
        (wrong, "admin", "voided: no")
    ]


async def test_standings_are_as_before_if_the_recomputation_dies_at_any_step(process):
    old = await process.result(A, B)
    await filled(process, 35)
    await note(process, old)
    before = await process.store.standings.rows(LADDER, 1)
    job = Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL)
    async with aclosing(run_job(process.redis, job)) as steps:
        async for step in steps:
            assert await process.store.standings.rows(LADDER, 1) == before
            if step.done == step.total:
                break
    assert await agrees(process)
    assert await applied(process) == 36
    assert "ann/a@1" not in await process.standings()
    assert await agrees(process)


async def test_games_are_rated_while_a_void_is_applied(process):
    old = await process.result(A, B)
    await filled(process, 45)
    await note(process, old)
    replayed = []
    async for step in run_job(process.redis, Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL)):
        replayed.append(step)
        if len(replayed) in {1, 2, 4}:
            await process.result(B, A)
    assert replayed == [(0, 46), (46, 46), (46, 48), (48, 48), (48, 49), (49, 49)]
    assert (await process.standings())["bob/b@1"].games == 3
    assert await agrees(process)


async def test_a_game_that_is_voided_meanwhile_is_taken_out_afterwards(process):
    first, second = await process.result(A, B), await process.result(B, A)
    await note(process, second)
    noted = False
    async for _ in run_job(process.redis, Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL)):
        if not noted:
            await note(process, first)
            noted = True
    assert await process.standings() == {}
    assert await agrees(process)


async def test_several_processes_apply_a_void_once(process, url):
    old = await process.result(A, B)
    await filled(process, 60)
    async with ladder_process(url, LIMITS) as other:
        await asyncio.gather(
            *(each.administration.void_game(ADMIN, old, "no", "") for each in (process, other))
        )
        await asyncio.gather(applied(process), applied(other))
    assert (await process.store.standings.head(LADDER)).generation == 1
    assert await agrees(process)


async def test_a_snapshot_that_is_taken_meanwhile_does_not_survive(process, monkeypatch):
    """Its rows count the game that the recomputation leaves out."""
    await filled(process, 15)
    wrong = await process.result(A, B)
    await note(process, wrong)
    listed, taken = SnapshotStore.sequences, []

    async def then_taken(self, ladder, season):
        found = await listed(self, ladder, season)
        head = await process.store.standings.head(LADDER)
        taken.append(await process.store.snapshots.take(LADDER, head, []))
        return found

    async for step in run_job(process.redis, Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL)):
        if step.done == step.total and not taken:
            monkeypatch.setattr(SnapshotStore, "sequences", then_taken)
    assert taken[0]
    monkeypatch.undo()
    assert "ann/a@1" not in await process.store.snapshots.rows(LADDER, 1, 16)
    assert await agrees(process)


async def test_prepared_rows_that_have_expired_never_replace_anything(process, monkeypatch):
    await filled(process, 15)
    wrong = await process.result(A, B)
    await note(process, wrong)
    replace, tried = SnapshotStore.replace, []

    async def late(self, replacement, *rest, **options):
        if not tried:
            key = keys.prepared_standings(LADDER, replacement.mark, "rows")
            await process.redis.call("DEL", key)
        tried.append(await replace(self, replacement, *rest, **options))
        return tried[-1]

    monkeypatch.setattr(SnapshotStore, "replace", late)
    await applied(process)
    assert tried == ["incomplete", "ok"]
    assert await agrees(process)


async def test_a_void_of_an_earlier_season_changes_that_season_alone(process):
    wrong = await process.result(A, B)
    await filled(process, 12)
    await process.administration.start_season(ADMIN, LADDER, "", None, "")
    await process.result(A, B)
    running = await process.standings()
    assert not (await process.administration.void_game(ADMIN, wrong, "no", "")).pending
    assert await process.standings() == running
    for season in (1, 2):
        assert await agrees(process, season)


async def test_a_season_does_not_end_while_its_table_counts_a_void_game(process, monkeypatch):
    monkeypatch.setattr(administration, "APPLY_SECONDS", 0.0)
    await note(process, await process.result(A, B))
    with pytest.raises(StoreUnavailable, match="void"):
        await process.administration.start_season(ADMIN, LADDER, "", None, "")
    assert (await process.store.standings.head(LADDER)).season == 1


# --- worker processes ---------------------------------------------------------------------------


async def test_a_worker_process_does_what_the_job_says(process, url):
    old = await process.result(A, B)
    await filled(process, 25)
    await note(process, old)
    steps = [each async for each in run_in_worker(url, Job(JobKind.APPLY_VOIDS, LADDER, INTERVAL))]
    assert steps == [Progress(0, 26), Progress(26, 26)]
    *_, found = [
        each async for each in run_in_worker(url, Job(JobKind.COMPARE, LADDER, INTERVAL, 1))
    ]
    assert (found.games, found.differences, found.repaired) == (25, (), False)
    name = "synthetic/bot-0001@1"
    await process.redis.call("HDEL", keys.standings_rows(LADDER, 1), name)
    repair = Job(JobKind.REPAIR, LADDER, INTERVAL, 1, "mark")
    *_, found = [each async for each in run_in_worker(url, repair)]
    assert ([each.bot for each in found.differences], found.repaired) == ([name[:-2]], True)


async def test_a_server_process_replays_no_result_itself(process, monkeypatch):
    old = await process.result(A, B)
    await filled(process, 25)
    applied_here, apply = [], Standings.apply

    def counted(self, rated):
        applied_here.append(rated.game_id)
        return apply(self, rated)

    monkeypatch.setattr(Standings, "apply", counted)
    arena = LadderAssembly(LADDERS, process.redis, process.use_cases, process.accounts)
    assert not (await arena.administration.void_game(ADMIN, old, "no", "")).pending
    steps = arena.administration.recompute(ADMIN, LADDER, 0, "", repair=False)
    *_, found = [each async for each in steps]
    assert (found.games, found.differences) == (25, ())
    assert applied_here == [old], "the rater looks whether the game is rated, and that is all"


async def test_a_worker_process_ends_with_the_call(process, url, is_alive, monkeypatch):
    await filled(process, 25)
    started = []
    popen = subprocess.Popen

    def noted(*command, **options):
        started.append(popen(*command, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    async with aclosing(run_in_worker(url, Job(JobKind.COMPARE, LADDER, INTERVAL, 1))) as steps:
        await with_timeout(anext(steps))
    assert not is_alive(started[0].pid)


async def test_a_worker_process_that_fails_says_why():
    with pytest.raises(StoreUnavailable):
        await with_timeout(
            anext(run_in_worker("unix:///nowhere", Job(JobKind.COMPARE, LADDER, INTERVAL, 1)))
        )
    with pytest.raises(RecomputationFailedError, match="nonsense"):
        await with_timeout(anext(run_in_worker("unix:///nowhere", Job("nonsense", LADDER, 1))))


async def test_a_process_recomputes_so_many_tables_at_once(process):
    await filled(process, 25)
    first = process.administration.recompute(ADMIN, LADDER, 0, "", repair=False)
    async with aclosing(first):
        await anext(first)
        with pytest.raises(LimitExceeded) as refused:
            await process.recompute()
    assert refused.value.details["limit"] == "recomputations"
    assert await agrees(process)


async def test_a_defect_in_a_recomputation_leaves_the_void_pending(process, monkeypatch):
    async def broken(_job):
        raise RecomputationFailedError("a defect")
        yield

    monkeypatch.setattr(process.administration._voided, "_run_job", broken)
    wrong = await process.result(A, B)
    assert (await process.administration.void_game(ADMIN, wrong, "no", "")).pending
    monkeypatch.undo()
    monkeypatch.setattr(voided_games, "RETRY_SECONDS", 0.0)
    assert not (await process.administration.void_game(ADMIN, wrong, "no", "")).pending
