"""The commit of a change: the one script that compares and sets, its arguments, its reply.

Redis passes arguments by position. commit.lua names them in its first lines, CommitArguments has
the same names in the same order, and a test compares the two. There is no future: the reply goes to
a CommitCallback (see games/commits.py for what that is worth).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from himeji.rules.errors import UnknownGame
from himeji.wire.chain import NOBODY

from himeji_server import metrics
from himeji_server.store import keys
from himeji_server.store.client import Store
from himeji_server.store.game_format import without_version
from himeji_server.store.game_records import Commit, CommitReply, CommitStatus
from himeji_server.store.game_scripts import unknown_game
from himeji_server.store.pipelining import Script, ScriptCall

COMMIT: Final = Script("notify", "index", "commit")
COMPACT_AFTER: Final = 60_000
"""Milliseconds after its end that a game keeps its form: spectators are still reading it."""

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
    index_changes: bytes


class CommitCallback(Protocol):
    """Who waits for a commit, without a future."""

    def on_reply(self, reply: CommitReply | Exception) -> None:
        """Called once, from the event loop, with what became of the commit."""
        ...


class CommitReceiver:
    """Receives the reply of commit.lua."""

    __slots__ = ("_commit", "_pending")

    def __init__(self, commit: Commit, pending: CommitCallback) -> None:
        self._commit = commit
        self._pending = pending

    def receive(self, reply: Any) -> None:
        """Pass the reply, or the error instead of it, on."""
        failed = isinstance(reply, Exception)
        self._pending.on_reply(reply if failed else _commit_reply(self._commit, reply))


def _commit_reply(commit: Commit, reply: Sequence[Any]) -> CommitReply | UnknownGame:
    status = _STATUSES[reply[0]]
    metrics.committed(status, decision=status is _OK and commit.answered > 0)
    if status is _OK:
        return CommitReply(status, *reply[1:])
    if status is CommitStatus.MISSING:
        return unknown_game(commit.game_id)
    return CommitReply(status)


class CommitWriter:
    """Sends the commits of one process."""

    def __init__(self, store: Store, process: str) -> None:
        """`process` is the name under which the store notifies this process."""
        self._store = store
        self._process = process

    def commit(self, commit: Commit, pending: CommitCallback) -> None:
        """Commit a change if the game is as the change expects it; `pending` gets the reply."""
        game_id, lost = commit.game_id, commit.lost
        arguments = CommitArguments(
            game_id=game_id,
            expected_state=commit.expected_state,
            expected_version=commit.expected_version,
            expected_chain=commit.expected_chain,
            new_chain=commit.chain,
            entry=without_version(commit.entry),
            snapshot=commit.snapshot,
            clock_seat=commit.clock_seat,
            answered=commit.answered,
            next_seat=commit.next_seat,
            decision="new" if commit.new_decision else "same",
            clock_condition=commit.clock,
            new_state=commit.state,
            result=commit.result,
            channel=keys.game_channel_prefix(game_id),
            stop=f"{commit.stop} {commit.refusal}" if commit.refusal else commit.stop,
            compact_after=COMPACT_AFTER,
            sender=self._process,
            lost_seat=NOBODY if lost is None else lost.seat,
            lost="" if lost is None else f"{lost.reason} {lost.version}",
            index_changes=commit.index_changes,
        )

        receiver = CommitReceiver(commit, pending)
        call = ScriptCall(self._store.sender, COMMIT, keys.of_game(game_id), arguments, receiver)
        call.send()
