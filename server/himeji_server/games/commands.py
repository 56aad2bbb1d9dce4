"""Commands on one game: create, join, answer, resign, cancel, end.

Each is tried again while other processes change the same game; the store decides who was first. An
answer takes the quick path if nothing but its commit has to be waited for: it is played and sent as
it comes in, without a task and without a future (see commits.py for what that is worth).
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji import rules
from himeji.rules.errors import (
    GameEnded,
    GameNotStarted,
    IllegalAction,
    InvalidRequest,
    NotYourDecision,
    Refused,
    SeatLost,
    SeatTaken,
    StaleDecision,
    StoreUnavailable,
    UnknownAction,
    UnknownGame,
)
from himeji.rules.game import Game as Engine
from himeji.v1.game_pb2 import EndReason, Game, SeatPlan
from himeji.wire.chain import commitment, first_link
from himeji.wire.clock import Clock

from himeji_server import names
from himeji_server.games.answers import (
    NO_ENTRY,
    Answer,
    PlayedPrefix,
    Receipt,
    play_prefix,
    repeated_receipt,
)
from himeji_server.games.commits import Commits, PendingCommit, answer_change
from himeji_server.games.live_game import GameView, LiveGame
from himeji_server.limits import Limits
from himeji_server.store.game_records import (
    OVER,
    WAITING,
    ClockCondition,
    CommitReply,
    CommitStatus,
    SeatRequest,
    SeatStatus,
)
from himeji_server.tasks import TaskSet

TRIES: Final = 5  # against other processes that change the same game


@dataclass(frozen=True)
class NewGame:
    """What a game is created with."""

    ruleset: str
    options: dict[str, str]
    plans: tuple[SeatPlan, ...]
    clock: Clock | None
    strike_limit: int
    ladder: str = ""
    tournament: str = ""
    rated: bool = False
    patience: int = int(Limits.waiting_seconds * 1000)  # milliseconds until open seats cancel it
    meant_for: tuple[tuple[str, int], ...] = ()
    """A seating: the bot and version of each seat, which have to answer."""

    secret: bytes = b""
    """What the chance key follows from; a fresh one if it is empty, which is the rule."""


def new_secret() -> bytes:
    """The secret of a game, which nobody knows before it is over."""
    return secrets.token_bytes(32)


class AwaitedAnswer(Answer):
    """An answer that a coroutine waits for; if that is cancelled, the answer goes its way."""

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

    __slots__ = ("_commands",)

    def __init__(
        self,
        commands: GameCommands,
        game: LiveGame,
        engine: Engine,
        prefix: PlayedPrefix,
        answer: Answer,
    ) -> None:
        receipt = Receipt(answer.decision, prefix.played, prefix.stop, NO_ENTRY)
        change = answer_change(game, prefix)
        super().__init__(commands.commits, game, engine, change, answer, receipt)
        self._commands = commands

    def _finish(self, reply: CommitReply | Exception) -> None:
        self._commands.live_games.locks.release(self.game.game_id)
        if self._answer is None or (isinstance(reply, CommitReply) and reply.ok):
            return
        if isinstance(reply, Exception):
            self._answer.rejected(reply)
        else:  # another process was faster, or the flag has fallen: the long path finds out
            self._commands.start(self._answer)


class GameCommands:
    """Commands on the games of a store. Any number of processes share a store."""

    def __init__(self, commits: Commits) -> None:
        self.commits = commits
        self.live_games = commits.live_games
        self._tasks = TaskSet()

    # --- before the game ----------------------------------------------------------------------

    async def create(self, new: NewGame, game_id: str | None = None, creator: str = "") -> GameView:
        """Store a new game; it begins when all its seats are taken."""
        ruleset = rules.ruleset(new.ruleset)
        ruleset.check_seats(len(new.plans))
        options = ruleset.check_options(new.options)
        secret = new.secret or new_secret()
        header = Game(
            game_id=game_id or secrets.token_hex(10),
            ruleset=ruleset.name,
            revision=ruleset.revision,
            strike_limit=new.strike_limit,
            ladder=new.ladder,
            tournament=new.tournament,
            rated=new.rated,
        )
        for name in sorted(options):
            header.options.add(name=name, value=options[name])
        for plan in new.plans:
            header.seats.add().plan.CopyFrom(plan)
        for seat, (bot, version) in zip(header.seats, new.meant_for, strict=False):
            seat.bot, seat.bot_version = bot, version
        if new.clock is not None:
            new.clock.write(header.clock)
        header.chance.commitment = commitment(secret)
        chain = first_link(header.game_id, header.chance.commitment)
        await self.live_games.store.create(header, secret, chain, new.patience, creator)
        return await self.live_games.view(header.game_id)

    async def join(
        self, game_id: str, seats: Sequence[int], request: SeatRequest
    ) -> tuple[GameView, int]:
        """Take the first open one of the seats, and begin the game if it was the last."""
        status, seat = await self.live_games.store.take_seat(game_id, seats, request)
        if status is SeatStatus.TAKEN:
            raise SeatTaken(f"no seat of {game_id} that you may take is open", {"game_id": game_id})
        if status is SeatStatus.MISSING:
            raise UnknownGame(f"there is no game {game_id}", {"game_id": game_id})
        async with self.live_games.locks.hold(game_id):
            view = (await self.commits.begin(await self.live_games.refresh(game_id))).view
        if status is SeatStatus.WRONG_STATE and view.stored.state == OVER:
            raise GameEnded("the game is over", {"game_id": game_id})
        if status is SeatStatus.WRONG_STATE:
            raise SeatTaken(f"game {game_id} has begun", {"game_id": game_id})
        return view, seat

    # --- answers --------------------------------------------------------------------------------

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
        game.is_ahead = True
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
        standing = game.answers.get(answer.decision)
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
        game.is_ahead = True
        receipt = Receipt(answer.decision, prefix.played, prefix.stop, NO_ENTRY)
        change = answer_change(game, prefix)
        reply = await self.commits.commit(game, engine, change, answer, receipt)
        if reply.status is CommitStatus.CLOCK_FALLEN:
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

    # --- ending ---------------------------------------------------------------------------------

    async def resign(self, game_id: str, bot: str, seat: int | None) -> GameView:
        """Give seats up; doing it twice is the same as once.

        Before the game begins a seat is open again then, and a bot of the creator's cancels it all.
        """
        async with self.live_games.locks.hold(game_id):
            for _ in range(TRIES):
                game = await self.live_games.refresh(game_id)
                mine = [s for s in game.view.seats_of(bot) if seat is None or s == seat]
                waits = game.stored.state == WAITING
                if not mine and not (waits and (seat or 0) < len(game.stored.seats)):
                    raise NotYourDecision("you have no such seat", {"game_id": game_id})
                left = [s for s in mine if not game.stored.seats[s].lost]
                if game.stored.state == OVER or not left:
                    return game.view
                if waits and names.owner_of(bot) == game.stored.creator:
                    await self.commits.stop(game, EndReason.END_REASON_CANCELLED)
                elif waits:
                    status = await self.live_games.store.leave_seats(game_id, left, bot)
                    if status is SeatStatus.FULL:
                        await self.commits.begin(game)
                else:
                    await self.commits.lose_seat(game, left[0], EndReason.END_REASON_RESIGNED)
        raise StoreUnavailable("the game changes too fast, try again")

    async def cancel(
        self, game_id: str, reason: EndReason.ValueType = EndReason.END_REASON_CANCELLED
    ) -> GameView:
        """Call a game off that has not begun; one that has begun goes on."""
        async with self.live_games.locks.hold(game_id):
            for _ in range(TRIES):
                game = await self.live_games.refresh(game_id)
                if game.stored.state != WAITING:
                    return game.view
                await self.commits.stop(game, reason)
        raise StoreUnavailable("the game changes too fast, try again")

    async def end(self, game_id: str, reason: EndReason.ValueType) -> GameView:
        """End a game from outside its rules, whether it has begun or not."""
        async with self.live_games.locks.hold(game_id):
            for _ in range(TRIES):
                game = await self.live_games.refresh(game_id)
                if game.stored.state == OVER:
                    return game.view
                await self.commits.stop(game, reason)
        raise StoreUnavailable("the game changes too fast, try again")


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
