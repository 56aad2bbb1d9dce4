"""Errors as gRPC statuses and back: the one table, used by the server and by the SDK.

A status carries a `google.rpc.ErrorInfo` (reason, domain, facts), and where it fits a `BadRequest`
(what is wrong with which field) or a `RetryInfo` (when to try again).
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode

from himeji.rules import errors
from himeji.rules.errors import HimejiError

DOMAIN: Final = "himeji"
STATUS_DETAILS: Final = "grpc-status-details-bin"
"""The trailing metadata under which gRPC carries a `google.rpc.Status`."""

RETRY_AFTER: Final = "retry_after_ms"
"""The detail that says how long to wait before the next try; it travels as RetryInfo."""

STANDARD_RETRY_MS: Final = 1_000

FIELD: Final = "field"
"""The detail that names the field of the request that is wrong; it travels in BadRequest."""

STATUS_CODES: Final[Mapping[type[HimejiError], StatusCode]] = {
    errors.HimejiError: StatusCode.UNKNOWN,
    errors.InvalidRequest: StatusCode.INVALID_ARGUMENT,
    errors.MalformedMessage: StatusCode.INVALID_ARGUMENT,
    errors.UnknownAction: StatusCode.INVALID_ARGUMENT,
    errors.ImpossiblePosition: StatusCode.INVALID_ARGUMENT,
    errors.BadComponents: StatusCode.INVALID_ARGUMENT,
    errors.NotFound: StatusCode.NOT_FOUND,
    errors.UnknownRuleset: StatusCode.NOT_FOUND,
    errors.UnknownGame: StatusCode.NOT_FOUND,
    errors.UnknownLadder: StatusCode.NOT_FOUND,
    errors.UnknownAccount: StatusCode.NOT_FOUND,
    errors.UnknownMethod: StatusCode.UNIMPLEMENTED,
    errors.Refused: StatusCode.FAILED_PRECONDITION,
    errors.IllegalAction: StatusCode.FAILED_PRECONDITION,
    errors.GameNotStarted: StatusCode.FAILED_PRECONDITION,
    errors.GameEnded: StatusCode.FAILED_PRECONDITION,
    errors.NotYourDecision: StatusCode.FAILED_PRECONDITION,
    errors.StaleDecision: StatusCode.ABORTED,
    errors.AlreadyDecided: StatusCode.FAILED_PRECONDITION,
    errors.SeatTaken: StatusCode.FAILED_PRECONDITION,
    errors.SeatLost: StatusCode.FAILED_PRECONDITION,
    errors.AlreadyExists: StatusCode.ALREADY_EXISTS,
    errors.RequestIdReused: StatusCode.ALREADY_EXISTS,
    errors.ChanceExhausted: StatusCode.FAILED_PRECONDITION,
    errors.VersionMismatch: StatusCode.FAILED_PRECONDITION,
    errors.TakenOver: StatusCode.ABORTED,
    errors.BotRetired: StatusCode.FAILED_PRECONDITION,
    errors.Unauthenticated: StatusCode.UNAUTHENTICATED,
    errors.MissingToken: StatusCode.UNAUTHENTICATED,
    errors.InvalidToken: StatusCode.UNAUTHENTICATED,
    errors.Forbidden: StatusCode.PERMISSION_DENIED,
    errors.LimitExceeded: StatusCode.RESOURCE_EXHAUSTED,
    errors.MessageTooLarge: StatusCode.RESOURCE_EXHAUSTED,
    errors.RateLimited: StatusCode.RESOURCE_EXHAUSTED,
    errors.SlowReader: StatusCode.RESOURCE_EXHAUSTED,
    errors.Unavailable: StatusCode.UNAVAILABLE,
    errors.StoreUnavailable: StatusCode.UNAVAILABLE,
    errors.Draining: StatusCode.UNAVAILABLE,
    errors.DeadlineExceeded: StatusCode.DEADLINE_EXCEEDED,
    errors.Unsupported: StatusCode.UNIMPLEMENTED,
    errors.InternalFault: StatusCode.INTERNAL,
}

# What a status means that carries no reason we know: a proxy, a lost connection, a newer server.
_BY_CODE: Final[Mapping[StatusCode, type[HimejiError]]] = {
    StatusCode.INVALID_ARGUMENT: errors.InvalidRequest,
    StatusCode.OUT_OF_RANGE: errors.InvalidRequest,
    StatusCode.NOT_FOUND: errors.NotFound,
    StatusCode.FAILED_PRECONDITION: errors.Refused,
    StatusCode.ABORTED: errors.Refused,
    StatusCode.ALREADY_EXISTS: errors.Refused,
    StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    StatusCode.PERMISSION_DENIED: errors.Forbidden,
    StatusCode.RESOURCE_EXHAUSTED: errors.LimitExceeded,
    StatusCode.UNAVAILABLE: errors.Unavailable,
    # Who has not cancelled a call was cut off: a stopping server ends so what it did not begin.
    StatusCode.CANCELLED: errors.Unavailable,
    StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    StatusCode.UNIMPLEMENTED: errors.Unsupported,
}

# gRPC drops trailing metadata over 8 kB, and the sentence travels in them twice.
_MOST_CHARACTERS: Final = 1_000
_MOST_FACT_BYTES: Final = 2_000
_DEFAULT_RETRY_MS: Final = 1_000

_Detail = TypeVar("_Detail", bound=Message)


def to_status(error: HimejiError) -> status_pb2.Status:
    """Write an error as the status that tells a client everything it may know about it."""
    message = _shortened(error.message)
    status = status_pb2.Status(code=STATUS_CODES[type(error)].value[0], message=message)
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN)
    info.metadata.update(_that_fit(error.details))
    for detail in (info, _bad_request(error), _retry_info(error)):
        if detail is not None:
            status.details.add().Pack(detail)
    return status


def from_status(status: status_pb2.Status) -> HimejiError:
    """Read a status as the error of the same class that was written, or the nearest base class."""
    info = _detail(status, error_details_pb2.ErrorInfo) or error_details_pb2.ErrorInfo()
    details = dict(info.metadata)
    retry = _detail(status, error_details_pb2.RetryInfo)
    if retry is not None:
        details[RETRY_AFTER] = str(retry.retry_delay.ToMilliseconds())
    known = _CLASSES.get(info.reason) if info.domain == DOMAIN else None
    if known is None:
        if info.reason:
            details.setdefault("reason", info.reason)
        return _BY_CODE.get(_code(status.code), HimejiError)(status.message, details)
    bad_request = _detail(status, error_details_pb2.BadRequest) or error_details_pb2.BadRequest()
    return _rebuilt(known, status.message, details, bad_request)


def from_rpc_error(error: grpc.RpcError) -> HimejiError:
    """Read what a gRPC call raised, in a blocking or an asyncio client, as an error of the tree."""
    call = cast("grpc.Call", error)
    status = status_pb2.Status(code=call.code().value[0], message=call.details() or "")
    for key, value in call.trailing_metadata() or ():
        if key == STATUS_DETAILS and isinstance(value, bytes):
            try:
                status.MergeFromString(value)
            except DecodeError:
                break
    return from_status(status)


_CLASSES: Final[Mapping[str, type[HimejiError]]] = {each.reason: each for each in STATUS_CODES}


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _that_fit(details: Mapping[str, str]) -> dict[str, str]:
    """Keep the facts that fit; a fact is left out rather than cut, for half a list is a lie."""
    left = _MOST_FACT_BYTES
    kept: dict[str, str] = {}
    for key, value in details.items():
        size = len(key.encode()) + len(value.encode())
        if key != RETRY_AFTER and size <= left:
            kept[key] = value
            left -= size
    return kept


def _bad_request(error: HimejiError) -> error_details_pb2.BadRequest | None:
    if isinstance(error, errors.ImpossiblePosition):
        found = error_details_pb2.BadRequest()
        left = _MOST_FACT_BYTES
        for reason in error.reasons:
            left -= len(reason.encode())
            if left >= 0:
                found.field_violations.add(field="position", description=reason)
        return found
    if isinstance(error, errors.InvalidRequest) and FIELD in error.details:
        found = error_details_pb2.BadRequest()
        description = _shortened(error.message)
        found.field_violations.add(field=error.details[FIELD], description=description)
        return found
    return None


def _retry_info(error: HimejiError) -> error_details_pb2.RetryInfo | None:
    passes = isinstance(error, errors.Unavailable | errors.RateLimited)
    if not passes and RETRY_AFTER not in error.details:
        return None
    if isinstance(error, errors.Draining):  # another process answers, and at once
        return None
    info = error_details_pb2.RetryInfo()
    info.retry_delay.FromMilliseconds(int(error.details.get(RETRY_AFTER, _DEFAULT_RETRY_MS)))
    return info


def _detail(status: status_pb2.Status, kind: type[_Detail]) -> _Detail | None:
    for packed in status.details:
        found = kind()
        if packed.Is(found.DESCRIPTOR) and packed.Unpack(found):
            return found
    return None


def _code(number: int) -> StatusCode:
    return next((code for code in StatusCode if code.value[0] == number), StatusCode.UNKNOWN)


def _illegal_action(
    message: str, details: Mapping[str, str], _: error_details_pb2.BadRequest
) -> HimejiError:
    rule = details["rule"]
    legal = [int(action) for action in details.get("legal", "").split(",") if action]
    sentence = message.removesuffix(f" ({rule})")
    return errors.IllegalAction(sentence, action=int(details["action"]), rule=rule, legal=legal)


def _impossible_position(
    _message: str, _details: Mapping[str, str], bad_request: error_details_pb2.BadRequest
) -> HimejiError:
    reasons = [each.description for each in bad_request.field_violations]
    if not reasons:
        raise KeyError("field_violations")
    return errors.ImpossiblePosition(reasons)


def _internal_fault(
    _message: str, details: Mapping[str, str], _: error_details_pb2.BadRequest
) -> HimejiError:
    return errors.InternalFault(details["incident"])


# The classes whose constructor takes more than a sentence and details.
_Rebuild = Callable[[str, Mapping[str, str], error_details_pb2.BadRequest], HimejiError]
_REBUILT_BY: Final[Mapping[type[HimejiError], _Rebuild]] = {
    errors.IllegalAction: _illegal_action,
    errors.ImpossiblePosition: _impossible_position,
    errors.InternalFault: _internal_fault,
}


def _rebuilt(
    known: type[HimejiError],
    message: str,
    details: dict[str, str],
    bad_request: error_details_pb2.BadRequest,
) -> HimejiError:
    rebuild = _REBUILT_BY.get(known)
    if rebuild is None:
        return known(message, details)
    try:
        error = rebuild(message, details, bad_request)
    except (KeyError, ValueError):
        # A peer that leaves out what the class promises: the parent promises less.
        parent = cast("type[HimejiError]", known.__mro__[1])
        return parent(message, details)
    error.details.update(details)
    return error


def retry_delay(error: HimejiError) -> int | None:
    """After how many milliseconds it is worth trying again, None if it is not, or at once."""
    transient = isinstance(error, errors.Unavailable | errors.RateLimited)
    if isinstance(error, errors.Draining) or not (transient or RETRY_AFTER in error.details):
        return None
    return int(error.details.get(RETRY_AFTER, STANDARD_RETRY_MS))
