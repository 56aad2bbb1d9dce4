"""The ledger: games in memory as the store has them, and the one way to change them.

Every change is: take a turn at the table, play in memory, commit, and only then let anybody see it.
A commit that comes too late (another process was faster) throws the table away and begins anew
from the store. Nothing is kept here that the store does not have.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

import structlog
from himeji.rules.errors import StoreUnavailable, UnknownGame
from himeji.rules.game import Game as Engine
from himeji.v1.game_pb2 import EndReason, SeatPolicy
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import NOBODY, ChainEntry, link
from himeji.wire.results import result

from himeji_server.games.game_locks import GameLocks
from himeji_server.games.live_game import (
    BrokenLogError,
    Link,
    LiveGame,
    asked_seat,
    begin,
    catch_up,
    check_holds,
    restore,
)
from himeji_server.store.client import StoreRefusedError
from himeji_server.store.game_records import (
    OVER,
    PLAYING,
    WAITING,
    ClockCondition,
    Commit,
    CommitReply,
    Entry,
    LostSeat,
    StoredGame,
    StoredState,
)
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence
from himeji_server.store.sending import settle

_log = structlog.get_logger(__name__)

MOST_TABLES: Final = 20_000  # kept in memory; all others are read again when they are needed
MOST_OVER: Final = 100  # of them games that are over, which few come back to
ASKED_AT_ONCE: Final = 500  # games; commits wait behind them
MOST_SEEN: Final = 100_000  # games of which no more is remembered than how far they were seen
OF_TWO: Final = 2  # a game in which one seat is left is over
BETWEEN_SNAPSHOTS: Final = 8  # versions: packing a position costs more than playing on to it


def _nothing(_entry: Entry) -> None:
    return None


class CommitOptions(NamedTuple):
    """The particulars of a commit, beside what happened."""

    expected_state: StoredState = PLAYING
    clock: ClockCondition = ClockCondition.NONE  # of the entry's seat
    answered: int = 0
    stop: int = 0
    refusal: str = ""  # why the next action of an answer was not legal, for its receipt
    ends: bytes = b""  # the result, if the game ends by it
    new_decision: bool = True
    lost: LostSeat | None = None
    first: Callable[[Entry], None] = _nothing
    """Hears of the entry, in step with the table, before everybody who follows the game."""


PLAIN: Final = CommitOptions()
Then = Callable[[CommitReply | Exception], None]


def _nobody(_game_id: str) -> None:
    return None


class LiveGames:
    """The games of a store as one process knows them. Many ledgers may share one store.

    Whoever calls what changes a game, or reads it anew, has a turn at it.
    """

    def __init__(
        self, games: GameStore, presence: Presence, changed: Callable[[LiveGame], None]
    ) -> None:
        """`changed` is called with the game whenever this ledger commits to it or reads it anew."""
        self.games = games
        self.cached: OrderedDict[str, LiveGame] = OrderedDict()
        self.locks = GameLocks()
        self.stand_in_is_asked: Callable[[str], None] = _nobody
        """Called with the id of a game in which a lost seat has to answer."""
        self._presence = presence
        self._changed = changed
        self._ahead = 0  # milliseconds by which the store's clock is ahead of ours
        self._over: OrderedDict[str, None] = OrderedDict()  # those that are over, the oldest first
        self._seen: OrderedDict[str, Link] = OrderedDict()  # of tables that were forgotten
        self._moves = 0  # how far the rearrangements of the store are known here
        self._tasks: set[asyncio.Task[None]] = set()

    def now(self) -> int:
        """The store's time in milliseconds, as far as the last commit told."""
        return _milliseconds() + self._ahead

    def live(self) -> int:
        """How many games that are being played are in memory."""
        return sum(game.stored.state == PLAYING for game in list(self.cached.values()))

    async def game(self, game_id: str) -> LiveGame:
        """The game as the store has it now; raises UnknownGame."""
        async with self.locks.at(game_id):
            return await self.fresh(game_id)

    async def at(self, game_id: str, version: int | None) -> LiveGame:
        """The game at a version or a later one; the store is asked only if it has to be."""
        async with self.locks.at(game_id):
            known = self.cached.get(game_id)
            if version is not None and known is not None and known.stored.version >= version:
                return known
            return await self.fresh(game_id)

    async def differing(self, game_ids: Sequence[str]) -> list[str]:
        """Those of the games that the store does not have as they are remembered here.

        What changes here while the store is asked is left out: everybody was told of it. So is
        what it cannot tell.
        """
        return [each for each, same in (await self._compared(game_ids)).items() if same is False]

    async def _compared(self, game_ids: Sequence[str]) -> dict[str, bool | None]:
        """Whether the store has each game as it is remembered here, None if it cannot tell."""
        found: dict[str, bool | None] = {}
        for first in range(0, len(game_ids), ASKED_AT_ONCE):
            some = game_ids[first : first + ASKED_AT_ONCE]
            before = [self._link(game_id) for game_id in some]
            heads = await self.games.heads(some)
            for game_id, seen, head in zip(some, before, heads, strict=True):
                changed_here = seen is not None and seen != self._link(game_id)
                found[game_id] = None if head is None else changed_here or seen == Link(*head)
        return found

    def _link(self, game_id: str) -> Link | None:
        """How far a game was seen here, None if it was not."""
        known = self.cached.get(game_id)
        return self._seen.get(game_id) if known is None else known.link

    async def look_again(self) -> None:
        """Look at the games seen here that another node of the store has now.

        A node that took over may have missed what was committed; only who saw it can tell.
        """
        moves, asked = self.games.moved(self._moves, [*self.cached, *self._seen])
        compared = await self._compared(asked)
        for game_id, same in compared.items():
            if same is False:
                with contextlib.suppress(UnknownGame):
                    await self.game(game_id)
        if None not in compared.values():
            self._moves = moves

    def forget(self, game_id: str) -> None:
        """Read the game anew next time; what was seen of its log must then still be there."""
        link_now = self._link(game_id)
        self.cached.pop(game_id, None)
        self._over.pop(game_id, None)
        if link_now is not None:
            self._seen[game_id] = link_now
            self._seen.move_to_end(game_id)
        while len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)

    async def fresh(self, game_id: str) -> LiveGame:
        """The game as the store has it now; raises UnknownGame."""
        known = self.cached.get(game_id)
        if known is None:
            return await self.read(game_id)
        newer = await self.games.load_since(known.stored)
        try:
            moved_on = catch_up(known, newer)
        except BrokenLogError:
            return await self.read(game_id)  # the whole log tells what is wrong
        except BaseException:
            self.forget(game_id)
            raise
        if moved_on:
            self._changed(known)
        if known.stored.state == OVER:
            self._lay_aside(game_id)
        return known

    async def read(self, game_id: str) -> LiveGame:
        """The game, read from its log; raises UnknownGame."""
        self.forget(game_id)
        stored = await self.games.load(game_id)
        try:
            game = self._restored(stored)
        except BrokenLogError:
            # While its slot moves, a game may be read at two places: only twice is a proof.
            game = await self._read_again(game_id)
        self._seen.pop(game_id, None)
        self._keep(game)
        # Who follows the game may know less: the answer to a commit can be lost with a connection.
        self._changed(game)
        return game

    async def _read_again(self, game_id: str) -> LiveGame:
        """The game, or if its log is broken indeed, its end."""
        stored = await self.games.load(game_id)
        try:
            return self._restored(stored)
        except BrokenLogError as broken:
            _log.error("broken log", game=game_id, why=str(broken))
            return await self._void(stored)

    def _restored(self, stored: StoredGame) -> LiveGame:
        game = restore(stored)
        check_holds(stored, self._seen.get(game.game_id))
        return game

    def _keep(self, game: LiveGame) -> None:
        self.cached[game.game_id] = game
        self.cached.move_to_end(game.game_id)
        while len(self.cached) > MOST_TABLES:
            self.forget(next(iter(self.cached)))
        if game.stored.state == OVER:
            self._lay_aside(game.game_id)

    def _lay_aside(self, game_id: str) -> None:
        """Keep a game that is over for a while, and the oldest of them no more."""
        self._over[game_id] = None
        while len(self._over) > MOST_OVER:
            self.forget(next(iter(self._over)))

    # --- what everybody does to games ---------------------------------------------------------

    async def begin(self, game: LiveGame) -> LiveGame:
        """Set the game up once all seats are taken; harmless if another host was faster."""
        if game.stored.state != WAITING or game.open_seats():
            return game
        engine = begin(game)
        words = ChainEntry(1, LogCause.LOG_CAUSE_START)
        await self.commit(game, engine, words, CommitOptions(expected_state=WAITING))
        return await self.fresh(game.game_id)

    async def flag_reason(self, bot: str) -> EndReason.ValueType:
        """Why the time of a bot ran out: it was slow, or it was gone."""
        connected = await self._presence.holder(bot)
        return EndReason.END_REASON_TIMEOUT if connected else EndReason.END_REASON_DISCONNECTED

    async def lose(
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
        words = ChainEntry(version, LogCause.LOG_CAUSE_SEAT_LOST, seat, (), reason)
        lost = _lost(game) | {seat: (reason, version)}
        ends = b""
        if len(stored.seats) - len(lost) < OF_TWO:
            ends = result(engine, EndReason.END_REASON_OUTLASTED, lost).SerializeToString()
        how = CommitOptions(
            clock=clock,
            ends=ends,
            new_decision=seat == stored.seat,
            lost=LostSeat(seat, reason, version),
        )
        await self.commit(game, engine, words, how)

    async def stop(self, game: LiveGame, reason: EndReason.ValueType) -> None:
        """End a game from outside its rules: it has no ranks."""
        words = ChainEntry(game.stored.version + 1, LogCause.LOG_CAUSE_STOPPED, end_reason=reason)
        ends = result(None, reason, {}).SerializeToString()
        how = CommitOptions(expected_state=game.stored.state, ends=ends)
        await self.commit(game, game.engine, words, how)

    async def _void(self, stored: StoredGame) -> LiveGame:
        """A log that was lost in part: the game is void, and everybody is told so."""
        game_id, reason = stored.header.game_id, EndReason.END_REASON_NO_CONTEST
        words = ChainEntry(stored.version + 1, LogCause.LOG_CAUSE_STOPPED, end_reason=reason).text()
        ends = result(None, reason, {}).SerializeToString()
        rest = words.partition(" ")[2]
        await self.games.void(game_id, stored.chain, link(stored.chain, words), rest, ends)
        after = await self.games.load(game_id)
        if after.state != OVER:
            raise StoreUnavailable("the game changes too fast, try again")
        try:
            game = restore(after)
        except BrokenLogError:
            game = LiveGame(after)
        self._changed(game)
        self._release(game)
        return game

    # --- the one way to change a game ---------------------------------------------------------

    async def commit(
        self, game: LiveGame, engine: Engine | None, words: ChainEntry, how: CommitOptions = PLAIN
    ) -> CommitReply:
        """Commit what was played in memory, and wait until everybody was told.

        Unless it is "ok", the table is forgotten. Who gives up waiting leaves it under way.
        """
        outcome: asyncio.Future[CommitReply] = asyncio.get_running_loop().create_future()
        self.start(game, engine, words, how, partial(settle, outcome))
        try:
            return await outcome
        except asyncio.CancelledError:
            self.forget(game.game_id)  # it is ahead of the store until the commit is carried out
            raise

    def start(
        self,
        game: LiveGame,
        engine: Engine | None,
        words: ChainEntry,
        how: CommitOptions,
        then: Then,
    ) -> None:
        """Commit what was played in memory; `then` hears of it after everybody was told."""
        commit = _commit(game, engine, words, how)

        def answered(outcome: CommitReply | Exception) -> None:
            try:
                if isinstance(outcome, CommitReply) and outcome.ok:
                    self._tell(game, engine, commit, how.first, outcome)
                else:
                    self.forget(game.game_id)
            except Exception as fault:  # noqa: BLE001 - whoever waits has to hear of it
                self.forget(game.game_id)
                outcome = fault
            then(outcome)

        self.games.commit(commit, answered)

    def _tell(
        self,
        game: LiveGame,
        engine: Engine | None,
        commit: Commit,
        first: Callable[[Entry], None],
        outcome: CommitReply,
    ) -> None:
        """Bring the table in step with what was committed, and tell everybody."""
        game.engine = engine
        self._ahead = outcome.time - _milliseconds()
        first(game.committed(commit, outcome))
        self._changed(game)
        if commit.state == OVER:
            if game.game_id in self.cached:
                self._lay_aside(game.game_id)
            self._release(game)
        elif game.asks_a_lost_seat:
            self.stand_in_is_asked(game.game_id)

    def _release(self, game: LiveGame) -> None:
        """Nobody has to come back to a game that is over. What stays noted is found at a Hello."""
        task = asyncio.create_task(self._remove(game))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _remove(self, game: LiveGame) -> None:
        plans = (seat.plan for seat in game.header.seats)
        invited = {plan.name for plan in plans if plan.policy == SeatPolicy.SEAT_POLICY_BOT}
        seated = {seat.bot for seat in game.stored.seats if seat.bot}
        with contextlib.suppress(StoreUnavailable, StoreRefusedError):
            await asyncio.gather(
                *(self._presence.remove_game(bot, game.game_id) for bot in seated | invited)
            )


def _commit(game: LiveGame, engine: Engine | None, words: ChainEntry, how: CommitOptions) -> Commit:
    """What is sent to the store."""
    stored, text, ends = game.stored, words.text(), how.ends
    if engine is not None and engine.over and not ends:
        ends = result(engine, EndReason.END_REASON_FINISHED, _lost(game)).SerializeToString()
    snaps = engine is not None and (ends or stored.version % BETWEEN_SNAPSHOTS == 0)
    return Commit(
        game_id=game.game_id,
        expected_state=how.expected_state,
        expected_version=stored.version,
        expected_chain=stored.chain,
        chain=link(stored.chain, text),
        entry=text,
        snapshot=engine.dumps() if engine is not None and snaps else b"",
        state=OVER if ends else PLAYING,
        next_seat=NOBODY if ends or engine is None else asked_seat(engine),
        new_decision=how.new_decision,
        clock_seat=words.seat if how.clock else NOBODY,
        answered=how.answered,
        clock=how.clock,
        result=ends,
        stop=how.stop,
        refusal=how.refusal,
        lost=how.lost,
    )


def _milliseconds() -> int:
    return time.time_ns() // 1_000_000


def _lost(game: LiveGame) -> dict[int, tuple[EndReason.ValueType, int]]:
    return {
        seat: (EndReason.ValueType(held.lost), held.lost_at)
        for seat, held in enumerate(game.stored.seats)
        if held.lost
    }
