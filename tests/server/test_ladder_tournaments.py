"""Tournaments on a real Redis: they play to their end, whoever dies, and whoever does not come."""

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest
from google.protobuf.duration_pb2 import Duration
from himeji.rules.errors import (
    AlreadyExists,
    BotRetired,
    InvalidRequest,
    NotFound,
    Refused,
    UnknownAccount,
)
from himeji.v1.account_service_pb2 import SCOPE_MANAGE
from himeji.v1.admin_service_pb2 import AuditKind
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import (
    CreateTournamentRequest,
    TournamentEntry,
    TournamentState,
    TournamentSystem,
)
from himeji_server import pagination
from himeji_server.accounts.caller import Caller
from himeji_server.games.use_cases import Player
from himeji_server.ladder import tournament_runner
from himeji_server.ladder.tournament_migration import index_older_tournaments
from himeji_server.ladder.tournament_pairing import count_byes, round_robin
from himeji_server.ladder.tournament_runner import count_result
from himeji_server.names import BotName
from himeji_server.store import keys
from himeji_server.store.tournaments import PLAYED, GameRecord, ProgressState, name_at

from tests.server.ladder_process import ADMIN, ladder_process

A, B, C, D = BOTS = ("ann/a", "bob/b", "cyd/c", "dan/d")
OWNER = Caller("bob", "t", frozenset({SCOPE_MANAGE}))
ROBIN = TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN
SWISS = TournamentSystem.TOURNAMENT_SYSTEM_SWISS
PLAYING = TournamentState.TOURNAMENT_STATE_PLAYING
CANCELLED = TournamentState.TOURNAMENT_STATE_CANCELLED
OVER = TournamentState.TOURNAMENT_STATE_OVER


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(tournament_runner, "POLL_MS", 0)


@pytest.fixture
def redis_server(start_redis):
    return start_redis()


@pytest.fixture
async def process(redis_server):
    async with ladder_process(redis_server.url) as opened:
        for bot in BOTS:
            await opened.create_owner(bot)
            await opened.accounts.bots.ensure(BotName(*bot.split("/")))
        yield opened


def entry(bot):
    """An entry from "owner/name" or "owner/name@version"."""
    name, _, version = bot.partition("@")
    return TournamentEntry(bot=name, bot_version=int(version or 0))


def request(name="cup", system=ROBIN, bots=BOTS[:3], seats=2, rounds=1, **more):
    return CreateTournamentRequest(
        tournament=name,
        system=system,
        ruleset="base",
        seats=seats,
        rounds=rounds,
        entries=[entry(each) for each in bots],
        **more,
    )


async def connect(process, *bots):
    for bot in bots:
        await process.connect(bot)


async def games_of(process, name="cup"):
    """The games of the running round, by their number."""
    progress, _ = await process.store.tournaments.head(name)
    games = process.store.tournaments.games(name, progress.round, 100)
    return {number: game async for number, game in games}


async def running(process, name="cup"):
    games = await games_of(process, name)
    return [game.game_id for game in games.values() if game.game_id and not game.result]


async def play(process, *, rounds=40, name="cup", silent=()):
    """Run the tournament; all bots are ready, and of two the later in the alphabet resigns."""
    for _ in range(rounds):
        await process.runner.run_once(await process.store.games.now())
        tournament, rows = await process.tournaments.get(name)
        if tournament.state != PLAYING:
            break
        for game_id in await running(process, name):
            game = await process.use_cases.view(game_id)
            if game.stored.state == "over":
                continue
            bots = sorted(seat.bot for seat in game.header.seats)
            for bot in bots:
                if bot not in silent:
                    await process.queue_commands.ready(Player(bot, 1), game_id, None, b"")
            for bot in bots[:0:-1]:
                if not silent:
                    await process.resign(game_id, bot)
    return tournament, rows


async def test_a_round_robin_is_played_to_its_end(process):
    await connect(process, *BOTS)
    made = await process.tournaments.create(ADMIN, request())
    assert (made.games_planned, made.games_played, made.state) == (6, 0, PLAYING)
    tournament, entrants = await play(process)
    assert (tournament.state, tournament.games_played) == (OVER, 6)
    assert [(row.bot, row.points, row.place) for row in entrants] == [
        (A, 4.0, 1),
        (B, 2.0, 2),
        (C, 0.0, 3),
    ]
    assert tournament.HasField("end_time")
    assert await process.standings() == {}, "a tournament has standings of its own"


async def test_a_swiss_tournament_goes_round_by_round(process):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request(system=SWISS, bots=BOTS, rounds=2))
    tournament, entrants = await play(process)
    assert (tournament.current_round, tournament.games_played) == (2, 4)
    assert (entrants[0].bot, entrants[0].points) == (A, 2.0)


async def test_a_bot_plays_one_game_of_a_tournament_at_a_time(process):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request(bots=BOTS))
    await process.runner.run_once(await process.store.games.now())
    assert len(await running(process)) == 2


async def test_a_tournament_goes_on_in_another_process(process, redis_server):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request(bots=BOTS, rounds=2))
    await play(process, rounds=3)
    async with ladder_process(redis_server.url) as other:
        tournament, entrants = await play(other)
    assert (tournament.state, tournament.games_played) == (OVER, 24)
    assert [row.points for row in entrants] == [12.0, 8.0, 4.0, 0.0]


async def test_who_is_not_connected_loses_when_patience_is_over(process):
    await connect(process, A, B)
    await process.tournaments.create(ADMIN, request(patience=Duration()))
    tournament, entrants = await play(process)
    assert tournament.state == OVER
    assert [(row.bot, row.points) for row in entrants] == [(A, 4.0), (B, 2.0), (C, 0.0)]
    reasons = {each.end_reason: each.count for each in entrants[2].end_reasons}
    assert reasons == {EndReason.END_REASON_UNSEATED: 4}


async def test_who_is_not_connected_is_waited_for_with_patience(process):
    await connect(process, A, B)
    await process.tournaments.create(ADMIN, request())
    tournament, _ = await play(process, rounds=10)
    assert (tournament.state, tournament.games_played) == (PLAYING, 2)
    await connect(process, C)
    tournament, _ = await play(process)
    assert tournament.state == OVER


async def test_the_version_that_entered_plays_and_no_other(process):
    for _ in range(2):
        await process.accounts.bots.create_version(OWNER, B, "")
    await connect(process, A)
    await process.connect(B, 3)
    await process.tournaments.create(ADMIN, request(bots=(A, f"{B}@1")))
    await process.tournaments.create(ADMIN, request("newest", bots=(A, B)))
    _, entrants = await process.tournaments.get("newest")
    assert {row.bot: row.bot_version for row in entrants} == {A: 1, B: 3}
    await process.tournaments.cancel(ADMIN, "newest", "")
    await play(process, rounds=5)
    assert await running(process) == [], "version 3 is not who is waited for"
    await process.connect(B, 1)
    await process.runner.run_once(await process.store.games.now())
    (game_id,) = await running(process)
    other, why = Player(B, 3), "played by bob/b version 1, and you play version 3"
    with pytest.raises(Refused, match=why):
        await process.queue_commands.ready(other, game_id, None, b"")
    with pytest.raises(Refused, match=why):
        await process.use_cases.join(other, game_id, None, b"", "")
    tournament, entrants = await play(process)
    assert (tournament.state, tournament.games_played) == (OVER, 2)
    assert {row.bot: row.bot_version for row in entrants} == {A: 1, B: 1}
    stored = (await process.use_cases.view(game_id)).stored
    assert {seat.bot: seat.bot_version for seat in stored.seats} == {A: 1, B: 1}


async def test_another_version_does_not_keep_a_game_waiting_for_ever(process):
    await process.accounts.bots.create_version(OWNER, B, "")
    await connect(process, A)
    await process.connect(B, 2)
    await process.tournaments.create(ADMIN, request(bots=(A, f"{B}@1"), patience=Duration()))
    tournament, entrants = await play(process)
    assert tournament.state == OVER
    assert [(row.bot, row.points) for row in entrants] == [(A, 2.0), (B, 0.0)]


async def test_who_does_not_answer_is_seated_again_and_then_loses(process, monkeypatch):
    monkeypatch.setattr(tournament_runner, "READY_MS", -1)
    await connect(process, A, B)
    await process.tournaments.create(ADMIN, request(bots=(A, B), patience=Duration()))
    tournament, entrants = await play(process, silent=(B,))
    assert tournament.state == OVER
    assert [(row.bot, row.points) for row in entrants] == [(A, 2.0), (B, 0.0)]
    games = await games_of(process)
    assert [game.attempt >= 1 for game in games.values() if game.result] == [True, True]


async def test_a_cancelled_tournament_keeps_its_standings_and_ends_its_games(process):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request())
    await process.runner.run_once(await process.store.games.now())
    (game_id,) = await running(process)
    cancelled = await process.tournaments.cancel(ADMIN, "cup", "")
    assert cancelled.state == TournamentState.TOURNAMENT_STATE_CANCELLED
    assert (await process.use_cases.view(game_id)).stored.state == "over"
    assert await process.tournaments.cancel(ADMIN, "cup", "") == cancelled
    await process.runner.run_once(await process.store.games.now() + 10_000)
    assert (await process.tournaments.get("cup"))[0].games_played == 0
    entries, _ = await process.administration.list_audit_entries(
        AuditKind.AUDIT_KIND_ADMIN_ACT, 0, ""
    )
    assert [each.message for each in entries] == [
        "cancelled the tournament cup",
        "created the tournament cup",
    ]


async def test_the_same_request_makes_one_tournament_and_another_finds_the_name_in_use(process):
    first = await process.tournaments.create(ADMIN, request(request_id="one"))
    assert await process.tournaments.create(ADMIN, request(request_id="one")) == first
    with pytest.raises(AlreadyExists):
        await process.tournaments.create(ADMIN, request(request_id="two"))


# --- what is kept of a tournament -------------------------------------------------------------


async def recounted(process, name="cup"):
    """The counters of a tournament as its games and byes give them, whatever the store has."""
    tournaments = process.store.tournaments
    record, head = await tournaments.get(name), await tournaments.head(name)
    counted = Counter()
    for number in range(1, head.progress.round + 1):
        (plan,) = await tournaments.plans(name, [number])
        pairings, byes = (
            json.loads(plan)
            if plan
            else (round_robin([bot for bot, _ in record.bots], record.seats).games, ())
        )
        counted.update(count_byes(byes, record.seats))
        async for table, game in tournaments.games(name, number, len(pairings)):
            if game.result:
                counted.update(count_result(tuple(pairings[table]), game.result))
    return dict(counted)


async def indexed(process):
    """The names in the index, by state."""
    tournaments = process.store.tournaments
    return {
        state.value: list(map(name_at, await tournaments.newest([state], "", 100)))
        for state in ProgressState
    }


@pytest.mark.parametrize("system", [ROBIN, SWISS])
async def test_two_runners_at_once_count_every_game_once(process, redis_server, system):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request(system=system, bots=BOTS[:3], rounds=3))
    async with ladder_process(redis_server.url) as other:
        for _ in range(60):
            now = await process.store.games.now()
            await asyncio.gather(process.runner.run_once(now), other.runner.run_once(now))
            tournament, rows = await play(other, rounds=1)
    assert tournament.state == OVER
    assert tournament.games_played == tournament.games_planned
    assert [row.points for row in rows] == (
        [12.0, 6.0, 0.0] if system == ROBIN else [2.5, 1.5, 0.5]
    )
    assert await process.store.tournaments.counters("cup") == await recounted(process)


async def test_of_two_changes_of_a_tournament_one_is_made(process):
    await process.tournaments.create(ADMIN, request())
    tournaments = process.store.tournaments
    record, (progress, version) = await tournaments.get("cup"), await tournaments.head("cup")
    over = replace(progress, state=ProgressState.OVER)
    assert await tournaments.save_game("cup", version, (1, 0), GameRecord(since=1), {PLAYED: 1})
    assert not await tournaments.save_game("cup", version, (1, 0), GameRecord(since=2), {PLAYED: 1})
    assert not await tournaments.save_progress(record, version, over)
    assert [game async for _, game in tournaments.games("cup", 1, 1)] == [GameRecord(since=1)]
    assert await tournaments.games_played("cup") == 1
    await process.tournaments.cancel(ADMIN, "cup", "")
    assert not await tournaments.save_progress(record, version + 1, over)
    assert await indexed(process) == {"playing": [], "over": [], "cancelled": ["cup"]}


async def test_a_tournament_whose_end_was_interrupted_is_listed_and_leaves_the_index(process):
    await process.tournaments.create(ADMIN, request())
    tournaments = process.store.tournaments
    record = await tournaments.get("cup")
    await process.tournaments.cancel(ADMIN, "cup", "")
    await tournaments.add_to_index(record, ProgressState.PLAYING)
    for state, expected in ((PLAYING, []), (CANCELLED, ["cup"]), (0, ["cup"])):
        found, _ = await process.tournaments.list_tournaments(state, 0, "")
        assert [each.name for each in found] == expected
    await process.runner.run_once(await process.store.games.now())
    assert await indexed(process) == {"playing": [], "over": [], "cancelled": ["cup"]}


async def test_a_step_changes_a_limited_number_of_games(process, monkeypatch):
    monkeypatch.setattr(tournament_runner, "CHANGES_AT_ONCE", 5)
    await process.tournaments.create(ADMIN, request(bots=BOTS))
    for waiting in (5, 10, 12, 12):
        await process.runner.run_once(await process.store.games.now())
        assert sum(game.since > 0 for game in (await games_of(process)).values()) == waiting


async def make_old(process, *names):
    """Store tournaments as a version before 0.3.0 did: in one list, and with no sums."""
    for name in names:
        record = await process.store.tournaments.get(name)
        call = process.redis.call
        await call("ZADD", keys.TOURNAMENTS_TO_INDEX, record.created, name)
        await call("HDEL", keys.tournament(name), "version")
        await call("DEL", keys.tournament_counters(name))
        for state in ProgressState:
            await call("DEL", keys.tournaments_in(state))


async def test_tournaments_of_an_older_version_are_counted_once_and_go_on(process, redis_server):
    await connect(process, *BOTS)
    await process.tournaments.create(ADMIN, request("done", bots=BOTS[:3], system=SWISS))
    done = await play(process, name="done")
    await process.tournaments.create(ADMIN, request(bots=BOTS[:3], rounds=3, system=SWISS))
    await play(process, rounds=2)
    before = await process.tournaments.get("cup")
    await make_old(process, "done", "cup")
    async with ladder_process(redis_server.url) as other:
        for _ in range(2):
            await asyncio.gather(
                *(index_older_tournaments(each.store) for each in (process, other))
            )
    assert await process.redis.call("EXISTS", keys.TOURNAMENTS_TO_INDEX) == 0
    assert await process.tournaments.get("done") == done
    assert await process.tournaments.get("cup") == before
    assert await indexed(process) == {"playing": ["cup"], "over": ["done"], "cancelled": []}
    tournament, _ = await play(process)
    assert (tournament.state, tournament.games_played) == (OVER, 3)
    assert await process.store.tournaments.counters("cup") == await recounted(process)


# --- lists --------------------------------------------------------------------------------------


async def test_tournaments_are_listed_the_newest_first_in_pages(process):
    for name in ("one", "two", "three"):
        await process.tournaments.create(ADMIN, request(name))
        created = await process.store.games.now()
        while await process.store.games.now() == created:
            pass  # those of one millisecond are in no order
    await process.tournaments.cancel(ADMIN, "two", "")
    everything = TournamentState.TOURNAMENT_STATE_UNSPECIFIED
    first, token = await process.tournaments.list_tournaments(everything, 2, "")
    rest, last = await process.tournaments.list_tournaments(everything, 2, token)
    assert [each.name for each in [*first, *rest]] == ["three", "two", "one"]
    assert not last
    playing, _ = await process.tournaments.list_tournaments(PLAYING, 0, "")
    assert [each.name for each in playing] == ["three", "one"]
    page, token = await process.tournaments.list_tournaments(PLAYING, 1, "")
    page += (await process.tournaments.list_tournaments(PLAYING, 1, token))[0]
    assert page == playing
    strange = pagination.token("cup", "tournaments", 0)
    with pytest.raises(InvalidRequest, match="not one of this list"):
        await process.tournaments.list_tournaments(everything, 2, strange)
    with pytest.raises(InvalidRequest, match="99 is no value of state"):
        await process.tournaments.list_tournaments(99, 0, "")
    with pytest.raises(NotFound, match="there is no tournament four"):
        await process.tournaments.get("four")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"name": "Cup!"}, "small letters"),
        ({"seats": 9}, "not 9"),
        ({"rounds": 0}, "1 to 100 rounds"),
        ({"bots": (A,)}, "takes 2 to 64 bots"),
        ({"bots": (A, A)}, "named twice"),
        ({"system": 0}, "round robin or Swiss"),
        ({"patience": Duration(seconds=1), "bots": BOTS, "rounds": 101}, "1 to 100"),
    ],
)
async def test_what_cannot_be_held_is_refused(process, wrong, why):
    with pytest.raises(InvalidRequest, match=why):
        await process.tournaments.create(ADMIN, request(**wrong))


async def test_a_bot_that_does_not_exist_cannot_play(process):
    with pytest.raises(UnknownAccount):
        await process.tournaments.create(ADMIN, request(bots=(A, "eve/nobody")))
    for version in (-1, 2):
        with pytest.raises(UnknownAccount, match=f"bob/b@{version}"):
            await process.tournaments.create(ADMIN, request(bots=(A, f"{B}@{version}")))
    await process.accounts.bots.retire(OWNER, B)
    with pytest.raises(BotRetired):
        await process.tournaments.create(ADMIN, request(bots=(A, B)))
