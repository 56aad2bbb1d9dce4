"""Unary calls to an arena, retried with backoff while it is away.

A retry does nothing twice: requests that change something carry a request id, or the id of the
decision that they answer.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Final, TypeVar

import grpc
from himeji.rules.errors import DeadlineExceeded, HimejiError, Unavailable
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.wire.chain import is_house
from himeji.wire.errors import RETRY_AFTER, from_rpc_error

from himeji_sdk import connection
from himeji_sdk.connection import Backoff, find_token, with_advice

RPC_TIMEOUT_SECONDS: Final = 30.0
_ENTROPY_BYTES: Final = 16
_Response = TypeVar("_Response")


class RpcClient:
    """The services of one arena, called with one token."""

    def __init__(self, target: str, token: str | None, patience: float) -> None:
        """Calls are retried for `patience` seconds."""
        self._target = target
        self._patience = patience
        self.metadata = connection.credentials(find_token(token))
        self.channel = connection.channel(target)
        self.games = GameServiceStub(self.channel)
        self.accounts = AccountServiceStub(self.channel)

    def call(
        self,
        method: Callable[..., _Response],
        request: object,
        timeout: float = RPC_TIMEOUT_SECONDS,
    ) -> _Response:
        """Make a call; raises what the arena refuses."""
        retries = self.retries()
        while True:
            try:
                return method(request, metadata=self.metadata, timeout=timeout)
            except grpc.RpcError as failure:
                retries.wait(from_rpc_error(failure))

    def retries(self) -> Retries:
        return Retries(self._target, self._patience)


class Retries:
    """The retries of one call, for so many seconds from now on."""

    def __init__(self, target: str, seconds: float) -> None:
        self._target = target
        self._deadline = time.monotonic() + seconds
        self._backoff = Backoff()

    def wait(self, error: HimejiError) -> None:
        """Sleep until the next try; raises the error, with advice, if there is to be none."""
        seconds = self._backoff.next(error)
        transient = isinstance(error, Unavailable | DeadlineExceeded)
        retriable = transient or RETRY_AFTER in error.details
        if not retriable or time.monotonic() + seconds > self._deadline:
            raise with_advice(error, self._target)
        time.sleep(seconds)


def new_entropy(bot: str) -> bytes:
    """A seat's contribution to the chance of a game, so that the arena cannot choose it alone.

    Bots of the house are the arena's own and contribute nothing.
    """
    return b"" if is_house(bot) else secrets.token_bytes(_ENTROPY_BYTES)
