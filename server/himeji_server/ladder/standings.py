"""A ladder's table: rows that follow from results and from nothing else.

The live table and the recomputed one go through the same lines here, so they can only differ if
the log or a row was changed by another hand.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from himeji.v1.game_pb2 import GameResult
from himeji.v1.ladder_service_pb2 import RatedResult, Rating as RatingMessage

from himeji_server.ladder.pairing import RECENT
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
"""The standard share of its distance from a beginner that a rating keeps into the next season."""


@dataclass(frozen=True)
class Row:
    """What the table knows of one version of a bot."""

    bot: str
    version: int
    mean: float
    uncertainty: float
    games: int = 0
    ranks: list[int] = field(default_factory=list)
    score: int = 0
    """The sum of its scores."""

    reasons: dict[str, int] = field(default_factory=dict)
    """How often its part ended for which reason, by the number of the reason."""

    seats: list[int] = field(default_factory=list)
    recent: list[list[str]] = field(default_factory=list)
    """The opponents of its last games, the newest last."""

    last: int = 0
    """When its last game ended."""

    @property
    def name(self) -> str:
        """What the row is kept under."""
        return row_name(self.bot, self.version)

    @property
    def rating(self) -> Rating:
        """The rating."""
        return Rating(self.mean, self.uncertainty)

    def text(self) -> str:
        """The row as it is stored; every digit of a rating is kept."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Row":
        """The row that a text tells."""
        return cls(**json.loads(text))


def row_name(bot: str, version: int) -> str:
    """The name of a version of a bot."""
    return f"{bot}@{version}"


def names_needed(seats: Iterable[tuple[str, int]]) -> list[str]:
    """The rows and starting means that a game of these bots may need: theirs and their parents'."""
    return [row_name(bot, number) for bot, version in seats for number in range(version, 0, -1)]


class Standings:
    """A table, or as much of it as a game needs."""

    def __init__(self, rows: Mapping[str, Row], start: Mapping[str, float]) -> None:
        """`start` are the means with which versions of bots began the season."""
        self.rows = dict(rows)
        self._start = start

    def opening(self, bot: str, version: int) -> Rating:
        """The rating before the first game: carried over, or its parent's mean, or a beginner's."""
        for number in range(version, 0, -1):
            name = row_name(bot, number)
            if name in self.rows:
                found = self.rows[name].rating
                return found if number == version else inherited(found)
            if name in self._start:
                return Rating(self._start[name], UNCERTAINTY)
        return BEGINNER

    def take(self, played: RatedResult) -> list[Row]:
        """Rate a game: the rows that changed. Writes the ratings into the result's seats."""
        rows = [self._row(seat.bot, seat.bot_version) for seat in played.seats]
        before = [row.rating for row in rows]
        after = _after(before, played.result)
        changed = []
        for number, row in enumerate(rows):
            write_rating(played.seats[number].before, before[number])
            write_rating(played.seats[number].after, after[number])
            changed.append(_counted(row, after[number], played, number))
        self.rows |= {row.name: row for row in changed}
        return changed

    def _row(self, bot: str, version: int) -> Row:
        name = row_name(bot, version)
        return self.rows.get(name) or Row(bot, version, *self.opening(bot, version))

    def next_start(self, share: float) -> dict[str, float]:
        """The means with which the next season begins."""
        kept = {name: carried_over(Rating(mean), share).mean for name, mean in self._start.items()}
        played = {name: carried_over(row.rating, share).mean for name, row in self.rows.items()}
        return kept | played


def _after(before: list[Rating], result: GameResult) -> list[Rating]:
    """The ratings after a game; a lone bot is rated against the rival, the last in the result."""
    ranks = [seat.rank for seat in result.seats]
    if len(before) == 1:
        return [updated_alone(before[0], rank=ranks[0], rivals_rank=ranks[-1])]
    return updated(before, ranks[: len(before)])


def _counted(row: Row, after: Rating, played: RatedResult, seat: int) -> Row:
    """The row with one more game."""
    ended = played.result.seats[seat]
    reason = str(int(ended.end_reason))
    others = [each.bot for number, each in enumerate(played.seats) if number != seat]
    places = max(len(played.result.seats), len(row.ranks))
    return replace(
        row,
        mean=after.mean,
        uncertainty=after.uncertainty,
        games=row.games + 1,
        ranks=_raised(row.ranks, ended.rank - 1, places),
        score=row.score + ended.score,
        reasons=row.reasons | {reason: row.reasons.get(reason, 0) + 1},
        seats=_raised(row.seats, seat, max(len(played.seats), len(row.seats))),
        recent=[*row.recent, others][-RECENT:],
        last=max(row.last, played.end_time.ToMilliseconds()),
    )


def _raised(counts: list[int], index: int, length: int) -> list[int]:
    """The counts, so many of them, with one more at an index."""
    padded = counts + [0] * (length - len(counts))
    return [count + (number == index) for number, count in enumerate(padded)]


def write_rating(message: RatingMessage, rating: Rating) -> None:
    """Write a rating into a message."""
    message.mean, message.uncertainty = rating.mean, rating.uncertainty
    message.conservative = rating.conservative


def computed(
    results: Iterable[RatedResult], start: Mapping[str, float], voided: frozenset[str]
) -> Standings:
    """The table that follows from a log."""
    board = Standings({}, start)
    for each in results:
        if each.game_id not in voided:
            board.take(each)
    return board
