"""Wraps every call: authorises the caller, turns exceptions into statuses, writes one log line.

Invariants: every call ends with a status that says why, and with exactly one log line, unless it is
one of many that come to nothing (call_log.py). A call is counted from its first moment, before its
message has arrived, until gRPC has written its answer (calls_in_flight.py). A HimejiError becomes
its own status; any other exception is a defect, and the client gets an incident id under which the
log has the traceback. Requests are parsed and responses serialised inside the wrapper too, because
gRPC would answer their failures with the text of a Python exception.

For gRPC every method takes a stream of requests, which is the same on the wire: it calls the
handler of another one only when the whole message is there, so that nobody could count or end the
calls of a client that never sends it.

A handler that is cancelled re-raises CancelledError: swallowing it leaks memory in grpc.aio.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import grpc
import structlog
from google.protobuf.message import DecodeError
from himeji.rules.errors import (
    HimejiError,
    MalformedMessage,
    RateLimited,
    SlowReader,
    Unauthenticated,
    UnknownMethod,
)
from himeji.wire.errors import STATUS_CODES, STATUS_DETAILS, to_status

from himeji_server import metrics
from himeji_server.accounts.authorisation import Context, is_health_check
from himeji_server.accounts.caller import caller_or_none, current_address, set_address
from himeji_server.games.client_errors import as_error
from himeji_server.limits import MOST_METADATA_BYTES, Limits
from himeji_server.processor_shares import (
    CallCost,
    ProcessorShares,
    is_out_of_budget,
    pause,
)
from himeji_server.rate_limits import (
    UNLIMITED,
    ConcurrencyLimit,
    too_idle,
    too_large,
    too_late,
    too_slow,
)
from himeji_server.request_limits import check_bytes, check_fields
from himeji_server.rpc.call_log import CallLog
from himeji_server.rpc.calls_in_flight import Call, CallsInFlight
from himeji_server.rpc.rpc_handlers import HANDLER_FACTORIES, Handler, UnsupportedMethod

Authorise = Callable[[str, Context], Awaitable[None]]
Behaviour = Callable[[Any, Any], Any]
OverloadHandler = Callable[[], Behaviour | None]
"""While the process is full, gives what answers a method instead of its handler; else None."""
LimitAddress = Callable[[str], None]
"""Counts a call of a path for the current address; raises RateLimited."""
LimitRequest = Callable[[Awaitable[Any], bool], Awaitable[Any]]
"""Awaits a request of a stream and counts it, unless it is the first one."""
Parse = Callable[[bytes], Any]
Serialise = Callable[[Any], bytes]

if TYPE_CHECKING:
    _Interceptor = grpc.aio.ServerInterceptor[Any, Any]  # generic only in the stubs
else:
    _Interceptor = grpc.aio.ServerInterceptor

_log = structlog.get_logger(__name__)
FIRST_MESSAGE_SECONDS: Final = 5.0
"""How long to wait for the first message of a stream before it is refused."""

_FAILURES: Final = (Unauthenticated, UnknownMethod, RateLimited)
"""The errors of calls that came to nothing without any work."""

_EOF: Final = grpc.aio.EOF  # type: ignore[attr-defined]
_UNSAFE_IN_LOG: Final = re.compile(r"[^\w./-]", re.ASCII)


class CallInterceptor(_Interceptor):
    """Wraps every handler: unary and streaming ones, and those of unknown methods."""

    def __init__(
        self,
        authorise: Authorise,
        overload_handlers: Mapping[str, OverloadHandler] | None = None,
        *,
        limit_address: LimitAddress | None = None,
        calls: CallsInFlight | None = None,
        processor_shares: ProcessorShares | None = None,
    ) -> None:
        """An overload handler, by path, rejects calls before the caller's token is looked up.

        `limit_address` counts the calls that `authorise` does not see, and the requests of streams.
        """
        self.authorise = authorise
        self.limit_address = limit_address or _no_limit
        self.calls = calls or CallsInFlight()
        self.limits = self.calls.limits
        self.processor_shares = processor_shares or ProcessorShares(self.limits)
        self.call_log = CallLog(self.limits.failures_logged)
        per_address = self.limits.watchers_per_address
        self.watchers = ConcurrencyLimit("watchers", per_address, key="address")
        self._overload_handlers = overload_handlers or {}
        self._unknown = metrics.Calls(metrics.UNKNOWN_METHOD, timed=False)
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Return the wrapped handler of the method; handlers of known methods are wrapped once."""
        path = handler_call_details.method
        handler = await continuation(handler_call_details)
        if handler is None:
            return _Method(self, path, _unknown_method(path), self._unknown).wrapped()
        bare, wrapped = self._wrapped.get(path, (None, None))
        if wrapped is None or bare is not handler:
            timed = not (handler.request_streaming or handler.response_streaming)
            calls = metrics.Calls(path, timed=timed)
            overload_handler = self._overload_handlers.get(path)
            wrapped = _Method(self, path, handler, calls, overload_handler).wrapped()
            self._wrapped[path] = (handler, wrapped)
        return wrapped


class _Method:
    """One method: its handler, and all that is done around it."""

    def __init__(
        self,
        parts: CallInterceptor,
        path: str,
        handler: Handler,
        calls: metrics.Calls,
        overload_handler: OverloadHandler | None = None,
    ) -> None:
        self._parts, self._path, self._handler, self._metrics = parts, path, handler, calls
        self._overload_handler = overload_handler
        self._behaviour = _behaviour(handler)
        self._parse = _checked(handler.request_deserializer or bytes, path, parts.limits)
        self._serialise: Serialise = handler.response_serializer or bytes
        # Who may call what does not exist is no question, but how often is.
        unknown = isinstance(self._behaviour, _UnknownMethod)
        self._cost_key = metrics.UNKNOWN_METHOD if unknown else path  # clients invent paths
        anonymous = unknown or isinstance(self._behaviour, UnsupportedMethod)
        self._authorise = self._limit_address if anonymous else parts.authorise

    def wrapped(self) -> Handler:
        """The handler for gRPC; a stream's messages are parsed and serialised one by one."""
        return HANDLER_FACTORIES[True, self._handler.response_streaming](
            self._handle,
            request_deserializer=self._parse if self._handler.request_streaming else None,
            response_serializer=self._serialise if self._handler.response_streaming else None,
        )

    async def _handle(self, _requests: AsyncIterator[Any], context: Context) -> bytes | None:
        call = self._parts.calls.begin(str(context.peer()))
        context.add_done_callback(call.end)  # type: ignore[arg-type]  # any callable will do
        if self._parts.calls.is_closing(call.connection):
            # A client that floods may have thousands of calls queued: they must cost little.
            raise asyncio.CancelledError
        set_address(call.connection.address)
        shares, streaming = self._parts.processor_shares, self._handler.response_streaming
        cost = CallCost(shares, "" if streaming else self._cost_key)
        response = self._finish(context, call, self._respond(context, call, cost))
        if self._handler.request_streaming:  # an estimate; what it does later has other limits
            return await response
        return await cost.measure(response)

    async def _respond(self, context: Context, call: Call, cost: CallCost) -> bytes | None:
        call.check()
        if not self._handler.request_streaming:
            return await self._respond_to(None, context, call, cost)
        stream = _RequestStream(context, None if self._overload_handler else self._limit_request)
        return await _after_first_message(stream, self._respond_to(stream, context, call, cost))

    async def _respond_to(
        self, stream: _RequestStream | None, context: Context, call: Call, cost: CallCost
    ) -> bytes | None:
        _check_metadata(context)
        handle = await self._admit(context, call, cost)
        request = stream or self._parse(await self._read_in_turn(context))
        if self._handler.response_streaming:
            with self._watcher_slot():
                await self._write_all(handle(request, context), context)
            call.answer(0)  # what was written and the status may still wait for the client
            return None
        answer = self._serialise(await handle(request, context))
        call.answer(len(answer))
        return answer

    async def _admit(self, context: Context, call: Call, cost: CallCost) -> Behaviour:
        """Count and authorise the caller, and wait for its budget; returns what answers."""
        handle_overload = self._overload_handler() if self._overload_handler else None
        if handle_overload is not None:
            self._parts.limit_address(self._path)
            return handle_overload
        await self._authorise(self._path, context)
        caller = caller_or_none()
        if caller is not None:
            call.charge_to(caller, stream=self._handler.response_streaming)
        if not is_health_check(self._path):  # a balancer must not wait behind others for them
            await cost.wait_for_budget(current_address() if caller is None else caller.limit_key)
        return self._behaviour

    async def _limit_address(self, path: str, _context: Context) -> None:
        self._parts.limit_address(path)

    async def _limit_request(self, request: Awaitable[Any], first: bool) -> Any:  # noqa: FBT001
        """Await the next request of a stream other than Play; each further one is like a call."""
        seconds = self._parts.limits.idle_seconds
        received = await _within(seconds, request, partial(too_idle, seconds))
        if not first and received is not _EOF:
            self._parts.limit_address(self._path)
        return received

    async def _read(self, context: Context) -> bytes:
        """The message of a unary call."""
        seconds = self._parts.limits.request_seconds
        raw = await _within(seconds, context.read(), partial(too_late, seconds))
        if not isinstance(raw, bytes):  # the client's side has ended
            raise MalformedMessage("the call ended before its message came")
        return raw

    async def _read_in_turn(self, context: Context) -> bytes:
        """The message of a unary call, once its client's other calls leave time for its work."""
        raw = await self._read(context)
        await pause()
        return raw

    async def _write_all(self, outcome: Any, context: Context) -> None:
        """Write what an async generator yields; a coroutine writes its responses itself."""
        if not isinstance(outcome, AsyncIterator):
            await outcome
            return
        seconds = self._parts.limits.slow_seconds
        async with aclosing(outcome) as responses:  # type: ignore[type-var]
            async for response in responses:
                await _within(seconds, context.write(response), partial(too_slow, seconds))
                await pause()

    def _watcher_slot(self) -> AbstractContextManager[None]:
        if self._overload_handler is not None:  # Play has limits of its own
            return nullcontext()
        caller = caller_or_none()
        if caller is not None and caller.limit_key in UNLIMITED:
            return nullcontext()
        return self._parts.watchers.slot(current_address())

    async def _finish(
        self, context: Context, call: Call, response: Awaitable[bytes | None]
    ) -> bytes | None:
        """Await the response, or abort the call with the status of the exception; log it."""
        started = time.perf_counter()
        code, error, failed = grpc.StatusCode.OK.name, None, False
        try:
            return await response
        except asyncio.CancelledError as cancelled:
            code = grpc.StatusCode.CANCELLED.name
            error = _reason_of(cancelled)
            failed = error is None
            if error is None:
                call.cancel()
            else:
                code = STATUS_CODES[type(error)].name
                _release_frames(cancelled, error)
                with contextlib.suppress(grpc.aio.AbortError):
                    await _abort(context, call, error)
            raise
        except grpc.aio.AbortError as aborted:
            code = _code_name(context)
            _release_frames(aborted)
            raise
        except Exception as raised:
            if isinstance(raised, grpc.aio.BaseError) and context.cancelled():
                code, failed = grpc.StatusCode.CANCELLED.name, True
                call.cancel()
                raise
            error = as_error(raised, _loggable(self._path))
            code = STATUS_CODES[type(error)].name
            _release_frames(raised, error)
            if is_out_of_budget(error):  # no flood: it has only asked for more than its share
                await call.delay_refusal()
            elif failed := call.refused or isinstance(error, _FAILURES):
                await call.refuse()
            await _abort(context, call, error)
            raise RuntimeError("context.abort() returned") from raised
        finally:
            self._log(context, call, code, error, time.perf_counter() - started, failed=failed)

    def _log(  # noqa: PLR0913 - what is known of a call
        self,
        context: Context,
        call: Call,
        code: str,
        error: HimejiError | None,
        seconds: float,
        *,
        failed: bool,
    ) -> None:
        self._metrics.ended(code, seconds)
        facts = {"code": code, "ms": round(seconds * 1000, 2), "peer": _host(context)}
        if error is not None:
            facts["reason"] = error.reason
        address, method = call.connection.address, _loggable(self._path)
        self._parts.call_log.write(address, failed=failed, method=method, **facts)


async def _within(
    seconds: float, awaitable: Awaitable[Any], error: Callable[[], HimejiError]
) -> Any:
    """Await something that the client has to do in time; raises the error if it does not."""
    try:
        async with asyncio.timeout(seconds):
            return await awaitable
    except TimeoutError:
        raise error() from None


class _RequestStream:
    """The requests of a stream; `was_read` says whether the handler asked for one.

    gRPC's own iterator is a generator in a reference cycle, which keeps the last request until the
    garbage collector runs.
    """

    def __init__(self, context: Context, limit: LimitRequest | None) -> None:
        self._context = context
        self._limit = limit
        self.was_read = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        request, first = self._context.read(), not self.was_read
        self.was_read = True
        received = await (request if self._limit is None else self._limit(request, first))
        if received is _EOF:
            raise StopAsyncIteration
        return received


async def _after_first_message(
    requests: _RequestStream, response: Awaitable[bytes | None]
) -> bytes | None:
    """Await the response; before a stream is refused, read its first message.

    If the call ended while the client was still writing, its gRPC library would report a broken
    call instead of our status.
    """
    try:
        return await response
    except Exception:
        if not requests.was_read:
            with contextlib.suppress(StopAsyncIteration, TimeoutError, HimejiError):
                async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
                    await anext(requests)
        raise


async def _abort(context: Context, call: Call, error: HimejiError) -> None:
    """End the call with the status of an error; waits until the client has taken it."""
    status = to_status(error)
    details = ((STATUS_DETAILS, status.SerializeToString()),)
    call.answer(0)
    try:
        await context.abort(STATUS_CODES[type(error)], status.message, details)
    except grpc.aio.InternalError:
        # gRPC cannot send a status after a first message that nobody takes.
        if isinstance(error, SlowReader):
            call.close_connection()
        raise


def _release_frames(*errors: BaseException) -> None:
    """Let go of the frames that errors refer to, and so of the messages in them.

    gRPC keeps the exception of an aborted call, and with it those that were raised before, in a
    reference cycle. That waits for the garbage collector, which counts objects and not bytes: 1,500
    messages of 60 and 500 kB that were refused left 560 MB behind.
    """
    for error in errors:
        error.__traceback__ = error.__context__ = error.__cause__ = None


def _reason_of(cancelled: asyncio.CancelledError) -> HimejiError | None:
    """The error with which the server cancelled a handler; None if the client cancelled."""
    reason = cancelled.args[0] if cancelled.args else None
    return reason if isinstance(reason, HimejiError) else None


def _checked(parse: Parse, path: str, limits: Limits) -> Parse:
    """The parser of a method's messages, which refuses those beyond its limits.

    A unary call is authorised before that, so that a refused message counts against a rate limit.
    """
    check_size = check_bytes(path, limits)
    # The parser of a message is the class method `FromString`; without one, bytes stay bytes.
    descriptor = getattr(getattr(parse, "__self__", None), "DESCRIPTOR", None)
    check = None if descriptor is None else check_fields(descriptor, limits)

    def parse_checked(raw: bytes) -> Any:
        check_size(raw)
        try:
            message = parse(raw)
        except DecodeError:
            # Without the cause: it adds only the library's text, and the log needs no traceback.
            raise MalformedMessage("the bytes are not the message that the method takes") from None
        if check is not None:
            check(message)
        return message

    return parse_checked


def _check_metadata(context: Context) -> None:
    """Refuse metadata far larger than any call needs; gRPC counts 32 bytes more for each entry."""
    size = sum(len(key) + len(value) + 32 for key, value in context.invocation_metadata() or ())
    if size > MOST_METADATA_BYTES:
        raise too_large("metadata_bytes", "the metadata have", size, MOST_METADATA_BYTES)


class _UnknownMethod:
    """Answers every call of a method that does not exist."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, _requests: object, _context: object) -> None:
        raise UnknownMethod("this server has no such method", {"method": self._path})


def _unknown_method(path: str) -> Handler:
    return grpc.stream_stream_rpc_method_handler(_UnknownMethod(path))


def _no_limit(_path: str) -> None:
    return None


def _behaviour(handler: Handler) -> Behaviour:
    requests = "stream" if handler.request_streaming else "unary"
    responses = "stream" if handler.response_streaming else "unary"
    behaviour: Behaviour = getattr(handler, f"{requests}_{responses}")
    return behaviour


def _code_name(context: Context) -> str:
    number = context.code()
    return next((code.name for code in grpc.StatusCode if number in (code, code.value[0])), "?")


def _host(context: Context) -> str:
    """The caller's address without the port."""
    return str(context.peer()).rpartition(":")[0]


def _loggable(path: str) -> str:
    """The path made safe for the log: callers can send any text as the name of a method."""
    return _UNSAFE_IN_LOG.sub("?", path[:120])
