"""The audit log of an arena: a hash chain, so that a missing or altered entry shows."""

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import Any, Final

from himeji.rules.errors import StoreUnavailable

from himeji_server.store import keys, replies
from himeji_server.store.client import Store
from himeji_server.store.pipelining import Script
from himeji_server.store.replies import AppendStatus

FIRST_LINK: Final = hashlib.sha256(b"himeji/v1/audit").digest()
_APPEND: Final = Script("append_audit")
_TRIES: Final = 20


@dataclass(frozen=True)
class AuditRecord:
    """An entry of the audit log."""

    kind: int
    message: str
    actor: str = ""
    game_id: str = ""
    ladder: str = ""
    sequence: int = 0
    time: int = 0
    chain: bytes = b""

    def text(self) -> str:
        """The line that is hashed: six words, "-" for an empty one, and the message."""
        words = [self.actor, self.ladder, self.game_id]
        middle = " ".join(word or "-" for word in words)
        return f"{self.sequence} {self.kind} {self.time} {middle} {self.message}"


def link(before: bytes, text: str) -> bytes:
    """Hash an entry together with the link before it."""
    return hashlib.sha256(before + text.encode()).digest()


class AuditLog:
    """The audit log of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def append(self, record: AuditRecord, mark: str = "") -> int:
        """Append an entry, with a mark only once; returns its sequence."""
        for _ in range(_TRIES):
            head, time = await asyncio.gather(
                self._store.call("HMGET", keys.AUDIT_HEAD, "sequence", "chain"),
                self._store.call("TIME"),
            )
            sequence, before = int(head[0] or 0), bytes(head[1] or FIRST_LINK)
            now = replies.milliseconds(time)
            text = replace(record, sequence=sequence + 1, time=now).text()
            status, *found = await self._store.run(
                _APPEND,
                [keys.AUDIT_HEAD, keys.AUDIT, keys.AUDIT_MARKS],
                *(sequence, mark, text, link(before, text)),
            )
            if AppendStatus(replies.text(status)) is not AppendStatus.CONFLICT:
                return int(found[0])
        raise StoreUnavailable("the audit log changes too fast, try again")

    async def has(self, mark: str) -> bool:
        """Whether an entry with this mark was appended."""
        return bool(await self._store.call("HEXISTS", keys.AUDIT_MARKS, mark))

    async def newest(self, before: int, limit: int) -> list[AuditRecord]:
        """Entries before a sequence (0: all), the newest first."""
        last = f"({before}-0" if before else "+"
        found = await self._store.call("XREVRANGE", keys.AUDIT, last, "-", "COUNT", limit)
        return [_parse(fields) for _, fields in found]


def _parse(reply: Any) -> AuditRecord:
    values = replies.fields(reply)
    words = values["e"].decode().split(" ", 6)
    sequence, kind, time, actor, ladder, game_id, message = words
    return AuditRecord(
        kind=int(kind),
        message=message,
        actor=_word(actor),
        game_id=_word(game_id),
        ladder=_word(ladder),
        sequence=int(sequence),
        time=int(time),
        chain=values["c"],
    )


def _word(written: str) -> str:
    return "" if written == "-" else written
