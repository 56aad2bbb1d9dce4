"""The scripts that change games, the arguments of those that have many, and the reply to a commit.

Redis passes arguments by position. Each script names them in its first lines, each record here has
the same names in the same order, and a test compares the two.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from himeji.rules.errors import UnknownGame

from himeji_server import metrics
from himeji_server.store.client import Script
from himeji_server.store.game_records import Commit, CommitReply, CommitStatus

COMMIT: Final = Script("notify", "commit")
TAKE_SEAT: Final = Script("notify", "take_seat")
VOID: Final = Script("notify", "void_game")
LEAVE_SEATS: Final = Script("notify", "leave_seats")
SUBSCRIBE: Final = Script("subscribe")
CREATE: Final = Script("create_game")
COUNT_STRIKE: Final = Script("count_strike")
COMPACT: Final = Script("compact_game")


_OK: Final = CommitStatus.OK
_STATUSES: Final = {status.encode(): status for status in CommitStatus}


class CommitArguments(NamedTuple):
    """The arguments of commit.lua, in its order; commit.lua says what each is."""

    game_id: str
    expected_state: str
    expected_version: int
    expected_chain: bytes
    new_chain: bytes
    entry: str
    snapshot: bytes
    clock_seat: int
    answered: int
    next_seat: int
    decision: str
    clock_condition: str
    new_state: str
    result: bytes
    channel: str
    stop: int | str
    compact_after: int
    sender: str
    lost_seat: int
    lost: str


class TakeSeatArguments(NamedTuple):
    """The arguments of take_seat.lua, in its order."""

    game_id: str
    seats: str
    bot: str
    bot_version: int
    entropy: bytes
    request_id: str
    channel: str


class VoidArguments(NamedTuple):
    """The arguments of void_game.lua, in its order."""

    game_id: str
    expected_chain: bytes
    new_chain: bytes
    entry: str
    result: bytes
    channel: str
    sender: str


class PendingWrite(Protocol):
    """Who waits for a commit, without a future."""

    def stored(self, reply: CommitReply | Exception) -> None:
        """Called once, from the event loop, with what became of the commit."""
        ...


class CommitReceiver:
    """Receives the reply of commit.lua."""

    __slots__ = ("_commit", "_pending")

    def __init__(self, commit: Commit, pending: PendingWrite) -> None:
        self._commit = commit
        self._pending = pending

    def receive(self, reply: Any) -> None:
        """Pass the reply, or the error instead of it, on."""
        failed = isinstance(reply, Exception)
        self._pending.stored(reply if failed else _commit_reply(self._commit, reply))


def _commit_reply(commit: Commit, reply: Sequence[Any]) -> CommitReply | UnknownGame:
    status = _STATUSES[reply[0]]
    metrics.committed(status, decision=status is _OK and commit.answered > 0)
    if status is _OK:
        return CommitReply(status, *reply[1:])
    if status is CommitStatus.MISSING:
        return unknown_game(commit.game_id)
    return CommitReply(status)


def unknown_game(game_id: str) -> UnknownGame:
    """The error for a game that does not exist."""
    return UnknownGame(f"there is no game {game_id}", {"game_id": game_id})
