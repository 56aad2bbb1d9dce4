"""Request ids: the same id with the same content makes the same thing, however often it comes.

A request is noted, with what it is going to make, before anything is made. Whatever dies in
between, a retry finds the note and finishes the work: what makes things can be done again with
the same mark.
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
class PlannedRequest:
    """What a request is going to make."""

    mark: str = field(default_factory=lambda: secrets.token_hex(16))
    token_id: str = ""
    before: str = field(default="", repr=False)
    """The digest of the secret that a rotation replaces."""


class IdempotencyKeys:
    """The requests that are remembered."""

    def __init__(self, store: AccountStore) -> None:
        self._store = store

    async def planned(
        self, owner: str, request_id: str, content: list[object], plan: PlannedRequest
    ) -> PlannedRequest:
        """The plan of the first request with this id and content, which may be this one.

        Raises RequestIdReused if the id came with another content. Without an id nothing is noted.
        """
        if not request_id:
            return plan
        if len(request_id) > LONGEST_ID:
            raise InvalidRequest(
                f"a request id has up to {LONGEST_ID} characters", {"field": "request_id"}
            )
        digest = _digest(json.dumps(content))
        noted = json.dumps([digest, asdict(plan)])
        digest_before, before = json.loads(
            await self._store.remember_request(owner, _digest(request_id), noted)
        )
        if digest_before != digest:
            raise RequestIdReused(
                "the request id came before, with another content", {"request_id": request_id}
            )
        return PlannedRequest(**before)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
