"""Commits: the one way to change a game.

A change is played in memory under the game's lock, committed by one script of the store that
compares and sets, and only then shown to anybody. PendingCommit is one such change on its way; its
methods stand in the order in which they run.

A commit needs neither a task nor a future: the store calls `on_reply` when its reply comes. That is
worth an eighth of the server's processor time in dense play (docs/load.md, "The quick path").
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Final, NamedTuple

import structlog
from himeji.rules.game import Game as Engine
from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import NOBODY, ChainEntry, link
from himeji.wire.clock import flag_fall_reason
from himeji.wire.results import result

from himeji_server.games.answers import Answer, Receipt
from himeji_server.games.live_game import GivenAnswer, LiveGame, asked_seat, new_engine
from himeji_server.games.live_games import LiveGames
from himeji_server.names import plays_in_browser
from himeji_server.store.game_commit import CommitWriter
from himeji_server.store.game_index import changes_of_state
from himeji_server.store.game_records import (
    OVER,
    PLAYING,
    WAITING,
    ClockCondition,
    Commit,
    CommitReply,
    Entry,
    LostSeat,
    StoredState,
)
from himeji_server.store.presence import Presence

VERSIONS_BETWEEN_SNAPSHOTS: Final = 8
"""Packing a position costs more than playing on to it from the last one."""

_FEWEST_SEATS: Final = 2  # a game in which one seat is left is over

_log = structlog.get_logger(__name__)


class Change(NamedTuple):
    """What a commit adds to the log, and under which conditions."""

    entry: ChainEntry
    expected_state: StoredState = PLAYING
    clock: ClockCondition = ClockCondition.NONE  # of the entry's seat
    answered: int = 0  # decisions, for the increments of the clock
    stop: int = 0
    refusal: str = ""  # why the next action of an answer was not legal, for its receipt
    result: bytes = b""  # if the change ends the game
    new_decision: bool = True
    lost: LostSeat | None = None


class PendingCommit(ABC):
    """One change of one game on its way to the store, and what follows from it.

    The game's lock is held from before the change is played until `_finish`.
    """

    __slots__ = ("_answer", "_commit", "_commits", "_engine", "_receipt", "game")

    def __init__(  # noqa: PLR0913, PLR0917 - what the steps need
        self,
        commits: Commits,
        game: LiveGame,
        engine: Engine | None,
        change: Change,
        answer: Answer | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        """`engine` has played the change; a bot's `answer` gets its receipt."""
        self.game = game
        self._commits = commits
        self._engine = engine
        self._answer = answer
        self._receipt = receipt
        self._commit = _record(game, engine, change)

    def send(self) -> None:
        """Step 1: send it to the store. There is no way to take it back."""
        self._commits.writer.commit(self._commit, self)

    def on_reply(self, reply: CommitReply | Exception) -> None:
        """Step 2: the store has replied. Unless it committed, the game is dropped from memory."""
        try:
            if isinstance(reply, CommitReply) and reply.ok:
                self._accept(self._apply(reply))
            else:
                self._commits.live_games.drop(self.game.game_id)
        except Exception as error:  # noqa: BLE001 - the waiting side has to get it
            self._commits.live_games.drop(self.game.game_id)
            reply = error
        if isinstance(reply, CommitReply) and reply.ok:
            try:
                self._publish()
            except Exception:  # noqa: BLE001 - the answer stands, and the lock has to be released
                _log.exception("unexpected error after a commit", game=self.game.game_id)
        self._finish(reply)

    def _apply(self, reply: CommitReply) -> Entry:
        """Step 3: the game in memory takes over what was committed."""
        self._commits.live_games.clock.synchronise(reply.time)
        return self.game.apply(self._commit, reply, self._engine)

    def _accept(self, entry: Entry) -> None:
        """Step 4: the bot that answered gets its receipt, before the new view is published."""
        if self._answer is not None and self._receipt is not None:
            receipt = self._receipt
            receipt.entry = entry
            seat = self._commit.clock_seat
            self.game.played.answers[receipt.decision] = GivenAnswer(seat, receipt.actions, entry)
            self._answer.accepted(self.game.view, receipt)

    def _publish(self) -> None:
        """Step 5: publish the view in this process; the script has notified the other ones."""
        commits, game = self._commits, self.game
        commits.live_games.subscribers.publish(game.view)
        commits.live_games.committed(game)
        if game.view.asks_a_lost_seat:
            commits.stand_ins.put_nowait(game.game_id)

    @abstractmethod
    def _finish(self, reply: CommitReply | Exception) -> None:
        """Step 6: release the lock, or wake up the coroutine that holds it."""


class AwaitedCommit(PendingCommit):
    """A commit that a coroutine waits for; the coroutine holds the lock."""

    __slots__ = ("reply",)

    def __init__(  # noqa: PLR0913, PLR0917 - as above
        self,
        commits: Commits,
        game: LiveGame,
        engine: Engine | None,
        change: Change,
        answer: Answer | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        super().__init__(commits, game, engine, change, answer, receipt)
        self.reply: asyncio.Future[CommitReply] = asyncio.get_running_loop().create_future()

    def _finish(self, reply: CommitReply | Exception) -> None:
        if self.reply.done():  # the waiting coroutine was cancelled
            return
        if isinstance(reply, Exception):
            self.reply.set_exception(reply)
        else:
            self.reply.set_result(reply)


class Commits:
    """Makes the changes that commands and timers need. All of it needs the game's lock."""

    def __init__(self, live_games: LiveGames, writer: CommitWriter, presence: Presence) -> None:
        self.live_games = live_games
        self.writer = writer
        self.stand_ins: asyncio.Queue[str] = asyncio.Queue()
        """Games in which the stand-in has to answer; if this process dies, a sweep finds them."""
        self._presence = presence

    async def commit(
        self,
        game: LiveGame,
        engine: Engine | None,
        change: Change,
        answer: Answer | None = None,
        receipt: Receipt | None = None,
    ) -> CommitReply:
        """Commit what `engine` has played, and wait until it is published.

        Unless the reply is ok, the game was dropped. If the caller is cancelled, the commit goes
        on.
        """
        pending = AwaitedCommit(self, game, engine, change, answer, receipt)
        pending.send()
        try:
            return await pending.reply
        except asyncio.CancelledError:
            self.live_games.drop(game.game_id)  # it is ahead of the store until the reply comes
            raise

    async def begin(self, game: LiveGame) -> LiveGame:
        """Begin the game once all seats are taken; harmless if another process was faster."""
        if game.stored.state != WAITING or game.view.open_seats():
            return game
        change = Change(ChainEntry(1, LogCause.LOG_CAUSE_START), expected_state=WAITING)
        await self.commit(game, new_engine(game.stored), change)
        return await self.live_games.refresh(game.game_id)

    async def flag_reason(self, bot: str) -> EndReason.ValueType:
        """Why a bot's time ran out: it was slow, or it was not connected.

        A person at the page has no stream that could be lost, and so was slow.
        """
        connected = plays_in_browser(bot) or bool(await self._presence.holder(bot))
        return flag_fall_reason(connected=connected)

    async def lose_seat(
        self,
        game: LiveGame,
        seat: int,
        reason: EndReason.ValueType,
        clock: ClockCondition = ClockCondition.NONE,
    ) -> None:
        """End a seat's part; the game goes on with the stand-in while two others play."""
        engine, stored = game.engine, game.stored
        if engine is None:
            return
        version = stored.version + 1
        lost = _lost_seats(game) | {seat: (reason, version)}
        ends = b""
        if len(stored.seats) - len(lost) < _FEWEST_SEATS:
            ends = result(engine, EndReason.END_REASON_OUTLASTED, lost).SerializeToString()
        change = Change(
            ChainEntry(version, LogCause.LOG_CAUSE_SEAT_LOST, seat, (), reason),
            clock=clock,
            result=ends,
            new_decision=seat == stored.seat,
            lost=LostSeat(seat, reason, version),
        )
        await self.commit(game, engine, change)

    async def stop(self, game: LiveGame, reason: EndReason.ValueType) -> None:
        """End a game from outside its rules: it has no ranks."""
        stored = game.stored
        entry = ChainEntry(stored.version + 1, LogCause.LOG_CAUSE_STOPPED, end_reason=reason)
        ends = result(None, reason, {}).SerializeToString()
        change = Change(entry, expected_state=stored.state, result=ends)
        await self.commit(game, game.engine, change)


def _record(game: LiveGame, engine: Engine | None, change: Change) -> Commit:
    """The commit as the store takes it."""
    stored, entry, ends = game.stored, change.entry, change.result
    text = entry.text()
    if engine is not None and engine.over and not ends:
        ends = result(engine, EndReason.END_REASON_FINISHED, _lost_seats(game)).SerializeToString()
    state = OVER if ends else PLAYING
    index_changes = b""
    if state != change.expected_state:
        index_changes = changes_of_state(stored.header, change.expected_state, state)
    due = ends or stored.version % VERSIONS_BETWEEN_SNAPSHOTS == 0
    return Commit(
        game_id=game.game_id,
        expected_state=change.expected_state,
        expected_version=stored.version,
        expected_chain=stored.chain,
        chain=link(stored.chain, text),
        entry=text,
        snapshot=engine.dumps() if engine is not None and due else b"",
        state=state,
        next_seat=NOBODY if ends or engine is None else asked_seat(engine),
        new_decision=change.new_decision,
        clock_seat=entry.seat if change.clock else NOBODY,
        answered=change.answered,
        clock=change.clock,
        result=ends,
        stop=change.stop,
        refusal=change.refusal,
        lost=change.lost,
        index_changes=index_changes,
    )


def _lost_seats(game: LiveGame) -> dict[int, tuple[EndReason.ValueType, int]]:
    return {
        seat: (EndReason.ValueType(held.lost), held.lost_at)
        for seat, held in enumerate(game.stored.seats)
        if held.lost
    }
