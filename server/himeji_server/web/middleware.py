"""Middleware of the page: rate limit, size of the header, host, origin, security headers, log line.

The page is for browsers on this machine. Requests with another host name (DNS rebinding), forms
and scripts of other sites (CSRF), and frames are refused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import structlog
from himeji.rules.errors import RateLimited
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from himeji_server import addresses
from himeji_server.accounts.caller import set_address
from himeji_server.limits import Limits
from himeji_server.processor_shares import CallCost, ProcessorShares
from himeji_server.web.error_pages import header_too_large
from himeji_server.web.request_costs import cost_of

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
POLICY: Final = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
}
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_LONGEST_LOGGED_PATH: Final = 120
_TOO_MANY_REQUESTS: Final = 429

_log = structlog.get_logger(__name__)

Respond = Callable[[Request, Exception], Awaitable[Response]]
"""Makes the answer for an error."""


class SecurityMiddleware:
    """Wraps the whole site."""

    def __init__(
        self, site: ASGIApp, limits: Limits, shares: ProcessorShares, respond: Respond
    ) -> None:
        self._site = site
        self._limits = limits
        self._shares = shares
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the site has answered and logged what it raises after that."""
        if scope["type"] != "http":
            return
        started, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        cost = CallCost(self._shares)
        try:
            await cost.measure(self._respond_to(scope, receive, send_with_headers, cost))
        except Exception:
            if not status:
                raise
        finally:
            if status != _TOO_MANY_REQUESTS:  # or who sends too many would also fill the log
                ms = round((time.perf_counter() - started) * 1000, 2)
                path = str(scope["path"])[:_LONGEST_LOGGED_PATH]
                _log.info("page", method=scope["method"], path=path, status=status, ms=ms)

    async def _respond_to(self, scope: Scope, receive: Receive, send: Send, cost: CallCost) -> None:
        refusal = await self._refusal(scope, cost)
        await (refusal or self._site)(scope, receive, send)

    async def _refusal(self, scope: Scope, cost: CallCost) -> ASGIApp | None:
        try:
            await self._wait_for_budget(scope, cost)
        except RateLimited as error:
            await asyncio.sleep(self._limits.page_refusal_seconds)
            return await self._respond(Request(scope), error)
        except HTTPException as error:
            return await self._respond(Request(scope), error)
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in HOSTS:
            return PlainTextResponse("this page answers to the names of this machine alone\n", 421)
        if scope["method"] not in _SAFE_METHODS and not _same_origin(headers, host):
            return PlainTextResponse("this request came from another site\n", 403)
        return None

    async def _wait_for_budget(self, scope: Scope, cost: CallCost) -> None:
        """Count the request for its address, and wait until there is time for it.

        Pages that are asked for all at once are made one after the other, or they would keep
        everybody else waiting. Raises RateLimited, HTTPException.
        """
        address = addresses.of_host((scope.get("client") or ("", 0))[0])
        set_address(address)
        size, most = _header_size(scope), self._limits.page_header_bytes
        if size > most:
            await cost.pay(address, 1)
            raise header_too_large(size, most)
        await cost.pay(address, cost_of(scope["path"], scope["query_string"]))


def _header_size(scope: Scope) -> int:
    """The bytes of request line and headers; h11 counts only what comes in several parts."""
    headers = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    return len(scope["raw_path"]) + len(scope["query_string"]) + headers


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether the request comes from a page of this site; old browsers send Origin alone."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(headers.get("origin", "")).netloc == host
