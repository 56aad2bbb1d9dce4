"""A game in memory (LiveGame), and one version of it as readers see it (GameView).

Invariant: a LiveGame is changed only under the game's lock, and its view is replaced as
a whole when a commit stands. A view never changes, so a reader may keep it over any pause; nobody
but the code that makes commits touches the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from himeji import rules
from himeji.rules.chance import Keyed, Recorded
from himeji.rules.game import Game as Engine, Record
from himeji.rules.ruleset import Ruleset
from himeji.v1.game_pb2 import Game
from himeji.wire.chain import NOBODY, ChainEntry, chance_key

from himeji_server.store.game_records import (
    PLAYING,
    WAITING,
    Commit,
    CommitReply,
    Entry,
    Snapshot,
    StoredGame,
    StoredSeat,
)


class LogPosition(NamedTuple):
    """How far a log was seen: a store that has less of it, or something else, has lost a part."""

    version: int
    chain: bytes


class Fingerprint(NamedTuple):
    """One view of a game among all views of it."""

    version: int
    chain: bytes
    state: str
    bots: tuple[str, ...]


class GivenAnswer(NamedTuple):
    """An answer that stands in the log."""

    seat: int
    actions: tuple[int, ...]
    entry: Entry


class LoggedAction(NamedTuple):
    """An action of the log, with the version at which it was played."""

    version: int
    action: int


@dataclass(slots=True)
class PlayedGame:
    """The engine and the log of a game in memory: what views of it read.

    It does not refer to a view. If it did, a game that is dropped would be a reference cycle, which
    lives until the garbage collector comes by, and that is rare (see launch/runtime.py).
    """

    game_id: str
    engine: Engine | None = None  # None before the game begins
    answers: dict[int, GivenAnswer] = field(default_factory=dict)  # by decision
    log: list[Entry] = field(default_factory=list)
    version: int = 0  # where the engine is, unless it is ahead
    is_ahead: bool = False
    """Whether the engine has played what is not committed yet, or is being brought up to date."""


@dataclass(slots=True)
class LiveGame:
    """A game in memory, where commits are made."""

    played: PlayedGame
    view: GameView
    """The game as it was committed last."""

    @classmethod
    def of(cls, stored: StoredGame) -> LiveGame:
        """The game without its log: enough for lists, and the start of a replay."""
        played = PlayedGame(stored.header.game_id)
        return cls(played, GameView(stored, 0, played))

    @property
    def game_id(self) -> str:
        return self.played.game_id

    @property
    def stored(self) -> StoredGame:
        """The game as it was committed last."""
        return self.view.stored

    @property
    def engine(self) -> Engine | None:
        return self.played.engine

    def show(self, stored: StoredGame) -> None:
        """Replace the view: the engine is where the store is."""
        played, engine = self.played, self.played.engine
        played.is_ahead, played.version = False, stored.version
        events = len(engine.log or ()) if engine is not None else 0
        self.view = GameView(stored, events, played)

    def apply(self, commit: Commit, reply: CommitReply, engine: Engine | None) -> Entry:
        """Take over what was committed; its entry in the log."""
        _, version, time, charged, added, left = reply
        entry = Entry(
            version, commit.entry, time, charged, added, left, commit.stop, commit.refusal
        )
        self.played.log.append(entry)
        self.played.engine = engine
        before, state = self.view.stored, commit.state
        is_new = commit.new_decision
        # Spelled out: dataclasses.replace takes ten times as long, and this runs for each answer.
        self.show(
            StoredGame(
                header=before.header,
                secret=before.secret,
                state=state,
                version=version,
                decision=version if is_new else before.decision,
                seat=commit.next_seat,
                asked=time if is_new else before.asked,
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
        )
        return entry


@dataclass(frozen=True, slots=True, eq=False)
class GameView:
    """One version of a game, for readers; it may be kept over any pause.

    What depends on the position comes from the live engine as long as that is at this version.
    Afterwards the log is replayed up to here, which costs milliseconds and happens rarely.
    """

    stored: StoredGame
    event_count: int
    """How many events the game has so far."""

    _played: PlayedGame = field(repr=False)

    @property
    def game_id(self) -> str:
        return self._played.game_id

    @property
    def header(self) -> Game:
        """What never changes about the game."""
        return self.stored.header

    @property
    def position_in_log(self) -> LogPosition:
        return LogPosition(self.stored.version, self.stored.chain)

    def fingerprint(self) -> Fingerprint:
        """What differs between any two views of a game that have to be published."""
        stored = self.stored
        # Seats are taken and left without a version of their own, before the game begins.
        bots = tuple(seat.bot for seat in stored.seats) if stored.state == WAITING else ()
        return Fingerprint(stored.version, stored.chain, stored.state, bots)

    # --- seats ----------------------------------------------------------------------------------

    @property
    def asked_bot(self) -> str:
        """The bot that has to answer, "" for none."""
        stored = self.stored
        if stored.state != PLAYING or stored.seats[stored.seat].lost:
            return ""
        return stored.seats[stored.seat].bot

    @property
    def asks_a_lost_seat(self) -> bool:
        """Whether the stand-in has to answer."""
        stored = self.stored
        return stored.state == PLAYING and stored.seats[stored.seat].lost != 0

    def seats_of(self, bot: str) -> list[int]:
        """The seats that a bot has in the game."""
        return [seat for seat, held in enumerate(self.stored.seats) if held.bot == bot]

    def open_seats(self) -> list[int]:
        """The seats that nobody has."""
        return self.seats_of("")

    def lost_seats(self) -> dict[int, int]:
        """The seats that were lost, with the version at which each was."""
        return {n: held.lost_at for n, held in enumerate(self.stored.seats) if held.lost}

    # --- the log --------------------------------------------------------------------------------

    @property
    def log(self) -> Sequence[Entry]:
        """The entries up to this version."""
        return self._played.log[: self.stored.version]

    def answer_to(self, decision: int) -> GivenAnswer | None:
        """The answer that stands for a decision, None if there is none."""
        answer = self._played.answers.get(decision)
        return answer if answer is None or answer.entry.version <= self.stored.version else None

    def logged_actions(self) -> list[LoggedAction]:
        """Every action of the log, in order."""
        entries = [ChainEntry.parse(entry.text) for entry in self.log]
        return [LoggedAction(each.version, action) for each in entries for action in each.actions]

    # --- the position ---------------------------------------------------------------------------

    @property
    def has_position(self) -> bool:
        """Whether the game has begun, and its log can be replayed."""
        return self._played.engine is not None and self.stored.started > 0

    @property
    def ruleset(self) -> Ruleset:
        return rules.ruleset(self.stored.header.ruleset)

    def legal(self) -> Sequence[int]:
        """What may be answered to the open decision."""
        return self._engine().legal()

    def step_kind(self) -> int:
        """The kind of the open decision, as the ruleset numbers them."""
        engine = self._engine()
        return engine.ruleset.step_parts(engine.stack[-1])[0]

    def events(self, first: int = 0) -> Sequence[Record]:
        """The events after the first so many; the log of an engine only grows."""
        engine = self._played.engine
        return (engine.log or [])[first : self.event_count] if engine is not None else ()

    def event_text(self, record: Record) -> str:
        """An event in words."""
        return self.ruleset.tell(record, len(self.stored.seats))

    def chance_results(self) -> Sequence[tuple[str, int]]:
        """What chance has decided so far, by slots."""
        chance = self._engine().chance
        return [*chance.results] if isinstance(chance, Recorded) else ()

    def copy(self) -> Engine:
        """The position as a game of the caller's own, without its log."""
        return self._engine().clone()

    def restart(self) -> Engine:
        """The game as it began, to be played again by the log."""
        return new_engine(self.stored)

    def _engine(self) -> Engine:
        """The engine at this version, which must not be changed."""
        played = self._played
        engine = played.engine
        if engine is None:
            raise RuntimeError(f"{played.game_id} has not begun")
        if played.version == self.stored.version and not played.is_ahead:
            return engine
        engine = self.restart()
        for each in self.logged_actions():
            engine.apply(each.action)
        return engine


def new_engine(stored: StoredGame) -> Engine:
    """Set the game up with the key that follows from the secret and the seats' entropy."""
    key = chance_key(stored.secret, [seat.entropy for seat in stored.seats])
    options = {option.name: option.value for option in stored.header.options}
    return rules.new_game(
        stored.header.ruleset,
        len(stored.header.seats),
        chance=Recorded(Keyed(key)),
        options=options,
    )


def asked_seat(engine: Engine) -> int:
    """The seat that is asked, NOBODY when the game is over."""
    return NOBODY if engine.to_move is None else engine.to_move


def _seats_after(before: Sequence[StoredSeat], commit: Commit, left: int) -> list[StoredSeat]:
    """The seats after a commit that left this much on the clock that ran."""
    seats = list(before)
    if commit.clock_seat != NOBODY:
        seats[commit.clock_seat] = seats[commit.clock_seat].with_left(left)
    if (lost := commit.lost) is not None:
        seats[lost.seat] = replace(seats[lost.seat], lost=lost.reason, lost_at=lost.version)
    return seats
