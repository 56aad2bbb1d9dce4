"""Wraps every call: authorises the caller, turns exceptions into statuses, writes one log line.

Invariants: every call ends with a status that says why, and with exactly one log line. A
HimejiError becomes its own status; any other exception is a defect, and the client gets an incident
id under which the log has the traceback. Requests are parsed and responses serialised inside the
wrapper too, because gRPC would answer their failures with the text of a Python exception.

A handler that is cancelled re-raises CancelledError: swallowing it leaks memory in grpc.aio.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import grpc
import structlog
from google.protobuf.message import DecodeError
from himeji.rules.errors import HimejiError, MalformedMessage, UnknownMethod
from himeji.wire.errors import STATUS_CODES, STATUS_DETAILS, to_status

from himeji_server import metrics
from himeji_server.accounts.authorisation import Context
from himeji_server.games.client_errors import as_error
from himeji_server.limits import MOST_METADATA_BYTES, Limits
from himeji_server.rate_limits import too_large
from himeji_server.request_limits import check_bytes, check_fields
from himeji_server.rpc.rpc_handlers import HANDLER_FACTORIES, Handler, UnsupportedMethod

Authorise = Callable[[str, Context], Awaitable[None]]
Behaviour = Callable[[Any, Any], Any]
OverloadHandler = Callable[[], Behaviour | None]
"""While the process is full, gives what answers a method instead of its handler; else None."""
Parse = Callable[[bytes], Any]
Serialise = Callable[[Any], bytes]

if TYPE_CHECKING:
    _Interceptor = grpc.aio.ServerInterceptor[Any, Any]  # generic only in the stubs
else:
    _Interceptor = grpc.aio.ServerInterceptor

_log = structlog.get_logger(__name__)
FIRST_MESSAGE_SECONDS: Final = 5.0
"""How long to wait for the first message of a stream before it is refused."""

_ABORT_SECONDS: Final = 0.5
_UNSAFE_IN_LOG: Final = re.compile(r"[^\w./-]", re.ASCII)


class CallInterceptor(_Interceptor):
    """Wraps every handler: unary and streaming ones, and those of unknown methods."""

    def __init__(
        self,
        authorise: Authorise,
        overload_handlers: Mapping[str, OverloadHandler] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """An overload handler, by path, rejects calls before the caller's token is looked up."""
        self._authorise = authorise
        self._limits = limits or Limits()
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
            unknown = _unknown_method(path)
            return _wrap(unknown, path, _allow, self._unknown, _not_full, limits=self._limits)
        bare, wrapped = self._wrapped.get(path, (None, None))
        if wrapped is None or bare is not handler:
            open_to_all = isinstance(_behaviour(handler), UnsupportedMethod)
            timed = not (handler.request_streaming or handler.response_streaming)
            calls = metrics.Calls(path, timed=timed)
            authorise = _allow if open_to_all else self._authorise
            overload_handler = self._overload_handlers.get(path, _not_full)
            wrapped = _wrap(handler, path, authorise, calls, overload_handler, limits=self._limits)
            self._wrapped[path] = (handler, wrapped)
        return wrapped


def _wrap(  # noqa: PLR0913 - the parts, each once
    handler: Handler,
    path: str,
    authorise: Authorise,
    calls: metrics.Calls,
    overload_handler: OverloadHandler,
    *,
    limits: Limits,
) -> Handler:
    """Wrap one handler. A stream's messages are parsed and serialised one by one."""
    behaviour = _behaviour(handler)
    parse = _checked(handler.request_deserializer or bytes, path, limits)
    serialise: Serialise = handler.response_serializer or bytes

    async def respond(request: Any, context: Context) -> bytes | None:
        _check_metadata(context)
        handle_overload = overload_handler()
        if handle_overload is None:
            await authorise(path, context)
        handle = handle_overload or behaviour
        outcome = handle(request if handler.request_streaming else parse(request), context)
        if handler.response_streaming:
            await _write_all(outcome, context)
            return None
        return serialise(await outcome)

    async def wrapped(request: Any, context: Context) -> bytes | None:
        if not handler.request_streaming:
            return await _finish(path, context, respond(request, context), calls)
        requests = _RequestStream(request)
        response = _after_first_message(requests, respond(requests, context))
        return await _finish(path, context, response, calls)

    return HANDLER_FACTORIES[handler.request_streaming, handler.response_streaming](
        wrapped,
        request_deserializer=parse if handler.request_streaming else None,
        response_serializer=serialise if handler.response_streaming else None,
    )


class _RequestStream:
    """The requests of a stream; `was_read` says whether the handler asked for one."""

    def __init__(self, requests: AsyncIterator[Any]) -> None:
        self._requests = requests
        self.was_read = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        self.was_read = True
        return await anext(self._requests)


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


async def _finish(
    path: str, context: Context, response: Awaitable[bytes | None], calls: metrics.Calls
) -> bytes | None:
    """Await the response, or abort the call with the status of the exception; log and count it."""
    started = time.perf_counter()
    code, reason = grpc.StatusCode.OK.name, None
    try:
        return await response
    except asyncio.CancelledError as cancelled:
        code = grpc.StatusCode.CANCELLED.name
        error = _reason_of(cancelled)
        if error is not None:
            code, reason = STATUS_CODES[type(error)].name, error.reason
            await _abort_slow_reader(context, error)
        raise
    except grpc.aio.AbortError:
        code = _code_name(context)
        raise
    except Exception as raised:
        if isinstance(raised, grpc.aio.BaseError) and context.cancelled():
            code = grpc.StatusCode.CANCELLED.name
            raise
        error = as_error(raised, _loggable(path))
        code, reason = STATUS_CODES[type(error)].name, error.reason
        await _abort(context, error)
        raise RuntimeError("context.abort() returned") from raised
    finally:
        seconds = time.perf_counter() - started
        calls.ended(code, seconds)
        facts = {"code": code, "ms": round(seconds * 1000, 2), "peer": _host(context)}
        if reason:
            facts["reason"] = reason
        _log.info("call", method=_loggable(path), **facts)


async def _abort(context: Context, error: HimejiError) -> None:
    status = to_status(error)
    details = ((STATUS_DETAILS, status.SerializeToString()),)
    await context.abort(STATUS_CODES[type(error)], status.message, details)


def _reason_of(cancelled: asyncio.CancelledError) -> HimejiError | None:
    """The error with which the server cancelled a handler; None if the client cancelled."""
    reason = cancelled.args[0] if cancelled.args else None
    return reason if isinstance(reason, HimejiError) else None


async def _abort_slow_reader(context: Context, error: HimejiError) -> None:
    """Abort the call of a client that does not read; gRPC keeps the status until it does."""
    with contextlib.suppress(TimeoutError, grpc.aio.AbortError):
        async with asyncio.timeout(_ABORT_SECONDS):
            await _abort(context, error)


async def _write_all(outcome: Any, context: Context) -> None:
    """Write what an async generator yields; a coroutine writes its responses itself."""
    if not isinstance(outcome, AsyncIterator):
        await outcome
        return
    async with aclosing(outcome) as responses:  # type: ignore[type-var]
        async for response in responses:
            await context.write(response)


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


def _unknown_method(path: str) -> Handler:
    async def refuse(_requests: object, _context: object) -> None:
        raise UnknownMethod("this server has no such method", {"method": path})

    return grpc.stream_stream_rpc_method_handler(refuse)


async def _allow(_path: str, _context: Context) -> None:
    return None


def _not_full() -> None:
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
