"""The scripts that change games, but for commits, and the arguments of those that have many.

Redis passes arguments by position. Each script names them in its first lines, each record here has
the same names in the same order, and a test compares the two.
"""

from typing import Final, NamedTuple

from himeji.rules.errors import UnknownGame

from himeji_server.store.pipelining import Script

TAKE_SEAT: Final = Script("notify", "index", "take_seat")
VOID: Final = Script("notify", "index", "void_game")
LEAVE_SEATS: Final = Script("notify", "index", "leave_seats")
SUBSCRIBE: Final = Script("subscribe")
CREATE: Final = Script("index", "create_game")
COUNT_STRIKE: Final = Script("count_strike")
COMPACT: Final = Script("compact_game")


class TakeSeatArguments(NamedTuple):
    """The arguments of take_seat.lua, in its order."""

    game_id: str
    seats: str
    bot: str
    bot_version: int
    entropy: bytes
    request_id: str
    channel: str
    index_changes: bytes


class VoidArguments(NamedTuple):
    """The arguments of void_game.lua, in its order."""

    game_id: str
    expected_chain: bytes
    new_chain: bytes
    entry: str
    result: bytes
    channel: str
    sender: str
    index_changes: bytes


def unknown_game(game_id: str) -> UnknownGame:
    """The error for a game that does not exist."""
    return UnknownGame(f"there is no game {game_id}", {"game_id": game_id})
