"""A ladder's standings: rows that follow from rated results and from nothing else.

Live rating and recomputation use the same code, so their rows can only differ if the log or a row
was changed from outside.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from himeji.v1.game_pb2 import GameResult
from himeji.v1.ladder_service_pb2 import RatedResult, Rating as RatingMessage

from himeji_server.ladder.queue_pairing import RECENT_GAMES
from himeji_server.ladder.rating import (
    BEGINNER,
    UNCERTAINTY,
    Rating,
    carried_over,
    inherited,
    updated,
    updated_alone,
)

CARRY_OVER: Final = 0.5
"""The default share of its distance from a beginner that a rating keeps into the next season."""


@dataclass(frozen=True)
class StandingsRow:
    """One version of a bot in the standings."""

    bot: str
    version: int
    mean: float
    uncertainty: float
    games: int = 0
    ranks: list[int] = field(default_factory=list)
    """How often it had each rank."""

    score: int = 0
    """The sum of its scores."""

    reasons: dict[str, int] = field(default_factory=dict)
    """How often its part ended for each reason, by the number of the reason."""

    seats: list[int] = field(default_factory=list)
    """How often it had each seat."""

    recent: list[list[str]] = field(default_factory=list)
    """The opponents of its last games, the newest last."""

    last: int = 0
    """When its last game ended, in milliseconds."""

    @property
    def name(self) -> str:
        """The key of the row."""
        return row_name(self.bot, self.version)

    @property
    def rating(self) -> Rating:
        return Rating(self.mean, self.uncertainty)

    def to_json(self) -> str:
        """The row as it is stored; every digit of a rating is kept."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "StandingsRow":
        return cls(**json.loads(text))


def row_name(bot: str, version: int) -> str:
    """The key of the row of a bot's version."""
    return f"{bot}@{version}"


def names_needed(seats: Iterable[tuple[str, int]]) -> list[str]:
    """The rows and starting means that a game of these bots may need: theirs and their parents'."""
    return [row_name(bot, number) for bot, version in seats for number in range(version, 0, -1)]


class Standings:
    """The standings of a season, or the part that a game needs."""

    def __init__(self, rows: Mapping[str, StandingsRow], start: Mapping[str, float]) -> None:
        """`start` are the means with which versions of bots began the season."""
        self.rows = dict(rows)
        self._start = start

    def initial_rating(self, bot: str, version: int) -> Rating:
        """The rating before the first game: carried over, or its parent's mean, or a beginner's."""
        for number in range(version, 0, -1):
            name = row_name(bot, number)
            if name in self.rows:
                found = self.rows[name].rating
                return found if number == version else inherited(found)
            if name in self._start:
                return Rating(self._start[name], UNCERTAINTY)
        return BEGINNER

    def apply(self, rated: RatedResult) -> list[StandingsRow]:
        """Rate a game; the rows that changed. Writes the ratings into the result's seats."""
        rows = [self._row(seat.bot, seat.bot_version) for seat in rated.seats]
        before = [row.rating for row in rows]
        after = _ratings_after(before, rated.result)
        changed = []
        for number, row in enumerate(rows):
            write_rating(rated.seats[number].before, before[number])
            write_rating(rated.seats[number].after, after[number])
            changed.append(_with_game(row, after[number], rated, number))
        self.rows |= {row.name: row for row in changed}
        return changed

    def _row(self, bot: str, version: int) -> StandingsRow:
        name = row_name(bot, version)
        return self.rows.get(name) or StandingsRow(bot, version, *self.initial_rating(bot, version))

    def next_start(self, share: float) -> dict[str, float]:
        """The means with which the next season begins."""
        kept = {name: carried_over(Rating(mean), share).mean for name, mean in self._start.items()}
        played = {name: carried_over(row.rating, share).mean for name, row in self.rows.items()}
        return kept | played


def _ratings_after(before: list[Rating], result: GameResult) -> list[Rating]:
    """The ratings after a game; a lone bot is rated against the rival, the last in the result."""
    ranks = [seat.rank for seat in result.seats]
    if len(before) == 1:
        return [updated_alone(before[0], rank=ranks[0], rivals_rank=ranks[-1])]
    return updated(before, ranks[: len(before)])


def _with_game(row: StandingsRow, after: Rating, rated: RatedResult, seat: int) -> StandingsRow:
    """The row with one more game."""
    ended = rated.result.seats[seat]
    reason = str(int(ended.end_reason))
    opponents = [each.bot for number, each in enumerate(rated.seats) if number != seat]
    places = max(len(rated.result.seats), len(row.ranks))
    return replace(
        row,
        mean=after.mean,
        uncertainty=after.uncertainty,
        games=row.games + 1,
        ranks=_incremented(row.ranks, ended.rank - 1, places),
        score=row.score + ended.score,
        reasons=row.reasons | {reason: row.reasons.get(reason, 0) + 1},
        seats=_incremented(row.seats, seat, max(len(rated.seats), len(row.seats))),
        recent=[*row.recent, opponents][-RECENT_GAMES:],
        last=max(row.last, rated.end_time.ToMilliseconds()),
    )


def _incremented(counts: list[int], index: int, length: int) -> list[int]:
    """The counts, padded to a length, with one more at an index."""
    padded = counts + [0] * (length - len(counts))
    return [count + (number == index) for number, count in enumerate(padded)]


def write_rating(message: RatingMessage, rating: Rating) -> None:
    message.mean, message.uncertainty = rating.mean, rating.uncertainty
    message.conservative = rating.conservative
