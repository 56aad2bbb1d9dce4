"""Results and tables on a real Redis: each game counts once, and the table follows from the log."""

import asyncio
import hashlib
import json

import pytest
from himeji.rules.errors import InvalidRequest, UnknownAccount, UnknownLadder
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import AuditKind
from himeji_server.ladder.rating import BEGINNER, UNCERTAINTY, updated
from himeji_server.ladder.standings import row_name
from himeji_server.store import keys
from himeji_server.store.audit import FIRST_LINK, link

from tests.server.arena_client import soon
from tests.server.ladder_process import ADMIN, LADDER, ladder_process

A, B, C = "ann/a", "bob/b", "cyd/c"


@pytest.fixture
async def stage(start_redis):
    async with ladder_process(start_redis().url) as opened:
        yield opened


async def recomputed(stage, *, repair=False, ladder=LADDER, season=0):
    return await stage.administration.recompute(ADMIN, ladder, season, "", repair=repair)


async def audited(stage, kind=AuditKind.AUDIT_KIND_UNSPECIFIED):
    entries, token = await stage.administration.audit_entries(kind, 500, "")
    assert not token
    return entries


async def test_a_result_changes_the_ratings_as_the_pure_code_says(stage):
    await stage.result(A, B)
    table = await stage.table()
    winner, loser = updated([BEGINNER, BEGINNER], [1, 2])
    assert (table["ann/a@1"].rating.mean, table["ann/a@1"].rating.uncertainty) == winner
    assert (table["bob/b@1"].rating.mean, table["bob/b@1"].rating.uncertainty) == loser
    assert [table["ann/a@1"].place, table["bob/b@1"].place] == [1, 2]
    assert list(table["ann/a@1"].rank_counts) == [1, 0]


async def test_a_row_tells_how_games_ended_for_the_bot(stage):
    await stage.result(A, B)
    await stage.result(B, A)
    row = (await stage.table())["ann/a@1"]
    counts = {each.end_reason: each.count for each in row.end_reasons}
    assert counts == {EndReason.END_REASON_OUTLASTED: 1, EndReason.END_REASON_RESIGNED: 1}
    assert row.games == 2
    assert row.last_game_time.ToMilliseconds() > 0


async def test_settling_a_result_again_changes_nothing(stage):
    game_id = await stage.result(A, B)
    before = await stage.table()
    for _ in range(3):
        await stage.rater.settle(game_id)
    assert await stage.table() == before
    assert len(await audited(stage)) == 1


async def test_a_result_leaves_the_outbox_only_when_it_is_settled(stage):
    game_id = await stage.result(A, B, settle=False)
    box = keys.outbox(keys.bucket_of(game_id))
    assert await stage.redis.call("XLEN", box) == 1
    await stage.rater.settle_all()
    assert await stage.redis.call("XLEN", box) == 0


async def test_many_raters_at_once_count_each_game_once(stage):
    for number in range(12):
        await stage.result(*((A, B) if number % 3 else (B, A)), settle=False)
    await asyncio.gather(*(stage.rater.settle_all() for _ in range(5)))
    table = await stage.table()
    assert table["ann/a@1"].games == table["bob/b@1"].games == 12
    assert (await recomputed(stage)).differences == ()
    assert len(await audited(stage)) == 12


async def test_a_result_that_cannot_be_settled_does_not_keep_others_waiting(stage):
    broken = await stage.result(A, B, settle=False)
    await stage.redis.call("HSET", keys.game(broken), "result", b"\xff\xff")
    await stage.result(A, C)
    await stage.rater.settle_all()
    assert (await stage.table())["cyd/c@1"].games == 1
    assert await stage.redis.call("XLEN", keys.outbox(keys.bucket_of(broken))) == 1


async def test_games_of_no_ladder_and_those_without_ranks_are_never_rated(stage):
    await stage.result(A, B, ladder="")
    game_id = await stage.result(A, B, settle=False, ladder="base-3p")
    await stage.redis.call("HDEL", keys.game(game_id), "started")
    void = await stage.result(A, B, settle=False)
    no_contest = b"\x08\x09"  # a GameResult with END_REASON_NO_CONTEST alone
    await stage.redis.call("HSET", keys.game(void), "result", no_contest)
    await stage.rater.settle_all()
    assert await stage.table() == {}


async def test_ladders_have_tables_of_their_own(stage):
    await stage.result(A, B)
    await stage.result(C, A, B, ladder="base-3p")
    assert set(await stage.table()) == {"ann/a@1", "bob/b@1"}
    three = await stage.table("base-3p")
    assert [list(three[name].rank_counts) for name in ("cyd/c@1", "bob/b@1", "ann/a@1")] == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]


# --- versions ---------------------------------------------------------------------------------


async def test_a_new_version_inherits_the_mean_and_is_unknown_again(stage):
    for _ in range(5):
        await stage.result(A, B)
    parent = (await stage.table())["ann/a@1"].rating
    await stage.result(A, B, versions=(3, 1))
    (game,), _ = await stage.queries.history(A, "", 3, 0, "")
    before = game.result.seats[game.seat].before
    assert (before.mean, before.uncertainty) == (parent.mean, UNCERTAINTY)
    old = (await stage.table())["ann/a@1"]
    assert (old.rating, old.games) == (parent, 5), "a version that plays no more stays as it was"


async def test_the_table_shows_the_newest_version_alone_unless_asked(stage):
    await stage.result(A, B)
    await stage.result(A, B, versions=(2, 1))
    shown = await stage.queries.standings(LADDER, 1, old_versions=False)
    assert {row_name(each.bot, each.bot_version) for each in shown} == {"ann/a@2", "bob/b@1"}
    assert set(await stage.table()) == {"ann/a@1", "ann/a@2", "bob/b@1"}


# --- recompute --------------------------------------------------------------------------------


async def test_the_recomputed_table_equals_the_live_one_to_the_last_digit(stage):
    for number in range(30):
        one, other = [(A, B), (B, C), (C, A), (A, C)][number % 4]
        await stage.result(one, other, versions=(1 + number // 12, 1 + number // 20))
    found = await recomputed(stage)
    assert found.games == 30
    assert found.differences == ()
    assert not found.repaired


async def test_a_row_that_was_changed_by_hand_is_found_and_repaired(stage):
    await stage.result(A, B)
    rows = keys.standings_rows(LADDER, 1)
    good = bytes(await stage.redis.call("HGET", rows, "ann/a@1")).decode()
    bad = json.loads(good) | {"mean": json.loads(good)["mean"] + 1e-12}
    await stage.redis.call("HSET", rows, "ann/a@1", json.dumps(bad), "eve/e@1", good)
    found = await recomputed(stage)
    assert [each.bot for each in found.differences] == ["ann/a", "eve/e"]
    assert not found.repaired
    assert (await recomputed(stage, repair=True)).repaired
    assert (await recomputed(stage)).differences == ()
    assert bytes(await stage.redis.call("HGET", rows, "ann/a@1")).decode() == good
    acts = await audited(stage, AuditKind.AUDIT_KIND_ADMIN_ACT)
    assert "2 rows differed" in acts[0].message


async def test_recomputing_while_games_are_rated_compares_the_same_moment(stage):
    async def rate():
        for _ in range(15):
            await stage.result(A, B)

    rating = asyncio.create_task(rate())
    while not rating.done():
        assert (await recomputed(stage)).differences == ()
    await rating


# --- voided games -----------------------------------------------------------------------------


async def test_a_voided_game_is_as_if_it_had_never_been_rated(stage):
    await stage.result(A, B)
    wrong = await stage.result(C, A)
    await stage.result(A, B)
    await stage.administration.void(ADMIN, wrong, "the server was out of order", "")
    table = await stage.table()
    assert "cyd/c@1" not in table
    assert table["ann/a@1"].games == 2
    assert await stage.queries.games_of_season(LADDER, 1) == 2
    assert (await recomputed(stage)).differences == ()
    await stage.administration.void(ADMIN, wrong, "the server was out of order", "")
    (entry,) = await audited(stage, AuditKind.AUDIT_KIND_ADJUDICATION)
    assert entry.game_id == wrong
    assert entry.message == "voided: the server was out of order"
    assert (await stage.queries._compared(LADDER, A, C)).games == 0


async def test_a_game_that_is_voided_before_it_was_rated_is_not_rated_later(stage):
    wrong = await stage.result(A, B, settle=False)
    await stage.administration.void(ADMIN, wrong, "no", "")
    await stage.rater.settle_all()
    assert await stage.table() == {}


async def test_a_running_game_ends_when_it_is_voided(stage):
    await stage.here(A, B)
    await stage.round()
    (game_id,) = await stage.seated()
    for bot in (A, B):
        await stage.ready(bot, game_id)
    table = await stage.administration.void(ADMIN, game_id, "wrong clock", "")
    assert table.stored.state == "over"
    assert await stage.table() == {}
    assert await stage.seated() == {}
    with pytest.raises(InvalidRequest, match="say why"):
        await stage.administration.void(ADMIN, game_id, " ", "")


# --- seasons ----------------------------------------------------------------------------------


async def test_a_season_archives_the_table_and_starts_softly(stage):
    for _ in range(4):
        await stage.result(A, B)
    old = await stage.table()
    await stage.round()
    season = await stage.administration.start_season(ADMIN, LADDER, "Autumn", 0.5, "")
    assert season.number == 2
    assert await stage.table() == {}
    archived = await stage.queries.standings(LADDER, 1, old_versions=False)
    assert archived == [old["ann/a@1"], old["bob/b@1"]]
    await stage.result(A, C)
    (game,), _ = await stage.queries.history(A, LADDER, 0, 1, "")
    before = game.result.seats[game.seat].before
    assert before.mean == 25 + 0.5 * (old["ann/a@1"].rating.mean - 25)
    assert before.uncertainty == UNCERTAINTY
    assert game.result.season == 2
    for number in (1, 2):
        assert (await recomputed(stage, season=number)).differences == ()
    seasons, _ = await stage.administration.seasons(LADDER, 0, "")
    assert [(each.number, each.games, each.title) for each in seasons] == [
        (2, 1, "Autumn"),
        (1, 4, ""),
    ]
    assert seasons[1].end_time == seasons[0].start_time
    assert 0 < seasons[1].start_time.ToMilliseconds() <= seasons[1].end_time.ToMilliseconds()


async def test_a_new_version_after_a_season_inherits_what_its_parent_carried_over(stage):
    await stage.result(A, B)
    mean = (await stage.table())["ann/a@1"].rating.mean
    await stage.administration.start_season(ADMIN, LADDER, "", 1.0, "")
    await stage.administration.start_season(ADMIN, LADDER, "", 1.0, "")
    await stage.result(A, B, versions=(2, 1))
    (game,), _ = await stage.queries.history(A, LADDER, 0, 1, "")
    assert game.result.seats[game.seat].before.mean == mean


async def test_the_same_request_starts_one_season(stage):
    first = await stage.administration.start_season(ADMIN, LADDER, "x", None, "id-1")
    again = await stage.administration.start_season(ADMIN, LADDER, "x", None, "id-1")
    assert first == again
    assert (await stage.store.standings.head(LADDER)).season == 2
    assert len(await audited(stage, AuditKind.AUDIT_KIND_ADMIN_ACT)) == 1
    with pytest.raises(InvalidRequest, match="0 to 1"):
        await stage.administration.start_season(ADMIN, LADDER, "x", 1.5, "")


# --- history and head to head -----------------------------------------------------------------


async def test_history_goes_back_in_pages_over_all_ladders(stage):
    for number in range(7):
        if number % 2:
            await stage.result(A, B, C, ladder="base-3p")
        else:
            await stage.result(A, B)
    whole, token = await stage.queries.history(A, "", 0, 50, "")
    assert not token
    times = [each.result.end_time.ToMilliseconds() for each in whole]
    assert times == sorted(times, reverse=True)
    paged, token = [], ""
    while True:
        entries, token = await stage.queries.history(A, "", 0, 3, token)
        paged += entries
        await stage.result(B, C)  # what comes meanwhile does not shift the pages
        if not token:
            break
    assert paged == whole
    assert len(whole) == 7
    assert all(each.result.seats[each.seat].bot == A for each in whole)
    only, _ = await stage.queries.history(A, "base-3p", 0, 0, "")
    assert len(only) == 3


async def test_head_to_head_counts_wins_ties_and_margins(stage):
    await stage.result(A, B)
    await stage.result(A, B)
    await stage.result(B, A)
    await stage.result(C, A, B, ladder="base-3p")
    two, three = await stage.queries.head_to_head(A, B, "")
    assert (two.ladder, two.games, two.wins, two.ties, two.losses) == (LADDER, 3, 2, 0, 1)
    assert (three.ladder, three.wins, three.losses) == ("base-3p", 0, 1)
    (mirrored,) = await stage.queries.head_to_head(B, A, LADDER)
    assert (mirrored.wins, mirrored.losses) == (1, 2)
    assert mirrored.mean_margin == -two.mean_margin
    with pytest.raises(UnknownAccount, match="zed/z"):
        await stage.queries.head_to_head("zed/z", A, "")
    with pytest.raises(UnknownAccount, match="zed/z"):
        await stage.queries.history("zed/z", "", 0, 0, "")
    with pytest.raises(InvalidRequest, match="against itself"):
        await stage.queries.head_to_head(A, A, "")


async def test_results_are_watched_in_order_without_gaps(stage):
    await stage.result(A, B)
    seen = []

    async def watch():
        async for result in stage.queries.results(LADDER, 0):
            seen.append(result.sequence)
            if len(seen) == 4:
                return

    watching = asyncio.create_task(watch())
    for _ in range(3):
        await stage.result(B, A)
    await soon(watching)
    assert seen == [1, 2, 3, 4]


async def test_what_does_not_exist_is_refused_by_its_reason(stage):
    with pytest.raises(UnknownLadder):
        await stage.queries.ladder("base-9p")
    with pytest.raises(InvalidRequest, match="seasons 1 to 1"):
        await stage.queries.season(LADDER, 2)
    with pytest.raises(InvalidRequest, match="page token"):
        await stage.queries.history(A, "", 0, 0, "rubbish")


# --- the audit log ----------------------------------------------------------------------------


async def test_the_audit_log_is_a_chain_that_shows_every_change(stage):
    for _ in range(3):
        await stage.result(A, B)
    await stage.administration.start_season(ADMIN, LADDER, "", None, "")
    entries = (await audited(stage))[::-1]
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


async def test_the_audit_log_is_listed_by_kind_in_pages(stage):
    for _ in range(5):
        await stage.result(A, B)
    await stage.administration.start_season(ADMIN, LADDER, "", None, "")
    found, token = [], ""
    while True:
        entries, token = await stage.administration.audit_entries(
            AuditKind.AUDIT_KIND_RATING_CHANGE, 2, token
        )
        found += [each.sequence for each in entries]
        if not token:
            break
    assert found == [5, 4, 3, 2, 1]
