"""An arena whose data grows, without a server, and how much work its methods do.

Work is counted, not timed: calls of functions in the event loop's thread, and what Redis replies
with. It hardly differs from one run to the next.
"""

import asyncio
import sys
from contextlib import aclosing
from dataclasses import replace

from himeji.v1 import (
    account_service_pb2 as accounts,
    game_service_pb2 as games,
    ladder_service_pb2 as ladders,
)
from himeji.v1.game_pb2 import GameResult, GameState, SeatPlan
from himeji.wire.clock import CASUAL
from himeji_server.accounts.caller import Caller, set_caller
from himeji_server.accounts.open_streams import OpenStreams
from himeji_server.games.commands import NewGame
from himeji_server.ladder.standings import Standings
from himeji_server.ladder.tournament_runner import TournamentRunner, count_result
from himeji_server.names import BotName
from himeji_server.rate_limits import ConcurrencyLimit
from himeji_server.rpc.account_service import AccountService
from himeji_server.rpc.game_service import GameService
from himeji_server.rpc.ladder_service import LadderService
from himeji_server.store.presence import Presence
from himeji_server.store.tournaments import GameRecord, Progress, ProgressState, TournamentRecord

from tests.server.ladder_process import LADDER, ladder_process

SCOPES = (accounts.SCOPE_READ, accounts.SCOPE_PLAY, accounts.SCOPE_MANAGE)
ME = Caller("me", "", frozenset(SCOPES))
MINE = "me/bot"
RIVALS = ("busy/one", "busy/two")
CUP = TournamentRecord(
    name="cup",
    title="",
    system=ladders.TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN,
    ruleset="base",
    seats=2,
    options={},
    bank=60_000,
    increment=0,
    rounds=100,
    bots=[(f"owner-{number}/bot", 1) for number in range(5)],
    patience=3_600_000,
    mark="cup",
)
ROUND = 20
"""The games of a round of the cup. With each of its rounds, so much of everything is stored."""

PAGE = 2
OTHER_OWNERS = 100
"""That are always there, since owners are read a hundred at a time."""

_BYTES_OF_A_STEP = 32
"""So many bytes of a reply count as much as a call of a function: both take about 0.1 µs."""


class WorkMeter:
    """Counts work; it is the sender of the store as well."""

    def __init__(self, sender):
        self._sender, self._steps = sender, 0

    def __getattr__(self, name):
        return getattr(self._sender, name)

    def send(self, command, receiver):
        self._sender.send(command, _MeteredReceiver(self, receiver))

    def add(self, reply):
        if isinstance(reply, list):
            for each in reply:
                self.add(each)
        self._steps += 1 + (len(reply) // _BYTES_OF_A_STEP if isinstance(reply, bytes) else 0)

    def _on_event(self, _frame, event, _argument):
        self._steps += event in {"call", "c_call"}

    async def work_of(self, call):
        """How much work a coroutine function does."""
        self._steps = 0
        sys.setprofile(self._on_event)
        try:
            await call()
        finally:
            sys.setprofile(None)
        return self._steps


class _MeteredReceiver:
    def __init__(self, meter, receiver):
        self._meter, self._receiver = meter, receiver

    def receive(self, reply):
        self._receiver.receive(reply)
        self._meter.add(reply)


class GrowingArena:
    """The services of an arena, and what is stored in it."""

    def __init__(self, process):
        self._process, self._stored = process, 0
        redis = process.redis
        self._meter = redis._sender = WorkMeter(redis.sender)
        streams = OpenStreams(process.accounts.tokens.store)
        watchers = ConcurrencyLimit("watchers", 10)
        self._services = (
            AccountService(process.accounts),
            GameService(process.use_cases, streams, watchers),
            LadderService(process.parts, streams, watchers),
        )
        self._game_id = ""

    # --- what is stored -------------------------------------------------------------------------

    async def open(self):
        """Store what is the caller's own, which does not grow."""
        process = self._process
        for bot in (MINE, *RIVALS):
            await self._add_account(bot)
        others = [f"other-{number}/bot" for number in range(OTHER_OWNERS)]
        await asyncio.gather(*map(self._add_account, others))
        self._game_id = await self._create_game()
        await self._enter_and_seat(MINE, self._game_id)
        await Presence(process.redis).add_game(MINE, self._game_id)
        await process.store.tournaments.create(CUP, 1)

    async def grow(self, rounds):
        """Let others store so much that so many rounds of the cup are over."""
        numbers = range(self._stored, rounds * ROUND)
        self._stored = rounds * ROUND
        await asyncio.gather(*(self._add_account(f"owner-{number}/bot") for number in numbers))
        await asyncio.gather(*(self._create_game() for _ in numbers))
        for number in numbers:
            await self._rate(number)
            await self._enter_and_seat(f"owner-{number}/bot", f"seated-{number}")
            await self._hold_tournament(number)
            await self._play_cup(number)
        tournaments = self._process.store.tournaments
        version = (await tournaments.head("cup")).version
        assert await tournaments.save_progress(CUP, version, Progress(round=rounds + 1))

    async def _add_account(self, bot):
        await self._process.create_owner(bot)
        await self._process.accounts.bots.ensure(BotName(*bot.split("/")))

    async def _create_game(self):
        new = NewGame("base", {}, (SeatPlan(),) * 2, CASUAL, 3)
        return (await self._process.use_cases._commands.create(new)).game_id

    async def _enter_and_seat(self, bot, game_id):
        queues = self._process.store.queues
        ticket = await queues.enter(LADDER, bot, 1, 1)
        await queues.seat(LADDER, game_id, [ticket], answer_ms=1, pair_cap=1, day="")

    async def _rate(self, number):
        store = self._process.store.standings
        rated = ladders.RatedResult(game_id=f"rated-{number}", ladder=LADDER)
        for seat, bot in enumerate((f"owner-{number}/bot", "busy/one")):
            rated.seats.add(bot=bot, bot_version=1)
            rated.result.seats.add(rank=1 + seat)
        rows = {row.name: row.to_json() for row in Standings({}, {}).apply(rated)}
        rated.seats[0].bot = "busy/two"
        entry, head = rated.SerializeToString(), await store.head(LADDER)
        await store.rate(LADDER, head, rated.game_id, entry=entry, rows=rows, bots=RIVALS)

    async def _hold_tournament(self, number):
        tournaments = self._process.store.tournaments
        record = replace(CUP, name=f"over-{number}", mark="")
        record = await tournaments.create(record, 2 + number)
        await tournaments.save_progress(record, 0, Progress(ProgressState.OVER))

    async def _play_cup(self, number):
        tournaments, result = self._process.store.tournaments, GameResult()
        for seat in range(2):
            result.seats.add(seat=seat, rank=1 + seat)
        bots = tuple(bot for bot, _ in CUP.bots[:2])
        game = GameRecord(f"cup-{number}", result=result.SerializeToString().hex())
        version = (await tournaments.head("cup")).version
        place = (1 + number // ROUND, number % ROUND)
        counted = count_result(bots, game.result)
        assert await tournaments.save_game("cup", version, place, game, counted)

    # --- what it costs --------------------------------------------------------------------------

    async def costs(self):
        """The work of each call, by its name, when what can be cached is."""
        set_caller(ME)
        runner, calls = self._process.runner, {}
        now = await self._process.store.games.now()
        calls["a step of a running tournament"] = lambda: _step(runner, now)
        calls["a step of a tournament in a process that has just become the leader"] = lambda: (
            _step(TournamentRunner(self._process.store, self._process.use_cases), now)
        )
        for name, request in self.requests():
            calls[name] = lambda name=name, request=request: self._call(name, request)
        found = {}
        for name, call in calls.items():
            await call()
            found[name] = min([await self._meter.work_of(call) for _ in range(2)])
        return found

    async def _call(self, name, request):
        method = name.partition(":")[0]
        handler = next(filter(None, (getattr(each, method, None) for each in self._services)))
        answer = handler(request, None)
        if not hasattr(answer, "__anext__"):
            return await answer
        async with aclosing(answer) as stream:
            return await anext(stream)

    def requests(self):
        """Requests of somebody who has next to nothing, by method and what it asks for."""
        page, game = {"page_size": PAGE}, {"game_id": self._game_id}
        playing = ladders.TournamentState.TOURNAMENT_STATE_PLAYING
        over = ladders.TournamentState.TOURNAMENT_STATE_OVER
        return [
            ("GetOwner", accounts.GetOwnerRequest(owner="owner-1")),
            ("ListOwners", accounts.ListOwnersRequest(**page)),
            ("GetBot", accounts.GetBotRequest(bot="owner-1/bot")),
            ("ListBots", accounts.ListBotsRequest(**page)),
            ("ListBots: of one owner", accounts.ListBotsRequest(owner="owner-1", **page)),
            ("ListBotVersions", accounts.ListBotVersionsRequest(bot=MINE, **page)),
            ("ListTokens", accounts.ListTokensRequest(**page)),
            ("GetGame", games.GetGameRequest(**game)),
            ("ListGames", games.ListGamesRequest(**page)),
            ("ListGames: joinable", games.ListGamesRequest(joinable=True, **page)),
            (
                "ListGames: of a bot",
                games.ListGamesRequest(bot=MINE, state=GameState.GAME_STATE_WAITING, **page),
            ),
            ("ListLadders", ladders.ListLaddersRequest(**page)),
            ("GetLadder", ladders.GetLadderRequest(ladder=LADDER)),
            ("ListTickets", ladders.ListTicketsRequest(**page)),
            ("LeaveLadder", ladders.LeaveLadderRequest(bot=MINE, ladder="base-3p")),
            ("GetStandings", ladders.GetStandingsRequest(ladder=LADDER, **page)),
            ("GetHistory", ladders.GetHistoryRequest(bot=RIVALS[0], **page)),
            (
                "GetHeadToHead",
                ladders.GetHeadToHeadRequest(bot=RIVALS[0], opponent=RIVALS[1]),
            ),
            (
                "WatchResults",
                ladders.WatchResultsRequest(ladder=LADDER, after_sequence=self._stored - 1),
            ),
            ("ListSeasons", ladders.ListSeasonsRequest(ladder=LADDER, **page)),
            ("GetTournament", ladders.GetTournamentRequest(tournament="cup")),
            ("ListTournaments", ladders.ListTournamentsRequest(**page)),
            ("ListTournaments: playing", ladders.ListTournamentsRequest(state=playing, **page)),
            ("ListTournaments: over", ladders.ListTournamentsRequest(state=over, **page)),
        ]


async def _step(runner, now):
    runner._last_run = 0
    await runner.run_once(now)


async def measure_growth(url):
    """By its name, how much more each call costs when there is ten times as much."""
    async with ladder_process(url) as process:
        arena = GrowingArena(process)
        await arena.open()
        await arena.grow(1)
        before = await arena.costs()
        await arena.grow(10)
        after = await arena.costs()
        return {name: after[name] / before[name] for name in before}
