"""Valid requests of every kind that could cost much, and an arena that is full enough for them."""

import asyncio
import random
from dataclasses import dataclass, field

import grpc
from himeji import rules
from himeji.v1 import (
    account_service_pb2 as accounts,
    admin_service_pb2 as admin,
    game_pb2,
    game_service_pb2 as games,
    ladder_service_pb2 as ladders,
    play_service_pb2 as play,
    rules_service_pb2,
)
from himeji.wire.positions import to_position
from himeji_server.ladder.standings import Standings, StandingsRow
from himeji_server.limits import Limits
from himeji_server.store import Store
from himeji_server.store.ladder import LadderStore

from tests.server.largest_requests import largest, request_types

LADDER = "base-2p"
WANTS = tuple(game_pb2.Want.values())
PAGE = 500
_GAMES, _RULES = "/himeji.v1.GameService/", "/himeji.v1.RulesService/"
_LADDERS, _ACCOUNTS = "/himeji.v1.LadderService/", "/himeji.v1.AccountService/"
_STREAMED = ("Watch", "WatchGame", "WatchResults", "RecomputeStandings")
_BY_STREAM = ("Play", "ServerReflectionInfo")


@dataclass
class Request:
    """A message for a method, and what it is."""

    path: str
    message: object
    title: str = ""
    admin: bool = False

    @property
    def name(self):
        return f"{self.path.rpartition('/')[2]}: {self.title or 'every field at its limit'}"


@dataclass
class Caller:
    """Sends requests to a watched arena, and waits until they are answered."""

    arena: object
    channel: grpc.aio.Channel
    codes: dict = field(default_factory=dict)

    async def send(self, request):
        """Send a request and read the first answer; returns the name of its status."""
        metadata = self.arena.admin_metadata if request.admin else self.arena.metadata
        raw = request.message.SerializeToString()
        method = request.path.rpartition("/")[2]
        try:
            if method in _BY_STREAM:
                await self._stream(request, raw, metadata)
            elif method in _STREAMED:
                call = self.channel.unary_stream(request.path)(raw, metadata=metadata, timeout=60)
                await call.read()
                call.cancel()
            else:
                await self.channel.unary_unary(request.path)(raw, metadata=metadata, timeout=60)
        except grpc.RpcError as error:
            return error.code().name
        return "OK"

    async def _stream(self, request, raw, metadata):
        """Send one message, and read until every message in it is answered."""
        call = self.channel.stream_stream(request.path)(metadata=metadata, timeout=60)
        waits = 1
        if isinstance(request.message, play.PlayRequest) and request.title:
            hello = request.message.messages[0].hello
            waits = 1 + len(hello.resume)
            if not request.message.messages[0].HasField("hello"):
                waits = 1 + len(request.message.messages)
                first = play.ClientMessage(hello=play.Hello(protocol_version=1, bot="local/play"))
                await call.write(play.PlayRequest(messages=[first]).SerializeToString())
        await call.write(raw)
        while waits > 0 and (answer := await call.read()) is not grpc.aio.EOF:
            waits -= len(play.PlayResponse.FromString(answer).messages) if request.title else 1
        call.cancel()


async def fill(arena, channel, count):
    """Make as many bots, games, rows and results, and a game that is over; returns its id."""
    caller = Caller(arena, channel)

    async def call(path, message, **more):
        return await caller.send(Request(path, message, **more))

    for first in range(0, count, 50):
        numbers = range(first, min(first + 50, count))
        bots = [accounts.CreateBotRequest(bot=f"local/bot-{n}") for n in numbers]
        await asyncio.gather(*(call(_ACCOUNTS + "CreateBot", each) for each in bots))
        seats = [game_pb2.SeatPlan()] * 4
        new = games.CreateGameRequest(ruleset="base", seats=seats)
        await asyncio.gather(*(call(_GAMES + "CreateGame", new) for _ in numbers))
    store = await Store.connect(arena.redis)
    try:
        await rate_games(LadderStore(store), count)
    finally:
        await store.close()
    return await play_game(arena, channel)


async def rate_games(store, count):
    """Write so many results of two bots, and a row for each of so many others."""
    rows = {}
    for number in range(2 * count):
        other = "local/bot-1" if number < count else f"local/bot-{number - count}"
        rated = ladders.RatedResult(game_id=f"rated-{number}", ladder=LADDER)
        for seat, bot in enumerate(("local/bot-0", other if other != "local/bot-0" else "l/o")):
            rated.seats.add(bot=bot, bot_version=1)
            rated.result.seats.add(rank=1 + seat, score=40)
        standings = Standings(rows, {})
        changed = standings.apply(rated)
        rows |= {each.name: each for each in changed}
        head = await store.standings.head(LADDER)
        await store.standings.rate(
            LADDER,
            head,
            rated.game_id,
            entry=rated.SerializeToString(),
            rows={each.name: StandingsRow.to_json(each) for each in changed},
            bots=[each.bot for each in rated.seats],
        )


async def play_game(arena, channel):
    """Play a long game to its end by unary calls; its id."""

    async def call(method, request):
        raw = await channel.unary_unary(_GAMES + method)(
            request.SerializeToString(), metadata=arena.metadata, timeout=60
        )
        return getattr(games, f"{method}Response").FromString(raw)

    new = games.CreateGameRequest(ruleset="matcha", seats=[game_pb2.SeatPlan()] * 4, untimed=True)
    game_id = (await call("CreateGame", new)).game.game_id
    for _ in range(4):
        await call("JoinGame", games.JoinGameRequest(game_id=game_id, bot="local/bot-0"))
    answer = await call("GetDecision", games.GetDecisionRequest(game_id=game_id))
    chance = random.Random(1)
    while answer.HasField("decision"):
        action = chance.choice(answer.decision.legal_actions)
        request = games.SubmitActionsRequest(
            game_id=game_id, decision_id=answer.decision.decision_id, actions=[action]
        )
        answer = await call("SubmitActions", request)
    return game_id


def whole_game():
    """A position and the actions that play it to the end."""
    game, chance = rules.new_game("matcha", 4, seed=1), random.Random(1)
    position, actions = to_position(game), []
    while not game.over:
        actions.append(chance.choice(game.legal()))
        game.apply(actions[-1])
    return position, actions


def apply_actions(count, title):
    position, actions = whole_game()
    message = rules_service_pb2.ApplyActionsRequest(
        position=position, seed=1, actions=actions[:count], wants=WANTS
    )
    return Request(_RULES + "ApplyActions", message, title)


def baseline():
    """The longest request that the event loop runs by itself, by design."""
    return apply_actions(Limits.inline_actions, f"{Limits.inline_actions} actions")


def filled_requests():
    """The largest message of every method, with every field at its limit: most are refused."""
    return [
        Request(path, largest(descriptor), admin="Admin" in path)
        for path, descriptor in request_types().items()
        if not path.endswith("/Play")  # beyond its bytes; valid ones are below
    ]


def valid_requests(game_id, count):
    """Requests that are as dear as valid ones can be."""
    history = ladders.GetHistoryRequest(bot="local/bot-0", page_size=PAGE)
    pair = ladders.GetHeadToHeadRequest(bot="local/bot-0", opponent="local/bot-1")
    table = ladders.GetStandingsRequest(ladder=LADDER, page_size=PAGE)
    resumed = [play.Resume(game_id=f"{n:020}") for n in range(Limits.resumed_games)]
    hello = play.Hello(protocol_version=1, bot="local/play", wants=WANTS, resume=resumed)
    act = play.ClientMessage(act=play.Act(game_id="none", decision_id=1, actions=[1] * 20))
    acts = [act] * Limits.batch_messages
    entries = [ladders.TournamentEntry(bot=f"local/bot-{n}") for n in range(min(64, count))]
    tournament = ladders.CreateTournamentRequest(
        tournament="all", ruleset="base", seats=2, rounds=1, entries=entries, system=2
    )
    replay = games.GetReplayRequest(game_id=game_id)
    over = games.GetDecisionRequest(game_id=game_id, wants=WANTS)
    page = {"page_size": PAGE}
    return [
        apply_actions(1_000, "a whole game"),
        *(
            Request(_RULES + "GetRuleset", rules_service_pb2.GetRulesetRequest(ruleset=name), name)
            for name in rules.RULESETS
        ),
        Request(_GAMES + "GetReplay", replay, "a long game"),
        Request(_GAMES + "GetDecision", over, "all events of a long game"),
        Request(_GAMES + "WatchGame", games.WatchGameRequest(game_id=game_id), "a long game"),
        Request(_GAMES + "ListGames", games.ListGamesRequest(**page), "a large page"),
        Request(_ACCOUNTS + "ListBots", accounts.ListBotsRequest(**page), "a large page"),
        Request(_LADDERS + "GetHistory", history, "a large page"),
        Request(_LADDERS + "GetHeadToHead", pair, f"{count} games"),
        Request(_LADDERS + "GetStandings", table, f"{count} rows"),
        Request(_LADDERS + "ListTickets", ladders.ListTicketsRequest(**page), "a large page"),
        Request(_LADDERS + "CreateTournament", tournament, "64 bots", admin=True),
        Request(
            _LADDERS + "GetTournament",
            ladders.GetTournamentRequest(tournament="all"),
            "64 bots",
        ),
        Request(
            "/himeji.v1.AdminService/ListAuditEntries",
            admin.ListAuditEntriesRequest(**page),
            "a large page",
            admin=True,
        ),
        Request(
            "/himeji.v1.PlayService/Play",
            play.PlayRequest(messages=[play.ClientMessage(hello=hello)]),
            f"a Hello that resumes {len(resumed)} games",
        ),
        Request(
            "/himeji.v1.PlayService/Play",
            play.PlayRequest(messages=acts),
            f"a batch of {len(acts)} Acts",
        ),
    ]
