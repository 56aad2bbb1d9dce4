"""PlayService: the stream."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, NoReturn

from himeji.rules.errors import HimejiError, InvalidRequest
from himeji.v1.play_service_pb2 import ClientMessage, PlayRequest, PlayResponse, ServerMessage
from himeji.wire.errors import RETRY_AFTER

from himeji_server import metrics
from himeji_server.accounts.caller import Caller, current_caller
from himeji_server.accounts.open_streams import OpenStreams
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.queue_commands import QueueCommands
from himeji_server.limits import Limits
from himeji_server.names import HOUSE
from himeji_server.play.request_slots import RequestSlots
from himeji_server.play.session import Session, check_hello
from himeji_server.play.stream_end import StreamEnd
from himeji_server.processor_shares import ProcessorShares, StreamCosts
from himeji_server.rate_limits import ConcurrencyLimit, exceeded, too_slow
from himeji_server.request_limits import check_fields
from himeji_server.rpc.interceptor import FIRST_MESSAGE_SECONDS

SERVICE: Final = "himeji.v1.PlayService"
PLAY: Final = f"/{SERVICE}/Play"
_TAKING_UP_A_GAME: Final = "taking up a game"
_HELLO_RETRY_MS: Final = 1_000
"""When to retry after a Hello that did not come in time: the client was held up, or its network."""


class PlayService:
    """Opens sessions and ends them when the process stops."""

    def __init__(
        self,
        use_cases: GameUseCases,
        queue_commands: QueueCommands,
        streams: OpenStreams,
        processor_shares: ProcessorShares,
    ) -> None:
        self._use_cases = use_cases
        self._queue_commands = queue_commands
        self._limits = limits = use_cases.limits
        self._stream_limit = ConcurrencyLimit("streams", limits.streams_per_owner, limits.streams)
        self._request_slots = RequestSlots(limits)
        self._streams = streams
        self._processor_shares = processor_shares
        self._sessions: set[Session] = set()

    async def Play(  # noqa: N802 - the contract's name
        self, requests: AsyncIterator[PlayRequest], context: Any
    ) -> None:
        """Play any number of games at once."""
        caller = current_caller()
        first: PlayRequest | None = None  # not asked for yet
        with ExitStack() as stack:
            try:
                # A stream counts from its first moment, whether it says Hello or not.
                stack.enter_context(self._stream_limit.slot(caller.limit_key))
                first = PlayRequest()
                first = await self._first_request(requests)
                session = await self._open(caller, first)
            except HimejiError as error:
                await self._refuse(error, first, requests, context)
            self._sessions.add(session)
            stack.callback(self._sessions.discard, session)
            ended = stack.enter_context(self._streams.register(caller))
            stack.enter_context(metrics.PLAY_STREAMS.track_inprogress())
            await session.run(first.messages[0].request_id, requests, context.write, ended)

    def overload_handler(
        self,
    ) -> Callable[[AsyncIterator[PlayRequest], Any], Awaitable[None]] | None:
        """What answers Play, whoever calls, while this process is full; None while it is not."""
        full = self._stream_limit.full_error()
        return None if full is None else partial(self._refuse, full, None)

    async def _first_request(self, requests: AsyncIterator[PlayRequest]) -> PlayRequest:
        """The request that opens the stream; an empty one if the client closed its side."""
        seconds = self._limits.hello_seconds
        try:
            async with asyncio.timeout(seconds):
                return await anext(requests, PlayRequest())
        except TimeoutError:
            error = exceeded("hello_seconds", seconds, "no Hello came within {} seconds")
            error.details[RETRY_AFTER] = str(_HELLO_RETRY_MS)
            raise error from None

    async def _open(self, caller: Caller, first: PlayRequest) -> Session:
        """The session that a Hello opens; raises the reason why it cannot."""
        if _first_message(first).WhichOneof("body") != "hello":
            raise InvalidRequest("the first message has to be Hello")
        if len(first.messages) > 1:
            raise InvalidRequest("Hello has to come alone", {"field": "messages"})
        check_fields(ClientMessage.DESCRIPTOR, self._request_limits(caller))(first.messages[0])
        hello = first.messages[0].hello
        check_hello(hello)
        player = await self._use_cases.player(caller, hello.bot, hello.bot_version)
        return Session(
            self._use_cases,
            self._queue_commands,
            caller,
            player,
            hello,
            slots=self._request_slots.of(caller),
            costs=StreamCosts(self._processor_shares, _TAKING_UP_A_GAME, caller.limit_key),
        )

    def _request_limits(self, caller: Caller) -> Limits:
        """The limits on a Hello: a house bot resumes all its games, however many they are."""
        limits = self._use_cases.limits
        unlimited = replace(limits, resumed_games=limits.play_message_bytes)
        return unlimited if caller.owner == HOUSE else limits

    def drain(self) -> None:
        """Tell every stream that this process is stopping."""
        self._use_cases.stopping.set()
        for session in list(self._sessions):
            session.close(StreamEnd.draining())

    async def _refuse(
        self,
        error: HimejiError,
        first: PlayRequest | None,
        requests: AsyncIterator[PlayRequest],
        context: Any,
    ) -> NoReturn:
        """End a stream that could not be opened with a message that says why; raises the reason.

        A client that does not take the message holds no slot, and loses its connection: gRPC would
        keep the call for it.
        """
        if first is None:
            # Its Hello is on the way. Refused before that, grpc tells it of a broken call.
            first = PlayRequest()
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
                    first = await anext(requests, first)
        last = ServerMessage(
            request_id=_first_message(first).request_id, stream_end=StreamEnd.by(error).to_message()
        )
        seconds = self._limits.slow_seconds
        try:
            async with asyncio.timeout(seconds):
                await context.write(PlayResponse(messages=[last]))
        except TimeoutError:
            raise too_slow(seconds) from None
        raise error


def _first_message(first: PlayRequest) -> ClientMessage:
    """The message that opens a stream; an empty one where there is none."""
    return first.messages[0] if first.messages else ClientMessage()
