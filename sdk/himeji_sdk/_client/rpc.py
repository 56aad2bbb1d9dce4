"""The calls that clients and their games make, tried again while the arena is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

import grpc
from himeji.rules.errors import DeadlineExceeded, HimejiError, Unavailable
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji.wire.errors import RETRY_AFTER, from_rpc_error

from himeji_sdk import connection
from himeji_sdk.connection import Backoff, advised, find_token

CALL_SECONDS: Final = 30.0
_Answer = TypeVar("_Answer")


class Calls:
    """One arena's services, as the owner of a token calls them."""

    def __init__(self, target: str, token: str | None, patience: float) -> None:
        self._target = target
        self._patience = patience
        self.metadata = connection.credentials(find_token(token))
        self.channel = connection.channel(target)
        self.games = GameServiceStub(self.channel)
        self.accounts = AccountServiceStub(self.channel)

    def __call__(
        self, method: Callable[..., _Answer], request: object, seconds: float = CALL_SECONDS
    ) -> _Answer:
        """Make a call; raises what the arena refuses."""
        again = self.tries()
        while True:
            try:
                return method(request, metadata=self.metadata, timeout=seconds)
            except grpc.RpcError as failure:
                again(from_rpc_error(failure))

    def tries(self) -> Callable[[HimejiError], None]:
        """What to do after each failure: it waits, or raises if another try is of no use."""
        until, backoff = time.monotonic() + self._patience, Backoff()

        def again(error: HimejiError) -> None:
            wait = backoff.next(error)
            passes = isinstance(error, Unavailable | DeadlineExceeded)
            if not (passes or RETRY_AFTER in error.details) or time.monotonic() + wait > until:
                raise advised(error, self._target)
            time.sleep(wait)

        return again
