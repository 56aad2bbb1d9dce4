"""What two bots did against each other, computed from rated games."""

from collections.abc import AsyncIterator

from himeji.v1.ladder_service_pb2 import HeadToHead, RatedResult


def are_both_in(result: RatedResult, bot: str, opponent: str) -> bool:
    """Whether two bots have seats in a game."""
    return {bot, opponent} <= {seat.bot for seat in result.seats}


async def record(
    ladder: str, bot: str, opponent: str, results: AsyncIterator[RatedResult]
) -> HeadToHead:
    """The record of a bot against another, from games on one ladder in which both have seats."""
    out, margin = HeadToHead(ladder=ladder), 0
    async for result in results:
        seats = {seat.bot: number for number, seat in enumerate(result.seats)}
        own, other = (result.result.seats[seats[each]] for each in (bot, opponent))
        out.games += 1
        out.wins += own.rank < other.rank
        out.ties += own.rank == other.rank
        out.losses += own.rank > other.rank
        margin += own.score - other.score
    out.mean_margin = margin / out.games if out.games else 0.0
    return out
