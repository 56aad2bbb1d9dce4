"""The outermost layer of the page: who may ask from where, what every answer carries, one log line.

The page is for browsers on this machine. A name that is not this machine's (a site that points its
own name here), a form or script of another site, and frames are all refused.
"""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import urlsplit

import structlog
from himeji.rules.errors import RateLimited
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from himeji_server.limits import Limits
from himeji_server.rate_limits import RateLimiter

HOSTS: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
_READING: Final = frozenset({"GET", "HEAD"})
_LONGEST_LOGGED: Final = 120

_log = structlog.get_logger(__name__)


class SecurityMiddleware:
    """Wraps the site."""

    def __init__(self, site: ASGIApp, limits: Limits) -> None:
        self._site = site
        self._rates = RateLimiter("calls_per_second", limits.calls_per_second, limits.calls_at_once)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever the site raises was told and logged inside."""
        if scope["type"] != "http":
            return
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        try:
            refusal = self._refusal(scope)
            await (refusal or self._site)(scope, receive, answer)
        except Exception:
            if not status:
                raise
        finally:
            ms = round((time.perf_counter() - began) * 1000, 2)
            path = str(scope["path"])[:_LONGEST_LOGGED]
            _log.info("page", method=scope["method"], path=path, status=status, ms=ms)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in HOSTS:
            return PlainTextResponse("this page answers to the names of this machine alone\n", 421)
        if scope["method"] not in _READING and not _same_origin(headers, host):
            return PlainTextResponse("this came from another site\n", 403)
        try:
            self._rates.acquire((scope.get("client") or ("", 0))[0])
        except RateLimited as error:
            return PlainTextResponse(f"{error.message}\n", 429)
        return None


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a browser says that a page of ours asks; old browsers name the origin instead."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(headers.get("origin", "")).netloc == host
