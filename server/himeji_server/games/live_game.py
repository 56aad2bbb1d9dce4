"""A game as one process knows it: the log replayed, ready for the next commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from himeji import rules
from himeji.rules.chance import Keyed, Recorded
from himeji.rules.errors import HimejiError, IllegalAction, UnknownAction
from himeji.rules.game import DRAW, ROLL, Game as Engine
from himeji.v1.game_pb2 import EndReason, Game, StopReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import NOBODY, ChainEntry, chance_key, first_link, link

from himeji_server.store.game_records import (
    PLAYING,
    Commit,
    CommitReply,
    Entry,
    Snapshot,
    StoredGame,
    StoredSeat,
)

# Looked up once: by name, each costs a microsecond.
_ALL_PLAYED: Final = StopReason.STOP_REASON_ALL_PLAYED
_GAME_OVER: Final = StopReason.STOP_REASON_GAME_OVER
_ILLEGAL: Final = StopReason.STOP_REASON_ILLEGAL_ACTION
_NOT_YOURS: Final = StopReason.STOP_REASON_NOT_YOUR_DECISION
_REVEALED: Final = StopReason.STOP_REASON_CHANCE_REVEALED


class BrokenLogError(Exception):
    """The log does not make the game that the store says it makes: it was lost in part."""


class Link(NamedTuple):
    """How far a log was seen: whoever has it must have this part, whatever comes after."""

    version: int
    chain: bytes


class GivenAnswer(NamedTuple):
    """An answer that stands in the log."""

    seat: int
    actions: tuple[int, ...]
    entry: Entry


class PlayedPrefix(NamedTuple):
    """How far a plan of actions went, and why no further."""

    played: tuple[int, ...]
    stop: StopReason.ValueType
    refusal: IllegalAction | UnknownAction | None = None


@dataclass(slots=True)
class LiveGame:
    """A game with its engine. Whoever changes it has a turn, and commits before anyone looks."""

    stored: StoredGame
    engine: Engine | None = None
    answers: dict[int, GivenAnswer] = field(default_factory=dict)  # by decision
    log: list[Entry] = field(default_factory=list)
    game_id: str = field(init=False)

    def __post_init__(self) -> None:
        self.game_id = self.stored.header.game_id

    @property
    def link(self) -> Link:
        """How far its log is known."""
        return Link(self.stored.version, self.stored.chain)

    @property
    def header(self) -> Game:
        """What never changes about the game."""
        return self.stored.header

    @property
    def asks_a_lost_seat(self) -> bool:
        """Whether the stand-in is to play."""
        stored = self.stored
        return stored.state == PLAYING and stored.seats[stored.seat].lost != 0

    @property
    def asked_bot(self) -> str:
        """The bot that is asked, "" for none."""
        stored = self.stored
        if stored.state != PLAYING or stored.seats[stored.seat].lost:
            return ""
        return stored.seats[stored.seat].bot

    @property
    def event_count(self) -> int:
        """How many events the game has so far."""
        return len(self.engine.log or ()) if self.engine is not None else 0

    def committed(self, commit: Commit, outcome: CommitReply) -> Entry:
        """Come in step with what was committed; its entry in the log."""
        _, version, time, charged, added, left = outcome
        entry = Entry(
            version, commit.entry, time, charged, added, left, commit.stop, commit.refusal
        )
        self.log.append(entry)
        before, state = self.stored, commit.state
        decided = commit.new_decision
        # Spelled out: dataclasses.replace takes ten times as long, and this is done for each Act.
        self.stored = StoredGame(
            header=before.header,
            secret=before.secret,
            state=state,
            version=version,
            decision=version if decided else before.decision,
            seat=commit.next_seat,
            asked=time if decided else before.asked,
            chain=commit.chain,
            snapshot=Snapshot(version, commit.snapshot) if commit.snapshot else before.snapshot,
            seats=_seats_after(before.seats, commit, left),
            result=commit.result,
            created=before.created,
            started=before.started or (time if state == PLAYING else 0),
            ended=time if commit.result else 0,
            creator=before.creator,
            expires=before.expires,
            log=before.log,
        )
        return entry

    def seats_of(self, bot: str) -> list[int]:
        """The seats that a bot has in the game."""
        return [seat for seat, held in enumerate(self.stored.seats) if held.bot == bot]

    def open_seats(self) -> list[int]:
        """The seats that nobody has."""
        return self.seats_of("")

    def lost_seats(self) -> dict[int, int]:
        """The seats that were lost, with the version at which each was."""
        return {n: held.lost_at for n, held in enumerate(self.stored.seats) if held.lost}


def _seats_after(before: Sequence[StoredSeat], commit: Commit, left: int) -> list[StoredSeat]:
    """The seats after a commit that left this much on the clock that ran."""
    seats = list(before)
    if commit.clock_seat != NOBODY:
        seats[commit.clock_seat] = seats[commit.clock_seat].with_left(left)
    if (lost := commit.lost) is not None:
        seats[lost.seat] = replace(seats[lost.seat], lost=lost.reason, lost_at=lost.version)
    return seats


def restore(stored: StoredGame) -> LiveGame:
    """Replay a log from its beginning; raises BrokenLogError if it is not what was committed."""
    game = LiveGame(stored)
    chain = first_link(game.game_id, stored.header.chance.commitment)
    if stored.snapshot is not None and not 0 < stored.snapshot.version <= stored.version:
        raise BrokenLogError(f"the snapshot of {game.game_id} is none")
    _live_through(game, stored, chain, 0)
    return game


def catch_up(game: LiveGame, newer: StoredGame) -> bool:
    """Live through what the log has after a table's version; whether there is anything.

    Raises BrokenLogError if it does not go on from there; what the table has is void then.
    """
    before = game.stored
    game.stored = newer
    if (newer.version, newer.chain) == (before.version, before.chain):
        return False
    try:
        _live_through(game, newer, before.chain, before.decision)
    except BaseException:
        game.stored = before  # which is what was seen
        raise
    return True


def _live_through(game: LiveGame, stored: StoredGame, chain: bytes, decision: int) -> None:
    """Live through the entries of a log that come next, to where the store says that it leads."""
    game_id, snapshot = game.game_id, stored.snapshot
    for number, entry in enumerate(stored.log, start=len(game.log) + 1):
        try:
            words = ChainEntry.parse(entry.text)
        except ValueError as error:
            raise BrokenLogError(f"{game_id} {number}: {entry.text!r} is none") from error
        if not number == entry.version == words.version:
            raise BrokenLogError(f"version {number} of {game_id} is missing")
        chain = link(chain, entry.text)
        decision = _follow(game, words, entry, decision)
        if snapshot is not None and snapshot.version == number:
            _check_position(game, snapshot)
    if chain != stored.chain or len(game.log) != stored.version:
        raise BrokenLogError(f"the chain of {game_id} is broken")


def _check_position(game: LiveGame, snapshot: Snapshot) -> None:
    if game.engine is None or game.engine.dumps() != snapshot.position:
        raise BrokenLogError(f"the log of {game.game_id} leads to another position")


def check_holds(stored: StoredGame, seen: Link | None) -> None:
    """Raise BrokenLogError unless the log leads through a version and link that were seen before.

    What a failover takes from the end of a log leaves the rest whole: only who saw more knows.
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


def _follow(game: LiveGame, words: ChainEntry, entry: Entry, decision: int) -> int:
    """Live through one entry; the decision that is open after it."""
    asked = game.engine.to_move if game.engine is not None else None
    try:
        if words.cause == LogCause.LOG_CAUSE_START:
            game.engine = begin(game)
        elif game.engine is not None:
            for action in words.actions:
                game.engine.apply(action)
    except HimejiError as error:
        raise BrokenLogError(f"{game.game_id} {entry.text}: {error}") from error
    game.log.append(entry)
    if words.cause == LogCause.LOG_CAUSE_ANSWER:
        game.answers[decision] = GivenAnswer(words.seat, words.actions, entry)
    lost_another = words.cause == LogCause.LOG_CAUSE_SEAT_LOST and words.seat != asked
    return decision if lost_another else words.version


def begin(game: LiveGame) -> Engine:
    """Set the game up with the key that follows from the secret and the seats' entropy."""
    header, stored = game.header, game.stored
    key = chance_key(stored.secret, [seat.entropy for seat in stored.seats])
    options = {option.name: option.value for option in header.options}
    return rules.new_game(
        header.ruleset, len(header.seats), chance=Recorded(Keyed(key)), options=options
    )


def play_prefix(engine: Engine, actions: Sequence[int]) -> PlayedPrefix:
    """Play the longest prefix that is legal, stays the seat's, and reveals no chance before it."""
    seat = engine.to_move
    played: list[int] = []
    for action in actions:
        if engine.over:
            return PlayedPrefix(tuple(played), _GAME_OVER)
        if engine.to_move != seat:
            return PlayedPrefix(tuple(played), _NOT_YOURS)
        events = len(engine.log or ())
        try:
            engine.apply(action)
        except (IllegalAction, UnknownAction) as refusal:
            return PlayedPrefix(tuple(played), _ILLEGAL, refusal)
        played.append(action)
        if len(played) < len(actions) and _reveals(engine, events):
            return PlayedPrefix(tuple(played), _REVEALED)
    return PlayedPrefix(tuple(played), _ALL_PLAYED)


def _reveals(engine: Engine, events: int) -> bool:
    """Whether chance is among the events after the first so many."""
    return any(record[0] in (ROLL, DRAW) for record in (engine.log or [])[events:])


def asked_seat(engine: Engine) -> int:
    """The seat that is asked, NOBODY when the game is over."""
    return NOBODY if engine.to_move is None else engine.to_move


def lost_reason(game: LiveGame, seat: int) -> EndReason.ValueType:
    """Why a seat's part ended, unspecified while it plays."""
    return EndReason.ValueType(game.stored.seats[seat].lost)
