"""The outermost layer of every call: who may call, what went wrong, and one line in the log.

Whatever a handler raises becomes a status here. Errors of the tree say what they say; anything
else is a defect and reaches the client as an incident id, under which the log has the traceback.
Parsing and serialising happen inside as well, because gRPC answers their failures with Python text.
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
from himeji_server.limits import MOST_MESSAGE_BYTES, MOST_METADATA_BYTES
from himeji_server.rate_limits import too_large
from himeji_server.rpc.rpc_handlers import HANDLER_OF_SHAPE, Handler, UnsupportedMethod

Authorise = Callable[[str, Context], Awaitable[None]]
Behaviour = Callable[[Any, Any], Any]
Crowded = Callable[[], Behaviour | None]
"""What answers a method instead of its handler while there is no room; None while there is."""
Parse = Callable[[bytes], Any]
Serialise = Callable[[Any], bytes]

if TYPE_CHECKING:
    _Interceptor = grpc.aio.ServerInterceptor[Any, Any]  # generic in the stubs alone
else:
    _Interceptor = grpc.aio.ServerInterceptor

_log = structlog.get_logger(__name__)
SECONDS_FOR_A_WORD: Final = 5.0
"""How long the first message of a stream that is refused may be on its way."""

_SECONDS_FOR_A_STATUS: Final = 0.5
_NOT_IN_A_LOG: Final = re.compile(r"[^\w./-]", re.ASCII)


class CallInterceptor(_Interceptor):
    """Wraps every handler, those of all four shapes and those of unknown methods."""

    def __init__(self, authorise: Authorise, crowded: Mapping[str, Crowded] | None = None) -> None:
        """Whoever comes in vain, by path, is refused before anything is looked up about them."""
        self._authorise = authorise
        self._crowded = crowded or {}
        self._unknown = metrics.Calls(metrics.UNKNOWN_METHOD, timed=False)
        self._guarded: dict[str, tuple[Handler, Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Give the guarded form of the method's handler; known methods are wrapped once."""
        path = handler_call_details.method
        handler = await continuation(handler_call_details)
        if handler is None:
            return _guard(_unknown_method(path), path, _anyone, self._unknown, _room)
        bare, guarded = self._guarded.get(path, (None, None))
        if guarded is None or bare is not handler:
            open_to_all = isinstance(_behaviour(handler), UnsupportedMethod)
            timed = not (handler.request_streaming or handler.response_streaming)
            calls = metrics.Calls(path, timed=timed)
            authorise = _anyone if open_to_all else self._authorise
            guarded = _guard(handler, path, authorise, calls, self._crowded.get(path, _room))
            self._guarded[path] = (handler, guarded)
        return guarded


def _guard(
    handler: Handler,
    path: str,
    authorise: Authorise,
    calls: metrics.Calls,
    crowded: Crowded,
) -> Handler:
    """Wrap one handler. A stream's messages are parsed and written as they come."""
    behaviour = _behaviour(handler)
    parse = _checked(handler.request_deserializer or bytes)
    serialise: Serialise = handler.response_serializer or bytes

    async def respond(request: Any, context: Context) -> bytes | None:
        _check_metadata(context)
        instead = crowded()
        if instead is None:
            await authorise(path, context)
        answer = instead or behaviour
        outcome = answer(request if handler.request_streaming else parse(request), context)
        if handler.response_streaming:
            await _write_all(outcome, context)
            return None
        return serialise(await outcome)

    async def guarded(request: Any, context: Context) -> bytes | None:
        if not handler.request_streaming:
            return await _answered(path, context, respond(request, context), calls)
        requests = _Requests(request)
        return await _answered(path, context, _heard(requests, respond(requests, context)), calls)

    return HANDLER_OF_SHAPE[handler.request_streaming, handler.response_streaming](
        guarded,
        request_deserializer=parse if handler.request_streaming else None,
        response_serializer=serialise if handler.response_streaming else None,
    )


class _Requests:
    """The requests of a stream; it knows whether anybody wanted to hear one."""

    def __init__(self, requests: AsyncIterator[Any]) -> None:
        self._requests = requests
        self.heard = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        self.heard = True
        return await anext(self._requests)


async def _heard(requests: _Requests, response: Awaitable[bytes | None]) -> bytes | None:
    """Await the response; a stream that is refused is let say its first word before.

    A client that is refused while it writes is told of a broken call by its own library.
    """
    try:
        return await response
    except Exception:
        if not requests.heard:
            with contextlib.suppress(StopAsyncIteration, TimeoutError, HimejiError):
                async with asyncio.timeout(SECONDS_FOR_A_WORD):
                    await anext(requests)
        raise


async def _answered(
    path: str, context: Context, response: Awaitable[bytes | None], calls: metrics.Calls
) -> bytes | None:
    """Await the response, or end the call with the status of what was raised; note either."""
    started = time.perf_counter()
    code, reason = grpc.StatusCode.OK.name, None
    try:
        return await response
    except asyncio.CancelledError as cancelled:
        code = grpc.StatusCode.CANCELLED.name
        error = _reason_of(cancelled)
        if error is not None:
            code, reason = STATUS_CODES[type(error)].name, error.reason
            await _abort_at_last(context, error)
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
        raise RuntimeError("gRPC went on after an abort") from raised
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
    """Why one of our own tasks cancelled a handler; None if it was the client."""
    reason = cancelled.args[0] if cancelled.args else None
    return reason if isinstance(reason, HimejiError) else None


async def _abort_at_last(context: Context, error: HimejiError) -> None:
    """Leave a status for a client that does not read; gRPC keeps it until the client does."""
    with contextlib.suppress(TimeoutError, grpc.aio.AbortError):
        async with asyncio.timeout(_SECONDS_FOR_A_STATUS):
            await _abort(context, error)


async def _write_all(outcome: Any, context: Context) -> None:
    """Write what an async generator yields; a coroutine writes by itself."""
    if not isinstance(outcome, AsyncIterator):
        await outcome
        return
    async with aclosing(outcome) as responses:  # type: ignore[type-var]
        async for response in responses:
            await context.write(response)


def _checked(parse: Parse) -> Parse:
    def parse_checked(raw: bytes) -> Any:
        if len(raw) > MOST_MESSAGE_BYTES:
            raise too_large("message_bytes", "the message has", len(raw), MOST_MESSAGE_BYTES)
        try:
            return parse(raw)
        except DecodeError:
            # Without the cause: its text is the library's, and the log needs no traceback.
            raise MalformedMessage("the bytes are not the message that the method takes") from None

    return parse_checked


def _check_metadata(context: Context) -> None:
    """Refuse metadata that are far more than any call needs; 32 bytes an entry are overhead."""
    size = sum(len(key) + len(value) + 32 for key, value in context.invocation_metadata() or ())
    if size > MOST_METADATA_BYTES:
        raise too_large("metadata_bytes", "the metadata have", size, MOST_METADATA_BYTES)


def _unknown_method(path: str) -> Handler:
    async def refuse(_requests: object, _context: object) -> None:
        raise UnknownMethod("this server has no such method", {"method": path})

    return grpc.stream_stream_rpc_method_handler(refuse)


async def _anyone(_path: str, _context: Context) -> None:
    return None


def _room() -> None:
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
    """Give the caller's address without its port."""
    return str(context.peer()).rpartition(":")[0]


def _loggable(path: str) -> str:
    """Write a path as it may stand in a log: callers choose it freely when it is unknown."""
    return _NOT_IN_A_LOG.sub("?", path[:120])
