"""The use cases of games: the one way in for streams, unary calls, the page and the ladder.

A check belongs here, not into a handler: then it holds on every way in. Readers get a GameView.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing
from dataclasses import asdict, dataclass, replace
from typing import Final

from himeji import rules
from himeji.rules.errors import (
    Forbidden,
    GameEnded,
    InvalidRequest,
    LimitExceeded,
    Refused,
    SeatTaken,
    UnknownGame,
)
from himeji.v1.game_pb2 import EndReason, GameResult
from himeji.wire.chain import is_house

from himeji_server import names, pagination
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.games.answers import Answer, Receipt
from himeji_server.games.commands import GameCommands, NewGame
from himeji_server.games.game_limits import GameLimits
from himeji_server.games.live_game import GameView, LiveGame
from himeji_server.games.live_games import LiveGames
from himeji_server.games.notifications import POLL_SECONDS, Notifications, OnBotEvent
from himeji_server.games.seat_rules import (
    accepts_by_itself,
    answering_seat,
    check_plan,
    check_seats_of,
    check_version,
    has_given_up,
    invitations,
    invited_bots,
    is_asked,
    is_joinable,
    may_cancel,
    may_take,
    seats_of,
)
from himeji_server.games.submission import Submissions
from himeji_server.games.subscribers import OnChange, OnGone
from himeji_server.limits import Limits
from himeji_server.names import GUEST
from himeji_server.processor_shares import pause, turn
from himeji_server.rate_limits import check_actions, exceeded
from himeji_server.store import game_index
from himeji_server.store.game_index import Terms
from himeji_server.store.game_records import OVER, PLAYING, WAITING, Creator, SeatRequest
from himeji_server.store.presence import Presence, version_of
from himeji_server.tasks import in_slices, wait_for

STANDARD_STRIKES: Final = 3
MOST_STRIKES: Final = 100
MOST_ENTROPY: Final = 32
_POSITION: Final = re.compile("(?:[0-9a-f]{2}){7,70}")  # of a game in lists, in hexadecimal
_SMALLEST_BATCH: Final = 20  # games that are read at once, if few are missing on a page


@dataclass(frozen=True)
class Player:
    """A bot, with the version that plays."""

    bot: str
    version: int
    unlimited: bool = False
    """Whether an administrator runs it, whom no quota limits."""


@dataclass(frozen=True)
class GameFilter:
    """Which games a list has; an empty field filters nothing."""

    state: str = ""
    ruleset: str = ""
    ladder: str = ""
    tournament: str = ""
    bot: str = ""
    owner: str = ""
    joinable: bool = False

    def lists(self, caller: Caller) -> list[Terms]:
        """The lists of the index that all have the games of the filter."""
        given = asdict(self)
        found: list[Terms] = [
            [game_index.term(field, given[field])] for field in game_index.FIELDS if given[field]
        ]
        if self.joinable:
            found.append(game_index.joinable_terms(caller.owner))
        return found or [game_index.ALL_GAMES]

    def fits(self, view: GameView, caller: Caller) -> bool:
        """Whether a game is in the list of a caller."""
        header, stored = view.header, view.stored
        return (
            self.state in ("", stored.state)
            and self.ruleset in ("", header.ruleset)
            and self.ladder in ("", header.ladder)
            and self.tournament in ("", header.tournament)
            and (not self.bot or any(seat.bot == self.bot for seat in stored.seats))
            and (not self.owner or any(self._owns(seat.bot) for seat in stored.seats))
            and (not self.joinable or is_joinable(view, caller))
        )

    def _owns(self, bot: str) -> bool:
        """Whether a bot is one of the owner that is searched for."""
        return bot.startswith(f"{self.owner}/")


class GameUseCases:
    """Games for callers."""

    def __init__(  # noqa: PLR0913 - what it needs, each once
        self,
        *,
        live_games: LiveGames,
        commands: GameCommands,
        submissions: Submissions,
        notifications: Notifications,
        presence: Presence,
        game_limits: GameLimits,
        bots: Bots,
        requests: IdempotencyKeys,
        limits: Limits,
    ) -> None:
        self.limits = limits
        self.stopping = asyncio.Event()
        """Set when this process is about to stop: streams have to end."""
        self._live_games = live_games
        self._commands = commands
        self._submissions = submissions
        self._notifications = notifications
        self._presence = presence
        self._game_limits = game_limits
        self._bots = bots
        self._requests = requests

    # --- reading --------------------------------------------------------------------------------

    async def view(self, game_id: str) -> GameView:
        """The game as the store has it now; raises UnknownGame."""
        return await self._live_games.view(game_id)

    async def view_in_turn(self, game_id: str) -> GameView:
        """The same for a call that has changed nothing yet, and may therefore be paused before.

        Replaying a log is expensive, and happens under the game's lock, where nothing is paused:
        so a client replays one game at a time.
        """
        if self._live_games.is_cached(game_id):
            await pause()
            return await self.view(game_id)
        async with turn():
            return await self.view(game_id)

    def now(self) -> int:
        """The store's time in milliseconds."""
        return self._live_games.clock.now()

    async def list_games(
        self, caller: Caller, wanted: GameFilter, page_size: int, page_token: str
    ) -> tuple[list[GameView], str]:
        """A page of games, the newest first, and the token of the next page.

        It reads a limited number of games, however few of them the filter lets through: then the
        page is short, or empty, and the next one goes on from there.
        """
        size, query = pagination.size(page_size), sorted(asdict(wanted).items())
        position = _position(pagination.cursor(page_token, query))
        store, found = self._live_games.store, list[GameView]()
        terms = await store.index.most_selective(wanted.lists(caller))
        to_read = self.limits.games_read_per_page
        while to_read > 0:
            batch = min(to_read, max(size - len(found), _SMALLEST_BATCH))
            positions, is_last = await store.index.newest(terms, position, batch)
            await pause()
            games = zip(positions, await store.summaries(positions), strict=True)
            async with aclosing(in_slices(games)) as slices:
                async for position, game in slices:
                    if game is not None and wanted.fits(view := LiveGame.of(game).view, caller):
                        found.append(view)
                    if len(found) == size:
                        return found, pagination.token(position.hex(), query)
            if is_last:
                return found, ""
            to_read -= len(positions)
        return found, pagination.token(position.hex(), query)

    async def wait(
        self, caller: Caller, game_id: str, seat: int | None, seconds: float
    ) -> GameView:
        """The game once a seat of the caller is asked, it is over, or the time is up."""
        wake = asyncio.Event()
        loop = asyncio.get_running_loop()
        until = loop.time() + min(seconds, self.limits.wait_seconds)
        async with self.wake_on_change(game_id, wake, self.stopping):
            while True:
                wake.clear()
                view = await self.view_in_turn(game_id)
                left = until - loop.time()
                is_up = left <= 0 or self.stopping.is_set()
                if is_up or view.stored.state == OVER or is_asked(view, caller, seat):
                    return view
                check_seats_of(view, caller, seat)
                await wait_for(wake, min(left, POLL_SECONDS))

    def wake_on_change(
        self, game_id: str, wake: asyncio.Event, *others: asyncio.Event
    ) -> AbstractAsyncContextManager[None]:
        """While the context is open, set the event after every change, and when another is set.

        A notification may be lost: wait with a timeout of POLL_SECONDS.
        """
        return self._notifications.wake_on_change(game_id, wake, *others)

    async def register(self, game_id: str) -> None:
        """Prepare a subscription, before the view is read from which it starts."""
        await self._notifications.register(game_id)

    def subscribe(self, view: GameView, on_change: OnChange, on_gone: OnGone) -> GameView:
        """Call `on_change` with each view after the one that is returned, `on_gone` if it is lost.

        That is the given one, or a newer one if the game has moved on since it was read.
        """
        return self._notifications.subscribe(view, on_change, on_gone)

    def unsubscribe(self, game_id: str, on_change: OnChange) -> None:
        """End a subscription; doing it twice is harmless."""
        self._notifications.unsubscribe(game_id, on_change)

    # --- before the game ------------------------------------------------------------------------

    async def player(self, caller: Caller, bot: str = "", version: int = 0) -> Player:
        """The bot that the caller plays; raises Forbidden, UnknownAccount."""
        name, number = await self._bots.resolve_player(caller, bot, version)
        return Player(name, number, unlimited=caller.is_administrator)

    async def create(self, caller: Caller, new: NewGame, request_id: str) -> GameView:
        """Create a game; the same request again gives the same game."""
        _check_new(new)
        content: list[object] = ["CreateGame", new.ruleset, sorted(new.options.items()), new.clock]
        content += [new.strike_limit, *[(plan.policy, plan.name) for plan in new.plans]]
        operation = await self._requests.claim(caller.owner, request_id, content, Operation())
        game_id = operation.operation_id[:20]
        await self._bots.record_play(caller.owner)
        new = replace(new, expires_after_ms=int(self.limits.waiting_seconds * 1000))
        creator = Creator(caller.owner, caller.bot)
        limited = not caller.is_administrator
        async with self._game_limits.creation(creator, game_id, new.plans, limited=limited):
            view = await self._commands.create(new, game_id, creator)
        if view.stored.state == WAITING:  # else it is a retry
            for bot in sorted(invited_bots(new.plans)):
                await self._invite(bot, view.game_id)
        return view

    async def seat_bots(self, new: NewGame, game_id: str) -> GameView:
        """Create a game whose seats are meant for bots, and notify each of them."""
        view = await self._commands.create(new, game_id)
        for bot, _ in new.meant_for:
            await self._presence.add_game(bot, game_id)
            await self._presence.notify_seated(bot, game_id)
        return view

    async def _invite(self, bot: str, game_id: str) -> None:
        """Notify a bot of a seat that is meant for it, now and when it comes back."""
        await self._presence.add_invitation(bot, game_id, self.limits.invitations_per_bot)
        await self._presence.notify_seated(bot, game_id)

    async def accept_invitations(
        self, player: Player, view: GameView, inviters: Collection[str]
    ) -> GameView:
        """Take every open seat that is meant for this very bot; the game as it is then.

        `inviters` are the owners from whom it accepts invitations; nobody there means everybody.
        """
        if not accepts_by_itself(view, player.bot, inviters):
            return view
        for seat in invitations(view, player.bot):
            with contextlib.suppress(SeatTaken, LimitExceeded):
                view, _ = await self.join(player, view.game_id, seat, b"", "")
        return view

    async def join(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes, request_id: str
    ) -> tuple[GameView, int]:
        """Take a seat that the bot may take; the game, and the seat.

        The arena knows the secret of the game, so its own bots add no entropy: by that it could
        choose the key.
        """
        if is_house(player.bot):
            entropy = b""
        if len(entropy) > MOST_ENTROPY:
            raise InvalidRequest(f"entropy has up to {MOST_ENTROPY} bytes", {"field": "entropy"})
        view = await self.view_in_turn(game_id)
        if seat is not None and seat not in range(len(view.header.seats)):
            raise InvalidRequest(f"the game has no seat {seat}", {"field": "seat"})
        allowed = [
            number
            for number, held in enumerate(view.header.seats)
            if may_take(held.plan, player.bot) and seat in (None, number)
        ]
        if not allowed:
            raise Forbidden("that seat is meant for somebody else", {"game_id": game_id})
        check_version(view, player.bot, player.version)
        await self.record_play(player.bot)
        await self.check_may_sit(player.bot, game_id)
        if not player.unlimited:
            await self._game_limits.check_may_join(player.bot, game_id)
        await self._presence.add_game(player.bot, game_id)
        key = await self._idempotency_key(player, game_id, seat, entropy, request_id)
        request = SeatRequest(player.bot, player.version, entropy, key)
        view, taken = await self._commands.join(game_id, allowed, request)
        if player.bot in invited_bots(held.plan for held in view.header.seats):
            await self._presence.remove_invitation(player.bot, game_id)
        await self._presence.notify_seated(player.bot, game_id)
        return view, taken

    async def _idempotency_key(
        self, player: Player, game_id: str, seat: int | None, entropy: bytes, request_id: str
    ) -> str:
        """The key of a request to join; a request id is the owner's, not the game's."""
        if not request_id:
            return ""
        owner = names.owner_of(player.bot)
        content: list[object] = ["JoinGame", game_id, seat, player.bot, player.version]
        content.append(entropy.hex())
        return (await self._requests.claim(owner, request_id, content, Operation())).operation_id

    async def check_may_sit(self, bot: str, game_id: str = "") -> None:
        """Raise LimitExceeded if a guest of the page is in too many games other than this one.

        All guests share one owner, whose quota one of them must not use up.
        """
        if names.owner_of(bot) != GUEST:
            return
        most, found = self.limits.games_per_guest, await self.unfinished_games(bot)
        if len([view for view in found if view.game_id != game_id]) >= most:
            sentence = "you are in {} games: finish one, or give one up"
            raise exceeded("games_per_guest", most, sentence)

    # --- playing and ending ---------------------------------------------------------------------

    def submit(self, answer: Answer) -> None:
        """Play an answer of a bot that is active; its outcome is passed to the answer.

        A stream comes in here directly: its bot was active when it was opened, and retiring a bot
        closes its stream.
        """
        try:
            check_actions(len(answer.actions), self.limits.actions)
        except LimitExceeded as error:
            answer.rejected(error)
        else:
            self._submissions.submit(answer)

    async def submit_and_wait(
        self, caller: Caller, game_id: str, decision: int, actions: Sequence[int]
    ) -> tuple[GameView, Receipt]:
        """Answer a decision for whichever bot of the caller it asks or asked, if it still plays."""
        view = await self.view_in_turn(game_id)
        bot = view.stored.seats[answering_seat(view, caller, decision)].bot
        await self._bots.check_active(bot)
        check_actions(len(actions), self.limits.actions)
        return await self._submissions.submit_and_wait(game_id, bot, decision, actions)

    async def resign(self, caller: Caller, game_id: str, seat: int | None) -> GameView:
        """Give up the caller's seats; before the game begins they are open again."""
        view = await self.view_in_turn(game_id)
        if not seats_of(view, caller, seat) and has_given_up(view, caller, seat):
            return view  # a retry
        for number in check_seats_of(view, caller, seat):
            view = await self._commands.resign(game_id, view.stored.seats[number].bot, number)
        return view

    async def cancel_own(self, caller: Caller, game_id: str, request_id: str) -> GameView:
        """Call off a game that the caller's owner created and that has not begun."""
        view = await self.view_in_turn(game_id)
        if not may_cancel(view, caller):
            sentence = "only who created a game cancels it, with a token of the same bot or of all"
            raise Forbidden(sentence, {"game_id": game_id})
        content: list[object] = ["CancelGame", game_id]
        await self._requests.claim(caller.owner, request_id, content, Operation())
        view = await self._commands.cancel(game_id)
        if view.stored.state == PLAYING:
            raise Refused("the game has begun: resign instead", {"game_id": game_id})
        ended = GameResult.FromString(view.stored.result).end_reason
        if ended != EndReason.END_REASON_CANCELLED:
            raise GameEnded("the game is over", {"game_id": game_id})
        return view

    async def cancel(
        self, game_id: str, reason: EndReason.ValueType = EndReason.END_REASON_CANCELLED
    ) -> GameView:
        """Call off a game that has not begun; one that has begun goes on."""
        return await self._commands.cancel(game_id, reason)

    async def end(self, game_id: str, reason: EndReason.ValueType) -> GameView:
        """End a game from outside its rules, whether it has begun or not."""
        return await self._commands.end(game_id, reason)

    # --- bots and their streams -----------------------------------------------------------------

    async def open_stream(self, player: Player, stream: str) -> None:
        """Make this stream the bot's only one; raises BotRetired."""
        await self._presence.connect(player.bot, stream)
        await self._bots.check_active(player.bot)  # after which a retirement closes the stream

    async def renew_stream(self, bot: str, stream: str) -> str:
        """Say that the stream is still open; the stream that the bot has now.

        Raises BotRetired: the notification of a retirement may be lost.
        """
        holder = await self._presence.renew(bot, stream)
        await self._bots.check_active(bot)
        return holder

    async def close_stream(self, bot: str, stream: str) -> None:
        """The bot has no stream any more, unless it has opened another one."""
        await self._presence.disconnect(bot, stream)

    def subscribe_bot(self, bot: str, on_event: OnBotEvent) -> AbstractContextManager[None]:
        """While the context is open, call with what happens to the bot; see Notifications."""
        return self._notifications.subscribe_bot(bot, on_event)

    async def games_of(self, bot: str) -> list[str]:
        """The games that a bot has, or may have, a seat in."""
        return await self._presence.games_of(bot)

    async def invitations(self, bot: str) -> list[str]:
        """The games that wait for a bot because their creator named it."""
        return await self._presence.invitations(bot)

    async def forget_invitation(self, bot: str, game_id: str) -> None:
        """The bot need not look at an invitation any more."""
        await self._presence.remove_invitation(bot, game_id)

    async def unfinished_games(self, bot: str) -> list[GameView]:
        """The games in which a bot has a seat that is not lost, without their logs.

        Finished games are forgotten on the way.
        """
        found = []
        for game_id in await self.games_of(bot):
            with contextlib.suppress(UnknownGame):
                view = LiveGame.of(await self._live_games.store.head(game_id)).view
                if view.stored.state != OVER:
                    if any(not view.stored.seats[seat].lost for seat in view.seats_of(bot)):
                        found.append(view)
                    continue
            await self.forget_game(bot, game_id)
        return found

    async def forget_game(self, bot: str, game_id: str) -> None:
        """The bot does not have to come back to a game."""
        await self._presence.remove_game(bot, game_id)

    async def is_connected(self, bot: str) -> bool:
        """Whether the bot has a stream."""
        return bool(await self._presence.holder(bot))

    async def connected_bots(self, bots: Iterable[str]) -> frozenset[str]:
        """Those of the bots that have a stream."""
        return frozenset(await self._streams_of(bots))

    async def connected_versions(self, bots: Iterable[str]) -> dict[str, int]:
        """The versions that the streams of those bots play that have one."""
        streams = await self._streams_of(bots)
        return {bot: version_of(stream) for bot, stream in streams.items()}

    async def _streams_of(self, bots: Iterable[str]) -> dict[str, str]:
        names_once = sorted(set(bots))
        holders = await asyncio.gather(*map(self._presence.holder, names_once))
        return {bot: holder for bot, holder in zip(names_once, holders, strict=True) if holder}

    async def connected(self, *views: GameView) -> frozenset[str]:
        """Those of the games' bots that have a stream."""
        seats = (seat for view in views for seat in view.stored.seats)
        return await self.connected_bots(seat.bot for seat in seats if seat.bot)

    async def record_entry(self, bot: str) -> None:
        """Record that the bot's owner plays, before the bot enters a competition.

        Raises Forbidden for guests of the page, whose names go from one person to the next.
        """
        if names.owner_of(bot) == GUEST:
            raise Forbidden("guests of the page play no rated games: register an owner and a bot")
        await self.record_play(bot)

    async def record_play(self, bot: str) -> None:
        """Record that the bot's owner plays, before it does; raises UnknownAccount."""
        await self._bots.record_play(names.owner_of(bot))

    async def check_bot_exists(self, bot: str) -> None:
        """Raise UnknownAccount unless there is such a bot."""
        await self._bots.get(bot)


def _position(cursor: str) -> bytes:
    """The position that a page token holds, nothing for the first page; raises InvalidRequest."""
    if cursor and not _POSITION.fullmatch(cursor):
        raise pagination.refused()
    return bytes.fromhex(cursor)


def _check_new(new: NewGame) -> None:
    rules.ruleset(new.ruleset).check_seats(len(new.plans))  # before any work for each seat
    if not 1 <= new.strike_limit <= MOST_STRIKES:
        raise InvalidRequest(f"the strike limit is 1 to {MOST_STRIKES}", {"field": "strike_limit"})
    if new.clock is not None:
        new.clock.check()
    for number, plan in enumerate(new.plans):
        check_plan(plan, f"seats[{number}]")
