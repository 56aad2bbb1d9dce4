"""Answers of bots on their way into a game.

An answer takes the quick path if nothing but its commit has to be waited for: it is played and sent
to the store as it comes in, without a task and without a future (see commits.py for what that is
worth). Everything else (another process changed the game, an illegal action, a flag that has
fallen, an answer that came before) takes the long path, a coroutine of its own that reads and tries
again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from himeji.rules.errors import (
    GameEnded,
    GameNotStarted,
    HimejiError,
    IllegalAction,
    InvalidRequest,
    NotYourDecision,
    Refused,
    SeatLost,
    StaleDecision,
    StoreUnavailable,
    UnknownAction,
)
from himeji.rules.game import DRAW, ROLL, Game as Engine
from himeji.v1.game_pb2 import EndReason, StopReason
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry

from himeji_server.games.answers import (
    NO_ENTRY,
    Answer,
    Receipt,
    repeated_receipt,
)
from himeji_server.games.commands import TRIES
from himeji_server.games.commits import Change, Commits, PendingCommit
from himeji_server.games.live_game import GameView, LiveGame
from himeji_server.store.game_records import (
    OVER,
    WAITING,
    ClockCondition,
    CommitReply,
    CommitStatus,
)
from himeji_server.tasks import TaskSet

# Looked up once: by name, each costs a microsecond.
_ANSWER: Final = LogCause.LOG_CAUSE_ANSWER
_ALL_PLAYED: Final = StopReason.STOP_REASON_ALL_PLAYED
_GAME_OVER: Final = StopReason.STOP_REASON_GAME_OVER
_ILLEGAL: Final = StopReason.STOP_REASON_ILLEGAL_ACTION
_NOT_YOURS: Final = StopReason.STOP_REASON_NOT_YOUR_DECISION
_REVEALED: Final = StopReason.STOP_REASON_CHANCE_REVEALED


class AwaitedAnswer(Answer):
    """An answer that a coroutine waits for; if that is cancelled, the answer is still played."""

    __slots__ = ("result",)

    def __init__(self, game_id: str, bot: str, decision: int, actions: Sequence[int]) -> None:
        super().__init__(game_id, bot, decision, actions)
        loop = asyncio.get_running_loop()
        self.result: asyncio.Future[tuple[GameView, Receipt]] = loop.create_future()

    def accepted(self, view: GameView, receipt: Receipt) -> None:
        if not self.result.done():
            self.result.set_result((view, receipt))

    def rejected(self, error: Exception) -> None:
        if not self.result.done():
            self.result.set_exception(error)


class _QuickCommit(PendingCommit):
    """The commit of an answer on the quick path; holds the game's lock itself."""

    __slots__ = ("_submissions",)

    def __init__(
        self,
        submissions: Submissions,
        game: LiveGame,
        engine: Engine,
        prefix: PlayedPrefix,
        answer: Answer,
    ) -> None:
        receipt = Receipt(answer.decision, prefix.played, prefix.stop, NO_ENTRY)
        change = _change(game, prefix)
        super().__init__(submissions.commits, game, engine, change, answer, receipt)
        self._submissions = submissions

    def _finish(self, reply: CommitReply | Exception) -> None:
        self._submissions.live_games.locks.release(self.game.game_id)
        if self._answer is None or (isinstance(reply, CommitReply) and reply.ok):
            return
        if isinstance(reply, Exception):
            self._answer.rejected(reply)
        else:  # another process was faster, or the flag has fallen: the long path finds out
            self._submissions.start(self._answer)


class Submissions:
    """Plays the answers of bots. Any number of processes share a store."""

    def __init__(self, commits: Commits) -> None:
        self.commits = commits
        self.live_games = commits.live_games
        self._tasks = TaskSet()

    def submit(self, answer: Answer) -> None:
        """Play an answer; `accepted` or `rejected` of it is called once, maybe before this returns.

        The same answer again gets the same receipt. It is rejected with IllegalAction or
        UnknownAction (nothing was played; a strike was counted, or was before for the same answer),
        AlreadyDecided, StaleDecision, NotYourDecision, SeatLost, GameEnded, StoreUnavailable.
        """
        try:
            if not self._submit_quickly(answer):
                self.start(answer)
        except Exception as error:  # noqa: BLE001 - every answer is answered
            answer.rejected(error)

    async def submit_and_wait(
        self, game_id: str, bot: str, decision: int, actions: Sequence[int]
    ) -> tuple[GameView, Receipt]:
        """Play an answer; raises why it was rejected (see `submit`)."""
        answer = AwaitedAnswer(game_id, bot, decision, actions)
        self.submit(answer)
        return await answer.result

    def _submit_quickly(self, answer: Answer) -> bool:
        """Play and send an answer at once; False, and nothing done, if that is not possible."""
        live_games, game_id = self.live_games, answer.game_id
        game = live_games.cached.get(game_id)
        if game is None or not answer.actions:
            return False
        if game.view.asked_bot != answer.bot or game.stored.decision != answer.decision:
            return False
        if not live_games.locks.acquire_if_free(game_id):
            return False
        sent = False
        try:
            sent = self._play_and_send(game, answer)
        except BaseException:
            live_games.drop(game_id)
            raise
        finally:
            if not sent:
                live_games.locks.release(game_id)
        return sent

    def _play_and_send(self, game: LiveGame, answer: Answer) -> bool:
        engine = game.engine
        if engine is None:
            return False
        prefix = play_prefix(engine, answer.actions)
        if not prefix.played:
            return False  # it is not legal, which the store has to count
        game.played.is_ahead = True
        _QuickCommit(self, game, engine, prefix, answer).send()
        return True

    def start(self, answer: Answer) -> None:
        """Play an answer on the long path, in a task of its own."""
        self._tasks.start(self._submit(answer))

    async def _submit(self, answer: Answer) -> None:
        try:
            await self._submit_locked(answer)
        except Exception as error:  # noqa: BLE001 - every answer is answered
            answer.rejected(error)

    async def _submit_locked(self, answer: Answer) -> None:
        if not answer.actions:
            raise InvalidRequest("an answer needs at least one action", {"field": "actions"})
        live_games, game_id = self.live_games, answer.game_id
        async with live_games.locks.hold(game_id):
            for _ in range(TRIES):
                game = live_games.cached.get(game_id) or await live_games.refresh(game_id)
                known = game.view.position_in_log
                try:
                    done = await self._try(game, answer)
                except (IllegalAction, UnknownAction, SeatLost, StoreUnavailable):
                    raise
                except Refused:
                    # Judged by the cache, which may be old: judge again by the store.
                    if (await live_games.refresh(game_id)).view.position_in_log == known:
                        raise
                    continue
                except BaseException:
                    live_games.drop(game_id)  # the engine may have played what is not committed
                    raise
                if done:
                    return
                live_games.drop(game_id)
        raise StoreUnavailable("the game changes too fast, try again")

    async def _try(self, game: LiveGame, answer: Answer) -> bool:
        """One try to commit an answer; False if another process was faster."""
        standing = game.played.answers.get(answer.decision)
        if standing is not None and standing.seat in game.view.seats_of(answer.bot):
            receipt = repeated_receipt(answer.decision, standing, answer.actions)
            answer.accepted(game.view, receipt)
            return True
        seat, engine = _check_may_answer(game.view, answer), game.engine
        if engine is None:
            raise GameNotStarted("the game has not begun")
        prefix = play_prefix(engine, answer.actions)
        if not prefix.played and prefix.refusal is not None:
            if not await self._strike(game, seat, answer.actions):
                return False
            raise prefix.refusal
        game.played.is_ahead = True
        receipt = Receipt(answer.decision, prefix.played, prefix.stop, NO_ENTRY)
        change = _change(game, prefix)
        reply = await self.commits.commit(game, engine, change, answer, receipt)
        if reply.status == CommitStatus.CLOCK_FALLEN:
            await self._lose_on_time(game.game_id, answer.bot, seat)
        return reply.ok

    async def _lose_on_time(self, game_id: str, bot: str, seat: int) -> None:
        """End the part of a seat whose flag has fallen, and say so."""
        reason = await self.commits.flag_reason(bot)
        game = await self.live_games.reload(game_id)
        await self.commits.lose_seat(game, seat, reason, clock=ClockCondition.FALLEN)
        raise SeatLost(
            f"the time of seat {seat} is over",
            {"game_id": game_id, "seat": str(seat), "end_reason": _reason_name(reason)},
        )

    async def _strike(self, game: LiveGame, seat: int, actions: Sequence[int]) -> bool:
        """Count an illegal answer once; False if it was given to a decision that is not open."""
        limit, decision = game.view.header.strike_limit, game.stored.decision
        digest = hashlib.sha256(repr(list(actions)).encode()).hexdigest()[:16]
        strikes = await self.live_games.store.count_strike(
            game.game_id, decision, seat, digest, limit
        )
        if strikes >= limit:
            await self.commits.lose_seat(game, seat, EndReason.END_REASON_STRIKES)
        return strikes >= 0


def _check_may_answer(view: GameView, answer: Answer) -> int:
    """The seat that answers; raises the reason why it may not."""
    stored, seats = view.stored, view.seats_of(answer.bot)
    facts = {"game_id": view.game_id, "decision_id": str(stored.decision)}
    if stored.state == OVER:
        raise GameEnded("the game is over", facts)
    if stored.state == WAITING:
        raise GameNotStarted("the game has not begun", facts)
    if not seats:
        raise NotYourDecision("you have no seat in this game", facts)
    if all(stored.seats[seat].lost for seat in seats):
        raise _seat_lost(view, seats[0])
    if answer.decision != stored.decision:
        raise StaleDecision("that decision is not open", facts)
    if stored.seat not in seats:
        raise NotYourDecision(f"seat {stored.seat} is asked", facts | {"seat": str(stored.seat)})
    if stored.seats[stored.seat].lost:
        raise _seat_lost(view, stored.seat)
    return stored.seat


def _seat_lost(view: GameView, seat: int) -> SeatLost:
    reason = _reason_name(EndReason.ValueType(view.stored.seats[seat].lost))
    return SeatLost(
        f"seat {seat} was lost before ({reason.lower()})",
        {"game_id": view.game_id, "seat": str(seat), "end_reason": reason},
    )


def _reason_name(reason: EndReason.ValueType) -> str:
    return EndReason.Name(reason).removeprefix("END_REASON_")


# --- what is played of an answer ----------------------------------------------------------------


class PlayedPrefix(NamedTuple):
    """How much of an answer was played, and why no more."""

    played: tuple[int, ...]
    stop: StopReason.ValueType
    refusal: IllegalAction | UnknownAction | None = None


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
        if len(played) < len(actions) and _reveals_chance(engine, events):
            return PlayedPrefix(tuple(played), _REVEALED)
    return PlayedPrefix(tuple(played), _ALL_PLAYED)


def _reveals_chance(engine: Engine, events: int) -> bool:
    """Whether a roll or a draw is among the events after the first so many."""
    return any(record[0] in (ROLL, DRAW) for record in (engine.log or [])[events:])


def _change(game: LiveGame, prefix: PlayedPrefix) -> Change:
    """What is committed of an answer."""
    stored = game.stored
    return Change(
        ChainEntry(stored.version + 1, _ANSWER, stored.seat, prefix.played),
        clock=ClockCondition.RUNNING,
        answered=len(prefix.played),
        stop=prefix.stop,
        refusal=_refusal_text(prefix.refusal),
    )


def _refusal_text(refusal: HimejiError | None) -> str:
    """A refusal as the log keeps it: the rule, a space, and the reason."""
    return f"{refusal.details.get('rule', '')} {refusal.message}" if refusal is not None else ""
