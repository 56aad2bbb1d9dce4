"""The read side of the ladder: ladders, queues, standings and results."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from operator import itemgetter
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
from himeji_server.accounts.bots import Bots
from himeji_server.accounts.caller import Caller
from himeji_server.accounts.open_streams import token_ended
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder import head_to_head, history
from himeji_server.ladder.ladders import Ladders
from himeji_server.ladder.messages import ladder_message, standing_message, ticket_message
from himeji_server.ladder.standings import StandingsRow
from himeji_server.store.ladder import LadderStore
from himeji_server.store.queues import Ticket
from himeji_server.store.standings import RatedEntry
from himeji_server.tasks import in_slices, wait_for

POLL_SECONDS: Final = 0.5
_Each = TypeVar("_Each")


class LadderQueries:
    """Queries about ladders, for anybody."""

    def __init__(
        self, ladders: Ladders, store: LadderStore, use_cases: GameUseCases, bots: Bots
    ) -> None:
        self.ladders = ladders
        self._store = store
        self._standings = store.standings
        self._use_cases = use_cases
        self._bots = bots

    # --- ladders and queues ---------------------------------------------------------------------

    async def list_ladders(
        self, page_size: int, page_token: str
    ) -> tuple[list[LadderMessage], str]:
        found, following = paginate(self.ladders.names, page_size, page_token, "ladders")
        return list(await asyncio.gather(*map(self.ladder, found))), following

    async def ladder(self, name: str) -> LadderMessage:
        """A ladder with its counts of bots and games; raises UnknownLadder."""
        found = self.ladders[name]
        head, (waiting, playing) = await asyncio.gather(
            self._standings.head(name), self._store.queues.counts(name)
        )
        rows = await self._standings.row_count(name, head.season)
        return ladder_message(
            found, season=head.season, waiting=waiting, playing=playing, rows=rows
        )

    async def list_tickets(
        self, caller: Caller, ladder: str, page_size: int, page_token: str
    ) -> tuple[list[TicketMessage], str]:
        """A page of the caller's tickets, or of all for an administrator."""
        bots = None  # all of them
        if not caller.has_scope(SCOPE_ADMIN):
            bots = [str(bot) for bot in await self._bots.of_caller(caller)]
        found: list[tuple[str, Ticket]] = []
        for name in self.ladders.names_of(ladder):
            found += [(name, ticket) async for ticket in self._store.queues.tickets(name, bots)]
        found.sort(key=lambda each: (each[1].entered, each[1].id))
        page, following = paginate(found, page_size, page_token, "tickets", ladder)
        return [await self._ticket(*each) for each in page], following

    async def _ticket(self, ladder: str, ticket: Ticket) -> TicketMessage:
        connected, games = await asyncio.gather(
            self._use_cases.is_connected(ticket.bot), self._use_cases.games_of(ticket.bot)
        )
        playing = await self._store.queues.seated(ladder, games)
        return ticket_message(ladder, ticket, playing, connected=connected)

    # --- standings ------------------------------------------------------------------------------

    async def season_number(self, ladder: str, season: int) -> int:
        """A season that exists, the running one for 0; raises InvalidRequest."""
        running = (await self._standings.head(self.ladders[ladder].name)).season
        if not 0 <= season <= running:
            raise InvalidRequest(f"{ladder} has the seasons 1 to {running}", {"field": "season"})
        return season or running

    async def standings(self, ladder: str, season: int, *, old_versions: bool) -> list[Standing]:
        """The whole standings, best first; equal ratings share a place."""
        texts = await self._standings.rows(ladder, season)
        rows = [row async for row in in_slices(map(_sortable, texts.values()))]
        newest: dict[str, int] = {}
        for _, _, row in rows:
            newest[row.bot] = max(row.version, newest.get(row.bot, 0))
        shown = [each for each in rows if old_versions or each[2].version == newest[each[2].bot]]
        shown.sort(key=itemgetter(0, 1))
        places: dict[float, int] = {}
        for place, (rating, _, _) in enumerate(shown, start=1):
            places.setdefault(rating, place)
        messages = (standing_message(row, places[rating]) for rating, _, row in shown)
        return [message async for message in in_slices(messages)]

    async def games_of_season(self, ladder: str, season: int) -> int:
        """How many rated games the standings of a season count: void ones only while pending."""
        first, last = await self._season_range(ladder, season)
        voided = await self._standings.voided(ladder)
        out = await self._standings.sequences_of(ladder, list(voided))
        pending = await self.pending_voids(ladder, season)
        return last - first - sum(first < each <= last for each in out) + pending

    async def pending_voids(self, ladder: str, season: int) -> int:
        """How many games of a season are void and still counted by its standings."""
        voids = await self._standings.pending_voids(ladder)
        return sum(each.season == season for each in voids)

    async def _season_range(self, ladder: str, season: int) -> tuple[int, int]:
        """The sequence before a season's first game, and that of its last one so far."""
        # In this order: a season that is over for the head has its last game among the seasons.
        head = await self._standings.head(ladder)
        record = (await self._standings.seasons(ladder))[season]
        return record.first, record.last if season < head.season else head.sequence

    # --- results --------------------------------------------------------------------------------

    async def history(
        self, bot: str, ladder: str, version: int, page_size: int, page_token: str
    ) -> tuple[list[HistoryEntry], str]:
        """A page of a bot's rated games, the newest first, of one ladder or of all.

        It reads a limited number of games, however few of them are of the version: then the page
        is short, or empty, and the next one goes on from there.
        """
        name = str(names.bot_name(bot))
        ladders = self.ladders.names_of(ladder)
        size, query = pagination.size(page_size), ("history", name, *ladders, version)
        cursor = pagination.cursor(page_token, *query)
        lengths = await history.lengths(self._standings, name, ladders)
        if not any(lengths.values()):
            await self._use_cases.check_bot_exists(name)
        left = history.from_cursor(cursor, lengths) if cursor else lengths
        games = history.BotHistory(self._standings, name, left)
        most = max(size, self._use_cases.limits.games_read_per_page) if version else size
        found: list[HistoryEntry] = []
        async for result in games.newest(most):
            seat = _seat(result, name)
            if not version or result.seats[seat].bot_version == version:
                found.append(HistoryEntry(result=result, seat=seat))
            if len(found) == size:
                break
        is_last = not any(games.left.values())
        return found, "" if is_last else pagination.token(history.to_cursor(games.left), *query)

    async def head_to_head(self, bot: str, opponent: str, ladder: str) -> list[HeadToHead]:
        """The record of two bots against each other, by ladder."""
        one, other = str(names.bot_name(bot)), str(names.bot_name(opponent, "opponent"))
        if one == other:
            raise InvalidRequest("a bot has no record against itself", {"field": "opponent"})
        ladders = self.ladders.names_of(ladder)
        games, others = await asyncio.gather(
            *(history.lengths(self._standings, each, ladders) for each in (one, other))
        )
        common = [each for each in ladders if games[each] and others[each]]
        most = self._use_cases.limits.games_compared // max(1, len(common))
        met: list[HeadToHead] = []
        for each in common:
            fewer = one if games[each] <= others[each] else other
            results = await self._newest_results(each, fewer, most)
            record = await self._record(each, one, other, results)
            met += [record] if record.games else []
        for name in () if met else (one, other):
            await self._use_cases.check_bot_exists(name)
        return met

    async def records_against(
        self, bot: str, opponents: Sequence[str], results: Sequence[RatedResult]
    ) -> list[tuple[str, HeadToHead]]:
        """The records of a bot in these games of it, by opponent and ladder."""
        found: list[tuple[str, HeadToHead]] = []
        for opponent in opponents:
            for ladder in sorted({each.ladder for each in results}):
                played = [each for each in results if each.ladder == ladder]
                record = await self._record(ladder, bot, opponent, played)
                found += [(opponent, record)] if record.games else []
        return found

    async def _newest_results(self, ladder: str, bot: str, most: int) -> list[RatedResult]:
        sequences = await self._standings.history(ladder, bot, -most)
        entries = await self._standings.entries(ladder, sequences)
        return [result async for result in in_slices(map(_result, entries))]

    async def _record(
        self, ladder: str, one: str, other: str, results: Iterable[RatedResult]
    ) -> HeadToHead:
        """The record in those games of a ladder in which both have seats and that are not void."""
        both = [each for each in results if head_to_head.are_both_in(each, one, other)]
        voided = await self._standings.voided_among(ladder, [each.game_id for each in both])
        counted = in_slices(each for each in both if each.game_id not in voided)
        return await head_to_head.record(ladder, one, other, counted)

    async def watch_results(
        self, ladder: str, after: int | None, ended: asyncio.Event
    ) -> AsyncGenerator[RatedResult, None]:
        """Results after a sequence (None: new ones) as they are rated, until the server stops.

        Raises InvalidToken when `ended` is set, because the token of the stream works no more.
        """
        name = self.ladders[ladder].name
        if after is not None and after < 0:
            sentence = "a sequence is 0 or more"
            raise InvalidRequest(sentence, {"field": "after_sequence"})
        place = (await self._standings.head(name)).sequence if after is None else after
        stopping = self._use_cases.stopping
        while not stopping.is_set():
            entries = await self._standings.entries_after(name, place)
            for entry in entries:
                if ended.is_set():
                    raise token_ended()
                yield _result(entry)
                place = entry.sequence
            if not entries:
                await wait_for(stopping, POLL_SECONDS)
            if ended.is_set():
                raise token_ended()


def _sortable(text: str) -> tuple[float, str, StandingsRow]:
    """A row, and what the standings are sorted by: the rating, the highest first, and the name."""
    row = StandingsRow.from_json(text)
    return -row.rating.conservative, row.name, row


def paginate(
    found: list[_Each], page_size: int, page_token: str, *query: object
) -> tuple[list[_Each], str]:
    """A page of a list that is in memory; the token holds how many items came before."""
    size, place = pagination.size(page_size), pagination.cursor(page_token, *query)
    first = pagination.number(place or "0")
    following = pagination.token(str(first + size), *query) if len(found) > first + size else ""
    return found[first : first + size], following


def _result(entry: RatedEntry) -> RatedResult:
    return RatedResult.FromString(entry.data)


def _seat(result: RatedResult, bot: str) -> int:
    return next(number for number, seat in enumerate(result.seats) if seat.bot == bot)
