"""Dispatches the requests of one stream: each is answered, and few are handled at a time.

An Act is handed to the use case as it is read and needs no task (see games/submission.py); every
other request gets a task of its own.
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
    Unsupported,
)
from himeji.v1.play_service_pb2 import ClientMessage, PlayRequest, Rejected, ServerMessage

from himeji_server.accounts.caller import Caller
from himeji_server.games.answers import Answer, Receipt
from himeji_server.games.client_errors import as_error
from himeji_server.games.live_game import GameView
from himeji_server.games.rejections import refused_answer, rejection
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.stream import REQUESTS, LadderStream
from himeji_server.play.request_slots import OwnerSlots
from himeji_server.play.stream_end import StreamEnd
from himeji_server.play.stream_writer import StreamWriter
from himeji_server.play.subscriptions import Subscriptions, seat_lost
from himeji_server.rate_limits import TokenBucket
from himeji_server.request_limits import check_fields

_WITHOUT_DECISION: Final = (InternalFault, LimitExceeded, NotFound, StoreUnavailable)
"""Errors that say nothing about the decision: the game need not be looked up for them."""

_P = ParamSpec("_P")


class _StreamAnswer(Answer):
    """An Act of the stream; its place among the requests at work is free when it is answered."""

    __slots__ = ("_dispatcher", "_request")

    def __init__(self, dispatcher: Dispatcher, request: ClientMessage) -> None:
        act = request.act
        super().__init__(act.game_id, dispatcher.bot, act.decision_id, act.actions)
        self._dispatcher = dispatcher
        self._request = request

    def accepted(self, view: GameView, receipt: Receipt) -> None:
        self._dispatcher.accept(self._request, view, receipt)

    def rejected(self, error: Exception) -> None:
        self._dispatcher.reject(self._request, error)


class Dispatcher:
    """The requests of one stream."""

    def __init__(  # noqa: PLR0913 - what it needs, each once
        self,
        use_cases: GameUseCases,
        ladder: LadderStream,
        caller: Caller,
        subscriptions: Subscriptions,
        writer: StreamWriter,
        *,
        slots: OwnerSlots,
    ) -> None:
        """`caller` opened the stream, and acts for the stream's bot alone."""
        self.bot = caller.bot
        self._use_cases, self._ladder, self._caller = use_cases, ladder, caller
        self._subscriptions, self._writer = subscriptions, writer
        limits = writer.limits
        self._rate = None
        if not caller.is_administrator:
            self._rate = TokenBucket(
                "requests_per_second", limits.requests_per_second, limits.requests_at_once
            )
        self._at_work = asyncio.Semaphore(limits.requests_at_work)
        self._slots = slots
        self._check = check_fields(ClientMessage.DESCRIPTOR, limits)

    async def read(self, requests: AsyncIterator[PlayRequest]) -> None:
        """Dispatch requests as they come; the end of the client's side ends the stream."""
        await asyncio.sleep(self._slots.debt_seconds())
        async for batch in requests:
            if not batch.messages:
                self._writer.close(StreamEnd.protocol_error("a batch has at least one message"))
                return
            for request in batch.messages:
                if request.HasField("hello"):
                    self._writer.close(StreamEnd.protocol_error("Hello comes once"))
                    return
                await self._at_work.acquire()
                await self._slots.acquire()
                self._dispatch(request)
        for _ in range(self._writer.limits.requests_at_work):  # wait for all that are at work
            await self._at_work.acquire()
        self._writer.close(StreamEnd.goodbye())

    def _dispatch(self, request: ClientMessage) -> None:
        try:
            if self._rate is not None:
                self._rate.acquire()
            self._check(request)
            if request.HasField("act"):
                self._use_cases.submit(_StreamAnswer(self, request))
            elif request.WhichOneof("body") in self._handlers:
                self._start(self._handle, request)
            else:  # empty, or with a member of a newer contract
                self.reject(request, Unsupported("this server knows no member of this message"))
        except Exception as raised:  # noqa: BLE001 - every request is answered
            self.reject(request, raised)

    async def _handle(self, request: ClientMessage) -> None:
        try:
            await self._handlers[request.WhichOneof("body") or ""](self, request)
        except Exception as raised:  # noqa: BLE001 - every request is answered
            await self._reject(request, as_error(raised, "Play"))
        else:
            await asyncio.sleep(self._slots.delay())

    def _start(
        self, work: Callable[_P, Coroutine[None, None, None]], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        """Do something for a request whose place becomes free when it is done."""
        task = self._writer.start(work, *args, **kwargs)
        task.add_done_callback(lambda _task: self._release())

    def _release(self) -> None:
        self._at_work.release()
        self._slots.release()

    # --- what becomes of requests ---------------------------------------------------------------

    def accept(self, request: ClientMessage, view: GameView, receipt: Receipt) -> None:
        """Answer an Act that stands."""
        self._writer.send(self._subscriptions.accepted(request.request_id, view, receipt))
        if receipt.duplicate:
            self._start(asyncio.sleep, self._slots.delay())
        else:
            self._release()

    def reject(self, request: ClientMessage, error: Exception) -> None:
        """Answer a request that is refused, in a task of its own: the game may have to be read."""
        self._start(self._reject, request, as_error(error, "Play"))

    async def _reject(self, request: ClientMessage, error: HimejiError) -> None:
        rejected = await self._rejected(request, error)
        self._writer.send(ServerMessage(request_id=request.request_id, rejected=rejected))
        await asyncio.sleep(self._slots.delay())

    async def _rejected(self, request: ClientMessage, error: HimejiError) -> Rejected:
        act = request.act
        out = rejection(error, act.game_id or request.resign.game_id or request.ready.game_id)
        out.decision_id = act.decision_id
        out.ladder = request.enter.ladder or request.leave.ladder
        if not act.game_id or isinstance(error, _WITHOUT_DECISION):
            return out
        try:
            view = await self._use_cases.view(act.game_id)
        except HimejiError:
            return out  # without what only the game could add
        current = partial(self._subscriptions.decision, view)
        return refused_answer(error, view, view.seats_of(self.bot), act.decision_id, current)

    # --- handlers -------------------------------------------------------------------------------

    async def _resign(self, request: ClientMessage) -> None:
        game_id, seat = request.resign.game_id, request.resign.seat
        wanted = seat if request.resign.HasField("seat") else None
        mine = (await self._use_cases.view(game_id)).seats_of(self.bot)
        given_up = self._subscriptions.given_up(game_id)
        before = set(given_up)
        given_up.update(each for each in mine if wanted in (None, each))
        try:
            view = await self._use_cases.resign(self._caller, game_id, wanted)
        except HimejiError:
            given_up.intersection_update(before)
            raise
        self._subscriptions.resumed.pop(game_id, None)
        if not view.seats_of(self.bot):
            self._subscriptions.decline(game_id)
        lost = seat_lost(view, [*mine, 0][0] if wanted is None else wanted)
        self._writer.send(ServerMessage(request_id=request.request_id, seat_lost=lost))

    async def _handle_ladder(self, request: ClientMessage) -> None:
        self._writer.send(await self._ladder.handle(request))

    _handlers: Final[Mapping[str, Callable[[Dispatcher, ClientMessage], Awaitable[None]]]] = {
        "resign": _resign,
        **dict.fromkeys(REQUESTS, _handle_ladder),
    }
