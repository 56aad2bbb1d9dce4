"""Answers to the requests of one stream: every request gets one, and so many are at work at once.

An Act that nothing stands in the way of is played and sent to the store as it is read; whatever
has to wait for more than its commit gets a task of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Final, ParamSpec

from himeji.rules.errors import (
    HimejiError,
    InternalFault,
    LimitExceeded,
    NotFound,
    StoreUnavailable,
)
from himeji.v1.play_service_pb2 import PlayRequest, PlayResponse, Rejected

from himeji_server.games.client_errors import as_error
from himeji_server.games.live_game import LiveGame
from himeji_server.games.receipts import Receipt
from himeji_server.games.rejections import refused_answer, rejection
from himeji_server.games.use_cases import GameUseCases, Player
from himeji_server.ladder.stream import REQUESTS, LadderStream
from himeji_server.play.game_feed import seat_lost
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.play.subscriptions import Subscriptions
from himeji_server.rate_limits import TokenBucket, check_actions
from himeji_server.store.game_records import CommitReply

_P = ParamSpec("_P")
_ABOUT_NO_DECISION: Final = (InternalFault, LimitExceeded, NotFound, StoreUnavailable)


class Dispatcher:
    """The requests of one stream."""

    def __init__(
        self,
        use_cases: GameUseCases,
        ladder: LadderStream,
        player: Player,
        subscriptions: Subscriptions,
        writer: StreamWriter,
    ) -> None:
        self._use_cases, self._ladder, self._bot = use_cases, ladder, player.bot
        self._subscriptions, self._writer = subscriptions, writer
        limits = writer.limits
        self._rate = TokenBucket(
            "requests_per_second", limits.requests_per_second, limits.requests_at_once
        )
        self._at_work = asyncio.Semaphore(limits.requests_at_work)

    async def read(self, requests: AsyncIterator[PlayRequest]) -> None:
        """Answer requests as they come; the end of the client's side ends the stream."""
        async for message in requests:
            for request in (message, *message.more):
                fault = self._fault(request, message)
                if fault:
                    self._writer.close(StreamEnd.protocol_error(fault))
                    return
                await self._at_work.acquire()
                self._begin(request)
        for _ in range(self._writer.limits.requests_at_work):  # all at work get their answers
            await self._at_work.acquire()
        self._writer.close(StreamEnd.goodbye())

    def _fault(self, request: PlayRequest, message: PlayRequest) -> str:
        """What is wrong with a request as such, "" if nothing is."""
        if request.WhichOneof("body") not in self._handlers:
            return "a request has to say something, and Hello once"
        if request is not message and request.more:
            return "what comes as more has no more itself"
        return ""

    def _begin(self, request: PlayRequest) -> None:
        try:
            self._rate.take()
            if not request.HasField("act") or not self._act_at_once(request):
                self._work(self._answer, request)
        except Exception as raised:  # noqa: BLE001 - every request is answered
            self._work(self._refuse, request, raised)

    def _act_at_once(self, request: PlayRequest) -> bool:
        """Begin to answer an Act, if only its commit has to be waited for."""
        act = request.act
        check_actions(len(act.actions))

        def then(outcome: CommitReply | Exception) -> None:
            if isinstance(outcome, Exception):
                self._work(self._refuse, request, outcome)
            elif outcome.ok:
                self._at_work.release()
            else:
                self._work(self._answer, request)

        accepted = partial(self._accept, request.request_id)
        return self._use_cases.commands.act_at_once(
            act.game_id, self._bot, act.decision_id, act.actions, accepted, then=then
        )

    def _work(
        self, part: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        """Go on with a request in a task of its own, to its end."""
        task = self._writer.start(part, *args, **kwargs)
        task.add_done_callback(lambda _task: self._at_work.release())

    async def _answer(self, request: PlayRequest) -> None:
        try:
            await self._handlers[request.WhichOneof("body") or ""](self, request)
        except Exception as raised:  # noqa: BLE001 - every request is answered
            await self._refuse(request, raised)

    async def _refuse(self, request: PlayRequest, raised: Exception) -> None:
        rejected = await self._rejected(request, as_error(raised, "Play"))
        self._writer.tell(PlayResponse(request_id=request.request_id, rejected=rejected))

    def _accept(self, request_id: str, view: LiveGame, receipt: Receipt) -> None:
        self._writer.tell(self._subscriptions.accepted(request_id, view, receipt))

    async def _act(self, request: PlayRequest) -> None:
        act, accepted = request.act, partial(self._accept, request.request_id)
        await self._use_cases.commands.act(
            act.game_id, self._bot, act.decision_id, act.actions, accepted
        )

    async def _resign(self, request: PlayRequest) -> None:
        game_id, seat = request.resign.game_id, request.resign.seat
        wanted = seat if request.resign.HasField("seat") else None
        mine = (await self._use_cases.view(game_id)).seats_of(self._bot)
        given_up = self._subscriptions.given_up(game_id)
        before = set(given_up)
        given_up.update(each for each in mine if wanted in (None, each))
        try:
            view = await self._use_cases.commands.resign(game_id, self._bot, wanted)
        except HimejiError:
            given_up.intersection_update(before)
            raise
        self._subscriptions.resumed.pop(game_id, None)
        if not view.seats_of(self._bot):
            self._subscriptions.decline(game_id)
        notice = seat_lost(view, [*mine, 0][0] if wanted is None else wanted)
        self._writer.tell(PlayResponse(request_id=request.request_id, notice=notice))

    async def _of_ladder(self, request: PlayRequest) -> None:
        notice = await self._ladder.answer(request)
        self._writer.tell(PlayResponse(request_id=request.request_id, notice=notice))

    async def _rejected(self, request: PlayRequest, error: HimejiError) -> Rejected:
        act = request.act
        out = rejection(error, act.game_id or request.resign.game_id or request.ready.game_id)
        out.decision_id = act.decision_id
        out.ladder = request.enter.ladder or request.leave.ladder
        if not act.game_id or isinstance(error, _ABOUT_NO_DECISION):
            return out
        try:
            view = await self._use_cases.view(act.game_id)
        except HimejiError:
            return out  # what is known already has to do
        seats = view.seats_of(self._bot)
        current = partial(self._subscriptions.decision, view)
        return refused_answer(error, view, seats, act.decision_id, current)

    _handlers: Final[Mapping[str, Callable[[Dispatcher, PlayRequest], Awaitable[None]]]] = {
        "act": _act,
        "resign": _resign,
        **dict.fromkeys(REQUESTS, _of_ladder),
    }
