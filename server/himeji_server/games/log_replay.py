"""Rebuilds games from their logs, and finds out when a part of a log was lost.

The log is the game: it is replayed from its beginning, or from where a game in memory is, and has
to lead to the chain, the version and the snapshot that the store has.
"""

from __future__ import annotations

from himeji.rules.errors import HimejiError
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry, first_link, link

from himeji_server.games.live_game import GivenAnswer, LiveGame, LogPosition, new_engine
from himeji_server.store.game_records import Entry, Snapshot, StoredGame


class BrokenLogError(Exception):
    """The log does not lead to the game that the store has: a part of it was lost."""


def restore(stored: StoredGame) -> LiveGame:
    """Replay a log from its beginning; raises BrokenLogError if it is not what was committed."""
    game = LiveGame.of(stored)
    chain = first_link(game.game_id, stored.header.chance.commitment)
    if stored.snapshot is not None and not 0 < stored.snapshot.version <= stored.version:
        raise BrokenLogError(f"the snapshot of {game.game_id} has no version of its log")
    _replay(game, stored, chain, 0)
    game.show(stored)
    return game


def catch_up(game: LiveGame, newer: StoredGame) -> bool:
    """Replay the entries after a game's version; whether there were any.

    Raises BrokenLogError if they do not continue from there; the game must be dropped then.
    """
    before = game.stored
    if (newer.version, newer.chain) == (before.version, before.chain):
        game.show(newer)
        return False
    game.played.is_ahead = True
    _replay(game, newer, before.chain, before.decision)
    game.show(newer)
    return True


def check_contains(stored: StoredGame, seen: LogPosition | None) -> None:
    """Raise BrokenLogError unless the log contains a position that was seen before.

    A failover may take entries from the end of a log; what is left is whole, and only a process
    that saw more can tell.
    """
    if seen is None:
        return
    version, chain = seen
    found = first_link(stored.header.game_id, stored.header.chance.commitment)
    for entry in stored.log[:version]:
        found = link(found, entry.text)
    if len(stored.log) < version or found != chain:
        raise BrokenLogError(
            f"version {version} of {stored.header.game_id} was committed, and lost"
        )


def _replay(game: LiveGame, stored: StoredGame, chain: bytes, decision: int) -> None:
    """Replay the next entries, up to where the store says that the log leads."""
    game_id, snapshot = game.game_id, stored.snapshot
    for number, entry in enumerate(stored.log, start=len(game.played.log) + 1):
        try:
            parsed = ChainEntry.parse(entry.text)
        except ValueError as error:
            raise BrokenLogError(f"{game_id} {number}: cannot read {entry.text!r}") from error
        if not number == entry.version == parsed.version:
            raise BrokenLogError(f"version {number} of {game_id} is missing")
        chain = link(chain, entry.text)
        decision = _replay_entry(game, stored, parsed, entry, decision)
        if snapshot is not None and snapshot.version == number:
            _check_snapshot(game, snapshot)
    if chain != stored.chain or len(game.played.log) != stored.version:
        raise BrokenLogError(f"the chain of {game_id} is broken")


def _replay_entry(
    game: LiveGame, stored: StoredGame, parsed: ChainEntry, entry: Entry, decision: int
) -> int:
    """Replay one entry; the decision that is open after it."""
    asked = game.engine.to_move if game.engine is not None else None
    try:
        if parsed.cause == LogCause.LOG_CAUSE_START:
            game.played.engine = new_engine(stored)
        elif game.engine is not None:
            for action in parsed.actions:
                game.engine.apply(action)
    except HimejiError as error:
        raise BrokenLogError(f"{game.game_id} {entry.text}: {error}") from error
    game.played.log.append(entry)
    if parsed.cause == LogCause.LOG_CAUSE_ANSWER:
        game.played.answers[decision] = GivenAnswer(parsed.seat, parsed.actions, entry)
    lost_another = parsed.cause == LogCause.LOG_CAUSE_SEAT_LOST and parsed.seat != asked
    return decision if lost_another else parsed.version


def _check_snapshot(game: LiveGame, snapshot: Snapshot) -> None:
    if game.engine is None or game.engine.dumps() != snapshot.position:
        raise BrokenLogError(f"the log of {game.game_id} leads to another position")
