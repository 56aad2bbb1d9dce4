"""Errors of the store: what Redis or the connection to it reports, as the arena's own errors."""

import time
from collections.abc import Mapping
from typing import Any, Final

import structlog
from himeji.rules.errors import StoreUnavailable
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)

REDIRECTIONS: Final = (AskError, MovedError, TryAgainError)
"""Replies of a Cluster node that did not execute the command."""

_IMPAIRMENTS: Final[Mapping[type[RedisError], str]] = {
    AuthenticationError: "it refuses the user name or the password given in --redis",
    AuthorizationError: "it refuses the user name or the password given in --redis",
    NoPermissionError: "its user may not run the commands that Himeji needs",
    ReadOnlyError: "it takes no writes, for it is a replica",
    OutOfMemoryError: "it takes no writes, for its memory is full",
    ClusterDownError: "its cluster is down",
}
_IMPAIRMENT_CODES: Final[Mapping[str, str]] = {
    "MISCONF": "it takes no writes, for it cannot save them on its disk",
    "NOREPLICAS": "it takes no writes, for it misses replicas",
}
"""Errors without a class in redis-py, by the first word of Redis's message."""


_SECONDS_BETWEEN_WARNINGS: Final = 60.0

_log = structlog.get_logger(__name__)


class StoreRefusedError(Exception):
    """A Redis that replies, but not to us or not as we need it; the sentence says why."""


class StoreImpairedError(StoreUnavailable):
    """A Redis that replies, but cannot do its work at the moment; the sentence says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__("the store cannot do its work at the moment")
        self.sentence = sentence

    def __str__(self) -> str:
        """For the operator; clients see the message only."""
        return self.sentence


class ImpairmentLog:
    """Logs what is wrong with a store that is in use, at most once a minute for each reason."""

    def __init__(self) -> None:
        self.enabled = False
        self._silent_until: dict[str, float] = {}

    def check(self, reply: Any) -> None:
        """Log a reply that says what is wrong."""
        if self.enabled and isinstance(reply, StoreImpairedError):
            now = time.monotonic()
            if self._silent_until.get(reply.sentence, 0) < now:
                self._silent_until[reply.sentence] = now + _SECONDS_BETWEEN_WARNINGS
                _log.error("store cannot do its work", why=reply.sentence)


def translate(reply: Any) -> Any:
    """Replace an error of redis-py by ours; a reply, and an error that needs a retry, stay."""
    kept = (NoScriptError, StoreUnavailable, *REDIRECTIONS)
    if not isinstance(reply, Exception) or isinstance(reply, kept):
        return reply
    # A refusal while connecting comes wrapped in a ConnectionError.
    chain = [reply, reply.__cause__]
    for kind, sentence in _IMPAIRMENTS.items():
        if any(isinstance(each, kind) for each in chain):
            return StoreImpairedError(sentence)
    if not any(isinstance(each, ResponseError) for each in chain):
        return StoreUnavailable("the store does not answer")
    code = str(reply).partition(" ")[0]
    if code in _IMPAIRMENT_CODES:
        return StoreImpairedError(_IMPAIRMENT_CODES[code])
    return StoreRefusedError("it refuses a command that Himeji needs")
