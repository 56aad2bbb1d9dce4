"""The audit log: one list for the whole arena, linked by hashes so that a missing entry shows."""

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import Any, Final

from himeji.rules.errors import StoreUnavailable

from himeji_server.store import keys
from himeji_server.store.client import Script, Store
from himeji_server.store.replies import pairs

FIRST_LINK: Final = hashlib.sha256(b"himeji/v1/audit").digest()
_AUDIT: Final = Script("append_audit")
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
        """What the link covers: seven words, "-" for none, the last one a whole sentence."""
        words = [self.actor, self.ladder, self.game_id]
        middle = " ".join(word or "-" for word in words)
        return f"{self.sequence} {self.kind} {self.time} {middle} {self.message}"


def link(before: bytes, text: str) -> bytes:
    """The link of an entry."""
    return hashlib.sha256(before + text.encode()).digest()


class AuditLog:
    """The audit log of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def note(self, record: AuditRecord, mark: str = "") -> int:
        """Add an entry; with a mark, once. Its sequence."""
        for _ in range(_TRIES):
            head, (seconds, micros) = await asyncio.gather(
                self._store.call("HMGET", keys.AUDIT_HEAD, "sequence", "chain"),
                self._store.call("TIME"),
            )
            sequence, before = int(head[0] or 0), bytes(head[1] or FIRST_LINK)
            now = int(seconds) * 1000 + int(micros) // 1000
            text = replace(record, sequence=sequence + 1, time=now).text()
            answer = await self._store.run(
                _AUDIT,
                [keys.AUDIT_HEAD, keys.AUDIT, keys.AUDITED],
                *(sequence, mark, text, link(before, text)),
            )
            if bytes(answer[0]) != b"conflict":
                return int(answer[1])
        raise StoreUnavailable("the audit log changes too fast, try again")

    async def newest(self, before: int, most: int) -> list[AuditRecord]:
        """Entries before a sequence (0: all), the newest first."""
        last = f"({before}-0" if before else "+"
        found = await self._store.call("XREVRANGE", keys.AUDIT, last, "-", "COUNT", most)
        return [_record(fields) for _, fields in found]


def _record(fields: Any) -> AuditRecord:
    values = pairs(fields)
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
