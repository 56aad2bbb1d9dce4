"""Tournaments on a real Redis: they play to their end, whoever dies, and whoever does not come."""

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
from himeji_server.accounts.caller import Caller
from himeji_server.games.use_cases import Player
from himeji_server.ladder import tournament_runner
from himeji_server.names import BotName

from tests.server.ladder_process import ADMIN, ladder_process

A, B, C, D = BOTS = ("ann/a", "bob/b", "cyd/c", "dan/d")
OWNER = Caller("bob", "t", frozenset({SCOPE_MANAGE}))
ROBIN = TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN
SWISS = TournamentSystem.TOURNAMENT_SYSTEM_SWISS
PLAYING = TournamentState.TOURNAMENT_STATE_PLAYING
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


async def running(process, name="cup"):
    games = await process.store.tournaments.games(name)
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
    games = await process.store.tournaments.games("cup")
    assert all(game.attempt >= 1 for game in games.values())


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
