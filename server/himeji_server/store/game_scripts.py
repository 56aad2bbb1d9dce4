"""The scripts that change games, and the arguments of those that have many.

Redis passes arguments by position. Each script names them in its first lines, each record here has
the same names in the same order, and a test compares the two.
"""

from typing import Final, NamedTuple

from himeji_server.store.client import Script

COMMIT: Final = Script("notify", "commit")
TAKE_SEAT: Final = Script("notify", "take_seat")
VOID: Final = Script("notify", "void_game")
LEAVE_SEATS: Final = Script("notify", "leave_seats")
SUBSCRIBE: Final = Script("subscribe")
CREATE: Final = Script("create_game")
COUNT_STRIKE: Final = Script("count_strike")
COMPACT: Final = Script("compact_game")


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
