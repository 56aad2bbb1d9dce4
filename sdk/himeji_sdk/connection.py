"""Channels, tokens and retry delays, for programs that speak the contract themselves.

`run`, `Client` and `ServiceClient` use the same. All calls block, so that gevent can patch them.

A token comes from the first of: the argument, HIMEJI_TOKEN, the file that HIMEJI_TOKEN_FILE names,
and the file that an arena in development mode keeps in its data folder (HIMEJI_DATA, `.himeji`).
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any, Final

import grpc
from himeji.rules.errors import (
    HimejiError,
    InvalidToken,
    MissingToken,
    TakenOver,
    Unauthenticated,
    Unavailable,
    UnknownAccount,
    Unsupported,
    VersionMismatch,
)
from himeji.wire.errors import RETRY_AFTER

__all__ = [
    "DEFAULT_TARGET",
    "Backoff",
    "channel",
    "credentials",
    "find_target",
    "find_token",
    "intercept",
    "proxy_options",
    "with_advice",
]

DEFAULT_TARGET: Final = "127.0.0.1:50051"
"""The address of an arena on this machine with default settings."""

_OPTIONS: Final[list[tuple[str, Any]]] = [
    # A replay of a long game is larger than gRPC's standard of 4 MB would ever need; a wrong
    # server must not fill the memory all the same.
    ("grpc.max_receive_message_length", 64 << 20),
    # A dead connection is noticed within half a minute. An arena allows a ping every few seconds
    # (docs/limits.md).
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
]
_NO_PROXY: Final = ("grpc.enable_http_proxy", 0)
_LOOPBACK: Final = re.compile(
    r"(dns:/*|ipv[46]:)?(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE
)
_interceptors: Final[list[Any]] = []
_WHERE_TOKENS_ARE: Final = (
    "give one with --token-file or in HIMEJI_TOKEN (an arena in development mode keeps one in its "
    "data folder, .himeji/token)"
)


def channel(target: str) -> grpc.Channel:
    """A new channel to an arena, with keepalive and without a proxy for this machine."""
    options = [*_OPTIONS, *proxy_options(target)]
    return grpc.intercept_channel(grpc.insecure_channel(target, options=options), *_interceptors)


def proxy_options(target: str) -> list[tuple[str, Any]]:
    """Channel options that keep gRPC from using a proxy (http_proxy) for this machine itself."""
    return [_NO_PROXY] if _LOOPBACK.fullmatch(target) else []


def intercept(*interceptors: Any) -> None:
    """Put these gRPC interceptors into every channel made from now on: to measure, or to trace."""
    _interceptors.extend(interceptors)


def find_target(target: str | None = None) -> str:
    """The address to use: the argument, HIMEJI_TARGET, or that of an arena on this machine."""
    return target or os.environ.get("HIMEJI_TARGET") or DEFAULT_TARGET


def credentials(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call that carries a token."""
    return (("authorization", f"Bearer {token}"),)


def find_token(token: str | None = None, file: Path | None = None) -> str:
    """The token to use; raises MissingToken if there is none."""
    given = token or (None if file else os.environ.get("HIMEJI_TOKEN"))
    if given:
        return given.strip()
    named = os.environ.get("HIMEJI_TOKEN_FILE")
    path = file or Path(named or Path(os.environ.get("HIMEJI_DATA") or ".himeji") / "token")
    try:
        return path.expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise MissingToken(
            f"no token: {path} cannot be read ({why}); {_WHERE_TOKENS_ARE}"
        ) from None


def with_advice(error: HimejiError, target: str) -> HimejiError:
    """The same error, whose message now also says what to do about it."""
    for kind, advice in _ADVICE.items():
        if isinstance(error, kind):
            error.message = advice.format(message=error.message, target=target)
            error.args = (error.message,)
            break
    return error


_ADVICE: Final[dict[type[HimejiError], str]] = {
    InvalidToken: f"{{target}} does not take this token ({{message}}): {_WHERE_TOKENS_ARE}",
    MissingToken: "{message}",
    Unauthenticated: f"{{target}} wants another token ({{message}}): {_WHERE_TOKENS_ARE}",
    VersionMismatch: "{target} plays by another version ({message}): "
    "install the version of himeji that it has",
    TakenOver: "another process plays this bot at {target} now, so this one stops: "
    "give each process a bot of its own",
    Unavailable: "nothing answers at {target} ({message}): is the arena running? (himeji serve)",
    Unsupported: "{target} cannot do this ({message}): is it an arena, and a newer one?",
    UnknownAccount: "{message}: create the bot, or name one of yours with --name",
}


class Backoff:
    """Delays between retries: exponential, with jitter, so that clients do not retry in step."""

    FIRST: Final = 0.1
    """Seconds of the first delay, at most."""

    LONGEST: Final = 10.0
    """Seconds of any delay, at most."""

    def __init__(self) -> None:
        self._tries = 0
        self._random = random.SystemRandom()

    def reset(self) -> None:
        """Start again with a short delay, after a success."""
        self._tries = 0

    def next(self, error: HimejiError | None = None) -> float:
        """Seconds to wait now; after an error at least as long as the arena asks for."""
        longest = min(self.LONGEST, self.FIRST * 2 ** min(self._tries, 30))
        self._tries += 1
        advice = int(error.details.get(RETRY_AFTER, 0)) / 1000 if error is not None else 0.0
        return advice + self._random.uniform(longest / 2, longest)
