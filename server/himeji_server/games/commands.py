"""Commands on one game: create, join, resign, cancel, end. Answers are in submission.py.

Each is tried again while other processes change the same game; the store decides who was first.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji import rules
from himeji.rules.errors import (
    GameEnded,
    NotYourDecision,
    SeatTaken,
    StoreUnavailable,
    UnknownGame,
)
from himeji.v1.game_pb2 import EndReason, Game, SeatPlan, SeatPolicy
from himeji.wire.chain import commitment, first_link
from himeji.wire.clock import Clock

from himeji_server.games.commits import Commits
from himeji_server.games.live_game import GameView
from himeji_server.limits import Limits
from himeji_server.store.game_records import (
    NO_CREATOR,
    OVER,
    WAITING,
    Creator,
    SeatRequest,
    SeatStatus,
)

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
    expires_after_ms: int = int(Limits.waiting_seconds * 1000)  # if seats are still open
    meant_for: tuple[tuple[str, int], ...] = ()
    """A seating: the bot and version of each seat, which have to answer."""

    secret: bytes = b""
    """What the chance key follows from; a fresh one if it is empty, which is the rule."""


def new_secret() -> bytes:
    """The secret of a game, which nobody knows before it is over."""
    return secrets.token_bytes(32)


class GameCommands:
    """Commands on the games of a store. Any number of processes share a store."""

    def __init__(self, commits: Commits) -> None:
        self.commits = commits
        self.live_games = commits.live_games

    # --- before the game ----------------------------------------------------------------------

    async def create(
        self, new: NewGame, game_id: str | None = None, creator: Creator = NO_CREATOR
    ) -> GameView:
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
            policy = plan.policy or SeatPolicy.SEAT_POLICY_ANYONE
            header.seats.add(plan=SeatPlan(policy=policy, name=plan.name))
        for seat, (bot, version) in zip(header.seats, new.meant_for, strict=False):
            seat.bot, seat.bot_version = bot, version
        if new.clock is not None:
            new.clock.write(header.clock)
        header.chance.commitment = commitment(secret)
        header.chance.house_adds_no_entropy = True
        chain = first_link(header.game_id, header.chance.commitment)
        await self.live_games.store.create(header, secret, chain, new.expires_after_ms, creator)
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

    # --- ending ---------------------------------------------------------------------------------

    async def resign(self, game_id: str, bot: str, seat: int | None) -> GameView:
        """Give seats up; doing it twice is the same as once.

        Before the game begins the seat becomes open again.
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
                if waits:
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
