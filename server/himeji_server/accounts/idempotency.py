"""Idempotency keys: a request with a request id takes effect once, however often it is sent.

Invariant: the request is recorded, with the ids of what it is going to create, before anything is
created. If a process dies in between, a retry finds the record and completes the same operation:
the store ignores a creation that it has done under the same operation id.
"""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass, field
from typing import Final

from himeji.rules.errors import InvalidRequest, RequestIdReused

from himeji_server.store.accounts import AccountStore

LONGEST_ID: Final = 100


@dataclass(frozen=True)
class Operation:
    """The operation of a request, as it is recorded before it is executed."""

    operation_id: str = field(default_factory=lambda: secrets.token_hex(16))
    token_id: str = ""
    """The token that the operation creates."""

    before: str = field(default="", repr=False)
    """The digest of the secret that a rotation replaces."""


class IdempotencyKeys:
    """The recorded requests, by owner and request id."""

    def __init__(self, store: AccountStore, most: int) -> None:
        """Of more than `most` requests of an owner the oldest are forgotten."""
        self._store = store
        self._most = most

    async def claim(
        self, owner: str, request_id: str, content: list[object], operation: Operation
    ) -> Operation:
        """Record the operation, or return the one that an earlier, equal request recorded.

        Raises RequestIdReused if the id was used with other content. Without an id nothing is
        recorded, and the operation is returned as it is.
        """
        if not request_id:
            return operation
        if len(request_id) > LONGEST_ID:
            raise InvalidRequest(
                f"a request id has up to {LONGEST_ID} characters", {"field": "request_id"}
            )
        digest = _digest(json.dumps(content))
        record = json.dumps([digest, asdict(operation)])
        recorded_digest, recorded = json.loads(
            await self._store.remember_request(owner, _digest(request_id), record, self._most)
        )
        if recorded_digest != digest:
            raise RequestIdReused(
                "the request id was used before, with other content", {"request_id": request_id}
            )
        return Operation(**recorded)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
