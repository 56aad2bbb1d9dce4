"""LadderService: queues, standings, results, seasons and tournaments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any, Final

from himeji.rules.errors import HimejiError
from himeji.v1 import ladder_service_pb2 as pb

from himeji_server.accounts.caller import current_caller
from himeji_server.accounts.open_streams import OpenStreams, token_ended
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.ladder.queries import paginate
from himeji_server.ladder.recomputation import Progress
from himeji_server.ladder.recomputation_jobs import Step
from himeji_server.play.stream_end import StreamEnd
from himeji_server.rate_limits import ConcurrencyLimit

SERVICE: Final = "himeji.v1.LadderService"
ROWS_PER_MESSAGE: Final = 200

# ruff: noqa: N802 - methods have the contract's names


class LadderService:
    """Decodes a request, calls one use case, encodes the response."""

    def __init__(
        self, ladder: LadderAssembly, streams: OpenStreams, watchers: ConcurrencyLimit
    ) -> None:
        """`watchers` limits the streams of an owner, together with those of other services."""
        self._queries = ladder.queries
        self._administration = ladder.administration
        self._queue_commands = ladder.queue_commands
        self._tournaments = ladder.tournaments
        self._streams = streams
        self._watchers = watchers

    async def ListLadders(
        self, request: pb.ListLaddersRequest, _context: Any
    ) -> pb.ListLaddersResponse:
        found, token = await self._queries.list_ladders(request.page_size, request.page_token)
        return pb.ListLaddersResponse(ladders=found, next_page_token=token)

    async def GetLadder(self, request: pb.GetLadderRequest, _context: Any) -> pb.GetLadderResponse:
        return pb.GetLadderResponse(ladder=await self._queries.ladder(request.ladder))

    async def ListTickets(
        self, request: pb.ListTicketsRequest, _context: Any
    ) -> pb.ListTicketsResponse:
        found, token = await self._queries.list_tickets(
            current_caller(), request.ladder, request.page_size, request.page_token
        )
        return pb.ListTicketsResponse(tickets=found, next_page_token=token)

    async def LeaveLadder(
        self, request: pb.LeaveLadderRequest, _context: Any
    ) -> pb.LeaveLadderResponse:
        left = await self._queue_commands.leave_by_call(
            current_caller(), request.bot, request.ladder, request.request_id
        )
        return pb.LeaveLadderResponse(ladders=left)

    async def GetStandings(
        self, request: pb.GetStandingsRequest, _context: Any
    ) -> pb.GetStandingsResponse:
        season = await self._queries.season_number(request.ladder, request.season)
        old = request.show_old_versions
        standings = await self._queries.standings(request.ladder, season, old_versions=old)
        query = ("standings", request.ladder, request.season, old)
        rows, token = paginate(standings, request.page_size, request.page_token, *query)
        return pb.GetStandingsResponse(
            standings=rows,
            next_page_token=token,
            season=season,
            games=await self._queries.games_of_season(request.ladder, season),
            pending_voids=await self._queries.pending_voids(request.ladder, season),
        )

    async def GetHistory(
        self, request: pb.GetHistoryRequest, _context: Any
    ) -> pb.GetHistoryResponse:
        entries, token = await self._queries.history(
            request.bot,
            request.ladder,
            request.bot_version,
            request.page_size,
            request.page_token,
        )
        return pb.GetHistoryResponse(entries=entries, next_page_token=token)

    async def GetHeadToHead(
        self, request: pb.GetHeadToHeadRequest, _context: Any
    ) -> pb.GetHeadToHeadResponse:
        found = await self._queries.head_to_head(request.bot, request.opponent, request.ladder)
        return pb.GetHeadToHeadResponse(ladders=found)

    async def WatchResults(
        self, request: pb.WatchResultsRequest, _context: Any
    ) -> AsyncIterator[pb.WatchResultsResponse]:
        end = StreamEnd.draining()
        with ExitStack() as stack:
            try:
                ended = stack.enter_context(self._watching())
                after = request.after_sequence if request.HasField("after_sequence") else None
                found = self._queries.watch_results(request.ladder, after, ended)
                async with aclosing(found) as results:
                    async for result in results:
                        yield pb.WatchResultsResponse(result=result)
            except HimejiError as error:
                end = StreamEnd.by(error)
        yield pb.WatchResultsResponse(stream_end=end.to_message())
        if end.error is not None:
            raise end.error

    @contextmanager
    def _watching(self) -> Iterator[asyncio.Event]:
        """Count a stream of the caller; the event is set when its token works no more."""
        caller = current_caller()
        with self._watchers.slot(caller.limit_key), self._streams.register(caller) as ended:
            yield ended

    async def RecomputeStandings(
        self, request: pb.RecomputeStandingsRequest, _context: Any
    ) -> AsyncIterator[pb.RecomputeStandingsResponse]:
        end = StreamEnd.complete("the table is recomputed")
        steps = self._administration.recompute(
            current_caller(),
            request.ladder,
            request.season,
            request.request_id,
            repair=request.repair,
        )
        with ExitStack() as stack:
            try:
                ended = stack.enter_context(self._watching())
                async with aclosing(steps):
                    async for step in steps:
                        if ended.is_set():
                            raise token_ended()
                        for message in _recompute_messages(step):
                            yield message
            except HimejiError as error:
                end = StreamEnd.by(error)
        yield pb.RecomputeStandingsResponse(stream_end=end.to_message())
        if end.error is not None:
            raise end.error

    async def StartSeason(
        self, request: pb.StartSeasonRequest, _context: Any
    ) -> pb.StartSeasonResponse:
        carry_over = request.carry_over if request.HasField("carry_over") else None
        season = await self._administration.start_season(
            current_caller(), request.ladder, request.title, carry_over, request.request_id
        )
        return pb.StartSeasonResponse(season=season)

    async def ListSeasons(
        self, request: pb.ListSeasonsRequest, _context: Any
    ) -> pb.ListSeasonsResponse:
        found, token = await self._administration.list_seasons(
            request.ladder, request.page_size, request.page_token
        )
        return pb.ListSeasonsResponse(seasons=found, next_page_token=token)

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, _context: Any
    ) -> pb.CreateTournamentResponse:
        created = await self._tournaments.create(current_caller(), request)
        return pb.CreateTournamentResponse(tournament=created)

    async def GetTournament(
        self, request: pb.GetTournamentRequest, _context: Any
    ) -> pb.GetTournamentResponse:
        found, entrants = await self._tournaments.get(request.tournament)
        return pb.GetTournamentResponse(tournament=found, entrants=entrants)

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, _context: Any
    ) -> pb.ListTournamentsResponse:
        found, token = await self._tournaments.list_tournaments(
            request.state, request.page_size, request.page_token
        )
        return pb.ListTournamentsResponse(tournaments=found, next_page_token=token)

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, _context: Any
    ) -> pb.CancelTournamentResponse:
        cancelled = await self._tournaments.cancel(
            current_caller(), request.tournament, request.request_id
        )
        return pb.CancelTournamentResponse(tournament=cancelled)


def _recompute_messages(step: Step) -> Iterator[pb.RecomputeStandingsResponse]:
    if isinstance(step, Progress):
        progress = pb.RecomputeProgress(done=step.done, total=step.total)
        yield pb.RecomputeStandingsResponse(progress=progress)
        return
    rows = step.differences
    for first in range(0, len(rows), ROWS_PER_MESSAGE):
        batch = pb.StandingDifferences(standings=rows[first : first + ROWS_PER_MESSAGE])
        yield pb.RecomputeStandingsResponse(differences=batch)
    result = pb.RecomputeResult(games=step.games, differences=len(rows), repaired=step.repaired)
    yield pb.RecomputeStandingsResponse(result=result)
