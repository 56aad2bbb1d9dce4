"""The usher: seats bots that wait, and unseats those that do not answer.

Any number of ushers may work at once, in any number of processes, and any of them may die: the
store seats a bot only while its ticket allows it, and what one usher left half done another one
finds when the time to answer is over.
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
from himeji_server.ladder.pairing import Meetings, Pair, Policy, Waiting, pair, tables
from himeji_server.ladder.rating import BEGINNER
from himeji_server.ladder.standings import Row, row_name
from himeji_server.store.deals import Deal, Order
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.ladder import LadderStore
from himeji_server.store.queues import Queue, SeatingStatus, Ticket

MOST_CONSIDERED: Final = 200
"""Tickets of a ladder that one round looks at; the oldest first."""

GRACE_MS: Final = 2_000
"""A seating without a game is looked at so long after its seats should have answered."""

HOUSE_PAUSE_MS: Final = 60_000
"""How long a ladder rests after the first game of the house with itself; then ever longer."""

LONGEST_HOUSE_PAUSE_MS: Final = 600_000

AWAY_MS: Final = 30_000
"""How long a bot without a stream keeps its place in a queue."""

CAPPED_MS: Final = 60_000
"""How long a pair that met too often today is not tried again."""

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
        self._boards = store.standings
        self._use_cases = use_cases
        self._policy = policy or Policy()
        self._opened = False
        self._capped: defaultdict[str, dict[Pair, int]] = defaultdict(dict)
        """Pairs that the store did not want to seat together, by ladder, and when that was."""

        self._away: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """Tickets of bots that have no stream, by ladder, and since when this usher knows."""

    async def round(self, now: int) -> None:
        """Pair, seat and unseat once on every ladder; `now` is the store's time."""
        if not self._opened:
            await asyncio.gather(
                *(self._boards.ensure_first_season(name) for name in self._ladders.names)
            )
            self._opened = True
        await asyncio.gather(
            *(self._ladder_round(self._ladders[name], now) for name in self._ladders.names)
        )

    async def _ladder_round(self, ladder: Ladder, now: int) -> None:
        for game_id in await self._queues.overdue(ladder.name, now):
            await self._look_at(ladder, game_id, now)
        queue = await self._queues.queue(ladder.name)
        if not ladder.accepting:
            await self._close(ladder, queue.tickets)
            return
        here = await self._present(ladder, queue.tickets, now)
        waiting = [each for each in here if queue.load.get(each.bot, 0) < each.max_games]
        if waiting and not (ladder.trusted and await self._go_on(ladder, queue, waiting, now)):
            await self._pair(ladder, queue, waiting[:MOST_CONSIDERED], now)

    # --- leaving --------------------------------------------------------------------------------

    async def _close(self, ladder: Ladder, tickets: Sequence[Ticket]) -> None:
        """Nobody waits on a closed ladder: who is in its queue since it was open is told."""
        for each in tickets:
            if await self._queues.leave(ladder.name, each.bot):
                await self._queues.notify_closed(each.bot, ladder.name)

    async def _present(self, ladder: Ladder, tickets: Sequence[Ticket], now: int) -> list[Ticket]:
        """Those who have a stream; who has had none for long loses its ticket."""
        holders = await asyncio.gather(
            *(self._use_cases.presence.holder(each.bot) for each in tickets)
        )
        away = [each for each, holder in zip(tickets, holders, strict=True) if not holder]
        before = self._away[ladder.name]
        since = {each.id: before.get(each.id, now) for each in away}
        self._away[ladder.name] = since
        for each in away:
            if now - since[each.id] >= AWAY_MS and await self._queues.leave(ladder.name, each.bot):
                _log.info("left the queue without a word", ladder=ladder.name, bot=each.bot)
        return [each for each in tickets if each.id not in since]

    # --- seating --------------------------------------------------------------------------------

    async def _go_on(self, ladder: Ladder, queue: Queue, here: Sequence[Ticket], now: int) -> bool:
        """Seat those whose deal is to be played from other seats; whether there were any.

        A deal whose bots cannot meet any more is not played to its end.
        """
        there = {each.bot for each in queue.tickets}
        tickets, some = {each.bot: each for each in here}, False
        for deal in await self._deals.unfinished(ladder.name):
            order = deal.orders[0]
            free = tickets.keys() >= set(order)
            if not free and there.issuperset(order):
                continue  # one of them is busy or away for a moment
            table = [tickets[bot] for bot in order] if free else []
            seated = free and await self._seat(ladder, table, now, deal)
            if not seated:
                await self._deals.save(ladder.name, replace(deal, orders=()))
            some |= seated
        return some

    async def _pair(self, ladder: Ladder, queue: Queue, here: Sequence[Ticket], now: int) -> None:
        rows = await self._rows(ladder, here)
        considered = [_waiting(each, rows, queue, now) for each in here]
        known = len({each.bot for each in here} | queue.load.keys())
        cap = self._policy.pair_cap
        meetings = Meetings(
            {each: cap for each, at in self._capped[ladder.name].items() if now < at + CAPPED_MS},
            {row.bot: row.recent for row in rows.values()},
            known,
        )
        alone = all(each.house for each in considered)
        house_only = alone and await self._queues.house_may_play(ladder.name)
        tickets = {each.bot: each for each in here}
        for table in tables(
            considered, ladder.seats, meetings, self._policy, house_only=house_only
        ):
            deal = new_deal(table) if ladder.trusted else None
            seated = await self._seat(ladder, [tickets[bot] for bot in table], now, deal)
            if seated and alone:
                games = min(each.games for each in considered if each.bot in table)
                await self._queues.pause_house(ladder.name, house_pause(games))

    async def _rows(self, ladder: Ladder, tickets: Sequence[Ticket]) -> dict[str, Row]:
        season = (await self._boards.head(ladder.name)).season
        names = [row_name(each.bot, each.version) for each in tickets]
        found = await self._boards.rows(ladder.name, season, names)
        return {name: Row.parse(text) for name, text in found.items()}

    async def _seat(
        self, ladder: Ladder, tickets: Sequence[Ticket], now: int, deal: Deal | None
    ) -> bool:
        """Seat these together, if the store agrees, and tell them."""
        game_id = secrets.token_hex(10)
        seating = await self._queues.seat(
            ladder.name,
            game_id,
            tickets,
            answer_ms=ladder.ready + GRACE_MS,
            pair_cap=self._policy.pair_cap,
            day=_day(now),
        )
        if seating.status is SeatingStatus.CAPPED:
            one, other = seating.bots
            self._capped[ladder.name][pair(one, other)] = now
        if seating.status is not SeatingStatus.OK:
            return False
        if deal is not None:
            await self._deals.save(ladder.name, replace(deal, orders=deal.orders[1:]))
        table = await self._use_cases.commands.create(_new_game(ladder, tickets, deal), game_id)
        await self._queues.set_deadline(ladder.name, game_id, table.stored.created + ladder.ready)
        for bot in (each.bot for each in tickets):
            await self._use_cases.presence.add_game(bot, game_id)
            await self._use_cases.presence.notify_seated(bot, game_id)
        _log.info("seated", ladder=ladder.name, game=game_id, bots=[each.bot for each in tickets])
        return True

    # --- unseating ------------------------------------------------------------------------------

    async def _look_at(self, ladder: Ladder, game_id: str, now: int) -> None:
        """A seating whose time is over: unless its game has begun, it is called off.

        The result of a game that was called off releases its bots, as every result does.
        """
        try:
            table = await self._use_cases.view(game_id)
        except UnknownGame:
            await self._queues.release(ladder.name, game_id, begun=False)
            return
        deadline = table.stored.created + ladder.ready
        if table.stored.state == WAITING and deadline > now:
            await self._queues.set_deadline(ladder.name, game_id, deadline)
        elif table.stored.state == WAITING:
            await self._use_cases.commands.cancel(game_id, EndReason.END_REASON_UNSEATED)
        elif table.stored.state != OVER:
            await self._queues.remove_deadline(ladder.name, game_id)


def house_pause(games: int) -> int:
    """How long the house rests after a game with itself; `games` had the least known at the table.

    The better its bots are known, the less another game of theirs tells.
    """
    return min(LONGEST_HOUSE_PAUSE_MS, HOUSE_PAUSE_MS * (1 + games))


def _waiting(ticket: Ticket, rows: dict[str, Row], queue: Queue, now: int) -> Waiting:
    row = rows.get(row_name(ticket.bot, ticket.version))
    load = queue.load.get(ticket.bot, 0)
    return Waiting(
        bot=ticket.bot,
        rating=row.rating if row is not None else BEGINNER,
        games=(row.games if row is not None else 0) + load,
        waited=max(0, now - ticket.since) / 1000,
        free=ticket.max_games - load,
        seats=tuple(row.seats) if row is not None else (),
        luck=f"{ticket.id} {ticket.seatings}",
    )


def new_deal(table: Order) -> Deal:
    """A deal that is played once with each bot in each seat."""
    rotations = tuple(table[first:] + table[:first] for first in range(len(table)))
    return Deal(secrets.token_hex(8), new_secret(), rotations)


def _new_game(ladder: Ladder, tickets: Sequence[Ticket], deal: Deal | None) -> NewGame:
    policy = SeatPolicy.SEAT_POLICY_BOT
    return NewGame(
        ruleset=ladder.ruleset,
        options=dict(ladder.options),
        plans=tuple(SeatPlan(policy=policy, name=each.bot) for each in tickets),
        clock=(ladder.bank, ladder.increment),
        strike_limit=ladder.strike_limit,
        ladder=ladder.name,
        rated=True,
        meant_for=tuple((each.bot, each.version) for each in tickets),
        secret=deal.secret if deal is not None else b"",
    )


def _day(now: int) -> str:
    return dt.datetime.fromtimestamp(now / 1000, dt.UTC).date().isoformat()
