"""The desk: what owners and their bots may ask of games, however the question comes in."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from himeji.rules.errors import (
    Forbidden,
    InvalidRequest,
    LimitExceeded,
    NotYourDecision,
    SeatTaken,
    UnknownGame,
)
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy

from himeji_server import names, pagination
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, PlannedRequest
from himeji_server.games.commands import GameCommands, NewGame
from himeji_server.games.live_game import LiveGame
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import Notifications
from himeji_server.games.quota import Quota
from himeji_server.games.receipts import Receipt
from himeji_server.limits import Limits
from himeji_server.rate_limits import check_actions
from himeji_server.store.game_records import OVER, PLAYING, WAITING, SeatRequest
from himeji_server.store.game_store import GameStore
from himeji_server.store.presence import Presence

STANDARD_CLOCK: Final = (600_000, 1_000)  # bank and increment of a casual game, in milliseconds
STANDARD_STRIKES: Final = 3
MOST_STRIKES: Final = 100
LONGEST_CLOCK: Final = 7 * 24 * 3_600_000
MOST_ENTROPY: Final = 32
MOST_NOTED: Final = 100  # games of a bot beyond which invitations are told but not noted
SECONDS_BETWEEN_LOOKS: Final = 2.0  # a bell may be missed
_PLACE: Final = re.compile(r"[0-9]{15} \S+")  # in the list of games: time and id


@dataclass(frozen=True)
class Player:
    """A bot that asks, with the version that plays."""

    bot: str
    version: int


class GameUseCases:
    """Games for callers."""

    def __init__(  # noqa: PLR0913 - what it needs, each once
        self,
        *,
        live_games: LiveGames,
        commands: GameCommands,
        games: GameStore,
        presence: Presence,
        notifications: Notifications,
        bots: Bots,
        requests: IdempotencyKeys,
        quota: Quota,
        limits: Limits,
    ) -> None:
        self.live_games = live_games
        self.commands = commands
        self.presence = presence
        self.notifications = notifications
        self._games = games
        self.bots = bots
        self._requests = requests
        self._quota = quota
        self.limits = limits
        self.stopping = asyncio.Event()
        """Set when this process is about to stop: whoever holds a stream ends it."""

    async def player(self, caller: Caller, bot: str = "", version: int = 0) -> Player:
        """The bot that the caller plays; raises Forbidden, UnknownAccount."""
        return Player(*await self.bots.player(caller, bot, version))

    async def view(self, game_id: str) -> LiveGame:
        """The game as the store has it now; raises UnknownGame."""
        return await self.live_games.game(game_id)

    def now(self) -> int:
        """The store's time in milliseconds, as far as the last commit told."""
        return self.live_games.now()

    async def create(self, caller: Caller, new: NewGame, request_id: str) -> LiveGame:
        """Create a game; the same request again gives the same game."""
        _check_new(new)
        content: list[object] = ["CreateGame", new.ruleset, sorted(new.options.items()), new.clock]
        content += [new.strike_limit, *[(plan.policy, plan.name) for plan in new.plans]]
        plan = await self._requests.planned(caller.owner, request_id, content, PlannedRequest())
        await self._quota.create(caller.owner, plan.mark[:20])
        new = replace(new, patience=int(self.limits.waiting_seconds * 1000))
        game = await self.commands.create(new, plan.mark[:20], caller.owner)
        for seat in new.plans:
            if seat.policy == SeatPolicy.SEAT_POLICY_BOT:
                await self._invite(seat.name, game.game_id)
        return game

    async def _invite(self, bot: str, game_id: str) -> None:
        """Tell a bot of a seat that is meant for it, and note it for when the bot comes back."""
        if len(await self.presence.games_of(bot)) < MOST_NOTED:
            await self.presence.add_game(bot, game_id)
        await self.presence.notify_seated(bot, game_id)

    async def accept(self, player: Player, game: LiveGame) -> LiveGame:
        """Take every open seat that is meant for this very bot; the game as it is then."""
        game_id = game.game_id
        for seat in _invited(game, player.bot):
            with contextlib.suppress(SeatTaken, LimitExceeded):
                game, _ = await self.join(player, game_id, seat, b"", "")
        return game

    async def join(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes, request_id: str
    ) -> tuple[LiveGame, int]:
        """Take a seat that the bot may take."""
        if len(entropy) > MOST_ENTROPY:
            raise InvalidRequest(f"entropy has up to {MOST_ENTROPY} bytes", {"field": "entropy"})
        game = await self.live_games.game(game_id)
        seats = [n for n, held in enumerate(game.header.seats) if _may_sit(held.plan, player.bot)]
        if seat is not None and seat not in range(len(game.header.seats)):
            raise InvalidRequest(f"the game has no seat {seat}", {"field": "seat"})
        allowed = [n for n in seats if seat is None or n == seat]
        if not allowed:
            raise Forbidden("that seat is meant for somebody else", {"game_id": game_id})
        await self._quota.sit(player.bot, game_id)
        await self.presence.add_game(player.bot, game_id)
        mark = await self._mark_of_join(player, game_id, seat, entropy, request_id)
        sitter = SeatRequest(player.bot, player.version, entropy, mark)
        game, taken = await self.commands.join(game_id, allowed, sitter)
        await self.presence.notify_seated(player.bot, game_id)
        return game, taken

    async def _mark_of_join(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes, request_id: str
    ) -> str:
        """What a request to join is known by; an id is the owner's, not the game's."""
        if not request_id:
            return ""
        owner = names.owner_of(player.bot)
        content: list[object] = ["JoinGame", game_id, seat, player.bot, player.version]
        content.append(entropy.hex())
        return (await self._requests.planned(owner, request_id, content, PlannedRequest())).mark

    async def wait(
        self, caller: Caller, game_id: str, seat: int | None, seconds: float
    ) -> LiveGame:
        """The game once a seat of the caller is asked, it is over, or the time is up."""
        wake = asyncio.Event()
        loop = asyncio.get_running_loop()
        until = loop.time() + min(seconds, self.limits.wait_seconds)
        async with self.notifications.game(game_id, wake, self.stopping):
            while True:
                wake.clear()
                game = await self.live_games.game(game_id)
                left = until - loop.time()
                up = left <= 0 or self.stopping.is_set()
                if up or game.stored.state == OVER or self.is_asked(game, caller, seat):
                    return game
                _of_caller(game, caller, seat)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(left, SECONDS_BETWEEN_LOOKS)):
                        await wake.wait()

    @staticmethod
    def is_asked(game: LiveGame, caller: Caller, seat: int | None = None) -> bool:
        """Whether a seat of the caller is asked."""
        stored = game.stored
        return (
            stored.state == PLAYING
            and stored.seat in _of_caller(game, caller, seat)
            and not stored.seats[stored.seat].lost
        )

    async def submit(
        self, caller: Caller, game_id: str, decision: int, actions: Sequence[int]
    ) -> tuple[LiveGame, Receipt]:
        """Answer a decision for whichever bot of the caller it asks or asked, if it still plays."""
        game = await self.live_games.game(game_id)
        _of_caller(game, caller, None)
        bot = game.stored.seats[_answering_seat(game, caller, decision)].bot
        await self.bots.check_active(bot)
        check_actions(len(actions))
        receipt = await self.commands.act(game_id, bot, decision, actions)
        return await self.live_games.at(game_id, receipt.entry.version), receipt

    @staticmethod
    def seats_of(game: LiveGame, caller: Caller) -> list[int]:
        """The seats that the caller's bots have, none for a spectator."""
        try:
            return _of_caller(game, caller, None)
        except NotYourDecision:
            return []

    async def connected(self, *cached: LiveGame) -> frozenset[str]:
        """Those of the games' bots that have a stream."""
        bots = sorted({seat.bot for game in cached for seat in game.stored.seats if seat.bot})
        holders = await asyncio.gather(*map(self.presence.holder, bots))
        return frozenset(bot for bot, holder in zip(bots, holders, strict=True) if holder)

    async def resign(self, caller: Caller, game_id: str, seat: int | None) -> LiveGame:
        """Give up the caller's seats, or cancel a game of the caller's that has not begun.

        Who gives up a seat of somebody else's game before it begins leaves it open again.
        """
        game = await self.live_games.game(game_id)
        if game.stored.state == WAITING and game.stored.creator == caller.owner:
            return await self.commands.cancel(game_id)
        if game.stored.state == OVER and game.stored.creator == caller.owner:
            return game
        if game.stored.state == WAITING and not self.seats_of(game, caller):
            return game  # the seat was given up before, or there was none to give up
        for number in _of_caller(game, caller, seat):
            game = await self.commands.resign(game_id, game.stored.seats[number].bot, number)
        return game

    async def listed(
        self, caller: Caller, page_size: int, page_token: str, **wanted: str
    ) -> tuple[list[LiveGame], str]:
        """Games, the newest first, that fit what is wanted, such as a state or a ladder."""
        size = pagination.size(page_size)
        question = sorted(wanted.items())
        before = pagination.place(page_token, question)
        if before and not _PLACE.fullmatch(before):
            raise InvalidRequest("the page token is not one of this list", {"field": "page_token"})
        found: list[LiveGame] = []
        place = before
        async for game_id, place in self._games.newest(before):
            # The head is enough: a list must not replay every game that it passes by.
            try:
                game = LiveGame(await self._games.head(game_id))
            except UnknownGame:
                continue
            if _fits(game, wanted, caller):
                found.append(game)
            if len(found) == size:
                return found, pagination.token(place, question)
        return found, ""


def _check_new(new: NewGame) -> None:
    if not 1 <= new.strike_limit <= MOST_STRIKES:
        raise InvalidRequest(f"the strike limit is 1 to {MOST_STRIKES}", {"field": "strike_limit"})
    if new.clock is not None and not (
        0 < new.clock[0] <= LONGEST_CLOCK and 0 <= new.clock[1] <= LONGEST_CLOCK
    ):
        raise InvalidRequest("a clock has a bank of up to seven days", {"field": "clock"})
    for number, plan in enumerate(new.plans):
        _check_plan(plan, f"seats[{number}]")


def _check_plan(plan: SeatPlan, field: str) -> None:
    if plan.policy not in SeatPolicy.values():
        raise InvalidRequest("that is no policy for a seat", {"field": f"{field}.policy"})
    if plan.policy == SeatPolicy.SEAT_POLICY_OWNER:
        names.owner_name(plan.name, f"{field}.name")
    elif plan.policy == SeatPolicy.SEAT_POLICY_BOT:
        names.bot_name(plan.name, f"{field}.name")
    elif plan.name:
        raise InvalidRequest("a seat for anyone has no name", {"field": f"{field}.name"})


def _invited(game: LiveGame, bot: str) -> list[int]:
    """The open seats that are meant for one bot; a seating is answered by Ready instead."""
    if game.stored.state != WAITING or any(seat.bot for seat in game.header.seats):
        return []
    plans = [game.header.seats[seat].plan for seat in game.open_seats()]
    return [
        seat
        for seat, plan in zip(game.open_seats(), plans, strict=True)
        if plan.policy == SeatPolicy.SEAT_POLICY_BOT and plan.name == bot
    ]


def _may_sit(plan: SeatPlan, bot: str) -> bool:
    if plan.policy == SeatPolicy.SEAT_POLICY_OWNER:
        return names.owner_of(bot) == plan.name
    if plan.policy == SeatPolicy.SEAT_POLICY_BOT:
        return bot == plan.name
    return True


def _of_caller(game: LiveGame, caller: Caller, seat: int | None) -> list[int]:
    """The seats that the caller's bots have; raises NotYourDecision if there are none."""
    mine = [
        number
        for number, held in enumerate(game.stored.seats)
        if held.bot
        and names.owner_of(held.bot) == caller.owner
        and caller.bot in ("", held.bot)
        and seat in (None, number)
    ]
    if not mine:
        raise NotYourDecision("you have no such seat in this game", {"game_id": game.game_id})
    return mine


def _answering_seat(game: LiveGame, caller: Caller, decision: int) -> int:
    mine = _of_caller(game, caller, None)
    standing = game.answers.get(decision)
    if standing is not None and standing.seat in mine:
        return standing.seat
    return game.stored.seat if game.stored.seat in mine else mine[0]


def _joinable(game: LiveGame, caller: Caller) -> bool:
    """Whether a seat is open that some bot of the caller's may take."""
    return game.stored.state == WAITING and any(
        _may_sit(plan, caller.bot or f"{caller.owner}/")
        or (not caller.bot and plan.name.startswith(f"{caller.owner}/"))
        for plan in (game.header.seats[seat].plan for seat in game.open_seats())
    )


def _fits(game: LiveGame, wanted: dict[str, str], caller: Caller) -> bool:
    header, stored = game.header, game.stored
    bots = [seat.bot for seat in stored.seats]
    return (
        wanted.get("state", "") in ("", stored.state)
        and wanted.get("ruleset", "") in ("", header.ruleset)
        and wanted.get("ladder", "") in ("", header.ladder)
        and wanted.get("tournament", "") in ("", header.tournament)
        and (not wanted.get("bot") or wanted["bot"] in bots)
        and (not wanted.get("joinable") or _joinable(game, caller))
    )
