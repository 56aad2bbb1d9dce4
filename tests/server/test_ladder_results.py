"""Results on a real Redis: each game counts once, and the standings follow from the log."""

import asyncio
import hashlib
import json

import pytest
from himeji.rules.errors import (
    Draining,
    InvalidRequest,
    RequestIdReused,
    StoreUnavailable,
    UnknownAccount,
    UnknownLadder,
)
from himeji.v1.admin_service_pb2 import AuditKind
from himeji.v1.game_pb2 import EndReason, GameResult
from himeji_server import pagination
from himeji_server.ladder.rating import BEGINNER, UNCERTAINTY, updated
from himeji_server.ladder.recomputation_jobs import Recomputed
from himeji_server.ladder.standings import row_name
from himeji_server.limits import Limits
from himeji_server.store import keys, standings as store_standings
from himeji_server.store.audit import FIRST_LINK, link

from tests.server.arena_client import with_timeout
from tests.server.ladder_process import ADMIN, LADDER, ladder_process

A, B, C = "ann/a", "bob/b", "cyd/c"


@pytest.fixture
async def process(start_redis):
    async with ladder_process(start_redis().url) as opened:
        yield opened


async def audited(process, kind=AuditKind.AUDIT_KIND_UNSPECIFIED):
    entries, token = await process.administration.list_audit_entries(kind, 500, "")
    assert not token
    return entries


async def test_a_result_changes_the_ratings_as_the_pure_code_says(process):
    await process.result(A, B)
    standings = await process.standings()
    winner, loser = updated([BEGINNER, BEGINNER], [1, 2])
    assert (standings["ann/a@1"].rating.mean, standings["ann/a@1"].rating.uncertainty) == winner
    assert (standings["bob/b@1"].rating.mean, standings["bob/b@1"].rating.uncertainty) == loser
    assert [standings["ann/a@1"].place, standings["bob/b@1"].place] == [1, 2]
    assert list(standings["ann/a@1"].rank_counts) == [1, 0]


async def test_a_row_tells_how_games_ended_for_the_bot(process):
    await process.result(A, B)
    await process.result(B, A)
    row = (await process.standings())["ann/a@1"]
    counts = {each.end_reason: each.count for each in row.end_reasons}
    assert counts == {EndReason.END_REASON_OUTLASTED: 1, EndReason.END_REASON_RESIGNED: 1}
    assert row.games == 2
    assert row.last_game_time.ToMilliseconds() > 0


async def test_settling_a_result_again_changes_nothing(process):
    game_id = await process.result(A, B)
    before = await process.standings()
    for _ in range(3):
        await process.rater.settle(game_id)
    assert await process.standings() == before
    assert len(await audited(process)) == 1


async def test_a_result_leaves_the_outbox_only_when_it_is_settled(process):
    game_id = await process.result(A, B, settle=False)
    box = keys.outbox(keys.bucket_of(game_id))
    assert await process.redis.call("XLEN", box) == 1
    await process.rater.settle_all()
    assert await process.redis.call("XLEN", box) == 0


async def test_many_raters_at_once_count_each_game_once(process):
    for number in range(12):
        await process.result(*((A, B) if number % 3 else (B, A)), settle=False)
    await asyncio.gather(*(process.rater.settle_all() for _ in range(5)))
    standings = await process.standings()
    assert standings["ann/a@1"].games == standings["bob/b@1"].games == 12
    assert (await process.recompute()).differences == ()
    assert len(await audited(process)) == 12


async def test_a_result_that_cannot_be_settled_does_not_keep_others_waiting(process):
    broken = await process.result(A, B, settle=False)
    await process.redis.call("HSET", keys.game(broken), "result", b"\xff\xff")
    await process.result(A, C)
    await process.rater.settle_all()
    assert (await process.standings())["cyd/c@1"].games == 1
    assert await process.redis.call("XLEN", keys.outbox(keys.bucket_of(broken))) == 1


async def test_games_of_no_ladder_and_those_without_ranks_are_never_rated(process):
    await process.result(A, B, ladder="")
    game_id = await process.result(A, B, settle=False, ladder="base-3p")
    await process.redis.call("HDEL", keys.game(game_id), "started")
    void = await process.result(A, B, settle=False)
    no_contest = b"\x08\x09"  # a GameResult with END_REASON_NO_CONTEST alone
    await process.redis.call("HSET", keys.game(void), "result", no_contest)
    await process.rater.settle_all()
    assert await process.standings() == {}


async def test_ladders_have_standings_of_their_own(process):
    await process.result(A, B)
    await process.result(C, A, B, ladder="base-3p")
    assert set(await process.standings()) == {"ann/a@1", "bob/b@1"}
    three = await process.standings("base-3p")
    assert [list(three[name].rank_counts) for name in ("cyd/c@1", "bob/b@1", "ann/a@1")] == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]


# --- versions ---------------------------------------------------------------------------------


async def test_a_new_version_inherits_the_mean_and_is_unknown_again(process):
    for _ in range(5):
        await process.result(A, B)
    parent = (await process.standings())["ann/a@1"].rating
    await process.result(A, B, versions=(3, 1))
    (game,), _ = await process.queries.history(A, "", 3, 0, "")
    before = game.result.seats[game.seat].before
    assert (before.mean, before.uncertainty) == (parent.mean, UNCERTAINTY)
    old = (await process.standings())["ann/a@1"]
    assert (old.rating, old.games) == (parent, 5), "a version that plays no more stays as it was"


async def test_the_standings_show_the_newest_version_alone_unless_asked(process):
    await process.result(A, B)
    await process.result(A, B, versions=(2, 1))
    shown = await process.queries.standings(LADDER, 1, old_versions=False)
    assert {row_name(each.bot, each.bot_version) for each in shown} == {"ann/a@2", "bob/b@1"}
    assert set(await process.standings()) == {"ann/a@1", "ann/a@2", "bob/b@1"}


# --- recompute --------------------------------------------------------------------------------


async def test_the_recomputed_standings_equal_the_live_ones_to_the_last_digit(process):
    for number in range(30):
        one, other = [(A, B), (B, C), (C, A), (A, C)][number % 4]
        await process.result(one, other, versions=(1 + number // 12, 1 + number // 20))
    found = await process.recompute()
    assert found.games == 30
    assert found.differences == ()
    assert not found.repaired


async def test_a_row_that_was_changed_by_hand_is_found_and_repaired(process):
    await process.result(A, B)
    rows = keys.standings_rows(LADDER, 1)
    good = bytes(await process.redis.call("HGET", rows, "ann/a@1")).decode()
    bad = json.loads(good) | {"mean": json.loads(good)["mean"] + 1e-12}
    await process.redis.call("HSET", rows, "ann/a@1", json.dumps(bad), "eve/e@1", good)
    found = await process.recompute()
    assert [each.bot for each in found.differences] == ["ann/a", "eve/e"]
    assert not found.repaired
    assert (await process.recompute(repair=True)).repaired
    assert (await process.recompute()).differences == ()
    assert bytes(await process.redis.call("HGET", rows, "ann/a@1")).decode() == good
    acts = await audited(process, AuditKind.AUDIT_KIND_ADMIN_ACT)
    assert "2 rows differed" in acts[0].message


async def test_the_same_request_tells_of_its_repair_again(process, monkeypatch):
    await process.result(A, B)
    rows = keys.standings_rows(LADDER, 1)
    await process.redis.call("HDEL", rows, "ann/a@1")
    audit = process.store.audit.append
    appended = []

    async def dies(_record, mark=""):
        appended.append(mark)
        raise StoreUnavailable("the process dies before it writes the audit log")

    monkeypatch.setattr(process.administration._store.audit, "append", dies)
    with pytest.raises(StoreUnavailable):
        await process.recompute(request_id="once", repair=True)
    monkeypatch.setattr(process.administration._store.audit, "append", audit)
    assert len(appended) == 1
    for _ in range(2):
        found = await process.recompute(request_id="once", repair=True)
        assert [each.bot for each in found.differences] == [A]
        assert (found.games, found.repaired) == (1, True)
    acts = await audited(process, AuditKind.AUDIT_KIND_ADMIN_ACT)
    assert [each.message for each in acts] == [
        "replaced the standings of season 1 by the recomputed ones: 1 rows differed"
    ]
    other = await process.recompute(request_id="other", repair=True)
    assert (other.differences, other.repaired) == ((), False)
    with pytest.raises(RequestIdReused):
        await process.recompute(request_id="once")


async def test_progress_is_told_page_by_page(process, monkeypatch):
    monkeypatch.setattr(store_standings, "ENTRIES_PER_PAGE", 10)
    for _ in range(25):
        await process.result(A, B)
    steps = process.administration.recompute(ADMIN, LADDER, 0, "", repair=False)
    told = [step async for step in steps]
    assert told[:-1] == [(0, 25), (10, 25), (20, 25), (25, 25)]
    assert told[-1].games == 25


async def test_a_repair_catches_up_with_games_that_are_rated_meanwhile(process):
    await process.result(A, B)
    rows = keys.standings_rows(LADDER, 1)
    await process.redis.call("HDEL", rows, "ann/a@1")
    told = []
    async for step in process.administration.recompute(ADMIN, LADDER, 0, "", repair=True):
        if len(told) == 1:
            await process.result(C, B)
        told.append(step)
    assert told[:-1] == [(0, 1), (1, 1), (1, 2), (2, 2)], "what was computed is not computed again"
    assert told[-1].repaired
    assert (await process.recompute()).differences == ()


async def test_a_recomputation_begins_again_if_a_game_is_voided_meanwhile(process):
    await process.result(A, B)
    wrong = await process.result(C, A)
    await process.redis.call("HDEL", keys.standings_rows(LADDER, 1), "bob/b@1")
    told = []
    async for step in process.administration.recompute(ADMIN, LADDER, 0, "", repair=True):
        if len(told) == 1:
            await process.administration.void_game(ADMIN, wrong, "no", "")
        told.append(step)
    assert told == [(0, 2), (2, 2), (0, 2), (2, 2), Recomputed(1, (), repaired=False)]
    assert set(await process.standings()) == {"ann/a@1", "bob/b@1"}


async def test_a_server_that_stops_does_not_finish_a_recomputation(process):
    await process.result(A, B)
    process.use_cases.stopping.set()
    with pytest.raises(Draining):
        await process.recompute()


async def test_recomputing_while_games_are_rated_compares_the_same_moment(process):
    async def rate():
        for _ in range(15):
            await process.result(A, B)

    rating = asyncio.create_task(rate())
    while not rating.done():
        assert (await process.recompute()).differences == ()
    await rating


# --- voided games -----------------------------------------------------------------------------


async def test_a_voided_game_is_as_if_it_had_never_been_rated(process):
    await process.result(A, B)
    wrong = await process.result(C, A)
    await process.result(A, B)
    await process.administration.void_game(ADMIN, wrong, "the server was out of order", "")
    standings = await process.standings()
    assert "cyd/c@1" not in standings
    assert standings["ann/a@1"].games == 2
    assert await process.queries.games_of_season(LADDER, 1) == 2
    assert (await process.recompute()).differences == ()
    await process.administration.void_game(ADMIN, wrong, "the server was out of order", "")
    (entry,) = await audited(process, AuditKind.AUDIT_KIND_ADJUDICATION)
    assert entry.game_id == wrong
    assert entry.message == "voided: the server was out of order"
    await process.result(A, B, C, ladder="base-3p")
    assert [each.ladder for each in await process.queries.head_to_head(A, C, "")] == ["base-3p"]


async def test_a_game_that_is_voided_before_it_was_rated_is_not_rated_later(process):
    wrong = await process.result(A, B, settle=False)
    await process.administration.void_game(ADMIN, wrong, "no", "")
    await process.rater.settle_all()
    assert await process.standings() == {}


async def test_a_game_that_is_voided_after_its_end_keeps_its_result(process):
    game_id = await process.result(A, B)
    before = (await process.use_cases.view(game_id)).stored.result
    game, _ = await process.administration.void_game(ADMIN, game_id, "no", "")
    assert game.stored.result == before
    assert GameResult.FromString(before).end_reason != EndReason.END_REASON_ADJUDICATED


async def test_a_running_game_ends_when_it_is_voided(process):
    await process.enter(A, B)
    await process.run_once()
    (game_id,) = await process.seated()
    for bot in (A, B):
        await process.ready(bot, game_id)
    game, _ = await process.administration.void_game(ADMIN, game_id, "wrong clock", "")
    assert game.stored.state == "over"
    result = GameResult.FromString(game.stored.result)
    assert (result.end_reason, len(result.seats)) == (EndReason.END_REASON_ADJUDICATED, 0)
    assert await process.standings() == {}
    assert await process.seated() == {}
    with pytest.raises(InvalidRequest, match="say why"):
        await process.administration.void_game(ADMIN, game_id, " ", "")


# --- seasons ----------------------------------------------------------------------------------


async def test_a_season_archives_the_standings_and_starts_softly(process):
    for _ in range(4):
        await process.result(A, B)
    old = await process.standings()
    await process.run_once()
    season = await process.administration.start_season(ADMIN, LADDER, "Autumn", 0.5, "")
    assert season.number == 2
    assert await process.standings() == {}
    archived = await process.queries.standings(LADDER, 1, old_versions=False)
    assert archived == [old["ann/a@1"], old["bob/b@1"]]
    await process.result(A, C)
    (game,), _ = await process.queries.history(A, LADDER, 0, 1, "")
    before = game.result.seats[game.seat].before
    assert before.mean == 25 + 0.5 * (old["ann/a@1"].rating.mean - 25)
    assert before.uncertainty == UNCERTAINTY
    assert game.result.season == 2
    for number in (1, 2):
        assert (await process.recompute(season=number)).differences == ()
    seasons, _ = await process.administration.list_seasons(LADDER, 0, "")
    assert [(each.number, each.games, each.title) for each in seasons] == [
        (2, 1, "Autumn"),
        (1, 4, ""),
    ]
    assert seasons[1].end_time == seasons[0].start_time
    assert 0 < seasons[1].start_time.ToMilliseconds() <= seasons[1].end_time.ToMilliseconds()


async def test_a_new_version_after_a_season_inherits_what_its_parent_carried_over(process):
    await process.result(A, B)
    mean = (await process.standings())["ann/a@1"].rating.mean
    await process.administration.start_season(ADMIN, LADDER, "", 1.0, "")
    await process.administration.start_season(ADMIN, LADDER, "", 1.0, "")
    await process.result(A, B, versions=(2, 1))
    (game,), _ = await process.queries.history(A, LADDER, 0, 1, "")
    assert game.result.seats[game.seat].before.mean == mean


async def test_the_same_request_starts_one_season(process):
    first = await process.administration.start_season(ADMIN, LADDER, "x", None, "id-1")
    again = await process.administration.start_season(ADMIN, LADDER, "x", None, "id-1")
    assert first == again
    assert (await process.store.standings.head(LADDER)).season == 2
    assert len(await audited(process, AuditKind.AUDIT_KIND_ADMIN_ACT)) == 1
    with pytest.raises(InvalidRequest, match="0 to 1"):
        await process.administration.start_season(ADMIN, LADDER, "x", 1.5, "")


@pytest.fixture
def start_meanwhile(process, monkeypatch):
    """Has somebody start a season just after the seasons are read next."""

    def begin():
        seasons = store_standings.StandingsStore.seasons

        async def slow_seasons(self, ladder):
            found = await seasons(self, ladder)
            monkeypatch.undo()
            await process.administration.start_season(ADMIN, LADDER, "meanwhile", None, "")
            return found

        monkeypatch.setattr(store_standings.StandingsStore, "seasons", slow_seasons)

    return begin


async def test_seasons_that_are_started_at_the_same_time_follow_each_other(
    process, start_meanwhile
):
    start_meanwhile()
    started = await process.administration.start_season(ADMIN, LADDER, "later", None, "")
    assert started.number == 3
    seasons, _ = await process.administration.list_seasons(LADDER, 0, "")
    assert [each.title for each in seasons] == ["later", "meanwhile", ""]


async def test_the_games_of_a_season_that_ends_meanwhile_are_counted(process, start_meanwhile):
    for _ in range(3):
        await process.result(A, B)
    start_meanwhile()
    assert await process.queries.games_of_season(LADDER, 1) == 3


# --- history and head to head -----------------------------------------------------------------


async def test_history_goes_back_in_pages_over_all_ladders(process):
    for number in range(7):
        if number % 2:
            await process.result(A, B, C, ladder="base-3p")
        else:
            await process.result(A, B)
    whole, token = await process.queries.history(A, "", 0, 50, "")
    assert not token
    times = [each.result.end_time.ToMilliseconds() for each in whole]
    assert times == sorted(times, reverse=True)
    paged, token = [], ""
    while True:
        entries, token = await process.queries.history(A, "", 0, 3, token)
        paged += entries
        await process.result(B, C)  # what comes meanwhile does not shift the pages
        if not token:
            break
    assert paged == whole
    assert len(whole) == 7
    assert all(each.result.seats[each.seat].bot == A for each in whole)
    only, _ = await process.queries.history(A, "base-3p", 0, 0, "")
    assert len(only) == 3


async def test_history_in_page_tokens_that_the_server_did_not_make_ends(process):
    for _ in range(3):
        await process.result(A, B)
    ladders = process.queries.ladders.names

    async def page(*counts):
        token = pagination.token(",".join(counts), "history", A, *ladders, 0)
        return await with_timeout(process.queries.history(A, "", 0, 0, token))

    entries, following = await page(*["999999999"] * len(ladders))
    assert len(entries) == 3
    assert not following
    assert await page(*["0"] * len(ladders)) == ([], "")
    for counts in (["1"], ["x"] * len(ladders), ["-1"] * len(ladders), ["9" * 30] * len(ladders)):
        with pytest.raises(InvalidRequest, match="page token"):
            await page(*counts)


async def test_history_of_one_version_reads_a_limited_number_of_games(process, monkeypatch):
    for _ in range(30):
        await process.result(A, B)
    monkeypatch.setattr(process.use_cases, "limits", Limits(games_read_per_page=10))
    read = count_entries(process, monkeypatch)
    entries, token = await process.queries.history(A, LADDER, 7, 5, "")
    assert (entries, len(read)) == ([], 10)
    pages = 1
    while token:
        entries, token = await process.queries.history(A, LADDER, 7, 5, token)
        pages += 1
    assert pages == 3
    assert len(read) == 30
    read.clear()
    await process.queries.history(A, "", 0, 5, "")
    assert len(read) == 5


async def test_head_to_head_reads_a_limited_number_of_games(process, monkeypatch):
    for _ in range(8):
        await process.result(A, B)
    for _ in range(4):
        await process.result(A, C)
    read = count_entries(process, monkeypatch)
    (record,) = await process.queries.head_to_head(A, C, LADDER)
    assert (record.games, len(read)) == (4, 4)
    monkeypatch.setattr(process.use_cases, "limits", Limits(games_compared=3))
    (record,) = await process.queries.head_to_head(A, B, LADDER)
    assert (record.games, len(read)) == (3, 7)


def count_entries(process, monkeypatch):
    """The sequences of all entries that are read from now on."""
    standings, read = process.queries._standings, []
    entries = standings.entries

    async def counted(ladder, sequences):
        read.extend(sequences)
        return await entries(ladder, sequences)

    monkeypatch.setattr(standings, "entries", counted)
    return read


async def test_head_to_head_counts_wins_ties_and_margins(process):
    await process.result(A, B)
    await process.result(A, B)
    await process.result(B, A)
    await process.result(C, A, B, ladder="base-3p")
    two, three = await process.queries.head_to_head(A, B, "")
    assert (two.ladder, two.games, two.wins, two.ties, two.losses) == (LADDER, 3, 2, 0, 1)
    assert (three.ladder, three.wins, three.losses) == ("base-3p", 0, 1)
    (mirrored,) = await process.queries.head_to_head(B, A, LADDER)
    assert (mirrored.wins, mirrored.losses) == (1, 2)
    assert mirrored.mean_margin == -two.mean_margin
    with pytest.raises(UnknownAccount, match="zed/z"):
        await process.queries.head_to_head("zed/z", A, "")
    with pytest.raises(UnknownAccount, match="zed/z"):
        await process.queries.history("zed/z", "", 0, 0, "")
    with pytest.raises(InvalidRequest, match="against itself"):
        await process.queries.head_to_head(A, A, "")


async def test_results_are_watched_in_order_and_none_is_left_out(process):
    await process.result(A, B)
    seen = []

    async def watch():
        async for result in process.queries.watch_results(LADDER, 0, asyncio.Event()):
            seen.append(result.sequence)
            if len(seen) == 4:
                return

    watching = asyncio.create_task(watch())
    for _ in range(3):
        await process.result(B, A)
    await with_timeout(watching)
    assert seen == [1, 2, 3, 4]


async def test_what_does_not_exist_is_refused_by_its_reason(process):
    with pytest.raises(UnknownLadder):
        await process.queries.ladder("base-9p")
    with pytest.raises(InvalidRequest, match="seasons 1 to 1"):
        await process.queries.season_number(LADDER, 2)
    with pytest.raises(InvalidRequest, match="page token"):
        await process.queries.history(A, "", 0, 0, "rubbish")


# --- the audit log ----------------------------------------------------------------------------


async def test_the_audit_log_is_a_chain_that_shows_every_change(process):
    for _ in range(3):
        await process.result(A, B)
    await process.administration.start_season(ADMIN, LADDER, "", None, "")
    entries = (await audited(process))[::-1]
    assert [each.sequence for each in entries] == [1, 2, 3, 4]
    chain = hashlib.sha256(b"himeji/v1/audit").digest()
    assert chain == FIRST_LINK
    for each in entries:
        words = " ".join(word or "-" for word in (each.actor, each.ladder, each.game_id))
        millis = each.create_time.ToMilliseconds()
        text = f"{each.sequence} {int(each.kind)} {millis} {words} {each.message}"
        chain = link(chain, text)
        assert each.chain == chain
    altered = link(FIRST_LINK, "1 3 0 - - - nothing happened")
    assert altered != entries[0].chain


async def test_the_audit_log_is_listed_by_kind_in_pages(process):
    for _ in range(5):
        await process.result(A, B)
    await process.administration.start_season(ADMIN, LADDER, "", None, "")
    found, token = [], ""
    while True:
        entries, token = await process.administration.list_audit_entries(
            AuditKind.AUDIT_KIND_RATING_CHANGE, 2, token
        )
        found += [each.sequence for each in entries]
        if not token:
            break
    assert found == [5, 4, 3, 2, 1]
    with pytest.raises(InvalidRequest, match="99 is no value of kind"):
        await audited(process, kind=99)
