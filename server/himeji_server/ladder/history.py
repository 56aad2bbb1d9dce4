"""The rated games of a bot on several ladders, as one list with the newest first."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, NamedTuple

from himeji.v1.ladder_service_pb2 import RatedResult

from himeji_server import pagination
from himeji_server.store.standings import StandingsStore
from himeji_server.tasks import in_slices

_SMALLEST_BATCH: Final = 10


class _Game(NamedTuple):
    """A game of the bot, and how many games it had on the ladder before."""

    place: int
    result: RatedResult


class BotHistory:
    """Reads the list from some point on; only as many games are read as are asked for.

    Between ladders the order is by the time of the end, within a ladder that of its log.
    """

    def __init__(self, standings: StandingsStore, bot: str, left: Mapping[str, int]) -> None:
        """`left` says how many games of each ladder are still to come."""
        self.left = dict(left)
        self._standings = standings
        self._bot = bot
        self._ahead: dict[str, deque[_Game]] = {ladder: deque() for ladder in left}

    async def newest(self, most: int) -> AsyncIterator[RatedResult]:
        """The next games, at most so many."""
        for read in range(most):
            await self._read_ahead(most - read)
            waiting = [(ladder, games[0]) for ladder, games in self._ahead.items() if games]
            if not waiting:
                return
            ladder, game = max(waiting, key=lambda each: _order(each[1].result))
            self._ahead[ladder].popleft()
            self.left[ladder] = game.place
            yield game.result

    async def _read_ahead(self, most: int) -> None:
        """Read the next games of each ladder of which none is waiting."""
        empty = [each for each, left in self.left.items() if left and not self._ahead[each]]
        if empty:
            batch = min(most, max(_SMALLEST_BATCH, most // len(empty)))
            await asyncio.gather(*(self._read(ladder, batch) for ladder in empty))

    async def _read(self, ladder: str, batch: int) -> None:
        left = self.left[ladder]
        first = max(0, left - batch)
        sequences = await self._standings.history(ladder, self._bot, first, left - 1)
        places = {sequence: place for place, sequence in enumerate(sequences, start=first)}
        entries = await self._standings.entries(ladder, sequences)
        async for entry in in_slices(reversed(entries)):
            result = RatedResult.FromString(entry.data)
            self._ahead[ladder].append(_Game(places[entry.sequence], result))
        if not entries:
            self.left[ladder] = first


async def lengths(standings: StandingsStore, bot: str, ladders: Sequence[str]) -> dict[str, int]:
    """How many rated games a bot has on each ladder."""
    found = await asyncio.gather(*(standings.history_length(each, bot) for each in ladders))
    return dict(zip(ladders, found, strict=True))


def to_cursor(left: Mapping[str, int]) -> str:
    """How many games of each ladder are still to come, for a page token."""
    return ",".join(map(str, left.values()))


def from_cursor(cursor: str, lengths: Mapping[str, int]) -> dict[str, int]:
    """What to_cursor() has made a cursor of; raises InvalidRequest if that cannot be."""
    counts = [pagination.number(each) for each in cursor.split(",")]
    if len(counts) != len(lengths):
        raise pagination.refused()
    pairs = zip(lengths.items(), counts, strict=True)
    return {ladder: min(count, length) for (ladder, length), count in pairs}


def _order(result: RatedResult) -> tuple[int, str, int]:
    return result.end_time.ToMilliseconds(), result.ladder, result.sequence
