"""Records of games in the store, and what its scripts reply about them."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from himeji.v1.game_pb2 import Game

from himeji_server.names import GUEST


class StoredState(StrEnum):
    """The state of a game, as its hash has it."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"


# Bound once: Python 3.11 takes 0.2 µs to look a member up in its class, and a decision compares
# states a dozen times.
WAITING: Final = StoredState.WAITING
PLAYING: Final = StoredState.PLAYING
OVER: Final = StoredState.OVER


class ClockCondition(StrEnum):
    """What the clock of a seat has to be for a commit to be accepted."""

    NONE = ""
    RUNNING = "running"
    FALLEN = "fallen"


class CommitStatus(StrEnum):
    """What became of a commit; only OK changed anything."""

    OK = "ok"
    CONFLICT = "conflict"  # another commit was faster
    WRONG_STATE = "state"  # the game does not wait, or is not played, any more
    CLOCK_FALLEN = "fallen"
    CLOCK_RUNNING = "running"
    MISSING = "missing"


class SeatStatus(StrEnum):
    """What became of a request to take or to leave seats."""

    OK = "ok"
    REPEATED = "repeated"  # the same request took the seat before
    TAKEN = "taken"  # none of the seats is open
    FULL = "full"  # all seats are taken: nobody leaves any more
    WRONG_STATE = "state"  # the game does not wait any more
    MISSING = "missing"


class Entry(NamedTuple):
    """An entry of a log: its line in the hash chain, and what it did to the clock."""

    version: int
    text: str
    time: int
    charged: int
    added: int
    left: int
    stop: int  # why an answer went no further
    refusal: str = ""  # of the action at which it stopped: the rule, a space, and the message


class Snapshot(NamedTuple):
    """The position that a log led to at a version; replaying the log must lead to the same."""

    version: int
    position: bytes


@dataclass(slots=True)
class StoredSeat:
    """A seat of a game."""

    bot: str = ""
    bot_version: int = 0
    entropy: bytes = b""
    left: int = 0
    strikes: int = 0
    lost: int = 0  # the end reason, 0 while the seat plays
    lost_at: int = 0  # the version at which it was lost
    given_up_by: str = ""  # the last bot that took the seat and gave it up before the game began

    def with_left(self, left: int) -> "StoredSeat":
        """Copy the seat with this much time left; `dataclasses.replace` takes ten times as long."""
        return StoredSeat(
            *(self.bot, self.bot_version, self.entropy, left),
            *(self.strikes, self.lost, self.lost_at, self.given_up_by),
        )


class Creator(NamedTuple):
    """Who created a game; nobody, if the arena seats the bots."""

    owner: str = ""
    bot: str = ""  # the bot that the token was bound to; empty if it was good for all

    @property
    def counted_as(self) -> str:
        """For whom an unfinished game counts: guests of the page each have a quota of their own."""
        return self.bot if self.owner == GUEST else self.owner


NO_CREATOR: Final = Creator()


@dataclass(slots=True)
class StoredGame:
    """A game as the store has it, with the part of its log that was loaded."""

    header: Game
    secret: bytes
    state: StoredState
    version: int
    decision: int
    seat: int
    asked: int
    chain: bytes
    snapshot: Snapshot | None
    seats: list[StoredSeat]
    result: bytes
    created: int
    started: int
    ended: int
    creator: Creator = NO_CREATOR
    expires: int = 0  # when it is cancelled if it still waits
    log: list[Entry] = field(default_factory=list)


class LostSeat(NamedTuple):
    """A seat that a commit loses."""

    seat: int
    reason: int
    version: int


@dataclass(slots=True)
class Commit:
    """A change of a game, complete except for the time, which the store adds."""

    game_id: str
    expected_state: StoredState
    expected_version: int
    expected_chain: bytes
    chain: bytes
    entry: str
    snapshot: bytes  # the position, or nothing
    state: StoredState
    next_seat: int
    new_decision: bool = True
    clock_seat: int = -1
    answered: int = 0
    clock: ClockCondition = ClockCondition.NONE
    result: bytes = b""
    stop: int = 0
    refusal: str = ""  # as in the entry
    lost: LostSeat | None = None
    index_changes: bytes = b""  # if the game begins or ends


_OK: Final = CommitStatus.OK


class CommitReply(NamedTuple):
    """The reply to a commit; what follows the status is set only if that is OK."""

    status: CommitStatus
    version: int = 0
    time: int = 0
    charged: int = 0
    added: int = 0
    left: int = 0

    @property
    def ok(self) -> bool:
        """Whether it was committed."""
        return self.status is _OK


@dataclass(frozen=True)
class SeatRequest:
    """A bot that takes a seat."""

    bot: str
    bot_version: int
    entropy: bytes
    request_id: str
