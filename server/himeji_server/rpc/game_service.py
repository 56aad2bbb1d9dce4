"""GameService: games by unary calls, and spectators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing
from typing import Any, Final

import himeji
from himeji.rules.errors import HimejiError, InvalidRequest, LimitExceeded, Refused, UnknownAction
from himeji.v1.game_pb2 import Decision, Game, GameState
from himeji.v1.game_service_pb2 import (
    CancelGameRequest,
    CancelGameResponse,
    CreateGameRequest,
    CreateGameResponse,
    GetDecisionRequest,
    GetDecisionResponse,
    GetGameRequest,
    GetGameResponse,
    GetReplayRequest,
    GetReplayResponse,
    JoinGameRequest,
    JoinGameResponse,
    ListGamesRequest,
    ListGamesResponse,
    ResignRequest,
    ResignResponse,
    SubmitActionsRequest,
    SubmitActionsResponse,
    WatchGameRequest,
    WatchGameResponse,
)
from himeji.wire.chain import ChainEntry
from himeji.wire.clock import CASUAL, Clock
from himeji.wire.errors import STATUS_CODES, STATUS_DETAILS, to_status

from himeji_server import metrics, pagination
from himeji_server.accounts.caller import current_caller
from himeji_server.accounts.open_streams import OpenStreams
from himeji_server.games.commands import NewGame
from himeji_server.games.live_game import GameView
from himeji_server.games.messages import (
    STATES,
    event_count,
    game_message,
    game_over_message,
    replay_message,
    write_accepted,
    write_decision,
)
from himeji_server.games.rejections import refused_answer
from himeji_server.games.seat_rules import is_asked, seats_of
from himeji_server.games.use_cases import (
    STANDARD_STRIKES,
    GameFilter,
    GameUseCases,
)
from himeji_server.play.spectator import Spectator
from himeji_server.play.stream_end import StreamEnd
from himeji_server.processor_shares import pause
from himeji_server.rate_limits import ConcurrencyLimit
from himeji_server.store.game_records import OVER
from himeji_server.tasks import in_slices

SERVICE: Final = "himeji.v1.GameService"
MOST_DETAIL_BYTES: Final = 3_000  # gRPC drops trailing metadata over 8 kB

# ruff: noqa: N802 - methods have the contract's names


class GameService:
    """Three lines a method: decode, one use case, encode."""

    def __init__(
        self, use_cases: GameUseCases, streams: OpenStreams, watchers: ConcurrencyLimit
    ) -> None:
        """`watchers` limits the streams of an owner, together with those of other services."""
        self._use_cases = use_cases
        self._streams = streams
        self._watchers = watchers

    async def CreateGame(self, request: CreateGameRequest, _context: Any) -> CreateGameResponse:
        new = _new_game(request)
        view = await self._use_cases.create(current_caller(), new, request.request_id)
        return CreateGameResponse(game=await self._game(view))

    async def JoinGame(self, request: JoinGameRequest, _context: Any) -> JoinGameResponse:
        player = await self._use_cases.player(current_caller(), request.bot, request.bot_version)
        seat = request.seat if request.HasField("seat") else None
        view, taken = await self._use_cases.join(
            player, request.game_id, seat, request.entropy, request.request_id
        )
        return JoinGameResponse(game=await self._game(view), seat=taken)

    async def GetDecision(self, request: GetDecisionRequest, _context: Any) -> GetDecisionResponse:
        caller, seat = current_caller(), request.seat if request.HasField("seat") else None
        wait = request.wait.ToMilliseconds() / 1000
        view = await self._use_cases.wait(caller, request.game_id, seat, wait)
        out = GetDecisionResponse(version=view.stored.version)
        if view.stored.state == OVER:
            seat = next(iter(seats_of(view, caller)), None) if seat is None else seat
            over = game_over_message(view, seat, event_count(request), request.wants)
            out.game_over.CopyFrom(over)
        elif is_asked(view, caller, seat):
            out.decision.CopyFrom(self._decision(view, request))
        return out

    async def SubmitActions(
        self, request: SubmitActionsRequest, context: Any
    ) -> SubmitActionsResponse:
        caller = current_caller()
        try:
            view, receipt = await self._use_cases.submit_and_wait(
                caller, request.game_id, request.decision_id, request.actions
            )
        except (Refused, UnknownAction) as error:
            await self._refuse(request, error, context)
            raise
        out = SubmitActionsResponse()
        write_accepted(out.accepted, view, receipt)
        if view.stored.state == OVER:
            seat = ChainEntry.parse(receipt.entry.text).seat
            over = game_over_message(view, seat, event_count(request), request.wants)
            out.game_over.CopyFrom(over)
        elif is_asked(view, caller):
            out.decision.CopyFrom(self._decision(view, request))
        return out

    async def _refuse(
        self, request: SubmitActionsRequest, error: HimejiError, context: Any
    ) -> None:
        """End the call with the error's status and, in its details, a Rejected as on the stream."""
        view = await self._use_cases.view(request.game_id)
        refused = refused_answer(
            error,
            view,
            seats_of(view, current_caller()),
            request.decision_id,
            lambda: self._decision(view, request),
        )
        if refused.ByteSize() > MOST_DETAIL_BYTES:
            refused.ClearField("current")  # GetDecision has it
        status = to_status(error)
        status.details.add().Pack(refused)
        metadata = ((STATUS_DETAILS, status.SerializeToString()),)
        await context.abort(STATUS_CODES[type(error)], status.message, metadata)

    async def Resign(self, request: ResignRequest, _context: Any) -> ResignResponse:
        seat = request.seat if request.HasField("seat") else None
        view = await self._use_cases.resign(current_caller(), request.game_id, seat)
        return ResignResponse(game=await self._game(view))

    async def CancelGame(self, request: CancelGameRequest, _context: Any) -> CancelGameResponse:
        view = await self._use_cases.cancel_own(
            current_caller(), request.game_id, request.request_id
        )
        return CancelGameResponse(game=await self._game(view))

    async def GetGame(self, request: GetGameRequest, _context: Any) -> GetGameResponse:
        view = await self._use_cases.view_in_turn(request.game_id)
        return GetGameResponse(game=await self._game(view))

    async def ListGames(self, request: ListGamesRequest, _context: Any) -> ListGamesResponse:
        pagination.check_filter(request.state, GameState.values(), "state")
        states = {wire: state for state, wire in STATES.items()}
        wanted = GameFilter(
            state=states.get(request.state, ""),
            ruleset=request.ruleset,
            ladder=request.ladder,
            tournament=request.tournament,
            bot=request.bot,
            owner=request.owner,
            joinable=request.joinable,
        )
        views, token = await self._use_cases.list_games(
            current_caller(), wanted, request.page_size, request.page_token
        )
        connected = await self._use_cases.connected(*views)
        messages = (game_message(view, connected.__contains__) for view in views)
        games = [message async for message in in_slices(messages)]
        return ListGamesResponse(games=games, next_page_token=token)

    async def GetReplay(self, request: GetReplayRequest, _context: Any) -> GetReplayResponse:
        view = await self._use_cases.view_in_turn(request.game_id)
        await pause()
        return GetReplayResponse(replay=replay_message(view, himeji.__version__))

    async def WatchGame(
        self, request: WatchGameRequest, _context: Any
    ) -> AsyncIterator[WatchGameResponse]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self._watchers.slot(current_caller().limit_key))
            except LimitExceeded as error:
                yield WatchGameResponse(stream_end=StreamEnd.by(error).to_message())
                raise
            stack.enter_context(metrics.WATCH_STREAMS.track_inprogress())
            ended = stack.enter_context(self._streams.register(current_caller()))
            async with aclosing(Spectator(self._use_cases, request, ended).run()) as messages:
                async for message in messages:
                    yield message

    async def _game(self, view: GameView) -> Game:
        return game_message(view, (await self._use_cases.connected(view)).__contains__)

    def _decision(
        self, view: GameView, request: GetDecisionRequest | SubmitActionsRequest
    ) -> Decision:
        out, now = Decision(), self._use_cases.now()
        write_decision(out, view, event_count(request), request.wants, now)
        return out


def _new_game(request: CreateGameRequest) -> NewGame:
    """What the request asks for; raises InvalidRequest."""
    clock: Clock | None = CASUAL
    if request.untimed and request.HasField("clock"):
        raise InvalidRequest("an untimed game has no clock", {"field": "clock"})
    if request.untimed:
        clock = None
    elif request.HasField("clock"):
        clock = Clock.from_message(request.clock)
    return NewGame(
        ruleset=request.ruleset,
        options={option.name: option.value for option in request.options},
        plans=tuple(request.seats),
        clock=clock,
        strike_limit=request.strike_limit or STANDARD_STRIKES,
    )
