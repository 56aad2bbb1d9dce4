"""The log of a game in words, linked by hashes so that a missing or altered entry shows.

The server writes it and everybody can check it; docs/protocol.md tells how in other languages.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final, NamedTuple

from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause

NOBODY: Final = -1
SEAT_ENTROPY: Final = b"himeji/v1/seat-entropy"
LOG: Final = b"himeji/v1/log "


class ChainEntry(NamedTuple):
    """One entry of the log: what the chain covers."""

    version: int
    cause: LogCause.ValueType
    seat: int = NOBODY
    actions: tuple[int, ...] = ()
    end_reason: EndReason.ValueType = EndReason.END_REASON_UNSPECIFIED

    def text(self) -> str:
        """Five words: version, cause, seat, actions, end reason; "-" for no actions."""
        actions = ",".join(map(str, self.actions)) or "-"
        return f"{self.version} {int(self.cause)} {self.seat} {actions} {int(self.end_reason)}"

    @classmethod
    def parse(cls, text: str) -> ChainEntry:
        """The entry that a text tells; raises ValueError if it is none."""
        version, cause, seat, actions, end_reason = text.split(" ")
        played = () if actions == "-" else tuple(map(int, actions.split(",")))
        return cls(
            int(version),
            LogCause.ValueType(int(cause)),
            int(seat),
            played,
            EndReason.ValueType(int(end_reason)),
        )


def first_link(game_id: str, commitment: bytes) -> bytes:
    """The link before the first entry."""
    return hashlib.sha256(LOG + game_id.encode() + b" " + commitment).digest()


def link(before: bytes, text: str) -> bytes:
    """The link of an entry."""
    return hashlib.sha256(before + text.encode()).digest()


def commitment(secret: bytes) -> bytes:
    """What is shown of a secret before the first action."""
    return hashlib.sha256(secret).digest()


def is_house(bot: str) -> bool:
    """Whether a bot is one of the arena's own, which add no entropy to the chance of a game."""
    return bot.startswith("house/")


def chance_key(secret: bytes, entropy: Sequence[bytes]) -> bytes:
    """The key that follows from the secret and from what the seats added."""
    message = SEAT_ENTROPY + b"".join(bytes([len(each)]) + each for each in entropy)
    return hmac.digest(secret, message, "sha256")
