"""Fair play: what chance does not explain is flagged, and nothing is changed by it."""

import pytest
from himeji.rules.errors import InvalidRequest
from himeji.v1.admin_service_pb2 import FlagKind
from himeji_server.ladder.fair_play import binomial_tail, frequent_opponents
from himeji_server.ladder.standings import StandingsRow

from tests.server.ladder_process import LADDER, ladder_process

A, B, C, D = "ann/a", "bob/b", "cyd/c", "dan/d"
REPEAT, QUICK = FlagKind.FLAG_KIND_REPEAT_GAMES, FlagKind.FLAG_KIND_QUICK_RESIGN


@pytest.fixture
async def process(start_redis):
    async with ladder_process(start_redis().url) as opened:
        yield opened


async def flags(process, kind=FlagKind.FLAG_KIND_UNSPECIFIED, **filters):
    filters = {"ladder": "", "bot": ""} | filters
    found, _ = await process.administration.list_flags(
        filters["ladder"], filters["bot"], kind, 0, ""
    )
    return found


async def test_flags_of_a_kind_that_the_server_does_not_know_are_refused(process):
    with pytest.raises(InvalidRequest, match="99 is no value of kind"):
        await flags(process, kind=99)


def row(*opponents):
    return StandingsRow(A, 1, 25, 5, games=len(opponents), recent=[[each] for each in opponents])


def test_the_tail_is_that_of_the_binomial_distribution():
    assert binomial_tail(4, 4, 0.5) == pytest.approx(1 / 16)
    assert binomial_tail(4, 0, 0.3) == pytest.approx(1)
    assert binomial_tail(20, 20, 1.0) == 1


def test_meeting_one_bot_all_the_time_among_many_is_more_than_chance():
    assert frequent_opponents(row(*[B] * 20), bots=40) == [B]
    assert frequent_opponents(row(*[B] * 8, *[C] * 6, *[D] * 6), bots=12) == []


def test_few_bots_few_games_and_the_house_are_no_reason():
    assert frequent_opponents(row(*[B] * 20), bots=2) == []
    assert frequent_opponents(row(*[B] * 20), bots=4) == []
    assert frequent_opponents(row(*[B] * 10), bots=40) == []
    assert frequent_opponents(row(*["house/random"] * 20), bots=40) == []


async def test_giving_up_at_once_again_and_again_is_flagged_once_a_day(process):
    for _ in range(2):
        await process.result(A, B)
    assert await flags(process) == []
    games = [await process.result(A, B) for _ in range(2)]
    (flag,) = await flags(process)
    assert flag.kind == QUICK
    assert list(flag.bots) == [B]
    assert games[0] in flag.game_ids
    assert flag.ladder == LADDER
    assert "gave up 3 games" in flag.message
    assert (await process.standings())["bob/b@1"].games == 4, "a flag changes no result"


async def test_flags_are_listed_by_ladder_bot_and_kind(process):
    for _ in range(3):
        await process.result(A, B)
        await process.result(C, A, B, ladder="base-3p")
    assert len(await flags(process)) == 3
    assert len(await flags(process, ladder="base-3p")) == 2
    assert len(await flags(process, bot=B)) == 2
    assert len(await flags(process, bot=C)) == 0
    assert len(await flags(process, REPEAT)) == 0


async def test_a_pair_that_meets_all_the_time_is_flagged_with_its_games(process):
    for number in range(24):
        await process.result(f"o{number}/x", f"p{number}/x")
    games = [await process.result(A, B) for _ in range(20)]
    (flag,) = await flags(process, REPEAT)
    assert list(flag.bots) == [A, B]
    assert list(flag.game_ids) == games
    assert "met in 20 of the last 20 games" in flag.message
