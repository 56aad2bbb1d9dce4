"""The matchmaker: makes games of waiting bots, and cancels seatings that are not answered in time.

Any number of matchmakers may run at once, in any number of processes, and each may die between any
two steps: the script that seats bots compares their tickets, so that no bot is seated twice, and a
seating that was left half done is found by its deadline and released.
"""

import asyncio
import datetime as dt
import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import structlog
from himeji.rules.errors import UnknownGame
from himeji.v1.game_pb2 import EndReason, SeatPlan, SeatPolicy

from himeji_server.games.commands import NewGame, new_secret
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.ladders import Ladder, Ladders
from himeji_server.ladder.queue_pairing import Candidate, Meetings, Pair, Policy, pair_key, pairings
from himeji_server.ladder.rating import BEGINNER
from himeji_server.ladder.standings import StandingsRow, row_name
from himeji_server.store.deals import Deal
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.ladder import LadderStore
from himeji_server.store.queues import Queue, SeatingStatus, Ticket

MAX_CANDIDATES: Final = 200
"""How many waiting tickets of a ladder one round pairs, the oldest first."""

GRACE_MS: Final = 2_000
"""How long after its deadline a seating is checked whose game may not have been created."""

DISCONNECTED_MS: Final = 30_000
"""How long a bot without a stream keeps its place in a queue."""

CAPPED_PAIR_MS: Final = 60_000
"""How long a pair that the store refused as met too often today is not tried again."""

HOUSE_PAUSE_MS: Final = 60_000
"""How long a ladder pauses after the first game of house bots among themselves; then longer."""

MAX_HOUSE_PAUSE_MS: Final = 600_000

_log = structlog.get_logger(__name__)


class Matchmaker:
    """Pairs and seats the bots of all ladders."""

    def __init__(
        self,
        ladders: Ladders,
        store: LadderStore,
        use_cases: GameUseCases,
        policy: Policy | None = None,
    ) -> None:
        self._ladders = ladders
        self._queues = store.queues
        self._deals = store.deals
        self._standings = store.standings
        self._use_cases = use_cases
        self._policy = policy or Policy()
        self._opened = False
        self._capped_at: defaultdict[str, dict[Pair, int]] = defaultdict(dict)
        """By ladder: when the store refused a pair because it had met too often today."""

        self._disconnected_at: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """By ladder: since when this matchmaker has seen a ticket's bot without a stream."""

    async def run_once(self, now: int) -> None:
        """Check deadlines, pair and seat, once on every ladder; `now` is the store's time."""
        if not self._opened:
            await asyncio.gather(
                *(self._standings.ensure_first_season(name) for name in self._ladders.names)
            )
            self._opened = True
        await asyncio.gather(
            *(self._run_ladder(self._ladders[name], now) for name in self._ladders.names)
        )

    async def _run_ladder(self, ladder: Ladder, now: int) -> None:
        for game_id in await self._queues.overdue(ladder.name, now):
            await self._check_deadline(ladder, game_id, now)
        queue = await self._queues.queue(ladder.name)
        if not ladder.accepting:
            await self._close_queue(ladder, queue.tickets)
            return
        connected = await self._connected(ladder, queue.tickets, now)
        waiting = [each for each in connected if queue.load.get(each.bot, 0) < each.max_games]
        if not waiting:
            return
        if ladder.trusted and await self._continue_deals(ladder, queue, waiting, now):
            return
        await self._pair(ladder, queue, waiting[:MAX_CANDIDATES], now)

    # --- leaving --------------------------------------------------------------------------------

    async def _close_queue(self, ladder: Ladder, tickets: Sequence[Ticket]) -> None:
        """Remove the tickets from before the ladder was closed, and notify their bots."""
        for each in tickets:
            if await self._queues.leave(ladder.name, each.bot):
                await self._queues.notify_closed(each.bot, ladder.name)

    async def _connected(self, ladder: Ladder, tickets: Sequence[Ticket], now: int) -> list[Ticket]:
        """The tickets of bots with a stream; a bot that has long had none loses its ticket."""
        connected = await self._use_cases.connected_bots(each.bot for each in tickets)
        missing = [each for each in tickets if each.bot not in connected]
        before = self._disconnected_at[ladder.name]
        since = {each.id: before.get(each.id, now) for each in missing}
        self._disconnected_at[ladder.name] = since
        for each in missing:
            expired = now - since[each.id] >= DISCONNECTED_MS
            if expired and await self._queues.leave(ladder.name, each.bot):
                _log.info("disconnected bot removed from queue", ladder=ladder.name, bot=each.bot)
        return [each for each in tickets if each.id not in since]

    # --- seating --------------------------------------------------------------------------------

    async def _continue_deals(
        self, ladder: Ladder, queue: Queue, waiting: Sequence[Ticket], now: int
    ) -> bool:
        """Seat bots whose deal is still to be played from other seats; whether there were any.

        A deal of which a bot has left the queue is dropped.
        """
        queued = {each.bot for each in queue.tickets}
        tickets, any_seated = {each.bot: each for each in waiting}, False
        for deal in await self._deals.unfinished(ladder.name):
            bots = deal.orders[0]
            all_free = tickets.keys() >= set(bots)
            if not all_free and queued.issuperset(bots):
                continue  # one of them is playing, or disconnected for a moment
            together = [tickets[bot] for bot in bots] if all_free else []
            seated = all_free and await self._seat(ladder, together, now, deal)
            if not seated:
                await self._deals.save(ladder.name, replace(deal, orders=()))
            any_seated |= seated
        return any_seated

    async def _pair(
        self, ladder: Ladder, queue: Queue, waiting: Sequence[Ticket], now: int
    ) -> None:
        rows = await self._rows(ladder, waiting)
        candidates = [_candidate(each, rows, queue, now) for each in waiting]
        bot_count = len({each.bot for each in waiting} | queue.load.keys())
        capped = self._capped_at[ladder.name]
        meetings = Meetings(
            {
                pair: self._policy.pair_cap
                for pair, at in capped.items()
                if now < at + CAPPED_PAIR_MS
            },
            {row.bot: row.recent for row in rows.values()},
            bot_count,
        )
        only_house = all(each.is_house for each in candidates)
        house_may_play = only_house and await self._queues.house_may_play(ladder.name)
        tickets = {each.bot: each for each in waiting}
        for bots in pairings(
            candidates, ladder.seats, meetings, self._policy, house_only=house_may_play
        ):
            deal = new_deal(bots) if ladder.trusted else None
            seated = await self._seat(ladder, [tickets[bot] for bot in bots], now, deal)
            if seated and only_house:
                games = min(each.games for each in candidates if each.bot in bots)
                await self._queues.pause_house(ladder.name, house_pause(games))

    async def _rows(self, ladder: Ladder, tickets: Sequence[Ticket]) -> dict[str, StandingsRow]:
        season = (await self._standings.head(ladder.name)).season
        names = [row_name(each.bot, each.version) for each in tickets]
        found = await self._standings.rows(ladder.name, season, names)
        return {name: StandingsRow.from_json(text) for name, text in found.items()}

    async def _seat(
        self, ladder: Ladder, tickets: Sequence[Ticket], now: int, deal: Deal | None
    ) -> bool:
        """Seat these bots together and notify them; False if a ticket has changed meanwhile."""
        game_id = secrets.token_hex(10)
        status, bots = await self._queues.seat(
            ladder.name,
            game_id,
            tickets,
            answer_ms=ladder.ready + GRACE_MS,
            pair_cap=self._policy.pair_cap,
            day=_day(now),
        )
        if status is SeatingStatus.CAPPED:
            self._capped_at[ladder.name][pair_key(bots[0], bots[1])] = now
        if status is not SeatingStatus.OK:
            return False
        if deal is not None:
            await self._deals.save(ladder.name, replace(deal, orders=deal.orders[1:]))
        game = await self._use_cases.seat_bots(_new_game(ladder, tickets, deal), game_id)
        await self._queues.set_deadline(ladder.name, game_id, game.stored.created + ladder.ready)
        _log.info("seated", ladder=ladder.name, game=game_id, bots=[each.bot for each in tickets])
        return True

    async def _check_deadline(self, ladder: Ladder, game_id: str, now: int) -> None:
        """Cancel a seating whose deadline has passed, unless its game has begun.

        The rater releases the bots of a cancelled game, as it does after every result.
        """
        try:
            game = await self._use_cases.view(game_id)
        except UnknownGame:
            await self._queues.release(ladder.name, game_id, begun=False)
            return
        deadline = game.stored.created + ladder.ready
        if game.stored.state == WAITING and deadline > now:
            await self._queues.set_deadline(ladder.name, game_id, deadline)
        elif game.stored.state == WAITING:
            await self._use_cases.cancel(game_id, EndReason.END_REASON_UNSEATED)
        elif game.stored.state != OVER:
            await self._queues.remove_deadline(ladder.name, game_id)


def house_pause(games: int) -> int:
    """Milliseconds without another game of house bots alone; `games` is the fewest of theirs.

    The better house bots are known, the less another game among them tells.
    """
    return min(MAX_HOUSE_PAUSE_MS, HOUSE_PAUSE_MS * (1 + games))


def _candidate(ticket: Ticket, rows: dict[str, StandingsRow], queue: Queue, now: int) -> Candidate:
    row = rows.get(row_name(ticket.bot, ticket.version))
    load = queue.load.get(ticket.bot, 0)
    return Candidate(
        bot=ticket.bot,
        rating=row.rating if row is not None else BEGINNER,
        games=(row.games if row is not None else 0) + load,
        waited=max(0, now - ticket.since) / 1000,
        free=ticket.max_games - load,
        seats=tuple(row.seats) if row is not None else (),
        seed=f"{ticket.id} {ticket.seatings}",
    )


def new_deal(bots: tuple[str, ...]) -> Deal:
    """A deal that is played once with each bot in each seat."""
    rotations = tuple(bots[first:] + bots[:first] for first in range(len(bots)))
    return Deal(secrets.token_hex(8), new_secret(), rotations)


def _new_game(ladder: Ladder, tickets: Sequence[Ticket], deal: Deal | None) -> NewGame:
    policy = SeatPolicy.SEAT_POLICY_BOT
    return NewGame(
        ruleset=ladder.ruleset,
        options=dict(ladder.options),
        plans=tuple(SeatPlan(policy=policy, name=each.bot) for each in tickets),
        clock=ladder.clock,
        strike_limit=ladder.strike_limit,
        ladder=ladder.name,
        rated=True,
        meant_for=tuple((each.bot, each.version) for each in tickets),
        secret=deal.secret if deal is not None else b"",
    )


def _day(now: int) -> str:
    return dt.datetime.fromtimestamp(now / 1000, dt.UTC).date().isoformat()
