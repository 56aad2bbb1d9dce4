"""The host: creates, seats, plays and ends games as people and their bots ask for it."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from himeji import rules
from himeji.rules.errors import (
    GameEnded,
    GameNotStarted,
    HimejiError,
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
from himeji.v1.game_pb2 import EndReason, Game, SeatPlan
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry, commitment, first_link

from himeji_server import names
from himeji_server.games.live_game import GivenAnswer, LiveGame, PlayedPrefix, play_prefix
from himeji_server.games.live_games import CommitOptions, LiveGames, Then
from himeji_server.games.receipts import NO_ENTRY, Receipt, receipt_again
from himeji_server.limits import Limits
from himeji_server.store.game_records import (
    OVER,
    WAITING,
    ClockCondition,
    CommitReply,
    CommitStatus,
    Entry,
    SeatRequest,
    SeatStatus,
)

TRIES: Final = 5  # against other processes that change the same game


_ANSWER: Final = LogCause.LOG_CAUSE_ANSWER  # looked up once: by name, it costs a microsecond


def _unheard(_table: LiveGame, _receipt: Receipt) -> None:
    return None


@dataclass(frozen=True)
class NewGame:
    """What a game is created with."""

    ruleset: str
    options: dict[str, str]
    plans: tuple[SeatPlan, ...]
    clock: tuple[int, int] | None  # bank and increment in milliseconds
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


class GameCommands:
    """Plays the games of a store. Many hosts may share one store."""

    def __init__(self, live_games: LiveGames) -> None:
        self._live_games = live_games

    # --- before the game ----------------------------------------------------------------------

    async def create(self, new: NewGame, game_id: str | None = None, creator: str = "") -> LiveGame:
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
            header.clock.bank.FromMilliseconds(new.clock[0])
            header.clock.increment.FromMilliseconds(new.clock[1])
        header.chance.commitment = commitment(secret)
        chain = first_link(header.game_id, header.chance.commitment)
        await self._live_games.games.create(header, secret, chain, new.patience, creator)
        return await self._live_games.game(header.game_id)

    async def join(
        self, game_id: str, seats: Sequence[int], sitter: SeatRequest
    ) -> tuple[LiveGame, int]:
        """Take the first open one of the seats, and begin the game if it was the last."""
        status, seat = await self._live_games.games.take_seat(game_id, seats, sitter)
        if status is SeatStatus.TAKEN:
            raise SeatTaken(f"no seat of {game_id} that you may take is open", {"game_id": game_id})
        if status is SeatStatus.MISSING:
            raise UnknownGame(f"there is no game {game_id}", {"game_id": game_id})
        async with self._live_games.locks.at(game_id):
            game = await self._live_games.begin(await self._live_games.fresh(game_id))
        if status is SeatStatus.WRONG_STATE and game.stored.state == OVER:
            raise GameEnded("the game is over", {"game_id": game_id})
        if status is SeatStatus.WRONG_STATE:
            raise SeatTaken(f"game {game_id} has begun", {"game_id": game_id})
        return game, seat

    # --- playing ------------------------------------------------------------------------------

    async def act(
        self,
        game_id: str,
        bot: str,
        decision: int,
        actions: Sequence[int],
        accepted: Callable[[LiveGame, Receipt], None] = _unheard,
    ) -> Receipt:
        """Answer a decision; the same answer again gets the same receipt.

        `accepted` hears of the answer that stands, with the game as it then is, before anybody
        else hears what follows from it. Raises IllegalAction, UnknownAction (nothing was played;
        a strike was counted, or was before for the same answer), AlreadyDecided, StaleDecision,
        NotYourDecision, SeatLost, GameEnded.
        """
        if not actions:
            raise InvalidRequest("an answer needs at least one action", {"field": "actions"})
        async with self._live_games.locks.at(game_id):
            for _ in range(TRIES):
                game = self._live_games.cached.get(game_id) or await self._live_games.fresh(game_id)
                remembered = game.link
                try:
                    receipt = await self._try(game, bot, decision, actions, accepted)
                except (IllegalAction, UnknownAction, SeatLost, StoreUnavailable):
                    raise
                except Refused:
                    # Said from memory, which may be old: asked again of the store.
                    if (await self._live_games.fresh(game_id)).link == remembered:
                        raise
                    continue
                except BaseException:
                    self._live_games.forget(
                        game_id
                    )  # who was interrupted may have played in memory
                    raise
                if receipt is not None:
                    return receipt
                self._live_games.forget(game_id)
        raise StoreUnavailable("the game changes too fast, try again")

    def act_at_once(  # noqa: PLR0913 - what `act` takes, and `then`
        self,
        game_id: str,
        bot: str,
        decision: int,
        actions: Sequence[int],
        accepted: Callable[[LiveGame, Receipt], None],
        *,
        then: Then,
    ) -> bool:
        """Answer a decision without a task for it, if nothing but the commit is to be waited for.

        False: nothing was done, and `act` finds out what is to be said. `then` hears what became
        of the commit; unless it is "ok", `act` knows what else there is to do.
        """
        live_games = self._live_games
        game = live_games.cached.get(game_id)
        if game is None or game.asked_bot != bot or game.stored.decision != decision:
            return False
        if not live_games.locks.take_if_free(game_id):
            return False
        try:
            sent = self._play(game, decision, actions, accepted, then)
        except BaseException:
            live_games.forget(game_id)
            live_games.locks.give(game_id)
            raise
        if not sent:
            live_games.locks.give(game_id)
        return sent

    def _play(
        self,
        game: LiveGame,
        decision: int,
        actions: Sequence[int],
        accepted: Callable[[LiveGame, Receipt], None],
        then: Then,
    ) -> bool:
        """Play what can be played of an answer, and send it off; False if nothing can."""
        engine = game.engine
        if engine is None:
            return False
        prefix = play_prefix(engine, actions)
        if not prefix.played:
            return False
        receipt = Receipt(decision, prefix.played, prefix.stop, NO_ENTRY)
        words, how = _answer(game, prefix, receipt, accepted)

        def committed(outcome: CommitReply | Exception) -> None:
            self._live_games.locks.give(game.game_id)
            then(outcome)

        self._live_games.start(game, engine, words, how, committed)
        return True

    async def _try(
        self,
        game: LiveGame,
        bot: str,
        decision: int,
        actions: Sequence[int],
        accepted: Callable[[LiveGame, Receipt], None],
    ) -> Receipt | None:
        """One try to answer; None if another host was faster."""
        standing = game.answers.get(decision)
        if standing is not None and standing.seat in game.seats_of(bot):
            receipt = receipt_again(decision, standing, actions)
            accepted(game, receipt)
            return receipt
        seat = self._check(game, bot, decision)
        engine = game.engine
        if engine is None:
            raise GameNotStarted("the game has not begun")
        prefix = play_prefix(engine, actions)
        if not prefix.played and prefix.refusal is not None:
            if not await self._strike(game, seat, actions):
                return None
            raise prefix.refusal
        receipt = Receipt(decision, prefix.played, prefix.stop, NO_ENTRY)
        words, how = _answer(game, prefix, receipt, accepted)
        outcome = await self._live_games.commit(game, engine, words, how)
        if outcome.status is CommitStatus.CLOCK_FALLEN:
            reason = await self._live_games.flag_reason(bot)
            game = await self._live_games.read(game.game_id)
            await self._live_games.lose(game, seat, reason, clock=ClockCondition.FALLEN)
            raise SeatLost(
                f"the time of seat {seat} is over",
                {"game_id": game.game_id, "seat": str(seat), "end_reason": _name(reason)},
            )
        return receipt if outcome.ok else None

    def _check(self, game: LiveGame, bot: str, decision: int) -> int:
        """The seat that answers; raises the reason why it may not."""
        stored, seats = game.stored, game.seats_of(bot)
        facts = {"game_id": game.game_id, "decision_id": str(stored.decision)}
        if stored.state == OVER:
            raise GameEnded("the game is over", facts)
        if stored.state == WAITING:
            raise GameNotStarted("the game has not begun", facts)
        if not seats:
            raise NotYourDecision("you have no seat in this game", facts)
        if all(stored.seats[seat].lost for seat in seats):
            raise _seat_lost(game, seats[0])
        if decision != stored.decision:
            raise StaleDecision("that decision is not open", facts)
        if stored.seat not in seats:
            raise NotYourDecision(
                f"seat {stored.seat} is asked", facts | {"seat": str(stored.seat)}
            )
        if stored.seats[stored.seat].lost:
            raise _seat_lost(game, stored.seat)
        return stored.seat

    async def _strike(self, game: LiveGame, seat: int, actions: Sequence[int]) -> bool:
        """Count an illegal answer once; False if it was given to a decision that is not open."""
        limit, decision = game.header.strike_limit, game.stored.decision
        answer = hashlib.sha256(repr(list(actions)).encode()).hexdigest()[:16]
        strikes = await self._live_games.games.count_strike(
            game.game_id, decision, seat, answer, limit
        )
        if strikes >= limit:
            await self._live_games.lose(game, seat, EndReason.END_REASON_STRIKES)
        return strikes >= 0

    async def resign(self, game_id: str, bot: str, seat: int | None) -> LiveGame:
        """Give seats up; doing it twice is the same as once.

        Before the game begins a seat is open again then, and a bot of the creator's cancels it all.
        """
        async with self._live_games.locks.at(game_id):
            for _ in range(TRIES):
                game = await self._live_games.fresh(game_id)
                mine = [s for s in game.seats_of(bot) if seat is None or s == seat]
                waits = game.stored.state == WAITING
                if not mine and not (waits and (seat or 0) < len(game.stored.seats)):
                    raise NotYourDecision("you have no such seat", {"game_id": game_id})
                left = [s for s in mine if not game.stored.seats[s].lost]
                if game.stored.state == OVER or not left:
                    return game
                if waits and names.owner_of(bot) == game.stored.creator:
                    await self._live_games.stop(game, EndReason.END_REASON_CANCELLED)
                elif waits:
                    status = await self._live_games.games.leave_seats(game_id, left, bot)
                    if status is SeatStatus.FULL:
                        await self._live_games.begin(game)
                else:
                    await self._live_games.lose(game, left[0], EndReason.END_REASON_RESIGNED)
        raise StoreUnavailable("the game changes too fast, try again")

    async def cancel(
        self, game_id: str, reason: EndReason.ValueType = EndReason.END_REASON_CANCELLED
    ) -> LiveGame:
        """Call a game off that has not begun; one that has begun goes on."""
        async with self._live_games.locks.at(game_id):
            for _ in range(TRIES):
                game = await self._live_games.fresh(game_id)
                if game.stored.state != WAITING:
                    return game
                await self._live_games.stop(game, reason)
        raise StoreUnavailable("the game changes too fast, try again")

    async def end(self, game_id: str, reason: EndReason.ValueType) -> LiveGame:
        """End a game from outside its rules, whether it has begun or not."""
        async with self._live_games.locks.at(game_id):
            for _ in range(TRIES):
                game = await self._live_games.fresh(game_id)
                if game.stored.state == OVER:
                    return game
                await self._live_games.stop(game, reason)
        raise StoreUnavailable("the game changes too fast, try again")


def _answer(
    game: LiveGame,
    prefix: PlayedPrefix,
    receipt: Receipt,
    accepted: Callable[[LiveGame, Receipt], None],
) -> tuple[ChainEntry, CommitOptions]:
    """What is committed of an answer; once it stands, `accepted` hears of it first."""
    seat = game.stored.seat

    def stands(entry: Entry) -> None:
        receipt.entry = entry
        game.answers[receipt.decision] = GivenAnswer(seat, prefix.played, entry)
        accepted(game, receipt)

    how = CommitOptions(
        clock=ClockCondition.RUNNING,
        answered=len(prefix.played),
        stop=prefix.stop,
        refusal=_words(prefix.refusal),
        first=stands,
    )
    return ChainEntry(game.stored.version + 1, _ANSWER, seat, prefix.played), how


def _words(refusal: HimejiError | None) -> str:
    """A refusal as the log keeps it: the rule, a space, and why in words."""
    return f"{refusal.details.get('rule', '')} {refusal.message}" if refusal is not None else ""


def _name(reason: EndReason.ValueType) -> str:
    return EndReason.Name(reason).removeprefix("END_REASON_")


def _seat_lost(game: LiveGame, seat: int) -> SeatLost:
    reason = _name(EndReason.ValueType(game.stored.seats[seat].lost))
    return SeatLost(
        f"seat {seat} was lost before ({reason.lower()})",
        {"game_id": game.game_id, "seat": str(seat), "end_reason": reason},
    )
