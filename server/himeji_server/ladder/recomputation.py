"""The standings of a season computed anew from the log, page by page.

Invariant: a recomputation holds for one generation of the ladder. When the standings are replaced,
another game may be void, so whoever finds another generation begins anew. Games that are rated
meanwhile only add results: the recomputation goes on where it is.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final, NamedTuple

from himeji.v1.ladder_service_pb2 import RatedResult, Standing

from himeji_server.ladder.messages import standing_message
from himeji_server.ladder.standings import Standings
from himeji_server.store.standings import StandingsHead, StandingsStore

RESULTS_AT_ONCE: Final = 20
"""Results after which other tasks get their turn: each takes 0.1 to 0.4 ms to rate."""


class Progress(NamedTuple):
    """How many results of a season were read, of how many."""

    done: int
    total: int


class Recomputation:
    """The standings of a season as far as its log was read."""

    def __init__(
        self,
        store: StandingsStore,
        ladder: str,
        season: int,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """`without` are games to take out, beside those that are void."""
        self.generation = -1
        """For which it holds; no ladder has this one, so that it has to begin."""
        self.games = 0
        """How many results count: voided games do not."""
        self._store = store
        self._ladder = ladder
        self._season = season
        self._without = without
        self._voided = without
        self._standings = Standings({}, {})
        self._first = self._place = 0

    async def begin(self) -> None:
        """Begin, or begin anew, before the first result of the season."""
        self.generation = (await self._store.head(self._ladder)).generation
        self.games = 0
        self._voided = await self._store.voided(self._ladder) | self._without
        start = await self._store.starting_means(self._ladder, self._season)
        self._standings = Standings({}, start)
        self._first = (await self._store.seasons(self._ladder))[self._season].first
        self._place = self._first

    async def advance(self, head: StandingsHead) -> AsyncGenerator[Progress, None]:
        """Read the log on to a head of the ladder, and say after every page how far that is."""
        last = head.sequence
        if self._season < head.season:
            last = (await self._store.seasons(self._ladder))[self._season].last
        yield self._progress(last)
        while entries := await self._store.entries_after(self._ladder, self._place, until=last):
            for number, entry in enumerate(entries, start=1):
                self._apply(RatedResult.FromString(entry.data))
                if number % RESULTS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            self._place = entries[-1].sequence
            yield self._progress(last)

    def _apply(self, result: RatedResult) -> None:
        if result.game_id not in self._voided:
            self.games += 1
            self._standings.apply(result)

    def _progress(self, last: int) -> Progress:
        return Progress(self._place - self._first, last - self._first)

    def rows(self) -> dict[str, str]:
        """The computed rows as they are stored."""
        return {name: row.to_json() for name, row in self._standings.rows.items()}

    def differences(self, live: dict[str, str]) -> list[Standing]:
        """The computed rows that differ from the live ones, if only in the last digit."""
        rows = self.rows()
        out = [
            standing_message(self._standings.rows[name])
            for name in sorted(rows)
            if live.get(name) != rows[name]
        ]
        for name in sorted(live.keys() - rows.keys()):
            bot, _, version = name.partition("@")
            out.append(Standing(bot=bot, bot_version=int(version)))
        return out
