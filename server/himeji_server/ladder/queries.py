"""The office: what anybody may ask about ladders, queues, tables and results."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final, TypeVar

from himeji.rules.errors import InvalidRequest
from himeji.v1.account_service_pb2 import SCOPE_ADMIN
from himeji.v1.ladder_service_pb2 import (
    HeadToHead,
    HistoryEntry,
    Ladder as LadderMessage,
    RatedResult,
    Standing,
    Ticket as TicketMessage,
)

from himeji_server import names, pagination
from himeji_server.accounts.caller import Caller
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.messages import ladder_message, standing_message, ticket_message
from himeji_server.ladder.standings import Row
from himeji_server.store.ladder import LadderStore
from himeji_server.store.standings import RatedEntry

SECONDS_BETWEEN_LOOKS: Final = 0.5
MOST_COMPARED: Final = 5_000
"""The newest common games of two bots that are compared."""

_Each = TypeVar("_Each")


class LadderQueries:
    """Answers questions about ladders."""

    def __init__(self, ladders: Ladders, store: LadderStore, use_cases: GameUseCases) -> None:
        self.ladders = ladders
        self._store = store
        self._boards = store.standings
        self._use_cases = use_cases

    # --- ladders and queues ---------------------------------------------------------------------

    async def listed(self, page_size: int, page_token: str) -> tuple[list[LadderMessage], str]:
        """A page of the ladders."""
        found, following = page(self.ladders.names, page_size, page_token, "ladders")
        return list(await asyncio.gather(*map(self.ladder, found))), following

    async def ladder(self, name: str) -> LadderMessage:
        """A ladder and how it is doing; raises UnknownLadder."""
        found = self.ladders[name]
        head, (waiting, playing) = await asyncio.gather(
            self._boards.head(name), self._store.queues.counts(name)
        )
        rows = await self._boards.row_count(name, head.season)
        return ladder_message(
            found, season=head.season, waiting=waiting, playing=playing, rows=rows
        )

    async def tickets(
        self, caller: Caller, ladder: str, page_size: int, page_token: str
    ) -> tuple[list[TicketMessage], str]:
        """A page of the caller's tickets, or of all for an administrator."""
        wanted = [self.ladders[ladder].name] if ladder else self.ladders.names
        found: list[TicketMessage] = []
        for name in wanted:
            queue = await self._store.queues.queue(name)
            games = await self._store.queues.games(name)
            for ticket in queue.tickets:
                if not caller.has(SCOPE_ADMIN) and not _speaks_for(caller, ticket.bot):
                    continue
                mine = [game_id for game_id, bots in games.items() if ticket.bot in bots]
                holder = await self._use_cases.presence.holder(ticket.bot)
                found.append(ticket_message(name, ticket, mine, connected=bool(holder)))
        found.sort(key=lambda ticket: (ticket.enter_time.ToMilliseconds(), ticket.ticket_id))
        return page(found, page_size, page_token, "tickets", ladder)

    # --- tables ---------------------------------------------------------------------------------

    async def season(self, ladder: str, season: int) -> int:
        """The season that is meant, 0 for the running one; raises InvalidRequest."""
        running = (await self._boards.head(self.ladders[ladder].name)).season
        if not 0 <= season <= running:
            raise InvalidRequest(f"{ladder} has the seasons 1 to {running}", {"field": "season"})
        return season or running

    async def standings(self, ladder: str, season: int, *, old_versions: bool) -> list[Standing]:
        """The whole table, best first; equal ratings share a place."""
        texts = await self._boards.rows(ladder, season)
        rows = [Row.parse(text) for text in texts.values()]
        newest: dict[str, int] = {}
        for row in rows:
            newest[row.bot] = max(row.version, newest.get(row.bot, 0))
        shown = [row for row in rows if old_versions or row.version == newest[row.bot]]
        shown.sort(key=lambda row: (-row.rating.conservative, row.name))
        ratings = [row.rating.conservative for row in shown]
        return [standing_message(row, 1 + ratings.index(row.rating.conservative)) for row in shown]

    async def games_of_season(self, ladder: str, season: int) -> int:
        """How many rated games count for the table of a season."""
        first, last = await self.season_range(ladder, season)
        voided = await self._boards.voided(ladder)
        out = [await self._boards.sequence_of(ladder, game_id) for game_id in voided]
        return last - first - sum(first < each <= last for each in out)

    async def season_range(self, ladder: str, season: int) -> tuple[int, int]:
        """The sequence before a season's first game, and that of its last one so far."""
        seasons = await self._boards.seasons(ladder)
        head = await self._boards.head(ladder)
        record = seasons[season]
        return record.first, record.last if season < head.season else head.sequence

    # --- results --------------------------------------------------------------------------------

    async def history(
        self, bot: str, ladder: str, version: int, page_size: int, page_token: str
    ) -> tuple[list[HistoryEntry], str]:
        """A page of a bot's rated games, the newest first, of one ladder or of all."""
        name = str(names.bot_name(bot))
        wanted = [self.ladders[ladder].name] if ladder else self.ladders.names
        size, question = pagination.size(page_size), ("history", name, ladder, version)
        cursors = _cursors(pagination.place(page_token, *question), wanted)
        if not cursors:
            lengths = [len(await self._boards.history(each, name)) for each in wanted]
            cursors = dict(zip(wanted, lengths, strict=True))
            if not any(lengths):
                await self._use_cases.bots.get(name)  # says so if there is none
        found: list[RatedResult] = []
        while len(found) < size and any(cursors.values()):
            newest = await self._newest(name, cursors, size)
            for result in newest[: size - len(found)]:
                cursors[result.ladder] -= 1
                if not version or any(
                    seat.bot == name and seat.bot_version == version for seat in result.seats
                ):
                    found.append(result)
        place = ",".join(f"{each}={left}" for each, left in cursors.items())
        following = pagination.token(place, *question) if any(cursors.values()) else ""
        return [HistoryEntry(result=each, seat=_seat(each, name)) for each in found], following

    async def _newest(self, bot: str, cursors: dict[str, int], most: int) -> list[RatedResult]:
        """The newest games before the cursors, of all ladders together."""
        found: list[RatedResult] = []
        for ladder, left in cursors.items():
            if left:
                first = max(0, left - most)
                sequences = await self._boards.history(ladder, bot, first, left - 1)
                found += map(_result, await self._boards.entries(ladder, sequences))
        # Within a ladder the log's order counts, for the cursor goes down by it.
        found.sort(key=lambda each: (each.end_time.ToMilliseconds(), each.sequence), reverse=True)
        return _in_log_order(found)[:most]

    async def head_to_head(self, bot: str, opponent: str, ladder: str) -> list[HeadToHead]:
        """What two bots did against each other, by ladder."""
        one, other = str(names.bot_name(bot)), str(names.bot_name(opponent, "opponent"))
        if one == other:
            raise InvalidRequest("a bot has no record against itself", {"field": "opponent"})
        wanted = [self.ladders[ladder].name] if ladder else self.ladders.names
        found = [await self._compared(each, one, other) for each in wanted]
        met = [each for each in found if each.games]
        for name in () if met else (one, other):
            await self._use_cases.bots.get(name)  # says so if there is none
        return met

    async def _compared(self, ladder: str, one: str, other: str) -> HeadToHead:
        mine, theirs, voided = await asyncio.gather(
            self._boards.history(ladder, one),
            self._boards.history(ladder, other),
            self._boards.voided(ladder),
        )
        common = sorted(set(mine) & set(theirs))[-MOST_COMPARED:]
        out, margin = HeadToHead(ladder=ladder), 0
        for result in map(_result, await self._boards.entries(ladder, common)):
            if result.game_id in voided:
                continue
            own = result.result.seats[_seat(result, one)]
            rival = result.result.seats[_seat(result, other)]
            out.games += 1
            out.wins += own.rank < rival.rank
            out.ties += own.rank == rival.rank
            out.losses += own.rank > rival.rank
            margin += own.score - rival.score
        out.mean_margin = margin / out.games if out.games else 0.0
        return out

    async def results(self, ladder: str, after: int | None) -> AsyncGenerator[RatedResult, None]:
        """Results after a sequence (None: new ones) as they are rated, until the arena stops."""
        name = self.ladders[ladder].name
        place = (await self._boards.head(name)).sequence if after is None else after
        stopping = self._use_cases.stopping
        while not stopping.is_set():
            entries = await self._boards.entries_after(name, place)
            for entry in entries:
                yield _result(entry)
                place = entry.sequence
            if not entries:
                with suppress(TimeoutError):
                    async with asyncio.timeout(SECONDS_BETWEEN_LOOKS):
                        await stopping.wait()


def page(
    found: list[_Each], page_size: int, page_token: str, *question: object
) -> tuple[list[_Each], str]:
    """A page of a list that is there as a whole; a token holds how many were given."""
    size, place = pagination.size(page_size), pagination.place(page_token, *question)
    if place and not (place.isdecimal() and len(place) < 10):
        raise InvalidRequest("the page token is not one of this list", {"field": "page_token"})
    first = int(place or 0)
    following = pagination.token(str(first + size), *question) if len(found) > first + size else ""
    return found[first : first + size], following


def _speaks_for(caller: Caller, bot: str) -> bool:
    return caller.may_speak_for(names.bot_name(bot))


def _cursors(place: str, wanted: list[str]) -> dict[str, int]:
    found = dict(each.split("=") for each in place.split(",")) if place else {}
    if not all(name in wanted and left.isdecimal() for name, left in found.items()):
        raise InvalidRequest("the page token is not one of this list", {"field": "page_token"})
    return {name: int(left) for name, left in found.items()}


def _in_log_order(found: list[RatedResult]) -> list[RatedResult]:
    """The same places for each ladder, filled by its results in the order of its log."""
    by_ladder: dict[str, list[RatedResult]] = {}
    for each in sorted(found, key=lambda result: result.sequence):
        by_ladder.setdefault(each.ladder, []).append(each)
    return [by_ladder[each.ladder].pop() for each in found]


def _result(entry: RatedEntry) -> RatedResult:
    return RatedResult.FromString(entry.data)


def _seat(result: RatedResult, bot: str) -> int:
    return next(number for number, seat in enumerate(result.seats) if seat.bot == bot)
