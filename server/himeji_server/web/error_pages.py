"""Errors as answers: a page, or JSON for the API and for clients that accept JSON."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from math import ceil
from typing import Final

from grpc import StatusCode
from himeji.rules.errors import (
    HimejiError,
    InvalidRequest,
    MessageTooLarge,
    NotFound,
    Unsupported,
)
from himeji.wire.errors import RETRY_AFTER, STATUS_CODES
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Match, Route, Router

from himeji_server.games.client_errors import as_error
from himeji_server.web import schemas

STATUS: Final[Mapping[StatusCode, int]] = {
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.OUT_OF_RANGE: 400,
    StatusCode.UNAUTHENTICATED: 401,
    StatusCode.PERMISSION_DENIED: 403,
    StatusCode.NOT_FOUND: 404,
    StatusCode.ALREADY_EXISTS: 409,
    StatusCode.ABORTED: 409,
    StatusCode.FAILED_PRECONDITION: 409,
    StatusCode.RESOURCE_EXHAUSTED: 429,
    StatusCode.UNIMPLEMENTED: 501,
    StatusCode.UNAVAILABLE: 503,
}
"""The HTTP status of a gRPC status; any other one becomes 500."""

_HEADER_TOO_LARGE: Final = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


def header_too_large(size: int, most: int) -> HTTPException:
    """The error for a request whose header has too many bytes."""
    return HTTPException(_HEADER_TOO_LARGE, f"the header has {size} bytes, and {most} are allowed")


class ErrorPages:
    """Makes the answer for whatever was raised."""

    def __init__(self, templates: Environment) -> None:
        self._templates = templates

    async def respond(self, request: Request, raised: Exception) -> Response:
        """The answer, with the headers that go with its status."""
        error, status = _error(raised, request)
        content: schemas.Error = {"reason": error.reason, "message": error.message}
        headers = _headers(request, error, status)
        wants_json = request.headers.get("accept", "").startswith("application/json")
        if wants_json or request.url.path.startswith("/api"):
            return JSONResponse(content, status, headers)
        page = self._templates.get_template("refusal.html").render(**content, status=status)
        return HTMLResponse(page, status, headers)


def _error(raised: Exception, request: Request) -> tuple[HimejiError, int]:
    if isinstance(raised, HTTPException):
        return _http_error(raised, request), raised.status_code
    error = as_error(raised, f"page {request.scope.get('path', '')[:100]}")
    if isinstance(error, MessageTooLarge):
        return error, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.value
    return error, STATUS.get(STATUS_CODES[type(error)], 500)


def _http_error(raised: HTTPException, request: Request) -> HimejiError:
    if raised.status_code == HTTPStatus.NOT_FOUND:
        return NotFound(f"{raised.detail}: there is nothing here")
    if raised.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return Unsupported(f"{request.method} is not possible here")
    if raised.status_code == _HEADER_TOO_LARGE:
        return MessageTooLarge(raised.detail)
    return InvalidRequest(raised.detail)


def _headers(request: Request, error: HimejiError, status: int) -> dict[str, str]:
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return {"allow": ", ".join(sorted(_allowed_methods(request)))}
    if RETRY_AFTER in error.details:
        return {"retry-after": str(ceil(int(error.details[RETRY_AFTER]) / 1000))}
    return {}


def _allowed_methods(request: Request) -> set[str]:
    """The methods of all routes of a path, because reading and writing have routes of their own."""
    site: Router = request.scope["router"]
    found = set[str]()
    for route in site.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return found
