"""Deletes owners that never played, so that a flood of registrations can be undone.

Invariant: once a deletion has begun, the owner creates no bot and no token, joins no game, and is
shown to nobody. Every step can be repeated, and the owner's record goes last: if the process dies,
the next request to delete the owner completes what the first one began.
"""

from typing import Final

from himeji.rules.errors import InvalidRequest, Refused
from himeji.v1.admin_service_pb2 import AuditKind

from himeji_server import names
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.accounts.tokens import Tokens
from himeji_server.store import Store
from himeji_server.store.accounts import AccountStore, DeleteOwnerStatus
from himeji_server.store.audit import AuditLog, AuditRecord
from himeji_server.store.presence import Presence
from himeji_server.texts import check_text

LONGEST_EXPLANATION: Final = 500


class OwnerDeletion:
    """Deletes owners on behalf of administrators."""

    def __init__(self, store: Store, requests: IdempotencyKeys, tokens: Tokens) -> None:
        self._store = AccountStore(store)
        self._requests = requests
        self._presence = Presence(store)
        self._audit = AuditLog(store)
        self._tokens = tokens

    async def delete(self, caller: Caller, name: str, explanation: str, request_id: str) -> None:
        """Delete an owner with its bots and tokens; raises UnknownAccount, Refused."""
        names.owner_name(name)
        if not explanation.strip():
            raise InvalidRequest("say why the owner is deleted", {"field": "explanation"})
        check_text(explanation, "explanation", LONGEST_EXPLANATION)
        if name in names.ARENA_OWNERS:
            raise Refused(f"{name} is an owner of the arena's own", {"kind": "owner", "name": name})
        content: list[object] = ["DeleteOwner", name, explanation]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        if await self._is_done(name, operation.operation_id):
            return
        status, mark = await self._store.begin_deletion(name, operation.operation_id)
        if status is DeleteOwnerStatus.MISSING:
            raise names.unknown("owner", name)
        if status is DeleteOwnerStatus.PLAYED:
            raise Refused(
                f"{name} has played: revoke its tokens instead, its games and results stay",
                {"kind": "owner", "name": name},
            )
        await self._complete(caller, name, explanation, mark)

    async def _is_done(self, name: str, mark: str) -> bool:
        """Whether an equal request did it before; somebody else may have taken the name since."""
        recorded = await self._audit.has(_audit_mark(mark))
        return recorded and await self._store.deletion_mark(name) != mark

    async def _complete(self, caller: Caller, name: str, explanation: str, mark: str) -> None:
        await self._tokens.delete_all(name)
        for bot in await self._store.bots_of(name, retired=True):
            await self._presence.forget_bot(str(bot))
            await self._store.delete_bot(bot)
        message = f"deleted the owner {name}: {explanation}"
        record = AuditRecord(AuditKind.AUDIT_KIND_ADMIN_ACT, message, caller.owner)
        await self._audit.append(record, _audit_mark(mark))
        await self._store.delete_owner(name)


def _audit_mark(operation_id: str) -> str:
    return f"deleted owner {operation_id}"
